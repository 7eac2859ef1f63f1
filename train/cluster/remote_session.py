# SPDX-License-Identifier: Apache-2.0
"""`RemoteSession`: what a session on a grpc:// target has in place of a runtime of its own.

The server gets the graph with the first run, and what was added to it before each later one.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.graph.devices import _DeviceAttributes
from ...engine.session.fetches import (
    FeedSlot,
    Fetches,
    expanded,
    feed_elements,
    feed_tensor,
    output_name,
)
from ...io import protos
from ...io.graph_bytes import NodeWriter
from ...io.graph_def import version_def
from . import rpc
from .link_client import STEP, Told
from .tensor_messages import decoded, encoded

if TYPE_CHECKING:
    from ...engine.graph.annotations import Feeds
    from ...engine.graph.graph import Graph
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.session.session import BaseSession
    from ...engine.types.dtypes import DType

_NODE = re.compile(r"\{\{node ([^\s{}]+)\}\}")
# Seconds that a server which may be gone has to close a session.
_CLOSING = 10.0


class _Observed(threading.local):
    """The RunOptions and RunMetadata of this thread's run."""

    options: Any = None
    metadata: Any = None


class RemoteSession:
    """A session at a master: its graph, runs, runs in parts and callables."""

    def __init__(
        self, target: str, graph: Graph, config: Any, master: Any = None, timeout: float = 0
    ) -> None:
        """A session, which the master does not know yet.

        master: calls the master; by default over gRPC, at the target's address.
        timeout: seconds that a run may take, if the config does not say; 0: any number.
        """
        self.graph, self.config, self._target = graph, config, target
        self._master = master or rpc.Channel(target.removeprefix(rpc.PREFIX), rpc.MASTER)
        self._lock = threading.Lock()
        self._handle = ""
        self._version = 0
        # The number of the last operation that the server knows, and the functions that it knows.
        self._sent = 0
        self._functions: set[str] = set()
        self._observed = _Observed()
        given = 0 if config is None else config.operation_timeout_in_ms
        self._timeout = given / 1000.0 or timeout or None

    # The graph

    def _addition(self) -> Any:
        """The GraphDef of what the server does not know yet; None if it knows everything."""
        graph, last = self.graph, self.graph._last_id
        functions = [f for name, f in graph._functions.items() if name not in self._functions]
        if self._sent == last and not functions:
            return None
        nodes = graph._nodes_by_id
        added = [nodes[i] for i in range(self._sent + 1, last + 1) if i in nodes]
        message = protos.GraphDef.FromString(NodeWriter(False).graph(added))
        for function in functions:
            message.library.function.add().CopyFrom(function.definition)
            if function.grad_func_name:
                message.library.gradient.add(
                    function_name=function.name, gradient_func=function.grad_func_name
                )
        message.versions.CopyFrom(version_def(graph))
        self._functions.update(function.name for function in functions)
        self._sent = last
        return message

    def extend(self) -> str:
        """Has the server know the whole graph; the session's handle there."""
        if self._handle and self._sent == self.graph._last_id:
            return self._handle
        with self._lock, self.graph._lock:
            known = self._sent, set(self._functions)
            message = self._addition()
            try:
                if not self._handle:
                    self._create(message or protos.GraphDef())
                elif message is not None:
                    request = protos.ExtendSessionRequest(
                        session_handle=self._handle, current_graph_version=self._version
                    )
                    request.graph_def.CopyFrom(message)
                    response = self._master.call("ExtendSession", request, self._timeout)
                    self._version = response.new_graph_version
            except errors.OpError:
                self._sent, self._functions = known
                raise
            return self._handle

    def _create(self, message: Any) -> None:
        request = protos.CreateSessionRequest(target=self._target)
        request.graph_def.CopyFrom(message)
        if self.config is not None:
            request.config.CopyFrom(self.config)
        response = self._master.call("CreateSession", request, self._timeout)
        self._handle, self._version = response.session_handle, response.graph_version

    # Runs

    @contextmanager
    def observed(self, options: Any, metadata: Any) -> Iterator[None]:
        """Runs of this thread have these RunOptions, and fill in this RunMetadata."""
        before = self._observed.options, self._observed.metadata
        self._observed.options, self._observed.metadata = options, metadata
        try:
            yield
        finally:
            self._observed.options, self._observed.metadata = before

    def runner(
        self,
        session: BaseSession,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
    ) -> Callable[[Sequence[Any]], list[Any]]:
        """What runs a part of the graph: a function from feed arrays to fetched arrays."""
        if not (fetches or targets):
            return lambda values: []
        names = [tensor.name for tensor in fetches]
        unique = list(dict.fromkeys(names))
        places = [unique.index(name) for name in names]
        template = protos.RunStepRequest(
            fetch=unique, target=[op.name for op in targets], store_errors_in_response_body=True
        )
        fed = [(tensor.name, tensor.dtype) for tensor in feeds]
        told: dict[str, Told] = {}

        def run(values: Sequence[Any]) -> list[Any]:
            handle = self.extend()
            link = self._master.link
            if link is not None and not self._is_traced:
                if handle not in told:
                    told[handle] = _told(handle, template, fed)
                found = self._linked(session, link, told[handle], values)
                if found is not None:
                    if self._observed.metadata is not None:
                        self._observed.metadata.Clear()
                    return [found[place] for place in places]
            request = protos.RunStepRequest(session_handle=handle)
            request.MergeFrom(template)
            for (name, dtype), value in zip(fed, values):
                request.feed.add(name=name).tensor.CopyFrom(encoded(value, dtype))
            return self.step(session, request, names)

        return run

    @property
    def _is_traced(self) -> bool:
        """Whether this thread's run is to tell what ran and when."""
        options = self._observed.options
        return options is not None and bool(
            options.trace_level
            or options.output_partition_graphs
            or options.debug_options.ByteSize()
        )

    def _linked(
        self, session: BaseSession, link: Any, told: Told, values: Sequence[Any]
    ) -> list[Any] | None:
        """A run by the server's link; None where that is gone, and the run has not begun."""
        seconds = self._timeout
        if session.deadline is not None:
            seconds = max(session.deadline - time.monotonic(), 1e-3)
        try:
            found: list[Any] | None = link.run(told, values, seconds)
        except errors.OpError as error:
            raise self.located(error) from None
        if found is None:
            self._master.unlink()
        return found

    def step(self, session: BaseSession, request: Any, names: Sequence[str]) -> list[Any]:
        """Sends a RunStepRequest; the values of the tensors called `names`."""
        observed = self._observed
        if observed.options is not None:
            request.options.CopyFrom(observed.options)
        left = None if session.deadline is None else session.deadline - time.monotonic()
        if left is not None:
            request.options.timeout_in_ms = max(int(left * 1000), 1)
        response = self.call("RunStep", request, None if left is None else max(left, 0.001))
        if response.status_code:
            error = errors.make_error(
                None, None, response.status_error_message, response.status_code
            )
            raise self.located(error)
        if observed.metadata is not None:
            observed.metadata.CopyFrom(response.metadata)
        found = {one.name: one.tensor for one in response.tensor}
        return [decoded(found[name]) for name in names]

    def call(self, name: str, request: Any, timeout: float | None = None) -> Any:
        """A call of the master; errors name nodes of the graph."""
        try:
            return self._master.call(name, request, timeout or self._timeout)
        except errors.OpError as error:
            raise self.located(error) from None

    def located(self, error: errors.OpError) -> errors.OpError:
        """The error of a server, with the lines of this program that made the nodes it names."""
        found: list[Operation] = []

        def told(match: re.Match[str]) -> str:
            op = self.graph._nodes_by_name.get(match[1])
            if op is None:
                return match[0]
            found.append(op)
            filename, line, _ = op._frame
            return f"node {op.name} (defined at {filename}:{line}) "

        message = _NODE.sub(told, error.message)
        op = found[0] if found else None
        return errors.make_error(None, op, message, error.error_code)

    # Runs in parts, callables

    def setup(
        self, session: BaseSession, fetches: Sequence[Any], feeds: Any
    ) -> tuple[str, RemotePartialRun]:
        """The handle and state of a new run in parts."""
        given = feeds if isinstance(feeds, (list, tuple)) else [] if feeds is None else [feeds]
        tensors = [t for feed in given for t in feed_elements(self.graph, feed)]
        wanted = Fetches(self.graph, fetches)
        request = protos.PartialRunSetupRequest(
            session_handle=self.extend(),
            feed=[tensor.name for tensor in tensors],
            fetch=[tensor.name for tensor in wanted.tensors],
            target=[op.name for op in wanted.targets],
        )
        handle = self.call("PartialRunSetup", request).partial_run_handle
        return handle, RemotePartialRun(self, session, handle, wanted.tensors, tensors)

    def make_callable(self, options: Any) -> Callable[..., list[Any]]:
        """A function of feed arrays that gives the fetches of a CallableOptions message."""
        request = protos.MakeCallableRequest(session_handle=self.extend())
        request.options.CopyFrom(options)
        number = self.call("MakeCallable", request).handle
        slots = [FeedSlot(feed_tensor(self.graph, output_name(name))) for name in options.feed]
        milliseconds = options.run_options.timeout_in_ms

        def call(*values: Any, run_metadata: Any = None) -> list[Any]:
            run = protos.RunCallableRequest(session_handle=self._handle, handle=number)
            for slot, value in zip(slots, values, strict=True):
                run.feed.add().CopyFrom(encoded(slot.convert(value), slot.tensor.dtype))
            response = self.call("RunCallable", run, milliseconds / 1000.0 or None)
            if run_metadata is not None:
                run_metadata.CopyFrom(response.metadata)
            return [decoded(tensor)[()] for tensor in response.fetch]

        return call

    # The rest of a session

    def list_devices(self) -> list[_DeviceAttributes]:
        """The devices of the cluster, as far as the session may use them."""
        request = protos.ListDevicesRequest(session_handle=self.extend())
        response = self.call("ListDevices", request)
        found = (*response.local_device, *response.remote_device)
        return [
            _DeviceAttributes(one.name, one.device_type, one.memory_limit, one.incarnation)
            for one in found
        ]

    def close(self) -> None:
        """Ends the session at the server, unless that is gone."""
        handle, self._handle = self._handle, ""
        if not handle:
            return
        request = protos.CloseSessionRequest(session_handle=handle)
        try:
            self._master.call("CloseSession", request, self._timeout or _CLOSING, waits=False)
        except (errors.UnavailableError, errors.AbortedError, errors.DeadlineExceededError):
            return  # A server that is not there any more has no session.


def _told(handle: str, template: Any, feeds: Sequence[tuple[str, DType]]) -> Told:
    """A run of a session as its link is told of it."""
    request = protos.RunStepRequest(session_handle=handle)
    request.MergeFrom(template)
    for name, _ in feeds:
        request.feed.add(name=name)
    return Told(STEP, request, [dtype.base_dtype for _, dtype in feeds])


class RemotePartialRun:
    """One run in parts at a server."""

    def __init__(
        self,
        remote: RemoteSession,
        session: BaseSession,
        handle: str,
        fetches: Sequence[Tensor],
        feeds: Sequence[Tensor],
    ) -> None:
        self._remote, self._session, self._handle = remote, session, handle
        self._left = {tensor.name for tensor in (*fetches, *feeds)}

    @property
    def finished(self) -> bool:
        """Whether everything was fed and fetched."""
        return not self._left

    def advance(self, fetches: object, feed_dict: Feeds) -> Any:
        """Feeds some more tensors and gives the values asked for."""
        graph = self._remote.graph
        part = Fetches(graph, fetches)
        if part.targets:
            raise RuntimeError("partial_run() requires empty target_list.")
        names = [tensor.name for tensor in part.tensors]
        request = protos.RunStepRequest(
            session_handle=self._remote.extend(),
            fetch=names,
            partial_run_handle=self._handle,
            store_errors_in_response_body=True,
        )
        for key, value in expanded(feed_dict or {}):
            tensor = feed_tensor(graph, key)
            array = FeedSlot(tensor).convert(value)
            request.feed.add(name=tensor.name).tensor.CopyFrom(encoded(array, tensor.dtype))
            self._left.discard(tensor.name)
        values = self._remote.step(self._session, request, names)
        self._left.difference_update(names)
        return part.build([value[()] for value in values])


def reset(target: str, containers: Sequence[str] | None, config: Any) -> None:
    """Clears containers on all tasks of the cluster that a target belongs to."""
    request = protos.ResetRequest(container=containers or [])
    timeout = 0
    if config is not None:
        request.device_filters.extend(config.device_filters)
        timeout = config.operation_timeout_in_ms
    channel = rpc.Channel(target.removeprefix(rpc.PREFIX), rpc.MASTER)
    try:
        channel.call("Reset", request, timeout / 1000.0 or None)
    finally:
        channel.close()
