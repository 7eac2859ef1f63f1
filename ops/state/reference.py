# SPDX-License-Identifier: Apache-2.0
"""The ops of reference variables: storage, assignment, counting.

A reference edge carries the variable's `VariableStorage`.  Ops that change a variable take the cell
and give it back; everything else sees the array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.api import export
from ...engine.graph.build import define
from ...engine.graph.registry import NoGradient
from ...engine.session.shared_reads import Changing
from ...engine.session.state import VariableStorage
from ...engine.types.shape import TensorShape, as_shape, shape_text, unknown_shape
from .. import shape_inference

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike
    from ...engine.graph.build import OpFunction
    from ...engine.graph.inference import ShapeContext
    from ...engine.graph.kernel_context import KernelContext
    from ...engine.graph.tensor import Tensor
    from ...jit.program.tensor_ir import Value
    from ...jit.trace.builder import Builder
    from ...jit.trace.tracer import OpView

UPDATE = NoGradient("an assignment is not differentiable")
STORAGE = NoGradient("a variable has no inputs")


def cell_of(c: KernelContext) -> VariableStorage:
    """The cell that a variable op with container, shared_name, dtype and shape stands for."""
    if c.resource_key is None:
        name = c.attr("shared_name") or c.name
        c.resource_key = (c.attr("container"), name, c.attr("dtype"), c.attr("shape"))
    return c.session_state.cell(*c.resource_key)


def _variable_shape(c: ShapeContext) -> TensorShape:
    # The legacy op could not state an unknown rank: its scalar shape means "anything".
    shape = c.attr("shape")
    return unknown_shape() if c.op_type == "Variable" and shape.ndims == 0 else shape


for _name in ("VariableV2", "Variable"):
    define(
        _name,
        "-> ref: Ref(dtype)",
        "shape: shape; dtype: type; container: string = ''; shared_name: string = ''",
        shape=_variable_shape,
        kernel=cell_of,
        gradient=STORAGE,
        transfer="value",
        stateful=True,
        doc="The storage of a variable, as a reference.",
    )


class _Temporaries:
    """How many temporary variables of a name are alive, and which node makes them."""

    def __init__(self, node: str) -> None:
        self.node = node
        self.alive = 0


def _temporary(c: KernelContext) -> VariableStorage:
    shape, name = c.attr("shape"), c.attr("var_name") or c.name
    present = c.session_state.lookup_or_create(_TEMPORARY, name, lambda: _Temporaries(c.name))
    if present.node != c.name:
        raise errors.already_exists(f"TemporaryVariable {name} already exists")
    # Several runs at once have one each.
    present.alive += 1
    cell = VariableStorage(name, c.attr("dtype"), shape)
    cell.assign(np.zeros(shape.as_list(), c.attr("dtype").as_numpy_dtype))
    return cell


def _destroy_temporary(c: KernelContext, cell: VariableStorage) -> np.ndarray:
    name = c.attr("var_name")
    present = c.session_state.lookup(_TEMPORARY, name)
    if present is None:
        raise errors.not_found(f"TemporaryVariable {name} does not exist")
    present.alive -= 1
    if not present.alive:
        c.session_state.remove(_TEMPORARY, name)
    return cell.read()


# The container of temporary variables.
_TEMPORARY = "temporary variables"

define(
    "TemporaryVariable",
    "-> ref: Ref(dtype)",
    "shape: shape; dtype: type; var_name: string = ''",
    shape=lambda c: c.attr("shape"),
    kernel=_temporary,
    gradient=STORAGE,
    stateful=True,
    doc="A variable that lives for one run.",
)
define(
    "DestroyTemporaryVariable",
    "ref: Ref(T) -> value: T",
    "T: type; var_name: string",
    shape=lambda c: c.inputs[0],
    kernel=_destroy_temporary,
    gradient=UPDATE,
    doc="The final value of a temporary variable.",
)
is_initialized_op = define(
    "IsVariableInitialized",
    "ref: Ref(dtype) -> is_initialized: bool",
    shape=lambda c: TensorShape([]),
    kernel=lambda c, cell: np.asarray(cell.is_initialized),
    gradient=NoGradient("a question about a variable"),
    doc="Whether the variable has a value.",
)


def merged_shape(c: ShapeContext) -> TensorShape:
    """Shape function: both inputs have one shape."""
    return shape_inference.merge(c.inputs[0], c.inputs[1])


def _assign_shape(c: ShapeContext) -> TensorShape:
    return merged_shape(c) if c.attr("validate_shape") else c.inputs[1]


def _assign(c: KernelContext, cell: VariableStorage, value: np.ndarray) -> VariableStorage:
    cell.assign(value, c.attr("validate_shape"))
    return cell


def _lower_assign(b: Builder, op: OpView, cell: Value, value: Value) -> Any:
    if not op.attr("validate_shape"):
        return NotImplemented
    return b.write(cell, value)


assign_op = define(
    "Assign",
    "ref: Ref(T), value: T -> output_ref: Ref(T)",
    "T: type; validate_shape: bool = true; use_locking: bool = true",
    shape=_assign_shape,
    kernel=_assign,
    lower=_lower_assign,
    gradient=UPDATE.silently,
    transfer="write",
    doc="Gives a variable a value.",
)


def require_same_shape(cell: VariableStorage, value: np.ndarray) -> np.ndarray:
    """The cell's array, when `value` may be added to it."""
    array = cell.read()
    if array.shape != value.shape:
        raise errors.invalid("Parameters and update must be the same size")
    return array


def _dense_update(name: str, ufunc: Callable[..., Any], scalar: str, doc: str) -> OpFunction:
    def kernel(c: KernelContext, cell: VariableStorage, value: np.ndarray) -> VariableStorage:
        with Changing(cell), np.errstate(all="ignore"):
            array = require_same_shape(cell, value)
            ufunc(array, value, out=array)
        return cell

    def lower(b: Builder, op: OpView, cell: Value, value: Value) -> Any:
        from ...jit.kernel import scalar as k

        if not b.same_shape(b.read(cell), value):
            return NotImplemented
        return b.write(cell, b.map(getattr(k, scalar), b.read(cell), value))

    return define(
        name,
        "ref: Ref(T), value: T -> output_ref: Ref(T)",
        "T: numbertype; use_locking: bool = false",
        shape=merged_shape,
        kernel=kernel,
        lower=lower,
        gradient=UPDATE.silently,
        doc=doc,
    )


assign_add_op = _dense_update("AssignAdd", np.add, "add", "Adds to a variable.")
assign_sub_op = _dense_update("AssignSub", np.subtract, "sub", "Subtracts from a variable.")


def _count(c: KernelContext, cell: VariableStorage) -> np.ndarray:
    limit = c.attr("limit")
    with Changing(cell):
        array = cell.looked_up()
        if array.ndim:
            raise errors.invalid(f"input is not a scalar: {shape_text(array.shape)}")
        if array >= limit:
            raise errors.out_of_range(f"Reached limit of {limit}")
        before = array.copy()
        array += 1
        return before


def _scalar_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[0], 0)
    return TensorShape([])


count_up_to_op = define(
    "CountUpTo",
    "ref: Ref(T) -> output: T",
    "limit: int; T: {int32, int64}",
    shape=_scalar_shape,
    kernel=_count,
    gradient=UPDATE,
    may_end=True,
    doc="The variable's value, which then grows by one; OutOfRangeError at the limit.",
)


def _obtain_next(c: KernelContext, strings: np.ndarray, cell: VariableStorage) -> np.ndarray:
    if not strings.size:
        raise errors.invalid("list must have an element, but has none")
    with Changing(cell):
        place = cell.looked_up()
        if place.ndim:
            raise errors.invalid(f"counter is not a scalar: {shape_text(place.shape)}")
        place[...] = (place + 1) % len(strings)
        return strings[int(place)]


def _list_shape(c: ShapeContext) -> TensorShape:
    shape_inference.ranked(c.inputs[0], 1)
    shape_inference.ranked(c.inputs[1], 0)
    return TensorShape([])


define(
    "ObtainNext",
    "list: string, counter: Ref(int64) -> out_element: string",
    shape=_list_shape,
    kernel=_obtain_next,
    gradient=UPDATE,
    doc="The string at the place of the counter, which goes on before, and starts anew at the end.",
)


def _resource_count_shape(c: ShapeContext) -> TensorShape:
    from .resource import handle_shape

    shape_inference.ranked(handle_shape(c.tensor(0)), 0)
    return TensorShape([])


resource_count_up_to_op = define(
    "ResourceCountUpTo",
    "resource: resource -> output: T",
    "limit: int; T: {int32, int64}",
    shape=_resource_count_shape,
    kernel=_count,
    gradient=UPDATE,
    stateful=True,
    may_end=True,
    doc="CountUpTo of a resource variable.",
)


def variable_op_v2(
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str = "Variable",
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """A node for the storage of a variable of the given shape and dtype."""
    from ..public import raw

    return raw.VariableV2(
        shape=as_shape(shape),
        dtype=dtype,
        name=name,
        container=container,
        shared_name=shared_name,
    )


def variable_op(
    shape: ShapeLike,
    dtype: DTypeLike,
    name: str = "Variable",
    set_shape: bool = True,
    container: str = "",
    shared_name: str = "",
) -> Tensor:
    """The storage of a variable in the form of old graphs; `variable_op_v2` took its place."""
    from ..public import raw

    ref = raw.Variable(
        shape=as_shape(shape) if set_shape else unknown_shape(),
        dtype=dtype,
        name=name,
        container=container,
        shared_name=shared_name,
    )
    if set_shape:
        ref.set_shape(shape)
    return ref


def is_ref(ref: Any) -> bool:
    """Whether a variable or tensor is a reference, and not a resource variable."""
    return ref.dtype._is_ref_dtype


def is_variable_initialized(ref: Any, name: str | None = None) -> Any:
    """Whether a reference or resource variable has a value."""
    if is_ref(ref):
        return is_initialized_op(ref, name=name)
    return ref.is_initialized(name=name)


@export("assign_sub")
def assign_sub(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Subtracts from a variable.

    Args:
        ref: a Variable that has a value.
        value: a tensor of its dtype and shape.
        use_locking: whether others wait meanwhile.
        name: of the operation.

    Returns:
        The variable with its new value, as a tensor.

    Raises:
        TypeError: `value` is of another dtype.
        ValueError: `value` is known to be of another shape.
        FailedPreconditionError: the variable has no value in a run.

    Example:
        >>> v = tf.Variable([5, 5])
        >>> sess = tf.Session()
        >>> sess.run(v.initializer)
        >>> sess.run(tf.assign_sub(v, [1, 2]))
        array([4, 3], dtype=int32)
    """
    if is_ref(ref):
        return assign_sub_op(ref, value, name=name, **locking(use_locking))
    return ref.assign_sub(value)


@export("assign_add")
def assign_add(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Adds to a variable.

    Args:
        ref: a Variable that has a value.
        value: a tensor of its dtype and shape.
        use_locking: whether others wait meanwhile.
        name: of the operation.

    Returns:
        The variable with its new value, as a tensor.

    Raises:
        TypeError: `value` is of another dtype.
        ValueError: `value` is known to be of another shape.
        FailedPreconditionError: the variable has no value in a run.

    Example:
        >>> v = tf.Variable([5, 5])
        >>> sess = tf.Session()
        >>> sess.run(v.initializer)
        >>> sess.run(tf.assign_add(v, [1, 2]))
        array([6, 7], dtype=int32)
    """
    if is_ref(ref):
        return assign_add_op(ref, value, name=name, **locking(use_locking))
    return ref.assign_add(value)


@export("assign")
def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Gives a variable a value.

    Args:
        ref: a Variable, with or without a value.
        value: a tensor of its dtype.
        validate_shape: False allows another shape than the variable's; True by default.
        use_locking: whether others wait meanwhile.
        name: of the operation.

    Returns:
        The variable with its new value, as a tensor.

    Raises:
        TypeError: `value` is of another dtype.
        ValueError: `value` is known to be of another shape, though `validate_shape`.
        InvalidArgumentError: it is so in a run.

    Example:
        >>> v = tf.Variable([0, 0])
        >>> tf.Session().run(tf.assign(v, [1, 2]))
        array([1, 2], dtype=int32)
    """
    if not is_ref(ref):
        return ref.assign(value, name=name)
    chosen = {} if validate_shape is None else {"validate_shape": validate_shape}
    return assign_op(ref, value, name=name, **chosen, **locking(use_locking))


def locking(use_locking: bool | None) -> dict[str, bool]:
    """The use_locking attribute, left to its default when None."""
    return {} if use_locking is None else {"use_locking": bool(use_locking)}


@export("count_up_to")
def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """The variable's value, which then grows by one until it reaches `limit`."""
    if is_ref(ref):
        return count_up_to_op(ref, limit=limit, name=name)
    return resource_count_up_to_op(ref.handle, limit=limit, T=ref.dtype, name=name)
