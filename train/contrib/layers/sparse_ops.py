# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors of dense ones, and of indicators in rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.graph.tensor import SparseTensor
from ....engine.types import dtypes
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor


def _multiplier_1d(shape: Any) -> Any:
    """How many elements of the flat tensor one step along each axis goes."""
    sizes = tf.cumprod(shape, exclusive=True, reverse=True)
    return sizes


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
        shape = tf.shape(dense, name="dense_shape", out_type=dtypes.int64)
        indices = tf.where(tf.not_equal(dense, _ignored(dense, ignore_value)), name="indices")
        # By flat positions, which is one gather.
        flat = tf.reshape(dense, [-1])
        positions = tf.reduce_sum(indices * _multiplier_1d(shape), 1, name="flat_indices")
        values = tf.gather(flat, positions, name="values")
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
