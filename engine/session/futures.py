# SPDX-License-Identifier: Apache-2.0
"""Operations that may have to wait: for an element of a queue, for room in one, for gradients.

Their kernels return a `Future` in place of results.  A run collects these in `FutureSet` and goes
on with what does not depend on them.  Closing the session, a deadline or a failure elsewhere in the
run cancels what still waits.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import errors
from ..stopping import await_moment, deadline_error

if TYPE_CHECKING:
    from .session import BaseSession

Watcher = Callable[["Future"], None]


class Dead:
    """What a Future gives for a value that nobody makes: of a branch that is not taken."""

    def __repr__(self) -> str:
        return "DEAD"


DEAD = Dead()


class Future:
    """A result that somebody will give, from any thread: `settle` it outside of all locks."""

    __slots__ = ("__weakref__", "_lock", "_watchers", "error", "is_done", "result")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watchers: list[Watcher] = []
        self.is_done = False
        self.result: Any = None
        self.error: BaseException | None = None

    def settle(self, result: object = None, error: BaseException | None = None) -> bool:
        """Gives the result, or the error; only the first call counts, and returns True."""
        with self._lock:
            if self.is_done:
                return False
            self.result, self.error, self.is_done = result, error, True
            watchers, self._watchers = self._watchers, []
        # Outside of the lock: watchers settle others, and take locks of their own.
        for watcher in watchers:
            watcher(self)
        return True

    def watch(self, watcher: Watcher) -> None:
        """Has `watcher` called with this object once it is settled, at once if it is."""
        with self._lock:
            if not self.is_done:
                self._watchers.append(watcher)
                return
        watcher(self)

    def cancel(self) -> None:
        """Gives up waiting: settles with CancelledError unless a result came first."""
        self.settle(error=errors.cancelled("Operation was cancelled"))

    def outcome(self) -> Any:
        """The result; raises the error if there is one."""
        if self.error is not None:
            raise self.error
        return self.result


class AsyncTask(Future):
    """Work that waits several times: a generator that yields what it waits for.

    The generator is sent each outcome (or thrown the error) and returns the result.
    """

    __slots__ = ("_awaited", "_is_cancelled", "_steps")

    def __init__(self, steps: Generator[Future, Any, Any]) -> None:
        super().__init__()
        self._steps = steps
        self._awaited: Future | None = None
        self._is_cancelled = False
        self._advance(None)

    def cancel(self) -> None:
        """Cancels what the work waits for, now and from now on."""
        # First the flag, then what is awaited; `_advance` has it the other way round.  So one of
        # them sees the other, and what is awaited is cancelled, whatever comes first.
        self._is_cancelled = True
        awaited = self._awaited
        if awaited is not None:
            awaited.cancel()

    def _advance(self, settled: Future | None) -> None:
        while True:
            try:
                awaited = self._step(settled)
            except StopIteration as end:
                self.settle(end.value)
                return
            except BaseException as error:
                self.settle(error=error)
                return
            self._awaited = awaited
            if self._is_cancelled:
                awaited.cancel()
            if not awaited.is_done:
                awaited.watch(self._advance)
                return
            # No recursion, however many come settled already.
            settled = awaited

    def _step(self, settled: Future | None) -> Future:
        if settled is None:
            return next(self._steps)
        if settled.error is not None:
            return self._steps.throw(settled.error)
        return self._steps.send(settled.result)


class FairLock:
    """Lets one task at a time go on, in the order in which they came; nobody blocks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_taken = False
        self._next: deque[Future] = deque()

    def take(self) -> Future:
        """Settled when it is the caller's turn, which lasts until it calls `give`."""
        turn = Future()
        await_moment(self._lock)
        with self._lock:
            if self._is_taken:
                self._next.append(turn)
                return turn
            self._is_taken = True
        turn.settle()
        return turn

    def take_at_once(self) -> bool:
        """Begins the caller's turn if nobody else has one; whether it did."""
        await_moment(self._lock)
        with self._lock:
            is_free = not self._is_taken
            self._is_taken = True
        return is_free

    def give(self) -> None:
        """Ends a turn; the next one begins."""
        while True:
            await_moment(self._lock)
            with self._lock:
                if not self._next:
                    self._is_taken = False
                    return
                turn = self._next.popleft()
            # Those that gave up are passed over.
            if turn.settle():
                return


class RunHeld:
    """What a run holds while a value of it is there, such as a mutex, and no longer if it fails."""

    def release(self) -> None:
        """Lets go; only the first call counts."""
        raise NotImplementedError


def release_all(values: Iterable[Any]) -> None:
    """Lets go of what a run that has failed still holds: the error's traceback knows its values."""
    for value in values:
        if type(value) is np.ndarray and value.dtype == object and not value.ndim:
            held = value.item()
            if isinstance(held, RunHeld):
                held.release()


class FutureSet:
    """What one run waits for at the moment.  Its methods but `cancel` are the run's own."""

    def __init__(self, session: BaseSession) -> None:
        self._session = session
        self._deadline = session.deadline
        # (Its `put` may be called from anywhere, within another `put` of the same thread too.)
        self._settled: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._keys: dict[Future, Any] = {}
        # Why everything was cancelled, where callers are to be told so.
        self._reason = ""
        self._is_cancelled = False

    def __bool__(self) -> bool:
        return bool(self._keys)

    def add(self, key: Sequence[int | None], pending: Future) -> None:
        """Waits for one more; `key` comes back with it."""
        if not self._keys:
            self._session.waits.add(self)
        self._keys[pending] = key
        pending.watch(self._settled.put)
        # Noted first, above: who begins to end the session or this run just now, or has done so
        # before anything was waited for, cancels it there or here.
        if self._session.is_ending or self._is_cancelled:
            pending.cancel()

    def next(self) -> tuple[Any, Future]:
        """Waits until something is settled; DeadlineExceededError when the time is up."""
        left = None if self._deadline is None else max(self._deadline - time.monotonic(), 0.0)
        found = self.next_within(left)
        if found is None:
            raise deadline_error()
        return found

    def next_within(self, seconds: float | None) -> tuple[Any, Future] | None:
        """Waits until something is settled, at most so long; None if nothing was."""
        try:
            pending = self._settled.get(timeout=seconds)
        except queue.Empty:
            return None
        if self._reason:
            raise errors.cancelled(self._reason)
        key = self._keys.pop(pending)
        if not self._keys:
            self._session.waits.discard(self)
        return key, pending

    def cancel(self, reason: str = "") -> None:
        """Cancels everything; any thread may call it.  A reason is what the run fails with."""
        self._reason, self._is_cancelled = reason, True
        for pending in list(self._keys):
            pending.cancel()

    def close(self) -> None:
        """Ends waiting, whatever is left."""
        self._session.waits.discard(self)
        self.cancel()
        self._keys.clear()


class SessionFutures:
    """The runs of a session that wait; safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waits: set[FutureSet] = set()

    def add(self, waits: FutureSet) -> None:
        """Notes a run."""
        await_moment(self._lock)
        with self._lock:
            self._waits.add(waits)

    def discard(self, waits: FutureSet) -> None:
        """Forgets a run."""
        await_moment(self._lock)
        with self._lock:
            self._waits.discard(waits)

    def cancel(self, reason: str = "") -> None:
        """Cancels what all of them wait for."""
        await_moment(self._lock)
        with self._lock:
            waits = list(self._waits)
        for item in waits:
            item.cancel(reason)
