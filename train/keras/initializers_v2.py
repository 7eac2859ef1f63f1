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


class _Second:
    def __call__(self, shape: Any, dtype: DTypeLike = dtypes.float32) -> Any:
        """Values of a shape and a dtype."""
        first: Any = super()
        return first.__call__(shape, dtype=dtypes.as_dtype(dtype))

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        first: Any = super()
        return {name: value for name, value in first.get_config().items() if name != "dtype"}


Initializer = init.Initializer
_CLASSES: dict[str, Any] = {
    cls.__name__: type(cls.__name__, (_Second, cls), {"__module__": __name__})
    for cls in (
        *(initializers.RandomNormal, initializers.RandomUniform, initializers.TruncatedNormal),
        *(init.Constant, init.Zeros, init.Ones, init.Identity, init.Orthogonal),
        *(init.VarianceScaling, init.GlorotNormal, init.GlorotUniform),
    )
}


def __getattr__(name: str) -> Any:
    """One of the classes."""
    found = _CLASSES.get(name)
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
