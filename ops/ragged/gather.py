# SPDX-License-Identifier: Apache-2.0
"""Rows and slices of ragged tensors by number: gather, gather_nd and batch_gather."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import dimension_value
from ..public import raw, tf
from .tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from .util import repeat

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def _converted(params: Any, indices: Any) -> tuple[Any, Any]:
    params = convert_to_tensor_or_ragged_tensor(params, name="params")
    indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
    return match_row_splits_dtypes(params, indices)


def _refuse_other_axes(axis: Any, batch_dims: Any) -> None:
    for name, given in (("axis", axis), ("batch_dims", batch_dims)):
        if not isinstance(given, int) or given != 0:
            raise ValueError(f"{name} != 0 is not supported for ragged gather yet.")


def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    axis: int = 0,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """Rows of `params` by number, in the shape of `indices`; either may be ragged."""
    del validate_indices
    _refuse_other_axes(axis, batch_dims)
    with name_scope(name, "RaggedGather", [params, indices]):
        params, indices = _converted(params, indices)
        if is_ragged(indices):
            return indices.with_values(gather(params, indices.values))
        if not is_ragged(params):
            return tf.gather(params, indices)
        indices = convert_to_tensor(indices)
        if indices.shape.ndims is None:
            raise ValueError("indices.shape.ndims must be known statically")
        result = raw.RaggedGather(
            indices=indices,
            params_dense_values=params.flat_values,
            params_nested_splits=params.nested_row_splits,
            OUTPUT_RAGGED_RANK=indices.shape.ndims + params.ragged_rank - 1,
        )
        return RaggedTensor.from_nested_row_splits(
            result.output_dense_values, result.output_nested_splits, validate=False
        )


def _index_size(indices: Any) -> int:
    """How many axes of the params an index goes into."""
    rank = indices.shape.ndims
    if rank is None:
        raise ValueError("indices.rank be statically known.")
    if rank == 0:
        raise ValueError("indices.rank must be at least 1.")
    if is_ragged(indices) and rank == indices.ragged_rank + 1:
        raise ValueError("The innermost dimension of indices may not be ragged")
    size = dimension_value(indices.shape[-1])
    if size is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    return size


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: str | None = None) -> Any:
    """Slices of `params` at the coordinates that are the innermost rows of `indices`."""
    if not isinstance(batch_dims, int) or batch_dims != 0:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if not (is_ragged(params) or is_ragged(indices)):
        return tf.gather_nd(params, indices, name)
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = _converted(params, indices)
        size, rank = _index_size(indices), indices.shape.ndims
        if rank > 2:
            return _gather_nd_of_many(params, indices, rank)
        if size == 0:
            return _whole_for_each(params, indices, rank)
        if size == 1:
            return gather(params, tf.reshape(indices, [-1]))
        return _gather_nd_of_rows(params, indices, size)


def _gather_nd_of_many(params: Any, indices: Any, rank: int) -> Any:
    """Indices of more than two axes: those above the coordinates become those of the result."""
    is_dense = not is_ragged(indices)
    if is_dense:
        kind = params.row_splits.dtype
        indices = RaggedTensor.from_tensor(indices, ragged_rank=rank - 2, row_splits_dtype=kind)
    result = indices.with_flat_values(gather_nd(params, indices.flat_values))
    if is_dense and is_ragged(result) and result.ragged_rank == rank - 2:
        return result.to_tensor()
    return result


def _whole_for_each(params: Any, indices: Tensor, rank: int) -> Any:
    """Indices without coordinates: all of the params, once for each."""
    from .array import expand_dims, tile

    count = params.ragged_rank + tf.rank(params.flat_values)
    for _ in range(rank - 1):
        params = expand_dims(params, axis=0)
    ones = tf.ones([count], dtypes.int32)
    return tile(params, tf.concat([tf.shape(indices)[:-1], ones], axis=0))


def _gather_nd_of_rows(params: Any, indices: Tensor, size: int) -> Any:
    """Coordinates become numbers of the values of one level after the other."""
    indices = tf.cast(indices, params.row_splits.dtype)
    flat = tf.gather(params.row_splits, indices[..., 0])
    flat += indices[..., 1]
    values = params.values
    for axis in range(2, size):
        if not is_ragged(values):
            flat = tf.expand_dims(flat, axis=1)
            return tf.gather_nd(values, tf.concat([flat, indices[..., axis:]], axis=1))
        flat = tf.gather(values.row_starts(), flat)
        flat += indices[..., axis]
        values = values.values
    return gather(values, flat)


_NO_BATCH = "batch shape from indices does not match params shape"


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """For each row of indices, the entries of the row of params with these numbers."""
    if not (is_ragged(params) or is_ragged(indices)):
        return tf.batch_gather(params, indices, name)
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = _converted(params, indices)
        rank = indices.shape.ndims
        if rank is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if is_ragged(indices):
            inner = _batch_gather_outer if rank > 2 else _batch_gather_rows
            return inner(params, indices)
        if rank == 1:
            return gather(params, indices)
        if rank > 2:
            raise ValueError(_NO_BATCH)
        starts = tf.expand_dims(params.row_starts(), 1)
        return gather(params.values, tf.cast(indices, starts.dtype) + starts)


def _batch_gather_outer(params: Any, indices: RaggedTensor) -> RaggedTensor:
    if not is_ragged(params):
        raise ValueError(_NO_BATCH)
    same = tf.assert_equal(params.row_splits, indices.row_splits)
    with tf.control_dependencies([same]):
        values = batch_gather(params.values, indices.values)
        return RaggedTensor.from_row_splits(values, indices.row_splits, validate=False)


def _batch_gather_rows(params: Any, indices: RaggedTensor) -> RaggedTensor:
    if not is_ragged(params):
        if params.shape.ndims is not None and params.shape.ndims < 2:
            raise ValueError(_NO_BATCH)
        kind = indices.row_splits.dtype
        params = RaggedTensor.from_tensor(params, ragged_rank=1, row_splits_dtype=kind)
    lengths = indices.row_lengths()
    starts = repeat(params.row_starts(), lengths, axis=0)
    places = tf.cast(indices.values, starts.dtype) + starts
    values = gather(params.values, places)
    return RaggedTensor.from_row_splits(values, indices.row_splits, validate=False)


def batch_gather_with_default(
    params: Any, indices: Any, default_value: TensorLike = "", name: str | None = None
) -> Tensor:
    """`batch_gather` that gives a default for indices outside of their row."""
    from .padding import pad_of
    from .where import where

    with name_scope(name, "RaggedBatchGatherWithDefault"):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        default: Any = convert_to_tensor_or_ragged_tensor(default_value, name="default_value")
        kind, (params, indices, default) = match_row_splits_dtypes(
            params, indices, default, return_dtype=True
        )
        if default.shape.ndims not in (0, 1):
            raise ValueError('"default_value" must be a scalar or vector')
        if indices.shape.ndims is None:
            raise ValueError("Indices must have a known rank.")
        if params.shape.ndims is None:
            raise ValueError("Params must have a known rank.")
        axis = indices.shape.ndims - 1
        enough = tf.assert_greater_equal(tf.rank(params), tf.rank(indices))
        with tf.control_dependencies([enough]):
            # The default stands in front of each row, and indices outside pick it.
            pad, limits = pad_of(params, indices, default, axis, kind)
            padded = tf.concat([tf.cast(pad, params.dtype), params], axis=axis)
            is_outside = (indices < 0) | (indices > limits)
            places = where(is_outside, x=tf.zeros_like(indices), y=indices + 1)
            return tf.batch_gather(params=padded, indices=places, name=name)
