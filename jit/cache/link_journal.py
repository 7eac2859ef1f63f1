# SPDX-License-Identifier: Apache-2.0
"""Notes of what is being linked into processes, so that what ended one does not end the next.

    <cache>/.loading/<process>-<random>     the keys that a process has begun to link, a line each

The file is there, and locked, while a process links entries of the cache.  One that nobody holds is
of a process that died meanwhile: its last entry is tried in a process of its own, and removed if
that dies too.  Where files cannot be written or locked, nothing is noted.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from .. import isolated

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]

FOLDER = ".loading"
_NAME = re.compile(r"\d+-[0-9a-f]{32}")
_ABANDONED_SECONDS = 3600
# Far more than it takes to start a process and link one kernel: what is not done by then hangs.
_PATIENCE = 60.0


@contextmanager
def noted(root: Path | None) -> Iterator[Callable[[str], None]]:
    """Within it, the function that it gives notes the key of an entry before that is linked."""
    if fcntl is None or root is None:
        yield lambda key: None
        return
    notes: list[int] = []
    path = root / FOLDER / f"{os.getpid()}-{os.urandom(16).hex()}"

    def note(key: str) -> None:
        # The disk is full, or may not be written: there is no note then.
        with suppress(OSError):
            if not notes:
                notes.append(_begun(path))
            # Written before the entry is linked, and to the system at once: it must be there if
            # that ends us.
            os.write(notes[0], f"{key}\n".encode())

    try:
        yield note
    finally:
        for descriptor in notes:
            with suppress(OSError):
                os.unlink(path)
            os.close(descriptor)


def _begun(path: Path) -> int:
    """A new file, locked until it is closed."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(path, flags, 0o600)
    with suppress(OSError):
        # The system lets go of the lock when the process ends, however it ends.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def examine(root: Path, judge: Callable[[str], None]) -> None:
    """Calls `judge` with the key of each entry that a process was linking when it died.

    Others that come meanwhile wait until it returns.
    """
    if fcntl is None:
        return
    try:
        names = os.listdir(root / FOLDER)
    except OSError:
        return
    for name in names:
        if _NAME.fullmatch(name):
            with suppress(OSError):  # its owner lives, or someone else has seen to it
                _examine_one(root / FOLDER / name, judge)


def _examine_one(path: Path, judge: Callable[[str], None]) -> None:
    with open(path, "rb+", buffering=0) as file:
        # If the process is gone, who holds the lock examines the file, and the verdict is waited
        # for; else its owner may hold it, and lives.
        fcntl.flock(file, fcntl.LOCK_EX | (0 if _has_died(path.name) else fcntl.LOCK_NB))
        lines = file.read().decode(errors="replace").split()
        is_new = abs(time.time() - os.fstat(file.fileno()).st_mtime) < _ABANDONED_SECONDS
        if lines or not is_new:  # else its owner is about to lock it
            if lines and path.exists():
                judge(lines[-1])
            os.unlink(path)


def _has_died(name: str) -> bool:
    try:
        # (The number may be that of a new process by now: then the lock alone decides.)
        os.kill(int(name.partition("-")[0]), 0)
    except ProcessLookupError:
        return True
    except (ValueError, OSError, OverflowError):
        return False
    return False


def _try(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Links an object file, in a process of its own, and says so if it comes to that."""
    from ..codegen.compile import load_object

    code, symbol = json.loads(requests.readline())
    load_object(bytes.fromhex(code), symbol)
    replies.write(b"linked")
    replies.flush()


def is_harmless(code: bytes, symbol: str) -> bool:
    """Whether a process of its own links an object file and lives."""
    if not isolated.is_supported():
        return False
    import subprocess

    try:
        with isolated.start(_try) as process:
            try:
                request = json.dumps([code.hex(), symbol]).encode() + b"\n"
                return process.communicate(request, _PATIENCE)[0] == b"linked"
            except subprocess.TimeoutExpired:
                process.kill()
    except OSError:
        pass  # as for one that died
    return False
