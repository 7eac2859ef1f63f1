# SPDX-License-Identifier: Apache-2.0
"""Statistics of samples: autocorrelation, percentiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.control import with_dependencies
from ....ops.distributions import util
from ....ops.nn.top_k import top_k
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


@export("contrib.distributions.auto_correlation")
def auto_correlation(
    x: TensorLike,
    axis: int = -1,
    max_lags: object = None,
    center: bool = True,
    normalize: bool = True,
    name: str = "auto_correlation",
) -> Tensor:
    """How much values along an axis have to do with later ones, by the distance.

    Args:
        x: floating or complex numbers.
        axis: along which they follow each other.
        max_lags: the largest distance; all if None.
        center: whether the mean is subtracted.
        normalize: whether results are divided by that for the distance 0.
        name: of the scope.

    Returns:
        A Tensor with one result for each distance along the axis.

    Raises:
        TypeError: x is neither floating nor complex.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        rank = util.prefer_static_rank(x)
        shift = rank - 1 - (rank + axis if axis < 0 else axis)
        rotated = util.rotate_transpose(x, shift)
        if center:
            rotated -= tf.reduce_mean(rotated, axis=-1, keepdims=True)
        count = util.prefer_static_shape(rotated)[-1]
        products = tf.cast(_shifted_products(rotated, count), x.dtype)
        is_known = rotated.shape.is_fully_defined()
        if max_lags is None:
            lags = count - 1
        else:
            given = convert_to_tensor(max_lags, name="max_lags")
            known = constant_value(given)
            is_known = is_known and known is not None
            lags = min(count - 1, known) if is_known else tf.minimum(count - 1, given)
        products = products[..., : lags + 1]
        if is_known:
            products.set_shape([*rotated.shape.as_list()[:-1], min(count, lags + 1)])
        real = x.dtype.real_dtype
        terms = tf.cast(count, real) - tf.range(0.0, tf.cast(lags, real) + 1.0)
        found = products / tf.cast(terms, x.dtype)
        if normalize:
            found /= found[..., :1]
        return util.rotate_transpose(found, -shift)


def _shifted_products(x: Tensor, count: object) -> Tensor:
    """Sums of products with what comes later, by Fourier transforms of twice the length."""
    size = tf.cast(count, np.float64)
    length = tf.pow(np.float64(2.0), tf.ceil(tf.log(size * 2) / np.log(2.0)))
    padded = util.pad(x, axis=-1, back=True, count=tf.cast(length - size, np.int32))
    if not x.dtype.is_complex:
        if not x.dtype.is_floating:
            raise TypeError(f"Argument x must have either float or complex dtype found: {x.dtype}")
        padded = tf.complex(padded, x.dtype.real_dtype.as_numpy_dtype(0.0))
    spectrum = tf.fft(padded)
    return tf.ifft(spectrum * tf.conj(spectrum))


_ROUND = {"lower": "ceil", "higher": "floor", "nearest": "round"}


@export("contrib.distributions.percentile")
def percentile(
    x: TensorLike,
    q: Any,
    axis: TensorLike | None = None,
    interpolation: str | None = None,
    keep_dims: bool = False,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """What q of a hundred values are below.

    Args:
        x: the values.
        q: 0 to 100.
        axis: along which they are counted; all of them if None.
        interpolation: "lower", "higher" or "nearest": which value is taken if q is between two.
        keep_dims: whether the axes stay with size 1.
        validate_args: whether q is checked in the run.
        name: of the scope.

    Returns:
        A Tensor of the values' dtype.

    Raises:
        ValueError: `interpolation` is another word, or `axis` or ranks are not known.
    """
    interpolation = interpolation or "nearest"
    if interpolation not in _ROUND:
        allowed = {"lower", "higher", "nearest"}
        raise ValueError(f"Argument 'interpolation' must be in {allowed}.  Found {interpolation}")
    with name_scope(name or "percentile", values=[x, q]):
        x = convert_to_tensor(x, name="x")
        q = tf.cast(q, dtypes.float64, name="q")
        _rank(q, exactly=0)
        if validate_args:
            bounds = [tf.cast(bound, dtypes.float64) for bound in (0.0, 100.0)]
            checks = [
                tf.assert_rank(q, 0),
                tf.assert_greater_equal(q, bounds[0]),
                tf.assert_less_equal(q, bounds[1]),
            ]
            q = with_dependencies(checks, q)
        axes = None if axis is None else _axes(axis, x)
        y = tf.reshape(x, [-1]) if axes is None else _at_the_end(x, axes)
        share = 1.0 - q / 100.0
        last = tf.cast(tf.shape(y)[-1], dtypes.float64) - 1
        index = getattr(tf, _ROUND[interpolation])(last * share)
        index = tf.clip_by_value(tf.cast(index, dtypes.int32), 0, tf.shape(y)[-1] - 1)
        # From the largest to the smallest.
        descending, _ = top_k(y, tf.shape(y)[-1])  # type: ignore[arg-type]
        found = descending[..., index]
        found.set_shape(y.shape[:-1])
        if not keep_dims:
            return found
        if axes is None:
            rank = _rank(x)
            ones = tf.ones(shape=[tf.rank(x) if rank is None else rank], dtype=dtypes.int32)
            return found * tf.ones(ones, dtype=x.dtype)
        for one in sorted(axes):
            found = tf.expand_dims(found, axis=one)
        return found


def _rank(
    x: Tensor,
    exactly: int | None = None,
    at_least: int = 0,
    at_most: int | None = None,
    is_needed: bool = False,
) -> int | None:
    """The rank as far as it is known; ValueError unless it is within bounds."""
    rank = x.shape.ndims
    start = "Expected argument 'x' to have "
    if rank is None:
        if is_needed:
            raise ValueError(f"{start}statically defined 'ndims'.  Found: {x}")
        return None
    if exactly is not None and rank != exactly:
        raise ValueError(f"{start}ndims {exactly}.  Found tensor {x}")
    if rank < at_least:
        raise ValueError(f"{start}ndims >= {at_least}.  Found tensor {x}")
    if at_most is not None and rank > at_most:
        raise ValueError(f"{start}ndims <= {at_most}.  Found tensor {x}")
    return rank


def _axes(axis: object, x: Tensor) -> list[int]:
    """Axes by numbers from 0."""
    given = convert_to_tensor(axis, name="axis")
    tf.assert_integer(given)
    _rank(given, at_most=1, is_needed=True)
    known = constant_value(given)
    if known is None:
        raise ValueError(f"Expected argument 'axis' to be statically available.  Found: {given}")
    rank: Any = _rank(x, at_least=1, is_needed=True)
    found = []
    for one in np.atleast_1d(known).tolist():
        if one >= rank:
            raise ValueError(f"dim {one} not in the interval [0, {rank - 1}].")
        if one < -rank:
            raise ValueError(f"Negatively indexed dim {one} not in the interval [-{rank}, -1]")
        found.append(one if one >= 0 else rank + one)
    return found


def _at_the_end(x: Tensor, axes: Sequence[int]) -> Tensor:
    """The values along some axes as one axis at the end."""
    rank: Any = x.shape.ndims
    others = [i for i in range(rank) if i not in axes]
    moved = tf.transpose(x, perm=[*others, *axes])
    shape: Any
    if x.shape.is_fully_defined():
        sizes: Any = x.shape.as_list()
        shape = [*(sizes[i] for i in others), int(np.prod([sizes[i] for i in axes]))]
    else:
        shape = tf.concat([tf.shape(moved)[: len(others)], [-1]], axis=0)
    return tf.reshape(moved, shape=shape)
