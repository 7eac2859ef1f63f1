# SPDX-License-Identifier: Apache-2.0
"""`PartedRun`: one run on several tasks, whose workers keep its parts.

All parts begin at a time.  Where one fails, the others are cancelled, and the client gets the error
that was first, rather than those that came of it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.record_class import record
from ...engine.types import dtypes
from ...io import protos
from .link_client import PART, Told
from .rendezvous import of_task
from .step_sequences import graph_key
from .tensor_messages import decoded, encoded
from .trace import Trace

if TYPE_CHECKING:
    from ...engine.types.dtypes import DType
    from .partition import Part
    from .worker import RegisteredGraph, Worker

Feeds = Mapping[str, Any]
# What a failure of one task comes to on others.
_CONSEQUENCES = (errors.CancelledError, errors.AbortedError)


@record
class Step:
    """What a client says of one run: its limits, and what it wants to know of it."""

    options: Any
    metadata: Any
    seconds: float | None = None
    # on_cancel(function) has it called when the client gives up.
    on_cancel: Callable[[Callable[[], Any]], Any] = lambda function: None

    @property
    def is_traced(self) -> bool:
        """Whether the client wants to know what ran and when."""
        return bool(self.options.trace_level or self.options.output_partition_graphs)

    def trace(self) -> Trace | None:
        """What notes the part of this task."""
        return Trace(self.options) if self.is_traced else None

    def note(self, trace: Trace | None) -> None:
        """Tells the client of it."""
        if trace is not None:
            self.metadata.MergeFrom(trace.metadata)


class Registered:
    """Parts of a graph that workers have taken: this task's own, and those of others."""

    def __init__(
        self,
        worker: Worker,
        peers: Callable[[str], Any],
        handle: str,
        parts: Sequence[Part],
        config: Any,
    ) -> None:
        self.own: tuple[Part, RegisteredGraph] | None = None
        self.others: list[tuple[Part, str]] = []
        # The runs of the others' parts, as links are told of them.
        self.told: list[Told] = []
        calls = []
        # Collectives on several tasks have the run's number in common.
        is_run_whole = sum(bool(part.collectives) for part in parts) > 1
        instances = {number for part in parts for number in part.collectives}
        for part in parts:
            if part.task == worker.task:
                continue
            request = protos.RegisterGraphRequest(
                session_handle=handle, create_worker_session_called=True
            )
            if is_run_whole:
                request.collective_graph_key = graph_key(instances)
            request.graph_def.CopyFrom(part.graph_def)
            request.graph_options.CopyFrom(config.graph_options)
            calls.append((part, peers(part.task).begin("RegisterGraph", request, waits=False)))
        for part in parts:
            if part.task == worker.task:
                session = worker.session(handle)
                registered = worker.register(session, part.graph_def, config, is_run_whole)
                self.own = part, worker.graph(session, registered)
        for part, call in calls:
            response = peers(part.task).outcome(call)
            self.others.append((part, response.graph_handle))
            self.told.append(_told(handle, part, response.graph_handle))

    @staticmethod
    def cleanup(peer: Any, number: int) -> None:
        """Has another task forget a step."""
        peer.tell("CleanupGraph", protos.CleanupGraphRequest(step_id=number))


class PartedRun:
    """A run whose parts speak to each other, registered with the workers of their tasks."""

    def __init__(
        self,
        worker: Worker,
        peers: Callable[[str], Any],
        handle: str,
        parts: Registered,
        fetches: Sequence[str],
    ) -> None:
        self._worker, self._peers, self._handle = worker, peers, handle
        self._fetches = list(fetches)
        self._own, self._others = parts.own, parts.others

    def __call__(self, feeds: Feeds, step: Step) -> list[Any]:
        number = random.getrandbits(56) | 1 << 56
        if self._own is not None:
            self._worker.begin(number)
        calls = [
            (part, self._begin(part, registered, number, feeds, step))
            for part, registered in self._others
        ]

        def cancel() -> None:
            for _, call in calls:
                call.cancel()
            if self._own is not None:
                self._worker.cancel(self._own[1], number)

        for _, call in calls:
            call.add_done_callback(lambda done: self._watch(done, cancel))
        step.on_cancel(cancel)
        try:
            return self._gather(number, feeds, step, calls, cancel)
        finally:
            self._cleanup(number)

    def _begin(self, part: Part, registered: str, number: int, feeds: Feeds, step: Step) -> Any:
        request = run_request(self._handle, part, registered, number, feeds, step)
        return self._peers(part.task).begin("RunGraph", request, step.seconds, waits=False)

    @staticmethod
    def _watch(call: Any, cancel: Callable[[], None]) -> None:
        """Ends the run when a task has failed."""
        if call.cancelled() or call.exception() is not None or call.result().status_code:
            cancel()

    def _gather(
        self, number: int, feeds: Feeds, step: Step, calls: Sequence[Any], cancel: Any
    ) -> list[Any]:
        """The fetches of all tasks, or the error that came first."""
        values: dict[str, Any] = {}
        failures: list[errors.OpError] = []
        if self._own is not None:
            part, graph = self._own
            given = {key: feeds[name] for name, key in part.feeds.items()}
            trace, wanted = step.trace(), list(part.fetches.values())
            try:
                found = self._worker.run(graph, number, given, wanted, step.seconds, trace)
                step.note(trace)
                values.update((name, found[key]) for name, key in part.fetches.items())
            except errors.OpError as error:
                failures.append(of_task(error, part.task))
                cancel()
        for part, call in calls:
            try:
                values.update(values_of(self._peers(part.task).outcome(call), part, step))
            except errors.OpError as error:
                failures.append(of_task(error, part.task))
        if failures:
            raise failure_of(failures)
        return [feeds[name] if name in feeds else values[name] for name in self._fetches]

    def _cleanup(self, number: int) -> None:
        for part, _ in self._others:
            Registered.cleanup(self._peers(part.task), number)
        self._worker.steps.cleanup(number)


def _request(handle: str, part: Part, registered: str, number: int) -> Any:
    return protos.RunGraphRequest(
        session_handle=handle,
        create_worker_session_called=True,
        graph_handle=registered,
        step_id=number,
        recv_key=list(part.fetches.values()),
        store_errors_in_response_body=True,
    )


def _told(handle: str, part: Part, registered: str) -> Told:
    """The runs of another task's part, without values."""
    request = _request(handle, part, registered, 0)
    for key in part.feeds.values():
        request.send.add(name=key)
    return Told(PART, request, part.kinds)


def run_request(
    handle: str, part: Part, registered: str, number: int, values: Feeds, step: Step
) -> Any:
    """The request to run another task's part, with what it takes of `values`."""
    request = _request(handle, part, registered, number)
    if step.is_traced:
        request.exec_opts.record_timeline = bool(step.options.trace_level)
        request.exec_opts.record_partition_graphs = step.options.output_partition_graphs
    for name, key in part.feeds.items():
        value = values[name]
        request.send.add(name=key).tensor.CopyFrom(encoded(value, _dtype(value)))
    return request


def values_of(response: Any, part: Part, step: Step) -> dict[str, Any]:
    """What a part gave, by names of tensors; raises what it failed with."""
    if response.status_code:
        raise errors.make_error(None, None, response.status_error_message, response.status_code)
    if step.is_traced:
        step.metadata.step_stats.MergeFrom(response.step_stats)
        step.metadata.partition_graphs.extend(response.partition_graph)
    names = {key: name for name, key in part.fetches.items()}
    return {names[one.name]: decoded(one.tensor) for one in response.recv}


def failure_of(failures: Sequence[errors.OpError]) -> errors.OpError:
    """Of the errors of several tasks, one that did not come of another."""
    causes = [error for error in failures if not isinstance(error, _CONSEQUENCES)]
    return (causes or failures)[0]


def _dtype(value: Any) -> DType:
    return dtypes.string if isinstance(value, bytes) else dtypes.as_dtype(value.dtype)
