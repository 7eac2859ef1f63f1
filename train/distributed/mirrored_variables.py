# SPDX-License-Identifier: Apache-2.0
"""Variables that each replica of a process has one of, which stand for one variable.

Reads are of the replica that code belongs to, or the first one's; assignments reach all.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ...engine.graph.collections import GraphKeys
from ...engine.graph.convert import internal_convert_to_tensor
from ...engine.graph.trackable import VARIABLE_VALUE_KEY
from ...ops.public import tf
from ...ops.state.resource_variable import BaseResourceVariable
from ...ops.state.variable_modes import VariableAggregation, VariableSynchronization, checked_modes
from ..checkpoints.saveable import ResourceVariableSaveable, SaveableObject, SaveSpec
from . import strategy_context as modes
from .device_map import DeviceMap
from .replica_values import DistributedValues, Mirrored, with_operators
from .strategy import UpdateContext
from .strategy_context import ReduceOp

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.session.session import BaseSession
    from ...engine.types.dtypes import DType
    from ...ops.state.variables import Variable


class _OpOfAll(NamedTuple):
    """What code outside of replicas may ask of the variable's operation."""

    name: str
    graph: Any
    traceback: Any
    type: str


_NO_AGGREGATION = (
    "You must specify an aggregation method to update a MirroredVariable in Replica Context. You "
    "can do so by passing an explicit value for argument `aggregation` to tf.Variable(..), of "
    "`tf.VariableAggregation`: what replicas assign is combined by it, as they keep one value. Or "
    "update it outside of replicas, by "
    "`tf.distribute.get_replica_context().merge_call(merge_fn, ..)`."
)


_SCATTERS = "sub add max min mul div update nd_sub nd_add nd_update"


def _assigning(name: str) -> Callable[..., Any]:
    def method(self: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        return self._assigned(name, value, *args, **kwargs)

    method.__name__, method.__doc__ = name, f"`tf.Variable.{name}`, of the replicas' variables."
    return method


def _with_assignments(kind: type[DistributedVariable]) -> type[DistributedVariable]:
    for name in (
        "assign",
        "assign_add",
        "assign_sub",
        *(f"scatter_{s}" for s in _SCATTERS.split()),
    ):
        setattr(kind, name, _assigning(name))
    return kind


@with_operators
@_with_assignments
class DistributedVariable(DistributedValues, BaseResourceVariable):
    """A variable of each replica.

    Args:
        strategy: the strategy.
        devices: where the replicas are: a DeviceMap, or the device of each.
        values: the replicas' variables.
        aggregation: how what replicas assign, or read, becomes one value.
    """

    _initializer_op: Any = None
    _distribute_strategy: Any = None

    def __init__(
        self,
        strategy: Any,
        devices: DeviceMap | Sequence[str],
        values: Sequence[Any],
        aggregation: Any,
        logical_device: int | None = None,
    ) -> None:
        DistributedValues.__init__(self, devices, values, logical_device)
        self._distribute_strategy = strategy
        self._aggregation = aggregation
        first = self.primary
        self._common_name = first.name.split(":")[0]
        self._dtype, self._shape = first.dtype, first.shape
        self._unique_id, self._graph_key = first._unique_id, first._graph_key
        for variable in values:
            variable._distributed_container = weakref.ref(self)
            variable._distribute_strategy = strategy

    # Which replica's

    def _closest(self) -> Any:
        """This replica's variable, the one of an update's device, or the first one."""
        device = UpdateContext.current if modes.in_cross_replica_context() else None
        return DistributedValues.get(self, device)

    def get(self, device: str | None = None) -> Any:
        """This replica's variable, or that of a device; outside of replicas their value."""
        outside = modes.in_cross_replica_context() and UpdateContext.current is None
        if device is None and outside:
            return self._value_of_all()
        return self._closest() if device is None else DistributedValues.get(self, device)

    def _value_of_all(self) -> Any:
        raise NotImplementedError

    @property
    def handle(self) -> Any:
        """The resource of this replica; ValueError outside of replicas and updates."""
        if modes.in_cross_replica_context() and UpdateContext.current is None:
            raise ValueError(
                "`handle` is not available outside the replica context or a "
                "`tf.distribute.Strategy.update()` call."
            )
        return self._closest().handle

    # What the first one says of all

    @property
    def _handle(self) -> Any:
        return self._closest().handle

    @property
    def name(self) -> str:
        return str(self.primary.name)

    @property
    def graph(self) -> Any:
        return self.primary.graph

    @property
    def device(self) -> str:
        return str(self._closest().device)

    @property
    def trainable(self) -> bool:
        return bool(self.primary.trainable)

    @property
    def synchronization(self) -> Any:
        return self.primary.synchronization

    @property
    def constraint(self) -> Any:
        return self.primary.constraint

    @property
    def initial_value(self) -> Any:
        return self._closest().initial_value

    @property
    def aggregation(self) -> Any:
        """How what replicas assign, or read, becomes one value."""
        return self._aggregation

    @property
    def distribute_strategy(self) -> Any:
        """The strategy."""
        return self._distribute_strategy

    @property
    def _shared_name(self) -> str:
        return self._common_name

    @property
    def op(self) -> Any:
        """This replica's operation; outside of replicas what is known of the first one's."""
        if modes.in_cross_replica_context():
            op = self.primary.op
            return _OpOfAll(op.name, op.graph, op.traceback, op.type)
        return self._closest().op

    @property
    def initializer(self) -> Any:
        """The operation that initializes all of them."""
        if self._initializer_op is not None:
            return self._initializer_op
        return tf.group(*(v.initializer for v in self._values))

    def is_initialized(self, name: str | None = None) -> Tensor:
        """A tensor that tells whether all of them have a value."""
        result = self.primary.is_initialized()
        for variable in self._values[1:-1]:
            result = tf.logical_and(result, variable.is_initialized())
        return tf.logical_and(result, self._values[-1].is_initialized(), name=name)

    def initialized_value(self) -> Any:
        """The value once there is one, until then the initial value."""
        return self._closest().initialized_value()

    def to_proto(self, export_scope: str | None = None) -> Any:
        """The first one's VariableDef."""
        return self.primary.to_proto(export_scope)

    def load(self, value: Any, session: BaseSession | None = None) -> None:
        """Gives all of them a value in a session."""
        for variable in self._values:
            variable.load(value, session)

    def _set_save_slice_info(self, save_slice_info: object) -> None:
        for variable in self._values:
            variable._set_save_slice_info(save_slice_info)

    # Reads

    def eval(self, session: BaseSession | None = None) -> Any:
        """This replica's value in a session."""
        return self._closest().eval(session)

    def value(self) -> Any:
        """This replica's value."""
        return self._closest().value()

    def read_value(self) -> Tensor:
        """The value, read by an operation of its own."""
        return tf.identity(self.get())

    def sparse_read(self, indices: TensorLike, name: str | None = None) -> Any:
        """Rows of this replica's value."""
        return self._closest().sparse_read(indices, name)

    def gather_nd(self, indices: TensorLike, name: str | None = None) -> Any:
        """Slices of this replica's value."""
        return self._closest().gather_nd(indices, name)

    def _dense_var_to_tensor(
        self, dtype: DType | None = None, name: str | None = None, as_ref: bool = False
    ) -> Any:
        return internal_convert_to_tensor(self.get(), dtype=dtype, name=name, as_ref=as_ref)

    def __repr__(self) -> str:
        return DistributedValues.__repr__(self)


class MirroredVariable(DistributedVariable, Mirrored):
    """Variables of replicas that have the same value."""

    def _value_of_all(self) -> Tensor:
        return tf.identity(DistributedValues.get(self))

    def _as_graph_element(self) -> Any:
        outside = modes.in_cross_replica_context()
        return (self.primary if outside else self._closest())._as_graph_element()

    def _assigned(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What a method of each gives, of a value that is the same for all."""

        def assign(variable: Variable, *args: Any, **kwargs: Any) -> Any:
            return getattr(variable, name)(*args, **kwargs)

        context = modes.get_replica_context()
        if not modes.has_strategy():
            with self._distribute_strategy.scope():
                return self._assigned(name, *args, **kwargs)
        if context is None and UpdateContext.current is not None:
            return assign(self._closest(), *args, **kwargs)
        extended = self._distribute_strategy.extended
        if context is None:
            return extended.update(self, assign, args, kwargs)
        if self._aggregation == VariableAggregation.NONE:
            raise ValueError(_NO_AGGREGATION)

        def merged(strategy: Any, value: Any, *others: Any, **kwargs: Any) -> Any:
            if self._aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
                one = extended.broadcast_to(extended.local_results(value)[0], self)
            else:
                op = ReduceOp.from_variable_aggregation(self._aggregation)
                one = extended.reduce_to(op, value, self)
            return extended.update(self, assign, (one, *others), kwargs)

        return context.merge_call(merged, args, kwargs)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        def saveable(name: str = self._common_name) -> SaveableObject:
            return _MirroredSaveable(self, name)

        return {VARIABLE_VALUE_KEY: saveable}


class SyncOnReadVariable(DistributedVariable):
    """Variables of replicas that have values of their own, which are combined where they are read
    outside of replicas."""

    def _value_of_all(self) -> Any:
        if self._aggregation == VariableAggregation.ONLY_FIRST_REPLICA:
            return self.primary
        op = ReduceOp.from_variable_aggregation(self._aggregation)
        if modes.has_strategy():
            return self._distribute_strategy.reduce(op, self, axis=None)
        with self._distribute_strategy.scope():
            return self._distribute_strategy.reduce(op, self, axis=None)

    def _as_graph_element(self) -> Any:
        if modes.in_cross_replica_context():
            found = self._value_of_all()
            return found._as_graph_element() if found is self.primary else found
        return self._closest()._as_graph_element()

    def _assigned(self, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        """What a method of this replica's variable gives; outside of replicas, of all."""
        if not modes.in_cross_replica_context():
            return getattr(self._closest(), name)(value, *args, **kwargs)
        if self._aggregation == VariableAggregation.SUM:
            if name != "assign":
                raise ValueError(
                    f"SyncOnReadVariable does not support `{name}` in cross-replica context when "
                    "aggregation is set to `tf.VariableAggregation.SUM`."
                )
            # (So that the sum of all is the value that was given.)
            value = tf.convert_to_tensor(value, dtype=self.dtype) * tf.cast(
                1.0 / len(self._values), self.dtype
            )
        done = []
        for variable in self._values:
            with tf.device(variable.device):
                done.append(getattr(variable, name)(value, *args, **kwargs))
        return tf.group(*done)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        def saveable(name: str = self._common_name) -> SaveableObject:
            return _SyncOnReadSaveable(self, name)

        return {VARIABLE_VALUE_KEY: saveable}


class _MirroredSaveable(ResourceVariableSaveable):
    """The first replica's variable, restored into all."""

    def __init__(self, variable: MirroredVariable, name: str) -> None:
        self._variables = variable.values
        super().__init__(variable.primary, "", name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        (value,) = restored_tensors
        done = []
        for variable in self._variables:
            with tf.device(variable.device):
                done.append(variable.assign(value))
        return tf.group(*done)


class _SyncOnReadSaveable(SaveableObject):
    """What the values of all replicas are together."""

    def __init__(self, variable: SyncOnReadVariable, name: str) -> None:
        self._variable = variable

        def value() -> Any:
            return variable._distribute_strategy.extended.read_var(variable)

        spec = SaveSpec(value, "", name, dtype=variable.dtype, device=variable.primary.device)
        super().__init__(value, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        (value,) = restored_tensors
        with modes.outside_of_replicas(self._variable._distribute_strategy):
            return self._variable.assign(value)


def made(
    strategy: Any, create: Callable[..., list[Any]], kwargs: dict[str, Any]
) -> DistributedVariable:
    """A variable of all replicas.

    Args:
        strategy: the strategy.
        create: makes the replicas' variables.
        kwargs: the arguments of tf.Variable.

    Raises:
        ValueError: it is not to be synchronized.
    """
    collections = kwargs.pop("collections", None)
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    name, trainable = kwargs.get("name"), kwargs.get("trainable", True)
    synchronization, aggregation, _ = checked_modes(
        kwargs.get("synchronization"), kwargs.pop("aggregation", None), trainable, name
    )
    if synchronization == VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with `Mirrored` distribution "
            f"strategy. Please change the `synchronization` for variable: {name}"
        )
    is_read = synchronization == VariableSynchronization.ON_READ
    # (Values of replicas are where they are read.)
    kwargs.pop("caching_device", None)
    variables = create(**{**kwargs, "collections": []})
    kind = SyncOnReadVariable if is_read else MirroredVariable
    variable = kind(strategy, strategy.extended.worker_devices, variables, aggregation)
    graph = tf.get_default_graph()
    if trainable:
        # Those of the replicas are there: the one that stands for them takes their place.
        collections.append(GraphKeys.TRAINABLE_VARIABLES)
        listed = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        listed[:] = [v for v in listed if not any(v is one for one in variables)]
    graph.add_to_collections(collections, variable)
    return variable
