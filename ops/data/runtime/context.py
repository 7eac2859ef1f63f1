# SPDX-License-Identifier: Apache-2.0
"""What the streams of one iterator share: functions with their state, seeds, and when to stop."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors, stopping
from .kept_functions import KeptFunctions, Turn
from .random import SeedGenerator

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.session.session import BaseSession
    from .functions import Captured, FunctionRun


class View:
    """A session as functions of datasets see it: its resources, but state of kernels of their own.

    It does not keep the session: threads that read ahead must not outlive it.
    """

    def __init__(self, session: BaseSession) -> None:
        self._session = weakref.ref(session)
        self.config = session.config
        self.arenas: list[Any] = []
        self.gpu = None  # elements are made on the processor
        # By function: operations of several may have one name.
        self._states: dict[str, dict[Any, Any]] = {}

    def follow(self, session: BaseSession) -> None:
        """Has functions run for another session, which shares the resources."""
        if self._session() is not session:
            self._session = weakref.ref(session)

    def is_of(self, session: BaseSession | None) -> bool:
        """Whether functions run for this session."""
        return session is not None and self._session() is session

    def states_of(self, function: str) -> dict[Any, Any]:
        """What kernels of a function keep."""
        return self._states.setdefault(function, {})

    def forget_states(self) -> None:
        """Has kernels begin anew, those of functions that are ready to be called, too."""
        for states in self._states.values():
            states.clear()

    def __getattr__(self, name: str) -> Any:
        session = self._session()
        if session is None:
            raise errors.cancelled("Session has been closed.")
        return getattr(session, name)

    @property
    def is_ending(self) -> bool:
        """Whether no run may go on."""
        session = self._session()
        return session is None or session.is_ending


class FunctionView:
    """A view for one function, whose calls get so many threads each, if the session does not say.

    threads: None for as many as the session has.
    """

    def __init__(self, view: View, function: str, threads: int | None) -> None:
        self._view = view
        self.config = view.config
        if threads:
            from ....io import protos

            self.config = protos.ConfigProto()
            if view.config is not None:
                self.config.CopyFrom(view.config)
            given = self.config.intra_op_parallelism_threads
            self.config.intra_op_parallelism_threads = given or threads
        # (What each call asks for is looked up once.)
        self.arenas, self.gpu = view.arenas, view.gpu
        self.kernel_states = view.states_of(function)

    def follow(self, session: BaseSession) -> None:
        """See View."""
        self._view.follow(session)

    # (Asked for before every operation of every call.)

    @property
    def is_ending(self) -> bool:
        """See View."""
        session = self._view._session()
        return session is None or session.is_ending

    @property
    def has_limits(self) -> bool:
        """Whether runs of the session may have a time at which they must be over."""
        session = self._view._session()
        return session is not None and session.has_limits

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)


class Context:
    """One iteration over a dataset, from its beginning to the end of its streams."""

    def __init__(self, session: BaseSession, kept: KeptFunctions | None = None) -> None:
        """kept: functions of earlier iterations."""
        self.view = View(session)
        self._before = kept or KeptFunctions()
        self._before.begin(session)
        self._turn = Turn(self._before, self.view)
        self._lock = threading.RLock()
        self._functions: dict[tuple[Captured, bool], FunctionRun] = {}
        self._generators: dict[str, SeedGenerator] = {}
        self._kept: dict[Any, Any] = {}
        self.is_cancelled = False
        # What the dataset's options say: how many elements are computed at a time, and with how
        # many threads each; None where they say nothing.
        self.most_calls: int | None = None
        self.most_threads: int | None = None

    def function(self, captured: Captured, is_one_of_many: bool = False) -> FunctionRun:
        """What calls a function; its kernels keep their state as long as the iteration lasts.

        is_one_of_many: so many calls go on at once that none should take more than a thread.
        (Threads that share steps of a call, and wait for each other, take time from the others.)
        """
        threads = 1 if is_one_of_many else self.most_threads
        with self._lock:
            found = self._functions.get((captured, is_one_of_many))
            if found is None:
                view = FunctionView(self.view, captured.name, threads)
                found = self._before.run(captured, view, threads, self._turn)
                self._functions[captured, is_one_of_many] = found
            return found

    def follow(self, session: BaseSession) -> None:
        """Has functions run for another session, which shares the resources."""
        self.view.follow(session)
        self._before.follow(session)
        self._turn.follow(session)

    def generator(self, path: str, seeds: tuple[int, int]) -> SeedGenerator:
        """What seeds one after the other of the streams at a place."""
        with self._lock:
            if path not in self._generators:
                self._generators[path] = SeedGenerator(*seeds)
            return self._generators[path]

    def kept(self, key: object, make: Callable[[], Any]) -> Any:
        """An object of the iteration, made on first use."""
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            return self._kept[key]

    @property
    def is_ending(self) -> bool:
        """Whether nothing may be read any more."""
        return self.is_cancelled or self.view.is_ending

    def check(self) -> None:
        """CancelledError or DeadlineExceededError if the reading must not go on."""
        if self.is_ending:
            raise errors.cancelled("Operation was cancelled")
        stopping.check()


def library_of(op: Operation) -> Mapping[str, Any]:
    """The functions that an operation's attributes name."""
    return (op._stands_for or op).graph._functions


def arrays_of(values: Sequence[Any]) -> list[Any]:
    """Captured values of their own memory: variables change in place."""
    return [np.array(v) if isinstance(v, np.ndarray) else v for v in values]
