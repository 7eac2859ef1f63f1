# SPDX-License-Identifier: Apache-2.0
"""The services of a task: what each call does."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.session.futures import Future
from ...io import protos
from .buffer_exchange import Buffer
from .link_client import Told
from .link_server import Answer, LinkCall
from .master import Master
from .parted_run import Step
from .rendezvous import of_task
from .shared_memory import asking
from .tensor_messages import decoded, encoded
from .trace import Trace, wanted_of
from .worker import Worker

if TYPE_CHECKING:
    from .worker import WorkerSession

# gRPC has a number for waiting without end.
_ENDLESS = 1e8
# As our errors name a node, and as TensorFlow's clients look for it.
_LINE = re.compile(r"\[\[node (\S+) \(defined at [^\n]*\) \]\]")


class Call:
    """What a call knows of its client: how long it waits, and when it gives up."""

    def __init__(self, context: Any = None) -> None:
        """context: gRPC's; None for a client in this process."""
        self._context = context

    @property
    def seconds(self) -> float | None:
        """How long the client waits; None: without end."""
        left = None if self._context is None else self._context.time_remaining()
        return None if left is None or left > _ENDLESS else left

    @property
    def is_awaited(self) -> bool:
        """Whether the client has not given up."""
        return self._context is None or self._context.is_active()

    def on_cancel(self, function: Callable[[], Any]) -> None:
        """Has a function called when the client gives up; at the end of the call, too."""
        if self._context is not None and not self._context.add_callback(function):
            function()


def wire_text(error: errors.OpError) -> str:
    """An error's text as TensorFlow's clients read it."""
    return _LINE.sub(lambda found: f"[[{{{{node {found[1]}}}}}]]", error.message)


def as_error(error: Exception) -> errors.OpError:
    """Any failure as one that crosses processes."""
    if isinstance(error, errors.OpError):
        return error
    return errors.internal(f"{type(error).__name__}: {error}")


class MasterService:
    """The calls of a master."""

    def __init__(self, master: Master) -> None:
        self._master = master

    def CreateSession(self, request: Any, call: Call) -> Any:
        """Begins a session."""
        session = self._master.create_session(request.graph_def, request.config, request.target)
        return protos.CreateSessionResponse(
            session_handle=session.handle, graph_version=session.version
        )

    def ExtendSession(self, request: Any, call: Call) -> Any:
        """Adds to a session's graph."""
        session = self._master.session(request.session_handle)
        version = session.extend(request.graph_def, request.current_graph_version)
        return protos.ExtendSessionResponse(new_graph_version=version)

    def RunStep(self, request: Any, call: Call) -> Any:
        """Runs a part of a session's graph, or goes on with a run in parts."""
        response = protos.RunStepResponse()
        try:
            session = self._master.session(request.session_handle)
            feeds = {one.name: decoded(one.tensor) for one in request.feed}
            fetches = list(dict.fromkeys(request.fetch))
            if request.partial_run_handle:
                values = session.advance(request.partial_run_handle, feeds, fetches)
            else:
                step = self._step(request.options, response.metadata, call)
                values = session.run(feeds, fetches, list(request.target), step)
            for name, value in zip(fetches, values):
                response.tensor.add(name=name).tensor.CopyFrom(encoded(value, session.dtype(name)))
        except Exception as raised:
            error = self._placed(as_error(raised))
            if not request.store_errors_in_response_body:
                raise error from raised
            response.Clear()
            response.status_code = error.error_code
            response.status_error_message = wire_text(error)
        return response

    def told_step(self, text: bytes) -> Answer:
        """What answers runs of a RunStepRequest that comes without values."""
        request = protos.RunStepRequest.FromString(text)
        feeds = [one.name for one in request.feed]
        fetches, targets = list(dict.fromkeys(request.fetch)), list(request.target)
        handle, options, metadata = request.session_handle, request.options, protos.RunMetadata()
        kinds: list[Any] = []

        def answer(values: list[Any], call: Any, number: int) -> tuple[list[Any], list[Any]]:
            session = self._master.session(handle)
            step = Step(options, metadata, call.seconds, call.on_cancel)
            try:
                results = session.run(dict(zip(feeds, values)), fetches, targets, step)
            except errors.OpError as error:
                raise self._placed(error) from error
            if not kinds:
                kinds.extend(session.dtype(name) for name in fetches)
            return results, kinds

        return answer

    def _placed(self, error: errors.OpError) -> errors.OpError:
        """An error of a run, with the task where it was."""
        return error if error.op is None else of_task(error, self._master.worker.task)

    @staticmethod
    def _step(options: Any, metadata: Any, call: Call) -> Step:
        limits = [call.seconds, options.timeout_in_ms / 1000.0 or None]
        seconds = min((limit for limit in limits if limit is not None), default=None)
        return Step(options, metadata, seconds, call.on_cancel)

    def PartialRunSetup(self, request: Any, call: Call) -> Any:
        """Begins a run in parts."""
        session = self._master.session(request.session_handle)
        handle = session.setup(list(request.feed), list(request.fetch), list(request.target))
        return protos.PartialRunSetupResponse(partial_run_handle=handle)

    def CloseSession(self, request: Any, call: Call) -> Any:
        """Ends a session."""
        self._master.close(request.session_handle)
        return protos.CloseSessionResponse()

    def ListDevices(self, request: Any, call: Call) -> Any:
        """The devices of this task and of the others."""
        response = protos.ListDevicesResponse()
        if request.session_handle:
            devices = self._master.session(request.session_handle).devices
            response.local_device.extend(devices[:1])
            response.remote_device.extend(devices[1:])
        else:
            own, others = self._master.list_devices()
            response.local_device.extend(own)
            response.remote_device.extend(others)
        return response

    def Reset(self, request: Any, call: Call) -> Any:
        """Clears containers of all tasks."""
        self._master.reset(list(request.container), list(request.device_filters))
        return protos.ResetResponse()

    def MakeCallable(self, request: Any, call: Call) -> Any:
        """Keeps what a callable feeds and fetches."""
        session = self._master.session(request.session_handle)
        return protos.MakeCallableResponse(handle=session.make_callable(request.options))

    def RunCallable(self, request: Any, call: Call) -> Any:
        """Runs a callable."""
        session = self._master.session(request.session_handle)
        options = session.callable_options(request.handle)
        if len(request.feed) != len(options.feed):
            raise errors.invalid(
                f"Expected {len(options.feed)} feed tensors, but got {len(request.feed)}"
            )
        response = protos.RunCallableResponse()
        feeds = {name: decoded(one) for name, one in zip(options.feed, request.feed)}
        step = self._step(options.run_options, response.metadata, call)
        fetches = list(options.fetch)
        values = session.run(feeds, fetches, list(options.target), step)
        for name, value in zip(fetches, values):
            response.fetch.add().CopyFrom(encoded(value, session.dtype(name)))
        return response

    def ReleaseCallable(self, request: Any, call: Call) -> Any:
        """Forgets a callable."""
        self._master.session(request.session_handle).release_callable(request.handle)
        return protos.ReleaseCallableResponse()


class WorkerService:
    """The calls of a worker."""

    def __init__(self, worker: Worker, peers_of: Callable[[Any], Callable[[str], Any]]) -> None:
        """peers_of(ClusterDef) -> what gives the channels to the tasks of another cluster."""
        self._worker, self._peers_of = worker, peers_of

    def GetStatus(self, request: Any, call: Call) -> Any:
        """The devices of this task."""
        return protos.GetStatusResponse(device_attributes=self._worker.devices())

    def CreateWorkerSession(self, request: Any, call: Call) -> Any:
        """Begins a client's session on this task."""
        given = request.server_def
        owner = None
        if given.cluster.job:
            task = f"/job:{given.job_name}/replica:0/task:{given.task_index}"
            owner = self._worker.known_as(task, self._peers_of(given.cluster))
        self._worker.create_session(request.session_handle, request.isolate_session_state, owner)
        return protos.CreateWorkerSessionResponse()

    def DeleteWorkerSession(self, request: Any, call: Call) -> Any:
        """Ends a client's session on this task."""
        self._worker.delete_session(request.session_handle)
        return protos.DeleteWorkerSessionResponse()

    def _session(self, request: Any) -> WorkerSession:
        return self._worker.session(request.session_handle, request.create_worker_session_called)

    def RegisterGraph(self, request: Any, call: Call) -> Any:
        """Takes a part of a graph."""
        config = protos.ConfigProto(graph_options=request.graph_options)
        handle = self._worker.register(
            self._session(request), request.graph_def, config, bool(request.collective_graph_key)
        )
        return protos.RegisterGraphResponse(graph_handle=handle)

    def DeregisterGraph(self, request: Any, call: Call) -> Any:
        """Forgets a part of a graph."""
        self._session(request).graphs.pop(request.graph_handle, None)
        return protos.DeregisterGraphResponse()

    def RunGraph(self, request: Any, call: Call) -> Any:
        """Runs a part of a graph."""
        response = protos.RunGraphResponse()
        try:
            if request.is_partial:
                raise errors.unimplemented("Runs in parts across tasks do not run here.")
            given = {one.name: decoded(one.tensor) for one in request.send}
            wanted, trace = list(request.recv_key), wanted_of(request.exec_opts)
            graph, found = self._run(request, request.step_id, given, wanted, call, trace)
            if trace is not None:
                response.step_stats.CopyFrom(trace.metadata.step_stats)
                response.partition_graph.extend(trace.metadata.partition_graphs)
            for key, value in found.items():
                response.recv.add(name=key).tensor.CopyFrom(encoded(value, graph.dtype(key)))
        except Exception as raised:
            error = as_error(raised)
            if not request.store_errors_in_response_body:
                raise error from raised
            response.Clear()
            response.status_code, response.status_error_message = self._failure(error)
        return response

    def _run(
        self,
        request: Any,
        step: int,
        given: dict[str, Any],
        wanted: list[str],
        call: Any,
        trace: Trace | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Runs the part of a request; the part, and what it gave by key."""
        graph = self._worker.graph(self._session(request), request.graph_handle)
        is_over = threading.Event()

        def cancel() -> None:
            if not is_over.is_set():
                self._worker.cancel(graph, step)

        if graph.has_transfers:
            self._worker.begin(step)
        call.on_cancel(cancel)
        try:
            return graph, self._worker.run(graph, step, given, wanted, call.seconds, trace)
        finally:
            is_over.set()
            if not call.is_awaited:
                # Who gave up has said so before this task was done with the step.
                self._worker.steps.cleanup(step)

    def told_part(self, text: bytes) -> Answer:
        """What answers runs of a RunGraphRequest that comes without values."""
        request = protos.RunGraphRequest.FromString(text)
        keys, wanted = [one.name for one in request.send], list(request.recv_key)

        def answer(values: list[Any], call: Any, number: int) -> tuple[list[Any], list[Any]]:
            try:
                graph, found = self._run(request, number, dict(zip(keys, values)), wanted, call)
            except Exception as raised:
                code, text = self._failure(raised)
                raise errors.make_error(None, None, text, code) from raised
            return [found[key] for key in wanted], [graph.dtype(key) for key in wanted]

        return answer

    def _failure(self, raised: Exception) -> tuple[int, str]:
        """The code and text of what a part failed with; masters say themselves of which task."""
        error = as_error(raised)
        text = wire_text(error)
        for name in self._worker.names:
            text = text.removeprefix(f"From {name}:\n")
        return error.error_code, text

    def CleanupGraph(self, request: Any, call: Call) -> Any:
        """Forgets a step."""
        self._worker.steps.cleanup(request.step_id)
        return protos.CleanupGraphResponse()

    def CleanupAll(self, request: Any, call: Call) -> Any:
        """Clears containers of this task."""
        self._worker.clear(list(request.container))
        return protos.CleanupAllResponse()

    def CompleteGroup(self, request: Any, call: Call) -> Any:
        """Waits until all members of a group have come; who they are."""
        member = self._worker.member(request.device_name[0])
        return self._worker.leader.complete(request, member, lambda: call.is_awaited)

    def RecvTensor(self, request: Any, call: Call) -> bytes:
        """A tensor of a step, once it is there; the bytes of the response."""
        future = self._worker.receive(request.step_id, request.rendezvous_key)
        return self._given(request, self._awaited(future, call, request.step_id), request.step_id)

    def _given(self, request: Any, value: Any, step: int) -> bytes:
        if isinstance(value, bytes):
            return value
        # It is mapped after the response has come, and before the step ends.
        self._worker.steps.find(step).kept.append(value)
        return value.response(request)  # type: ignore[no-any-return]

    def tensor(self, step: int, key: str) -> Future:
        """The tensor of a step that a process of this machine asks for."""
        return self._worker.receive(step, key)

    def given(self, step: int, value: Any) -> bytes:
        """The response of RecvTensor for a process of this machine."""
        return self._given(asking(), value, step)

    def unasked(self, step: int) -> None:
        """Forgets a step that was only asked for."""
        self._worker.steps.release(step)

    def RecvBuf(self, request: Any, call: Call) -> bytes:
        """A piece of a tensor in a collective, once it is there; the bytes of the response."""
        future = self._worker.receive_buffer(request)
        buffer: Buffer = self._awaited(future, call, request.step_id)
        return buffer.response()

    def _awaited(self, future: Future, call: Call, step: int | None = None) -> Any:
        """What a Future gives, if the client waits for so long.

        step: where it was looked for.
        """
        if not future.is_done:
            ready = threading.Event()
            future.watch(lambda settled: ready.set())
            call.on_cancel(future.cancel)
            ready.wait()
            if future.error is not None and step is not None:
                self._worker.steps.release(step)
        return future.outcome()

    def CompleteInstance(self, request: Any, call: Call) -> Any:
        """Waits until the members of a broadcast have come; which of them is the source."""
        devices = self._worker.leader.devices(request.group_key)
        source = self._awaited(self._worker.instances.join(request, devices), call)
        return protos.CompleteInstanceResponse(
            instance_key=request.instance_key, source_rank=source
        )

    def GetStepSequence(self, request: Any, call: Call) -> Any:
        """The next steps that members of collectives have in common."""
        response = protos.GetStepSequenceResponse()
        for key in request.graph_key:
            step = self._worker.sequences.begin(key)
            response.step_sequence.add(graph_key=key, next_step_id=step)
        return response

    def Logging(self, request: Any, call: Call) -> Any:
        """Calls are not logged here: there are none to tell of."""
        return protos.LoggingResponse()

    def Tracing(self, request: Any, call: Call) -> Any:
        """Nothing is traced but runs, by their own options."""
        return protos.TracingResponse()


class InProcess:
    """Calls of a service in this process, as a Channel has them."""

    def __init__(self, service: MasterService) -> None:
        self._service = service
        self._runs: dict[Told, Answer] = {}

    @property
    def link(self) -> InProcess:
        """Runs without messages, too."""
        return self

    def run(
        self, told: Told, values: Sequence[Any], seconds: float | None = None
    ) -> list[Any] | None:
        """The values of a run."""
        answer = self._runs.get(told)
        if answer is None:
            answer = self._runs[told] = self._service.told_step(told.text)
        try:
            return answer(list(values), LinkCall(lambda call: None, seconds or 0.0), 0)[0]
        except errors.OpError as error:
            raise errors.make_error(None, None, wire_text(error), error.error_code) from error

    def call(
        self, name: str, request: Any, timeout: float | None = None, waits: bool = True
    ) -> Any:
        """The response of a call."""
        try:
            return getattr(self._service, name)(request, Call())
        except errors.OpError as error:
            raise errors.make_error(None, None, wire_text(error), error.error_code) from error
