# SPDX-License-Identifier: Apache-2.0
"""Ranges of different lengths, and sums, products, extremes and means of ragged tensors: along
axes, and of rows that have the same id."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import raw, tf
from .functional import map_flat_values
from .segment_ids import row_splits_to_segment_ids
from .tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from .util import get_positive_axis

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike

# Ranges

_RANGE_TYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


@export("ragged.range")
def ragged_range(
    starts: TensorLike,
    limits: TensorLike | None = None,
    deltas: TensorLike = 1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    row_splits_dtype: DTypeLike = dtypes.int64,
) -> RaggedTensor:
    """A row of numbers for each start, limit and step.

    Args:
        starts: a scalar or vector: the first numbers; the limits, from 0, if there are no others.
        limits: a scalar or vector: where rows end, themselves left out.
        deltas: a scalar or vector of steps, which may be negative but not 0.
        dtype: of the numbers; the widest of what is given if None.
        name: the prefix of the names of operations.
        row_splits_dtype: int32 or int64.

    Returns:
        A RaggedTensor of two axes; scalars serve all rows.

    Raises:
        InvalidArgumentError: a step of a run is 0, or there are different numbers of rows.

    Example:
        >>> x = tf.ragged.range([0, 5, 8], [3, 3, 12], [1, -1, 3])
        >>> tf.Session().run(x).to_list()
        [[0, 1, 2], [5, 4], [8, 11]]
    """
    kind = dtypes.as_dtype(row_splits_dtype)
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as name:
        given = {"starts": starts, "limits": limits, "deltas": deltas}
        tensors = {
            key: convert_to_tensor(value, dtype=dtype, name=key) for key, value in given.items()
        }
        if dtype is None:
            widest = max((t.dtype for t in tensors.values()), key=_RANGE_TYPES.index)
            tensors = {key: tf.cast(t, widest) for key, t in tensors.items()}
        result = raw.RaggedRange(Tsplits=kind, name=name, **tensors)
        return RaggedTensor.from_row_splits(
            result.rt_dense_values, result.rt_nested_splits, validate=False
        )


# Rows that have the same id


def _combine_segments(
    combine: Callable[..., Any],
    data: Any,
    segment_ids: Any,
    num_segments: Any,
    separator: str | None = None,
    name: str | None = None,
) -> Any:
    """Rows of one id, entry by entry; a row of the result is as long as the longest of them."""
    if not (is_ragged(data) or is_ragged(segment_ids)):
        more = () if separator is None else (separator,)
        return combine(data, segment_ids, num_segments, *more, name)
    with name_scope(name, "RaggedSegment", [data, segment_ids, num_segments]) as name:
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        ids = convert_to_tensor_or_ragged_tensor(segment_ids, name="segment_ids")
        data, ids = match_row_splits_dtypes(data, ids)
        if ids.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("segment_ids must have dtype int32 or int64.")
        if is_ragged(ids):
            return _combine_inner(combine, data, ids, num_segments, separator)
        lengths = data.row_splits[1:] - data.row_splits[:-1]
        longest = tf.maximum(tf.unsorted_segment_max(lengths, ids, num_segments), 0)
        splits = tf.concat([tf.zeros([1], longest.dtype), tf.cumsum(longest)], axis=0)
        # Each value goes to the place in its new row that it has in its old one.
        starts = tf.gather(splits, ids)
        places = ragged_range(starts, starts + lengths).values
        values = _combine_segments(combine, data.values, places, splits[-1], separator)
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def _combine_inner(
    combine: Callable[..., Any], data: Any, ids: Any, count: Any, separator: str | None
) -> Any:
    problem = "segment_ids.shape must be a prefix of data.shape"
    if not is_ragged(data):
        raise ValueError(f"{problem}, but segment_ids is ragged and data is not.")
    check = tf.assert_equal(ids.row_splits, data.row_splits, message=problem)
    with tf.control_dependencies([check]):
        return _combine_segments(combine, data.values, ids.values, count, separator)


def _segment(kind: str) -> Callable[..., Any]:
    label = f"RaggedSegment{kind.capitalize()}"

    def combine(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        op = getattr(tf, f"unsorted_segment_{kind}")
        return _combine_segments(op, data, segment_ids, num_segments, name=name or label)

    combine.__name__ = combine.__qualname__ = f"segment_{kind}"
    combine.__doc__ = f"The {kind} of rows that have the same id, entry by entry."
    return combine


segment_sum, segment_prod = _segment("sum"), _segment("prod")
segment_min, segment_max = _segment("min"), _segment("max")


def _ones_like(data: Any) -> Any:
    if not is_ragged(data):
        return tf.ones_like(data)
    ones = tf.ones_like(data.flat_values)
    return RaggedTensor.from_nested_row_splits(ones, data.nested_row_splits, validate=False)


def _scaled(total: Any, scale: Callable[[Any], Any], count: Any) -> Any:
    """A total divided by what the number of its summands gives."""
    if is_ragged(total):
        return total.with_flat_values(total.flat_values / scale(count.flat_values))
    return total / scale(count)


def segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The mean of rows that have the same id, entry by entry."""
    with name_scope(name, "RaggedSegmentMean", [data, segment_ids, num_segments]):
        total = segment_sum(data, segment_ids, num_segments)
        count = segment_sum(_ones_like(data), segment_ids, num_segments)
        return _scaled(total, lambda count: count, count)


def segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sum of rows that have the same id, divided by the root of their number."""
    with name_scope(name, "RaggedSegmentSqrtN", [data, segment_ids, num_segments]):
        total = segment_sum(data, segment_ids, num_segments)
        count = segment_sum(_ones_like(data), segment_ids, num_segments)
        return _scaled(total, tf.sqrt, count)


# Along axes


def _known_axis(axis: Any) -> Any:
    if not isinstance(axis, Tensor):
        return axis
    known = constant_value(axis)
    if known is None:
        raise ValueError("axis must be known at graph construction time.")
    return known.tolist() if isinstance(known, np.ndarray) else int(known)


def ragged_reduce_aggregate(
    reduce_op: Callable[..., Any],
    unsorted_segment_op: Callable[..., Any],
    rt_input: Any,
    axis: Any,
    keepdims: bool | None,
    separator: str | None = None,
    name: str | None = None,
) -> Any:
    """A reduction along axes, innermost first: of ragged ones as segments, of others as usual.

    Raises ValueError if `keepdims`, which ragged tensors do not have.
    """
    more = {} if separator is None else {"separator": separator}
    if not is_ragged(rt_input):
        return reduce_op(rt_input, axis, name=name, **more)
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    axis = _known_axis(axis)
    if axis is None:
        return reduce_op(rt_input.flat_values, None, name=name)
    functions = reduce_op, unsorted_segment_op
    with name_scope(name, "RaggedReduce", [rt_input, axis]):
        if isinstance(axis, (tuple, list)):
            if not axis:
                return rt_input
            *outer, axis = sorted(get_positive_axis(a, rt_input.shape.ndims) for a in axis)
            if outer:
                inner = ragged_reduce_aggregate(*functions, rt_input, axis, keepdims, separator)
                return ragged_reduce_aggregate(*functions, inner, outer, keepdims, separator)
        ragged = convert_to_tensor_or_ragged_tensor(rt_input, name="rt_input")
        axis = get_positive_axis(axis, ragged.shape.ndims)
        if axis > 1:
            values = ragged_reduce_aggregate(
                *functions, ragged.values, axis - 1, keepdims, separator
            )
            return ragged.with_values(values)
        if axis == 0:
            lengths = ragged.row_splits[1:] - ragged.row_splits[:-1]
            count = tf.maximum(tf.reduce_max(lengths), 0)
            ids = ragged_range(lengths).values
        else:
            count = tf.shape(ragged.row_splits)[0] - 1
            ids = row_splits_to_segment_ids(ragged.row_splits)
        return _combine_segments(unsorted_segment_op, ragged.values, ids, count, separator)


def _reduction(kind: str) -> Callable[..., Any]:
    label = f"RaggedReduce{kind.capitalize()}"

    def reduce(
        input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
    ) -> Any:
        functions = getattr(tf, f"reduce_{kind}"), getattr(tf, f"unsorted_segment_{kind}")
        return ragged_reduce_aggregate(*functions, input_tensor, axis, keepdims, name=name or label)

    reduce.__name__ = reduce.__qualname__ = f"reduce_{kind}"
    reduce.__doc__ = f"The {kind} of a tensor, ragged or not, along axes."
    return reduce


reduce_sum, reduce_prod = _reduction("sum"), _reduction("prod")
reduce_min, reduce_max = _reduction("min"), _reduction("max")


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """The mean of a tensor, ragged or not, along axes; that of nothing is NaN."""
    with name_scope(name, "RaggedReduceMean", [input_tensor, axis]):
        total = reduce_sum(input_tensor, axis, keepdims)
        count = reduce_sum(_ones_like(input_tensor), axis, keepdims)
        if not is_ragged(total):
            return total / count
        values = total.flat_values / count.flat_values
        return RaggedTensor.from_nested_row_splits(values, total.nested_row_splits, validate=False)


def _cast(data: Any, dtype: DTypeLike) -> Any:
    return map_flat_values(tf.cast, data, dtype)


def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """Whether all along axes is true."""
    with name_scope(name, "RaggedReduceAll", [input_tensor, axis]):
        product = reduce_prod(_cast(input_tensor, dtypes.int32), axis, keepdims)
        return _cast(product, dtypes.bool)


def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: bool | None = None, name: str | None = None
) -> Any:
    """Whether anything along axes is true."""
    with name_scope(name, "RaggedReduceAny", [input_tensor, axis]):
        total = reduce_sum(_cast(input_tensor, dtypes.int32), axis, keepdims)
        return _cast(total, dtypes.bool)
