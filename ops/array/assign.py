# SPDX-License-Identifier: Apache-2.0
"""Assignment to slices of variables: `variable[1:3].assign(value)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.session.shared_reads import Changing
from ...engine.session.state import VariableStorage
from ...engine.types.indices import not_inside
from ...engine.types.shape import TensorShape, shape_text
from ...jit.kernel.sizes import same
from . import moving_slices
from .indexing import MASKS
from .moving_slices import moving_ranges
from .slice_ranges import resolved, taken

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

_UPDATE = NoGradient("an update of a variable has no gradient")


def _put(
    c: KernelContext,
    array: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    strides: np.ndarray,
    value: np.ndarray,
) -> None:
    ranges, out = resolved(array.shape, begin, end, strides, c.attr)
    if 0 in out:
        return  # Nothing is assigned: TensorFlow takes values of any shape.
    if list(value.shape) != out:
        raise _not_as_sliced(out, value.shape)
    array[(*map(taken, ranges), ...)] = value.reshape([r.size for r in ranges])


def _assign(c: KernelContext, cell: VariableStorage, *rest: np.ndarray) -> VariableStorage:
    with Changing(cell):
        _put(c, cell.looked_up(), *rest)
    return cell


def _not_as_sliced(out: Sequence[int], given: Sequence[int]) -> BaseException:
    return errors.unimplemented(
        f"sliced l-value shape {shape_text(out)} does not match r-value shape "
        f"{shape_text(given)}. Automatic broadcasting not yet implemented."
    )


def _lowered(b: Builder, op: OpView, cell: Value, *given: Value) -> Any:
    """The variable afterwards; rows of it are replaced in place."""
    from ...jit import library

    begin, end, strides, value = given
    steps = b.known(strides)
    if steps is None:
        return NotImplemented
    whole = b.read(cell).shape
    fill = moving_slices.Filling(value.shape, _not_as_sliced)
    ranges, out = moving_ranges(b, op.attr, whole, (begin, end, steps), fill)
    if any(same(size, 0) for size in out):
        return cell
    b.require_shape(value, out)
    flat, depth = moving_slices.rows(b, ranges, whole)
    if flat is None:
        return b.write(cell, b.reshape(value, whole))
    updates = b.reshape(value, (*flat.shape, *whole[depth:]))
    after = library.update_rows(
        *(b, [cell], flat, lambda old, new: (new,), [updates], not_inside), depth
    )
    return after if after is NotImplemented else after[0]


def _update(c: KernelContext, x: np.ndarray, *rest: np.ndarray) -> np.ndarray:
    result = np.array(x)
    _put(c, result, *rest)
    return result


def _lowered_resource(b: Builder, op: OpView, cell: Value, *given: Value) -> Any:
    after = _lowered(b, op, cell, *given)
    return after if after is NotImplemented else ()


def _assign_resource(c: KernelContext, cell: VariableStorage, *rest: Any) -> None:
    _assign(c, cell, *rest)


define(
    "StridedSliceAssign",
    "ref: Ref(T), begin: Index, end: Index, strides: Index, value: T -> output_ref: Ref(T)",
    "T: type; Index: index; " + MASKS,
    shape=lambda c: TensorShape(c.inputs[0]),
    kernel=_assign,
    lower=_lowered,
    gradient=_UPDATE,
    doc="Writes to what a strided slice takes of a variable.",
)
define(
    "ResourceStridedSliceAssign",
    "ref: resource, begin: Index, end: Index, strides: Index, value: T ->",
    "T: type; Index: index; " + MASKS,
    kernel=_assign_resource,
    lower=_lowered_resource,
    gradient=_UPDATE,
    stateful=True,
    doc="Writes to what a strided slice takes of a resource variable.",
)
define(
    "TensorStridedSliceUpdate",
    "input: T, begin: Index, end: Index, strides: Index, value: T -> output: T",
    "T: type; Index: index; " + MASKS,
    shape=lambda c: TensorShape(c.inputs[0]),
    kernel=_update,
    gradient=NoGradient("TensorFlow has no gradient of it"),
    doc="A tensor of which what a strided slice takes is replaced.",
    test=lambda: {
        "values": [
            [np.arange(12.0).reshape(3, 4), np.array([0, 1]), np.array([2, 4]), np.array([1, 2])]
            + [np.array([[0.5, 1.5], [2.5, 3.5]])]
        ]
    },
)
