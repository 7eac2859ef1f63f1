# SPDX-License-Identifier: Apache-2.0
"""`tf.distribute` on one machine: strategies of one replica.

Programs for strategies run as they are: a scope makes resource variables, functions of replicas are
called once, and what would be added up over replicas stays as it is.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.types import dtypes, nest
from ...ops.data.dataset import DatasetV2
from ...ops.data.dataset_v1 import DatasetV1
from ...ops.public import tf
from . import strategy_context as modes
from .strategy_context import ReduceOp
from .strategy_input import InputContext, InputIterator, MultiStepContext
from .strategy_input import input_of as _input_of
from .strategy_scope import StrategyScope

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor


@export("distribute.ReplicaContext", "contrib.distribute.ReplicaContext")
class ReplicaContext:
    """The replica that code belongs to.

    Args:
        strategy: the strategy.
        replica_id_in_sync_group: the replica's number.
    """

    # Which of this process's replicas it is.
    index = 0

    def __init__(self, strategy: Strategy, replica_id_in_sync_group: object) -> None:
        self._strategy, self._number = strategy, replica_id_in_sync_group

    def __enter__(self) -> None:
        modes.enter(modes.Mode(self._strategy, self))

    def __exit__(self, *unused: object) -> None:
        modes.leave()

    def merge_call(
        self,
        merge_fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """What a function gives outside of replicas, called with the strategy first."""
        modes.require_replica_context(self)
        return modes.called_by_strategy(self._strategy, merge_fn, args, kwargs or {})

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """The replica's number."""
        modes.require_replica_context(self)
        return self._number

    @property
    def strategy(self) -> Strategy:
        """The strategy."""
        return self._strategy

    @property
    def devices(self) -> tuple[str, ...]:
        """The replica's devices."""
        modes.require_replica_context(self)
        return self._strategy.extended.worker_devices

    def all_reduce(self, reduce_op: ReduceOp, value: object) -> Any:
        """The sum or mean over replicas: the value."""
        modes.reduce_op_of(reduce_op)
        return nest.map_structure(tf.identity, value)


@export("contrib.distribute.UpdateContext")
class UpdateContext:
    """Within it, variables are updated on a device."""

    current: str | None = None

    def __init__(self, device: str) -> None:
        self._device = device

    def __enter__(self) -> None:
        self._before, UpdateContext.current = UpdateContext.current, self._device

    def __exit__(self, *unused: object) -> None:
        UpdateContext.current = self._before


@export("distribute.StrategyExtended")
class StrategyExtended:
    """What libraries ask of a strategy, of one device.

    Args:
        container_strategy: the strategy.
    """

    experimental_require_static_shapes = False
    experimental_should_init = True
    experimental_between_graph = False
    should_checkpoint = True
    should_save_summary = True
    # Whether there are other workers, and sessions are on servers.
    is_spread = False
    # Whether this process has several replicas.
    is_mirrored = False
    # How many replicas there are.
    count = 1
    # Where operations within the scope are put, if that is said.
    _default_device: str | None = None
    # Whether optimizers divide losses by the number of replicas.
    scales_loss = False

    def __init__(self, container_strategy: Strategy) -> None:
        self._strategy, self._device = container_strategy, "/device:CPU:0"

    @classmethod
    def on(cls, strategy: Strategy, device: str) -> StrategyExtended:
        """That of a strategy whose variables and operations are on a device."""
        made = cls(strategy)
        made._device = device
        return made

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Within it the strategy holds, and variables are resource variables."""
        if modes.has_strategy():
            if modes.get_strategy() is not self._strategy:
                raise RuntimeError(
                    f"Mixing different tf.distribute.Strategy objects: {modes.get_strategy()} is "
                    f"not {self._strategy}"
                )
            if not modes.in_cross_replica_context():
                raise RuntimeError(
                    "Method requires being in cross-replica context, use "
                    "get_replica_context().merge_call()"
                )
            yield self._strategy
            return

        def creator(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            return next_creator(**{**kwargs, "use_resource": True})

        modes.enter(modes.Mode(self._strategy, None))
        try:
            with tf.variable_creator_scope(creator):
                yield self._strategy
        finally:
            modes.leave()

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """What a function gives in the replica."""
        with ReplicaContext(self._strategy, tf.constant(0, dtypes.int32)):
            return fn(*args, **(kwargs or {}))

    def reduce_to(self, reduce_op: ReduceOp, value: object, destinations: object) -> Any:
        """The sum or mean over replicas: the value."""
        modes.reduce_op_of(reduce_op)
        return value

    def batch_reduce_to(
        self, reduce_op: ReduceOp, value_destination_pairs: Iterable[Any]
    ) -> list[Any]:
        """The sums or means over replicas: the values."""
        return [self.reduce_to(reduce_op, *pair) for pair in value_destination_pairs]

    def update(
        self,
        var: object,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """What a function of a variable gives."""
        return self.update_non_slot(var, fn, (var, *args), kwargs, group)

    def update_non_slot(
        self,
        colocate_with: object,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """What a function of variables beside others gives."""
        with UpdateContext(self._device):
            result = fn(*args, **(kwargs or {}))
        return result if group else nest.map_structure(lambda value: (value,), result)

    def gradients(self, pairs: Sequence[tuple[Any, Any]]) -> Sequence[tuple[Any, Any]]:
        """What an optimizer applies for gradients with variables."""
        return pairs

    def local_results(self, value: object) -> tuple[Any, ...]:
        """The values of this process's replicas: one."""
        return (value,)

    @property
    def _global_batch_size(self) -> bool:
        """Whether batches are those of all replicas together."""
        return True

    def input_context(self) -> InputContext:
        """Which part of the input is this worker's: all of it."""
        return InputContext()

    def dataset_iterator(self, dataset: DatasetV2) -> Any:
        """An iterator of a dataset."""
        return InputIterator(dataset)

    _make_dataset_iterator = dataset_iterator

    def function_iterator(self, input_fn: Callable[[InputContext], Any]) -> Any:
        """An iterator of what a function of an InputContext gives."""
        return InputIterator(_input_of(input_fn))

    def distributed_dataset(self, dataset: DatasetV2) -> Any:
        """The dataset: one replica takes all of it."""
        return dataset

    def dataset_of(self, dataset_fn: Callable[[InputContext], Any]) -> Any:
        """The dataset that a function of an InputContext gives."""
        return dataset_fn(self.input_context())

    def updated_config(self, config: Any) -> Any:
        """A ConfigProto as sessions of the strategy need it, which is changed."""
        return config

    def broadcast_to(self, tensor: object, destinations: object) -> Any:
        """The tensor on devices, of which there is one."""
        return tensor

    def read_var(self, v: Any) -> Tensor:
        """A variable's value."""
        return tf.identity(v)

    def value_container(self, value: object) -> Any:
        """The variable that a replica's variable is part of: itself."""
        return value

    def colocate_vars_with(self, colocate_with_variable: object) -> Any:
        """A scope in which variables are where another is."""
        return tf.colocate_with(colocate_with_variable)

    def variable_created_in_scope(self, v: object) -> bool:
        """Whether a variable may be used with this strategy: all may."""
        return True

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

    def non_slot_devices(self, var_list: object) -> tuple[str, ...]:
        """The device."""
        return (self._device,)

    def experimental_make_numpy_dataset(
        self, numpy_input: object, session: object = None
    ) -> DatasetV2:
        """A dataset of arrays."""
        made: DatasetV2 = DatasetV1.from_tensor_slices(numpy_input)
        return made

    def experimental_run_steps_on_iterator(
        self,
        fn: Callable[..., Any],
        iterator: Any,
        iterations: int = 1,
        initial_loop_values: Any = None,
    ) -> MultiStepContext:
        """A loop of steps, each with the next element.

        Args:
            fn: a function of a MultiStepContext and an element, which gives an op.
            iterator: gives the elements.
            iterations: how many steps.
            initial_loop_values: what the outputs are before the first step.

        Returns:
            The MultiStepContext, with `run_op` and the last step's outputs.
        """
        context = MultiStepContext()
        given = nest.flatten(initial_loop_values or {})

        def body(i: Any, *unused: Any) -> list[Any]:
            result = fn(context, iterator.get_next())
            outputs = nest.flatten(context.carried(self))
            with tf.control_dependencies([result]):
                return [i + 1, *map(tf.identity, outputs)]

        found = tf.while_loop(
            lambda i, *unused: i < iterations,
            body,
            [tf.constant(0), *given],
            parallel_iterations=1,
            back_prop=False,
            return_same_structure=True,
            name="",
        )
        context.run_op = tf.group(*found)
        context.take_outputs(self, found[1:])
        return context


@export("distribute.Strategy", "contrib.distribute.DistributionStrategy")
class Strategy:
    """How a program is spread; here it is one replica.

    Args:
        extended: what libraries ask of it.
    """

    def __init__(self, extended: StrategyExtended) -> None:
        self._extended = extended

    @property
    def extended(self) -> StrategyExtended:
        """What libraries ask of it."""
        return self._extended

    def scope(self) -> Any:
        """Within it the strategy holds, and variables are resource variables.

        It may be entered again, also within itself.
        """
        return StrategyScope(self._extended)

    def make_dataset_iterator(self, dataset: DatasetV2) -> Any:
        """An iterator of a dataset, with `initialize` and `get_next`."""
        return self._extended.dataset_iterator(dataset)

    def make_input_fn_iterator(
        self, input_fn: Callable[[InputContext], Any], replication_mode: object = None
    ) -> Any:
        """An iterator of what a function of an InputContext gives: a dataset, or a function."""
        with self.scope():
            return self._extended.function_iterator(input_fn)

    def experimental_make_numpy_dataset(
        self, numpy_input: object, session: object = None
    ) -> DatasetV2:
        """A dataset of arrays."""
        return self._extended.experimental_make_numpy_dataset(numpy_input, session)

    def experimental_distribute_dataset(self, dataset: DatasetV2) -> Any:
        """The dataset, of whose batches each replica takes a part."""
        return self._extended.distributed_dataset(dataset)

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any]
    ) -> Any:
        """The dataset that a function of an InputContext gives."""
        return self._extended.dataset_of(dataset_fn)

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """What a function gives in the replica.

        Args:
            fn: the function.
            args, kwargs: its arguments.

        Returns:
            What it gives.

        Example:
            >>> strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
            >>> with strategy.scope():
            ...     total = strategy.experimental_run_v2(lambda x: x + 1, args=(2,))
            >>> strategy.experimental_local_results(total)
            (3,)
        """
        with self.scope():
            return self._extended.call_for_each_replica(fn, args, kwargs)

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """What a function of the next element gives in the replica."""
        args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.experimental_run_v2(fn, args)

    def reduce(self, reduce_op: ReduceOp | str, value: object, axis: int | None = None) -> Any:
        """The sum or mean over replicas, and over an axis.

        Args:
            reduce_op: a ReduceOp, or its name.
            value: what the replica gave.
            axis: None for none.

        Returns:
            The value, reduced over the axis.
        """
        modes.require_outside_of_replicas(self)
        reduce_op = modes.reduce_op_of(reduce_op)
        if self._extended.is_mirrored:
            return reduced_over_replicas(self, reduce_op, value, axis)
        if axis is None:
            return value
        function = tf.reduce_sum if reduce_op == ReduceOp.SUM else tf.reduce_mean
        return nest.map_structure(lambda v: function(v, axis=axis), value)

    def experimental_local_results(self, value: object) -> tuple[Any, ...]:
        """The values of this process's replicas."""
        return self._extended.local_results(value)

    def unwrap(self, value: object) -> tuple[Any, ...]:
        """The values of this process's replicas."""
        return self.experimental_local_results(value)

    def group(self, value: object, name: str | None = None) -> Operation:
        """An op that runs what replicas gave."""
        return tf.group(*self._extended.local_results(value), name=name)

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._extended.count

    def configure(
        self,
        session_config: object = None,
        cluster_spec: object = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Sets what sessions need in a ConfigProto; there are no workers."""
        if session_config is not None:
            self._extended.updated_config(session_config)

    def update_config_proto(self, config_proto: object) -> Any:
        """A copy of a ConfigProto."""
        return self._extended.updated_config(copy.deepcopy(config_proto))

    def __deepcopy__(self, memo: object) -> Strategy:
        # Settings that hold a strategy are copied; it is the same strategy.
        return self

    def __copy__(self) -> Strategy:
        raise RuntimeError("Must only deepcopy DistributionStrategy.")


def reduced_over_replicas(
    strategy: Strategy, reduce_op: ReduceOp, value: Any, axis: int | None
) -> Any:
    """The sum or mean over the replicas of a process, and over an axis of their values."""
    extended = strategy.extended

    def total(op: ReduceOp, structure: Any) -> Any:
        def one(leaf: Any) -> Any:
            return extended.local_results(extended.reduce_to(op, leaf, "/device:CPU:0"))[0]

        return nest.map_structure(one, structure)

    if axis is None:
        return total(reduce_op, value)
    sums = strategy.experimental_run_v2(
        lambda v: nest.map_structure(lambda x: tf.reduce_sum(x, axis=axis), v), (value,)
    )
    sums = total(ReduceOp.SUM, sums)
    if reduce_op == ReduceOp.SUM:
        return sums
    # Parts of replicas need not be as large as each other: so all are counted.
    counts = strategy.experimental_run_v2(
        lambda v: nest.map_structure(lambda x: tf.shape(x)[axis], v), (value,)
    )
    counts = total(ReduceOp.SUM, counts)
    return nest.map_structure(lambda s, n: s / tf.cast(n, s.dtype), sums, counts)


class _DefaultExtended(StrategyExtended):
    """What libraries ask of the strategy outside of all scopes."""

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Changes nothing; other strategies make no variables within it.

        Raises:
            RuntimeError: within another strategy's scope.
        """
        if modes.has_strategy():
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")

        def creator(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            modes.require_strategy(self._strategy)
            return next_creator(**kwargs)

        with tf.variable_creator_scope(creator):
            yield self._strategy


class DefaultStrategy(Strategy):
    """The strategy outside of all scopes, which changes nothing."""

    def __init__(self) -> None:
        super().__init__(_DefaultExtended.on(self, ""))

    def experimental_run_v2(
        self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """What a function gives."""
        return self._extended.call_for_each_replica(fn, args, kwargs)
