# SPDX-License-Identifier: Apache-2.0
"""Strategies that keep variables apart from what computes: on parameter servers, or on one device.

Every worker runs the program on its own server and is one replica; updates of several workers reach
the variables as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...engine.api import export
from ...engine.types import dtypes
from ...ops.data.dataset import DatasetV2
from ...ops.public import tf
from .cluster import ClusterSpec
from .cluster_resolver import ClusterResolver, TFConfigClusterResolver
from .device_map import resolved
from .device_setter import replica_device_setter
from .device_strategies import one_device
from .strategy import ReplicaContext, Strategy, StrategyExtended
from .strategy_input import InputContext, InputIterator, input_of

_LOCAL = "/device:CPU:0"
_CHIEFS = ("chief", "master")


class ParameterServerExtended(StrategyExtended):
    """What libraries ask of a strategy whose variables are elsewhere.

    Args:
        container_strategy: the strategy.
        compute_device, parameter_device: of this machine, where there is no cluster.
    """

    experimental_between_graph = True

    def __init__(
        self,
        container_strategy: Strategy,
        compute_device: str = _LOCAL,
        parameter_device: str | None = None,
    ) -> None:
        super().__init__(container_strategy)
        self._device, self._compute_device = compute_device, resolved(compute_device)
        self._variable_device: Any = parameter_device or compute_device
        self._parameters: tuple[str, ...] = (self._variable_device,)
        self._input = InputContext()
        self._cluster_spec: ClusterSpec | None = None
        # Which tasks sessions may use; None: there is no cluster.
        self._filters: list[str] | None = None

    def join(self, cluster: Any, task_type: str | None, task_id: int | None) -> None:
        """Becomes a task of a cluster.

        Raises:
            ValueError: the task is not said, or there are no parameter servers.
        """
        if not task_type or task_id is None:
            raise ValueError(
                "When `cluster_spec` is given, you must also specify `task_type` and `task_id`"
            )
        tasks = ClusterSpec(cluster).as_dict()
        servers = len(tasks.get("ps", ()))
        if not servers:
            raise ValueError("The cluster spec needs to have `ps` jobs.")
        self._cluster_spec = ClusterSpec(cluster)
        self._device = f"/job:{task_type}/task:{task_id}"
        own = tf.DeviceSpec.from_string(self._compute_device)
        self._compute_device = str(own.replace(job=task_type, task=task_id).to_string())
        self._variable_device = replica_device_setter(
            ps_tasks=servers, worker_device=self._device, cluster=tasks
        )
        self._parameters = tuple(f"/job:ps/task:{i}" for i in range(servers))
        is_evaluator = task_type == "evaluator"
        has_chief = any(job in tasks for job in _CHIEFS)
        is_chief = task_type in _CHIEFS or (not has_chief and (task_type, task_id) == ("worker", 0))
        self.experimental_should_init = is_chief or is_evaluator
        self.should_checkpoint = self.should_save_summary = is_chief or is_evaluator
        self._filters = [self._device] if is_evaluator else [self._device, "/job:ps"]
        members = [(job, i) for job in (*_CHIEFS, "worker") for i in range(len(tasks.get(job, ())))]
        if (task_type, task_id) in members:
            self._input = InputContext(len(members), members.index((task_type, task_id)))

    @contextmanager
    def scope(self) -> Iterator[Strategy]:
        """Within it variables are where they are kept, and all else is this worker's."""
        with super().scope() as strategy, tf.device(self._device):
            with tf.variable_creator_scope(self._create):
                yield strategy

    def _create(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        # What optimizers keep beside a variable is where that is.
        if tf.get_default_graph()._colocation_stack.entries:
            return next_creator(**kwargs)
        # (Wherever the operations around it are.)
        with tf.device(None), tf.device(self._variable_device):
            return next_creator(**kwargs)

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """What a function gives in this worker's replica."""
        with (
            ReplicaContext(self._strategy, tf.constant(0, dtypes.int32)),
            tf.device(self._compute_device),
        ):
            return fn(*args, **(kwargs or {}))

    def update(
        self,
        var: object,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """What a function of a variable gives, where the variable is."""
        with tf.colocate_with(var):
            return self.update_non_slot(var, fn, (var, *args), kwargs, group)

    def input_context(self) -> InputContext:
        """Which part of the input is this worker's."""
        return self._input

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """Where variables are."""
        return self._parameters

    def configured(self, config: Any) -> Any:
        """Sets what sessions of this task may use in a ConfigProto."""
        config.isolate_session_state = self._filters is None
        if self._filters is not None:
            del config.device_filters[:]
            config.device_filters.extend(self._filters)
        return config


class _Strategy(Strategy):
    """What strategies with a ParameterServerExtended have in common."""

    _extended: ParameterServerExtended

    def make_input_fn_iterator(
        self, input_fn: Callable[[InputContext], Any], replication_mode: object = None
    ) -> InputIterator:
        """An iterator of what a function of an InputContext gives for this worker."""
        return InputIterator(input_of(input_fn, self._extended.input_context()))

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], DatasetV2]
    ) -> DatasetV2:
        """The dataset that a function of an InputContext gives for this worker."""
        return dataset_fn(self._extended.input_context())

    def configure(
        self,
        session_config: object = None,
        cluster_spec: object = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Makes this a task of a cluster, and sets what its sessions may use.

        Args:
            session_config: a ConfigProto, which is changed.
            cluster_spec: a ClusterSpec or what makes one.
            task_type, task_id: which task this is.

        Raises:
            ValueError: the task is not said, or there are no parameter servers.
        """
        if cluster_spec:
            self._extended.join(cluster_spec, task_type, task_id)
        if session_config is not None:
            self._extended.configured(session_config)

    def update_config_proto(self, config_proto: object) -> Any:
        """A ConfigProto for sessions of this task: other workers are none of its business."""
        return self._extended.configured(super().update_config_proto(config_proto))


@export("distribute.experimental.ParameterServerStrategy")
class ParameterServerStrategy(_Strategy):
    """Variables are on parameter servers, in turn; each worker trains them on its own.

    Args:
        cluster_resolver: says what the cluster is and which task of it this is; TF_CONFIG does
            if None.

    Raises:
        ValueError: there is a cluster without parameter servers, or without a task.

    Example:
        >>> resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        ...     tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": ["c:1"]}),
        ...     task_type="worker", task_id=0)
        >>> strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
        >>> with strategy.scope():
        ...     print([tf.Variable(0.0).device for _ in range(3)])
        ['/job:ps/task:0', '/job:ps/task:1', '/job:ps/task:0']
    """

    def __init__(self, cluster_resolver: ClusterResolver | None = None) -> None:
        extended = ParameterServerExtended(self)
        super().__init__(extended)
        found = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        cluster = found.cluster_spec()
        if cluster:
            extended.join(cluster, found.task_type, found.task_id)


@export("contrib.distribute.ParameterServerStrategy")
class ContribParameterServerStrategy(_Strategy):
    """ParameterServerStrategy of a cluster that `configure` is told.

    Args:
        num_gpus_per_worker: 0 or 1: each worker is one replica.

    Raises:
        NotImplementedError: there are more GPUs.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        if num_gpus_per_worker > 1:
            raise NotImplementedError(
                f"{num_gpus_per_worker} GPUs per worker: each worker is one replica"
            )
        super().__init__(ParameterServerExtended(self))


@export("distribute.experimental.CentralStorageStrategy")
class CentralStorageStrategy(_Strategy):
    """Variables are on one device of this machine, and another one computes.

    Args:
        compute_devices: one device; this machine's processor if None.
        parameter_device: where variables are; beside what computes if None.

    Raises:
        NotImplementedError: more devices are to compute.

    Example:
        >>> strategy = tf.distribute.experimental.CentralStorageStrategy()
        >>> with strategy.scope():
        ...     tf.Variable(0.0).device
        '/device:CPU:0'
    """

    def __init__(
        self,
        compute_devices: Sequence[str] | None = None,
        parameter_device: str | None = None,
    ) -> None:
        super().__init__(
            ParameterServerExtended(self, one_device(compute_devices), parameter_device)
        )

    @classmethod
    def _from_num_gpus(cls, num_gpus: int) -> CentralStorageStrategy:
        """A strategy that computes on so many GPUs, or on the processor."""
        return cls([f"/device:GPU:{i}" for i in range(num_gpus)] or None)
