# SPDX-License-Identifier: Apache-2.0
"""Assignment to slices of variables: `variable[1:3].assign(value)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.session.state import VariableStorage
from ...engine.types.shape import TensorShape, shape_text
from .indexing import MASKS, resolved, taken

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext

_UPDATE = NoGradient("an update of a variable has no gradient", silent=False)


def _assign(
    c: KernelContext,
    cell: VariableStorage,
    begin: np.ndarray,
    end: np.ndarray,
    strides: np.ndarray,
    value: np.ndarray,
) -> VariableStorage:
    with cell.lock:
        array = cell.looked_up()
        ranges, out = resolved(array.shape, begin, end, strides, c.attr)
        if 0 in out:
            return cell  # Nothing is assigned: TensorFlow takes values of any shape.
        if list(value.shape) != out:
            raise errors.unimplemented(
                f"sliced l-value shape {shape_text(out)} does not match r-value shape "
                f"{shape_text(value.shape)}. Automatic broadcasting not yet implemented."
            )
        array[tuple(taken(r) for r in ranges)] = value.reshape([r.size for r in ranges])
    return cell


def _assign_resource(c: KernelContext, cell: VariableStorage, *rest: Any) -> None:
    _assign(c, cell, *rest)


define(
    "StridedSliceAssign",
    "ref: Ref(T), begin: Index, end: Index, strides: Index, value: T -> output_ref: Ref(T)",
    "T: type; Index: index; " + MASKS,
    shape=lambda c: TensorShape(c.inputs[0]),
    kernel=_assign,
    gradient=_UPDATE,
    doc="Writes to what a strided slice takes of a variable.",
)
define(
    "ResourceStridedSliceAssign",
    "ref: resource, begin: Index, end: Index, strides: Index, value: T ->",
    "T: type; Index: index; " + MASKS,
    kernel=_assign_resource,
    gradient=_UPDATE,
    stateful=True,
    doc="Writes to what a strided slice takes of a resource variable.",
)
