# SPDX-License-Identifier: Apache-2.0
"""Calls of TensorFlow's services over gRPC: which there are, and what their errors become.

The methods come from the descriptors of the .proto files; there is no generated code.  Of paths
TensorFlow leaves out the package: `/tensorflow.MasterService/RunStep`.
"""

from __future__ import annotations

import functools
import ipaddress
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.record_class import record
from ...engine.session.futures import Future
from ...io import protos
from . import link
from .credentials import Credentials, credentials
from .shared_memory import machine

if TYPE_CHECKING:
    from .link_client import Link
    from .tensor_client import Asked, TensorClient

PREFIX = "grpc://"
MASTER, WORKER = "MasterService", "WorkerService"
_ADVICE = "grpc:// targets and tf.train.Server need grpcio: pip install 'numbaflow[distributed]'"
# By these a client says which machine it is on, and a server how it is reached there.
_MACHINE, _LINK = "numbaflow-machine", "numbaflow-link"
# Messages may be as large as protobuf allows; a port belongs to one server.
_OPTIONS = (
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
    ("grpc.so_reuseport", 0),
    # Large tensors cross in few pieces.
    ("grpc.http2.max_frame_size", (1 << 24) - 1),
    # Tasks of one machine are not to be looked for behind a proxy.
    ("grpc.enable_http_proxy", 0),
)


def grpc() -> Any:
    """The module of grpcio; ImportError with advice where it is not installed."""
    try:
        import grpc as found
    except ImportError as error:
        raise ImportError(_ADVICE) from error
    return found


@record(frozen=True)
class Method:
    """One call of a service: its path and the classes of its messages."""

    path: str
    request: Any
    response: Any


@functools.cache
def methods(service: str) -> dict[str, Method]:
    """The calls of a service by name."""
    from google.protobuf import message_factory

    described = protos.pool().FindServiceByName(f"tensorflow.grpc.{service}")
    return {
        one.name: Method(
            f"/tensorflow.{service}/{one.name}",
            message_factory.GetMessageClass(one.input_type),
            message_factory.GetMessageClass(one.output_type),
        )
        for one in described.methods
    }


def error_of(raised: Any) -> errors.OpError:
    """The error for a call that failed; gRPC's codes are TensorFlow's."""
    return errors.make_error(None, None, raised.details() or "", raised.code().value[0])


class Channel:
    """The calls of one service at an address, over one connection; safe for several threads."""

    def __init__(self, address: str, service: str, own: Credentials | None = None) -> None:
        """address: "host:port"; own: what is shown, if not what the settings say."""
        self.address, self._grpc = address, grpc()
        own = credentials() if own is None else own
        self._channel = own.channel(self._grpc, address, _OPTIONS)
        # What every call shows, and what it asks until it is known how the server is reached.
        self._shown = own.shown()
        self._methods = methods(service)
        self._calls: dict[str, Any] = {}
        # Where the server is a process of this machine: what runs go by, once it has told.
        self._link: Link | None = None
        self._tensors: TensorClient | None = None
        self._lock = threading.Lock()
        # Calls whose answer nobody waits for; one that nothing refers to is cancelled.
        self._told: set[Any] = set()

    def _call_of(self, name: str, decode: Callable[[bytes], Any] | None) -> Any:
        found = self._calls.get(name)
        if found is None:
            method = self._methods[name]
            found = self._calls[name] = self._channel.unary_unary(
                method.path,
                request_serializer=method.request.SerializeToString,
                response_deserializer=decode or method.response.FromString,
            )
        return found

    def call(
        self, name: str, request: Any, timeout: float | None = None, waits: bool = True
    ) -> Any:
        """The response of a call.

        timeout: seconds, of which waiting for the server is part; None: no end.  waits: for a
        server that is not there yet, rather than to fail with UnavailableError.
        """
        call = self._call_of(name, None)
        try:
            if self._link is not None:
                return call(request, timeout=timeout, wait_for_ready=waits, metadata=self._shown)
            response, made = call.with_call(
                request, timeout=timeout, wait_for_ready=waits, metadata=self._shown + _asking()
            )
        except self._grpc.RpcError as error:
            raise error_of(error) from None
        self._note(made)
        return response

    @property
    def link(self) -> Link | None:
        """What runs go by to a server of this machine; None for others, and before any call."""
        return self._link

    def unlink(self) -> None:
        """Forgets that: the server is there no more.  Another one may tell of its own."""
        with self._lock:
            gone = self._link, self._tensors
            self._link = self._tensors = None
        for one in gone:
            if one is not None:
                one.close()

    def tensor(self, step: int, key: str, decode: Callable[[bytes], Any]) -> Asked | None:
        """The tensor of a step, as a server of this machine gives it; None for all others.

        decode: makes it of a response of RecvTensor.
        """
        for _ in range(2):
            client = self._tensor_client()
            asked = None if client is None else client.ask(step, key, decode)
            if asked is not None:
                return asked
            # (A connection may be older than the server: another one shows whether there is one.)
        return None

    def _tensor_client(self) -> TensorClient | None:
        from .tensor_client import TensorClient

        with self._lock:
            if self._link is None:
                return None
            if self._tensors is None or not self._tensors.is_open:
                self._tensors = None
                with suppress(OSError):
                    self._tensors = TensorClient(self._link.name)
            found = self._tensors
        if found is None:
            self.unlink()
        return found

    def _note(self, made: Any) -> None:
        """Takes the name of a link from the response of a call."""
        told = [pair.value for pair in made.trailing_metadata() or () if pair.key == _LINK]
        if told and self._link is None and re.fullmatch(r"numbaflow-[0-9a-f]{32}", told[0]):
            from .link_client import Link

            self._link = Link(told[0])

    def begin(
        self,
        name: str,
        request: Any,
        timeout: float | None = None,
        waits: bool = True,
        decode: Callable[[bytes], Any] | None = None,
    ) -> Any:
        """A call under way: gRPC's future, of what `decode` makes of the response's bytes."""
        shown = self._shown + _asking() if self._link is None else self._shown
        return self._call_of(name, decode).future(
            request, timeout=timeout, wait_for_ready=waits, metadata=shown
        )

    def ask(self, name: str, request: Any, decode: Callable[[bytes], Any] | None = None) -> Future:
        """What `decode` makes of the response of a call, or the response."""
        call, future = self.begin(name, request, waits=False, decode=decode), Future()

        def arrived(call: Any) -> None:
            try:
                result = self.outcome(call)
            except errors.OpError as error:
                future.settle(error=error)
            else:
                future.settle(result)

        future.watch(lambda settled: call.cancel() if settled.error is not None else None)
        call.add_done_callback(arrived)
        return future

    def tell(self, name: str, request: Any) -> None:
        """Makes a call whose response does not matter, if the server is there."""
        begun = self.begin(name, request, waits=False)
        self._told.add(begun)
        begun.add_done_callback(self._told.discard)

    def outcome(self, begun: Any) -> Any:
        """The response of a call under way."""
        try:
            response = begun.result()
            if self._link is None:
                self._note(begun)
            return response
        except self._grpc.RpcError as error:
            raise error_of(error) from None
        except self._grpc.FutureCancelledError:
            raise errors.cancelled("The call was cancelled.") from None

    @property
    def timeout_error(self) -> type[Exception]:
        """What a call under way raises that is waited for in vain."""
        return self._grpc.FutureTimeoutError  # type: ignore[no-any-return]

    def close(self) -> None:
        """Ends the connection, and calls that are under way."""
        self.unlink()
        self._channel.close()


def _asking() -> tuple[tuple[str, str], ...]:
    """What a call says of this machine, for a server that may be there, too."""
    return ((_MACHINE, machine().decode()),) if link.is_possible() else ()


def tell_link(context: Any, name: str) -> None:
    """Tells a client of this machine the name of a server's link, with the response of its call."""
    own = machine().decode()
    if any(pair.key == _MACHINE and pair.value == own for pair in context.invocation_metadata()):
        context.set_trailing_metadata(((_LINK, name),))


def listen(server: Any, address: str, own: Credentials, task: str) -> int:
    """Has a server listen at all that "host:port" stands for; the port.

    (gRPC by itself is content with one of a name's addresses: who is at another one would then
    answer some of the clients.)

    own: what others have to show; task: whose server it is.

    Raises:
        UnknownError: the port is taken.
    """
    host, _, wanted = address.rpartition(":")
    port = int(wanted)
    try:
        for one in _addresses_of(host.strip("[]")):
            port = own.listen(grpc(), server, f"{one}:{port}")
            if not port:
                raise RuntimeError(f"no port at {one}")
    except (RuntimeError, OSError) as error:
        text = f"Could not start gRPC server of {task} at {address}: {error}"
        raise errors.unknown(text) from None
    return port


def _addresses_of(host: str) -> list[str]:
    """What a host's name stands for, as far as this machine has it."""
    found = []
    for family, _, _, _, place in socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM):
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            try:
                tried.bind(place)
            except OSError:
                # (A machine without IPv6 resolves names to it all the same.)
                continue
        found.append(f"[{place[0]}]" if family == socket.AF_INET6 else str(place[0]))
    return list(dict.fromkeys(found)) or [host]


def is_reachable(address: str) -> bool:
    """Whether who listens at "host:port" may be reached from other machines."""
    host = address.rpartition(":")[0].strip("[]")
    places = [one.strip("[]").partition("%")[0] for one in _addresses_of(host)]
    return not all(ipaddress.ip_address(place).is_loopback for place in places)


def options() -> tuple[tuple[str, int], ...]:
    """What servers set, as channels do."""
    return _OPTIONS


def task_addresses(cluster: Any) -> dict[str, str]:
    """The addresses of a ClusterDef's tasks, by their names."""
    return {
        f"/job:{job.name}/replica:0/task:{number}": address
        for job in cluster.job
        for number, address in sorted(job.tasks.items())
    }
