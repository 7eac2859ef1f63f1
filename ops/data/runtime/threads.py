# SPDX-License-Identifier: Apache-2.0
"""Streams that are read ahead in threads: prefetch.

A thread knows what it reads and where to put it, never the stream that its reader holds: when that
goes, or its session, the thread ends.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .dataset import Block, Dataset, Element, Rows, State, Stream, row_of
from .ordering import UnaryDataset
from .ragged import kept, taken_up
from .statistics import Teller, teller

if TYPE_CHECKING:
    from .context import Context

# So often those look who wait for another thread.
POLL = 0.1
# The room that AUTOTUNE gives a prefetch.
_ROOM = 16


class Buffer:
    """What was read ahead, between a thread that fills it and one that takes from it.

    The thread closes `source` when nobody wants more of it.
    """

    def __init__(self, source: Any, context: Context, room: int) -> None:
        self.source, self.context, self.room = source, context, room
        self.items: deque[Any] = deque()
        self.changed = threading.Condition()
        self.is_closed = self.is_over = self.is_paused = self.is_idle = False
        self.thread: threading.Thread | None = None

    def start(self, read: Callable[[Buffer], Any]) -> None:
        """Starts the thread that fills the buffer."""
        self.is_over = False
        self.thread = threading.Thread(
            target=_fill, args=(self, read), name="numbaflow-data", daemon=True
        )
        self.thread.start()

    def put(self, item: object) -> None:
        """Adds an item; the room was awaited before."""
        with self.changed:
            self.items.append(item)
            self.changed.notify_all()

    def await_room(self) -> bool:
        """Waits until an item more may be read; False when there is nothing to be read for."""
        with self.changed:
            while len(self.items) >= self.room or self.is_paused:
                if self.is_closed or self.context.view.is_ending:
                    return False
                self.is_idle = True
                self.changed.notify_all()
                self.changed.wait(POLL)
            self.is_idle = False
            return not self.is_closed and not self.context.view.is_ending

    def take(self) -> Any:
        """The next item; None at the end."""
        with self.changed:
            while not self.items:
                if self.is_over:
                    return None
                self.context.check()
                self.changed.wait(POLL)
            item = self.items.popleft()
            self.changed.notify_all()
            return item

    def pause(self) -> None:
        """Waits until the thread reads no more for now."""
        with self.changed:
            self.is_paused = True
            while self.thread is not None and self.thread.is_alive() and not self.is_idle:
                self.context.check()
                self.changed.wait(POLL)

    def go_on(self) -> None:
        """Ends a pause."""
        with self.changed:
            self.is_paused = False
            self.changed.notify_all()

    def close(self) -> None:
        """Ends the thread, which closes what it reads."""
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()
        if self.thread is None or self.is_over:
            self.source.close()


def _fill(buffer: Buffer, read: Callable[[Buffer], Any]) -> None:
    """What a thread does: reads until the end, or until nobody wants it any more."""
    try:
        while buffer.await_room():
            try:
                item = read(buffer)
            except Exception as error:  # (for who takes it)
                item = error
            if item is None:
                break
            buffer.put(item)
            # (Who takes a batch wants to be the only one to know its memory.)
            del item
    finally:
        with buffer.changed:
            buffer.is_over = buffer.is_idle = True
            buffer.changed.notify_all()
        if buffer.is_closed or buffer.context.view.is_ending:
            buffer.source.close()


def _read_one(buffer: Buffer) -> Any:
    return buffer.source.next()


class Ahead(Stream):
    """A stream whose elements are read ahead in a thread."""

    def __init__(self, source: Stream, context: Context, room: int) -> None:
        self._buffer = Buffer(source, context, room)

    def next(self) -> Element | None:
        buffer = self._buffer
        if buffer.thread is None:
            buffer.start(_read_one)
        item = buffer.take()
        if isinstance(item, Exception):
            raise item
        return item  # type: ignore[no-any-return]

    def save(self) -> State:
        buffer = self._buffer
        buffer.pause()
        try:
            items = list(buffer.items)
            failed = [item for item in items if isinstance(item, Exception)]
            if failed:
                raise failed[0]
            elements = [list(map(kept, item)) for item in items]
            is_over = bool(buffer.thread is not None and buffer.is_over)
            return {"items": elements, "over": int(is_over), "source": buffer.source.save()}
        finally:
            buffer.go_on()

    def restore(self, state: State) -> None:
        buffer = self._buffer
        buffer.items = deque(tuple(item) for item in state["items"])
        buffer.source.restore(state["source"])

    def close(self) -> None:
        self._buffer.close()

    def __del__(self) -> None:
        self._buffer.close()


class _ToldAhead(Ahead):
    """The same; how much was read ahead when an element is taken is told."""

    def __init__(self, source: Stream, context: Context, room: int, told: Teller) -> None:
        super().__init__(source, context, room)
        self._told = told

    def next(self) -> Element | None:
        found, room = super().next(), self._buffer.room
        if found is not None:
            # With the one that was taken.
            held = min(len(self._buffer.items) + 1, room)
            self._told.add("buffer_utilization", held / room)
            self._told.set("buffer_size", held)
            self._told.set("buffer_capacity", room)
        return found


class PrefetchDataset(UnaryDataset):
    """The same elements, some of them read ahead."""

    kind = "Prefetch"

    def __init__(self, source: Dataset, size: int) -> None:
        super().__init__(source)
        self.size = size

    def stream(self, context: Context, path: str) -> Stream:
        source = self.source_stream(context, path)
        if self.size == 0:
            return source
        told = teller(context, self)
        if told is not None:
            return _ToldAhead(source, context, self.size if self.size > 0 else _ROOM, told)
        if source.has_blocks or source.has_ragged_blocks:
            return AheadBlocks(source, context, self.size if self.size > 0 else _ROOM)
        return Ahead(source, context, self.size if self.size > 0 else _ROOM)

    def rows(self, context: Context) -> Rows | None:
        return self.source.rows(context)


class AheadBlocks(Ahead):
    """Blocks read ahead: at least as many elements as there is room for are in one."""

    def __init__(self, source: Stream, context: Context, room: int) -> None:
        super().__init__(source, context, 2)
        self.has_blocks, self.has_ragged_blocks = source.has_blocks, True
        self._size = max(1, room // 2)
        self._block: Block = []
        self._place = self._count = 0

    def _more(self) -> bool:
        if self._place < self._count:
            return True
        buffer = self._buffer
        if buffer.thread is None:
            size = self._size
            buffer.start(lambda buffer: buffer.source.next_block(size))
        item = buffer.take()
        if isinstance(item, Exception):
            raise item
        if item is None:
            return False
        self._block, self._place, self._count = item, 0, len(item[0])
        return True

    def next_block(self, count: int) -> Block | None:
        if not self._more():
            return None
        start = self._place
        stop = self._place = min(self._count, start + count)
        return [column[start:stop] for column in self._block]

    def next(self) -> Element | None:
        block = self.next_block(1)
        if block is None:
            return None
        return tuple([row_of(column, 0) for column in block])

    def save(self) -> State:
        state = super().save()
        state["block"] = [kept(column[self._place : self._count]) for column in self._block]
        return state

    def restore(self, state: State) -> None:
        super().restore({**state, "items": ()})
        self._buffer.items = deque(list(map(taken_up, item)) for item in state["items"])
        self._block = list(map(taken_up, state["block"]))
        self._place, self._count = 0, len(self._block[0]) if self._block else 0
