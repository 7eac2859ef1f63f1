# SPDX-License-Identifier: Apache-2.0
"""`Master`: clients' sessions on a cluster, and how a run becomes runs of tasks.

What a run needs of this task alone is an ordinary run of the engine.  Else it is cut into parts,
which workers keep: each run asks all of them at a time, and they exchange tensors by themselves.
"""

from __future__ import annotations

import itertools
import random
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.graph.devices import parse_device
from ...engine.graph.graph import Graph
from ...engine.interface import log
from ...engine.session import run_order
from ...engine.session.partial_run import setup
from ...io import protos
from ...io.graph_extension import extend_graph
from . import partial_run
from .parted_run import Feeds, PartedRun, Registered, Step
from .partition import Partitioner
from .placement import Placer
from .rendezvous import task_of
from .rpc import PREFIX, task_addresses
from .staged_run import StagedRun
from .stages import staged
from .task_session import TaskSession
from .trace import Trace
from .worker import Transfers, key_of_collectives

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from .worker import Worker

# So often the log says which tasks have not answered yet, in seconds.
_STILL_WAITING = 10.0
# Seconds that a task which may be gone has to end a session.
_CLOSING = 10.0

_numbers = itertools.count()


class Master:
    """The sessions of one task's clients."""

    def __init__(
        self,
        worker: Worker,
        tasks: Sequence[str],
        peers: Callable[[str], Any],
        peers_of: Callable[[Any], Callable[[str], Any]],
    ) -> None:
        """tasks: of the cluster; peers(task) -> the channel to another task's worker.

        peers_of(ClusterDef) -> the same of a cluster that a session brings along.
        """
        self.worker, self._tasks, self.peers = worker, list(tasks), peers
        self._peers_of = peers_of
        self._lock = threading.Lock()
        self._sessions: dict[str, MasterSession] = {}

    def create_session(self, graph_def: Any, config: Any, target: str) -> MasterSession:
        """A session; it begins when all tasks have answered that it may use.

        target: where the client has found this master, for a cluster that it brings along.
        """
        master = self._within(config.cluster_def, target) if config.cluster_def.job else self
        others = master._others(config.device_filters)
        devices = master.worker.devices() + master._devices(others)
        handle = secrets.token_hex(8)
        session = MasterSession(master, handle, others, devices, config)
        session.create(graph_def)
        with self._lock:
            self._sessions[handle] = session
        return session

    def _within(self, cluster: Any, target: str) -> Master:
        """This master as a task of another cluster than that of its server.

        Raises:
            InvalidArgumentError: it is none of that cluster's tasks, or several, or the same.
        """
        tasks = task_addresses(cluster)
        own = [task for task, at in tasks.items() if at == target.removeprefix(PREFIX)]
        if len(own) != 1:
            count = "multiple matching tasks that correspond" if own else "no task that corresponds"
            raise errors.invalid(
                f"Found {count} to the master. Master target: '{target}'. ClusterDef: {cluster}"
            )
        if own[0] == self.worker.task:
            raise errors.invalid(
                "The ClusterSpec names the job and task index to be the same names that were "
                f"provided when the server booted. This is currently not allowed. Task: {own[0]}"
            )
        peers = self._peers_of(cluster)
        return Master(self.worker.known_as(own[0], peers), list(tasks), peers, self._peers_of)

    def _others(self, filters: Sequence[str]) -> list[str]:
        """The other tasks, as far as device filters let a session see them."""
        wanted = [parse_device(text)[:3] for text in filters]
        return [
            task
            for task in self._tasks
            if task != self.worker.task
            and (not wanted or any(_matches(one, parse_device(task)) for one in wanted))
        ]

    def _devices(self, tasks: Sequence[str]) -> list[Any]:
        """The devices of other tasks, once all have answered."""
        calls = {
            task: (self.peers(task), self.peers(task).begin("GetStatus", protos.GetStatusRequest()))
            for task in tasks
        }
        found = []
        for task, (peer, call) in calls.items():
            while True:
                with suppress(peer.timeout_error):
                    call.exception(timeout=_STILL_WAITING)
                    break
                log.info("CreateSession still waiting for response from worker: %s", task)
            attributes = peer.outcome(call).device_attributes
            self.worker.note_kin(task, attributes)
            for one in attributes:
                # By the name that this cluster has for the task.
                one.name = task + one.name[one.name.index("/device:") :]
            found += attributes
        return found

    def session(self, handle: str) -> MasterSession:
        """A session by its handle; AbortedError where there is none."""
        found = self._sessions.get(handle)
        if found is None:
            raise errors.aborted(f"Session {handle} is not found.")
        return found

    def close(self, handle: str) -> None:
        """Ends a session."""
        session = self.session(handle)
        with self._lock:
            self._sessions.pop(handle, None)
        session.close()

    def reset(self, containers: Sequence[str], filters: Sequence[str]) -> None:
        """Clears containers of all tasks, and ends all sessions here."""
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        self.worker.clear(containers)
        request = protos.CleanupAllRequest(container=containers)
        for task in self._others(filters):
            self.peers(task).call("CleanupAll", request)
        for session in sessions:
            session.close()

    def list_devices(self) -> tuple[list[Any], list[Any]]:
        """The devices of this task and of the others, for who has no session."""
        return self.worker.devices(), self._devices(self._others(()))


def _matches(wanted: Sequence[Any], own: Sequence[Any]) -> bool:
    return all(part in (None, has) for part, has in zip(wanted, own))


class MasterSession:
    """One client's session: its graph, and what was prepared for its runs."""

    def __init__(
        self,
        master: Master,
        handle: str,
        others: Sequence[str],
        devices: Sequence[Any],
        config: Any,
    ) -> None:
        self.handle, self._master, self._others = handle, master, others
        self._worker, self._config = master.worker, config
        self.devices = list(devices)
        self.version = 0
        self.is_closed = False
        self._graph = Graph()
        self._added = itertools.count()
        self._lock = threading.RLock()
        self._runs: dict[Any, Any] = {}
        self._partial: dict[str, Any] = {}
        self._callables: dict[int, Any] = {}
        self._placer = Placer(
            self._graph,
            [device.name for device in devices],
            self._worker.task,
            config.allow_soft_placement,
        )
        self._incarnations = {device.name: device.incarnation for device in devices}

    def create(self, graph_def: Any) -> None:
        """Begins the session on all tasks."""
        cluster = self._config.cluster_def
        is_shared = self._config.experimental.share_session_state_in_clusterspec_propagation
        isolated = self._config.isolate_session_state or bool(cluster.job and not is_shared)
        self._worker.create_session(self.handle, isolated)
        for task in self._others:
            request = protos.CreateWorkerSessionRequest(
                session_handle=self.handle, isolate_session_state=isolated
            )
            if cluster.job:
                job, _, number, *_ = parse_device(task)
                request.server_def.CopyFrom(
                    protos.ServerDef(
                        cluster=cluster, protocol="grpc", job_name=job, task_index=number
                    )
                )
            self._master.peers(task).call("CreateWorkerSession", request)
        own = self._worker.session(self.handle)
        self._engine = TaskSession(
            self._graph, self._worker.task, own.resources, own.states, self._config
        )
        self._engine.transfers = Transfers(self._worker, self._engine, own.peers)
        extend_graph(self._graph, graph_def)

    def extend(self, graph_def: Any, version: int) -> int:
        """Adds to the graph; its new version."""
        with self._lock:
            self._require_open()
            if version != self.version:
                raise errors.aborted(
                    f"Current version is {self.version} but caller expected {version}."
                )
            extend_graph(self._graph, graph_def)
            self.version += 1
            return self.version

    def _require_open(self) -> None:
        if self.is_closed:
            raise errors.failed_precondition("Session is closed.")

    def close(self) -> None:
        """Ends the session here and on all tasks."""
        self.is_closed = True
        self._engine.close()
        self._worker.delete_session(self.handle)
        request = protos.DeleteWorkerSessionRequest(session_handle=self.handle)
        for task in self._others:
            # One that is gone has no session.
            with suppress(errors.OpError):
                self._master.peers(task).call(
                    "DeleteWorkerSession", request, timeout=_CLOSING, waits=False
                )

    # What runs name

    def tensor(self, name: str, what: str) -> Tensor:
        """A tensor of the graph; NotFoundError where there is none."""
        node, _, index = name.partition(":")
        op = self._graph._nodes_by_name.get(node)
        if op is None or int(index or 0) >= len(op.outputs):
            raise errors.not_found(f"{what} {name}: not found")
        return op.outputs[int(index or 0)]

    def _target(self, name: str) -> Operation:
        op = self._graph._nodes_by_name.get(name.partition(":")[0])
        if op is None:
            raise errors.not_found(f"PruneForTargets: Some target nodes not found: {name} ")
        return op

    # Runs

    def run(
        self,
        feeds: Feeds,
        fetches: Sequence[str],
        targets: Sequence[str],
        step: Step,
    ) -> list[Any]:
        """The values of the fetches; feeds by name."""
        self._require_open()
        key = (*feeds, None, *fetches, None, *targets)
        run = self._runs.get(key)
        if run is None:
            with self._lock:
                run = self._runs.get(key) or self._prepare(list(feeds), fetches, targets)
                self._runs[key] = run
        return run(feeds, step)  # type: ignore[no-any-return]

    def _prepare(
        self, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]
    ) -> Callable[[Feeds, Step], list[Any]]:
        """What runs these fetches and targets: the engine here, or parts on several tasks."""
        fed = [self.tensor(name, "FeedInputs: unable to find feed output") for name in feeds]
        found = [self.tensor(name, "FetchOutputs node") for name in fetches]
        ended = [self._target(name) for name in targets]
        operations = run_order.needed_operations(found, ended, fed)
        # A fetch that is fed is what was fed, wherever its operation is.
        devices = self._placer.devices_of(operations)
        tasks = {task_of(device) for device in devices.values()}
        if tasks <= {self._worker.task}:
            return _LocalRun(self._engine, self._worker.task, fed, found, ended)
        wanted = [tensor for tensor in found if tensor not in set(fed)]
        return self._spread(devices, fed, wanted, fetches)

    def _part(
        self,
        operations: Sequence[Operation],
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
    ) -> Any:
        """What runs these operations, and no others that they depend on."""
        key = (*operations, None, *feeds, None, *fetches)
        with self._lock:
            if key not in self._runs:
                devices = self._placer.devices_of(operations)
                names = [tensor.name for tensor in fetches]
                self._runs[key] = self._spread(devices, list(feeds), list(fetches), names)
            return self._runs[key]

    def _spread(
        self,
        devices: Mapping[Operation, str],
        fed: Sequence[Tensor],
        wanted: Sequence[Tensor],
        fetches: Sequence[str],
    ) -> StagedRun | PartedRun:
        """A run on several tasks: of stages, or of parts that speak to each other."""
        peers = self._master.peers
        stages = staged(devices, fed, wanted)
        if stages is None:
            parts = self._register(devices, fed, wanted)
            return PartedRun(self._worker, peers, self.handle, parts, fetches)
        made = [self._register(one.devices, list(one.feeds), list(one.fetches)) for one in stages]
        return StagedRun(self._worker, peers, self.handle, made, fetches)

    def _register(
        self,
        devices: Mapping[Operation, str],
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
    ) -> Registered:
        """The parts of operations, with the workers of their tasks."""
        partitioner = Partitioner(self._graph, devices, self._incarnations, feeds, self._added)
        parts = partitioner.cut(fetches)
        return Registered(self._worker, self._master.peers, self.handle, parts, self._config)

    # Runs in parts and callables

    def setup(self, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]) -> str:
        """Begins a run in parts; its handle."""
        fed = [self.tensor(name, "FeedInputs: unable to find feed output") for name in feeds]
        found: list[Any] = [self.tensor(name, "FetchOutputs node") for name in fetches]
        found += [self._target(name) for name in targets]
        operations = run_order.needed_operations(
            [x for x in found if hasattr(x, "op")], [x for x in found if not hasattr(x, "op")], fed
        )
        tasks = {task_of(device) for device in self._placer.devices_of(operations).values()}
        run: Any
        if tasks <= {self._worker.task}:
            _, run = setup(self._engine, found, fed)
        else:
            tensors = found[: len(fetches)]
            run = partial_run.PartialRun(self._part, fed, tensors, found[len(fetches) :])
        handle = f"{','.join(fetches)};{next(_numbers)}"
        self._partial[handle] = run
        return handle

    def advance(self, handle: str, feeds: Feeds, fetches: Sequence[str]) -> list[Any]:
        """Continues a run in parts."""
        run = self._partial.get(handle)
        if run is None:
            raise errors.invalid("Must run PartialRunSetup before performing partial runs!")
        tensors = [self.tensor(name, "FetchOutputs node") for name in fetches]
        given = {self.tensor(name, "FeedInputs"): value for name, value in feeds.items()}
        values: list[Any] = run.advance(tensors, given)
        if run.finished:
            self._partial.pop(handle, None)
        return values

    def make_callable(self, options: Any) -> int:
        """Keeps a CallableOptions message; its number."""
        if options.tensor_connection:
            raise errors.unimplemented("Callables with tensor connections do not run here.")
        number = next(_numbers)
        self._callables[number] = options
        return number

    def callable_options(self, number: int) -> Any:
        """What `make_callable` kept."""
        found = self._callables.get(number)
        if found is None:
            raise errors.invalid(
                "Attempted to run callable after handle was released: " + str(number)
            )
        return found

    def release_callable(self, number: int) -> None:
        """Forgets a callable."""
        self._callables.pop(number, None)

    def dtype(self, name: str) -> DType:
        """The dtype of a tensor."""
        return self.tensor(name, "FetchOutputs node").dtype.base_dtype


class _LocalRun:
    """A run of what is on the master's own task."""

    def __init__(
        self,
        engine: TaskSession,
        task: str,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
    ) -> None:
        self._engine, self._task, self._feeds = engine, task, list(feeds)
        self._fetches, self._targets = list(fetches), list(targets)
        computed = [tensor for tensor in fetches if tensor not in set(feeds)]
        self._places = [None if t in set(feeds) else computed.index(t) for t in fetches]
        self._run = engine.runner(computed, targets, feeds)
        needed = run_order.needed_operations(computed, list(targets), list(feeds))
        self._graph_key = key_of_collectives(needed)

    def __call__(self, feeds: Mapping[str, Any], step: Step) -> list[Any]:
        run = random.getrandbits(56)
        step.on_cancel(lambda: self._engine.run_futures.cancel_run(run))
        key = step.options.experimental.collective_graph_key or self._graph_key
        with self._engine.running(run, step.seconds, graph_key=key):
            if step.is_traced:
                given = dict(zip(self._feeds, feeds.values()))
                trace = Trace(step.options)
                results = trace.of_run(
                    self._engine, self._task, self._fetches, self._targets, given
                )
                step.note(trace)
                return results
            results = self._run(list(feeds.values()))
        given_values = list(feeds.values())
        return [
            given_values[self._feeds.index(tensor)] if place is None else results[place]
            for tensor, place in zip(self._fetches, self._places)
        ]
