# SPDX-License-Identifier: Apache-2.0
"""The variables that `get_variable` made in a graph, by name: creation, reuse and partitions."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...engine.api import constant as publish
from ...engine.api import export
from ...engine.graph.collections import GraphKeys, add_to_collection
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import colocate_with, init_scope, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.record_class import record
from ...engine.types import dtypes
from ...engine.types.shape import as_shape
from ..public import tf
from .resource_variable import BaseResourceVariable
from .variable_modes import (
    SaveSliceInfo,
    VariableAggregation,
    VariableSynchronization,
    checked_modes,
)
from .variable_partitions import PartitionedVariable, PartitionInfo, call_partitioner, slices
from .variables import Variable

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.types.dtypes import DType
    from ...engine.types.shape import TensorShape


class _ReuseMode(enum.Enum):
    """The third value of `reuse`, beside True and False: make the variable or take it."""

    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE
publish("AUTO_REUSE", AUTO_REUSE)

# Whether variables are resource variables where nothing else says so.
default_use_resource = False


@export("enable_resource_variables")
def enable_resource_variables() -> None:
    """Makes resource variables the default."""
    global default_use_resource
    default_use_resource = True


@export("disable_resource_variables")
def disable_resource_variables() -> None:
    """Makes reference variables the default."""
    global default_use_resource
    default_use_resource = False


@export("resource_variables_enabled")
def resource_variables_enabled() -> bool:
    """Whether resource variables are the default."""
    return default_use_resource


@export("no_regularizer")
def no_regularizer(_: Variable) -> None:
    """Says that a variable is not to be regularized, whatever its scope says."""


@record(frozen=True)
class Request:
    """What a caller of `get_variable` asks for."""

    name: str
    shape: Any = None
    dtype: Any = dtypes.float32
    initializer: Any = None
    regularizer: Any = None
    reuse: Any = None
    trainable: Any = None
    collections: Any = None
    caching_device: Any = None
    partitioner: Any = None
    validate_shape: bool = True
    use_resource: Any = None
    constraint: Any = None
    synchronization: Any = VariableSynchronization.AUTO
    aggregation: Any = VariableAggregation.NONE


class VariableStore:
    """All variables of a graph that have a name of their own to be found by."""

    def __init__(self) -> None:
        self._vars: dict[str, Any] = {}
        self._partitioned_vars: dict[str, PartitionedVariable] = {}
        self._store_eager_variables = False

    def get_variable(
        self,
        name: str,
        shape: TensorLike | None = None,
        custom_getter: Callable[..., Any] | None = None,
        **others: Any,
    ) -> Any:
        """Finds or makes a variable, through the custom getter when there is one."""
        asked = {"shape": shape, **others}
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        dtype = asked.get("dtype", dtypes.float32)
        asked["dtype"] = getattr(dtype, "base_dtype", dtype)
        modes = checked_modes(
            asked.get("synchronization"), asked.get("aggregation"), asked.get("trainable"), name
        )
        asked["synchronization"], asked["aggregation"], asked["trainable"] = modes
        if custom_getter is None:
            return self._true_getter(name, **asked)
        # Getters from before there were constraints.
        if not _takes(custom_getter, "constraint"):
            asked.pop("constraint", None)
        return custom_getter(getter=self._true_getter, name=name, **asked)

    def _true_getter(
        self,
        name: str,
        shape: object = None,
        dtype: DTypeLike = dtypes.float32,
        initializer: Callable[..., Any] | TensorLike | None = None,
        regularizer: Callable[..., Any] | None = None,
        reuse: object = None,
        trainable: bool | None = None,
        collections: Iterable[str] | None = None,
        caching_device: Callable[..., Any] | str | None = None,
        partitioner: Callable[..., Any] | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        constraint: Callable[..., Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
    ) -> Any:
        given = dict(locals())
        del given["self"]
        request = Request(**given)
        is_scalar = shape is not None and isinstance(shape, Sequence) and not shape
        if partitioner is not None and not is_scalar:
            if not callable(partitioner):
                raise ValueError(f"Partitioner must be callable, but received: {partitioner}")
            with name_scope(None):
                return self.get_partitioned(request)
        if reuse is True and partitioner is None and name in self._partitioned_vars:
            return self.get_partitioned(request)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                "No partitioner was provided, but a partitioned version of the variable was found: "
                f"{name}/part_0. Perhaps a variable of the same name was already created with "
                "partitioning?"
            )
        return self._get_single(request)

    def get_partitioned(self, request: Request) -> PartitionedVariable:
        """Finds or makes a variable that lives in several parts."""
        name = request.name
        if name in self._vars:
            raise ValueError(
                "A partitioner was provided, but an unpartitioned version of the variable was "
                f"found: {name}.  Perhaps a variable of the same name was already created without "
                "partitioning?"
            )
        shape = as_shape(request.shape)
        # A tensor may know sizes that the caller left out.
        if isinstance(request.initializer, Tensor):
            shape = shape.merge_with(request.initializer.get_shape())
        partitions = None
        if not request.reuse or request.partitioner:
            partitions = call_partitioner(request.partitioner, shape, request.dtype)
        if name in self._partitioned_vars:
            return self._reused_partitions(request, shape, partitions)
        if request.reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in "
                "VarScope?"
            )
        return self._make_partitions(request, shape, partitions)

    def _reused_partitions(
        self, request: Request, shape: TensorShape, partitions: Sequence[int] | None
    ) -> PartitionedVariable:
        name, found = request.name, self._partitioned_vars[request.name]
        if request.reuse is False:
            raise ValueError(
                f"Partitioned variable with name {name} already exists. Did you mean to set "
                "reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
            )
        reusing = f"Trying to reuse partitioned variable {name}, but specified"
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(f"{reusing} shape {shape} and found shape {found.get_shape()}.")
        if not request.dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"{reusing} dtype {request.dtype.name} and found dtype {found.dtype.name}."
            )
        if partitions is not None and found._get_partitions() != partitions:
            raise ValueError(
                f"{reusing} partitions {partitions} and found partitions {found._get_partitions()}."
            )
        return found

    def _make_partitions(
        self, request: Request, shape: Any, partitions: Any
    ) -> PartitionedVariable:
        name = request.name
        # Partitioners cut one axis at most (see `call_partitioner`).
        axis, count = next(((i, n) for i, n in enumerate(partitions) if n > 1), (0, 1))
        self._require_same_shards(name, count)
        parts, dtype = [], request.dtype
        for i, (offset, size) in enumerate(slices(shape.as_list(), count, axis)):
            info = PartitionInfo(full_shape=shape.as_list(), var_offset=offset)
            full_name = f"{name}/part_{i}"
            with name_scope(full_name + "/PartitionedInitializer"):
                init, init_shape, dtype = _part_of_initializer(request, dtype, offset, size)
            part = replace(request, name=full_name, shape=init_shape, dtype=dtype, initializer=init)
            with name_scope(None):
                variable = self._get_single(part, info)
            variable._set_save_slice_info(SaveSliceInfo(name, shape.as_list(), offset, size))
            parts.append(variable)
        result = PartitionedVariable(name, shape, dtype, parts, partitions)
        self._partitioned_vars[name] = result
        return result

    def _require_same_shards(self, name: str, count: int) -> None:
        if f"{name}/part_0" not in self._vars:
            return
        differs = (
            "Partitioner returned a different partitioning than what was already found.  "
            f"Partitioner returned {count} shards, and shard {name}/part_0 was found, but "
        )
        if f"{name}/part_{count - 1}" not in self._vars:
            raise ValueError(f"{differs}{name}/part_{count - 1} was not.")
        if f"{name}/part_{count}" in self._vars:
            raise ValueError(f"{differs}so was the extra shard {name}/part_{count}.")

    def _get_single(self, request: Request, partition_info: PartitionInfo | None = None) -> Any:
        initializer, name = request.initializer, request.name
        if request.shape is not None and initializer is not None and not callable(initializer):
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype, shape = dtypes.as_dtype(request.dtype), as_shape(request.shape)
        if name in self._vars:
            return self._reused(request, shape, dtype)
        if request.reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). "
                "Did you mean to set reuse=tf.AUTO_REUSE in VarScope?"
            )
        if initializer is None:
            initializer = default_initializer(name, dtype)
        with init_scope():
            initial, variable_dtype = _initial_value(initializer, shape, dtype, partition_info)
        use_resource = request.use_resource
        variable = Variable(
            initial_value=initial,
            name=name,
            trainable=request.trainable,
            collections=request.collections,
            caching_device=request.caching_device,
            dtype=variable_dtype,
            validate_shape=request.validate_shape,
            constraint=request.constraint,
            use_resource=default_use_resource if use_resource is None else use_resource,
            synchronization=request.synchronization,
            aggregation=request.aggregation,
        )
        self._vars[name] = variable
        if request.regularizer:
            _regularize(variable, name, request.regularizer)
        return variable

    def _reused(self, request: Request, shape: TensorShape, dtype: DType) -> Any:
        name, found = request.name, self._vars[request.name]
        if request.reuse is False:
            message = (
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
            if isinstance(found, BaseResourceVariable):
                raise ValueError(message)
            from traceback import format_list

            place = "".join(format_list(found.op.traceback))
            raise ValueError(f"{message} Originally defined at:\n\n{place}")
        if not shape.is_compatible_with(found.get_shape()):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {shape} and found shape "
                f"{found.get_shape()}."
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} and found "
                f"dtype {found.dtype.name}."
            )
        return found


def _takes(function: Callable[..., Any], argument: str) -> bool:
    parameters = inspect.signature(function).parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    return argument in parameters or inspect.Parameter.VAR_KEYWORD in kinds


def default_initializer(name: str, dtype: DType) -> Any:
    """The initializer of a variable for which nobody chose one."""
    if dtype.is_floating:
        return tf.glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_unsigned or dtype.is_bool or dtype == dtypes.string:
        return tf.zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")


def _part_of_initializer(
    request: Request, dtype: DType, offset: list[int], size: list[int]
) -> tuple[Any, Any, Any]:
    """The initializer of one part, its shape (None when it is a value) and its dtype."""
    initializer = request.initializer
    if initializer is None:
        return default_initializer(request.name, dtype), size, dtype
    if callable(initializer):
        return initializer, size, dtype
    if isinstance(initializer, Tensor):
        part = tf.slice(initializer, offset, size)
        return part, None, part.dtype.base_dtype
    value = convert_to_tensor(initializer, dtype=dtype)
    return tf.slice(value, offset, size), None, dtype


def _initial_value(
    initializer: object,
    shape: TensorShape,
    dtype: DType,
    info: object,
) -> tuple[Any, Any]:
    """What the Variable gets as initial value, and as dtype."""
    if not callable(initializer):
        # Its own shape and dtype hold.
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape is not None and shape.is_fully_defined():

        def initial_value() -> Any:
            return initializer(shape.as_list(), dtype=dtype, partition_info=info)

        return initial_value, dtype.base_dtype
    if not _required_arguments(initializer):
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no arguments and the "
        "shape should not be provided or an instance of `tf.keras.initializers.*' and `shape` "
        "should be fully defined."
    )


def _required_arguments(function: Callable[..., Any]) -> list[str]:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in positional and parameter.default is inspect.Parameter.empty
    ]


def _regularize(variable: Variable, name: str, regularizer: Callable[[Any], Any]) -> None:
    with colocate_with(variable), name_scope(name + "/Regularizer/"):
        with init_scope():
            loss = regularizer(variable)
        if loss is not None:
            add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def stored(store: VariableStore) -> Iterator[Any]:
    """The variables of a store, by name."""
    return iter(sorted(store._vars.values(), key=lambda v: v.name))
