# SPDX-License-Identifier: Apache-2.0
"""Collectives whose members are tasks of a cluster: how they find each other, and who sends what.

The members of a group tell its leader that they are there; once all have, it tells each of them who
the others are, and a number that is theirs alone.  From then on they exchange tensors by
themselves.  Small tensors go from each to each; of large ones each member adds up a part, which it
then gives to the others, so that nobody sends more than twice the tensor.  Who is answered has the
same bits as the others: each element is added up in the order of the members.

Where TensorFlow's tasks are among the members, all speak as those do (shared_collectives.py).
"""

from __future__ import annotations

import itertools
import re
import secrets
import threading
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.record_class import record
from ...engine.session.futures import AsyncTask, Future
from ...engine.types import dtypes
from ...io import protos
from ...ops.collective import MERGES, check_shapes, divided, joined, merged
from .rendezvous import make_key, of_task
from .shared_blocks import Block, Blocks, Part
from .shared_collectives import BROADCAST, GATHER, REDUCTION, SharedCollectives, watched
from .shared_memory import SharedArray, is_worth_it
from .tensor_messages import received_bytes

if TYPE_CHECKING:
    from ...engine.graph.kernel_context import KernelContext
    from .buffer_exchange import BufferExchange
    from .worker import Worker

# From so many bytes on, each member adds up a part of a tensor.
LARGE = 1 << 18
# So many elements are added up at a time: those of all members are near the processor then.
_BLOCK = 1 << 15
_MASK = (1 << 56) - 1
# Executions of an instance have numbers of their own, so many before they come around.
_ROUND = 1 << 20
# So often it is looked whether a member that waits for others is still there, in seconds.
_LOOK = 1.0
# How the leader says that all members are of this package, and what their starts were.
_KEY = re.compile(rb"[0-9a-f]+:[0-9a-f]+(,[0-9a-f]+)*")
Steps = Generator[Future, Any, np.ndarray]
# fetch(task, key, step, decode) -> the tensor that another task has under a key.
Fetch = Callable[[str, str, int, Callable[[bytes], Any] | None], Future]


@record(frozen=True)
class Member:
    """One device of a group: its task and the number of its start."""

    task: str
    device: str
    incarnation: int
    # Of a task of this package.
    is_kin: bool = True


class Forming:
    """A group that is not complete yet, or just was."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.is_complete = threading.Event()
        self.number = secrets.randbits(56)

    @property
    def is_kin(self) -> bool:
        """Whether all members are of this package."""
        return all(one.is_kin for one in self.members.values())

    def lasts_for(self, member: Member) -> bool:
        """Whether a member that comes again finds the same group: TensorFlow's tasks come once."""
        return not self.is_kin and member.device in self.members


class Leader:
    """Where the members of groups say that they are there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forming: dict[int, Forming] = {}

    def join(self, group_key: int, size: int, member: Member) -> Forming:
        """The group that a member is in, which may have to wait for others.

        A member that comes again, as after a restart, is of another group than before.
        """
        with self._lock:
            found = self._forming.get(group_key)
            if found is None or (found.is_complete.is_set() and not found.lasts_for(member)):
                found = self._forming[group_key] = Forming()
            found.members[member.device] = member
            if len(found.members) == size:
                found.is_complete.set()
        return found

    def leave(self, group: Forming, member: Member) -> None:
        """Takes back that a member is there, who waits no more."""
        with self._lock:
            if group.members.get(member.device) == member and not group.is_complete.is_set():
                del group.members[member.device]

    def devices(self, group_key: int) -> list[str]:
        """The devices of a complete group, by rank.

        Raises:
            FailedPreconditionError: there is none.
        """
        found = self._forming.get(group_key)
        if found is None or not found.is_complete.is_set():
            raise errors.failed_precondition(
                f"group {group_key} not found. This normally means the server has restarted"
            )
        return sorted(found.members)

    def complete(
        self, request: Any, member: Member, is_awaited: Callable[[], bool] = lambda: True
    ) -> Any:
        """The response to a CompleteGroupRequest.

        is_awaited: whether there still is who asks.
        """
        found = self.join(request.group_key, request.group_size, member)
        while not found.is_complete.wait(_LOOK):
            if not is_awaited():
                self.leave(found, member)
                raise errors.cancelled(f"Group {request.group_key} was not completed.")
        members = sorted(found.members.values(), key=lambda one: one.device)
        incarnations = ",".join(f"{one.incarnation:x}" for one in members)
        key = f"{found.number:x}:{incarnations}" if found.is_kin else ""
        return protos.CompleteGroupResponse(
            group_key=request.group_key,
            group_size=request.group_size,
            device_type=request.device_type,
            num_tasks=len({one.task for one in members}),
            device_name=[one.device for one in members],
            task_name=[one.task for one in members],
            communicator_key=key.encode(),
        )


def members_of(response: Any) -> tuple[int, list[Member]] | None:
    """The number and members of a group of this package's tasks, from a CompleteGroupResponse."""
    if not _KEY.fullmatch(response.communicator_key):
        return None
    number, _, starts = response.communicator_key.decode().partition(":")
    found = zip(response.task_name, response.device_name, starts.split(","), strict=True)
    return int(number, 16), [Member(task, device, int(start, 16)) for task, device, start in found]


class Group:
    """The members of a complete group, as one of them sees it."""

    def __init__(self, worker: Worker, fetch: Fetch, number: int, members: list[Member]) -> None:
        self._worker, self._fetch = worker, fetch
        self._number, self.members = number, members
        self.rank = next(i for i, one in enumerate(members) if one.task == worker.task)
        self._counts: dict[int, itertools.count[int]] = {}
        self.blocks = Blocks()
        # By instance what its last execution gave to others.
        self._given: dict[int, Block] = {}

    def begin(self, instance: int) -> Exchange:
        """The next execution of an instance."""
        count = next(self._counts.setdefault(instance, itertools.count()))
        base = self._number + instance * _ROUND
        if count > 1:
            # All members had begun the last one when it ended here, so they are done with the one
            # before it.
            self._worker.end_exchange((base + (count - 2) % _ROUND) & _MASK)
        step = (base + count % _ROUND) & _MASK
        return Exchange(self, self._worker, self._fetch, step, instance)

    def end(self, instance: int, block: Block | None, is_whole: bool) -> None:
        """Ends an execution of an instance, which has given a block to others.

        is_whole: whether it has not failed, so that all members had begun it, and nobody reads
        what the one before it has given.
        """
        before = self._given.pop(instance, None)
        if before is not None and is_whole:
            self.blocks.give(before)
        if block is not None and is_whole:
            self._given[instance] = block


class Exchange:
    """One execution of a collective, for one member."""

    def __init__(
        self, group: Group, worker: Worker, fetch: Fetch, step: int, instance: int
    ) -> None:
        self.members, self.rank = group.members, group.rank
        self._group, self._instance = group, instance
        self._fetch, self._step = fetch, step
        self._block: Block | None = None
        # Each begins behind its own rank, lest all ask the same one first.
        count = len(group.members)
        self._others = [(group.rank + i) % count for i in range(1, count)]
        self._rendezvous = worker.begin_exchange(step)

    def _key(self, source: int, target: int, label: str) -> str:
        sender = self.members[source]
        return make_key(sender.device, sender.incarnation, self.members[target].device, label)

    def send(self, array: np.ndarray, targets: Sequence[int], label: str) -> None:
        """Gives an array to other members."""
        dtype = dtypes.as_dtype(array.dtype)
        value: Any
        if is_worth_it(array):
            value = SharedArray(array, dtype)
        else:
            value = received_bytes(array, dtype)
        for target in targets:
            self._rendezvous.send(self._key(self.rank, target, label), value)

    def _send_part(
        self, block: Block, part: np.ndarray, targets: Sequence[int], label: str
    ) -> None:
        given = Part(block, part)
        for target in targets:
            self._rendezvous.send(self._key(self.rank, target, label), given)

    def receive(
        self, source: int, label: str, decode: Callable[[bytes], Any] | None = None
    ) -> Future:
        """What another member gives."""
        key = self._key(source, self.rank, label)
        return self._fetch(self.members[source].task, key, self._step, decode)

    def gathered(self, value: np.ndarray, label: str = "all") -> Generator[Future, Any, list[Any]]:
        """The arrays of all members, by rank."""
        # (What is given may change as soon as this waits.)
        own = np.array(value)
        self.send(own, self._others, label)
        return (yield from self._awaited(own, self._asked(label)))

    def _asked(self, label: str, decode: Callable[[bytes], Any] | None = None) -> dict[int, Future]:
        """What all others give, by rank: each is asked before the first is waited for."""
        return {i: self.receive(i, label, decode) for i in self._others}

    def _awaited(
        self, own: np.ndarray, asked: dict[int, Future]
    ) -> Generator[Future, Any, list[Any]]:
        found = []
        for i in range(len(self.members)):
            found.append(own if i == self.rank else np.asarray((yield asked[i])))
        return found

    def reduced(self, value: np.ndarray, merge: str, divides: bool) -> Steps:
        """The arrays of all members as one."""
        count = len(self.members)
        if value.nbytes < LARGE:
            result = merged((yield from self.gathered(value)), merge)
            return divided(result, count) if divides else result
        return (yield from self._in_parts(value, merge, divides))

    def _in_parts(self, value: np.ndarray, merge: str, divides: bool) -> Steps:
        count, rank, blocks = len(self.members), self.rank, self._group.blocks
        block = self._block = blocks.take(value.nbytes)
        given = block.vector(value.size, value.dtype)
        given[...] = value.reshape(-1)
        parts = np.array_split(given, count)
        own = parts[rank]
        # (Under the same label as small ones: members that disagree see so.)
        for i in self._others:
            self._send_part(block, parts[i], [i], "all")
        asked, sums = self._asked("all", blocks.taken), self._asked("sums", blocks.taken)
        _merge_into(own, (yield from self._awaited(own, asked)), merge)
        if divides:
            own[...] = divided(own, count)
        self._send_part(block, own, self._others, "sums")
        result = np.empty(value.size, value.dtype)
        found = yield from self._awaited(own, sums)
        for part, one in zip(np.array_split(result, count), found, strict=True):
            part[...] = one
        return result.reshape(value.shape)

    def end(self, error: errors.OpError | None = None) -> None:
        """Ends it; where it has failed, so do members that still want something of this one."""
        if error is not None:
            self._rendezvous.abort(of_task(error, self.members[self.rank].task))
        self._group.end(self._instance, self._block, error is None)


def _merge_into(result: np.ndarray, values: Sequence[np.ndarray], merge: str) -> None:
    """Puts vectors together, in their order; InvalidArgumentError for different shapes.

    result: may be one of them.
    """
    check_shapes(values)
    first, second, *more = values
    room = np.empty(min(_BLOCK, result.size), result.dtype)
    for start in range(0, result.size, _BLOCK):
        block = slice(start, min(start + _BLOCK, result.size))
        total = room[: block.stop - start]
        MERGES[merge](first[block], second[block], out=total)
        for value in more:
            MERGES[merge](total, value[block], out=total)
        result[block] = total


class Collectives:
    """The collectives of a task's graph, for their kernels."""

    def __init__(self, worker: Worker, fetch: Fetch, shared: SharedCollectives) -> None:
        """shared: those of groups with tasks of TensorFlow, and how tasks are asked."""
        self._worker, self._fetch, self._shared = worker, fetch, shared
        self._lock = threading.Lock()
        self._groups: dict[int, Future] = {}

    def _group(self, key: int, size: int, kind: int) -> Future:
        """The members of a group: a Group, or a list of members where some are TensorFlow's."""
        with self._lock:
            found = self._groups.get(key)
            if found is not None and (not found.is_done or found.error is None):
                return found
            found = self._groups[key] = Future()
        request = protos.CompleteGroupRequest(
            group_key=key,
            group_size=size,
            device_type="CPU",
            device_name=[self._worker.device],
            collective_type=kind,
        )

        def join(settled: Future) -> None:
            try:
                response = self._shared.complete(request)
                known = members_of(response)
                if known is not None:
                    settled.settle(Group(self._worker, self._fetch, *known))
                    return
                # (TensorFlow's leaders name them as they have come.)
                devices = sorted(response.device_name)
                settled.settle([self._worker.member(device) for device in devices])
            except Exception as error:
                settled.settle(error=error)

        threading.Thread(target=join, args=(found,), daemon=True).start()
        return found

    def _run(
        self,
        c: KernelContext,
        kind: int,
        value: np.ndarray,
        own: Callable[[Exchange, np.ndarray], Steps],
        shared: Callable[[BufferExchange, np.ndarray], Steps],
        is_source: bool = False,
    ) -> Future:
        """own, shared: what is done in a group of this package's tasks, and in another one."""
        key, size = c.attr("group_key"), c.attr("group_size")
        instance, step = c.attr("instance_key"), self._shared.step_of_run()
        found = self._group(key, size, kind)
        asked = None
        if not isinstance(found.result, Group):
            # (What is given may change as soon as this waits.)
            value = np.array(value)
            asked = self._shared.instance(c, kind, value, is_source)

        def steps() -> Steps:
            group = yield watched(found)
            members = group.members if isinstance(group, Group) else group
            if len(members) != size:
                raise errors.invalid(
                    f"Group {key} has {len(members)} members, but {c.name} says {size}"
                )
            if not isinstance(group, Group):
                exchange = yield from self._shared.begin(asked, members, step)
                return (yield from shared(exchange, value))
            begun = group.begin(instance)
            try:
                result = yield from own(begun, value)
            except errors.OpError as error:
                begun.end(error)
                raise
            begun.end()
            return result

        return AsyncTask(steps())

    def reduce(self, c: KernelContext, value: np.ndarray) -> Future:
        """The tensors of all members as one."""
        how = c.attr("merge_op"), c.attr("final_op") == "Div"
        return self._run(
            *(c, REDUCTION, np.asarray(value)),
            lambda exchange, given: exchange.reduced(given, *how),
            lambda exchange, given: exchange.reduced(given, *how),
        )

    def gather(self, c: KernelContext, value: np.ndarray) -> Future:
        """The tensors of all members, one behind the other."""

        def work(exchange: Exchange, given: np.ndarray) -> Steps:
            return joined((yield from exchange.gathered(given)))

        return self._run(
            *(c, GATHER, np.asarray(value)), work, lambda exchange, given: exchange.joined(given)
        )

    def broadcast(self, c: KernelContext, value: np.ndarray | None) -> Future:
        """The tensor of the member that has one."""
        given = None if value is None else np.array(value)
        shape, dtype = tuple(c.attr("shape").as_list()), c.attr("T").np_dtype
        like = np.empty(shape, dtype) if given is None else given
        return self._run(
            *(c, BROADCAST, like),
            lambda exchange, _: _handed_on(exchange, given),
            lambda exchange, _: exchange.handed_on(given, like),
            is_source=given is not None,
        )


def _handed_on(exchange: Exchange, value: np.ndarray | None) -> Steps:
    """Each tells the others whether it has the tensor; who has sends it."""
    ranks = range(len(exchange.members))
    having = yield from exchange.gathered(np.array(value is not None), "has")
    sources = [i for i in ranks if having[i]]
    if len(sources) != 1:
        raise errors.internal(f"A broadcast has {len(sources)} sources.")
    if value is None:
        return np.asarray((yield exchange.receive(sources[0], "value")))
    exchange.send(value, [i for i in ranks if i != exchange.rank], "value")
    return value
