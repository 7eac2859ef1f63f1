# SPDX-License-Identifier: Apache-2.0
"""Where clusters are described: in an object, in TF_CONFIG, or by a TPU's address."""

from __future__ import annotations

import abc
import collections
import json
import os
from typing import Any

from ...engine.api import export
from ...ops.public import tf
from .cluster import ClusterSpec

_SEPARATOR = ","


def format_master_url(master: str, rpc_layer: str | None = None) -> str:
    """An address with its protocol."""
    return f"{rpc_layer}://{master}" if rpc_layer else master


@export("contrib.cluster_resolver.ClusterResolver", "distribute.cluster_resolver.ClusterResolver")
class ClusterResolver(metaclass=abc.ABCMeta):
    """Describes a cluster, and this task in it."""

    task_type: Any
    task_id: Any
    rpc_layer: Any

    @abc.abstractmethod
    def cluster_spec(self) -> Any:
        """The ClusterSpec."""

    @abc.abstractmethod
    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The address of a task's session; of the master if none is named."""

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """How many processors there are of each kind."""
        with (
            tf.Graph().as_default(),
            tf.Session(self.master(task_type, task_id), config=config_proto) as session,
        ):
            devices = session.list_devices()
        counts: dict[str, int] = collections.defaultdict(int)
        for device in devices:
            where = f"/job:{task_type}", f"/task:{task_id}"
            named = task_type is not None and task_id is not None
            if not named or all(part in device.name for part in where):
                counts[device.device_type] += 1
        return counts

    @property
    def environment(self) -> str | None:
        """Where the program runs: ""."""
        return ""


@export(
    "contrib.cluster_resolver.SimpleClusterResolver",
    "distribute.cluster_resolver.SimpleClusterResolver",
)
class SimpleClusterResolver(ClusterResolver):
    """A cluster that is given.

    Args:
        cluster_spec: a ClusterSpec.
        master: the address of sessions.
        task_type, task_id: this task.
        environment: where the program runs.
        num_accelerators: how many processors there are of each kind.
        rpc_layer: the protocol.

    Raises:
        TypeError: the cluster or the address is of another type.
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str = "",
        num_accelerators: dict[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a ClusterSpec.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec, self._master = cluster_spec, master
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer
        self._environment, self._num_accelerators = environment, num_accelerators

    def cluster_spec(self) -> ClusterSpec:
        """The ClusterSpec that was given."""
        return self._cluster_spec

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The address of a task, or the one that was given."""
        master = self._master
        if task_type is not None and task_id is not None:
            master = self.cluster_spec().task_address(task_type, task_id)
        return format_master_url(master, rpc_layer or self.rpc_layer)

    @property
    def environment(self) -> str:
        """Where the program runs."""
        return self._environment

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> Any:
        """What was given."""
        return {} if self._num_accelerators is None else self._num_accelerators


def _in_union(name: str) -> Any:
    """A property that the first of several resolvers has, unless it was set."""
    hidden = f"_{name}"

    def get(self: Any) -> Any:
        return getattr(self, hidden) or getattr(self._cluster_resolvers[0], name)

    return property(get, lambda self, value: setattr(self, hidden, value))


@export(
    "contrib.cluster_resolver.UnionClusterResolver", "distribute.cluster_resolver.UnionResolver"
)
class UnionClusterResolver(ClusterResolver):
    """Several clusters as one; the first one's settings hold.

    Args:
        *args: ClusterResolvers.
        **kwargs: task_type, task_id and rpc_layer, which hold instead.

    Raises:
        ValueError: there is none, or an argument is unknown.
        TypeError: one is no ClusterResolver.
    """

    def __init__(self, *args: ClusterResolver, **kwargs: Any) -> None:
        for name in ("rpc_layer", "task_type", "task_id"):
            setattr(self, f"_{name}", kwargs.pop(name, None))
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {kwargs!r}")
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(one, ClusterResolver) for one in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._cluster_resolvers = args

    task_type = _in_union("task_type")
    task_id = _in_union("task_id")
    rpc_layer = _in_union("rpc_layer")

    def cluster_spec(self) -> ClusterSpec:
        """The clusters' jobs; tasks of a job that several have are put together.

        Raises:
            KeyError: two of them have a task of one number.
        """
        parts: dict[str, list[Any]] = {}
        for resolver in self._cluster_resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                parts.setdefault(job, []).append(tasks)
        return ClusterSpec({job: _united(tasks) for job, tasks in parts.items()})

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The address of a task, or the first one's master."""
        if task_type is None or task_id is None:
            return self._cluster_resolvers[0].master(rpc_layer=rpc_layer)
        address = self.cluster_spec().task_address(task_type, task_id)
        return format_master_url(address, rpc_layer or self._rpc_layer)

    _rpc_layer: str | None

    @property
    def environment(self) -> str | None:
        """Where the program runs."""
        return self._cluster_resolvers[0].environment

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """The first one's."""
        return self._cluster_resolvers[0].num_accelerators(task_type, task_id, config_proto)


def _united(parts: list[Any]) -> Any:
    """The tasks of one job, as a list if all are lists."""
    if all(isinstance(tasks, list) for tasks in parts):
        return [task for tasks in parts for task in tasks]
    united: dict[int, Any] = {}
    for tasks in parts:
        numbered = dict(enumerate(tasks)) if isinstance(tasks, list) else tasks
        twice = set(numbered) & set(united)
        if twice:
            raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {twice!r}")
        united.update(numbered)
    return united


@export(
    "contrib.cluster_resolver.TFConfigClusterResolver",
    "distribute.cluster_resolver.TFConfigClusterResolver",
)
class TFConfigClusterResolver(ClusterResolver):
    """The cluster that the environment's TF_CONFIG describes.

    Args:
        task_type, task_id, rpc_layer: hold instead of what it says.
        environment: where the program runs.
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        self._task_type, self._task_id = task_type, task_id
        self._rpc_layer, self._environment = rpc_layer, environment

    @staticmethod
    def _said() -> dict[str, Any]:
        return json.loads(os.environ.get("TF_CONFIG", "{}"))  # type: ignore[no-any-return]

    @property
    def task_type(self) -> str | None:  # type: ignore[override]
        """The job of this task."""
        if self._task_type is not None:
            return str(self._task_type)
        found = self._said().get("task", {}).get("type")
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, value: str | None) -> None:
        self._task_type = value

    @property
    def task_id(self) -> int | None:  # type: ignore[override]
        """The number of this task."""
        if self._task_id is not None:
            return int(self._task_id)
        found = self._said().get("task", {}).get("index")
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, value: int | None) -> None:
        self._task_id = value

    @property
    def rpc_layer(self) -> str | None:  # type: ignore[override]
        """The protocol."""
        return self._said().get("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, value: str | None) -> None:
        self._rpc_layer = value

    @property
    def environment(self) -> str | None:
        """Where the program runs."""
        return self._environment

    def cluster_spec(self) -> ClusterSpec:
        """The ClusterSpec of the environment, or an empty one."""
        return ClusterSpec(self._said().get("cluster", {}))

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The address of a task; "" if there is one task."""
        said = self._said().get("session_master")
        if said is not None:
            return str(said)
        cluster = self.cluster_spec()
        jobs = cluster.jobs
        if not jobs or (len(jobs) == 1 and len(cluster.job_tasks(jobs[0])) == 1):
            return ""
        kind: Any = self.task_type if task_type is None else task_type
        number: Any = self.task_id if task_id is None else task_id
        return format_master_url(cluster.task_address(kind, number), self.rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> dict[str, int]:
        """How many processors there are of each kind."""
        kind = self.task_type if task_type is None else task_type
        number = self.task_id if task_id is None else task_id
        return super().num_accelerators(kind, number, config_proto)


@export(
    "contrib.cluster_resolver.TPUClusterResolver",
    "distribute.cluster_resolver.TPUClusterResolver",
)
class TPUClusterResolver(ClusterResolver):
    """The address of a TPU, which programs give to RunConfig; nothing here reaches one.

    Args:
        tpu: an address such as "grpc://10.0.0.1:8470", or "" or "local"; the environment's if None.
        zone, project, credentials, service, discovery_url: of the cloud, which is not asked.
        job_name: the job of its tasks.
        coordinator_name, coordinator_address: a task beside them.

    Raises:
        ValueError: no TPU is named.
        ImportError: a TPU is named that the cloud would have to be asked for.
    """

    _ENVIRONMENT = ("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME")

    def __init__(
        self,
        tpu: Any = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: object = "default",
        service: object = None,
        discovery_url: str | None = None,
    ) -> None:
        if isinstance(tpu, list):
            if not tpu:
                raise ValueError("At least one TPU must be specified.")
            if len(tpu) != 1:
                raise NotImplementedError(
                    "Using multiple TPUs in a single session is not yet implemented"
                )
            tpu = tpu[0]
        if tpu is None:
            tpu = next((os.environ[n] for n in self._ENVIRONMENT if n in os.environ), None)
        if tpu is None:
            raise ValueError("Please provide a TPU Name to connect to.")
        name = tpu.decode() if isinstance(tpu, bytes) else tpu
        local = name in ("", "local") or name.startswith(("localhost:", "/bns", "uptc://"))
        if not local and not name.startswith("grpc://"):
            raise ImportError(
                f"the address of the TPU {name!r} is known to services of the cloud, which "
                "numbaflow does not ask; give its address (grpc://...), or use_tpu=False"
            )
        self.task_type, self.task_id = job_name, 0
        self.rpc_layer = None if local else "grpc"
        self._environment = "google" if local else ""
        self._tpus = [one.removeprefix("grpc://") for one in name.split(_SEPARATOR)]
        self._coordinator = {coordinator_name: [coordinator_address]} if coordinator_address else {}

    def cluster_spec(self) -> ClusterSpec | None:
        """The ClusterSpec of an address; None for a local one."""
        if self.rpc_layer is None:
            return None
        return ClusterSpec({self.task_type: self._tpus, **self._coordinator})

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """The address of the first task."""
        return format_master_url(self._tpus[0], rpc_layer or self.rpc_layer)

    def get_master(self) -> str:
        """The address of the first task."""
        return self.master()

    def get_job_name(self) -> None:
        """None: nothing was looked up."""

    @property
    def environment(self) -> str:
        """ "google" for a local address, as TensorFlow says it, else ""."""
        return self._environment

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: object = None
    ) -> Any:
        """None are reached."""
        raise NotImplementedError("numbaflow reaches no TPU whose cores it could count")

    def __deepcopy__(self, memo: object) -> TPUClusterResolver:
        return self
