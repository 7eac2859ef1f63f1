# SPDX-License-Identifier: Apache-2.0
"""Sorting the entries of a tensor into several, and putting them together: partition and stitch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.dispatch import dispatched
from ...engine.graph.build import define
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel import scalar as k
from ...jit.kernel.sizes import product, same
from .. import shape_inference
from ..public import tf
from .shape import reshape, shape

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

# DynamicPartition


def _partition_shape(c: ShapeContext) -> list[TensorShape]:
    data, marks = c.inputs
    count = c.attr("num_partitions")
    if data.ndims is None or marks.ndims is None:
        return [shape_inference.unknown()] * count
    shape_inference.merge(data[: marks.ndims], marks)
    return [TensorShape([None]).concatenate(data[marks.ndims :])] * count


def _partition(c: KernelContext, data: np.ndarray, marks: np.ndarray) -> tuple[np.ndarray, ...]:
    count = c.attr("num_partitions")
    if data.shape[: marks.ndim] != marks.shape:
        raise errors.invalid(
            "data.shape must start with partitions.shape, got data.shape = "
            f"{shape_text(data.shape)}, partitions.shape = {shape_text(marks.shape)}"
        )
    if _are_outside(marks, count).any():
        raise _not_a_partition(marks, count)
    return tuple(data[marks == i] for i in range(count))


def _are_outside(marks: np.ndarray, count: int) -> np.ndarray:
    return (marks < 0) | (marks >= count)


def _not_a_partition(marks: np.ndarray, count: int) -> BaseException:
    first = int(np.argmax(_are_outside(marks, count)))
    at = tuple(map(int, np.unravel_index(first, marks.shape)))
    place = shape_text(at) if at else ""
    return errors.invalid(f"partitions{place} = {marks[at]} is not in [0, {count})")


# With more partitions than so many, each of which is a few kernels, the host is quicker.
_MOST_COMPILED = 8


def _partition_sizes(c: KernelContext, data: np.ndarray, marks: np.ndarray) -> Any:
    count = c.attr("num_partitions")
    if _are_outside(marks, count).any():
        return None
    return np.bincount(marks.reshape(-1), minlength=count)


def _measured_partitions(b: Builder, op: OpView, data: Value, marks: Value) -> Any:
    count = op.attr("num_partitions")
    if count > _MOST_COMPILED:
        return NotImplemented
    return [b.reduce("sum", b.cast(_is_marked(b, marks, i), "int64"), None) for i in range(count)]


def _is_marked(b: Builder, marks: Value, number: int) -> Value:
    return b.map(lambda mark: k.eq(mark, number), marks)  # type: ignore[no-any-return]


def _lower_partition(b: Builder, op: OpView, data: Value, marks: Value, sizes: Value) -> Any:
    from ...jit import library

    count, known = op.attr("num_partitions"), b.known(sizes)
    if known is None or count > _MOST_COMPILED:
        return NotImplemented
    b.require_shape(marks, data.shape[: marks.ndim])
    outside = b.map(lambda mark: k.logical_or(k.lt(mark, 0), k.ge(mark, count)), marks)
    problem = partial(_not_a_partition, count=count)
    b.require_not(b.reduce("any", outside, None), problem, marks)
    rest = data.shape[marks.ndim :]
    rows = b.reshape(data, (product(marks.shape), *rest))
    flat = b.reshape(marks, (product(marks.shape),))
    found = []
    for i, size in enumerate(known.tolist()):
        if same(size, 0):
            found.append(b.full((0, *rest), 0, data.dtype))
            continue
        at = library.coordinates(b, _is_marked(b, flat, i), size)
        if at is NotImplemented:
            return at
        found.append(b.pick(rows, b.reshape(at, (size,))))
    return found


def _partition_gradient(op: Operation, *grads: Tensor) -> list[Any]:
    data, marks = op.inputs
    count = op.get_attr("num_partitions")
    prefix = shape(marks)
    # The partition of the positions tells the stitch where each entry came from.
    numbers = reshape(tf.range(tf.reduce_prod(prefix)), prefix)
    parts = dynamic_partition(numbers, marks, count)
    return [reshape(dynamic_stitch(parts, list(grads)), shape(data)), None]


_partition_op = define(
    "DynamicPartition",
    "data: T, partitions: int32 -> outputs: num_partitions * T",
    "num_partitions: int >= 1; T: type",
    shape=_partition_shape,
    kernel=_partition,
    lower=_lower_partition,
    gradient=_partition_gradient,
    sizes=True,
    dynamic_shape=_partition_sizes,
    measured_sizes=_measured_partitions,
    doc="The entries of a tensor, sorted into several by number.",
    test=lambda: {
        "values": [[np.array([1, 2, 3], np.float32), np.array([0, 1, 0], np.int32)]],
        "attrs": [{"num_partitions": 2}],
        "gradient": True,
    },
)


@export("dynamic_partition")
@dispatched
def dynamic_partition(
    data: TensorLike, partitions: TensorLike, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """The entries of `data`, sorted into `num_partitions` tensors by number."""
    return _partition_op(data, partitions, num_partitions=num_partitions, name=name)


# DynamicStitch


def _stitch_shape(c: ShapeContext) -> TensorShape:
    count = c.attr("N")
    indices, data = c.inputs[:count], c.inputs[count:]
    tail, longest = TensorShape(None), 0
    complete = True
    for i, (at, rows) in enumerate(zip(indices, data)):
        value = c.value(i)
        complete = complete and value is not None
        if value is not None and value.size:
            longest = max(longest, int(value.max()) + 1)
        if at.ndims is not None and rows.ndims is not None:
            shape_inference.merge(rows[: at.ndims], at)
            tail = shape_inference.merge(tail, rows[at.ndims :])
    return TensorShape([longest if complete else None]).concatenate(tail)


def _stitch(c: KernelContext, indices: list[np.ndarray], data: list[np.ndarray]) -> np.ndarray:
    for i, (at, rows) in enumerate(zip(indices, data)):
        if rows.shape[: at.ndim] != at.shape:
            raise errors.invalid(
                f"data[{i}].shape = {shape_text(rows.shape)} does not start with "
                f"indices[{i}].shape = {shape_text(at.shape)}"
            )
        if rows.shape[at.ndim :] != data[0].shape[indices[0].ndim :]:
            raise errors.invalid(
                f"Need data[0].shape[{indices[0].ndim}:] = data[{i}].shape[{at.ndim}:], got "
                f"data[0].shape = {shape_text(data[0].shape)}, data[{i}].shape = "
                f"{shape_text(rows.shape)}, indices[0].shape = {shape_text(indices[0].shape)}, "
                f"indices[{i}].shape = {shape_text(at.shape)}"
            )
    tail = data[0].shape[indices[0].ndim :]
    length = max((int(at.max()) + 1 for at in indices if at.size), default=0)
    out = np.zeros((length, *tail), dtype=data[0].dtype)
    if out.dtype == object:
        out[...] = b""
    for at, rows in zip(indices, data):
        if at.size and at.min() < 0:
            raise _below_zero(at)
        out[at.reshape(-1)] = rows.reshape((at.size, *tail))
    return out


def _stitch_sizes(c: KernelContext, indices: list[np.ndarray], data: list[np.ndarray]) -> Any:
    if any(at.size and at.min() < 0 for at in indices):
        return None
    return [max((int(at.max()) + 1 for at in indices if at.size), default=0)]


def _measured_stitch(b: Builder, op: OpView, indices: list[Value], data: list[Value]) -> list[Any]:
    largest = [b.reduce("max", b.cast(at, "int64"), None) for at in indices]
    # (Of nothing the largest is the least that there is.)
    return [b.map(lambda *each: _one_behind(each), *largest)]


def _one_behind(largest: Sequence[Any]) -> Any:
    found: Any = -1
    for each in largest:
        found = k.maximum(each, found)
    return k.add(found, 1)


def _lower_stitch(
    b: Builder, op: OpView, indices: list[Value], data: list[Value], sizes: Value
) -> Any:
    from ...jit import library

    known, dtype = b.known(sizes), data[0].dtype
    if known is None:
        return NotImplemented
    tail = data[0].shape[indices[0].ndim :]
    places, rows = [], []
    for at, given in zip(indices, data):
        b.require_shape(given, (*at.shape, *tail))
        count = product(at.shape)
        places.append(b.reshape(b.cast(at, "int64"), (count,)))
        # (Truth values have no updates.)
        given = b.cast(given, "uint8") if dtype == "bool" else given
        rows.append(b.reshape(given, (count, *tail)))
    flat = b.concat(places, 0)
    below = b.reduce("any", b.map(lambda i: k.lt(i, 0), flat), None)
    b.require_not(below, _below_zero, flat)
    (length,) = known.tolist()
    # One after the other, so that of equal indices the last one stays.
    out = library.scatter_rows(b, "update", flat, b.concat(rows, 0), length)
    return out if out is NotImplemented else b.cast(out, dtype)


def _below_zero(indices: np.ndarray) -> BaseException:
    return errors.invalid(f"indices[{int(indices.min())}] is out of range")


def _stitch_gradient(op: Operation, grad: Tensor) -> list[Any]:
    count = len(op.inputs) // 2
    indices = [
        x if x.dtype == dtypes.int32 else tf.cast(x, dtypes.int32) for x in op.inputs[:count]
    ]
    if not isinstance(grad, Tensor):
        grad = convert_to_tensor(grad)
    return [None] * count + [tf.gather(grad, at) for at in indices]


def _stitch_sample() -> dict[Any, Any]:
    return {
        "values": [
            [
                [np.array([2, 0], np.int32), np.array([1], np.int32)],
                [np.array([5, 6], np.float32), np.array([7], np.float32)],
            ]
        ],
        "gradient": True,
    }


def _define_stitch(name: str, doc: str) -> OpFunction:
    return define(
        name,
        "indices: N * int32, data: N * T -> merged: T",
        "N: int >= 1; T: type",
        shape=_stitch_shape,
        kernel=_stitch,
        lower=_lower_stitch,
        gradient=_stitch_gradient,
        sizes=True,
        dynamic_shape=_stitch_sizes,
        measured_sizes=_measured_stitch,
        doc=doc,
        test=_stitch_sample,
    )


_stitch_op = _define_stitch("DynamicStitch", "Entries of several tensors put where indices say.")
_define_stitch("ParallelDynamicStitch", "As DynamicStitch, without an order among equal indices.")


@export("dynamic_stitch")
def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """One tensor with the entries of `data` where `indices` says; later ones win."""
    return _stitch_op(indices, data, name=name)
