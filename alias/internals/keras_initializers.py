# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.initializers` where they differ from TensorFlow's own: smaller spreads, and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes
from ...ops.state import init
from ...train.layers import named

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike


class RandomNormal(init.RandomNormal):
    """An initializer: normally distributed.

    Args:
        mean, stddev: of the distribution.
        seed: an integer; as of tf.random_normal.
        dtype: of the values where the variable does not say.

    Example:
        >>> RandomNormal().stddev
        0.05
    """

    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 0.05,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)


class TruncatedNormal(init.TruncatedNormal):
    """An initializer: normally distributed, redrawn when more than two deviations from the mean.

    Args:
        mean, stddev: of the distribution before.
        seed: an integer; as of tf.truncated_normal.
        dtype: of the values where the variable does not say.

    Example:
        >>> TruncatedNormal().stddev
        0.05
    """

    def __init__(
        self,
        mean: float = 0.0,
        stddev: float = 0.05,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)


class RandomUniform(init.RandomUniform):
    """An initializer: evenly distributed.

    Args:
        minval, maxval: the least value, and what all values are below.
        seed: an integer; as of tf.random_uniform.
        dtype: of the values where the variable does not say.

    Example:
        >>> RandomUniform().maxval
        0.05
    """

    def __init__(
        self,
        minval: float = -0.05,
        maxval: float = 0.05,
        seed: int | None = None,
        dtype: DTypeLike = dtypes.float32,
    ) -> None:
        super().__init__(minval, maxval, seed, dtype)


def serialize(initializer: Any) -> dict[str, Any]:
    """What `deserialize` makes an initializer of: its class's name and its configuration."""
    return {"class_name": type(initializer).__name__, "config": initializer.get_config()}


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The initializer that a name or `serialize` describes.

    Args:
        config: the name, or a dict of class_name and config.
        custom_objects: names that are looked up first.

    Raises:
        ValueError: no initializer has that name.
    """
    from .keras_view import KERAS

    if isinstance(config, str):
        config = {"class_name": config, "config": {}}
    name, options = config["class_name"], config.get("config", {})
    made = (custom_objects or {}).get(name) or getattr(KERAS.initializers, name, None)
    if made is None or made in (get, serialize, deserialize):
        return named.initializer(name)
    return made.from_config(options) if hasattr(made, "from_config") else made(**options)


def get(identifier: Any) -> Any:
    """The initializer that an argument means: its name, its description or itself; None is None.

    Raises:
        ValueError: it is something else.
    """
    is_described = isinstance(identifier, (dict, str))
    return deserialize(identifier) if is_described else named.initializer(identifier)
