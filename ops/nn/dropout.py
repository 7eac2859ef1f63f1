# SPDX-License-Identifier: Apache-2.0
"""Dropout, and the share of zeros."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.deprecation import deprecated_argument_lookup
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


def _noise_shape(x: Any, noise_shape: Any) -> Any:
    """The shape of the mask; unknown sizes of the given one are those of x."""
    if noise_shape is None:
        return tf.shape(x)
    try:
        given = as_shape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape
    if x.shape.ndims is None or x.shape.ndims != given.ndims:
        return noise_shape
    pairs = zip(given.as_list(), x.shape.as_list(), strict=True)
    return TensorShape([theirs if mine is None else mine for mine, theirs in pairs])


@export("nn.dropout")
def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Any:
    """A tensor with some elements zero, drawn anew in every run, and the others scaled up for them.

    Args:
        x: a tensor of floating-point numbers.
        keep_prob: the share that is kept, in (0, 1]; the older way to say 1 - rate.
        noise_shape: the shape of what is drawn, which broadcasts; that of `x` by default.
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which elements.
        name: the scope of the operations.
        rate: the share that becomes zero, in [0, 1).

    Returns:
        A Tensor of the dtype and shape of `x`; elements that are kept are x / (1 - rate).

    Raises:
        ValueError: `x` has another dtype, or there is neither rate nor keep_prob, or both; or the
            rate is out of range.

    Example:
        >>> y = tf.nn.dropout(tf.ones([1000]), rate=0.5, seed=1)
        >>> sorted(set(tf.Session().run(y).tolist()))
        [0.0, 2.0]
    """
    try:
        keep = 1.0 - keep_prob if keep_prob is not None else None
    except TypeError:
        raise ValueError(
            f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})"
        ) from None
    rate = deprecated_argument_lookup("rate", rate, "keep_prob", keep)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    return dropout_v2(x, rate, noise_shape=noise_shape, seed=seed, name=name)


def dropout_v2(
    x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None
) -> Any:
    """Zeroes elements with probability `rate` and scales up the others."""
    with name_scope(name, "dropout", [x]) as name:
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                "x has to be a floating point tensor since it's going to be scaled. "
                f"Got a {x.dtype} tensor instead."
            )
        if isinstance(rate, numbers.Real) and not 0 <= float(rate) < 1:
            raise ValueError(
                f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}"
            )
        if isinstance(rate, numbers.Real) and rate == 0:
            return x
        rate = convert_to_tensor(rate, dtype=x.dtype, name="rate")
        rate.get_shape().assert_has_rank(0)
        if constant_value(rate) == 0:
            return x
        shape = _noise_shape(x, noise_shape)
        draws = tf.random_uniform(shape, seed=seed, dtype=x.dtype)
        scale = 1 / (1 - rate)
        # Draws are in [0, 1): with >= a rate of zero, by whatever name, keeps everything.
        mask = draws >= rate
        result = x * scale * tf.cast(mask, x.dtype)
        result.set_shape(x.get_shape())
        return result


def _count_nonzero(value: Any, dtype: Any) -> Any:
    with name_scope("count_nonzero", values=[value]):
        zero = tf.zeros([], dtype=value.dtype)
        return tf.reduce_sum(tf.cast(tf.not_equal(value, zero), dtype=dtype), name="nonzero_count")


@export("math.zero_fraction", "nn.zero_fraction")
def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of zeros in a tensor."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        size = tf.size(value, out_type=dtypes.int64)
        # Counts in 32 bits where they suffice.
        nonzero = tf.cond(
            size <= dtypes.int32.max,
            true_fn=lambda: tf.cast(_count_nonzero(value, dtypes.int32), dtype=dtypes.int64),
            false_fn=lambda: _count_nonzero(value, dtypes.int64),
        )
        with name_scope("counts_to_fraction"):
            zeros = tf.cast(size - nonzero, dtype=dtypes.float32)
            fraction = zeros / tf.cast(size, dtype=dtypes.float32)
        return tf.identity(fraction, "fraction")
