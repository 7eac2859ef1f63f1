# SPDX-License-Identifier: Apache-2.0
"""Rows of embedding matrices, which may live in several parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from ...engine.graph.graph import colocate_with, name_scope
from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ..public import tf
from ..state.resource_variable import BaseResourceVariable
from ..state.variable_partitions import PartitionedVariable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor


def _rank(x: Tensor) -> tuple[Any, bool]:
    rank = convert_to_tensor(x).get_shape().ndims
    return (rank, True) if rank else (tf.rank(x), False)


def _clipped(params: Tensor, ids: Tensor, max_norm: float | None) -> Any:
    """Rows scaled down to a norm of at most `max_norm`."""
    if max_norm is None:
        return params
    ids_rank, ids_static = _rank(ids)
    params_rank, params_static = _rank(params)
    if ids_static and params_static:
        axes: Any = list(range(ids_rank, params_rank))
    else:
        axes = tf.range(ids_rank, params_rank)
    return tf.clip_by_norm(params, max_norm, axes=axes)


def _as_list(params: TensorLike) -> list[Any]:
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("Need at least one param")
    if isinstance(params, PartitionedVariable):
        return list(params)
    return params if isinstance(params, list) else [params]


@export("nn.embedding_lookup")
def embedding_lookup(
    params: TensorLike,
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Any:
    """The rows of a table, which may lie in several parts.

    Args:
        params: a tensor or Variable [rows, ...], a list of parts of one, or a PartitionedVariable.
        ids: the numbers of rows, int32 or int64, of any shape.
        partition_strategy: how rows were dealt out to several parts: "mod", one by one, or "div",
            in stretches.
        name: of the operation.
        validate_indices: not used.
        max_norm: rows with a greater L2 norm are scaled down to it; not by default.

    Returns:
        A Tensor of the dtype of `params`, of shape ids.shape + params.shape[1:].

    Raises:
        ValueError: there are no parts, or no such strategy.
        InvalidArgumentError: there is no such row in a run.

    Example:
        >>> table = tf.constant([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
        >>> tf.Session().run(tf.nn.embedding_lookup(table, [2, 0]))
        array([[3., 3.],
               [1., 1.]], dtype=float32)
    """
    params = _as_list(params)
    with name_scope(name, "embedding_lookup", [*params, ids]) as name:
        if not any(isinstance(p, BaseResourceVariable) for p in params):
            params = convert_n_to_tensor_or_indexed_slices(params, name="params")
        ids = convert_to_tensor(ids, name="ids")
        if len(params) == 1:
            with colocate_with(params[0]):
                result = _clipped(tf.gather(params[0], ids, name=name), ids, max_norm)
            return tf.identity(result)
        return _from_parts(params, ids, partition_strategy, name, max_norm)


def _from_parts(
    params: list[Any], ids: Tensor, strategy: str, name: str, max_norm: float | None
) -> Any:
    count = len(params)
    flat = tf.reshape(ids, [-1])
    positions = tf.range(tf.size(flat))
    part, row = _assignments(params, flat, strategy)
    part = tf.cast(part, dtypes.int32)
    rows = tf.dynamic_partition(row, part, count)
    # The stitch below puts what each part yields back where its ids stood.
    places = tf.dynamic_partition(positions, part, count)
    found = []
    for p in range(count):
        with colocate_with(params[p]):
            found.append(tf.gather(params[p], rows[p]))
    from ..public import raw

    result = raw.ParallelDynamicStitch(places, found, name=name)
    element = params[0].get_shape()[1:]
    for p in params[1:]:
        element = element.merge_with(p.get_shape()[1:])
    if element.is_fully_defined():
        element_shape: Any = element
    else:
        with colocate_with(params[0]):
            shape = tf.shape(params[0])
        element_shape = shape[1:]
    result = tf.reshape(result, tf.concat([tf.shape(ids), element_shape], 0))
    result.set_shape(ids.get_shape().concatenate(element))
    return _clipped(result, ids, max_norm)


def _assignments(params: list[Any], flat: Tensor, strategy: str) -> tuple[Any, Any]:
    """Which part each id is in, and its row there."""
    count = len(params)
    if strategy == "mod":
        return flat % count, flat // count
    if strategy != "div":
        raise ValueError("Unrecognized partition strategy: " + strategy)
    shapes = [p.get_shape() for p in params]
    sizes: list[Any] = [s.as_list()[0] if s.ndims else None for s in shapes]
    if None not in sizes and sum(sizes):
        total = tf.constant(sum(sizes), flat.dtype)
    else:
        for i, p in enumerate(params):
            if sizes[i] is None:
                with colocate_with(p):
                    sizes[i] = tf.shape(p)[0]
        total = tf.reduce_sum(tf.cast(tf.stack(sizes), flat.dtype))
    each = total // count
    extras = total % count
    # The first `extras` parts have each + 1 rows, the others `each`.  Of the two quotients, each
    # right for its own range of ids, the right one is never the smaller.
    part = tf.maximum(flat // (each + 1), (flat - extras) // each)
    row = tf.where(part < extras, flat % (each + 1), (flat - extras) % each)
    return part, row


@export("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: SparseTensor,
    sp_weights: object,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Any:
    """For every row of a sparse matrix of ids, the sum or mean of their embeddings."""
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    params = _as_list(params)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None and not isinstance(sp_weights, SparseTensor):
        raise TypeError("sp_weights must be either None or SparseTensor")
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids]) as name:
        segments = sp_ids.indices[:, 0]
        if segments.dtype != dtypes.int32:
            segments = tf.cast(segments, dtypes.int32)
        # A row that occurs several times is looked up once, which matters for parts on other
        # machines.
        ids, index = tf.unique(sp_ids.values)
        found = embedding_lookup(
            params, ids, partition_strategy=partition_strategy, max_norm=max_norm
        )
        if found.dtype in (dtypes.float16, dtypes.bfloat16):
            # Sums over many rows in half precision would lose the last ones.
            found = tf.cast(found, dtypes.float32)
        if sp_weights is None:
            from ...engine import api

            kind = {"sum": "sum", "mean": "mean", "sqrtn": "sqrt_n"}[combiner]
            return api.NAMES[f"sparse_segment_{kind}"](found, index, segments, name=name)
        return _weighted(found, index, segments, sp_weights.values, combiner, name)


def _weighted(
    found: Any,
    index: TensorLike,
    segments: TensorLike,
    weights: Any,
    combiner: str,
    name: str | None,
) -> Any:
    if weights.dtype != found.dtype:
        weights = tf.cast(weights, found.dtype)
    found = tf.gather(found, index)
    ones = tf.fill(tf.expand_dims(tf.rank(found) - 1, 0), 1)
    shape = tf.concat([tf.shape(weights), ones], 0)
    static = weights.get_shape()
    weights = tf.reshape(weights, shape)
    if found.get_shape().ndims is not None:
        weights.set_shape(static.concatenate([1] * (found.get_shape().ndims - 1)))
    found *= weights
    if combiner == "sum":
        return tf.segment_sum(found, segments, name=name)
    total = tf.segment_sum(found, segments)
    if combiner == "mean":
        return tf.div(total, tf.segment_sum(weights, segments), name=name)
    squares = tf.segment_sum(tf.pow(weights, 2), segments)
    return tf.div(total, tf.sqrt(squares), name=name)
