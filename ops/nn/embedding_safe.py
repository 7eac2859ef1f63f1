# SPDX-License-Identifier: Apache-2.0
"""Lookups of sparse ids in which rows may be empty, and ids or weights invalid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ...engine.types.shape import unknown_shape
from ..public import tf
from ..state.resource_variable import ResourceVariable
from ..state.variable_partitions import PartitionedVariable
from .embedding import embedding_lookup_sparse

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


def _tables(given: Sequence[Any], dtype: Any) -> list[Any]:
    """The parts of the table as variables or tensors of the weights' dtype."""
    parts = list(given) if isinstance(given, PartitionedVariable) else given
    parts = parts if isinstance(parts, list) else [parts]
    if given is None or not parts:
        raise ValueError(f"Missing embedding_weights {given}.")
    return [
        part
        if isinstance(part, ResourceVariable) and dtype in (None, part.dtype)
        else convert_to_tensor(part, dtype=dtype)
        for part in parts
    ]


def _pruned(ids: SparseTensor, weights: Any, combiner: str) -> tuple[Any, Any]:
    """Ids and weights without negative ids and, unless summed, without weights that are not
    positive."""
    is_valid = tf.greater_equal(ids.values, 0)
    if weights is None:
        return tf.sparse_retain(ids, is_valid), None
    every = tf.ones_like(weights.values, dtype=dtypes.bool)
    is_valid = tf.logical_and(is_valid, every)
    ids, weights = tf.sparse_retain(ids, is_valid), tf.sparse_retain(weights, is_valid)
    # Means divide by the weights of a row, which must not add up to zero.
    if combiner != "sum":
        is_valid = tf.greater(weights.values, 0)
        ids, weights = tf.sparse_retain(ids, is_valid), tf.sparse_retain(weights, is_valid)
    return ids, weights


def _zero_where(is_empty: Tensor, result: Tensor, name: str) -> Tensor:
    rows = tf.tile(tf.reshape(is_empty, [-1, 1]), tf.stack([1, tf.shape(result)[1]]))
    return tf.where(rows, tf.zeros_like(result), result, name=name)


@export("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Any = None,
) -> Tensor:
    """As embedding_lookup_sparse for ids of any rank; empty rows get zeros or `default_id`."""
    dtype = None if sparse_weights is None else sparse_weights.dtype
    tables = _tables(embedding_weights, dtype)
    with name_scope(name, "embedding_lookup", [*tables, sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        static_rank = shape.get_shape().as_list()[0] if shape.get_shape().ndims else None
        rank = tf.size(shape) if static_rank is None else static_rank
        rows = tf.reduce_prod(tf.slice(shape, [0], [rank - 1]))
        ids = tf.sparse_reshape(sparse_ids, [rows, tf.gather(shape, rank - 1)])
        weights = sparse_weights
        if weights is not None:
            weights = SparseTensor(ids.indices, weights.values, ids.dense_shape)
        ids, weights = _pruned(ids, weights, combiner)
        # A row without ids looks up row 0 where no default is given; the result is set to zero
        # afterwards.
        ids, is_empty = tf.sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = tf.sparse_fill_empty_rows(weights, 1.0)
        result = embedding_lookup_sparse(
            tables,
            ids,
            weights,
            combiner=combiner,
            partition_strategy=partition_strategy,
            name=None if default_id is None else scope,
            max_norm=max_norm,
        )
        if default_id is None:
            result = _zero_where(is_empty, result, scope)
        outer = tf.slice(tf.cast(shape, dtypes.int32), [0], [rank - 1])
        final = tf.reshape(result, tf.concat([outer, tf.slice(tf.shape(result), [1], [-1])], 0))
        rank_left = None if static_rank is None else static_rank - 1
        final.set_shape(unknown_shape(rank_left).concatenate(result.get_shape()[1:]))
        return final


def safe_embedding_lookup_sparse_v2(
    embedding_weights: Sequence[Any],
    sparse_ids: SparseTensor,
    sparse_weights: object = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
) -> Tensor:
    """TensorFlow 2's order of arguments."""
    return safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name, "div", max_norm
    )
