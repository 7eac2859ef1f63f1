# SPDX-License-Identifier: Apache-2.0
"""A process that compiles what will be asked for soon, while this one goes on.

A plan's first run evaluates its new kernels (jit/runtime/interpreted.py), which takes one core.
Meanwhile a helper (jit/codegen/compile_workers.py) compiles them, those first that have taken the
longest.  It starts when a large program begins to be traced, so that it has imported the compiler
when there are kernels.  Whoever then compiles takes what is done, and compiles the rest together
with it.  What it makes does not depend on who made it, so neither when it was made nor whether
shows in any result; if the helper breaks down, all is compiled as it would have been without.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from ...engine import settings, stopping
from .. import isolated, threads
from . import compile_workers
from .compile_workers import Job, Made

if TYPE_CHECKING:
    import subprocess

# Seconds without work after which the process ends: before anybody knew of any, as to trace a large
# program takes long, and after that.
_AT_FIRST, _IDLE = 60.0, 3.0
# Seconds between looks at what it is doing, and that it may take for one kernel.
_LOOK, _PATIENCE = 0.005, 60.0


class Ahead:
    """One process, the thread that gives it work, and what it has made.

    Jobs go by their symbols, which tell kernels and targets apart.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        # With the target that each is for; the first is the next.
        self._waiting: dict[str, tuple[Job, str]] = {}
        self._made: dict[str, Made] = {}
        self._current, self._since = "", 0.0
        self._is_told = False  # is it known whether there is any work?
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_there(self) -> bool:
        """Is there a process, or will there be one as soon as it has started?"""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Starts the process, if there is a core for it."""
        if min(threads.cores(), threads.count()) < 2 or not isolated.is_supported():
            return
        with self._changed:
            if self.is_there:
                return
            self._is_told = False
            self._thread = threading.Thread(target=self._work, name="numbaflow-ahead", daemon=True)
            self._thread.start()

    def add(self, jobs: Iterable[Job]) -> None:
        """Gives work to the process, if it is there, or tells it that there is none.

        It is for the target of the settings.
        """
        if not self.is_there:
            return
        wanted, jobs = settings.get("target"), list(jobs)
        with self._changed:
            for job in jobs:
                if job.symbol not in self._made and job.symbol != self._current:
                    self._waiting.setdefault(job.symbol, (job, wanted))
            self._is_told = True
            self._changed.notify_all()

    def hurry(self, symbol: str) -> None:
        """What will be asked for before the rest is compiled before it."""
        with self._changed:
            work = self._waiting.pop(symbol, None)
            if work is not None:
                self._waiting = {symbol: work, **self._waiting}

    def has_made(self, symbol: str) -> bool:
        """Is it done, and has nobody taken it?"""
        return symbol in self._made

    def is_making(self, symbol: str) -> bool:
        """Is it being compiled now?"""
        return symbol == self._current

    def take(self, symbol: str) -> Made | None:
        """What was made of a job, or is about to be; None if the caller has to make it."""
        while symbol == self._current and time.monotonic() - self._since < _PATIENCE:
            stopping.check()
            with self._changed:
                self._changed.wait_for(lambda: symbol != self._current, _LOOK)
        with self._changed:
            self._waiting.pop(symbol, None)
            return self._made.pop(symbol, None)

    def end(self) -> None:
        """Stops the process, whatever it is doing."""
        with self._changed:
            self._waiting.clear()
            process = self._process
        if process is not None:
            process.kill()

    def _work(self) -> None:
        # A helper that breaks down is no error: its work is left to others.
        try:
            with suppress(OSError, EOFError), isolated.start(compile_workers.serve) as process:
                self._process = process
                while (work := self._next()) is not None:
                    made = compile_workers.asked(process, *work)
                    with self._changed:
                        self._made[self._current], self._current = made, ""
                        self._changed.notify_all()
        finally:
            with self._changed:
                self._process, self._current = None, ""
                self._waiting.clear()
                self._changed.notify_all()

    def _next(self) -> tuple[Job, str] | None:
        """The next work, which is the current one from now on; None if none comes for a while."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._is_told, _AT_FIRST):
                return None
            if not self._changed.wait_for(lambda: bool(self._waiting), _IDLE):
                return None
            symbol = next(iter(self._waiting))
            self._current, self._since = symbol, time.monotonic()
            return self._waiting.pop(symbol)


_HERE: list[Ahead] = []


def here() -> Ahead:
    """This process's; a child that was forked has its own."""
    if not _HERE:
        _HERE.append(Ahead())
        atexit.register(_HERE[0].end)
    return _HERE[0]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_HERE.clear)
