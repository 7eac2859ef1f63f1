# SPDX-License-Identifier: Apache-2.0
"""`Worker`: a task's parts of graphs, their runs, and the tensors that go to other tasks.

A part is an ordinary graph for the engine: what its clients feed are its feeds, what they fetch
its fetches, and tensors of other tasks come and go by host operations between compiled plans.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.record_class import record
from ...engine.session.futures import DEAD, Dead, Future
from ...engine.session.state import Resources
from ...engine.types import dtypes
from ...io import protos
from ...io.graph_extension import RuntimeGraph, extend_graph
from . import rpc
from .collectives import Collectives, Leader, Member
from .part_program import RECEIVES, SENDS, crosses_within
from .rendezvous import OUTSIDE, Rendezvous, Steps, attributes, key_of, of_task, task_of
from .shared_collectives import Instances, SharedCollectives
from .shared_memory import SharedArray, ask, is_worth_it, mapped
from .step_sequences import StepSequences, graph_key
from .task_session import TaskSession
from .tensor_messages import received, received_bytes
from .trace import Trace

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# So long a task that ends is there for others who need what it has given, and so often it looks.
_LINGER, _LOOK = 5.0, 0.01
# By what tasks of this package know each other.
_KIN = "numbaflow"


@record
class WorkerSession:
    """What a client's session has on a worker: state, perhaps its own, and the other tasks."""

    # The worker by the name that the session's cluster has for it.
    owner: Worker
    resources: Resources
    peers: Callable[[str], rpc.Channel]
    states: dict[Any, Any] = field(default_factory=dict)
    graphs: dict[str, RegisteredGraph] = field(default_factory=dict)


class Transfers:
    """Carries the tensors of one graph's runs, for the kernels of `_Send` and `_Recv`."""

    def __init__(self, worker: Worker, session: TaskSession, peers: Any) -> None:
        self._worker, self._session, self._peers = worker, session, peers
        self._keys: dict[Operation, tuple[str, str]] = {}
        self.shared = SharedCollectives(worker, session, peers)
        self.collectives = Collectives(worker, self._fetch, self.shared)

    def _fetch(
        self, task: str, key: str, step: int, decode: Callable[[bytes], Any] | None = None
    ) -> Future:
        found = self._worker.steps.find(step)
        return _remote(self._peers(task), task, key, step, found, decode or _taken)

    def _key(self, op: Operation, device: str, turn: str) -> tuple[str, str]:
        """The key of an operation's tensor, and the task of the device at the other end."""
        found = self._keys.get(op)
        if found is None:
            attrs = attributes(op)
            found = self._keys[op] = key_of(attrs), task_of(attrs[device])
        if turn == OUTSIDE:
            return found
        return found[0].removesuffix(OUTSIDE) + turn, found[1]

    def send(self, op: Operation, tensor: Any, turn: str = OUTSIDE) -> None:
        """Keeps a tensor for who asks for it: as an array within the task, else as it is sent.

        tensor: may be DEAD; turn: frame and iteration of a loop.
        """
        key, task = self._key(op, "recv_device", turn)
        dtype = op._inputs_val[0].dtype
        if tensor is DEAD:
            dead = DEAD if task == self._worker.task else received_bytes(None, dtype)
            self._session.current.rendezvous.send(key, dead)
            return
        array = np.asarray(tensor)
        value: Any
        if task == self._worker.task:
            value = np.array(array)
        elif is_worth_it(array):
            value = SharedArray(array, dtype)
        else:
            value = received_bytes(array, dtype)
        self._session.current.rendezvous.send(key, value)

    def receive(self, op: Operation, turn: str = OUTSIDE) -> Future:
        """The tensor of another task, or another device of this one; it may be DEAD."""
        key, task = self._key(op, "send_device", turn)
        current = self._session.current
        if task == self._worker.task:
            return current.rendezvous.receive(key)  # type: ignore[no-any-return]
        return _remote(self._peers(task), task, key, current.run, current.rendezvous, _taken)


def _remote(
    peer: rpc.Channel,
    task: str,
    key: str,
    step: int,
    rendezvous: Rendezvous,
    decode: Callable[[bytes], Any],
) -> Future:
    """The tensor under a key of another task."""
    # Under the same key nobody else sends here: what aborts the step ends this wait, too.
    future = rendezvous.receive(key)
    asked = peer.tensor(step, key, decode) or _called(peer, step, key, decode)

    def arrived(settled: Future) -> None:
        error = settled.error
        # A task that is gone says nothing of itself.
        if isinstance(error, errors.UnavailableError):
            error = of_task(error, task)
        future.settle(settled.result, error)

    future.watch(lambda settled: asked.cancel() if settled.error is not None else None)
    asked.watch(arrived)
    return future


def _called(peer: rpc.Channel, step: int, key: str, decode: Callable[[bytes], Any]) -> Future:
    request = protos.RecvTensorRequest(step_id=step, rendezvous_key=key)
    ask(request)
    return peer.ask("RecvTensor", request, decode)


def _taken(response: bytes) -> np.ndarray | Dead:
    # (gRPC takes None for a failure.)
    found = mapped(response)
    found = received(response) if found is None else found
    return DEAD if found is None else found


def key_of_collectives(operations: Iterable[Operation]) -> int:
    """The key that graphs with the same collectives have; 0 where there are none."""
    collectives = (op._attrs for op in operations if "group_key" in op._attrs)
    return graph_key(attrs["instance_key"] for attrs in collectives)


class RegisteredGraph:
    """A part of a graph: what runs it, its feeds and fetches by their keys."""

    def __init__(
        self,
        worker: Worker,
        session: WorkerSession,
        graph_def: Any,
        config: Any,
        is_run_whole: bool = False,
    ) -> None:
        """is_run_whole: whether its master runs all members of its collectives."""
        self.task, self.graph = worker.task, RuntimeGraph()
        extend_graph(self.graph, graph_def)
        self.session = TaskSession(
            self.graph, worker.task, session.resources, session.states, config
        )
        self.session.transfers = Transfers(worker, self.session, session.peers)
        self.session.transfers.shared.is_run_whole = is_run_whole
        self.graph_key = key_of_collectives(self.graph.get_operations())
        self.feeds: dict[str, Tensor] = {}
        self.fetches: dict[str, Tensor] = {}
        sinks = []
        for op in self.graph.get_operations():
            is_client = op._attrs.get("client_terminated")
            if op.type in RECEIVES and is_client:
                self.feeds[key_of(attributes(op))] = op.outputs[0]
            elif op.type in SENDS and is_client:
                self.fetches[key_of(attributes(op))] = op._inputs_val[0]
            elif not op._control_outputs_val and not any(t._consumers for t in op.outputs):
                sinks.append(op)
        clients = (*self.feeds, *self.fetches)
        transfers = [op for op in self.graph.get_operations() if op.type in (*SENDS, *RECEIVES)]
        # Whether it gives or takes tensors of other tasks by itself.
        self.has_transfers = len(transfers) > len(clients)
        self._tensors = list(dict.fromkeys(self.fetches.values()))
        self._sinks = sinks
        if crosses_within(self.graph):
            self.session.is_compiled = False
        self.run = self.session.runner(self._tensors, sinks, list(self.feeds.values()))

    def __call__(
        self,
        step: int,
        rendezvous: Rendezvous,
        given: Mapping[str, Any],
        wanted: Sequence[str],
        seconds: float | None,
        trace: Trace | None = None,
    ) -> dict[str, Any]:
        """One run: the fetched values by key; `trace` is told what ran and when."""
        missing = [key for key in self.feeds if key not in given]
        if missing:
            raise errors.unimplemented(
                f"Runs in parts across tasks do not run here: {missing[0]} was not fed."
            )
        with self.session.running(step, seconds, rendezvous, self.graph_key):
            if trace is None:
                results = self.run([given[key] for key in self.feeds])
            else:
                fed = {tensor: given[key] for key, tensor in self.feeds.items()}
                results = trace.of_run(self.session, self.task, self._tensors, self._sinks, fed)
        found = dict(zip(self._tensors, results))
        return {key: found[self.fetches[key]] for key in wanted}

    def dtype(self, key: str) -> dtypes.DType:
        """The dtype of a fetch."""
        return self.fetches[key].dtype.base_dtype


class Worker:
    """One task: its devices, state, sessions and steps."""

    def __init__(
        self,
        task: str,
        incarnation: int,
        resources: Resources,
        peers: Callable[[str], Any],
        processors: int = 1,
    ) -> None:
        """peers(task) -> the channel to another task's worker.

        processors: how many devices it says that it has, which are all this process.
        """
        self.task, self.incarnation, self.resources = task, incarnation, resources
        self.device, self.processors = f"{task}/device:CPU:0", processors
        self.steps = Steps()
        self._lock = threading.Lock()
        self._shared = WorkerSession(self, resources, peers)
        # All names that clusters have for it.
        self.names = {task}
        self._sessions: dict[str, WorkerSession] = {}
        self._numbers = itertools.count(1)
        self._kin: set[str] = set()
        # Groups of collectives: who leads them, and what it needs to.
        self.leader, self.leads = Leader(), task
        self.instances, self.sequences = Instances(), StepSequences()
        self._exchanges: set[int] = set()

    def known_as(self, task: str, peers: Callable[[str], Any]) -> Worker:
        """The same worker by another name, of a cluster that a session has brought along.

        It has the same state, and the steps that other tasks ask this one for.
        """
        other = Worker(task, self.incarnation, self.resources, peers, self.processors)
        other.steps, other.names = self.steps, self.names
        self.names.add(task)
        return other

    def member(self, device: str) -> Member:
        """A device of any task as a member of a group."""
        task = task_of(device)
        if task == self.task:
            return Member(task, device, self.incarnation)
        status = self._shared.peers(task).call("GetStatus", protos.GetStatusRequest())
        for one in status.device_attributes:
            if one.name == device:
                is_kin = one.physical_device_desc == _KIN
                return Member(task, device, one.incarnation, is_kin)
        raise errors.internal(f"There is no device {device}.")

    def devices(self) -> list[Any]:
        """DeviceAttributes of this task's devices."""
        return [
            protos.DeviceAttributes(
                name=f"{self.task}/device:CPU:{number}",
                device_type="CPU",
                memory_limit=256 << 20,
                incarnation=self.incarnation,
                physical_device_desc=_KIN,
            )
            for number in range(self.processors)
        ]

    def note_kin(self, task: str, devices: Sequence[Any]) -> None:
        """Notes whether another task is of this package: it keeps nothing of a step in vain."""
        is_kin = any(device.physical_device_desc == _KIN for device in devices)
        (self._kin.add if is_kin else self._kin.discard)(task)

    def is_kin(self, task: str) -> bool:
        """Whether another task is of this package."""
        return task in self._kin

    def create_session(self, handle: str, isolated: bool, owner: Worker | None = None) -> None:
        """A client's session, with state of its own or that of the task.

        owner: this worker as the session knows it, if by another name.
        """
        owner = owner or self
        resources = Resources(owner.task) if isolated else owner.resources
        session = WorkerSession(owner, resources, owner._shared.peers)
        with self._lock:
            if handle in self._sessions:
                raise errors.already_exists(f"Session {handle} exists already.")
            self._sessions[handle] = session

    def session(self, handle: str, was_created: bool = True) -> WorkerSession:
        """A client's session; AbortedError when this task does not know it, as after a restart."""
        if not was_created:
            return self._shared
        found = self._sessions.get(handle)
        if found is None:
            raise errors.aborted(
                f"Session handle is not found: {handle}. Possibly this worker "
                f'("{self.task}") just restarted.'
            )
        return found

    def delete_session(self, handle: str) -> None:
        """Ends a client's session; its runs are cancelled."""
        with self._lock:
            session = self._sessions.pop(handle, None)
        for graph in list(session.graphs.values()) if session else ():
            graph.session.cancel()

    def register(
        self,
        session: WorkerSession,
        graph_def: Any,
        config: Any = None,
        is_run_whole: bool = False,
    ) -> str:
        """Takes a part of a graph; the handle by which it is run.

        is_run_whole: whether the master runs all members of its collectives.
        """
        graph = RegisteredGraph(session.owner, session, graph_def, config, is_run_whole)
        handle = f"{next(self._numbers):016x}"
        session.graphs[handle] = graph
        return handle

    def graph(self, session: WorkerSession, handle: str) -> RegisteredGraph:
        """A part by its handle."""
        found = session.graphs.get(handle)
        if found is None:
            raise errors.aborted(f"Graph handle is not found: {handle}")
        return found

    def run(
        self,
        graph: RegisteredGraph,
        step: int,
        given: Mapping[str, Any],
        wanted: Sequence[str],
        seconds: float | None,
        trace: Trace | None = None,
    ) -> dict[str, Any]:
        """Runs a part; where it fails, so does who waits for its tensors."""
        rendezvous = self.begin(step) if graph.has_transfers else Rendezvous()
        if rendezvous.error is not None:
            raise rendezvous.error
        try:
            return graph(step, rendezvous, given, wanted, seconds, trace)
        except errors.OpError as raised:
            error = of_task(raised, graph.task)
            rendezvous.abort(error)
            raise rendezvous.error or error from raised

    def begin(self, step: int) -> Rendezvous:
        """Says that this task runs its part of a step; before it, nobody can cancel it."""
        rendezvous = self.steps.find(step)
        rendezvous.has_begun = True
        return rendezvous

    def begin_exchange(self, step: int) -> Rendezvous:
        """Begins a collective, which is a step of its own."""
        self._exchanges.add(step)
        return self.begin(step)

    def end_exchange(self, step: int) -> None:
        """Forgets a collective that all members are done with."""
        self._exchanges.discard(step)
        self.steps.cleanup(step)

    def linger(self) -> bool:
        """Waits until others have what this task gave in collectives; whether there was any."""
        steps, self._exchanges = self._exchanges, set()
        end = time.monotonic() + _LINGER
        while time.monotonic() < end and any(self.steps.find(one).has_sent for one in steps):
            time.sleep(_LOOK)
        return bool(steps)

    def cancel(self, graph: RegisteredGraph, step: int) -> None:
        """Ends a run that nobody waits for any more."""
        self.steps.abort(step, errors.cancelled("RunGraph was cancelled."))
        graph.session.run_futures.cancel_run(step)

    def receive(self, step: int, key: str) -> Future:
        """A tensor of this task for another one: its future, of the bytes of a response."""
        source, incarnation, *_ = key.split(";")
        if task_of(source) not in self.names:
            raise errors.internal(f"{key} is not a tensor of {self.task}")
        if int(incarnation, 16) != self.incarnation:
            raise errors.aborted(self._restarted("RecvTensor", int(incarnation, 16)))
        return self.steps.find(step).receive(key)

    def receive_buffer(self, request: Any) -> Future:
        """The Buffer that a RecvBufRequest asks for, once it is there."""
        if request.src_incarnation != self.incarnation:
            text = self._restarted("RecvBuf", request.src_incarnation)
            raise errors.failed_precondition(text)
        return self.steps.find(request.step_id).receive(request.buf_rendezvous_key)

    def _restarted(self, call: str, expected: int) -> str:
        return (
            f"{call} expects a different device incarnation: {expected} vs. {self.incarnation}. "
            "Your worker job was probably restarted. Check your worker job for the reason why it "
            "was restarted."
        )

    def clear(self, containers: Sequence[str]) -> None:
        """Clears containers of the task's state."""
        self.resources.clear(list(containers) or None)
