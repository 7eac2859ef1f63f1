# SPDX-License-Identifier: Apache-2.0
"""Adding up the gradients of one tensor, dense or sparse, by the method asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import api
from ..api import export
from ..graph.defaults import get_default_graph
from ..graph.graph import name_scope
from ..graph.operation import Operation
from ..graph.tensor import IndexedSlices, Tensor
from ..types import dtypes
from ..types.shape import TensorShape

Gradient = Any  # Tensor | IndexedSlices | None


@export("AggregationMethod")
class AggregationMethod:
    """How several gradients of one tensor are added up."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def public(name: str) -> Callable[..., Any]:
    """A public function of the ops layer, which this layer does not import."""
    return api.NAMES[name]


def _as_indexed_slices(x: Gradient) -> IndexedSlices:
    if isinstance(x, IndexedSlices):
        return x
    if not isinstance(x, Tensor):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(x)}")
    shape = public("shape")(x)
    return IndexedSlices(x, public("range")(0, shape[0]), shape)


def _flat(grad: IndexedSlices) -> IndexedSlices:
    """Slices whose values are slices themselves, as plain slices."""
    if isinstance(grad.values, Tensor):
        return grad
    inner = _flat(grad.values)
    # Rows of rows: the inner indices choose among the outer ones.
    indices = public("gather")(grad.indices, inner.indices)
    return IndexedSlices(inner.values, indices, inner.dense_shape)


def _one_index_type(slices: list[IndexedSlices]) -> list[IndexedSlices]:
    narrow = [s.indices.dtype == dtypes.int32 for s in slices]
    if all(narrow) or not any(narrow):
        return slices
    cast = public("cast")
    return [
        IndexedSlices(s.values, cast(s.indices, dtypes.int64), s.dense_shape) if small else s
        for s, small in zip(slices, narrow)
    ]


def _as_indexed_slices_list(inputs: Sequence[Gradient]) -> list[IndexedSlices]:
    return _one_index_type([_as_indexed_slices(x) for x in inputs])


def add_sparse(grads: Sequence[Gradient]) -> Gradient:
    """The sum of gradients of which some are IndexedSlices: dense as soon as one is."""
    present = [g for g in grads if g is not None]
    if len(present) == 1:
        return present[0]
    if any(isinstance(g, Tensor) for g in present):
        return public("add_n")(present)
    slices = [_flat(s) for s in _as_indexed_slices_list(present)]
    concat = public("concat")
    # Indices may repeat: whoever applies slices adds up what has one index.
    values = concat([s.values for s in slices], axis=0)
    indices = concat([s.indices for s in slices], axis=0)
    return IndexedSlices(values, indices, slices[0].dense_shape)


def _merged_shape(tensors: Sequence[Any]) -> TensorShape:
    shape = TensorShape(None)
    for tensor in tensors:
        if isinstance(tensor, Tensor):
            shape = shape.merge_with(tensor.get_shape())
    return shape


def _add_by_device(tensors: Sequence[Tensor], uid: str) -> Tensor:
    """Adds what is on one device there, then the partial sums."""
    devices: dict[str, list[Tensor]] = {}
    for tensor in tensors:
        devices.setdefault(tensor.device or "", []).append(tensor)
    add_n = public("add_n")
    sums = []
    # Sorted, as in TensorFlow: one graph has one order of additions.
    for device in sorted(devices):
        first = devices[device][0].op
        graph = get_default_graph()
        with graph._colocate_with_for_gradient(first, uid, ignore_existing=True):
            sums.append(add_n(devices[device]))
    return add_n(sums)


def _add_pairwise(op: Operation, grads: Sequence[Tensor]) -> Tensor:
    with name_scope(op.name + "_gradient_sum"):
        total = grads[0]
        for grad in grads[1:]:
            # One after the other: each can be freed when it is added, and need not wait for all.
            total = public("add_n")([total, grad])
        return total


def add_up(op: Operation, grads: list[Gradient], uid: str, method: int) -> Gradient:
    """The sum of the gradients of one output of `op`; None when there are none."""
    if not all(isinstance(g, (Tensor, IndexedSlices)) for g in grads if g is not None):
        raise TypeError("gradients have to be either all Tensors or all IndexedSlices")
    if len(grads) < 2:
        return grads[0] if grads else None
    if not all(isinstance(g, Tensor) for g in grads if g is not None):
        return add_sparse(grads)
    shape = _merged_shape(grads)
    if method == AggregationMethod.ADD_N:
        return _add_by_device(grads, uid)
    accumulate = method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N
    # (The node takes the shape as an attribute.)
    if accumulate and len(grads) > 2 and shape.is_fully_defined():
        return public("accumulate_n")(grads)
    return _add_pairwise(op, grads)
