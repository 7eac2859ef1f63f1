# SPDX-License-Identifier: Apache-2.0
"""The ops behind resource variables: handles, reads, writes, gathers.

A handle's run-time value is the variable's `VariableStorage`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.gradients.autodiff_flow import zeros_behind
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.graph.tensor import IndexedSlices
from ...engine.session import shared_reads
from ...engine.session.shared_reads import Changing
from ...engine.session.state import VariableStorage
from ...engine.types import dtypes
from ...engine.types.dtypes import runtime_name
from ...engine.types.shape import TensorShape, shape_text, unknown_shape
from .. import shape_inference
from ..array.gather import check_nd_indices, gather_nd_kernel
from ..array.nd_index import lower_gather_nd
from ..public import raw, tf
from .reference import STORAGE, UPDATE, cell_of
from .scatter import require_indices

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView


def _handle(c: KernelContext) -> VariableStorage:
    cell = cell_of(c)
    cell.is_resource = True
    return cell


define(
    "VarHandleOp",
    "-> resource: resource",
    "container: string = ''; shared_name: string = ''; dtype: type; shape: shape",
    shape=lambda c: TensorShape([]),
    kernel=_handle,
    gradient=STORAGE,
    transfer="value",
    stateful=True,
    doc="The handle of a variable.",
)


_PASSING_ALL = ("IdentityN", "While", "StatelessWhile")
_PASSING = ("Identity", "Enter", "Switch", "Merge", *_PASSING_ALL)


def variable_behind(tensor: Any) -> Any:
    """The VarHandleOp that a handle comes from, or None."""
    op = tensor.op
    # Handles pass through loops and branches unchanged; 1.15's shape inference follows them, too.
    while (op.type in _PASSING and op.inputs) or op._given is not None:
        if op._given is not None:
            tensor = op._given
        else:
            tensor = op.inputs[tensor.value_index if op.type in _PASSING_ALL else 0]
        op = tensor.op
    return op if op.type == "VarHandleOp" else None


def handle_shape(tensor: TensorLike) -> TensorShape:
    """The static shape of the variable behind a handle, as far as the graph tells."""
    variable = variable_behind(tensor)
    return unknown_shape() if variable is None else TensorShape(variable.attr("shape"))


def shape_behind(c: ShapeContext) -> TensorShape:
    """The shape of the variable behind the first input, which must have the op's dtype."""
    variable = variable_behind(c.tensor(0))
    if variable is None:
        return unknown_shape()
    kind, wanted = variable.attr("dtype"), c.attr("dtype")
    if kind != wanted:
        raise ValueError(
            f"Trying to read variable with wrong dtype. Expected {runtime_name(kind)} got "
            f"{runtime_name(wanted)}"
        )
    return TensorShape(variable.attr("shape"))


def _read(c: KernelContext, cell: VariableStorage) -> np.ndarray:
    # Nothing in this run writes: the array itself serves, without a copy.
    holding = shared_reads.current() if c.is_read_only else None
    if holding is not None:
        return holding.array_of(cell)
    with cell.lock:
        return cell.read().copy()


define(
    "ReadVariableOp",
    "resource: resource -> value: dtype",
    shape=shape_behind,
    kernel=_read,
    lower=lambda b, op, cell: b.read(cell),
    gradient=lambda op, grad: grad,
    transfer="value",
    stateful=True,
    doc="The variable's value at this point of the order of execution.",
)


def _check_write(c: ShapeContext) -> None:
    """The value's dtype and shape must be those of the variable, as far as they are known."""
    shape_inference.merge(shape_behind(c), c.inputs[1])


def _write(c: KernelContext, cell: VariableStorage, value: np.ndarray) -> None:
    # The graph checks shapes where it knows them; the handle may change its shape.
    cell.assign(value, validate_shape=False)


define(
    "AssignVariableOp",
    "resource: resource, value: dtype ->",
    shape=_check_write,
    kernel=_write,
    lower=lambda b, op, cell, value: _written(b.write(cell, value)),
    gradient=UPDATE,
    transfer="write",
    stateful=True,
    doc="Gives a resource variable a value.",
)


def _written(cell: Value) -> tuple[()]:
    return ()


def _present(b: Builder, cell: Value) -> Any:
    """The contents of a variable in a plan; None when it has none."""
    try:
        return b.read(cell)
    except errors.FailedPreconditionError:
        return None


def _lower_shape(b: Builder, op: OpView, cell: Value) -> Any:
    present = _present(b, cell)
    if present is None:
        return NotImplemented
    return b.constant(_sizes(present.shape), op.dtype(0))


def _define_update(name: str, ufunc: Callable[..., Any], scalar: str, doc: str) -> None:
    def kernel(c: KernelContext, cell: VariableStorage, value: np.ndarray) -> None:
        with Changing(cell), np.errstate(all="ignore"):
            array = cell.looked_up()
            if array.shape != value.shape:
                raise errors.invalid(
                    f"Cannot update variable with shape {shape_text(array.shape)} using a Tensor "
                    f"with shape {shape_text(value.shape)}, shapes must be equal."
                )
            ufunc(array, value, out=array)

    def lower(b: Builder, op: OpView, cell: Value, value: Value) -> Any:
        from ...jit.kernel import scalar as k

        present = _present(b, cell)
        if present is None or not b.same_shape(present, value):
            return NotImplemented  # The kernel says what is wrong.
        return _written(b.write(cell, b.map(getattr(k, scalar), present, value)))

    define(
        name,
        "resource: resource, value: dtype ->",
        shape=_check_write,
        kernel=kernel,
        lower=lower,
        gradient=UPDATE,
        stateful=True,
        doc=doc,
    )


_define_update("AssignAddVariableOp", np.add, "add", "Adds to a resource variable.")
_define_update("AssignSubVariableOp", np.subtract, "sub", "Subtracts from one.")
define(
    "VarIsInitializedOp",
    "resource: resource -> is_initialized: bool",
    shape=lambda c: TensorShape([]),
    kernel=lambda c, cell: np.asarray(isinstance(cell, VariableStorage) and cell.is_initialized),
    gradient=NoGradient("a question about a variable", silent=True),
    stateful=True,
    doc="Whether the variable has a value.",
)


def _destroy(c: KernelContext, thing: Any) -> None:
    name, container = getattr(thing, "name", None), getattr(thing, "container", "")
    found = c.session_state.remove(container, str(name))
    if isinstance(thing, VariableStorage):
        missing = thing.is_absent
        thing.clear()
    else:
        missing = found is None
    if missing and not c.attr("ignore_lookup_error"):
        exists = c.session_state.has_container(container)
        what = f"Resource localhost/{name}/<unknown>" if exists else "Container localhost"
        raise errors.not_found(f"{what} does not exist.")


define(
    "DestroyResourceOp",
    "resource: resource ->",
    "ignore_lookup_error: bool = true",
    kernel=_destroy,
    gradient=UPDATE,
    stateful=True,
    doc="Frees what a handle stands for.",
)


def _sizes(values: Sequence[int]) -> np.ndarray:
    sizes = np.empty(len(values), dtype=object)
    sizes[:] = list(values)
    return sizes


define(
    "VariableShape",
    "input: resource -> output: out_type",
    "out_type: index = int32",
    shape=lambda c: TensorShape([handle_shape(c.tensor(0)).ndims]),
    kernel=lambda c, cell: np.asarray(cell.looked_up().shape, c.out_dtype()),
    lower=_lower_shape,
    gradient=NoGradient("a shape is an integer", silent=True),
    stateful=True,
    doc="The shape of a resource variable.",
)


def _gather(c: KernelContext, cell: VariableStorage, indices: np.ndarray) -> np.ndarray:
    array, batch = cell.looked_up(), c.attr("batch_dims") or 0
    if array.ndim == 0:
        raise errors.invalid("params must be at least 1 dimensional")
    require_indices(indices, array.shape[batch])
    if not batch:
        return array[indices]
    grid = np.ix_(*(np.arange(size) for size in indices.shape[:batch]))
    trailing = (1,) * (indices.ndim - batch)
    return array[(*(axis.reshape(axis.shape + trailing) for axis in grid), indices)]


def _lower_gather(b: Builder, op: OpView, cell: Value, indices: Value) -> Any:
    if op.attr("batch_dims"):
        return NotImplemented
    params = b.read(cell)
    b.require(params.ndim >= 1)
    return b.gather(params, indices)


def _gather_shape(c: ShapeContext) -> TensorShape:
    params, batch = shape_behind(c), c.attr("batch_dims") or 0
    if params.ndims is None or c.inputs[1].ndims is None:
        return unknown_shape()
    return c.inputs[1].concatenate(params[batch + 1 :])


def variable_shape(handle: Any, out_type: DTypeLike = dtypes.int32) -> Tensor:
    """The shape of the variable behind a handle: a constant if it is the variable's own handle."""
    known = handle_shape(handle) if handle.op.type == "VarHandleOp" else unknown_shape()
    if known.is_fully_defined():
        return tf.constant(known.as_list(), dtype=out_type)
    return raw.VariableShape(handle, out_type=out_type)


def zeros_like_variable(handle: TensorLike, optimize: bool = True) -> Tensor:
    """Zeros like the variable behind a handle; unless optimized their shape is a node's value."""
    variable = variable_behind(handle)
    dtype = dtypes.float32 if variable is None else variable.attr("dtype")
    shape = variable_shape(handle) if optimize else raw.VariableShape(handle)
    return tf.zeros(shape, dtype=dtype)


zeros_behind.append(zeros_like_variable)


def _gather_gradient(op: Operation, grad: Tensor) -> tuple[Any, None]:
    handle, indices = op.inputs
    shape = variable_shape(handle)
    size = tf.expand_dims(tf.size(indices), 0)
    values = tf.reshape(grad, tf.concat([size, shape[1:]], 0))
    return IndexedSlices(values, tf.reshape(indices, size), shape), None


define(
    "ResourceGather",
    "resource: resource, indices: Tindices -> output: dtype",
    "batch_dims: int = 0; validate_indices: bool = true; dtype: type; Tindices: index",
    shape=_gather_shape,
    kernel=_gather,
    lower=_lower_gather,
    gradient=_gather_gradient,
    stateful=True,
    doc="Rows of a resource variable.",
)


def _gather_nd(c: KernelContext, cell: VariableStorage, indices: np.ndarray) -> np.ndarray:
    return gather_nd_kernel(c, cell.looked_up(), indices)


def _lower_gather_nd(b: Builder, op: OpView, cell: Value, indices: Value) -> Any:
    return lower_gather_nd(check_nd_indices)(b, op, b.read(cell), indices)


def _gather_nd_shape(c: ShapeContext) -> TensorShape:
    params, indices = shape_behind(c), c.inputs[1]
    if params.ndims is None or indices.ndims is None or indices.as_list()[-1] is None:
        return unknown_shape()
    return indices[:-1].concatenate(params[indices.as_list()[-1] :])


def _gather_nd_gradient(op: Operation, grad: Tensor) -> tuple[Any, None]:
    handle, indices = op.inputs
    shape = raw.VariableShape(handle, out_type=indices.dtype)
    if indices.shape.ndims == 2 and indices.shape.as_list()[-1] == 1:
        return IndexedSlices(grad, tf.squeeze(indices, axis=-1), shape), None
    return tf.scatter_nd(indices, grad, shape), None


define(
    "ResourceGatherNd",
    "resource: resource, indices: Tindices -> output: dtype",
    "dtype: type; Tindices: index",
    shape=_gather_nd_shape,
    kernel=_gather_nd,
    lower=_lower_gather_nd,
    gradient=_gather_nd_gradient,
    stateful=True,
    doc="Slices of a resource variable.",
)
