# SPDX-License-Identifier: Apache-2.0
"""Processes that compile some of many kernels while this one compiles the others.

Numba holds Python's lock nearly all the time, so threads would wait for one another.  A helper is
a fresh interpreter (jit/isolated.py) that gets sources by a pipe and returns object files.  It is
gone when the work is done, and ends by itself when this process dies and the pipe closes.  Whatever
goes wrong with helpers, this process compiles what they left over; what it makes does not depend on
who made it.  Helpers begin with the hand-written kernels and this process with the generated ones:
it need not wait for Numba to be imported, and may never have to.
"""

from __future__ import annotations

import json
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import astuple
from typing import IO, TYPE_CHECKING

from ...engine import settings, stopping
from ...engine.record_class import record
from .. import isolated, target, threads

if TYPE_CHECKING:
    import subprocess

# About what a line of a generated and of a hand-written source takes to compile, and what a helper
# must have to do to be worth its start (all in seconds).
_LINE_SECONDS = (0.0006, 0.002)
_WORTHWHILE = 0.8
_MOST_HELPERS = 7
# A helper that takes so long for one kernel is given up.
_PATIENCE = 60.0

_REPLY = struct.Struct("<dQ")  # seconds, and the bytes of the object file that follows


@record(frozen=True)
class Job:
    """A source to compile, and the name of the function that its object file defines.

    card: the name of the GPU that it is compiled for, to PTX; else it is for the processor.
    """

    source: str
    symbol: str
    is_library: bool
    card: str = ""


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """What a helper runs.  Of this package it imports the compiler alone, not the ops."""
    from . import llvm

    for line in requests:
        *fields, wanted = json.loads(line)
        job = Job(*fields)
        start = time.perf_counter()
        with settings.override(target=wanted):
            if job.card:
                from ..cuda.device_code import write

                code = write(job)
            else:
                aim = target.current()
                text = llvm.lowered(job.source, job.symbol, aim, job.is_library)
                code = llvm.object_code(text, aim)
        replies.write(_REPLY.pack(time.perf_counter() - start, len(code)) + code)
        replies.flush()


# A job, its object file, and the seconds that it took.
Made = tuple[Job, bytes, float]


def compile_all(
    jobs: Sequence[Job], compile_one: Callable[[Job], bytes], processes: int | None = None
) -> Generator[Made, None, None]:
    """What `compile_one` gives for every job, as they are done; helpers take part if that pays,
    or so many that `processes` with this one work."""
    waiting = deque(sorted(jobs, key=lambda job: job.is_library))
    made: deque[Made] = deque()
    count = _count(jobs) if processes is None else _wanted(processes, jobs)
    helpers = [_Helper(waiting, made) for _ in range(count)]
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
    seconds = sum(_LINE_SECONDS[job.is_library] * job.source.count("\n") for job in jobs)
    free = min(threads.cores(), threads.count()) - 1
    count = min(int(seconds / _WORTHWHILE), free, len(jobs) - 1, _MOST_HELPERS)
    return max(count, 0) if isolated.is_supported() else 0


def _wanted(processes: int, jobs: Sequence[Job]) -> int:
    """How many helpers make up a number of processes, none of which has nothing to do."""
    return max(min(processes, len(jobs)) - 1, 0) if isolated.is_supported() else 0


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
        with suppress(OSError, EOFError), self._start() as process:
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
        process = isolated.start(serve)
        self._process = process
        if self._ended:  # before there was a process to stop
            process.kill()
        return process

    def _ask(self, process: subprocess.Popen[bytes], job: Job) -> Made:
        isolated.send(process, (*astuple(job), self._target))
        seconds, size = _REPLY.unpack(_exactly(process, _REPLY.size))
        return job, _exactly(process, size), seconds


def _exactly(process: subprocess.Popen[bytes], size: int) -> bytes:
    assert process.stdout is not None
    content = process.stdout.read(size)
    if len(content) < size:
        raise EOFError("the helper has ended")
    return content
