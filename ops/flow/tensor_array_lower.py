# SPDX-License-Identifier: Apache-2.0
"""How compiled plans keep TensorArrays: as memory of their own, see jit/library/arrays.py.

Elements of several shapes are left to the reference kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.types.shape import TensorShape, as_shape
from ..shape_inference import known_sizes

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _problem(op: OpView, text: str) -> Callable[..., BaseException]:
    def error(index: np.ndarray) -> BaseException:
        where = " ".join(str(i) for i in index.ravel())
        message = f"TensorArray of node '{op.name}': {text.format(where)}"
        return errors.invalid(message)

    return error


_READ = "Could not read index {}: it is outside, or was cleared after a previous read."
_WRITE = "Could not write index {}: it is outside, or has been written to or read."
_GATHER = "Could not read indices {}: one was never written, or cleared after a previous read."


_CONCAT = (
    "Could not concatenate: an element was never written, or cleared after a previous read (1 is "
    "there: {})."
)


def _written_shape(op: OpView) -> tuple[int, ...] | None:
    """The shape of the elements that are written, as far as the graph knows it of any.

    A plan looks at every write, so this is a guess that nothing rests on.
    """
    shapes = {tuple(known_sizes(s)) for t in _written(op.node.outputs[0]) for s in _shapes(t)}
    return shapes.pop() if len(shapes) == 1 else None


def _shapes(tensor: Tensor) -> Iterator[TensorShape]:
    """Shapes that a tensor may have: its own, or those of what branches give it."""
    found, seen = [tensor], {tensor}
    while found:
        tensor = found.pop()
        if tensor.shape.is_fully_defined():
            yield tensor.shape
        elif tensor.op.definition.control_flow_role in ("merge", "switch"):
            new = [t for t in tensor.op._inputs_val if t not in seen and t.dtype == tensor.dtype]
            found += new
            seen.update(new)


def _written(handle: Tensor) -> Iterator[Tensor]:
    """The tensors that are written, as elements, to the array of a handle."""
    for user in dict.fromkeys(handle._consumers):
        if user.type == "TensorArrayWriteV3":
            yield user.inputs[2]
        elif user.definition.control_flow_role == "enter":
            yield from _written(user.outputs[0])


def _make(b: Builder, op: OpView, size: Value) -> Any:
    from ...jit.library import arrays
    from ...jit.trace.measuring import measured

    if b.known(size) is None and b.may_measure:
        size = measured(b, size)
    stated = as_shape(op.node._attrs["element_shape"])
    is_stated = stated.is_fully_defined()
    shape = tuple(known_sizes(stated)) if is_stated else _written_shape(op)
    name = op.attr("tensor_array_name") or op.name
    dtype = op.node._attrs["dtype"].base_dtype.name
    dtype = "float16" if dtype == "half" else dtype
    clears, is_alike = op.attr("clear_after_read"), op.attr("identical_element_shapes")
    is_alike = is_alike or is_stated
    return arrays.make(b, name, size, dtype, shape, clears, is_alike, op.attr("dynamic_size"))


def _grad(b: Builder, op: OpView, handle: Value, flow: Value) -> Any:
    from ...jit.library import arrays

    return arrays.gradient(b, handle, op.attr("source"))


def _write(b: Builder, op: OpView, handle: Value, index: Value, value: Value, flow: Value) -> Any:
    from ...jit.library import arrays

    return arrays.write(b, handle, index, value, _problem(op, _WRITE))


def _read(b: Builder, op: OpView, handle: Value, index: Value, flow: Value) -> Any:
    from ...jit.library import arrays

    return arrays.read(b, handle, index, op.dtype(), _problem(op, _READ))


def _gather(b: Builder, op: OpView, handle: Value, indices: Value, flow: Value) -> Any:
    from ...jit.library import arrays

    return arrays.gather(b, handle, indices, op.dtype(), _problem(op, _GATHER))


def _scatter(
    b: Builder, op: OpView, handle: Value, indices: Value, value: Value, flow: Value
) -> Any:
    from ...jit.library import arrays

    return arrays.scatter(b, handle, indices, value, _problem(op, _WRITE))


def _concat(b: Builder, op: OpView, handle: Value, flow: Value) -> Any:
    from ...jit.library import arrays

    return arrays.concat(b, handle, op.dtype(), _problem(op, _CONCAT))


def _split(b: Builder, op: OpView, handle: Value, value: Value, lengths: Value, flow: Value) -> Any:
    from ...jit.library import arrays

    return arrays.split(b, handle, value, lengths, _problem(op, _WRITE))


def _size(b: Builder, op: OpView, handle: Value, flow: Value) -> Any:
    from ...jit.library import arrays

    return arrays.size(b, handle)


LOWER: dict[str, Callable[..., Any]] = {
    "TensorArrayV3": _make,
    "TensorArrayGradV3": _grad,
    "TensorArrayWriteV3": _write,
    "TensorArrayReadV3": _read,
    "TensorArrayGatherV3": _gather,
    "TensorArrayScatterV3": _scatter,
    "TensorArrayConcatV3": _concat,
    "TensorArraySplitV3": _split,
    "TensorArraySizeV3": _size,
    "TensorArrayCloseV3": lambda b, op, handle: (),
}
