# SPDX-License-Identifier: Apache-2.0
"""Maps whose function is called for several elements at a time, in threads.

A thread knows what it reads and where to put it, never the stream that its reader holds: when that
goes, or its session, the thread ends.  Where whole batches are read, threads put their results into
rows of the batch themselves, and who reads wakes once for each batch.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ....engine.memory import offering
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from ....engine.types.texts import unpacked
from .batch_filling import PLACED, Batch, Likes, RowsWay
from .dataset import Dataset, Element, State, Stream
from .mapping import MapDataset, ended, mapped
from .statistics import ToldFunction, teller
from .threads import POLL

if TYPE_CHECKING:
    from .context import Context
    from .functions import Captured


# Calls that take fewer seconds are made so many at a time by a thread.
_LITTLE, _TOGETHER = 5e-4, 8
# Those that take fewer are made by one thread alone.
_ALONE = 3e-4
# A call that takes so many seconds lets other threads begin theirs.
_LONG = 1e-2
# So many more long ones than short ones let several threads make them.
_MANY_LONG = 4
# After so many calls of several threads some are looked at alone, later after more of them.
_FIRST_TRIAL, _LAST_TRIAL = 64, 1 << 12


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

    def stream(self, context: Context, path: str) -> Stream:
        if teller(context, self) is not None:  # of calls for single elements
            source = self.source_stream(context, path)
            return self.single_stream(context, source, self.function)
        return super().stream(context, path)

    def single_stream(self, context: Context, source: Stream, function: Captured) -> Stream:
        count = self.parallel if self.parallel > 0 else max(2, os.cpu_count() or 1)
        count = min(count, context.most_calls or count)
        return _ParallelMapped(_Crew(self, source, context, function, count))


class _Call:
    """A call of a function for one element, and what came of it."""

    __slots__ = ("batch", "element", "is_done", "result", "row")

    def __init__(self, element: Element, batch: Batch | None, row: int) -> None:
        """batch: of which the result is to be a row, if it is."""
        self.element, self.batch, self.row = element, batch, row
        self.result: Any = None
        self.is_done = False

    def leave(self) -> None:
        """Makes the result one that is in no batch."""
        self.result, self.batch = self.taken(), None

    def taken(self) -> Any:
        """The result, wherever it is."""
        if self.result is not PLACED:
            return self.result
        assert self.batch is not None
        return self.batch.element(self.row)


class _Crew:
    """Threads that call a function for elements which they read in turns."""

    def __init__(
        self,
        dataset: ParallelMapDataset,
        source: Stream,
        context: Context,
        function: Captured,
        count: int,
    ) -> None:
        self.source, self.context = source, context
        # (More calls than that only wait for each other, as they do in TensorFlow's pool.)
        self.count = min(count, 2 * (os.cpu_count() or 1))
        # Calls that are not taken yet: as many as go on at a time, and as many that are done.  Who
        # is done with an element before the one in front of it need not wait for that.
        self._most = 2 * count
        called = context.function(function, count >= (os.cpu_count() or 1))
        told = teller(context, dataset)
        self._function = called if told is None else ToldFunction(called, told, count)
        self._keeps_count, self.is_sloppy = dataset.keeps_count, dataset.is_sloppy
        self.calls: deque[_Call] = deque()
        # One lock; who waits for a result, or for a pause, and threads that wait for room for one.
        # (One that its holder may take again: streams are closed in the middle of anything.)
        lock = threading.RLock()
        self.changed, self._room = threading.Condition(lock), threading.Condition(lock)
        self._reading = threading.Lock()
        self.is_closed = self.is_over = self.is_paused = False
        self.working = 0
        self._seconds = _LITTLE  # that the last call took
        # Whether one thread makes all calls, as they take so little that several threads would
        # mostly wait for each other; since when it is at work; and what the others wait for.
        self._is_little, self._since = True, 0.0
        self._spare = threading.Condition(lock)
        self._trial = self._left = _FIRST_TRIAL
        # How many more calls of one thread alone were long than short.
        self._long = 0
        self.has_begun = self.is_alone = False
        # How many results are waited for together; how many rows batches have, 0 where there are
        # none; what the rows of the last one were like; and that to which rows are added.
        self._wanted = self.size = 0
        self._is_whole = False
        self._likes: Likes = ()
        self._batch: Batch | None = None

    def begin(self) -> None:
        """Starts the threads, if they are of any use."""
        self.has_begun = True
        self.is_alone = self._function.holds_lock
        if self.is_alone:
            self.size = 0
            return
        for number in range(self.count):
            threading.Thread(
                target=self._work, args=(number,), name="numbaflow-data", daemon=True
            ).start()

    def next_alone(self) -> Element | None:
        """The next result, computed where it is asked for."""
        element = self._function.next_of(self.source)
        return None if element is None else mapped(self._function, element, self._keeps_count)

    def _work(self, number: int) -> None:
        while self._await_room(number):
            calls: list[_Call] = []
            self._since = began = perf_counter()
            is_alone = self.working == 1
            try:
                calls = [call for call in self._read() if not call.is_done]
                began = perf_counter()
                ends = self._function.begun([call.element for call in calls])
                for call, end in zip(calls, ends):
                    self._do(call, end)
            finally:
                with self.changed:
                    if calls:
                        is_alone = is_alone and self.working == 1
                        self._learn(len(calls), perf_counter() - began, is_alone)
                    self.working -= 1
                    if self.is_paused:
                        self.changed.notify_all()

    def _await_room(self, number: int) -> bool:
        """Waits until a thread is to make calls; False when it is to end."""
        with self.changed:
            while self.is_paused or self._is_full() or (number and self._is_little):
                if self._is_to_end():
                    return False
                if not (number and self._is_little):
                    self._room.wait(POLL)
                elif not self._spare.wait(POLL) and self.working:
                    # (Its call may be waiting for another one.)
                    self._is_little = perf_counter() - self._since < _LONG
            if self._is_to_end():
                return False
            self.working += 1
            return True

    def _learn(self, count: int, seconds: float, is_alone: bool) -> None:
        """Notes how long so many calls took, maybe of one thread alone, and how to go on."""
        self._seconds = seconds / count
        if not self._is_little:
            self._left -= count
            self._is_little, self._long = self._left <= 0, 0
        elif is_alone:
            # (One may have waited for something that has nothing to do with it.)
            self._long = max(self._long + (1 if self._seconds >= _ALONE else -1), -_MANY_LONG)
            if self._long >= _MANY_LONG:
                self._is_little = False
                self._left, self._trial = self._trial, min(2 * self._trial, _LAST_TRIAL)
                self._spare.notify_all()

    def _is_full(self) -> bool:
        return len(self.calls) >= self._most + self._wanted

    def _is_to_end(self) -> bool:
        return self.is_closed or self.is_over or self.context.view.is_ending

    def _read(self) -> list[_Call]:
        """Takes the next elements; in turns, so that calls are in the order of elements.

        Of those that take little time several: to take turns costs more than one of them.
        """
        calls: list[_Call] = []
        with self._reading:
            most = 1
            while len(calls) < most and not (self._is_to_end() or self.is_paused):
                if self._is_full():
                    break
                call = self._next_call()
                if call is None:
                    break
                calls.append(call)
                if len(calls) == 1 and self._seconds < _LITTLE:
                    room = self._most + self._wanted - len(self.calls)
                    most = min(_TOGETHER, room // self.count)
        return calls

    def _next_call(self) -> _Call | None:
        """A call for the next element; None where there are no more."""
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
            call = _Call(element, *self._place())
            self.calls.append(call)
            if result is not None:
                self._settle(call, result)
            return call

    def _place(self) -> tuple[Batch | None, int]:
        """Where the result of the next call goes."""
        if not self.size:
            return None, 0
        if self._batch is None or self._batch.is_full:
            self._batch = Batch(self.size, self._likes)
        return self._batch, self._batch.add()

    def _do(self, call: _Call, end: Callable[[], Element]) -> None:
        batch, is_placed = call.batch, False
        try:
            if batch is None:
                result: Any = ended(end, self._keeps_count)
            else:
                with offering(batch.rows(call.row)):
                    result = ended(end, self._keeps_count)
                is_placed = result is not None and batch.put(result, call.row)
        except Exception as error:  # (for who takes the result)
            result = error
        with self.changed:
            self._settle(call, PLACED if is_placed and call.batch is not None else result)
            # (Who takes the batch wants to be the only one to know its memory.)
            del result

    def _settle(self, call: _Call, result: Any) -> None:
        """Notes what came of a call; who takes results is told if there are what he waits for."""
        call.result, call.is_done = result, True
        if self._wanted:
            if self._has_rows(self._wanted):
                self.changed.notify_all()
        elif self.is_sloppy or (self.calls and self.calls[0] is call):
            self.changed.notify_all()

    def _tell_all(self) -> None:
        self.changed.notify_all()
        self._room.notify_all()
        if not self._is_little or self._is_to_end():
            self._spare.notify_all()

    def _done(self) -> _Call | None:
        """The call whose result comes next, if it is there."""
        if self.is_sloppy:
            return next((call for call in self.calls if call.is_done), None)
        return self.calls[0] if self.calls and self.calls[0].is_done else None

    def take(self) -> Element | None:
        """The next result."""
        with self.changed:
            while (call := self._done()) is None:
                if not self.calls and self.is_over:
                    return None
                self.context.check()
                self.changed.wait(POLL)
            self.calls.remove(call)
            self._room.notify()
        result: Any = call.taken()
        if isinstance(result, Exception):
            raise result
        if result is None:
            with self.changed:
                self.is_over = True
                self.calls.clear()
        return result  # type: ignore[no-any-return]

    def take_rows(self, size: int, way: RowsWay) -> tuple[Element | None, int]:
        """The next results as rows of a batch, at most so many, and how many there are."""
        self._is_whole = way.is_whole
        with self.changed:
            self._wanted = size
            self._room.notify_all()
            try:
                while not self._has_rows(size):
                    self.context.check()
                    self.changed.wait(POLL)
            finally:
                self._wanted = 0
            calls, failure = self._taken(size)
            if failure is not None and not way.is_whole:
                # What comes is in other rows than was thought.
                self.size, self._batch = 0, None
                for call in self.calls:
                    call.leave()
        if failure is not None:
            raise failure
        return self._joined(calls, way), len(calls)

    def _has_rows(self, size: int) -> bool:
        """Whether so many results are there, or a reason that fewer are to be taken."""
        count = 0
        for call in islice(self.calls, size):
            if not call.is_done:
                return False
            is_failure = isinstance(call.result, Exception)
            if call.result is None or (is_failure and not self._is_whole):
                return True
            count += 1
        return count == size or self.is_over

    def _taken(self, size: int) -> tuple[list[_Call], Exception | None]:
        """The next calls with results, and the first error among them."""
        calls: list[_Call] = []
        failure: Exception | None = None
        for _ in range(min(size, len(self.calls))):
            call = self.calls.popleft()
            if call.result is None:
                self.is_over = True
                self.calls.clear()
                break
            if not isinstance(call.result, Exception):
                calls.append(call)
                continue
            failure = failure or call.result
            if not self._is_whole:
                break
        self._tell_all()
        return calls, failure

    def _joined(self, calls: list[_Call], way: RowsWay) -> Element | None:
        if not calls:
            return None
        batch = calls[0].batch
        if batch is not None and all(
            call.result is PLACED and call.batch is batch and call.row == row
            for row, call in enumerate(calls)
        ):
            found = batch.take(len(calls))
        else:
            found = way.stack([call.taken() for call in calls])
        self._likes = [(column.shape[1:], column.dtype) for column in found]
        return found

    def pause(self) -> None:
        """Waits until all calls that were begun are done; no more are begun."""
        with self.changed:
            self.is_paused = True
            while self.working:
                self.context.check()
                self.changed.wait(POLL)

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
    def __init__(self, crew: _Crew) -> None:
        self._crew = crew

    def next(self) -> Element | None:
        if not self._crew.has_begun:
            self._crew.begin()
        return self._crew.next_alone() if self._crew.is_alone else self._crew.take()

    def next_rows(self, size: int, way: RowsWay) -> tuple[Element | None, int] | None:
        crew = self._crew
        if not crew.has_begun and not crew.is_sloppy:
            crew.size = size
            crew.begin()
        return crew.take_rows(size, way) if crew.size == size else None

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
