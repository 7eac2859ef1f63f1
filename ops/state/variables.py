# SPDX-License-Identifier: Apache-2.0
"""Variables: what all kinds share, and reference variables, the default of TensorFlow 1.x."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import (
    convert_to_tensor,
    register_dense_tensor_like_type,
    register_tensor_conversion_function,
)
from ...engine.graph.graph import colocate_with, device, get_default_graph, init_scope, name_scope
from ...engine.graph.scope_functions import prepend_name_scope, strip_name_scope
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...engine.graph.trackable import VARIABLE_VALUE_KEY, Trackable
from ...engine.tracebacks import shorten
from ...engine.types.shape import unknown_shape
from ..public import raw, tf
from . import reference as state  # the operators of tensors come first
from .variable_modes import (
    SaveSliceInfo,
    VariableAggregation,
    VariableSynchronization,
    checked_modes,
    colocated_attr,
    construction,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.graph import Graph
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Reference
    from ...engine.session.session import BaseSession
    from ...engine.types.dtypes import DType
    from ...engine.types.shape import TensorShape

# default_variable_creator(next_creator, **arguments) -> variable; set by variable_scope.
_default_creator: list[Callable[..., Any]] = []


class VariableMetaclass(type):
    """Lets `tf.Variable(...)` make the kind of variable that scopes and creators ask for."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        arguments = _variable_arguments(*args, **kwargs)

        def create(**given: Any) -> Any:
            return _default_creator[0](None, **given)

        # The creator that was pushed last is asked first.
        for creator in get_default_graph()._variable_creator_stack:
            create = _chained(creator, create)
        try:
            return create(**arguments)
        except Exception as error:
            shorten(error)
            raise


def _chained(creator: Callable[..., Any], following: Callable[..., Any]) -> Callable[..., Any]:
    def create(**given: Any) -> Any:
        return creator(following, **given)

    return create


def _variable_arguments(
    initial_value: object = None,
    trainable: bool | None = None,
    collections: Sequence[str] | None = None,
    validate_shape: bool = True,
    caching_device: Callable[..., Any] | str | None = None,
    name: str | None = None,
    variable_def: object = None,
    dtype: DType | None = None,
    expected_shape: object = None,
    import_scope: str | None = None,
    constraint: Callable[..., Any] | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
    shape: TensorShape | None = None,
) -> dict[str, Any]:
    if aggregation is None:
        aggregation = VariableAggregation.NONE
    return dict(locals())


@export("Variable")
class Variable(Trackable, metaclass=VariableMetaclass):
    """State that outlives a run, usable wherever a tensor is.

    Its `initializer` must have run before its value is used: `tf.global_variables_initializer()`
    has those of all.  `assign`, `assign_add` and `load` change it, `value()` is a tensor of it.

    Args:
        initial_value: a tensor, what makes one, or a function that returns it.
        trainable: whether it is in `tf.trainable_variables()`; it is, unless False is given.
        collections: the keys that it is added to; [tf.GraphKeys.GLOBAL_VARIABLES] by default.
        validate_shape: False lets the shape be unknown, and change.
        caching_device: where reads are cached; None for no cache.
        name: of the operation and in checkpoints; "Variable" with a number by default.
        variable_def: a VariableDef that describes the variable, instead of an initial value.
        dtype: what the initial value is converted to.
        expected_shape: not used.
        import_scope: put before the names in `variable_def`.
        constraint: a function of the value that optimizers apply after each update.
        use_resource: whether it is a resource variable; see tf.enable_resource_variables.
        synchronization, aggregation: as in tf.VariableSynchronization and tf.VariableAggregation.
        shape: of a resource variable, where the initial value's is too narrow.

    Raises:
        ValueError: there is no initial value, or its shape is unknown though `validate_shape`.

    Example:
        >>> count = tf.Variable(1, name="count")
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(count.assign_add(2)), sess.run(count * 10)
        (np.int32(3), np.int32(30))
    """

    SaveSliceInfo = SaveSliceInfo
    __array_priority__ = 100
    _distribute_strategy = None
    _save_slice_info: Any = None

    if TYPE_CHECKING:
        # Arguments go to the class that the creators choose; the rest is what that one has.
        def __init__(self, initial_value: object = None, **options: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {VARIABLE_VALUE_KEY: self}

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.get_shape()} dtype={self.dtype.name}>"

    def __iter__(self) -> Any:
        raise TypeError("'Variable' object is not iterable.")

    def __hash__(self) -> int:
        return id(self)

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def constraint(self) -> Any:
        return self._constraint

    @property
    def initial_value(self) -> Any:
        return self._initial_value

    @property
    def initializer(self) -> Any:
        return self._initializer_op

    def get_shape(self) -> Any:
        return self.shape

    @property
    def _shared_name(self) -> str:
        return self.name[: self.name.index(":")]

    def initialized_value(self) -> Any:
        """The variable's value once it has one, until then its initial value."""
        with init_scope():
            return tf.cond(
                tf.is_variable_initialized(self), self.read_value, lambda: self.initial_value
            )

    def load(self, value: str | Sequence[Any], session: BaseSession | None = None) -> None:
        """Gives the variable a value in a session, without adding operations to the graph.

        Args:
            value: an array of its shape.
            session: the default session if None.

        Raises:
            ValueError: there is no session, or the shape is another.
        """
        session = session or tf.get_default_session()
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be "
                "established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def experimental_ref(self) -> Reference:
        """A hashable reference to this variable."""
        from ...engine.graph.tensor import Reference

        return Reference(self)

    def _set_save_slice_info(self, save_slice_info: object) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> Any:
        return self._save_slice_info

    @staticmethod
    def from_proto(variable_def: object, import_scope: str | None = None) -> Any:
        """The variable that a VariableDef describes; its operations are in the graph already."""
        return RefVariable(variable_def=variable_def, import_scope=import_scope)


def _operator_of_value(operator: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(Tensor, operator)(self.value(), *args, **kwargs)

    # Help and tracebacks show the operator of tensors.
    return functools.update_wrapper(method, getattr(Tensor, operator))


def _slice_of_variable(self: Any, slice_spec: object) -> Tensor:
    from ..array.indexing import slice_helper_var

    return slice_helper_var(self, slice_spec)


def _overload_operators() -> None:
    # Tensors must have their operators by now, whatever module was imported first.
    from ..math import operators  # noqa: F401

    # Comparison with == stays that of identity: variables are keys of dictionaries.
    for operator in Tensor.OVERLOADABLE_OPERATORS - {"__eq__", "__ne__", "__getitem__"}:
        if not hasattr(Tensor, operator):
            continue
        setattr(Variable, operator, _operator_of_value(operator))
    setattr(Variable, "__getitem__", _slice_of_variable)  # noqa: B010


_overload_operators()


def require_slices(sparse_delta: object) -> IndexedSlices:
    """The argument when it is IndexedSlices; else TypeError."""
    if not isinstance(sparse_delta, IndexedSlices):
        raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
    return sparse_delta


def read_modes_from(variable: Any, variable_def: Any, import_scope: str | None = None) -> None:
    """Takes trainable, synchronization and aggregation from a VariableDef."""
    modes = checked_modes(
        variable_def.synchronization,
        variable_def.aggregation,
        variable_def.trainable,
        variable_def.variable_name,
    )
    variable._synchronization, variable._aggregation, variable._trainable = modes
    if variable_def.HasField("save_slice_info_def"):
        variable._save_slice_info = SaveSliceInfo(
            save_slice_info_def=variable_def.save_slice_info_def, import_scope=import_scope
        )
    variable._caching_device = None
    variable._constraint = None


class RefVariable(Variable):
    """A variable whose consumers share its storage by reference."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Sequence[str] | None = None,
        validate_shape: bool = True,
        caching_device: Callable[..., Any] | None = None,
        name: str | None = None,
        variable_def: object = None,
        dtype: Any = None,
        expected_shape: object = None,
        import_scope: str | None = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: object = None,
        aggregation: object = None,
        shape: Any = None,
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
            self._make(initial_value, scope, dtype, shape, validate_shape)
            self._make_read(caching_device)

    def _make(
        self,
        initial_value: TensorLike,
        scope: str,
        dtype: DType | None,
        shape: TensorShape | None,
        validate_shape: bool,
    ) -> None:
        if callable(initial_value):
            with colocated_attr(scope.rstrip("/")):
                with name_scope("Initializer"), device(None):
                    value = convert_to_tensor(initial_value(), name="initial_value", dtype=dtype)
                self._make_storage(value, scope, shape, validate_shape)
        else:
            value = convert_to_tensor(initial_value, name="initial_value", dtype=dtype)
            require_outside_control_flow(value, scope)
            self._make_storage(value, scope, shape, validate_shape)
        if validate_shape and not value.get_shape().is_fully_defined():
            raise ValueError(f"initial_value must have a shape specified: {value}")
        from .variable_guards import guarded

        self._initializer_op = state.assign(
            self._variable, guarded(scope, value), validate_shape=validate_shape
        ).op

    def _make_storage(
        self, value: Tensor, scope: str, shape: TensorShape | None, validate_shape: bool
    ) -> None:
        self._initial_value: Any = value
        if shape is None:
            shape = value.get_shape() if validate_shape else unknown_shape()
        self._variable = state.variable_op_v2(shape, value.dtype.base_dtype, name=scope)

    def _make_read(self, caching_device: Callable[..., Any] | None) -> None:
        place = device(caching_device) if caching_device is not None else colocate_with(self.op)
        with place:
            self._snapshot = tf.identity(self._variable, name="read")

    def _init_from_proto(self, variable_def: Any, import_scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str, may_be_operation: bool = False) -> Any:
            name = prepend_name_scope(name, import_scope)
            return graph.as_graph_element(name, allow_operation=may_be_operation)

        self._variable = element(variable_def.variable_name)
        self._initializer_op = element(variable_def.initializer_name, may_be_operation=True)
        initial = variable_def.initial_value_name
        self._initial_value = element(initial) if initial else None
        self._snapshot = element(variable_def.snapshot_name)
        read_modes_from(self, variable_def, import_scope)

    @property
    def name(self) -> str:
        return self._variable.name

    @property
    def dtype(self) -> DType:
        return self._variable.dtype

    @property
    def op(self) -> Operation:
        return self._variable.op

    @property
    def graph(self) -> Graph:
        return self._variable.graph

    @property
    def device(self) -> str:
        return self._variable.device

    @property
    def shape(self) -> TensorShape:
        return self._variable.get_shape()

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def value(self) -> Tensor:
        """The last snapshot of the variable: a tensor made with it."""
        return self._snapshot

    def read_value(self) -> Tensor:
        """The variable's value, read by an operation of its own."""
        return tf.identity(self._variable, name="read")

    def _ref(self) -> Tensor:
        return self._variable

    def set_shape(self, shape: Sequence[int]) -> None:
        """Narrows the static shape."""
        self._ref().set_shape(shape)
        self.value().set_shape(shape)

    def eval(self, session: BaseSession | None = None) -> Any:
        """The value in a session."""
        return self._variable.eval(session=session)

    def assign(
        self,
        value: TensorLike | None,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Gives the variable a value."""
        result = state.assign(self._variable, value, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_add(
        self,
        delta: TensorLike | None,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds to the variable."""
        result = state.assign_add(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def assign_sub(
        self,
        delta: TensorLike | None,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts from the variable."""
        result = state.assign_sub(self._variable, delta, use_locking=use_locking, name=name)
        return result if read_value else result.op

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """tf.batch_scatter_update with the indices and values of `sparse_delta`."""
        return tf.batch_scatter_update(
            self, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name
        )

    def _strided_slice_assign(
        self,
        begin: Tensor,
        end: Tensor,
        strides: Tensor,
        value: TensorLike,
        name: str,
        *masks: int,
        **named: int,
    ) -> Tensor:
        names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
        named.update(zip(names, masks, strict=False))
        return raw.StridedSliceAssign(self._ref(), begin, end, strides, value, name=name, **named)

    def count_up_to(self, limit: int) -> Any:
        """The variable's value, which then grows by one until it reaches `limit`."""
        return state.count_up_to(self._variable, limit=limit)

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A VariableDef, or None when the variable is outside of `export_scope`."""
        from ...io import protos

        if export_scope is not None and not self._variable.name.startswith(export_scope):
            return None
        result = protos.VariableDef(
            variable_name=strip_name_scope(self._variable.name, export_scope),
            initializer_name=strip_name_scope(self.initializer.name, export_scope),
            snapshot_name=strip_name_scope(self._snapshot.name, export_scope),
            trainable=self.trainable,
            synchronization=self.synchronization.value,
            aggregation=self.aggregation.value,
        )
        if self._initial_value is not None:
            result.initial_value_name = strip_name_scope(self._initial_value.name, export_scope)
        if self._save_slice_info is not None:
            result.save_slice_info_def.MergeFrom(self._save_slice_info.to_proto(export_scope))
        return result


def require_outside_control_flow(value: Tensor, scope: str) -> None:
    """Raises ValueError when an initial value was computed inside of a loop or conditional."""
    if value.op._get_control_flow_context() is not None:
        raise ValueError(
            f"Initializer for variable {scope} is from inside a control-flow construct, such as a "
            "loop or conditional. When creating a variable inside a loop or conditional, use a "
            "lambda as the initializer."
        )


def _scatter_method(op_type: str, what: str) -> Callable[..., Any]:
    def method(
        self: Any, sparse_delta: object, use_locking: bool = False, name: str | None = None
    ) -> Any:
        delta = require_slices(sparse_delta)
        function = getattr(raw, op_type)
        ref = self._variable
        return function(ref, delta.indices, delta.values, use_locking=use_locking, name=name)

    method.__doc__ = f"{what} of the rows that IndexedSlices name."
    return method


def _scatter_nd_method(op_type: str, what: str) -> Callable[..., Any]:
    def method(
        self: Any, indices: Sequence[Any], updates: Sequence[Any], name: str | None = None
    ) -> Any:
        function = getattr(raw, op_type)
        return function(self._variable, indices, updates, use_locking=True, name=name)

    method.__doc__ = f"{what} of the slices that `indices` names."
    return method


def _in_place_operator(operator: str) -> Callable[..., Any]:
    def method(self: Any, other: float) -> Any:
        return getattr(self, operator)(other)

    return method


_METHODS = {
    "scatter_sub": _scatter_method("ScatterSub", "Sub"),
    "scatter_add": _scatter_method("ScatterAdd", "Add"),
    "scatter_max": _scatter_method("ScatterMax", "Max"),
    "scatter_min": _scatter_method("ScatterMin", "Min"),
    "scatter_mul": _scatter_method("ScatterMul", "Mul"),
    "scatter_div": _scatter_method("ScatterDiv", "Div"),
    "scatter_update": _scatter_method("ScatterUpdate", "Update"),
    "scatter_nd_sub": _scatter_nd_method("ScatterNdSub", "Sub"),
    "scatter_nd_add": _scatter_nd_method("ScatterNdAdd", "Add"),
    "scatter_nd_update": _scatter_nd_method("ScatterNdUpdate", "Update"),
}
for _name, _method in _METHODS.items():
    setattr(RefVariable, _name, _method)
# `v += x` makes a new tensor, as in TensorFlow: the variable keeps its value.
for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(RefVariable, f"__i{_name}__", _in_place_operator(f"__{_name}__"))


def _to_tensor(
    v: Variable, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    if dtype and not dtype.is_compatible_with(v.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable "
            f"of type '{v.dtype.name}'"
        )
    return v._ref() if as_ref else v.value()


register_tensor_conversion_function(RefVariable, _to_tensor)
register_dense_tensor_like_type(RefVariable)
