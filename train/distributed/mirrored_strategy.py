# SPDX-License-Identifier: Apache-2.0
"""Several replicas in one process, each on a device of its own, that keep the same variables."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.tensor import Tensor
from ...engine.types import nest
from ...ops.data.dataset import DatasetV2
from ...ops.public import tf
from . import mirrored_variables, replica_threads
from . import strategy_context as modes
from .cross_device_ops import ReductionToOneDevice
from .device_map import resolved
from .mirrored_input import DistributedDataset, ReplicaIterator, in_parts
from .mirrored_variables import DistributedVariable, SyncOnReadVariable
from .replica_values import DistributedValues, Mirrored, for_device, regroup
from .strategy import Strategy, StrategyExtended, UpdateContext
from .strategy_context import ReduceOp
from .strategy_input import InputContext, input_of

if TYPE_CHECKING:
    from .strategy import ReplicaContext


def devices_of(devices: Sequence[str]) -> tuple[str, ...]:
    """Devices of this machine by their whole names.

    Raises:
        ValueError: one is there twice, or is another task's.
    """
    remote = [tf.DeviceSpec.from_string(d).job not in (None, "localhost") for d in devices]
    if all(remote):
        raise ValueError(
            "In-graph multi-worker training with `MirroredStrategy` is not supported: "
            "`tf.distribute.experimental.MultiWorkerMirroredStrategy` has a worker in each task."
        )
    if any(remote):
        raise ValueError("Remote device string must have job specified.")
    found = tuple(resolved(device) for device in devices)
    if len(set(found)) < len(found):
        raise ValueError(f"No duplicates allowed in `devices` argument: {found}")
    return found


class MirroredExtended(StrategyExtended):
    """What libraries ask of a strategy of several replicas.

    Args:
        container_strategy: the strategy.
        devices: where the replicas are, by their whole names.
        cross_device_ops: adds up values of replicas.
    """

    is_mirrored = True

    def __init__(
        self, container_strategy: Strategy, devices: Sequence[str], cross_device_ops: Any = None
    ) -> None:
        super().__init__(container_strategy)
        self._devices = tuple(devices)
        self._cross_device_ops = cross_device_ops or ReductionToOneDevice()
        self.count = len(self._devices)
        self.scales_loss = False

    # Variables

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Within it each replica has a variable of its own."""
        is_outer = not modes.has_strategy()
        with super().scope() as strategy:
            if not is_outer:
                yield strategy
                return
            with tf.variable_creator_scope(self._create):
                yield strategy

    def _create(self, next_creator: Callable[..., Any], **kwargs: Any) -> DistributedVariable:
        def create(**given: Any) -> list[Any]:
            found: list[Any] = []
            for i, device in enumerate(self._devices):
                with tf.device(device):
                    if i:
                        # (A name that ends with a slash is a whole one, whatever scope is open.)
                        given["name"] = f"{found[0].name.split(':')[0]}/replica_{i}/"
                        given["initial_value"] = _value_of(found[0], device)
                    found.append(next_creator(**given))
            return found

        return mirrored_variables.made(self._strategy, create, kwargs)

    def colocate_vars_with(self, colocate_with_variable: object) -> Any:
        """A scope in which variables are where another one of the strategy is."""
        own = isinstance(colocate_with_variable, DistributedVariable)
        if not own or colocate_with_variable.distribute_strategy is not self._strategy:  # type: ignore[attr-defined]
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this "
                f"tf.distribute.Strategy.scope(), not: {colocate_with_variable!r}"
            )
        # (All variables have one on each device.)
        return contextlib.nullcontext()

    def variable_created_in_scope(self, v: object) -> bool:
        """Whether a variable is this strategy's."""
        return getattr(v, "_distribute_strategy", None) is self._strategy

    def read_var(self, v: Any) -> Any:
        """A variable's value, of all replicas together."""
        if isinstance(v, SyncOnReadVariable):
            return v._value_of_all()
        return tf.identity(v.get() if isinstance(v, DistributedValues) else v)

    def value_container(self, value: object) -> Any:
        """The variable that a replica's variable is part of."""
        from .replica_values import container_of

        container = container_of(value)
        return value if container is None else container

    # Replicas

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """What a function gives for each replica, in one structure."""
        return replica_threads.call_for_each(self._strategy, fn, args, kwargs)

    def local_results(self, value: object) -> tuple[Any, ...]:
        """The values of the replicas."""
        return value.values if isinstance(value, DistributedValues) else (value,)

    def replica_context(self) -> ReplicaContext:
        """The replica that an optimizer is called in.

        Raises:
            RuntimeError: it is called outside of replicas.
        """
        context = modes.get_replica_context()
        if context is None:
            raise RuntimeError(
                "Use `_distributed_apply()` instead of `apply_gradients()` in a cross-replica "
                "context."
            )
        return context

    # Reductions

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """The sum or mean over replicas, on devices.

        Args:
            reduce_op: a ReduceOp.
            value: what replicas gave.
            destinations: a device, or values or a variable whose devices are meant; all if None.

        Returns:
            A tensor of the one device, or the same on each.

        Raises:
            ValueError: it is the sum of a value that all replicas share.
        """
        op, wanted = modes.reduce_op_of(reduce_op), self._destinations(destinations)
        if isinstance(value, Mirrored) and op == ReduceOp.MEAN:
            return value
        if not isinstance(value, DistributedValues):
            if op == ReduceOp.MEAN or (not isinstance(value, Tensor) and value == 0):
                return value
            raise ValueError(
                f"A non-DistributedValues value {value} cannot be reduced with the given reduce "
                f"op {op}."
            )
        return self._cross_device_ops.reduce(op, value, wanted)

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Iterable[Any]) -> list[Any]:
        """The sums or means of several values, each where it is wanted."""
        return [self.reduce_to(reduce_op, *pair) for pair in value_destination_pairs]

    def _destinations(self, destinations: Any) -> tuple[str, ...]:
        if isinstance(destinations, str) and destinations:
            return (resolved(destinations),)
        found = getattr(destinations, "devices", None)
        return tuple(found) if found else self._devices

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """The tensor on devices; numbers stay as they are, whose type is the variable's."""
        if isinstance(tensor, (int, float)):
            return tensor
        return self._cross_device_ops.broadcast(tensor, self._destinations(destinations))

    # Updates

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """What a function of each replica's variable gives, on its device."""
        if not isinstance(var, DistributedVariable):
            raise ValueError(f"{var!r} was not created in the scope of this strategy")
        return self._updated(list(var.values), fn, args, kwargs, group)

    def update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """What a function gives on each device."""
        return self._updated([None] * len(self._devices), fn, args, kwargs, group)

    def _updated(
        self, firsts: list[Any], fn: Callable[..., Any], args: Any, kwargs: Any, group: bool
    ) -> Any:
        updates = []
        for i, (device, first) in enumerate(zip(self._devices, firsts)):
            own = () if first is None else (first,)
            given, named = for_device(device, (tuple(args), dict(kwargs or {})))
            with tf.device(device), UpdateContext(device), tf.name_scope(f"update_{i}"):
                updates.append(fn(*own, *given, **named))
        if not group:
            found = regroup(self._devices, updates, Mirrored)
            return nest.map_structure(self.local_results, found)
        return regroup(self._devices, updates, self._grouped)

    def _grouped(self, devices: Sequence[str], values: Sequence[Any]) -> Any:
        """One for all updates: whoever runs it runs all of them."""
        done = tf.group(*values)
        if not all(isinstance(v, Tensor) or hasattr(v, "_parent_op") for v in values):
            return done
        copies = []
        for device, value in zip(devices, values):
            with tf.device(device), tf.control_dependencies([done]):
                copies.append(tf.identity(value))
        return Mirrored(devices, copies)

    # Devices

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """Where the replicas are."""
        return self._devices

    @property
    def worker_devices_by_replica(self) -> tuple[tuple[str, ...], ...]:
        """Where each replica is."""
        return tuple((device,) for device in self._devices)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """Where variables are: everywhere."""
        return self._devices

    def non_slot_devices(self, var_list: object) -> tuple[str, ...]:
        """Where variables that belong to no other one are: everywhere."""
        return self._devices

    # Input

    def input_context(self) -> InputContext:
        """One part of input, for all replicas."""
        return InputContext(num_replicas_in_sync=self.count)

    def dataset_iterator(self, dataset: DatasetV2) -> ReplicaIterator:
        """An iterator of a dataset, of whose batches each replica gets a part."""
        return ReplicaIterator(self._devices, in_parts(dataset, self.count))

    def function_iterator(self, input_fn: Callable[[InputContext], Any]) -> ReplicaIterator:
        """An iterator of what a function gives, of which each replica gets an element."""
        return ReplicaIterator(self._devices, input_of(input_fn, self.input_context()))

    def distributed_dataset(self, dataset: DatasetV2) -> DistributedDataset:
        """A dataset of whose batches each replica gets a part."""
        return DistributedDataset(self._devices, in_parts(dataset, self.count))

    def dataset_of(self, dataset_fn: Callable[[InputContext], Any]) -> DistributedDataset:
        """A dataset that a function gives, of which each replica gets an element."""
        return DistributedDataset(self._devices, dataset_fn(self.input_context()))

    def output_of_steps(self, outputs: Any) -> tuple[Any, ...]:
        """What a loop carries of a step's output: the values of the replicas."""
        return self.local_results(outputs)

    def updated_config(self, config: Any) -> Any:
        """A ConfigProto whose sessions have state of their own, and a device for each replica."""
        config.isolate_session_state = True
        return config


def _value_of(primary: Any, device: str) -> Callable[[], Tensor]:
    """What makes a replica's initial value: the first one's."""

    def value() -> Tensor:
        with tf.device(device):
            copy: Tensor = tf.identity(primary.initial_value)
            return copy

    return value
