# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors on their way through a queue: kept behind numbers, and put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.tensor import SparseTensor
from ...engine.types import dtypes
from ...engine.types.shape import Dimension
from ...ops.control import with_dependencies
from ...ops.flow.cond import smart_cond
from ...ops.public import tf
from ...ops.sparse.sparse_tensors_map import (
    add_many_sparse_to_tensors_map,
    add_sparse_to_tensors_map,
    take_many_sparse_from_tensors_map,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import SparseLike, TensorLike
    from ...engine.graph.tensor import Tensor

_ADDING = ("AddSparseToTensorsMap", "AddManySparseToTensorsMap")


class _SparseMetaData:
    """What is known of a component: whether it is sparse, what keeps it, and its rank."""

    def __init__(self, sparse: bool, map_op: Any, rank: Any) -> None:
        self.sparse, self.map_op = sparse, map_op
        self.rank: Any = Dimension(rank)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _SparseMetaData) or self.sparse != other.sparse:
            return False
        if not self.sparse:
            return True
        return self.map_op == other.map_op and self.rank.is_compatible_with(other.rank)

    def __hash__(self) -> int:
        return hash((self.sparse, self.map_op))

    def __str__(self) -> str:
        return f"[SparseMetaData({self.sparse}, {self.map_op.name}, {self.rank})]"

    def merge_with(self, other: _SparseMetaData) -> _SparseMetaData:
        """What both know."""
        if self != other:
            raise ValueError(f"SparseMetaData objects are incompatible: {self} vs. {other}")
        if self.sparse:
            self.rank.merge_with(other.rank)
        return self


def _kept_one(tensor: SparseTensor, name: str | None, keep_input: Tensor) -> Any:
    return smart_cond(
        keep_input,
        lambda: add_sparse_to_tensors_map(tensor, shared_name=name),
        # A number for nothing: what has it is not enqueued.
        lambda: tf.constant(-1, dtypes.int64),
    )


def _kept_many(tensor: Any, name: str | None, keep_input: Any) -> Any:
    numbers = smart_cond(
        keep_input,
        lambda: add_many_sparse_to_tensors_map(tensor, shared_name=name),
        lambda: -1 * tf.ones(tf.shape(tensor)[0:1], dtypes.int64),
    )
    numbers.set_shape([None])
    return numbers


def _kept(tensor: Any, shared: Any, enqueue_many: bool, keep_input: Tensor) -> Any:
    """The numbers of a sparse tensor; any other tensor as it is."""
    if not isinstance(tensor, SparseTensor):
        return tensor
    name = shared.name if shared else None
    if keep_input.shape.ndims == 1:
        rows = tensor.indices[:, 0]
        tensor = tf.sparse_retain(tensor, tf.gather(keep_input, rows))
        return add_many_sparse_to_tensors_map(tensor, shared_name=name)
    return (_kept_many if enqueue_many else _kept_one)(tensor, name, keep_input)


def _keeper(stored: Tensor) -> Any:
    """The operation that keeps a tensor; it is behind a merge where input may be dropped."""
    for tensor in stored.op.inputs:
        if tensor.op.type in _ADDING:
            return tensor.op
    return stored.op


def _facts(
    tensor: SparseLike | TensorLike, keeper: Any, shared: Any, enqueue_many: bool
) -> _SparseMetaData:
    if not isinstance(tensor, SparseTensor):
        return _SparseMetaData(False, None, None)
    rank: Any = tensor.dense_shape.shape.with_rank(1)[0]
    return _SparseMetaData(True, shared or keeper, rank - 1 if enqueue_many else rank)


def _store_sparse_tensors(
    tensor_list: Sequence[Any],
    enqueue_many: bool,
    keep_input: Tensor,
    shared_map_ops: Sequence[Any] | None = None,
) -> tuple[list[Any], list[_SparseMetaData]]:
    """Tensors with the sparse ones kept, and what `restore` needs to know of each."""
    shared = shared_map_ops or [None] * len(tensor_list)
    stored = [
        _kept(tensor, map_op, enqueue_many, keep_input)
        for tensor, map_op in zip(tensor_list, shared)
    ]
    facts = [
        _facts(tensor, _keeper(numbers), map_op, enqueue_many)
        for tensor, numbers, map_op in zip(tensor_list, stored, shared)
    ]
    expanded = [tf.expand_dims(s, [-1]) if fact.sparse else s for s, fact in zip(stored, facts)]
    return expanded, facts


def _store_sparse_tensors_join(
    tensor_list_list: Sequence[Sequence[Any]], enqueue_many: bool, keep_input: Tensor
) -> tuple[list[list[Any]], list[_SparseMetaData]]:
    """The same for several lists that go into one queue."""
    first, facts = _store_sparse_tensors(tensor_list_list[0], enqueue_many, keep_input)
    result = [first]
    for tensor_list in tensor_list_list[1:]:
        shared = [fact.map_op for fact in facts]
        stored, others = _store_sparse_tensors(tensor_list, enqueue_many, keep_input, shared)
        if facts != others:
            raise ValueError(
                f"Inconsistent SparseTensors list: {tensor_list_list[0]} vs. {tensor_list}"
            )
        facts = [fact.merge_with(other) for fact, other in zip(facts, others)]
        result.append(stored)
    return result, facts


def restore(stored: Any, facts: Sequence[_SparseMetaData]) -> Any:
    """A dequeued batch with its sparse tensors put together again."""
    is_many = isinstance(stored, Sequence)
    tensors = [
        take_many_sparse_from_tensors_map(
            sparse_map_op=fact.map_op,
            sparse_handles=tf.squeeze(numbers, [1]),
            rank=(fact.rank + 1).value,
        )
        if fact.sparse
        else numbers
        for numbers, fact in zip(stored if is_many else (stored,), facts)
    ]
    if any(isinstance(tensor, SparseTensor) for tensor in tensors):
        # Whoever uses one component takes all, so that nothing stays kept.
        values = [t.values if isinstance(t, SparseTensor) else t for t in tensors]
        tensors = [_behind(values, tensor) for tensor in tensors]
    return tensors if is_many else tensors[0]


def _behind(values: list[Any], tensor: SparseLike | TensorLike) -> Any:
    if not isinstance(tensor, SparseTensor):
        return with_dependencies(values, tensor)
    return SparseTensor(
        indices=with_dependencies(values, tensor.indices),
        values=with_dependencies(values, tensor.values),
        dense_shape=with_dependencies(values, tensor.dense_shape),
    )
