# SPDX-License-Identifier: Apache-2.0
"""Processes that compile kernels for threads of this one (jit/codegen/compile_workers.py).

To trace programs holds Python's lock nearly all the time, and threads that compile wait for it.  A
job is a text, so another process does it as well, with a lock of its own.  What is made does not
depend on who made it.
"""

from __future__ import annotations

import json
import struct
import threading
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from ...engine import settings
from .. import isolated
from .compile_workers import Job

if TYPE_CHECKING:
    import subprocess

# Before a reply: how many bytes there are, none where the kernel could not be compiled.
_HEAD = struct.Struct("<Q")


class Processes:
    """One for every thread that compiles at the same time, started when it first does; they end
    with the `with` statement."""

    def __init__(self) -> None:
        self._target = settings.get("target")  # of whoever begins: of threads it is not asked
        self._lock, self._is_over = threading.Lock(), False
        self._processes: list[subprocess.Popen[bytes]] = []
        self._free: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._is_over = True
            processes, self._processes = self._processes, []
        for process in processes:
            _end(process)

    def machine_code(self, job: Job) -> bytes:
        """The object file of a source.

        Raises:
            OSError: the process has died, or cannot compile it; who compiles it himself, as those
                do who ask for what a thread has failed at, has the error.
        """
        process = self._taken()
        try:
            isolated.send(process, [job.source, job.symbol, job.is_library])
            code = _reply(process)
        except BaseException:
            with self._lock, suppress(ValueError):
                self._processes.remove(process)
            _end(process)
            raise
        with self._lock:
            self._free.append(process)
        if not code:
            raise OSError(f"{job.symbol} could not be compiled")
        return code

    def _taken(self) -> subprocess.Popen[bytes]:
        """One that nobody else uses."""
        with self._lock:
            if self._is_over:
                raise OSError("these processes have ended")
            if self._free:
                return self._free.pop()
            self._processes.append(process := isolated.start(_serve))
        isolated.send(process, [self._target])
        return process


def _reply(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    head = process.stdout.read(_HEAD.size)
    (size,) = _HEAD.unpack(head) if len(head) == _HEAD.size else (-1,)
    code = process.stdout.read(size) if size >= 0 else b""
    if len(code) != size:
        raise OSError("a process that compiles kernels has ended")
    return code


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        # (What was written last may be on its way to a process that has died.)
        with suppress(OSError):
            if stream is not None:
                stream.close()


def _serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """What the processes run."""
    from .compile import machine_code

    (aim,) = json.loads(requests.readline())
    with settings.override(target=aim):
        for line in requests:
            try:
                code = machine_code(Job(*json.loads(line)))
            except Exception:
                code = b""
            replies.write(_HEAD.pack(len(code)) + code)
            replies.flush()
