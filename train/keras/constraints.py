# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.constraints`: functions that variables go through after each update."""

from __future__ import annotations

from typing import Any

from ...ops.public import tf
from .backend import elements as K  # noqa: N812
from .backend.settings import epsilon, floatx
from .serialization import Family, serialize_keras_object, serialized


class Constraint:
    """Changes nothing; other constraints inherit it."""

    _arguments: tuple[str, ...] = ()

    def __call__(self, w: Any) -> Any:
        return w

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return serialized(self, self._arguments)


def _norms(w: Any, axis: Any) -> Any:
    return K.sqrt(tf.reduce_sum(tf.square(w), axis=axis, keepdims=True))


class MaxNorm(Constraint):
    """Norms along an axis up to `max_value`."""

    _arguments = ("max_value", "axis")

    def __init__(self, max_value: float = 2, axis: Any = 0) -> None:
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        norms = _norms(w, self.axis)
        return w * (K.clip(norms, 0, self.max_value) / (epsilon() + norms))


class NonNeg(Constraint):
    """No negative numbers: these become zero."""

    def __call__(self, w: Any) -> Any:
        return w * tf.cast(tf.greater_equal(w, 0.0), floatx())


class UnitNorm(Constraint):
    """Norms along an axis of 1."""

    _arguments = ("axis",)

    def __init__(self, axis: Any = 0) -> None:
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        return w / (epsilon() + _norms(w, self.axis))


class MinMaxNorm(Constraint):
    """Norms along an axis between two values; `rate` of the way there in each step."""

    _arguments = ("min_value", "max_value", "rate", "axis")

    def __init__(
        self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: Any = 0
    ) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w: Any) -> Any:
        norms = _norms(w, self.axis)
        bounded = K.clip(norms, self.min_value, self.max_value)
        wanted = self.rate * bounded + (1 - self.rate) * norms
        return w * (wanted / (epsilon() + norms))


class RadialConstraint(Constraint):
    """Kernels [size, size, channels, filters] whose weights depend on the distance to the middle.

    Those on the diagonal from the middle to a corner count for all at their distance.

    Raises:
        ValueError: the kernel has not four axes.
    """

    def __call__(self, w: Any) -> Any:
        if w.shape.ndims != 4:
            raise ValueError(f"The weight tensor must be of rank 4, but is of shape: {w.shape}")
        size = int(w.shape[0])
        # Squares around the middle, each filled by its corner's weight.
        half, even = size // 2, size % 2 == 0
        rings = [
            max(abs(2 * i + 1 - size), abs(2 * j + 1 - size)) // 2
            for i in range(size)
            for j in range(size)
        ]
        # TensorFlow begins one place before the middle, and where there is none, skips one behind.
        places = [half - 1 + ring + (1 if even and ring else 0) for ring in rings]
        diagonal = tf.stack([w[i, i] for i in range(size)])
        return tf.reshape(tf.gather(diagonal, places), tf.shape(w))


max_norm = maxnorm = MaxNorm
non_neg = nonneg = NonNeg
unit_norm = unitnorm = UnitNorm
min_max_norm = MinMaxNorm
radial_constraint = RadialConstraint
_FAMILY = Family(
    "constraint",
    {
        **{c.__name__: c for c in (Constraint, MaxNorm, NonNeg, UnitNorm, MinMaxNorm)},
        "RadialConstraint": RadialConstraint,
        "radial_constraint": RadialConstraint,
        "max_norm": MaxNorm,
        "maxnorm": MaxNorm,
        "non_neg": NonNeg,
        "nonneg": NonNeg,
        "unit_norm": UnitNorm,
        "unitnorm": UnitNorm,
        "min_max_norm": MinMaxNorm,
    },
)
serialize = serialize_keras_object
deserialize = _FAMILY.deserialize


def get(identifier: Any) -> Any:
    """The constraint that an argument means: its name, its description or itself; None is None.

    Raises:
        ValueError: it is something else.
    """
    return _FAMILY.get(identifier)
