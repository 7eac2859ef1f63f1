# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.regularizers`: costs of weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.public import tf
from .backend.settings import floatx
from .serialization import Family, serialize_keras_object


class Regularizer:
    """What costs nothing; other regularizers inherit it (tf.keras.regularizers.Regularizer)."""

    def __call__(self, x: Any) -> Any:
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Regularizer:
        """The regularizer of what `get_config` gave."""
        return cls(**config)


class L1L2(Regularizer):
    """`l1` times the sum of absolute values and `l2` times that of squares (without a half)."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0) -> None:
        self.l1 = np.asarray(l1, floatx())
        self.l2 = np.asarray(l2, floatx())

    def __call__(self, x: Any) -> Any:
        if not self.l1 and not self.l2:
            return tf.constant(0.0, dtype=floatx())
        cost: Any = 0.0
        if self.l1:
            cost += self.l1 * tf.reduce_sum(tf.abs(x))
        if self.l2:
            cost += self.l2 * tf.reduce_sum(tf.square(x))
        return cost

    def get_config(self) -> dict[str, float]:
        """Its two factors by name."""
        return {"l1": float(self.l1), "l2": float(self.l2)}


def l1(l: float = 0.01) -> L1L2:  # noqa: E741
    """A regularizer of absolute values (tf.keras.regularizers.l1)."""
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741
    """A regularizer of squares (tf.keras.regularizers.l2)."""
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """A regularizer of both (tf.keras.regularizers.l1_l2)."""
    return L1L2(l1=l1, l2=l2)


_FAMILY = Family(
    "regularizer",
    {"Regularizer": Regularizer, "L1L2": L1L2, "l1": l1, "l2": l2, "l1_l2": l1_l2},
)
serialize = serialize_keras_object
deserialize = _FAMILY.deserialize


def get(identifier: Any) -> Any:
    """The regularizer that an argument means: its name, its description or itself.

    Raises:
        ValueError: it is something else.
    """
    if identifier in ("l1", "l2", "l1_l2"):
        return _FAMILY[identifier]()
    return _FAMILY.get(identifier)
