# SPDX-License-Identifier: Apache-2.0
"""Where in one block of memory slots lie that are needed at different times.  Imports nothing."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from heapq import heappop, heappush

ALIGN = 64
# Slots of the arena that are compared with one another.
_MOST_COMPARED = 1024


def place(slots: Sequence[tuple[int, int]]) -> tuple[list[int], int]:
    """Offsets for slots of (bytes, steps that need it as bits), and the bytes of all together.

    The largest come first, each at the lowest place that no slot needed at the same time has; of
    very many, which would have to be compared with one another, the first that is needed.
    """
    if len(slots) > _MOST_COMPARED:
        return _place_in_time(slots)
    offsets = [0] * len(slots)
    taken: list[tuple[int, int, int]] = []  # start, end, steps; by start
    # Large ones are hardest to place; small ones fit into what is left between them.
    for number in sorted(range(len(slots)), key=lambda i: -slots[i][0]):
        count, live = slots[number]
        count = -(-count // ALIGN) * ALIGN
        start = 0
        for begin, end, steps in taken:
            if steps & live and end > start:
                if begin >= start + count:
                    break
                start = end
        offsets[number] = start
        insort(taken, (start, start + count, live))
    return offsets, max((end for _, end, _ in taken), default=0)


def _place_in_time(slots: Sequence[tuple[int, int]]) -> tuple[list[int], int]:
    """The same, slot by slot as steps need them: each in the smallest gap, or behind all others."""
    counts = [-(-count // ALIGN) * ALIGN for count, _ in slots]
    # The lowest bit is the first step that needs a slot, the highest the last. What lies between
    # counts as needed too.
    first = [(live & -live).bit_length() for _, live in slots]
    offsets, gaps, total = [0] * len(slots), _Gaps(), 0
    busy: list[tuple[int, int]] = []  # last step, slot
    for number in sorted(range(len(slots)), key=first.__getitem__):
        while busy and busy[0][0] < first[number]:
            done = heappop(busy)[1]
            gaps.add(offsets[done], offsets[done] + counts[done])
        start = gaps.take(counts[number])
        if start is None:
            start, total = total, total + counts[number]
        offsets[number] = start
        heappush(busy, (slots[number][1].bit_length(), number))
    return offsets, total


class _Gaps:
    """Free pieces of memory; those that touch become one."""

    def __init__(self) -> None:
        self._by_size: list[tuple[int, int]] = []  # size, start
        self._end_of: dict[int, int] = {}
        self._start_of: dict[int, int] = {}

    def add(self, start: int, end: int) -> None:
        """A piece becomes free."""
        if start == end:
            return
        if start in self._start_of:
            start = self._drop(self._start_of[start])[0]
        if end in self._end_of:
            end = self._drop(end)[1]
        insort(self._by_size, (end - start, start))
        self._end_of[start], self._start_of[end] = end, start

    def take(self, count: int) -> int | None:
        """The start of `count` bytes of the smallest piece that has so many; None if none has."""
        place = bisect_left(self._by_size, (count, -1))
        if place == len(self._by_size):
            return None
        start, end = self._drop(self._by_size[place][1])
        self.add(start + count, end)
        return start

    def _drop(self, start: int) -> tuple[int, int]:
        end = self._end_of.pop(start)
        del self._start_of[end]
        del self._by_size[bisect_left(self._by_size, (end - start, start))]
        return start, end
