# SPDX-License-Identifier: Apache-2.0
"""Looking up embeddings: of sparse ids with gaps, of ids that occur often, and by hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import SparseTensor
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.nn.embedding import embedding_lookup, embedding_lookup_sparse
from ....ops.public import tf
from .scattered_embeddings import (
    _sampled_scattered_embedding_lookup,
    _sampled_scattered_embedding_lookup_sparse,
    combiner_or_mean,
    parts_of,
    scattered_embedding_lookup,
    scattered_embedding_lookup_sparse,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor

__all__ = [
    "_sampled_scattered_embedding_lookup",
    "_sampled_scattered_embedding_lookup_sparse",
    "embedding_lookup_sparse_with_distributed_aggregation",
    "embedding_lookup_unique",
    "safe_embedding_lookup_sparse",
    "scattered_embedding_lookup",
    "scattered_embedding_lookup_sparse",
]


@export("contrib.layers.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str | None = None,
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """The combined embeddings of each row's ids, where rows may be empty and ids invalid.

    Args:
        embedding_weights: the embeddings: a tensor, or the parts of one.
        sparse_ids: ids; negative ones are left out.
        sparse_weights: their weights; those that are not positive are left out, with their ids.
        combiner: "mean", "sqrtn" or "sum"; None is "mean".
        default_id: the id for empty rows; their embedding is zeros if None.
        name: the name of the result.
        partition_strategy: "div" or "mod": which part has which ids.
        max_norm: embeddings of greater norms are clipped to it, if given.

    Returns:
        A tensor; the last axis of `sparse_ids` is that of the embedding.

    Raises:
        ValueError: there are no embeddings.

    Example:
        >>> ids = tf.SparseTensor([[0, 0], [0, 1]], [1, 2], [2, 2])
        >>> table = tf.constant([[1.0], [2.0], [4.0]])
        >>> look_up = tf.contrib.layers.safe_embedding_lookup_sparse
        >>> print(tf.Session().run(look_up(table, ids, combiner="sum")).tolist())
        [[6.0], [0.0]]
    """
    combiner = combiner_or_mean(combiner)
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    parts = parts_of(embedding_weights)
    if not parts:
        raise ValueError(f"Missing embedding_weights {parts}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    parts = [tf.convert_to_tensor(part, dtype=dtype) for part in parts]
    tf.assert_same_float_dtype([*parts, sparse_weights])
    values = [*parts, sparse_ids, sparse_weights]
    with tf.name_scope(name, "embedding_lookup", values) as scope:
        shape = sparse_ids.dense_shape
        known_rank = shape.shape.as_list()[0] if shape.shape.ndims else None
        rank = tf.size(shape) if known_rank is None else known_rank
        rows = tf.reduce_prod(tf.slice(shape, [0], [rank - 1]))
        ids = tf.sparse_reshape(sparse_ids, [rows, tf.gather(shape, rank - 1)])
        weights = sparse_weights
        if weights is not None:
            weights = SparseTensor(ids.indices, weights.values, ids.dense_shape)
        ids, weights = _valid(ids, weights, combiner)
        ids, is_empty = tf.sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = tf.sparse_fill_empty_rows(weights, 1.0)
        result = embedding_lookup_sparse(
            parts,
            ids,
            weights,
            combiner=combiner,
            partition_strategy=partition_strategy,
            name=None if default_id is None else scope,
            max_norm=max_norm,
        )
        if default_id is None:
            is_empty = tf.reshape(is_empty, [-1, 1])
            is_empty = tf.tile(is_empty, tf.stack([1, tf.shape(result)[1]]))
            result = tf.where(is_empty, tf.zeros_like(result), result, name=scope)
        outer = tf.slice(tf.cast(shape, dtypes.int32), [0], [rank - 1])
        final = tf.reshape(result, tf.concat([outer, tf.slice(tf.shape(result), [1], [-1])], 0))
        unknown = TensorShape(None if known_rank is None else [None] * (known_rank - 1))
        final.set_shape(unknown.concatenate(result.shape[1:]))
        return final


def _valid(ids: Any, weights: Any, combiner: str) -> tuple[Any, Any]:
    """Ids that are not negative, and of positive weights where weights are divided by."""
    valid = tf.greater_equal(ids.values, 0)
    if weights is None:
        return tf.sparse_retain(ids, valid), None
    valid = tf.logical_and(valid, tf.ones_like(weights.values, dtype=dtypes.bool))
    ids, weights = tf.sparse_retain(ids, valid), tf.sparse_retain(weights, valid)
    if combiner == "sum":
        return ids, weights
    positive = tf.greater(weights.values, 0)
    return tf.sparse_retain(ids, positive), tf.sparse_retain(weights, positive)


@export("contrib.layers.embedding_lookup_unique")
def embedding_lookup_unique(
    params: Any, ids: TensorLike, partition_strategy: str = "mod", name: str | None = None
) -> Tensor:
    """`tf.nn.embedding_lookup` that looks each id up once.

    Args:
        params: the embeddings: a tensor, or the parts of one.
        ids: integers.
        partition_strategy: "div" or "mod": which part has which ids.
        name: the name scope.

    Returns:
        A tensor.
    """
    with tf.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = tf.convert_to_tensor(ids)
        shape = tf.shape(ids)
        flat = tf.reshape(ids, tf.reduce_prod(shape, keepdims=True))
        unique, places = tf.unique(flat)
        found = embedding_lookup(params, unique, partition_strategy)
        result = tf.reshape(tf.gather(found, places), tf.concat([shape, tf.shape(found)[1:]], 0))
        result.set_shape(ids.shape.concatenate(found.shape[1:]))
        return result


def embedding_lookup_sparse_with_distributed_aggregation(
    params: Any,
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Any:
    """`tf.nn.embedding_lookup_sparse`: all parts of the embeddings are on one machine.

    Args: as `tf.nn.embedding_lookup_sparse`.
    """
    return embedding_lookup_sparse(
        params, sp_ids, sp_weights, partition_strategy, name, combiner_or_mean(combiner), max_norm
    )
