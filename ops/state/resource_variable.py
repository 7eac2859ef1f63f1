# SPDX-License-Identifier: Apache-2.0
"""Resource variables: a handle, and operations that read and write what it stands for.

Reads give the value at that point of the order of execution: nothing that runs later changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys, add_to_collection
from ...engine.graph.convert import (
    convert_to_tensor,
    register_dense_tensor_like_type,
    register_tensor_conversion_function,
)
from ...engine.graph.defaults import has_default_graph
from ...engine.graph.graph import (
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    init_scope,
    name_scope,
)
from ...engine.graph.scope_functions import prepend_name_scope, strip_name_scope
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape
from ..public import raw, tf
from .resource import variable_shape
from .variable_guards import guarded
from .variable_modes import checked_modes, colocated_attr, construction
from .variables import Variable, read_modes_from, require_outside_control_flow, require_slices

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.session.session import BaseSession
    from ...engine.types.dtypes import DType


class BaseResourceVariable(Variable):
    """What all variables behind a handle share."""

    _cached_value: Any = None
    _caching_device: Any = None
    _constraint: Any = None
    _initial_value: Any = None
    _graph_element: Any = None
    _initializer_op: Any = None
    _is_initialized_op: Any = None
    _in_graph_mode = True
    # Gradients are taken with respect to the handle.
    _should_act_as_resource_variable = True

    def _set_handle(self, handle: Any, dtype: DType, shape: ShapeLike, handle_name: str) -> None:
        self._handle = handle
        self._dtype = dtypes.as_dtype(dtype)
        self._shape = as_shape(shape)
        self._handle_name = handle_name
        self._unique_id = handle_name
        self._graph_key = getattr(handle.graph, "_graph_key", None)

    @property
    def handle(self) -> Any:
        """The resource that the variable's operations take."""
        return self._handle

    @property
    def dtype(self) -> DType:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def name(self) -> str:
        return self._handle_name + ":0"

    @property
    def op(self) -> Any:
        return self._handle.op

    @property
    def graph(self) -> Any:
        return self._handle.graph

    @property
    def device(self) -> str:
        return self._handle.device

    @property
    def create(self) -> Any:
        """The operation that initializes the variable."""
        return self._initializer_op

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.shape.ndims is None else self.shape.as_list()

    def _shape_tuple(self) -> Any:
        shape = self._shape_as_list()
        return None if shape is None else tuple(shape)

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __copy__(self) -> BaseResourceVariable:
        return self

    def __deepcopy__(self, memo: dict[Any, Any]) -> Any:
        raise NotImplementedError(
            "__deepcopy__() is only available when eager execution is enabled."
        )

    def __reduce__(self) -> Any:
        return self.numpy()

    def __int__(self) -> int:
        if self.dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError("Non-integer variable can't be converted to integer.")
        return int(self.numpy())

    def numpy(self) -> Any:
        """Not there without eager execution."""
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def set_shape(self, shape: Sequence[int]) -> None:
        """Not there: the shape belongs to the handle."""
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    def _as_graph_element(self) -> Any:
        return self._graph_element

    def eval(self, session: BaseSession | None = None) -> Any:
        """The value in a session."""
        return self._graph_element.eval(session=session)

    def value(self) -> Any:
        """The value, read by a new operation."""
        if self._cached_value is not None:
            return self._cached_value
        with colocate_with(None, ignore_existing=True), device(self._handle.device):
            return self._read_variable_op()

    def _read_variable_op(self) -> Tensor:
        result = raw.ReadVariableOp(self._handle, dtype=self._dtype)
        result.set_shape(self._shape)
        return result

    def read_value(self) -> Tensor:
        """The value, read by an operation of its own."""
        with name_scope("Read"), device(self._handle.device):
            value = self._read_variable_op()
        # The Identity may run on the device of the caller; the read belongs to the variable's.
        return tf.identity(value)

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Tensor:
        """The rows at `indices`, without reading the others."""
        with name_scope("Gather" if name is None else name) as name:
            value = raw.ResourceGather(self._handle, indices, dtype=self._dtype, name=name)
        return tf.identity(value)

    def gather_nd(self, indices: Sequence[Any], name: str | None = None) -> Tensor:
        """The slices that `indices` names."""
        with name_scope("GatherNd" if name is None else name) as name:
            value = raw.ResourceGatherNd(self._handle, indices, dtype=self._dtype, name=name)
        return tf.identity(value)

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A tensor that tells whether the variable has a value."""
        return raw.VarIsInitializedOp(self.handle, name=name)

    def _handle_graph(self) -> Any:
        # Where the caller has no graph of their own, the variable's is meant.
        return nullcontext() if has_default_graph() else self.graph.as_default()

    @contextmanager
    def _assign_dependencies(self) -> Iterator[None]:
        # A copy on another device is of the value before the update.
        cached = [] if self._cached_value is None else [self._cached_value]
        with self._handle_graph(), control_dependencies(cached):
            yield

    def _lazy_read(self, op: Operation) -> _UnreadVariable:
        return _UnreadVariable(self, op)

    def assign(
        self,
        value: TensorLike | None,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Gives the variable a value."""
        with self._handle_graph():
            value = convert_to_tensor(value, dtype=self.dtype)
            self._shape.assert_is_compatible_with(value.shape)
            op = raw.AssignVariableOp(self.handle, value, name=name)
            return self._lazy_read(op) if read_value else op

    def assign_add(
        self,
        delta: TensorLike | None,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds to the variable."""
        with self._assign_dependencies():
            value = convert_to_tensor(delta, dtype=self.dtype)
            op = raw.AssignAddVariableOp(self.handle, value, name=name)
        return self._lazy_read(op) if read_value else op

    def assign_sub(
        self,
        delta: TensorLike | None,
        use_locking: bool | None = None,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts from the variable."""
        with self._assign_dependencies():
            value = convert_to_tensor(delta, dtype=self.dtype)
            op = raw.AssignSubVariableOp(self.handle, value, name=name)
        return self._lazy_read(op) if read_value else op

    def batch_scatter_update(
        self, sparse_delta: object, use_locking: bool = False, name: str | None = None
    ) -> _UnreadVariable:
        """tf.batch_scatter_update with the indices and values of `sparse_delta`."""
        delta = require_slices(sparse_delta)
        updated = tf.batch_scatter_update(
            self, delta.indices, delta.values, use_locking=use_locking, name=name
        )
        return self._lazy_read(updated)

    def count_up_to(self, limit: int) -> Tensor:
        """The variable's value, which then grows by one until it reaches `limit`."""
        return raw.ResourceCountUpTo(self.handle, limit=limit, T=self.dtype)

    def _strided_slice_assign(
        self,
        begin: Tensor,
        end: Tensor,
        strides: Tensor,
        value: TensorLike,
        name: str,
        *masks: int,
        **named: int,
    ) -> _UnreadVariable:
        names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
        named.update(zip(names, masks, strict=False))
        with self._assign_dependencies():
            value = convert_to_tensor(value, dtype=self.dtype)
            op = raw.ResourceStridedSliceAssign(
                self.handle, begin, end, strides, value, name=name, **named
            )
            return self._lazy_read(op)

    def _dense_var_to_tensor(
        self, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
    ) -> Any:
        if dtype is not None and not dtype.is_compatible_with(self.dtype):
            raise ValueError(
                f"Incompatible type conversion requested to type {dtype.name!r} for variable of "
                f"type {self.dtype.name!r}"
            )
        # Named as if it were the handle; behind the Identity of `read_value` it is the value that
        # was read, in TensorFlow too.
        return self.read_value().op.inputs[0] if as_ref else self.value()

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A VariableDef, or None when the variable is outside of `export_scope`."""
        from ...io import protos

        if export_scope is not None and not self.handle.name.startswith(export_scope):
            return None
        # TensorFlow names a copy on a caching device here, and `_init_from_proto` finds the read
        # behind it.
        cached = self._cached_value
        snapshot = cached if cached is not None else self._graph_element
        result = protos.VariableDef(
            variable_name=strip_name_scope(self.handle.name, export_scope),
            initializer_name=strip_name_scope(self.initializer.name, export_scope),
            snapshot_name=strip_name_scope(snapshot.name, export_scope),
            is_resource=True,
            trainable=self.trainable,
            synchronization=self.synchronization.value,
            aggregation=self.aggregation.value,
        )
        if self._initial_value is not None:
            result.initial_value_name = strip_name_scope(self._initial_value.name, export_scope)
        if self._save_slice_info is not None:
            result.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope))
        return result

    @staticmethod
    def from_proto(variable_def: object, import_scope: str | None = None) -> ResourceVariable:
        """The variable that a VariableDef describes; its operations are in the graph already."""
        return ResourceVariable(variable_def=variable_def, import_scope=import_scope)


def _scatter_method(op_type: str) -> Callable[..., Any]:
    def method(
        self: Any, sparse_delta: object, use_locking: bool = False, name: str | None = None
    ) -> Any:
        delta = require_slices(sparse_delta)
        values = convert_to_tensor(delta.values, self.dtype)
        return self._lazy_read(getattr(raw, op_type)(self.handle, delta.indices, values, name=name))

    method.__doc__ = f"{op_type} of the rows that IndexedSlices name."
    return method


def _scatter_nd_method(op_type: str) -> Callable[..., Any]:
    def method(
        self: Any, indices: Sequence[Any], updates: TensorLike, name: str | None = None
    ) -> Any:
        values = convert_to_tensor(updates, self.dtype)
        return self._lazy_read(getattr(raw, op_type)(self.handle, indices, values, name=name))

    method.__doc__ = f"{op_type} of the slices that `indices` names."
    return method


def _refused(sign: str) -> Callable[..., Any]:
    word = {"+": "add", "-": "sub"}.get(sign)
    advice = (
        f"variable.assign_{word}(value) to modify the variable value and "
        f"variable = variable {sign} value"
        if word
        else f"`var.assign(var {sign} value)` to modify the variable or `var = var {sign} value`"
    )

    def method(self: Any, other: float) -> Any:
        raise RuntimeError(
            f"Variable {sign}= value not supported. Use {advice} to get a new Tensor object."
        )

    return method


_METHODS = {
    "scatter_sub": _scatter_method("ResourceScatterSub"),
    "scatter_add": _scatter_method("ResourceScatterAdd"),
    "scatter_max": _scatter_method("ResourceScatterMax"),
    "scatter_min": _scatter_method("ResourceScatterMin"),
    "scatter_mul": _scatter_method("ResourceScatterMul"),
    "scatter_div": _scatter_method("ResourceScatterDiv"),
    "scatter_update": _scatter_method("ResourceScatterUpdate"),
    "scatter_nd_sub": _scatter_nd_method("ResourceScatterNdSub"),
    "scatter_nd_add": _scatter_nd_method("ResourceScatterNdAdd"),
    "scatter_nd_update": _scatter_nd_method("ResourceScatterNdUpdate"),
}
for _name, _method in _METHODS.items():
    setattr(BaseResourceVariable, _name, _method)
for _name, _sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("pow", "**")):
    setattr(BaseResourceVariable, f"__i{_name}__", _refused(_sign))


class ResourceVariable(BaseResourceVariable):
    """A variable behind a handle; `tf.Variable(..., use_resource=True)` makes one."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        variable_def: object = None,
        import_scope: str | None = None,
        constraint: Any = None,
        distribute_strategy: object = None,
        synchronization: object = None,
        aggregation: object = None,
        shape: ShapeLike | None = None,
    ) -> None:
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._init_from_proto(variable_def, import_scope)
            return
        modes = checked_modes(synchronization, aggregation, trainable, name)
        with construction(
            self, initial_value, name, modes, collections, constraint, caching_device
        ) as scope:
            self._make(initial_value, scope, dtype, shape)
            self._make_ops(scope, caching_device)

    def _make(
        self, initial_value: object, scope: str, dtype: DTypeLike | None, shape: ShapeLike
    ) -> None:
        handle_name = scope.rstrip("/")
        with colocated_attr(handle_name):
            with name_scope("Initializer"), device(None):
                made = initial_value() if callable(initial_value) else initial_value
                value = convert_to_tensor(made, name="initial_value", dtype=dtype)
            if shape is None:
                shape = value.shape
            elif not value.shape.is_compatible_with(shape):
                raise ValueError(
                    f"The initial value's shape ({value.shape}) is not compatible with the "
                    f"explicitly supplied `shape` argument ({shape})."
                )
            handle = make_handle(shape, value.dtype.base_dtype, handle_name, scope)
        require_outside_control_flow(value, scope)
        self._initial_value = value
        self._set_handle(handle, value.dtype.base_dtype, shape, handle_name)

    def _make_ops(self, scope: str, caching_device: Any) -> None:
        handle = self._handle
        with name_scope("IsInitialized"):
            self._is_initialized_op = raw.VarIsInitializedOp(handle)
        with (
            name_scope("Assign") as name,
            colocate_with(None, ignore_existing=True),
            device(handle.device),
        ):
            value = guarded(scope, self._initial_value)
            self._initializer_op = raw.AssignVariableOp(handle, value, name=name)
        with name_scope("Read"):
            with device(handle.device):
                self._graph_element = self._read_variable_op()
            if caching_device is not None:
                with colocate_with(None, ignore_existing=True), device(caching_device):
                    self._cached_value = tf.identity(self._graph_element)

    def _init_from_proto(self, variable_def: Any, import_scope: str | None) -> None:
        if not variable_def.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        graph = get_default_graph()

        def element(name: str, may_be_operation: bool = False) -> Any:
            name = prepend_name_scope(name, import_scope)
            return graph.as_graph_element(name, allow_operation=may_be_operation)

        handle = element(variable_def.variable_name)
        shape = TensorShape(handle.op.get_attr("shape"))
        self._set_handle(handle, handle.op.get_attr("dtype"), shape, handle.op.name)
        self._initializer_op = element(variable_def.initializer_name, may_be_operation=True)
        initial = variable_def.initial_value_name
        self._initial_value = element(initial) if initial else None
        if variable_def.snapshot_name:
            snapshot = element(variable_def.snapshot_name)
            self._cached_value = None if snapshot.op.type == "ReadVariableOp" else snapshot
            # Through the Identity of a copy on a caching device.
            while snapshot.op.type != "ReadVariableOp":
                if not snapshot.op.inputs:
                    raise ValueError(f"{variable_def.snapshot_name} reads no resource variable")
                snapshot = snapshot.op.inputs[0]
            self._graph_element = snapshot
        else:
            self._graph_element = element(f"{handle.op.name}/Read/ReadVariableOp:0")
        read_modes_from(self, variable_def, import_scope)


def make_handle(shape: ShapeLike, dtype: DTypeLike, shared_name: str, name: str) -> Tensor:
    """The handle of a variable of the given shape and dtype."""
    container = get_default_graph()._container or ""
    return raw.VarHandleOp(
        dtype=dtype, shape=as_shape(shape), shared_name=shared_name, name=name, container=container
    )


class UninitializedVariable(BaseResourceVariable):
    """A resource variable without an initializer."""

    def __init__(
        self,
        trainable: bool | None = None,
        caching_device: Any = None,
        name: str | None = None,
        shape: Any = None,
        dtype: Any = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: object = None,
        aggregation: object = None,
        **unused: Any,
    ) -> None:
        modes = checked_modes(synchronization, aggregation, trainable, name)
        self._synchronization, self._aggregation, self._trainable = modes
        self._constraint = constraint
        with init_scope(), name_scope(name, "Variable") as scope:
            handle_name = scope.rstrip("/")
            handle = make_handle(shape, dtype, handle_name, scope)
            self._set_handle(handle, dtype, shape, handle_name)
            with name_scope("Read"), device(handle.device):
                self._graph_element = self._read_variable_op()
            add_to_collection(GraphKeys.GLOBAL_VARIABLES, self)


def copy_to_graph_uninitialized(var: BaseResourceVariable) -> UninitializedVariable:
    """A variable like another one in the default graph, without an initializer."""
    return UninitializedVariable(
        trainable=var.trainable,
        constraint=var.constraint,
        shape=var.shape,
        dtype=var.dtype,
        name=var._shared_name,
        synchronization=var.synchronization,
        aggregation=var.aggregation,
    )


def is_assignment(value: object) -> bool:
    """Whether this is a variable as an assignment gives it, and not the variable itself."""
    return isinstance(value, _UnreadVariable)


class _UnreadVariable(BaseResourceVariable):
    """A variable as it is after an assignment: reads wait for that."""

    def __init__(self, variable: BaseResourceVariable, parent_op: Operation) -> None:
        handle = variable.handle
        self._set_handle(handle, variable.dtype, variable.shape, handle.name)
        modes = checked_modes(None, None, None, None)
        self._synchronization, self._aggregation, self._trainable = modes
        # What a fetch of the assignment yields may be a variable or a tensor of its own.
        self._parent_op = getattr(parent_op, "op", parent_op)
        with control_dependencies([self._parent_op]):
            self._graph_element = super()._read_variable_op()

    @property
    def name(self) -> str:
        return self._parent_op.name

    @property
    def op(self) -> Any:
        return self._parent_op

    def value(self) -> Any:
        return self._read_variable_op()

    def read_value(self) -> Any:
        return self._read_variable_op()

    def _read_variable_op(self) -> Tensor:
        with control_dependencies([self._parent_op]):
            return super()._read_variable_op()


__all__ = ["ResourceVariable", "is_resource_variable", "variable_shape"]


def is_resource_variable(variable: TensorLike) -> bool:
    """Whether a variable is one behind a handle."""
    return isinstance(variable, BaseResourceVariable)


def _to_tensor(
    variable: Variable, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Any:
    return variable._dense_var_to_tensor(dtype=dtype, name=name, as_ref=as_ref)


register_tensor_conversion_function(BaseResourceVariable, _to_tensor)
register_dense_tensor_like_type(BaseResourceVariable)
