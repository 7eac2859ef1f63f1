# SPDX-License-Identifier: Apache-2.0
"""How compiled plans keep TensorArrays: as memory of their own, see jit/library/arrays.py.

Elements of several shapes are left to the reference kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.types.shape import as_shape
from ..shape_inference import known_sizes

if TYPE_CHECKING:
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


def _make(b: Builder, op: OpView, size: Value) -> Any:
    from ...jit.library import arrays

    stated = as_shape(op.node._attrs["element_shape"])
    shape = tuple(known_sizes(stated)) if stated.is_fully_defined() else None
    name = op.attr("tensor_array_name") or op.name
    dtype = op.node._attrs["dtype"].base_dtype.name
    dtype = "float16" if dtype == "half" else dtype
    clears, is_alike = op.attr("clear_after_read"), op.attr("identical_element_shapes")
    is_alike = is_alike or shape is not None
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
    "TensorArraySizeV3": _size,
    "TensorArrayCloseV3": lambda b, op, handle: (),
}
