# SPDX-License-Identifier: Apache-2.0
"""`Server`: state that several sessions of this process share, under an address.

Sessions on clusters of one task only: they find the server by its target, and no data crosses
processes.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from typing import Any

from ...engine import errors
from ...engine.api import export
from ...engine.session.session_target import TARGETS
from ...engine.session.state import Resources
from ...io import protos
from .cluster import ClusterSpec

_PREFIX = "grpc://"
# The running servers by target.
_servers: weakref.WeakValueDictionary[str, Server] = weakref.WeakValueDictionary()


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


def _port_of(address: str) -> int:
    try:
        return int(address.rpartition(":")[2])
    except ValueError:
        raise errors.invalid(f'Could not parse port for local server from "{address}".') from None


@export("train.Server", "distribute.Server")
class Server:
    """Keeps variables and other state for all sessions that are opened on its `target`.

    UnimplementedError for what would involve other tasks of its cluster: sessions, and `join`.
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
        cluster = ClusterSpec(self._server_def.cluster)
        self._tasks = sum(cluster.num_tasks(job) for job in cluster.jobs)
        job, task = self._server_def.job_name, self._server_def.task_index
        # Nothing listens there: the port is only taken, as a second server at the address must
        # fail.
        self._socket = _reserve(_port_of(cluster.task_address(job, task)))
        self._target = f"{_PREFIX}localhost:{self._socket.getsockname()[1]}"
        self.resources = Resources(f"/job:{job}/replica:0/task:{task}")
        self._stopped = threading.Event()
        if start:
            self.start()

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError):
            self._socket.close()

    def start(self) -> None:
        """Lets sessions find the server."""
        _servers[self._target] = self

    def join(self) -> None:
        """Waits for the end of the server, which is that of the process."""
        self.require_single()
        self._stopped.wait()

    def require_single(self) -> None:
        """UnimplementedError if the cluster has other tasks."""
        if self._tasks > 1:
            raise errors.unimplemented(
                f"tf.train.Server: the cluster has {self._tasks} tasks; numbaflow runs clusters "
                "of one task."
            )

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


def _reserve(port: int) -> Any:
    """A socket that has taken a port, so that the address is this server's alone."""
    import socket

    taken = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        taken.bind(("localhost", port))
    except OSError as error:
        taken.close()
        raise errors.unknown(f"Could not start gRPC server: {error}") from None
    return taken


def _resources_at(target: str, opens: bool) -> Resources:
    server = _servers.get(target)
    if server is None:
        raise errors.unavailable(f"There is no server at {target} in this process.")
    if opens:
        server.require_single()
    return server.resources


TARGETS[_PREFIX] = _resources_at
