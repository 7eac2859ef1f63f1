# SPDX-License-Identifier: Apache-2.0
"""The services of a task: what each call does, and the gRPC server that listens for them."""

from __future__ import annotations

import functools
import re
import secrets
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ...engine import errors
from ...engine.session.state import Resources
from ...io import protos
from . import rpc
from .call_threads import CallThreads
from .master import Master
from .parted_run import Step
from .rendezvous import of_task
from .shared_memory import SharedArray
from .tensor_messages import decoded, encoded
from .worker import Worker

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
        session = self._master.create_session(request.graph_def, request.config)
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
            error = as_error(raised)
            if error.op is not None:
                error = of_task(error, self._master.worker.task)
            if not request.store_errors_in_response_body:
                raise error from raised
            response.Clear()
            response.status_code = error.error_code
            response.status_error_message = wire_text(error)
        return response

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
        cluster = request.server_def.cluster
        peers = self._peers_of(cluster) if cluster.job else None
        self._worker.create_session(request.session_handle, request.isolate_session_state, peers)
        return protos.CreateWorkerSessionResponse()

    def DeleteWorkerSession(self, request: Any, call: Call) -> Any:
        """Ends a client's session on this task."""
        self._worker.delete_session(request.session_handle)
        return protos.DeleteWorkerSessionResponse()

    def _session(self, request: Any) -> Any:
        return self._worker.session(request.session_handle, request.create_worker_session_called)

    def RegisterGraph(self, request: Any, call: Call) -> Any:
        """Takes a part of a graph."""
        config = protos.ConfigProto(graph_options=request.graph_options)
        handle = self._worker.register(self._session(request), request.graph_def, config)
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
            graph = self._worker.graph(self._session(request), request.graph_handle)
            given = {one.name: decoded(one.tensor) for one in request.send}
            is_over = threading.Event()

            def cancel() -> None:
                if not is_over.is_set():
                    self._worker.cancel(graph, request.step_id)

            if graph.has_transfers:
                self._worker.begin(request.step_id)
            call.on_cancel(cancel)
            try:
                found = self._worker.run(
                    graph, request.step_id, given, list(request.recv_key), call.seconds
                )
            finally:
                is_over.set()
                if not call.is_awaited:
                    # Who gave up has said so before this task was done with the step.
                    self._worker.steps.cleanup(request.step_id)
            for key, value in found.items():
                response.recv.add(name=key).tensor.CopyFrom(encoded(value, graph.dtype(key)))
        except Exception as raised:
            error = as_error(raised)
            if not request.store_errors_in_response_body:
                raise error from raised
            response.Clear()
            response.status_code = error.error_code
            # Masters say themselves of which task it is.
            own = f"From {self._worker.task}:\n"
            response.status_error_message = wire_text(error).removeprefix(own)
        return response

    def CleanupGraph(self, request: Any, call: Call) -> Any:
        """Forgets a step."""
        self._worker.steps.cleanup(request.step_id)
        return protos.CleanupGraphResponse()

    def CleanupAll(self, request: Any, call: Call) -> Any:
        """Clears containers of this task."""
        self._worker.clear(list(request.container))
        return protos.CleanupAllResponse()

    def RecvTensor(self, request: Any, call: Call) -> bytes:
        """A tensor of a step, once it is there; the bytes of the response."""
        future = self._worker.receive(request.step_id, request.rendezvous_key)
        if not future.is_done:
            ready = threading.Event()
            future.watch(lambda settled: ready.set())
            call.on_cancel(future.cancel)
            ready.wait()
            if future.error is not None:
                self._worker.steps.release(request.step_id)
        value = future.outcome()
        if not isinstance(value, SharedArray):
            return value  # type: ignore[no-any-return]
        # It is mapped after the response has come, and before the step ends.
        self._worker.steps.find(request.step_id).kept.append(value)
        return value.response(request)

    def Logging(self, request: Any, call: Call) -> Any:
        """Calls are not logged here: there are none to tell of."""
        return protos.LoggingResponse()

    def Tracing(self, request: Any, call: Call) -> Any:
        """Nothing is traced but runs, by their own options."""
        return protos.TracingResponse()


class InProcess:
    """Calls of a service in this process, as a Channel has them."""

    def __init__(self, service: Any) -> None:
        self._service = service

    def call(
        self, name: str, request: Any, timeout: float | None = None, waits: bool = True
    ) -> Any:
        """The response of a call."""
        try:
            return getattr(self._service, name)(request, Call())
        except errors.OpError as error:
            raise errors.make_error(None, None, wire_text(error), error.error_code) from error


class Host:
    """A task that listens: its worker, its master, and the channels to others."""

    def __init__(self, task: str, tasks: Mapping[str, str], address: str) -> None:
        """tasks: addresses by task; address: where to listen, the port 0 for any that is free."""
        self._grpc = rpc.grpc()
        self._channels: dict[str, rpc.Channel] = {}
        self._lock = threading.Lock()
        self._threads = CallThreads("numbaflow-task")
        self._server = self._grpc.server(self._threads, options=rpc.options())
        try:
            port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise errors.unknown(f"Could not start gRPC server: {error}") from None
        if not port:
            raise errors.unknown(f"Could not start gRPC server at {address}")
        self.port = port
        self.resources = Resources(task)
        peers = self._peers(tasks)
        self.worker = Worker(task, secrets.randbits(63) | 1, self.resources, peers)
        self.master = Master(self.worker, list(tasks), peers)
        self.master_service = MasterService(self.master)
        worker_service = WorkerService(self.worker, self._peers_of)
        self._server.add_generic_rpc_handlers(
            (
                self._handler(rpc.MASTER, self.master_service),
                self._handler(rpc.WORKER, worker_service),
            )
        )

    def start(self) -> None:
        """Begins to listen."""
        self._server.start()

    def stop(self) -> None:
        """Ends listening, and what is under way."""
        self._server.stop(None)
        for channel in self._channels.values():
            channel.close()
        self._threads.shutdown()

    def _peers(self, tasks: Mapping[str, str]) -> Callable[[str], rpc.Channel]:
        return lambda task: self._channel(tasks[task])

    def _peers_of(self, cluster: Any) -> Callable[[str], rpc.Channel]:
        return self._peers(task_addresses(cluster))

    def _channel(self, address: str) -> rpc.Channel:
        found = self._channels.get(address)
        if found is None:
            with self._lock:
                found = self._channels.get(address) or rpc.Channel(address, rpc.WORKER)
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
            return function(request, Call(context))
        except Exception as raised:
            error = as_error(raised)
            code = next(c for c in self._grpc.StatusCode if c.value[0] == error.error_code)
            context.abort(code, wire_text(error))


def task_addresses(cluster: Any) -> dict[str, str]:
    """The addresses of a ClusterDef's tasks, by their names."""
    return {
        f"/job:{job.name}/replica:0/task:{number}": address
        for job in cluster.job
        for number, address in sorted(job.tasks.items())
    }


def _refused(name: str, request: Any, call: Call) -> Any:
    raise errors.unimplemented(f"{name} is not answered here: there are no collectives.")


def _serialized(response: Any) -> bytes:
    return response if type(response) is bytes else response.SerializeToString()
