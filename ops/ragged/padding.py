# SPDX-License-Identifier: Apache-2.0
"""What `batch_gather_with_default` puts in front of every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.tensor import Tensor
from ..public import tf
from .array import expand_dims
from .dynamic_shape import RaggedTensorDynamicShape, broadcast_to
from .tensor import is_ragged

if TYPE_CHECKING:
    from ...engine.types.dtypes import DType


def pad_of(params: Any, indices: Any, default: Tensor, axis: int, kind: DType) -> tuple[Any, Any]:
    """The default as an entry along an axis of the params, and the greatest index of each row,
    counted behind it."""
    if is_ragged(params):
        lengths = expand_dims(params.row_lengths(axis=axis), axis=-1)
        pad = broadcast_to(default, _pad_shape(params, indices, kind))
        return pad, tf.cast(lengths, indices.dtype)
    sizes = tf.shape(params)
    shape = tf.concat([sizes[:axis], [1], sizes[axis + 1 : params.shape.ndims]], 0)
    return tf.broadcast_to(default, shape), sizes[axis]


def _pad_shape(params: Any, indices: Any, kind: DType) -> RaggedTensorDynamicShape:
    """The shape of the params with 1 where the indices go in, and below where rows differ."""
    axis = indices.shape.ndims - 1
    shape = RaggedTensorDynamicShape.from_tensor(params, dim_size_dtype=kind)
    sizes = shape.partitioned_dim_sizes
    if params.shape.ndims == indices.shape.ndims:
        if shape.num_inner_dimensions == 0:
            return RaggedTensorDynamicShape((*sizes[:-1], tf.ones_like(sizes[-1])), [])
        inner = tf.concat([shape.inner_dim_sizes[:-1], [1]], axis=0)
        return RaggedTensorDynamicShape(sizes, inner)
    count = shape.num_partitioned_dimensions - axis
    if axis == 0:
        one, row = tf.constant(1, dtype=kind), tf.constant([1], dtype=kind)
        pad = (one,) + (row,) * (count - 1)
    else:
        pad = sizes[:axis] + (tf.ones_like(sizes[axis]),) * count
    return RaggedTensorDynamicShape(pad, shape.inner_dim_sizes)
