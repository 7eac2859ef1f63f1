# SPDX-License-Identifier: Apache-2.0
"""`Server`: a task of a cluster, and what sessions find under an address.

Sessions of the server's own process reach it without a connection.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

from ...engine import errors, gc_pause
from ...engine.api import export
from ...engine.session.session_target import RESETS, TARGETS
from ...io import protos
from .cluster import ClusterSpec

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph

_PREFIX = "grpc://"
# The running servers by target.
_servers: weakref.WeakValueDictionary[str, Server] = weakref.WeakValueDictionary()
# Those that listen for others do so until the process ends, as TensorFlow's, whoever holds them.
_listening_ones: list[Server] = []


def _server_def(
    given: dict[Any, Any],
    job_name: Any,
    task_index: Any,
    protocol: str | None,
    config: object,
) -> Any:
    """A ServerDef with what the arguments add to it."""
    kind = protos.ServerDef
    message = kind()
    if isinstance(given, kind):
        message.MergeFrom(given)
    else:
        try:
            cluster = ClusterSpec(given)
        except TypeError:
            raise TypeError(
                "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or "
                "`tf.train.ClusterSpec`."
            ) from None
        if job_name is None:
            job_name = _only(cluster.jobs, "job_name")
        if task_index is None:
            task_index = _only(cluster.task_indices(job_name), "task_index")
        protocol = "grpc" if protocol is None else protocol
        message.cluster.MergeFrom(cluster.as_cluster_def())
    chosen = {"job_name": job_name, "task_index": task_index, "protocol": protocol}
    for field, value in chosen.items():
        if value is not None:
            setattr(message, field, value)
    if config is not None:
        message.default_session_config.MergeFrom(config)
    return message


def _only(values: list[Any], name: str) -> Any:
    if len(values) != 1:
        raise ValueError(f"Must specify an explicit `{name}`.")
    return values[0]


@export("train.Server", "distribute.Server")
class Server:
    """A task of a cluster: it runs parts of graphs for the other tasks, and serves sessions.

    It listens at the host that the cluster names for it, on `localhost` alone if that is its name.
    Whoever can reach the address may run any graph there (docs/distributed.md).

    Args:
        server_or_cluster_def: a ServerDef, ClusterDef, ClusterSpec, or a dictionary from jobs to
            addresses.
        job_name, task_index: which task this is; not needed where there is one.
        protocol: "grpc".
        config: a tf.ConfigProto for sessions that have none.
        start: whether to listen at once.

    Raises:
        ValueError: job or task are not said.
        NotFoundError: another protocol.
        UnknownError: the address is taken.
        ImportError: grpcio is not installed.

    Example:
        >>> server = tf.train.Server.create_local_server()
        >>> with tf.Session(server.target) as sess:
        ...     sess.run(tf.constant(3) + 4)
        np.int32(7)
    """

    def __init__(
        self,
        server_or_cluster_def: dict[Any, Any],
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: object = None,
        start: bool = True,
    ) -> None:
        self._server_def = _server_def(
            server_or_cluster_def, job_name, task_index, protocol, config
        )
        if self._server_def.protocol != "grpc":
            raise errors.not_found(
                f"No server factory registered for the given ServerDef: {self._server_def}"
            )
        with gc_pause.held_up():
            from ..cluster.host import Host
            from ..cluster.rpc import task_addresses

        task = f"/job:{self._server_def.job_name}/replica:0/task:{self._server_def.task_index}"
        tasks = task_addresses(self._server_def.cluster)
        if task not in tasks:
            raise errors.invalid(
                f"Task {self._server_def.task_index} is not defined in job "
                f'"{self._server_def.job_name}"'
            )
        given = self._server_def.default_session_config
        processors = max(given.device_count.get("CPU", 1), 1)
        leader = given.experimental.collective_group_leader
        self._host = Host(task, tasks, _listening(tasks[task]), processors, leader)
        self._host.resources.timeout = given.operation_timeout_in_ms / 1000.0
        # Before the interpreter is taken apart, where this lives until then.
        weakref.finalize(self, self._host.stop)
        self._is_alone = len(tasks) == 1
        self._target = f"{_PREFIX}localhost:{self._host.port}"
        self._stopped = threading.Event()
        self._is_started = False
        if start:
            self.start()

    def start(self) -> None:
        """Begins to listen."""
        if not self._is_started:
            self._is_started = True
            self._host.start()
            _servers[self._target] = self
            if not self._is_alone:
                _listening_ones.append(self)

    def _stop(self) -> None:
        """Ends listening; another process may be at its address from then on."""
        if _servers.get(self._target) is self:
            del _servers[self._target]
        _listening_ones[:] = [server for server in _listening_ones if server is not self]
        self._host.stop()

    def join(self) -> None:
        """Waits for the end of the server, which is that of the process."""
        self._stopped.wait()

    def runtime(self, graph: Graph, config: Any) -> Any:
        """What a session of this process runs on: the server's state, or its master."""
        # (A cluster that a session brings along is the master's business.)
        if self._is_alone and not (config is not None and config.cluster_def.job):
            return self._host.resources
        from ..cluster.remote_session import RemoteSession
        from ..cluster.service import InProcess

        master, timeout = InProcess(self._host.master_service), self._host.resources.timeout
        return RemoteSession(self._target, graph, config, master, timeout)

    def reset(self, containers: list[str] | None) -> None:
        """Clears containers of all tasks of the cluster."""
        self._host.master.reset(containers or [], [])

    @property
    def server_def(self) -> Any:
        """The ServerDef message."""
        return self._server_def

    @property
    def target(self) -> str:
        """What to give to `tf.Session`."""
        return self._target

    @staticmethod
    def create_local_server(config: object = None, start: bool = True) -> Server:
        """A server of a cluster of its own, on any free port."""
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)


def serving(cluster: dict[str, list[str]], job_name: str, task_index: int) -> Server:
    """The server of this process for a task; one begins if there is none."""
    for found in _listening_ones:
        given = found.server_def
        if (given.job_name, given.task_index) == (job_name, task_index):
            if ClusterSpec(given.cluster).as_dict() == cluster:
                return found
    return Server(cluster, job_name, task_index)


def _listening(address: str) -> str:
    """Where the task of an address listens; InvalidArgumentError without a port."""
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        raise errors.invalid(f'Could not parse port for local server from "{address}".')
    return f"{host or 'localhost'}:{port}"


def _at(target: str, graph: Graph, config: object) -> Any:
    server = _servers.get(target)
    if server is not None:
        return server.runtime(graph, config)
    from ..cluster.remote_session import RemoteSession

    return RemoteSession(target, graph, config)


def _reset(target: str, containers: list[str] | None, config: object) -> None:
    server = _servers.get(target)
    if server is not None:
        server.reset(containers)
        return
    from ..cluster.remote_session import reset

    reset(target, containers, config)


TARGETS[_PREFIX] = _at
RESETS[_PREFIX] = _reset


@export("test.create_local_cluster")
def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: object = None,
    ps_config: object = None,
) -> tuple[list[Server], list[Server]]:
    """Starts the tasks of a cluster, all in this process: jobs "worker" and "ps".

    Args:
        num_workers: how many workers.
        num_ps: how many parameter servers.
        protocol: "grpc".
        worker_config: the workers' ConfigProto.
        ps_config: the parameter servers' ConfigProto.

    Returns:
        The servers of the workers, and those of the parameter servers.

    Example:
        >>> workers, parameter_servers = tf.test.create_local_cluster(1, 1)
        >>> with tf.device("/job:ps/task:0"):
        ...     total = tf.Variable(1.0)
        >>> with tf.Session(workers[0].target) as sess:
        ...     sess.run(total.initializer)
        ...     print(sess.run(total.assign_add(2.0)))
        3.0
    """
    from ..cluster.launch import free_ports

    ports = iter(free_ports(num_workers + num_ps))
    jobs = {"worker": num_workers, "ps": num_ps}
    tasks = {job: [f"localhost:{next(ports)}" for _ in range(n)] for job, n in jobs.items()}

    def servers(job: str, config: object) -> list[Server]:
        return [Server(tasks, job, index, protocol, config) for index in range(jobs[job])]

    return servers("worker", worker_config), servers("ps", ps_config)
