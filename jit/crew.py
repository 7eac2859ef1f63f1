# SPDX-License-Identifier: Apache-2.0
"""Processes that compile some of many kernels while this one compiles the others.

Numba holds Python's lock nearly all the time, so threads would wait for one another.  A helper is
a fresh interpreter that gets sources by a pipe and returns object files.  It is gone when the work
is done, and ends by itself when this process dies and the pipe closes.  Whatever goes wrong with
helpers, this process compiles what they left over; what it makes does not depend on who made it.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..engine import stopping
from . import settings, threads

# About what a line of source takes to compile, and what a helper must have to do to be worth its
# start (both in seconds).
_LINE_SECONDS = 0.002
_WORTHWHILE = 0.8
_MOST_HELPERS = 7
# A helper that takes so long for one kernel is given up.
_PATIENCE = 60.0

# What a helper runs.  Of this package it imports the compiler alone, not the ops.
_PROGRAM = """
import importlib, os, pickle, signal, sys, time, types
signal.signal(signal.SIGINT, signal.SIG_IGN)
replies = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
root, folders, sys.path = pickle.load(sys.stdin.buffer)
sys.modules[root] = types.ModuleType(root)
sys.modules[root].__path__ = folders
llvm, settings, target, kernel = (
    importlib.import_module(f"{root}.jit.{name}")
    for name in ("llvm", "settings", "target", "library.kernel")
)
while True:
    try:
        source, symbol, is_library, wanted = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    start = time.perf_counter()
    with settings.override(target=wanted):
        names = kernel.namespace() if is_library else None
        text = llvm.lowered(source, symbol, target.current(), names)
        code = llvm.object_code(text, target.current())
    pickle.dump((code, time.perf_counter() - start), replies)
    replies.flush()
"""


@dataclass(frozen=True)
class Job:
    """A source to compile, and the name of the function that its object file defines."""

    source: str
    symbol: str
    is_library: bool


# A job, its object file, and the seconds that it took.
Made = tuple[Job, bytes, float]


def compile_all(jobs: Sequence[Job], compile_one: Callable[[Job], bytes]) -> Iterator[Made]:
    """What `compile_one` gives for every job, as they are done; helpers take part if that pays."""
    waiting = deque(jobs)
    made: deque[Made] = deque()
    helpers = [_Helper(waiting, made) for _ in range(_count(jobs))]
    try:
        # A helper puts things back before it stops being busy, so that comes first.
        while any(helper.is_busy() for helper in helpers) or waiting or made:
            while made:
                yield made.popleft()
            try:
                job = waiting.popleft()
            except IndexError:
                stopping.check()
                time.sleep(0.001)
                continue
            start = time.perf_counter()
            code = compile_one(job)
            yield job, code, time.perf_counter() - start
    finally:
        for helper in helpers:
            helper.end()


def _count(jobs: Sequence[Job]) -> int:
    """How many helpers are worthwhile: none for little work, on one core, or without a Python."""
    seconds = _LINE_SECONDS * sum(job.source.count("\n") for job in jobs)
    free = min(threads.cores(), threads.count()) - 1
    count = min(int(seconds / _WORTHWHILE), free, len(jobs) - 1, _MOST_HELPERS)
    # In a program with Python inside, or a frozen one, the executable is something else.
    is_python = "python" in os.path.basename(sys.executable or "").lower()
    return max(count, 0) if is_python and not getattr(sys, "frozen", False) else 0


class _Helper:
    """One helper process and the thread that gives it work, the last of what is waiting first."""

    def __init__(self, waiting: deque[Job], made: deque[Made]) -> None:
        self._waiting, self._made = waiting, made
        self._target = settings.get("target")
        self._process: subprocess.Popen[bytes] | None = None
        self._since: float | None = None
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="numbaflow-compile", daemon=True)
        self._thread.start()

    def is_busy(self) -> bool:
        """Whether a kernel was being compiled until now."""
        since = self._since
        if since is not None and time.monotonic() - since > _PATIENCE:
            self.end()
        return since is not None

    def end(self) -> None:
        """Stops the process, whatever it is doing."""
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()
        self._thread.join()

    def _work(self) -> None:
        # A helper that breaks down is no error: its work is still waiting for others.
        with suppress(OSError, EOFError, pickle.UnpicklingError), self._start() as process:
            while not self._ended:
                self._since = time.monotonic()
                try:
                    self._take_one(process)
                except IndexError:
                    break
                finally:
                    self._since = None

    def _take_one(self, process: subprocess.Popen[bytes]) -> None:
        job = self._waiting.pop()
        try:
            self._made.append(self._ask(process, job))
        except BaseException:
            self._waiting.append(job)
            raise

    def _start(self) -> subprocess.Popen[bytes]:
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        command = [sys.executable, "-c", _PROGRAM]
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nothing)
        self._process = process
        if self._ended:  # before there was a process to stop
            process.kill()
        root = __name__.rpartition(".jit.")[0]
        self._send(process, (root, list(sys.modules[root].__path__), sys.path))
        return process

    def _ask(self, process: subprocess.Popen[bytes], job: Job) -> Made:
        self._send(process, (job.source, job.symbol, job.is_library, self._target))
        assert process.stdout is not None
        code, seconds = pickle.load(process.stdout)
        return job, code, seconds

    def _send(self, process: subprocess.Popen[bytes], thing: Any) -> None:
        assert process.stdin is not None
        pickle.dump(thing, process.stdin)
        process.stdin.flush()
