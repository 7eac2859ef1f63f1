# SPDX-License-Identifier: Apache-2.0
"""The initializers of TensorFlow 2, which have no dtype of their own: `tf.keras` of 1.15 holds them
under names that end in V2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes
from ...ops.state import init
from . import initializers

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike


def _is_filling(kind: dtypes.DType) -> bool:
    return kind.is_numpy_compatible and kind != dtypes.string


# Of which dtypes values are, and what is said of others, where not all are.
_FLOATS = (lambda kind: kind.is_floating, "floating point type")
_NUMBERS = (lambda kind: kind.is_floating or kind.is_integer, "float or integer dtype")
_FILLING = (_is_filling, "numeric or boolean dtype")
_KINDS = {"RandomUniform": _NUMBERS, "Zeros": _FILLING, "Ones": _FILLING, "Constant": None}


class _Second:
    def __call__(self, shape: Any, dtype: DTypeLike = dtypes.float32) -> Any:
        """Values of a shape and a dtype.

        Raises:
            ValueError: there are no such values of the dtype.
        """
        first: Any = super()
        kind = dtypes.as_dtype(dtype)
        allowed = _KINDS.get(type(self).__name__, _FLOATS)
        if allowed is not None and not allowed[0](kind):
            raise ValueError(f"Expected {allowed[1]}, got {kind}.")
        return first.__call__(shape, dtype=kind)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        first: Any = super()
        return {name: value for name, value in first.get_config().items() if name != "dtype"}


Initializer = init.Initializer
_compute_fans = init.compute_fans
_CLASSES: dict[str, Any] = {
    cls.__name__: type(cls.__name__, (_Second, cls), {"__module__": __name__})
    for cls in (
        *(initializers.RandomNormal, initializers.RandomUniform, initializers.TruncatedNormal),
        *(init.Constant, init.Zeros, init.Ones, init.Identity, init.Orthogonal),
        *(init.VarianceScaling, init.GlorotNormal, init.GlorotUniform),
    )
}
_OLD_NAMES = {
    f"{old}_initializer": "".join(map(str.title, old.split("_")))
    for old in (
        *("zeros", "ones", "constant", "random_uniform", "random_normal", "truncated_normal"),
        *("variance_scaling", "orthogonal", "glorot_uniform", "glorot_normal", "identity"),
    )
}


def __getattr__(name: str) -> Any:
    """One of the classes; some have the names of TensorFlow 1, too."""
    found = _CLASSES.get(_OLD_NAMES.get(name, name))
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def _of_inputs(scale: float, distribution: str, seed: int | None) -> Any:
    return _CLASSES["VarianceScaling"](
        scale=scale, mode="fan_in", distribution=distribution, seed=seed
    )


def he_normal(seed: int | None = None) -> Any:
    """Normally distributed, cut off, of variance 2 / inputs."""
    return _of_inputs(2.0, "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> Any:
    """Evenly distributed, of variance 2 / inputs."""
    return _of_inputs(2.0, "uniform", seed)


def lecun_normal(seed: int | None = None) -> Any:
    """Normally distributed, cut off, of variance 1 / inputs."""
    return _of_inputs(1.0, "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> Any:
    """Evenly distributed, of variance 1 / inputs."""
    return _of_inputs(1.0, "uniform", seed)
