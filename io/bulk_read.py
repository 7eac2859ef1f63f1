# SPDX-License-Identifier: Apache-2.0
"""Tensors that lie one behind the other in a file are checked and read together, by some threads.

Checksums are linear: that of a stretch of a file follows from those of the tensors in it, and from
those of any other pieces of it.  So pieces need not begin and end where tensors do.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from ..engine import stopping
from . import crc
from .positioned_file import DataFile

T = TypeVar("T")

# A piece and what is done with it stay in the cache of a core.
_PIECE = 1 << 20
# A checksum finds any two changed bits in so much, and what is damaged is looked for in so much.
_STRETCH = 1 << 26
# One call of the system fills at most so many arrays and about so many bytes.
_ARRAYS, _BATCH = 512, 1 << 21
# More threads wait for the memory.
_THREADS = 4
# Less than that is not worth a thread.
_ALONE = 1 << 22

# File, place in it, an array to fill.
Target = tuple[DataFile, int, np.ndarray]
# File, place in it, size and checksum.
Check = tuple[DataFile, int, int, int]


class CutShortError(Exception):
    """A file ended before the place where something should be."""

    def __init__(self, file: DataFile) -> None:
        super().__init__(file.path)
        self.path = file.path


def _shared(work: Iterable[T], size: int, do: Callable[[Iterator[T]], None]) -> None:
    """Several threads take from one list of work; what fails first fails in the caller."""
    waiting = _Work(work)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    count = min(_THREADS, cores or 1, size // _ALONE + 1)

    def help_out() -> None:
        try:
            do(waiting)
        except BaseException as error:
            waiting.fail(error)

    helpers = [threading.Thread(target=help_out, daemon=True) for _ in range(count - 1)]
    try:
        for helper in helpers:
            helper.start()
        do(_checked(waiting))
    except BaseException as error:
        waiting.fail(error)
    for helper in helpers:
        _await(helper, waiting)
    if waiting.failures:
        raise waiting.failures[0]


class _Work(Iterator[T]):
    """A list that several threads take from until one of them fails."""

    def __init__(self, work: Iterable[T]) -> None:
        self._items = iter(list(work))
        self.failures: list[BaseException] = []

    def __next__(self) -> T:
        if self.failures:
            raise StopIteration
        return next(self._items)

    def fail(self, error: BaseException) -> None:
        """Has nobody take anything any more."""
        self.failures.append(error)


def _checked(work: Iterator[T]) -> Iterator[T]:
    """For the thread of the caller, whose run may be given up."""
    for item in work:
        stopping.check()
        yield item


def _await(helper: threading.Thread, work: _Work[Any]) -> None:
    """Waits for a helper, whatever comes meanwhile: it writes to arrays of the caller."""
    while helper.is_alive():
        try:
            helper.join()
        except BaseException as error:
            work.fail(error)


def damaged(checks: list[Check]) -> list[int]:
    """The numbers of the stretches' members whose bytes differ from their checksums, perhaps.

    checks: in order of places.  All members of a stretch that is wrong are among them.
    """
    if not checks:
        return []
    starts = [i for i, begins in enumerate(_begins(checks)) if begins]
    ends = [*starts[1:], len(checks)]
    sizes = np.array([size for _, _, size, _ in checks], np.int64)
    found = np.zeros(len(starts), np.uint32)
    pieces = []
    for number, (start, end) in enumerate(zip(starts, ends)):
        file, at = checks[start][:2]
        left = checks[end - 1][1] + checks[end - 1][2] - at
        while left:
            count = min(left, _PIECE)
            left -= count
            pieces.append((number, file, at, count, left))
            at += count
    _sum_up(pieces, found, int(sizes.sum()))
    # What follows a member within its stretch.
    behind = np.concatenate([np.cumsum(sizes[s:e][::-1])[::-1] for s, e in zip(starts, ends)])
    stored = np.array([checksum for *_, checksum in checks], np.uint32)
    wanted = np.bitwise_xor.reduceat(crc.shifted(stored, behind - sizes), starts)
    wrong = np.flatnonzero(found != wanted)
    return [i for number in wrong for i in range(starts[number], ends[number])]


def _begins(checks: list[Check]) -> Iterator[bool]:
    """For each, whether a stretch begins with it."""
    last, end, size = None, 0, 0
    for file, offset, count, _ in checks:
        begins = file is not last or offset != end or size >= _STRETCH
        size = count if begins else size + count
        last, end = file, offset + count
        yield begins


def _sum_up(pieces: list[tuple[int, DataFile, int, int, int]], found: np.ndarray, all: int) -> None:
    """Adds the checksums of pieces to those of their stretches."""
    sums: list[tuple[int, int, int]] = []

    def work(waiting: Iterator[tuple[int, DataFile, int, int, int]]) -> None:
        buffer = np.empty(_PIECE, np.uint8)
        for number, file, at, count, left in waiting:
            piece = buffer[:count]
            if file.read_into(piece.data, at) < count:
                raise CutShortError(file)
            sums.append((number, crc.of_array(piece), left))

    _shared(pieces, all, work)
    numbers, checksums, behind = (np.array(column) for column in zip(*sums))
    np.bitwise_xor.at(found, numbers, crc.shifted(checksums.astype(np.uint32), behind))


def read(targets: list[Target]) -> None:
    """Fills arrays from places in files."""
    targets.sort(key=lambda target: (id(target[0]), target[1]))
    size = sum(array.nbytes for _, _, array in targets)

    def work(waiting: Iterator[tuple[DataFile, int, list[Any], int]]) -> None:
        for file, offset, arrays, count in waiting:
            if file.read_into_all(arrays, offset) < count:
                raise CutShortError(file)

    _shared(_batches(targets), size, work)


def _batches(targets: list[Target]) -> Iterator[tuple[DataFile, int, list[Any], int]]:
    """Arrays that one call fills: small ones together, large ones in parts."""
    arrays: list[Any] = []
    file, start, size = None, 0, 0
    for of, offset, array in targets:
        is_next = of is file and offset == start + size
        if arrays and not (is_next and size < _BATCH and len(arrays) < _ARRAYS):
            yield file, start, arrays, size  # type: ignore[misc]
            arrays = []
        if not arrays:
            file, start, arrays, size = of, offset, [], 0
        if array.nbytes < 2 * _BATCH:
            arrays.append(array)
            size += array.nbytes
            continue
        if arrays:
            yield of, start, arrays, size
        flat = array.reshape(-1).view(np.uint8)
        for at in range(0, len(flat), _BATCH):
            part = flat[at : at + _BATCH]
            yield of, offset + at, [part], len(part)
        arrays, size = [], 0
    if arrays:
        yield file, start, arrays, size  # type: ignore[misc]
