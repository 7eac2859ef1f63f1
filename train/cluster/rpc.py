# SPDX-License-Identifier: Apache-2.0
"""Calls of TensorFlow's services over gRPC: which there are, and what their errors become.

The methods come from the descriptors of the .proto files; there is no generated code.  Of paths
TensorFlow leaves out the package: `/tensorflow.MasterService/RunStep`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...engine import errors
from ...io import protos

PREFIX = "grpc://"
MASTER, WORKER = "MasterService", "WorkerService"
_ADVICE = "grpc:// targets and tf.train.Server need grpcio: pip install 'numbaflow[distributed]'"
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


@dataclass(frozen=True)
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

    def __init__(self, address: str, service: str) -> None:
        """address: "host:port"."""
        self.address, self._grpc = address, grpc()
        self._channel = self._grpc.insecure_channel(address, options=_OPTIONS)
        self._methods = methods(service)
        self._calls: dict[str, Any] = {}
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
        try:
            return self._call_of(name, None)(request, timeout=timeout, wait_for_ready=waits)
        except self._grpc.RpcError as error:
            raise error_of(error) from None

    def begin(
        self,
        name: str,
        request: Any,
        timeout: float | None = None,
        waits: bool = True,
        decode: Callable[[bytes], Any] | None = None,
    ) -> Any:
        """A call under way: gRPC's future, of what `decode` makes of the response's bytes."""
        return self._call_of(name, decode).future(request, timeout=timeout, wait_for_ready=waits)

    def tell(self, name: str, request: Any) -> None:
        """Makes a call whose response does not matter, if the server is there."""
        begun = self.begin(name, request, waits=False)
        self._told.add(begun)
        begun.add_done_callback(self._told.discard)

    def outcome(self, begun: Any) -> Any:
        """The response of a call under way."""
        try:
            return begun.result()
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
        self._channel.close()


def options() -> tuple[tuple[str, int], ...]:
    """What servers set, as channels do."""
    return _OPTIONS
