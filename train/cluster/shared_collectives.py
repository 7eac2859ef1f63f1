# SPDX-License-Identifier: Apache-2.0
"""Groups of collectives in which there are tasks of TensorFlow: what all members have to agree on.

The leader is told of each instance by every member, and says which of them is a broadcast's source.
Members exchange what they have within steps of a common number (step_sequences.py): that of the run
where one master runs the whole group, else the next of the sequence that the leader began.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.session.futures import Future
from ...engine.types import dtypes
from ...io import protos
from ...io.tensor_proto import shape_proto
from .buffer_exchange import BufferExchange
from .rendezvous import of_task

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from .collectives import Member
    from .task_session import TaskSession
    from .worker import Worker

# Types of collectives, as TensorFlow numbers them.
REDUCTION, BROADCAST, GATHER = 0, 1, 2
# So many steps that went before are kept for members that are slower.
_KEPT = 2


class Instances:
    """What the leader knows of instances of collectives; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[tuple[int, int], _Instance] = {}

    def join(self, request: Any, devices: Sequence[str]) -> Future:
        """The rank of a broadcast's source, once all members have come; -1 of what has none.

        request: a CompleteInstanceRequest; devices: of the group's members, by rank.

        Raises:
            InvalidArgumentError: another member has another shape.
            InternalError: another member is the source, too.
        """
        shape, future = [dim.size for dim in request.shape.dim], Future()
        with self._lock:
            key = request.group_key, request.instance_key
            found = self._found.setdefault(key, _Instance(shape))
            if found.shape != shape:
                raise errors.invalid(
                    f"Shape mismatch in the collective instance {request.instance_key}. Op at "
                    f"device {request.device} expected shape {shape}, but another member in the "
                    f"group expected shape {found.shape}. This is likely due to different input "
                    "shapes at different members of the collective op."
                )
            if request.type == BROADCAST:
                found.add(request)
            waiting = found.answered(future, request.type != BROADCAST, len(devices))
        source = devices.index(found.source) if found.source in devices else -1
        for one in waiting:
            if request.type == BROADCAST and source < 0:
                one.settle(error=errors.internal(_NO_SOURCE % request.instance_key))
            else:
                one.settle(source)
        return future


_NO_SOURCE = "Instance %d found no source for broadcast."


class _Instance:
    """An instance: who has come, and who waits for the others."""

    def __init__(self, shape: list[int]) -> None:
        self.shape = shape
        self.source: str | None = None
        self._known: set[str] = set()
        self._waiting: list[Future] = []

    def add(self, request: Any) -> None:
        """Notes a member of a broadcast."""
        self._known.add(request.device)
        if not request.is_source:
            return
        if self.source not in (None, request.device):
            raise errors.internal(
                f"Instance {request.instance_key} already has source {self.source}, received "
                f"second claim from {request.device}"
            )
        self.source = request.device

    def answered(self, future: Future, at_once: bool, count: int) -> list[Future]:
        """Those who are answered now that one more has come."""
        self._waiting.append(future)
        if not at_once and len(self._known) < count:
            return []
        waiting, self._waiting = self._waiting, []
        return waiting


class Run(NamedTuple):
    """One run of a graph: its number, and the key of the collectives in it."""

    number: int
    key: int


class SharedCollectives:
    """The side of one task's graph."""

    def __init__(self, worker: Worker, session: TaskSession, peers: Callable[[str], Any]) -> None:
        """peers(task) -> the channel to another task's worker."""
        self._worker, self._session, self._peers = worker, session, peers
        self._lock = threading.Lock()
        self._instances: dict[int, Future] = {}
        # The steps of runs that are under way, with their keys; and those that went before.
        self._steps: dict[int, tuple[int, int]] = {}
        self._before: deque[int] = deque()
        # Whether a master runs all members, and the number of the run is theirs.
        self.is_run_whole = False

    def ask(
        self, task: str, name: str, request: Any, decode: Callable[[bytes], Any] | None = None
    ) -> Future:
        """What `decode` makes of another task's response, or the response."""
        asked, future = self._peers(task).ask(name, request, decode), Future()

        def arrived(settled: Future) -> None:
            error = settled.error
            if isinstance(error, errors.OpError):
                error = of_task(error, task)
            future.settle(settled.result, error)

        future.watch(lambda settled: asked.cancel() if settled.error is not None else None)
        asked.watch(arrived)
        return future

    def complete(self, request: Any) -> Any:
        """The leader's response to a CompleteGroupRequest; waits for all members."""
        worker = self._worker
        if worker.leads == worker.task:
            return worker.leader.complete(request, worker.member(worker.device))
        try:
            return self._peers(worker.leads).call("CompleteGroup", request)
        except errors.OpError as error:
            raise of_task(error, worker.leads) from None

    def step_of_run(self) -> Run:
        """The run of this thread."""
        current = self._session.current
        return Run(current.run, current.graph_key)

    def instance(self, c: KernelContext, kind: int, value: np.ndarray, is_source: bool) -> Any:
        """What the leader is told of a kernel's instance: a CompleteInstanceRequest."""
        size = c.attr("group_size")
        shape = (value.shape[0] * size, *value.shape[1:]) if kind == GATHER else value.shape
        return protos.CompleteInstanceRequest(
            name=c.name,
            type=kind,
            data_type=dtypes.as_dtype(value.dtype).as_datatype_enum,
            shape=shape_proto(shape),
            group_key=c.attr("group_key"),
            group_size=size,
            instance_key=c.attr("instance_key"),
            device_type="CPU",
            subdiv_offset=c.attr("subdiv_offsets") if kind == REDUCTION else [],
            device=self._worker.device,
            is_source=is_source,
        )

    def begin(
        self, asked: Any, members: Sequence[Member], run: Run
    ) -> Generator[Future, Any, BufferExchange]:
        """The next execution of an instance, in the step that a run has in common with others."""
        source = yield self._complete_instance(asked, members)
        step = yield from self._step(run)
        worker = self._worker
        is_own = self.is_run_whole
        return BufferExchange(
            members=members,
            rank=[one.device for one in members].index(worker.device),
            rendezvous=worker.steps.find(step) if is_own else worker.begin_exchange(step),
            ask=self.ask,
            step=step,
            instance=asked.instance_key,
            offsets=list(asked.subdiv_offset),
            source=source,
        )

    def _complete_instance(self, asked: Any, members: Sequence[Member]) -> Future:
        """The source of an instance, which the leader is asked for once."""
        worker = self._worker
        with self._lock:
            found = self._instances.get(asked.instance_key)
            if found is None or found.error is not None:
                if worker.leads == worker.task:
                    devices = [one.device for one in members]
                    found = worker.instances.join(asked, devices)
                else:
                    found = self.ask(worker.leads, "CompleteInstance", asked, _source)
                self._instances[asked.instance_key] = found
        return watched(found)

    def _step(self, run: Run) -> Generator[Future, Any, int]:
        if self.is_run_whole:
            return run.number
        worker = self._worker
        found = worker.sequences.find(run.key)
        if found is None and worker.leads == worker.task:
            found = worker.sequences.begin(run.key)
        elif found is None:
            request = protos.GetStepSequenceRequest(graph_key=[run.key])
            response = yield self.ask(worker.leads, "GetStepSequence", request)
            found = worker.sequences.note(run.key, response.step_sequence[0].next_step_id)
        with self._lock:
            self._steps.setdefault(run.number, (run.key, found))
            return self._steps[run.number][1]

    def end(self, run: int, error: errors.OpError | None) -> None:
        """Ends the step of a run; where that has failed, so does who waits for it."""
        with self._lock:
            key, step = self._steps.pop(run, (0, None))
            if step is None:
                return
            if error is None:
                self._before.append(step)
            over = [self._before.popleft()] if len(self._before) > _KEPT else []
        worker = self._worker
        if error is None:
            worker.sequences.retire(key, step)
        else:
            worker.steps.abort(step, error)
            over.append(step)
            if worker.leads != worker.task:
                worker.sequences.forget(key)
        for one in over:
            worker.end_exchange(one)


def _source(response: bytes) -> int:
    return int(protos.CompleteInstanceResponse.FromString(response).source_rank)


def watched(shared: Future) -> Future:
    """A Future of one's own for one that others wait for, too, and may not be cancelled."""
    own = Future()

    def settle(settled: Future) -> None:
        own.settle(settled.result, settled.error)

    shared.watch(settle)
    return own
