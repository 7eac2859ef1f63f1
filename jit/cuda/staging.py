# SPDX-License-Identifier: Apache-2.0
"""Copies between a host's arrays and a card by way of memory that the card reads by itself.

Such memory (page-locked) is dear to get, so a card has some blocks of it, which are used again and
again.  What goes to the card is copied into a block at once, so the array may be changed, and from
there while the host goes on; what comes from it comes in one go and one wait, or, if it is long,
piece by piece, the card copying one while the host copies another.  Imports NumPy alone.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

BLOCK = 2 << 20  # bytes
_MOST_BLOCKS = 8  # on the way to the card
_REPLIES = 8  # blocks of a long copy from the card,
_AHEAD = 4  # of which the card writes so many while threads read the others
_ALIGN = 64
# Arrays of at least so many bytes are copied to and from blocks by several threads.
_LONG = 8 << 20
_THREADS = 4


class Lines(Protocol):
    """What a card offers to those that copy: all is in order with what it does else."""

    def lock_pages(self, count: int) -> int:
        """The address of so many bytes that the card reads and writes by itself."""

    def copy_up(self, address: int, here: int, count: int) -> None:
        """Begins to copy from page-locked memory to the card."""

    def copy_down(self, here: int, address: int, count: int) -> None:
        """Begins to copy from the card to page-locked memory."""

    def new_mark(self) -> Any:
        """A mark, which has not been set."""

    def set_mark(self, mark: Any) -> None:
        """Sets a mark behind all that was begun."""

    def await_mark(self, mark: Any) -> None:
        """Waits until all is done that lies before a mark."""

    def synchronize(self) -> None:
        """Waits until all is done."""


class _Block:
    """Page-locked memory, how much of it is taken, and when the card is done with it."""

    __slots__ = ("address", "mark", "used")

    def __init__(self, card: Lines) -> None:
        self.address, self.mark, self.used = card.lock_pages(BLOCK), card.new_mark(), 0


class Staging:
    """The copies of one card."""

    def __init__(self, card: Lines) -> None:
        self._card = card
        self._lock = threading.Lock()
        self._ring: deque[_Block] = deque()  # the first is the one in use
        self._idle: list[_Block] = []  # for what comes from the card
        self._pool: ThreadPoolExecutor | None = None

    # To the card.

    def upload(self, address: int, array: np.ndarray) -> None:
        """Copies a contiguous array to the card; it may be changed afterwards."""
        start, count = _place(array), array.nbytes
        with self._lock:
            if count >= _LONG:
                self._upload_long(address, start, count)
                return
            for at in range(0, count, BLOCK):
                length = min(BLOCK, count - at)
                block = self._with_room(length)
                ctypes.memmove(block.address + block.used, start + at, length)
                self._send(block, address + at, length)

    def _upload_long(self, address: int, start: int, count: int) -> None:
        """Threads copy to some blocks while the card reads others."""
        under_way: deque[tuple[Future[Any], _Block, int, int]] = deque()
        for at in range(0, count, BLOCK):
            if len(under_way) == _MOST_BLOCKS - 1:
                self._send_next(under_way, address)
            block, length = self._next_block(), min(BLOCK, count - at)
            copy = self._threads().submit(ctypes.memmove, block.address, start + at, length)
            under_way.append((copy, block, at, length))
        while under_way:
            self._send_next(under_way, address)

    def _send_next(self, under_way: deque[tuple[Any, _Block, int, int]], address: int) -> None:
        copy, block, at, length = under_way.popleft()
        copy.result()
        self._send(block, address + at, length)
        self._card.set_mark(block.mark)

    def _send(self, block: _Block, address: int, length: int) -> None:
        self._card.copy_up(address, block.address + block.used, length)
        block.used += -(-length // _ALIGN) * _ALIGN

    def _with_room(self, count: int) -> _Block:
        # (What fits into one block is not cut: one copy is cheaper than two.)
        if self._ring and BLOCK - self._ring[0].used >= count:
            return self._ring[0]
        return self._next_block()

    def _next_block(self) -> _Block:
        """An empty block, which becomes the one in use."""
        if self._ring:
            self._card.set_mark(self._ring[0].mark)
        if len(self._ring) < _MOST_BLOCKS:
            self._ring.appendleft(_Block(self._card))
            return self._ring[0]
        self._ring.rotate(1)  # to the one that was used longest ago
        block = self._ring[0]
        self._card.await_mark(block.mark)
        block.used = 0
        return block

    # From the card.

    def download_all(self, pairs: Sequence[tuple[np.ndarray, int]]) -> None:
        """Copies from addresses into contiguous arrays."""
        few: list[tuple[np.ndarray, int, int]] = []  # with their places in a block
        used = 0
        for array, address in pairs:
            if array.nbytes > BLOCK:
                self._download_long(array, address)
                continue
            if used + array.nbytes > BLOCK:
                self._download_few(few)
                few, used = [], 0
            few.append((array, address, used))
            used += -(-array.nbytes // _ALIGN) * _ALIGN
        self._download_few(few)

    def _download_few(self, few: Sequence[tuple[np.ndarray, int, int]]) -> None:
        """Copies what fits into one block, and waits once."""
        if not few:
            return
        block = self._take()
        for array, address, at in few:
            if array.nbytes:
                self._card.copy_down(block.address + at, address, array.nbytes)
        self._card.synchronize()
        for array, _, at in few:
            ctypes.memmove(_place(array), block.address + at, array.nbytes)
        self._idle.append(block)

    def _download_long(self, array: np.ndarray, address: int) -> None:
        """The card copies to some blocks while threads copy from others."""
        blocks = [self._take() for _ in range(_REPLIES)]
        start, count = _place(array), array.nbytes
        starts = range(0, count, BLOCK)
        copies: deque[Future[Any]] = deque()
        begun = 0
        for number, at in enumerate(starts):
            while begun < min(number + _AHEAD, len(starts)):
                if begun >= _REPLIES:
                    copies.popleft().result()  # what was in the block before
                block, first = blocks[begun % _REPLIES], starts[begun]
                self._card.copy_down(block.address, address + first, min(BLOCK, count - first))
                self._card.set_mark(block.mark)
                begun += 1
            block = blocks[number % _REPLIES]
            self._card.await_mark(block.mark)
            places = start + at, block.address, min(BLOCK, count - at)
            copies.append(self._threads().submit(ctypes.memmove, *places))
        for copy in copies:
            copy.result()
        self._idle += blocks

    def _take(self) -> _Block:
        # (Other threads may take the last one first.)
        try:
            return self._idle.pop()
        except IndexError:
            return _Block(self._card)

    def _threads(self) -> ThreadPoolExecutor:
        with _MAKING:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(_THREADS, "numbaflow-copies")
            return self._pool


_MAKING = threading.Lock()


def _place(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])
