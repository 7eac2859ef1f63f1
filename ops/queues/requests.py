# SPDX-License-Identifier: Apache-2.0
"""Requests to something shared that may have to wait, and are served in the order they came.

A request goes as far as it can whenever the thing has changed.  Callers get the request, which is
settled (engine/session/futures.py) outside of all locks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.session.futures import Future
from ...engine.stopping import await_moment

if TYPE_CHECKING:
    import numpy as np

    from ...engine.graph.annotations import TensorLike


# What a turn of a request came to.
STUCK, MOVED, DONE = range(3)


class Request(Future):
    """One request under way."""

    __slots__ = ("advance", "elements", "failure", "is_over", "name", "owner", "value", "wanted")

    def __init__(
        self, owner: RequestQueue, name: str, wanted: int, advance: Callable[[Request], int]
    ) -> None:
        """advance(request) goes as far as it can, under the owner's lock."""
        super().__init__()
        self.owner, self.name, self.wanted, self.advance = owner, name, wanted, advance
        self.elements: list[Any] = []
        self.is_over = False
        self.value: Any = None
        self.failure: BaseException | None = None

    def succeed(self, value: TensorLike = ()) -> int:
        """Ends the request with a result."""
        self.value = value
        return DONE

    def fail(self, error: BaseException) -> int:
        """Ends the request with an error."""
        self.failure = error
        return DONE

    def cancelled(self) -> errors.CancelledError:
        """What a cancelled request fails with."""
        return errors.cancelled(f"{self.name} operation was cancelled")

    def cancel(self) -> None:
        """Gives up, unless the request is over."""
        self.owner.cancel(self)


class RequestQueue:
    """Something with lines of requests, one after the other of which is served in each turn."""

    # Whether a request that is stuck holds up those behind it.
    in_order = True

    def __init__(self, lines: int) -> None:
        self._lock = threading.Lock()
        # One lock guards the lines and all that the requests change. It is held for moments only:
        # who waits, waits for the request's future, never for the lock.
        self._lines: list[deque[Request]] = [deque() for _ in range(lines)]

    def _begin(
        self, line: int, name: str, wanted: int, advance: Callable[[Request], int]
    ) -> Request:
        """A new request at the end of a line."""
        request = Request(self, name, wanted, advance)
        await_moment(self._lock)
        with self._lock:
            # As a rule nobody waits: what is over at once concerns nobody but who asks.
            if not any(self._lines):
                request.is_over = advance(request) == DONE
            if not request.is_over:
                self._lines[line].append(request)
        if request.is_over:
            request.settle(request.value, request.failure)
        else:
            self._flush()
        return request

    def cancel(self, *requests: Request) -> None:
        """Ends requests that wait."""
        await_moment(self._lock)
        with self._lock:
            waiting = [request for request in requests if not request.is_over]
            for request in waiting:
                request.is_over = True
        for request in waiting:
            # Out of the lock, here as in `_flush`: settling runs the callbacks of those who wait,
            # and these may well begin another request of the same owner.
            request.settle(error=request.cancelled())
        if waiting:
            self._flush()

    def _flush(self) -> None:
        """Lets all requests go as far as they can."""
        over: list[Request] = []
        await_moment(self._lock)
        with self._lock:
            # What one line gives, another may wait for (room for an enqueue, an element for a
            # dequeue), so the rounds end only when a whole round moved nothing. Enqueues come first
            # in each, as in TensorFlow (QueueBase::FlushUnlocked).
            moved = True
            while moved:
                moved = False
                for line in self._lines:
                    moved = self._serve(line, over) or moved
        for request in over:
            request.settle(request.value, request.failure)

    def _serve(self, line: deque[Request], over: list[Request]) -> bool:
        """Lets the requests of a line go on; whether anything changed."""
        moved = False
        stuck: list[Request] = []
        while line:
            request = line[0]
            # Cancelled: `cancel` leaves it in the line rather than search for it.
            if request.is_over:
                line.popleft()
                continue
            turn = request.advance(request)
            if turn == DONE:
                request.is_over = moved = True
                over.append(line.popleft())
                continue
            moved = moved or turn == MOVED
            if self.in_order:
                break
            stuck.append(line.popleft())
        # Those that still wait keep their turns.
        line.extendleft(reversed(stuck))
        return moved


def settled(value: Sequence[np.ndarray] = ()) -> Future:
    """What needs no waiting."""
    pending = Future()
    pending.settle(value)
    return pending
