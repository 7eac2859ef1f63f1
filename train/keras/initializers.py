# SPDX-License-Identifier: Apache-2.0
"""`tf.keras.initializers` where they differ from TensorFlow's own: smaller spreads, and names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine import api
from ...engine.types import dtypes
from ...ops.state import init
from .serialization import Family, serialize_keras_object

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


def _published(name: str) -> Any:
    return api.NAMES[name]


def _objects() -> dict[str, Any]:
    found: dict[str, Any] = {
        **dict.fromkeys(("RandomNormal", "random_normal", "normal"), RandomNormal),
        **dict.fromkeys(("RandomUniform", "random_uniform", "uniform"), RandomUniform),
        **dict.fromkeys(("TruncatedNormal", "truncated_normal"), TruncatedNormal),
        "Initializer": init.Initializer,
    }
    for names, public in _PUBLIC.items():
        found.update(dict.fromkeys(names.split(), _published(public)))
    return found


# Names -> the public name of what they stand for.
_PUBLIC = {
    "Constant constant": "constant_initializer",
    "Identity identity": "initializers.identity",
    "Ones ones one": "ones_initializer",
    "Orthogonal orthogonal": "orthogonal_initializer",
    "VarianceScaling": "variance_scaling_initializer",
    "Zeros zeros zero": "zeros_initializer",
    "glorot_normal GlorotNormal": "glorot_normal_initializer",
    "glorot_uniform GlorotUniform": "glorot_uniform_initializer",
    **{
        name: f"initializers.{name}"
        for name in "he_normal he_uniform lecun_normal lecun_uniform".split()
    },
}
_FAMILY = Family("initializer", _objects)


def __getattr__(name: str) -> Any:
    """The initializers of TensorFlow's own, by the names that they have in Keras."""
    found = _objects().get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def serialize(initializer: Any) -> Any:
    """What `deserialize` makes an initializer of: its class's name and its configuration."""
    return serialize_keras_object(initializer)


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The initializer that a name or `serialize` describes.

    Args:
        config: the name, or a dict of class_name and config.
        custom_objects: names that are looked up first.

    Raises:
        ValueError: no initializer has that name.
    """
    return _FAMILY.deserialize(config, custom_objects)


def get(identifier: Any) -> Any:
    """The initializer that an argument means: its name, its description or itself; None is None.

    Raises:
        ValueError: it is something else.
    """
    if identifier in ("he_normal", "he_uniform", "lecun_normal", "lecun_uniform"):
        # Functions that make an initializer; those of programs are initializers themselves.
        return deserialize({"class_name": identifier, "config": {}})
    return _FAMILY.get(identifier)
