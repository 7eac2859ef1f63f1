# SPDX-License-Identifier: Apache-2.0
"""Processes that compile kernels while this one finds out which there are.

To trace programs holds Python's lock nearly all the time, and threads that compile wait for it.  A
job is a text, so another process does it as well, with a lock of its own.  What is made does not
depend on who made it; where a process fails or dies, this one makes the kernel, or has the error.
"""

from __future__ import annotations

import json
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from ...engine import settings, stopping
from .. import isolated
from .compile_workers import Compile, Job, Made

if TYPE_CHECKING:
    import subprocess

# Before a reply: how many bytes there are, none where the kernel could not be compiled, and the
# seconds that it took.
_HEAD = struct.Struct("<Qd")
# Of fewer jobs none is worth the time that it takes to start a process.
_FEW = 16
# Seconds between looks at whether this process is to stop.
_LOOK = 0.05


class Processes:
    """So many processes, started when there is much to do; they end with the `with` statement."""

    def __init__(self, count: int, compile_one: Compile) -> None:
        self._count = count if isolated.is_supported() else 0
        self._target = settings.get("target")  # of whoever asks: threads have no settings of his
        self._compile_one, self._changed = compile_one, threading.Condition()
        self._waiting: deque[Job] = deque()
        self._made: deque[Made] = deque()
        self._current, self._is_over = 0, False
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        for process in self._processes:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                # (What was written last may be on its way to a process that has died.)
                with suppress(OSError):
                    if stream is not None:
                        stream.close()

    def add(self, job: Job) -> None:
        """Has a job done by whoever is free."""
        with self._changed:
            self._waiting.append(job)
            self._changed.notify()
        if len(self._waiting) > _FEW and not self._processes:
            for _ in range(self._count):
                self._processes.append(process := isolated.start(_serve))
                threading.Thread(target=self._hand_out, args=(process,), daemon=True).start()

    def done(self) -> Iterator[Made]:
        """What has been made so far and nobody has taken."""
        while self._made:
            yield self._made.popleft()

    def rest(self) -> Iterator[Made]:
        """All that is left, which this process makes, too."""
        while True:
            yield from self.done()
            with self._changed:
                job = self._waiting.popleft() if self._waiting else None
                if job is None and not self._current and not self._made:
                    return
                if job is None and not self._made:
                    self._changed.wait(_LOOK)
            stopping.check()
            if job is not None:
                start = time.perf_counter()
                yield job, self._compile_one(job), time.perf_counter() - start

    def _hand_out(self, process: subprocess.Popen[bytes]) -> None:
        """Gives a process jobs, one after the other, until it fails."""
        is_well = True
        try:
            isolated.send(process, [self._target])
        except OSError:
            is_well = False
        while is_well:
            with self._changed:
                self._changed.wait_for(lambda: self._is_over or self._waiting)
                if self._is_over:
                    return
                job = self._waiting.popleft()
                self._current += 1
            made = _made_by(process, job)
            with self._changed:
                self._current -= 1
                if made is None:
                    self._waiting.append(job)
                else:
                    self._made.append(made)
                self._changed.notify_all()
            is_well = made is not None


def _made_by(process: subprocess.Popen[bytes], job: Job) -> Made | None:
    """What a process makes of a job; None where it could not."""
    assert process.stdout is not None
    try:
        isolated.send(process, [job.source, job.symbol, job.is_library])
        head = process.stdout.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return None
        size, seconds = _HEAD.unpack(head)
        code = process.stdout.read(size)
    except (OSError, ValueError):
        return None  # it has died, or all of this is over
    return (job, code, seconds) if size and len(code) == size else None


def _serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """What the processes run."""
    from .compile import machine_code

    (aim,) = json.loads(requests.readline())
    with settings.override(target=aim):
        for line in requests:
            source, symbol, is_library = json.loads(line)
            start = time.perf_counter()
            code = _tried(machine_code, Job(source, symbol, is_library))
            replies.write(_HEAD.pack(len(code), time.perf_counter() - start) + code)
            replies.flush()


def _tried(compile_one: Callable[[Job], bytes], job: Job) -> bytes:
    try:
        return compile_one(job)
    except Exception:
        return b""  # whoever asked for it makes it, and gets the error
