# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors of dense ones, and of indicators in rows."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

from ....engine.graph.tensor import SparseTensor
from ....engine.types import dtypes
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor


def _ignored(tensor: Tensor, ignore_value: Any) -> Any:
    if ignore_value is None:
        if tensor.dtype == dtypes.string:
            # TensorFlow's: strings have no zero of their own.
            ignore_value = ""
        else:
            ignore_value = tensor.dtype.as_numpy_dtype()
    return tf.cast(ignore_value, tensor.dtype, name="ignore_value")


def dense_to_sparse_tensor(dense_tensor: TensorLike, ignore_value: Any = None) -> SparseTensor:
    """A sparse tensor of the elements that differ from a value.

    Args:
        dense_tensor: a tensor.
        ignore_value: the value; the empty string or zero of the dtype if None.
    """
    with tf.name_scope("DenseToSparseTensor"):
        dense = tf.convert_to_tensor(dense_tensor)
        indices = tf.where(tf.not_equal(dense, _ignored(dense, ignore_value)), name="indices")
        values = tf.gather_nd(dense, indices, name="values")
        shape = tf.shape(dense, name="dense_shape", out_type=dtypes.int64)
        return SparseTensor(indices, values, shape)


def indicators_to_sparse_ids(
    indicators: TensorLike, ignore_value: Any = None, dtype: Any = dtypes.int64
) -> SparseTensor:
    """The positions along the last axis of the elements that differ from a value, row by row.

    Args:
        indicators: a tensor.
        ignore_value: the value; the empty string or zero of the dtype if None.
        dtype: of the positions.
    """
    with tf.name_scope(None, "indicators_to_sparse_ids", (indicators, ignore_value)):
        indicators = tf.convert_to_tensor(indicators, name="indicators")
        missing = _ignored(indicators, ignore_value)
        places = tf.where(tf.not_equal(indicators, missing), name="indicator_indices")
        # The first axes are the row; within one the found are numbered from the left.
        full_shape = tf.shape(indicators, out_type=dtypes.int64)
        found = tf.cast(tf.not_equal(indicators, missing), dtypes.int64)
        numbers = tf.gather_nd(tf.cumsum(found, axis=-1, exclusive=True), places)
        rows = places[:, :-1]
        indices = tf.concat([rows, tf.expand_dims(numbers, -1)], axis=-1)
        counts = tf.reduce_sum(found, axis=-1)
        longest = tf.maximum(tf.reduce_max(counts), 0)
        shape = tf.concat([full_shape[:-1], tf.expand_dims(longest, 0)], axis=0)
        return SparseTensor(indices, tf.cast(places[:, -1], dtype), shape)


def sparse_row_envelope(
    sparse_input: SparseTensor, row_axis: int = 0, col_axis: int = 1, name: str | None = None
) -> Any:
    """How long rows are: one more than the last column of each that has an element.

    Args:
        sparse_input: a sparse tensor of rank 2 or more.
        row_axis, col_axis: which axes are rows and columns.
        name: of the operation.

    Returns:
        int64 [rows], 0 for rows without any element.

    Raises:
        ValueError: axes are no integers, or the same.
    """
    if not isinstance(row_axis, Integral) or not isinstance(col_axis, Integral):
        raise ValueError("`row_axis` and `col_axis` must be integers.")
    if row_axis == col_axis:
        raise ValueError("Row and column can not be the same axis.")
    with tf.name_scope(name, "sparse_row_envelope", [sparse_input]):
        rows, cols = sparse_input.indices[:, row_axis], sparse_input.indices[:, col_axis]
        count = tf.cast(sparse_input.dense_shape[row_axis], tf.int32)
        # Of rows without elements the least number.
        ends = tf.unsorted_segment_max(cols + 1, rows, count, name=name)
        zeros = tf.zeros_like(ends)
        return tf.where(ends > zeros, ends, zeros)
