# SPDX-License-Identifier: Apache-2.0
"""Functions that are ready to be called, for the next iteration over the same elements.

An iterator that is initialised anew, as for each epoch, calls the same functions.  Those without
state are the same again, with the plans that were made for them.  Those with state begin it anew:
they take over the plans of an iteration that is over, when nobody can call its functions any more.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from .dataset import Dataset
from .functions import Caller, Captured, FunctionRun, is_stateless

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession
    from .context import FunctionView, View

# Functions that are kept for an iterator before the oldest are forgotten.
_MOST = 64
# Bytes of what a function captured that are compared with what it captured before.
_MOST_BYTES = 1 << 16


class KeptFunctions:
    """Those of one iterator, for iterations of one session."""

    def __init__(self) -> None:
        self._session: weakref.ref[BaseSession] | None = None
        self._runs: dict[object, FunctionRun] = {}
        # By `id` of a function, which is kept with the answer: has it no state?
        self._stateless: dict[int, tuple[object, bool]] = {}
        # What an iteration that is over left, if nobody took it yet.
        self._left: list[_Callers] = []

    def begin(self, session: BaseSession) -> None:
        """Forgets what was made for another session."""
        if self._session is None or self._session() is not session:
            self._session = weakref.ref(session)
            self._runs, self._stateless, self._left = {}, {}, []

    def run(
        self, captured: Captured, view: FunctionView, threads: int | None, turn: Turn
    ) -> FunctionRun:
        """What calls a function with so many threads: an earlier iteration's, if that is the same.

        view: what it sees, if it is new; turn: the iteration's.
        """
        key = self._key(captured, threads)
        if key is None or not self._has_no_state(captured):
            return FunctionRun(captured, view, partial(turn.caller, captured.name, key, threads))
        found = self._runs.get(key)
        if found is None:
            if len(self._runs) >= _MOST:
                self._runs.pop(next(iter(self._runs)))
            found = self._runs[key] = FunctionRun(captured, view)
        return found

    def follow(self, session: BaseSession) -> None:
        """Has functions run for another session, which shares the resources."""
        for run in self._runs.values():
            run.view.follow(session)

    def take_left(self) -> _Callers | None:
        """What an iteration left that is over; nobody else gets it."""
        try:
            left = self._left.pop()
        except IndexError:
            return None
        left.view.forget_states()
        return left

    def leave(self, callers: _Callers) -> None:
        """Keeps what calls the functions with state of an iteration, which is over."""
        if self._session is not None and callers.view.is_of(self._session()):
            self._left = [callers]

    def _key(self, captured: Captured, threads: int | None) -> object:
        """What must be the same for a function to be; None where it is another in any case."""
        arrays = [value for value in captured.values if isinstance(value, np.ndarray)]
        if captured.has_attrs or sum(array.nbytes for array in arrays) > _MOST_BYTES:
            return None
        contents = [_content(value) for value in captured.values]
        if None in contents:
            return None
        return id(captured.function), threads, *contents

    def _has_no_state(self, captured: Captured) -> bool:
        function = captured.function
        if id(function) not in self._stateless:
            try:
                answer = is_stateless(captured)
            except errors.OpError:  # who calls it says what is wrong
                answer = False
            self._stateless[id(function)] = function, answer
        return self._stateless[id(function)][1]


def _content(value: Any) -> object:
    """What tells a captured value from others; None for one that nothing is known of.

    Texts and numbers are what they say, and a resource, as a table, is itself as long as somebody
    holds it, as those do who call the function.
    """
    if not isinstance(value, np.ndarray):
        return None if isinstance(value, Dataset) else ("resource", id(value))
    if not value.dtype.hasobject:
        return value.dtype.str, value.shape, value.tobytes()
    items = value.reshape(-1).tolist()
    if all(isinstance(item, bytes) for item in items):
        return "texts", value.shape, *items
    return None if value.ndim else _content(items[0])


class _Callers:
    """What calls functions with state, by function and what it captured; all see one view."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.known: dict[object, Caller] = {}


class Turn:
    """One iteration's use of what calls functions with state.

    The iteration and each of its functions hold it: when it is gone, so are all who could go on
    with their state, and another iteration may begin it anew.
    """

    def __init__(self, kept: KeptFunctions, view: View) -> None:
        """view: what functions see where no other iteration left anything."""
        self._kept, self._view = kept, view
        self._lock = threading.RLock()
        self._callers: _Callers | None = None

    def caller(
        self, name: str, key: object, threads: int | None, make: Callable[[FunctionView], Caller]
    ) -> Caller:
        """What calls a function of this name; `make` makes it for a view, if there is none yet.

        key: what must be the same for the function to be; None where it is always another one.
        """
        from .context import FunctionView

        with self._lock:
            if self._callers is None:
                self._callers = self._kept.take_left() or _Callers(self._view)
            view, known = self._callers.view, self._callers.known
            found = None if key is None else known.get(key)
            if found is None:
                found = make(FunctionView(view, name, threads))
                if key is not None:
                    if len(known) >= _MOST:
                        known.pop(next(iter(known)))
                    known[key] = found
            return found

    def follow(self, session: BaseSession) -> None:
        """Has functions run for another session, which shares the resources."""
        if self._callers is not None:
            self._callers.view.follow(session)

    def __del__(self) -> None:
        if self._callers is not None:
            self._kept.leave(self._callers)
