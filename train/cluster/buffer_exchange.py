# SPDX-License-Identifier: Apache-2.0
"""Collectives as TensorFlow's own tasks have them, for groups in which there are some.

Reductions and gathers go along a ring of devices, broadcasts down a binary tree; what crosses is
asked for by `RecvBuf`, under keys that name the instance and where in its order a piece belongs.
(Where all members are this package's own, they exchange tensors by train/cluster/collectives.py.)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.record_class import record
from ...engine.session.futures import Future
from ...io import protos
from ...ops.collective import MERGES, divided

if TYPE_CHECKING:
    from .collectives import Member
    from .rendezvous import Rendezvous

# Pieces of reduced tensors are multiples of so many bytes, as those of TensorFlow's releases are.
_ALIGNED = 64
# Pieces of more bytes are cut once more, where programs have not said how.
_LARGE = 4 << 20
Steps = Generator[Future, Any, np.ndarray]
# ask(task, name of the call, request, decode) -> what `decode` makes of the response.
Ask = Callable[[str, str, Any, Callable[[bytes], Any]], Future]


@record(frozen=True)
class Ring:
    """An order of a group's devices, each of which takes from the one before it."""

    # Ranks of members, in the order of the ring.
    order: tuple[int, ...]
    place: int

    @property
    def before(self) -> int:
        """The place of the device that this one takes from."""
        return (self.place - 1) % len(self.order)


def rings(tasks: Sequence[str], rank: int, offsets: Sequence[int]) -> list[Ring]:
    """The rings of a group, one for each offset.

    tasks: of all members, by rank.  offsets: by how much each task's own devices are rotated; a
    negative one has them in reverse order.
    """
    found = []
    for offset in offsets:
        order: list[int] = []
        for task in dict.fromkeys(tasks):
            own = [i for i, one in enumerate(tasks) if one == task]
            turned = [(i + abs(offset)) % len(own) for i in range(len(own))]
            order += [own[~i] if offset < 0 else own[i] for i in turned]
        found.append(Ring(tuple(order), order.index(rank)))
    return found


def usual_offsets(tasks: Sequence[str], size: int) -> list[int]:
    """The offsets of the rings of a reduction for which programs have stated none.

    size: of the tensor, in bytes.
    """
    per_task = len(tasks) // len(set(tasks))
    count = 1
    while size // (len(tasks) * count) > _LARGE and count < 2 * per_task:
        count += 1
    stride = max(1, per_task // count)
    return [-stride * i if i % 2 else stride * i for i in range(count)]


def pieces(flat: np.ndarray, count: int) -> list[np.ndarray]:
    """Views of a vector: the pieces that a reduction hands on, the last ones of which may be empty.

    A piece whose size is a multiple already is larger by one all the same, as in TensorFlow.
    """
    size = -(-flat.size // count)
    if flat.itemsize < _ALIGNED:
        size += (_ALIGNED - size * flat.itemsize % _ALIGNED) // flat.itemsize
    return [flat[i * size : (i + 1) * size] for i in range(count)]


def tree(count: int, rank: int, source: int) -> tuple[int | None, list[int]]:
    """Of whom a task takes in a broadcast, None for the source; and to whom it gives.

    The source stands before all others; where it is not the first one, its own place is that of a
    task to which nobody need give.
    """
    taken: int | None = None
    if rank != source:
        taken = (rank - 1) // 2 if source == 0 else rank // 2 - 1
        taken = source if taken < 0 else taken
    given = []
    if rank == source != 0:
        given += [0] if count > 1 else []
        given += [1] if count > 2 and source != 1 else []
    first = 2 * rank + 1 if source == 0 else 2 * (rank + 1)
    given += [one for one in (first, first + 1) if one < count and one != source]
    return taken, given


class Buffer:
    """An array, as it is now, for who asks for it by RecvBuf."""

    def __init__(self, array: np.ndarray) -> None:
        self._response = protos.RecvBufResponse(num_bytes=array.nbytes)
        content = np.ascontiguousarray(array).tobytes()
        self._response.transport_options.Pack(protos.RecvBufRespExtra(tensor_content=[content]))
        # Settled when somebody has asked.
        self.taken = Future()

    def response(self) -> bytes:
        """The response of RecvBuf."""
        self.taken.settle()
        return self._response.SerializeToString()  # type: ignore[no-any-return]


def _content(response: bytes) -> bytes:
    extra = protos.RecvBufRespExtra()
    protos.RecvBufResponse.FromString(response).transport_options.Unpack(extra)
    return b"".join(extra.tensor_content)


@record(frozen=True)
class BufferExchange:
    """One execution of a collective for one member, in a group with tasks of TensorFlow.

    instance: the number of the collective; step: that all members have in common; offsets: of the
    rings of a reduction, if the program states them.
    """

    members: Sequence[Member]
    rank: int
    rendezvous: Rendezvous
    ask: Ask
    step: int
    instance: int
    offsets: Sequence[int]
    source: int

    def _key(self, label: str) -> str:
        # Frame and iteration of what is in no loop.
        return f"{self.instance}:0:0:{label}"

    def _post(self, label: str, array: np.ndarray) -> Future:
        """Keeps an array, as it is now, for who asks for it; settled once that is done."""
        buffer = Buffer(array)
        self.rendezvous.send(self._key(label), buffer)
        return buffer.taken

    def _take(self, rank: int, label: str, like: np.ndarray) -> Steps:
        """The array that another member gives, of the type and size of one."""
        source, own = self.members[rank], self.members[self.rank]
        request = protos.RecvBufRequest(
            step_id=self.step,
            buf_rendezvous_key=self._key(label),
            num_bytes=like.nbytes,
            src_device=source.device,
            src_incarnation=source.incarnation,
            dst_device=own.device,
        )
        content = yield self.ask(source.task, "RecvBuf", request, _content)
        if len(content) != like.nbytes:
            raise errors.internal(
                f"RecvBufResponse returned {len(content)} bytes where to_tensor expected "
                f"{like.nbytes}"
            )
        return np.frombuffer(content, like.dtype).reshape(like.shape)

    def _rings(self, offsets: Sequence[int]) -> list[Ring]:
        return rings([one.task for one in self.members], self.rank, offsets)

    def _turns(
        self, parts: Sequence[np.ndarray], found: Sequence[Ring], first: int
    ) -> Iterator[tuple[int, int, Ring, np.ndarray]]:
        """What a member does in turn: numbers of turns and pieces, the ring, the piece's memory.

        first: how far from this member's own piece the first one is.
        """
        count = len(self.members)
        for turn in range(count):
            for number, ring in enumerate(found):
                at = (ring.place + first - turn) % count * len(found) + number
                if parts[at].size:
                    yield turn, at, ring, parts[at]

    def reduced(self, value: np.ndarray, merge: str, divides: bool) -> Steps:
        """The arrays of all members as one."""
        count, result = len(self.members), np.array(value).reshape(-1)
        usual = usual_offsets([one.task for one in self.members], value.nbytes)
        found = self._rings(self.offsets or usual)
        parts = pieces(result, count * len(found))
        for turn, at, ring, part in self._turns(parts, found, 0):
            if turn:
                label = f"0:{at}:{ring.before}"
                taken = yield from self._take(ring.order[ring.before], label, part)
                MERGES[merge](part, taken, out=part)
            if turn < count - 1:
                self._post(f"0:{at}:{ring.place}", part)
            elif divides:
                part[...] = divided(part, count)
        for turn, at, ring, part in self._turns(parts, found, 1):
            if turn:
                label = f"1:{at}:{ring.before}"
                part[...] = yield from self._take(ring.order[ring.before], label, part)
            if turn < count - 1:
                self._post(f"1:{at}:{ring.place}", part)
        return result.reshape(value.shape)

    def joined(self, value: np.ndarray) -> Steps:
        """The arrays of all members, one behind the other."""
        count = len(self.members)
        result = np.empty((count, *value.shape), value.dtype)
        result[self.rank] = value
        for turn, at, ring, part in self._turns(list(result), self._rings([0]), 0):
            if turn:
                label = f"0:{at}:{ring.before}"
                part[...] = yield from self._take(ring.order[ring.before], label, part)
            if turn < count - 1:
                self._post(f"0:{at}:{ring.place}", part)
        return result.reshape(-1, *value.shape[1:])

    def handed_on(self, value: np.ndarray | None, like: np.ndarray) -> Steps:
        """The source's array, which it gives to the first device of each other task.

        It waits until it is taken: a leader that went on to the next step could tell no member
        which one this was.

        like: an array of the type and shape that all members state.
        """
        tasks = list(dict.fromkeys(one.task for one in self.members))
        places = [tasks.index(one.task) for one in self.members]
        place, source = places[self.rank], places[self.source]
        # Of each task one device takes part: the source, or else the first one.
        ranks = [self.source if i == source else places.index(i) for i in range(len(tasks))]
        taken, given = tree(len(tasks), place, source)
        if taken is not None:
            value = yield from self._take(ranks[taken], f"0:{taken}:{place}", like)
        if value is None:
            raise errors.internal(f"The source of broadcast {self.instance} has no tensor.")
        posted = [self._post(f"0:{place}:{other}", value) for other in given]
        yield from posted
        return np.asarray(value)
