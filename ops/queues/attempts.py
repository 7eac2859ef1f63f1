# SPDX-License-Identifier: Apache-2.0
"""Requests to something shared that may have to wait, and are served in the order they came.

An attempt goes as far as it can whenever the thing has changed.  Callers get the attempt, which is
settled (engine/session/futures.py) outside of all locks.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.session.futures import Future

if TYPE_CHECKING:
    import numpy as np

    from ...engine.graph.annotations import TensorLike


# What a turn of an attempt came to.
STUCK, MOVED, DONE = range(3)


class Attempt(Future):
    """One request under way."""

    __slots__ = ("advance", "elements", "failure", "is_over", "name", "owner", "value", "wanted")

    def __init__(
        self, owner: Served, name: str, wanted: int, advance: Callable[[Attempt], int]
    ) -> None:
        """advance(attempt) goes as far as it can, under the owner's lock."""
        super().__init__()
        self.owner, self.name, self.wanted, self.advance = owner, name, wanted, advance
        self.elements: list[Any] = []
        self.is_over = False
        self.value: Any = None
        self.failure: BaseException | None = None

    def succeed(self, value: TensorLike = ()) -> int:
        """Ends the attempt with a result."""
        self.value = value
        return DONE

    def fail(self, error: BaseException) -> int:
        """Ends the attempt with an error."""
        self.failure = error
        return DONE

    def cancelled(self) -> errors.CancelledError:
        """What a cancelled attempt fails with."""
        return errors.CancelledError(None, None, f"{self.name} operation was cancelled")

    def cancel(self) -> None:
        """Gives up, unless the attempt is over."""
        self.owner.cancel(self)


class Served:
    """Something with lines of attempts, one after the other of which is served in each turn."""

    # Whether an attempt that is stuck holds up those behind it.
    in_order = True

    def __init__(self, lines: int) -> None:
        self._lock = threading.Lock()
        self._lines: list[deque[Attempt]] = [deque() for _ in range(lines)]

    def _begin(
        self, line: int, name: str, wanted: int, advance: Callable[[Attempt], int]
    ) -> Attempt:
        """A new attempt at the end of a line."""
        attempt = Attempt(self, name, wanted, advance)
        with self._lock:
            self._lines[line].append(attempt)
        self._flush()
        return attempt

    def cancel(self, *attempts: Attempt) -> None:
        """Ends attempts that wait."""
        with self._lock:
            waiting = [attempt for attempt in attempts if not attempt.is_over]
            for attempt in waiting:
                attempt.is_over = True
        for attempt in waiting:
            attempt.settle(error=attempt.cancelled())
        if waiting:
            self._flush()

    def _flush(self) -> None:
        """Lets all attempts go as far as they can."""
        over: list[Attempt] = []
        with self._lock:
            moved = True
            while moved:
                moved = False
                for line in self._lines:
                    moved = self._serve(line, over) or moved
        for attempt in over:
            attempt.settle(attempt.value, attempt.failure)

    def _serve(self, line: deque[Attempt], over: list[Attempt]) -> bool:
        """Lets the attempts of a line go on; whether anything changed."""
        moved = False
        stuck: list[Attempt] = []
        while line:
            attempt = line[0]
            if attempt.is_over:
                line.popleft()
                continue
            turn = attempt.advance(attempt)
            if turn == DONE:
                attempt.is_over = moved = True
                over.append(line.popleft())
                continue
            moved = moved or turn == MOVED
            if self.in_order:
                break
            stuck.append(line.popleft())
        line.extendleft(reversed(stuck))
        return moved


def settled(value: Sequence[np.ndarray] = ()) -> Future:
    """What needs no waiting."""
    pending = Future()
    pending.settle(value)
    return pending
