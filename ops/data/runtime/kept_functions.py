# SPDX-License-Identifier: Apache-2.0
"""Functions that are ready to be called, for the next iteration over the same elements.

An iterator that is initialised anew, as for each epoch, calls the same functions.  Those without
state are the same again, with the plans that were made for them.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from ....engine import errors
from .functions import Captured, FunctionRun, is_stateless

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession
    from .context import NarrowView, View

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

    def begin(self, session: BaseSession) -> None:
        """Forgets what was made for another session."""
        if self._session is None or self._session() is not session:
            self._session = weakref.ref(session)
            self._runs, self._stateless = {}, {}

    def run(self, captured: Captured, view: View | NarrowView, threads: int | None) -> FunctionRun:
        """What calls a function with so many threads: an earlier iteration's, if that is the same.

        view: what it sees, if it is new.
        """
        key = self._key(captured, threads)
        if key is None:
            return FunctionRun(captured, view)
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

    def _key(self, captured: Captured, threads: int | None) -> object:
        """What must be the same for a function to be; None where it is another in any case."""
        values = captured.values
        arrays = [value for value in values if isinstance(value, np.ndarray)]
        if len(arrays) < len(values) or any(array.dtype.hasobject for array in arrays):
            return None
        if sum(array.nbytes for array in arrays) > _MOST_BYTES or not self._has_no_state(captured):
            return None
        contents = [(array.dtype.str, array.shape, array.tobytes()) for array in arrays]
        return id(captured.function), threads, *contents

    def _has_no_state(self, captured: Captured) -> bool:
        function = captured.function
        if id(function) not in self._stateless:
            try:
                answer = not captured.has_attrs and is_stateless(captured)
            except errors.OpError:  # who calls it says what is wrong
                answer = False
            self._stateless[id(function)] = function, answer
        return self._stateless[id(function)][1]
