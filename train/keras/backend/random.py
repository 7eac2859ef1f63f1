# SPDX-License-Identifier: Apache-2.0
"""The backend's random tensors and variables; seeds come from NumPy if none is given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....ops.public import tf
from .elements import variable
from .settings import floatx

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike


def _seed(seed: int | None, below: float = 10e6) -> int:
    return int(np.random.randint(int(below))) if seed is None else seed


def random_normal(
    shape: Any,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
) -> Any:
    """Normally distributed numbers."""
    return tf.random_normal(
        shape, mean=mean, stddev=stddev, dtype=dtype or floatx(), seed=_seed(seed)
    )


def truncated_normal(
    shape: Any,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
) -> Any:
    """Normally distributed numbers, redrawn beyond two deviations from the mean."""
    return tf.truncated_normal(shape, mean, stddev, dtype=dtype or floatx(), seed=_seed(seed))


def random_uniform(
    shape: Any,
    minval: float = 0.0,
    maxval: float = 1.0,
    dtype: DTypeLike | None = None,
    seed: int | None = None,
) -> Any:
    """Evenly distributed numbers."""
    return tf.random_uniform(
        shape, minval=minval, maxval=maxval, dtype=dtype or floatx(), seed=_seed(seed)
    )


def random_binomial(
    shape: Any, p: float = 0.0, dtype: DTypeLike | None = None, seed: int | None = None
) -> Any:
    """Ones with probability `p`, and zeros."""
    dtype = dtype or floatx()
    drawn = tf.random_uniform(shape, dtype=dtype, seed=_seed(seed))
    return tf.where(drawn <= p, tf.ones(shape, dtype=dtype), tf.zeros(shape, dtype=dtype))


def random_uniform_variable(
    shape: Any,
    low: float,
    high: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """A variable of evenly distributed numbers."""
    dtype = dtype or floatx()
    initializer = tf.random_uniform_initializer(low, high, dtype=dtype, seed=_seed(seed, 10e8))
    return variable(initializer(shape), dtype=dtype, name=name)


def random_normal_variable(
    shape: Any,
    mean: float,
    scale: float,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """A variable of normally distributed numbers."""
    dtype = dtype or floatx()
    initializer = tf.random_normal_initializer(mean, scale, dtype=dtype, seed=_seed(seed, 10e8))
    return variable(initializer(shape), dtype=dtype, name=name)
