# SPDX-License-Identifier: Apache-2.0
"""Strategies of several workers with the same variables: collectives add up their gradients.

Every worker runs the same program on a server of its own (TF_CONFIG says which of them it is), and
makes the same graph, by whose order the collectives of workers belong together.
"""

from __future__ import annotations

import copy
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...engine.api import export
from ...engine.graph.tensor import IndexedSlices, SparseTensor, Tensor
from ...engine.types import dtypes, nest
from ...io import protos
from ...ops.data.dataset import DatasetV2
from ...ops.public import raw, tf
from .cluster import ClusterSpec
from .cluster_resolver import TFConfigClusterResolver
from .cross_device_ops import CollectiveCommunication
from .server import serving
from .strategy import ReplicaContext, Strategy, StrategyExtended
from .strategy_context import ReduceOp, has_strategy
from .strategy_input import InputContext, InputIterator

_GROUP = 1
# What collectives carry; variables of other types begin as each worker makes them.
_CARRIED = (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
_JOBS = ("chief", "master", "worker")
_instances: weakref.WeakKeyDictionary[Any, Iterator[int]] = weakref.WeakKeyDictionary()
# Where TensorFlow begins to number reductions, and broadcasts of variables.
_FIRST, _FIRST_VARIABLE = 100, 1_000_000


class _OfThread(threading.local):
    """The numbers of reductions along a ring: one after the other in all graphs of a thread."""

    def __init__(self) -> None:
        self.instances = itertools.count(_FIRST)


_of_thread = _OfThread()


def _instance() -> int:
    """The number of the next collective of this graph."""
    return next(_instances.setdefault(tf.get_default_graph(), itertools.count(_FIRST)))


class CollectiveExtended(StrategyExtended):
    """What libraries ask of a strategy of several workers.

    Args:
        container_strategy: the strategy.
        cluster: a ClusterSpec; that of TF_CONFIG by default.
        task_type, task_id: which task this is.
        hint: how collectives are to talk.
    """

    experimental_between_graph = True

    def __init__(
        self, container_strategy: Strategy, cluster: Any, task_type: str, task_id: int, hint: str
    ) -> None:
        super().__init__(container_strategy)
        tasks = ClusterSpec(cluster).as_dict() if cluster else {}
        members = [(job, i) for job in _JOBS for i in range(len(tasks.get(job, ())))]
        # (An evaluator is a worker of its own, beside the others.)
        self.is_member = (task_type, task_id) in members
        self.count = len(members) if self.is_member else 1
        self.index = members.index((task_type, task_id)) if self.is_member else 0
        self.scales_loss = False
        self._hint = hint
        # Workers of TensorFlow may be among them: each value crosses by itself, as theirs do.
        self._is_ring = hint == CollectiveCommunication.RING.value.lower()
        self._variable_instances = itertools.count(_FIRST_VARIABLE)
        is_first = self.index == 0
        self.should_checkpoint = self.should_save_summary = is_first
        self._cluster, self._task = tasks, (task_type, task_id)
        self.is_spread = self.count > 1
        if self.is_spread:
            self._device = f"/job:{task_type}/task:{task_id}"

    def target(self) -> str:
        """The target of sessions: this worker's server, which begins if there is none."""
        return serving(self._cluster, *self._task).target

    def configured(self, config: Any) -> Any:
        """A ConfigProto, or none, for sessions on this worker's server: they need no other task."""
        made = self.updated_config(
            copy.deepcopy(config) if config is not None else protos.ConfigProto()
        )
        if self.count > 1:
            del made.device_filters[:]
            made.device_filters.append(self._device)
        return made

    # Variables

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Within it variables begin with the values of the first worker."""
        # (Steps are called in a scope of their own, within which variables begin but once.)
        is_within = has_strategy()
        with super().scope() as strategy:
            if self.count == 1 or is_within:
                yield strategy
                return
            with tf.variable_creator_scope(self._create):
                yield strategy

    def _create(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        own = getattr(variable, "_initial_value", None)
        if isinstance(own, Tensor) and own.dtype.base_dtype in _CARRIED:
            # (The initial value itself stays this worker's: what reads it instead of a variable
            # that is not initialized does not wait for others.)
            with tf.init_scope(), tf.name_scope(f"{variable.op.name}/Mirrored/"):
                given = self.broadcast(own)
                variable._initializer_op = variable.assign(given, read_value=False)
        return variable

    def broadcast(self, value: Tensor) -> Tensor:
        """The first worker's tensor, for all."""
        if self.count == 1 or value.dtype.base_dtype not in _CARRIED:
            return value
        if not value.shape.is_fully_defined():
            raise ValueError(f"The first worker's {value.name} has no known shape: {value.shape}")
        about: dict[str, Any] = {
            "group_size": self.count,
            "group_key": _GROUP,
            "instance_key": next(self._variable_instances) if self._is_ring else _instance(),
            "shape": value.shape,
            "communication_hint": self._hint,
        }
        if self.index == 0:
            return raw.CollectiveBcastSend(input=value, **about)
        return raw.CollectiveBcastRecv(T=value.dtype.base_dtype, **about)

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """What a function gives in this worker's replica."""
        with _CollectiveReplica(self._strategy, self.index):
            return fn(*args, **(kwargs or {}))

    # Reductions

    def reduced(self, value: Tensor, reduce_op: ReduceOp) -> Tensor:
        """The sum or mean of the workers' tensors."""
        kind = value.dtype.base_dtype
        if kind not in _CARRIED:
            carried = tf.cast(value, dtypes.float32 if kind.is_floating else dtypes.int32)
            return tf.cast(self.reduced(carried, reduce_op), kind)
        is_mean = reduce_op == ReduceOp.MEAN
        total = raw.CollectiveReduce(
            input=value,
            **self._about(),
            merge_op="Add",
            final_op="Div" if is_mean and not self._is_ring else "Id",
            subdiv_offsets=[0],
        )
        return self._mean(total) if is_mean and self._is_ring else total

    def _about(self) -> dict[str, Any]:
        return {
            "group_size": self.count,
            "group_key": _GROUP,
            "instance_key": next(_of_thread.instances) if self._is_ring else _instance(),
            "communication_hint": self._hint,
        }

    def _mean(self, total: Tensor) -> Tensor:
        """What a sum over workers is divided by their number, as TensorFlow's divide it."""
        mean: Tensor = tf.cast(total / tf.cast(self.count, total.dtype), total.dtype)
        return mean

    def _rows(self, value: Any, reduce_op: ReduceOp) -> IndexedSlices:
        """The rows of all workers' IndexedSlices."""
        values = raw.CollectiveGather(input=value.values, shape=[0], **self._about())
        indices = raw.CollectiveGather(input=value.indices, shape=[0], **self._about())
        if reduce_op == ReduceOp.MEAN:
            values = self._mean(values)
        return IndexedSlices(values, indices, value.dense_shape)

    def _each(self, values: Sequence[Any], reduce_op: ReduceOp) -> list[Any]:
        """The sums or means of several values, dense ones first, as TensorFlow has them."""
        found: dict[int, Any] = {}
        are_rows = [isinstance(value, IndexedSlices) for value in values]
        for i in sorted(range(len(values)), key=are_rows.__getitem__):
            if are_rows[i]:
                found[i] = self._rows(values[i], reduce_op)
            else:
                found[i] = self.reduced(_dense(values[i]), reduce_op)
        return [found[i] for i in range(len(values))]

    def reduce_to(self, reduce_op: ReduceOp, value: object, destinations: object) -> Any:
        """The sum or mean over workers.

        Args:
            reduce_op: a ReduceOp.
            value: tensors, IndexedSlices or numbers, or a structure of them.
            destinations: where it is wanted; it is everywhere.

        Returns:
            Tensors, in the structure of `value`.
        """
        if self.count == 1:
            return value
        return nest.map_structure(lambda one: self._reduced_alone(one, reduce_op), value)

    def _reduced_alone(self, value: Any, reduce_op: ReduceOp) -> Any:
        if self._is_ring:
            return self._each([value], reduce_op)[0]
        return self.reduced(_dense(value), reduce_op)

    def batch_reduce_to(
        self, reduce_op: ReduceOp, value_destination_pairs: Iterable[Any]
    ) -> list[Any]:
        """The sums or means of several values: those of one type cross together."""
        values = [value for value, _ in value_destination_pairs]
        if self.count == 1:
            return values
        if self._is_ring:
            return self._each(values, reduce_op)
        tensors = [_dense(value) for value in values]
        found: list[Any] = [None] * len(tensors)
        kinds = dict.fromkeys(t.dtype.base_dtype for t in tensors)
        for kind in kinds:
            places = [i for i, t in enumerate(tensors) if t.dtype.base_dtype == kind]
            for i, result in zip(places, self._together([tensors[i] for i in places], reduce_op)):
                found[i] = result
        return found

    def _together(self, tensors: list[Tensor], reduce_op: ReduceOp) -> list[Tensor]:
        if len(tensors) == 1:
            return [self.reduced(tensors[0], reduce_op)]
        flat = [tf.reshape(tensor, [-1]) for tensor in tensors]
        total = self.reduced(tf.concat(flat, 0), reduce_op)
        sizes = [tensor.shape.num_elements() for tensor in tensors]
        counts = sizes if None not in sizes else tf.stack([tf.size(tensor) for tensor in tensors])
        parts = tf.split(total, counts, num=len(tensors))
        return [
            tf.reshape(part, t.shape if t.shape.is_fully_defined() else tf.shape(t))
            for part, t in zip(parts, tensors)
        ]

    def gradients(self, pairs: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """What an optimizer applies: the sums of the workers' gradients, with the variables."""
        given = [(g, v) for g, v in pairs if g is not None]
        sums = iter(self.batch_reduce_to(ReduceOp.SUM, given))
        return [(g if g is None else next(sums), v) for g, v in pairs]

    # Input

    def input_context(self) -> InputContext:
        """Which part of the input is this worker's."""
        return InputContext(self.count, self.index, self.count)

    def share(self, dataset: DatasetV2) -> DatasetV2:
        """This worker's part of each batch of a dataset."""
        if self.count == 1:
            return dataset
        count, index = self.count, self.index

        def part(x: Any) -> Any:
            if isinstance(x, SparseTensor):
                raise ValueError("Batches of sparse tensors are not distributed over workers.")
            size = (tf.shape(x)[0] + count - 1) // count
            return x[index * size : (index + 1) * size]

        def parts(*element: Any) -> Any:
            found = nest.map_structure(part, element)
            return found[0] if len(found) == 1 else found

        shared: DatasetV2 = dataset.map(parts)
        return shared


def _dense(value: Any) -> Tensor:
    made: Tensor = tf.convert_to_tensor(value)
    return made


class _CollectiveReplica(ReplicaContext):
    """One of several workers."""

    def all_reduce(self, reduce_op: ReduceOp, value: object) -> Any:
        """The sum or mean over workers, which has the gradient of a sum or mean."""
        extended: Any = self._strategy.extended
        op = reduce_op if isinstance(reduce_op, ReduceOp) else ReduceOp(str(reduce_op).upper())

        @tf.custom_gradient
        def reduced(x: Tensor) -> Any:
            return extended.reduced(x, op), lambda grad: extended.reduced(grad, op)

        if extended.count == 1:
            return nest.map_structure(tf.identity, value)
        return nest.map_structure(lambda one: reduced(_dense(one)), value)


@export("distribute.experimental.MultiWorkerMirroredStrategy")
class MultiWorkerMirroredStrategy(Strategy):
    """Workers that keep the same variables, and add up their gradients in each step.

    Every worker runs the program; TF_CONFIG names them all, and which one it is.  Variables begin
    with the first worker's values.  Optimizers apply the sums of the workers' gradients; losses of
    Estimators are divided by the number of workers before.  `tf.train.MonitoredTrainingSession` and
    Estimators begin a server; other sessions are to be on one (`tf.train.Server`).

    Args:
        communication: how workers talk.  AUTO: gradients cross together, as quickly as they can.
            RING: each crosses by itself and as TensorFlow 1.15 numbers it, so that its workers may
            be among these.

    Raises:
        ValueError: `communication` is something else.

    As `collective_all_reduce_strategy` of TensorFlow 1.15.

    Example:
        >>> strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
        >>> strategy.num_replicas_in_sync
        1
    """

    def __init__(
        self, communication: CollectiveCommunication = CollectiveCommunication.AUTO
    ) -> None:
        if not isinstance(communication, CollectiveCommunication):
            raise ValueError(
                "`communication` must be a tf.distribute.experimental.CollectiveCommunication, "
                f"but is {communication!r}"
            )
        resolver = TFConfigClusterResolver()
        self._extended: Any
        task = str(resolver.task_type or "worker"), int(resolver.task_id or 0)
        hint = communication.value.lower()
        super().__init__(CollectiveExtended(self, resolver.cluster_spec(), *task, hint))

    @property
    def num_replicas_in_sync(self) -> int:
        """How many workers there are."""
        return int(self._extended.count)

    def reduce(self, reduce_op: ReduceOp | str, value: object, axis: int | None = None) -> Any:
        """The sum or mean over workers, and over an axis.

        Args:
            reduce_op: a ReduceOp, or its name.
            value: what the replica gave.
            axis: None for none.

        Returns:
            The reduced value.
        """
        op = reduce_op if isinstance(reduce_op, ReduceOp) else ReduceOp(str(reduce_op).upper())
        return self._extended.reduce_to(op, super().reduce(op, value, axis), None)

    def make_dataset_iterator(self, dataset: DatasetV2) -> InputIterator:
        """An iterator of this worker's part of each batch."""
        return InputIterator(self._extended.share(dataset))

    def experimental_distribute_dataset(self, dataset: DatasetV2) -> DatasetV2:
        """This worker's part of each batch of a dataset, whose batches are all workers'."""
        found: DatasetV2 = self._extended.share(dataset)
        return found

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any]
    ) -> Any:
        """The dataset that a function of an InputContext gives for this worker."""
        return dataset_fn(self._extended.input_context())

    def make_input_fn_iterator(
        self, input_fn: Callable[[InputContext], Any], replication_mode: object = None
    ) -> InputIterator:
        """An iterator of what a function of an InputContext gives for this worker."""
        context = self._extended.input_context()
        return InputIterator(input_fn(context))

    def update_config_proto(self, config_proto: object) -> Any:
        """A ConfigProto for sessions on this worker's server: they need no other task."""
        return self._extended.configured(config_proto)


@export("contrib.distribute.CollectiveAllReduceStrategy")
class CollectiveAllReduceStrategy(MultiWorkerMirroredStrategy):
    """MultiWorkerMirroredStrategy under its older name.

    Args:
        num_gpus_per_worker: 0: this machine's processor computes.
        communication: how workers talk.

    Raises:
        NotImplementedError: there are GPUs.
    """

    def __init__(
        self,
        num_gpus_per_worker: int = 0,
        communication: CollectiveCommunication = CollectiveCommunication.AUTO,
    ) -> None:
        if num_gpus_per_worker > 1:
            raise NotImplementedError(
                f"{num_gpus_per_worker} GPUs per worker: each worker is one replica"
            )
        super().__init__(communication)

    @classmethod
    def _from_local_devices(cls, devices: Sequence[str]) -> Strategy:
        """A strategy whose replicas are on devices of this machine, in one graph."""
        return _OfLocalDevices(devices)


class _OfLocalDevices(CollectiveAllReduceStrategy):
    """Replicas of one process, on a device each."""

    def __init__(self, devices: Sequence[str]) -> None:
        from .mirrored_strategy import MirroredExtended, devices_of

        Strategy.__init__(self, MirroredExtended(self, devices_of(devices)))

    reduce = Strategy.reduce
    make_dataset_iterator = Strategy.make_dataset_iterator
    make_input_fn_iterator = Strategy.make_input_fn_iterator
    experimental_distribute_dataset = Strategy.experimental_distribute_dataset
    experimental_distribute_datasets_from_function = (
        Strategy.experimental_distribute_datasets_from_function
    )
    update_config_proto = Strategy.update_config_proto
