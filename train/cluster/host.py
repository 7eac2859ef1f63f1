# SPDX-License-Identifier: Apache-2.0
"""`Host`: the server of a task, which listens for the calls of its services."""

from __future__ import annotations

import functools
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...engine import errors
from ...engine.interface import log
from ...engine.session.state import Resources
from . import link, rpc
from .call_threads import CallThreads
from .credentials import Credentials, credentials
from .link_client import PART, STEP
from .link_server import LinkServer
from .master import Master
from .service import Call, MasterService, WorkerService, as_error, wire_text
from .tensor_server import TensorServer
from .worker import Worker

# Seconds in which the last tensors of collectives reach the other members.
_GRACE = 0.5
_OPEN = (
    "The server of %s listens at %s: whoever reaches it from another machine can run any graph "
    "there, with the rights of this process. NUMBAFLOW_CLUSTER gives a cluster a token and "
    "certificates (docs/distributed.md, Who can reach a server)."
)


class Host:
    """A task that listens: its worker, its master, and the channels to others."""

    def __init__(
        self,
        task: str,
        tasks: Mapping[str, str],
        address: str,
        processors: int = 1,
        leader: str = "",
    ) -> None:
        """tasks: addresses by task; address: where to listen, the port 0 for any that is free.

        processors: how many devices the task has; leader: of groups of collectives, if stated.
        """
        self._grpc = rpc.grpc()
        self._channels: dict[str, rpc.Channel] = {}
        self._lock = threading.Lock()
        self._threads = CallThreads("numbaflow-task")
        self._server = self._grpc.server(self._threads, options=rpc.options())
        self._own = credentials()
        self._task, self._address = task, address
        self.port = rpc.listen(self._server, address, self._own, task)
        self.resources = Resources(task)
        peers = self._peers(tasks)
        number = secrets.randbits(63) | 1
        self.worker = Worker(task, number, self.resources, peers, processors)
        self.worker.leads = leader or leading(tasks)
        self.master = Master(self.worker, list(tasks), peers, self._peers_of)
        self.master_service = MasterService(self.master)
        worker_service = WorkerService(self.worker, self._peers_of)
        makers = {STEP: self.master_service.told_step, PART: worker_service.told_part}
        self._link: LinkServer | None = None
        self._tensors: TensorServer | None = None
        if link.is_possible():
            self._link = LinkServer(makers, _failure)
            self._tensors = TensorServer(self._link.name, worker_service, _failure)
        self._server.add_generic_rpc_handlers(
            (
                self._handler(rpc.MASTER, self.master_service),
                self._handler(rpc.WORKER, worker_service),
            )
        )

    def start(self) -> None:
        """Begins to listen, with a warning where anybody may be heard."""
        if self._own == Credentials() and rpc.is_reachable(self._address):
            log.warning(_OPEN, self._task, self._address)
        if self._link is not None and self._tensors is not None:
            self._tensors.start()
            self._link.start()
        self._server.start()

    def stop(self) -> None:
        """Ends listening, and what is under way."""
        # (What others have asked for may still be on its way to them.)
        self._server.stop(_GRACE).wait() if self.worker.linger() else self._server.stop(None)
        if self._link is not None and self._tensors is not None:
            self._tensors.stop(_GRACE)
            self._link.stop()
        for channel in self._channels.values():
            channel.close()
        self._threads.shutdown()

    def _peers(self, tasks: Mapping[str, str]) -> Callable[[str], rpc.Channel]:
        return lambda task: self._channel(tasks[task])

    def _peers_of(self, cluster: Any) -> Callable[[str], rpc.Channel]:
        return self._peers(rpc.task_addresses(cluster))

    def _channel(self, address: str) -> rpc.Channel:
        found = self._channels.get(address)
        if found is None:
            with self._lock:
                found = self._channels.get(address) or rpc.Channel(address, rpc.WORKER, self._own)
                self._channels[address] = found
        return found

    def _handler(self, service: str, implementation: Any) -> Any:
        """The calls of a service, for the server."""
        handlers = {}
        for name, method in rpc.methods(service).items():
            function = getattr(implementation, name, None) or functools.partial(_refused, name)
            handlers[name] = self._grpc.unary_unary_rpc_method_handler(
                functools.partial(self._serve, function),
                request_deserializer=method.request.FromString,
                response_serializer=_serialized,
            )
        return self._grpc.method_handlers_generic_handler(f"tensorflow.{service}", handlers)

    def _serve(self, function: Callable[[Any, Call], Any], request: Any, context: Any) -> Any:
        try:
            self._own.require(context.invocation_metadata())
            if self._link is not None:
                rpc.tell_link(context, self._link.name)
            return function(request, Call(context))
        except Exception as raised:
            error = as_error(raised)
            code = next(c for c in self._grpc.StatusCode if c.value[0] == error.error_code)
            context.abort(code, wire_text(error))


def leading(tasks: Iterable[str]) -> str:
    """The task that leads groups of collectives: the chief, or else the first worker."""
    known = sorted(tasks)
    for job in ("chief", "worker"):
        found = [task for task in known if task.startswith(f"/job:{job}/")]
        if found:
            return found[0]
    return known[0]


def _refused(name: str, request: Any, call: Call) -> Any:
    raise errors.unimplemented(f"{name} is not answered here.")


def _failure(raised: Exception) -> tuple[int, str]:
    error = as_error(raised)
    return error.error_code, wire_text(error)


def _serialized(response: Any) -> bytes:
    return response if type(response) is bytes else response.SerializeToString()
