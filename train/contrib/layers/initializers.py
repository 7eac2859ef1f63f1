# SPDX-License-Identifier: Apache-2.0
"""Initializers of weights that keep the scale of what layers give."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ....engine.api import export
from ....engine.types import dtypes
from ....engine.types.dtypes import DType
from ....ops.public import tf

_MODES: dict[str, Callable[[float, float], float]] = {
    "FAN_IN": lambda fan_in, _: fan_in,
    "FAN_OUT": lambda _, fan_out: fan_out,
    "FAN_AVG": lambda fan_in, fan_out: (fan_in + fan_out) / 2.0,
}


@export("contrib.layers.xavier_initializer", "contrib.layers.xavier_initializer_conv2d")
def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: DType = dtypes.float32
) -> Callable[..., Any]:
    """Glorot and Bengio's initializer: variance 2 / (inputs + outputs).

    Args:
        uniform: whether numbers are drawn evenly, or else of a truncated normal distribution.
        seed: the seed of the operation.
        dtype: a floating-point dtype.

    Returns:
        An initializer.

    Example:
        >>> init = tf.contrib.layers.xavier_initializer(seed=1)
        >>> weights = tf.get_variable("weights", [784, 10], initializer=init)
    """
    return variance_scaling_initializer(
        factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype
    )


xavier_initializer_conv2d = xavier_initializer


def _fans(shape: Sequence[int]) -> tuple[float, float]:
    """How many inputs an output has, and how many outputs an input."""
    if not len(shape):
        return 1.0, 1.0
    window = float(math.prod(int(size) for size in shape[:-2]))
    return window * float(shape[-2] if len(shape) > 1 else shape[-1]), window * float(shape[-1])


def _require_floating(dtype: DType) -> None:
    if not dtype.is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")


@export("contrib.layers.variance_scaling_initializer")
def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: DType = dtypes.float32,
) -> Callable[..., Any]:
    """An initializer whose variance is `factor` / n, of which `mode` says what n is.

    Args:
        factor: the factor.
        mode: "FAN_IN", the number of inputs; "FAN_OUT", that of outputs; "FAN_AVG", their mean.
        uniform: whether numbers are drawn evenly, or else of a truncated normal distribution.
        seed: the seed of the operation.
        dtype: a floating-point dtype.

    Returns:
        An initializer.

    Raises:
        TypeError: the dtype is no floating-point one, or the mode is unknown.

    Example:
        >>> init = tf.contrib.layers.variance_scaling_initializer(mode="FAN_OUT")
        >>> weights = tf.get_variable("weights", [784, 10], initializer=init)
    """
    _require_floating(dtype)
    if mode not in _MODES:
        raise TypeError("Unknown mode %s [FAN_IN, FAN_OUT, FAN_AVG]", mode)
    default = dtype

    def initializer(
        shape: Sequence[int], dtype: DType = default, partition_info: object = None
    ) -> Any:
        del partition_info
        _require_floating(dtype)
        n = _MODES[mode](*_fans(shape))
        if uniform:
            limit = math.sqrt(3.0 * factor / n)
            return tf.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # What lies beyond two deviations is drawn again, which takes from the variance.
        deviation = math.sqrt(1.3 * factor / n)
        return tf.truncated_normal(shape, 0.0, deviation, dtype, seed=seed)

    return initializer
