# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors that a session keeps, each behind a number: how they pass through queues."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.graph import colocate_with
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import SparseTensor
from ...engine.types.dtypes import runtime_name
from ...engine.types.shape import TensorShape, shape_text
from ..public import raw
from ..shape_inference import ranked
from ..state.shared_state import kept
from .common import as_sparse, in_order, parts, sparse_shapes

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor

_STATE = NoGradient("keeps tensors between runs")
_ATTRS = "container: string = ''; shared_name: string = ''"

Sparse = tuple[np.ndarray, np.ndarray, np.ndarray]


class SparseMap:
    """The sparse tensors that were added and not taken yet."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._kept: dict[int, Sparse] = {}

    def add(self, *sparse: np.ndarray) -> int:
        """Keeps indices, values and shape; the number to take them with."""
        # What is kept outlives the run, whose memory the parts may lie in.
        copies = tuple(np.array(part) for part in sparse)
        with self._lock:
            number = next(self._numbers)
            self._kept[number] = copies  # type: ignore[assignment]
            return number

    def take(self, number: int) -> Sparse:
        """Gives back what is kept under a number, once."""
        with self._lock:
            found = self._kept.pop(number, None)
        if found is None:
            raise errors.invalid(f"Unable to find SparseTensor: {number} in map: {self.name}")
        return found


def _map(c: KernelContext, shares_node_name: bool = False) -> SparseMap:
    return kept(c, "sparse tensors", SparseMap, shares_node_name=shares_node_name)


def _add(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    return np.asarray(_map(c, True).add(indices, values, shape), np.int64)


def _add_many(
    c: KernelContext, indices: np.ndarray, values: np.ndarray, shape: np.ndarray
) -> np.ndarray:
    if len(values) != len(indices):
        raise errors.invalid(
            f"Number of values must match first dimension of indices. Got {len(values)} values, "
            f"indices shape: {shape_text(indices.shape)}"
        )
    if len(shape) < 2:
        raise errors.invalid(
            f"Rank of input SparseTensor should be > 1, but saw rank: {len(shape)}"
        )
    count, first = int(shape[0]), indices[:, 0]
    outside = first[(first < 0) | (first >= count)]
    if outside.size:
        raise errors.invalid(
            f"Received unexpected column 0 value in input SparseTensor: {outside[0]} < 0 or >= N "
            f"(= {count})"
        )
    owner = _map(c, True)
    rows = [first == row for row in range(count)]
    numbers = [owner.add(indices[row, 1:], values[row], shape[1:]) for row in rows]
    return np.array(numbers, np.int64)


def _take_many(c: KernelContext, handles: np.ndarray) -> Sparse:
    if not len(handles):
        raise errors.invalid(
            "Must have at least 1 serialized SparseTensor, but input matrix has 0 rows"
        )
    owner = _map(c)
    found = [owner.take(int(handle)) for handle in handles]
    dtype = c.op._attrs["dtype"]
    for i, (_, values, shape) in enumerate(found):
        if values.dtype != dtype.np_dtype:
            raise errors.invalid(
                f"Requested SparseTensor of type {runtime_name(dtype)} but SparseTensor[{i}]"
                f".values.dtype() == {values.dtype.name}"
            )
        if len(shape) != len(found[0][2]):
            raise errors.invalid(
                "Inconsistent rank across SparseTensors: rank prior to SparseTensor"
                f"[{i}] was: {len(found[0][2]) + 1} but rank of SparseTensor[{i}] is: "
                f"{len(shape) + 1}"
            )
    indices = np.concatenate(
        [np.insert(part, 0, row, axis=1) for row, (part, _, _) in enumerate(found)]
    )
    order = in_order(indices)
    values = np.concatenate([part for _, part, _ in found])
    sizes = np.max([shape for _, _, shape in found], axis=0)
    return indices[order], values[order], np.array([len(found), *sizes], np.int64)


_ADDING: tuple[tuple[str, str, Any, list[None]], ...] = (
    ("AddSparseToTensorsMap", "sparse_handle", _add, []),
    ("AddManySparseToTensorsMap", "sparse_handles", _add_many, [None]),
)
for _name, _output, _kernel, _rule in _ADDING:
    define(
        _name,
        f"sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> {_output}: int64",
        f"T: type; {_ATTRS}",
        shape=lambda c, sizes=_rule: sparse_shapes(c) and TensorShape(sizes),
        kernel=_kernel,
        gradient=_STATE,
        stateful=True,
        doc="Keeps a sparse tensor (or each entry of a batch) and gives its number.",
        test={"session_only": True},
    )


def _taken_shapes(c: ShapeContext) -> list[TensorShape]:
    ranked(c.inputs[0], 1)
    return [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]


define(
    "TakeManySparseFromTensorsMap",
    "sparse_handles: int64 -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    f"dtype: type; {_ATTRS}",
    shape=_taken_shapes,
    kernel=_take_many,
    gradient=_STATE,
    stateful=True,
    dynamic_shape=True,
    doc="Takes kept sparse tensors as a batch.",
    test={"session_only": True},
)


def add_sparse_to_tensors_map(
    sp_input: SparseTensor,
    container: str | None = None,
    shared_name: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Keeps a sparse tensor; gives a number."""
    return raw.AddSparseToTensorsMap(
        *parts(as_sparse(sp_input)), container=container, shared_name=shared_name, name=name
    )


def add_many_sparse_to_tensors_map(
    sp_input: SparseTensor,
    container: str | None = None,
    shared_name: str | None = None,
    name: str | None = None,
) -> Tensor:
    """Keeps the entries of a batch of sparse tensors; gives a vector of numbers."""
    return raw.AddManySparseToTensorsMap(
        *parts(as_sparse(sp_input)), container=container, shared_name=shared_name, name=name
    )


def take_many_sparse_from_tensors_map(
    sparse_map_op: Any,
    sparse_handles: TensorLike,
    rank: int | None = None,
    name: str | None = None,
) -> SparseTensor:
    """The batch of the sparse tensors that `sparse_map_op` kept under the numbers given."""
    if sparse_map_op.type not in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        raise TypeError(
            "sparse_map_op must be one of AddSparseToTensorsMap or AddSparseToTensorsMap. "
            f"Instead, found `{sparse_map_op.type}`."
        )
    with colocate_with(sparse_map_op):
        shared = sparse_map_op.get_attr("shared_name").decode() or sparse_map_op.name
        indices, values, shape = raw.TakeManySparseFromTensorsMap(
            sparse_handles,
            dtype=sparse_map_op.get_attr("T"),
            container=sparse_map_op.get_attr("container"),
            shared_name=shared,
            name=name,
        )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)


# The names of tensorflow.python.ops.sparse_ops.
_add_sparse_to_tensors_map = add_sparse_to_tensors_map
_add_many_sparse_to_tensors_map = add_many_sparse_to_tensors_map
_take_many_sparse_from_tensors_map = take_many_sparse_from_tensors_map
