# SPDX-License-Identifier: Apache-2.0
"""Threads that compile kernels: together with whoever waits for them, and ahead of who will.

LLVM, in which a kernel is four fifths of its time, holds neither Python's lock nor its own
(jit/codegen/llvm_calls.py).  A plan's new kernels begin as bytecode (jit/runtime/interpreted.py);
soon they are compiled here meanwhile, those first that have taken the longest.
Whoever asks for a kernel then takes it, waits for it, or compiles it, whichever is next.  What is
made does not depend on who made it, so neither when it was made nor whether shows in any result;
where a thread fails, whoever asks makes the kernel and gets the error.
"""

from __future__ import annotations

import atexit
import contextvars
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from ...engine import stopping
from ...engine.record_class import record
from .. import threads

# The most that share a process's Python lock, in which a kernel is a fifth of its time.
_MOST_THREADS = 7
# Seconds between looks at whether a run is to stop.
_LOOK = 0.005


@record(frozen=True)
class Job:
    """A source to compile, and the name of the function that its object file defines, which tells
    jobs apart, those of other targets, too.

    card: the name of the GPU that it is compiled for, to PTX; else it is for the processor.
    """

    source: str
    symbol: str
    is_library: bool
    card: str = ""


# A job, its object file, and the seconds that it took.
Made = tuple[Job, bytes, float]
Compile = Callable[[Job], bytes]


class Workers:
    """The threads, what they have to do, and what they have made that nobody has taken yet.

    They start when there is work, and end without.
    """

    def __init__(self, count: int | None = None) -> None:
        """count: how many threads there are; by default as many as cores are left over."""
        self._count, self._changed = count, threading.Condition()
        # Work by its symbol; the first is the next.  The settings are those of who asked.
        self._waiting: dict[str, Callable[[], Made | None]] = {}
        self._current: set[str] = set()
        self._made: dict[str, Made] = {}
        self._threads = 0
        self._is_held = False

    def add(self, jobs: Iterable[Job], compile_one: Compile) -> None:
        """Has jobs compiled, before all that is waiting, some of these jobs perhaps."""
        with self._changed:
            known = self._current.union(self._made)
            new = {
                job.symbol: self._waiting.get(job.symbol) or _work(job, compile_one)
                for job in jobs
                if job.symbol not in known
            }
            self._waiting = {**new, **self._waiting}
            self._start()

    def compile_all(self, jobs: Sequence[Job], compile_one: Compile) -> Generator[Made, None, None]:
        """What `compile_one` gives for every job, as they are done, by this thread, too."""
        left = {job.symbol: job for job in jobs}
        if len(left) > 1:
            self.add(jobs, compile_one)
        try:
            while left:
                job, made = self._next_of(left)
                if made is None:
                    start = time.perf_counter()
                    made = job, compile_one(job), time.perf_counter() - start
                del left[job.symbol]
                yield made
        finally:
            with self._changed:
                for symbol in left:
                    self._waiting.pop(symbol, None)

    def has_made(self, symbol: str) -> bool:
        """Is it done, and has nobody taken it?"""
        return symbol in self._made

    def take(self, symbol: str) -> Made | None:
        """What was made, if it was; nobody else gets it."""
        with self._changed:
            return self._made.pop(symbol, None)

    def done(self) -> Iterator[Made]:
        """What has been made so far; nobody else gets it."""
        while self._made:
            with self._changed:
                made = [*self._made.values()]
                self._made.clear()
            yield from made

    def hold(self) -> None:
        """Lets no thread begin anything more until `go_on`, and waits for what they are at."""
        with self._changed:
            self._is_held = True
            self._changed.wait_for(lambda: not self._current)

    def go_on(self) -> None:
        """See `hold`."""
        with self._changed:
            self._is_held = False
            self._start()

    def _next_of(self, left: Mapping[str, Job]) -> tuple[Job, Made | None]:
        """What is made of these, or else the next to be made by the caller."""
        while True:
            with self._changed:
                for symbol in left:
                    if symbol in self._made:
                        made = self._made.pop(symbol)
                        return made[0], made
                for symbol in left:
                    if symbol not in self._current:
                        self._waiting.pop(symbol, None)
                        return left[symbol], None
                self._changed.wait(_LOOK)
            stopping.check()

    def _start(self) -> None:
        """Starts as many threads as there is work for; the lock is held."""
        wanted = 0 if self._is_held else min(len(self._waiting), self._free())
        # (Where the interpreter is about to end there are no new threads.)
        with suppress(RuntimeError):
            for _ in range(wanted - self._threads):
                name = "numbaflow-compile"
                threading.Thread(target=self._run, name=name, daemon=True).start()
                self._threads += 1

    def _free(self) -> int:
        if self._count is not None:
            return self._count
        return min(threads.cores() - 1, threads.count() - 1, _MOST_THREADS)

    def _run(self) -> None:
        while True:
            with self._changed:
                if self._is_held or not self._waiting:
                    self._threads -= 1
                    return
                symbol = next(iter(self._waiting))
                work = self._waiting.pop(symbol)
                self._current.add(symbol)
            made = None
            try:
                made = work()
            finally:
                with self._changed:
                    self._current.discard(symbol)
                    if made is not None:
                        self._made[symbol] = made
                    self._changed.notify_all()


def _work(job: Job, compile_one: Compile) -> Callable[[], Made | None]:
    context = contextvars.copy_context()

    def work() -> Made | None:
        start = time.perf_counter()
        try:
            code = context.run(compile_one, job)
        except Exception:
            return None  # whoever asks for it makes it, and gets the error
        return job, code, time.perf_counter() - start

    return work


_HERE: list[Workers] = []


def here() -> Workers:
    """This process's; a child that was forked has its own."""
    if not _HERE:
        _HERE.append(Workers())
        # (LLVM comes to an end with the process, and no thread may be in it then.)
        atexit.register(_HERE[0].hold)
    return _HERE[0]


def _before_fork() -> None:
    # A child has the locks that threads of its parent hold, which nobody releases there.
    for workers in _HERE:
        workers.hold()


def _after_fork() -> None:
    for workers in _HERE:
        workers.go_on()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_HERE.clear
    )
