# SPDX-License-Identifier: Apache-2.0
"""Streams that are read ahead in threads: prefetch, and functions called for several elements.

A thread knows what it reads and where to put it, never the stream that its reader holds: when that
goes, or its session, the thread ends.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from ....engine.types.texts import unpacked
from .dataset import Block, Dataset, Element, Rows, State, Stream, row_of
from .mapping import MapDataset, mapped
from .ordering import UnaryDataset

if TYPE_CHECKING:
    from .context import Context
    from .functions import Captured

# So often those look who wait for another thread.
_POLL = 0.1
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
                self.changed.wait(_POLL)
            self.is_idle = False
            return not self.is_closed and not self.context.view.is_ending

    def take(self) -> Any:
        """The next item; None at the end."""
        with self.changed:
            while not self.items:
                if self.is_over:
                    return None
                self.context.check()
                self.changed.wait(_POLL)
            item = self.items.popleft()
            self.changed.notify_all()
            return item

    def pause(self) -> None:
        """Waits until the thread reads no more for now."""
        with self.changed:
            self.is_paused = True
            while self.thread is not None and self.thread.is_alive() and not self.is_idle:
                self.context.check()
                self.changed.wait(_POLL)

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
            elements = [list(item) for item in items]
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
        if source.has_blocks:
            return AheadBlocks(source, context, self.size if self.size > 0 else _ROOM)
        return Ahead(source, context, self.size if self.size > 0 else _ROOM)

    def rows(self, context: Context) -> Rows | None:
        return self.source.rows(context)


class AheadBlocks(Ahead):
    """Blocks read ahead: at least as many elements as there is room for are in one."""

    has_blocks = True

    def __init__(self, source: Stream, context: Context, room: int) -> None:
        super().__init__(source, context, 2)
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
        state["block"] = [np.array(column[self._place : self._count]) for column in self._block]
        return state

    def restore(self, state: State) -> None:
        super().restore({**state, "items": ()})
        self._buffer.items = deque(list(item) for item in state["items"])
        self._block = list(state["block"])
        self._place, self._count = 0, len(self._block[0]) if self._block else 0


class ParallelMapDataset(MapDataset):
    """The results of a function, computed for several elements at a time; their order is kept."""

    kind = "ParallelMap"

    def __init__(
        self,
        source: Dataset,
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        function: Captured,
        keeps_count: bool,
        parallel: int,
    ) -> None:
        super().__init__(source, types, shapes, function, keeps_count)
        self.parallel = parallel
        # Whether results may come in the order in which they are done.
        self.is_sloppy = False

    def single_stream(self, context: Context, source: Stream) -> Stream:
        count = self.parallel if self.parallel > 0 else max(2, os.cpu_count() or 1)
        count = min(count, context.most_calls or count)
        return _ParallelMapped(self, source, context, count)


class _Call:
    """A call of a function for one element, and what came of it."""

    __slots__ = ("element", "is_done", "result")

    def __init__(self, element: Element) -> None:
        self.element, self.result = element, None
        self.is_done = False


class _Crew:
    """Threads that call a function for elements which they read in turns."""

    def __init__(
        self, dataset: ParallelMapDataset, source: Stream, context: Context, count: int
    ) -> None:
        self.source, self.context, self.count = source, context, count
        # Calls that are not taken yet: as many as go on at a time, and as many that are done.  Who
        # is done with an element before the one in front of it need not wait for that.
        self._most = 2 * count
        self._function = context.function(dataset.function, count >= (os.cpu_count() or 1))
        self._keeps_count, self._is_sloppy = dataset.keeps_count, dataset.is_sloppy
        self.calls: deque[_Call] = deque()
        # One lock; who waits for a result, or for a pause, and threads that wait for room for one.
        # (One that its holder may take again: streams are closed in the middle of anything.)
        lock = threading.RLock()
        self.changed, self._room = threading.Condition(lock), threading.Condition(lock)
        self._reading = threading.Lock()
        self.is_closed = self.is_over = self.is_paused = False
        self.working = 0
        self.failure: Exception | None = None
        self.has_begun = False

    def begin(self) -> None:
        """Starts the threads."""
        self.has_begun = True
        for _ in range(self.count):
            threading.Thread(target=self._work, name="numbaflow-data", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self.changed:
                while self.is_paused or len(self.calls) >= self._most:
                    if self._is_to_end():
                        return
                    self._room.wait(_POLL)
                if self._is_to_end():
                    return
                self.working += 1
            try:
                call = self._read()
                if call is not None:
                    self._do(call)
            finally:
                with self.changed:
                    self.working -= 1
                    if self.is_paused:
                        self.changed.notify_all()

    def _is_to_end(self) -> bool:
        return self.is_closed or self.is_over or self.context.view.is_ending

    def _read(self) -> _Call | None:
        """Takes the next element; in turns, so that calls are in the order of elements."""
        with self._reading:
            if self._is_to_end() or self.is_paused or len(self.calls) >= self._most:
                return None
            result: Any = None
            try:
                element = self._function.next_of(self.source)
            except Exception as error:  # (for who takes the element)
                element, result = (), error
            with self.changed:
                if element is None:
                    self.is_over = True
                    self._tell_all()
                    return None
                call = _Call(element)
                self.calls.append(call)
                if result is not None:
                    self._settle(call, result)
                return call

    def _do(self, call: _Call) -> None:
        if call.is_done:
            return
        try:
            result: Any = mapped(self._function, call.element, self._keeps_count)
        except Exception as error:  # (for who takes the result)
            result = error
        with self.changed:
            self._settle(call, result)

    def _settle(self, call: _Call, result: Any) -> None:
        """Notes what came of a call; who takes results is told if it is the next one."""
        call.result, call.is_done = result, True
        if self._is_sloppy or (self.calls and self.calls[0] is call):
            self.changed.notify_all()

    def _tell_all(self) -> None:
        self.changed.notify_all()
        self._room.notify_all()

    def _done(self) -> _Call | None:
        """The call whose result comes next, if it is there."""
        if self._is_sloppy:
            return next((call for call in self.calls if call.is_done), None)
        return self.calls[0] if self.calls and self.calls[0].is_done else None

    def take(self) -> Element | None:
        """The next result."""
        with self.changed:
            while (call := self._done()) is None:
                if not self.calls and self.is_over:
                    return None
                self.context.check()
                self.changed.wait(_POLL)
            self.calls.remove(call)
            self._room.notify()
        result: Any = call.result
        if isinstance(result, Exception):
            raise result
        if result is None:
            with self.changed:
                self.is_over = True
                self.calls.clear()
        return result  # type: ignore[no-any-return]

    def pause(self) -> None:
        """Waits until all calls that were begun are done; no more are begun."""
        with self.changed:
            self.is_paused = True
            while self.working:
                self.context.check()
                self.changed.wait(_POLL)

    def go_on(self) -> None:
        """Ends a pause."""
        with self.changed:
            self.is_paused = False
            self._tell_all()

    def close(self) -> None:
        """Has the threads end."""
        with self.changed:
            self.is_closed = True
            self._tell_all()


class _ParallelMapped(Stream):
    def __init__(
        self, dataset: ParallelMapDataset, source: Stream, context: Context, count: int
    ) -> None:
        self._crew = _Crew(dataset, source, context, count)

    def next(self) -> Element | None:
        if not self._crew.has_begun:
            self._crew.begin()
        return self._crew.take()

    def save(self) -> State:
        crew = self._crew
        crew.pause()
        try:
            waiting = [call.element for call in crew.calls]
            source = crew.source
            if isinstance(source, _Before):
                waiting += source.elements
                source = source.source
            elements = [[unpacked(array) for array in element] for element in waiting]
            return {"elements": elements, "source": source.save()}
        finally:
            crew.go_on()

    def restore(self, state: State) -> None:
        source = self._crew.source
        source.restore(state["source"])
        elements = [tuple(element) for element in state["elements"]]
        self._crew.source = _Before(elements, source) if elements else source

    def close(self) -> None:
        self._crew.close()

    def __del__(self) -> None:
        self._crew.close()


class _Before(Stream):
    """Some elements before those of a stream."""

    def __init__(self, elements: list[Element], source: Stream) -> None:
        self.elements, self.source = elements, source

    def next(self) -> Element | None:
        return self.elements.pop(0) if self.elements else self.source.next()

    def close(self) -> None:
        self.source.close()
