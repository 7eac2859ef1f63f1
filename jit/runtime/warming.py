# SPDX-License-Identifier: Apache-2.0
"""The library, compiled before a program needs it.

`numbaflow cache warm` does it at once; a process in the background does when the first program has
compiled something and nobody else has (`begin`), if the machine has nothing better to do.  Imports
the library and the compiler.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ...engine import settings
from .. import isolated, threads
from ..cache import store
from ..codegen import compile as compiler
from ..codegen import instructions
from ..kernel.ir import Kernel
from ..library.library_kernel import LibraryKernel
from . import thread_pool

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]

_LOCK = ".warming"
# Seconds before the background begins, between looks at a machine that is busy, and in all.
_PAUSE, _LOOK, _MOST = 5.0, 10.0, 600.0
# The share of a core that must be free.
_FREE = 0.5


def kernels(dtypes: Sequence[str] = ("float32",)) -> list[LibraryKernel]:
    """All that programs need of the library for numbers of these dtypes, for the target of the
    settings, each once."""
    # Here, as it imports all of the library.
    from ..library import closed_set

    every = (*thread_pool.closed(), *closed_set.kernels(dtypes))
    # What a kernel calls is compiled for itself, and makes no difference to its own code.
    return list({compiler.content_of(kernel): kernel for kernel in every}.values())


def all_kernels(dtypes: Sequence[str] = ("float32",)) -> list[Kernel | LibraryKernel]:
    """The library, and the functions that bytecode has."""
    floats = [dtype for dtype in instructions.DTYPES if dtype in dtypes]
    return [*kernels(dtypes), *instructions.closed(floats)]


_DONE = "done"


def note_done() -> None:
    """Notes in the cache that the library is there for the target of the settings."""
    _note(_DONE)


def is_done() -> bool:
    """Whether that has been noted."""
    return _DONE in _noted()


def _note(line: str) -> None:
    with suppress(OSError):  # a cache that may not be written is not warmed either
        with open(_notes(), "a", opener=_private) as file:
            file.write(f"{line}\n")


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _noted() -> set[str]:
    """The keys of kernels that the background has begun, and whether it is done."""
    try:
        return set(store.read_file(_notes()).decode(errors="replace").split())
    except (OSError, ValueError, store.Untrusted):
        return set()


def _notes() -> Path:
    """Where that is noted; for other versions and targets elsewhere."""
    return store.folder() / f"{store.WARMED}{store.key_of(compiler.labels_of(''))}"


_ASKED: list[bool] = []


def begin() -> None:
    """Starts a process that compiles the library, in the background, unless there is a reason not
    to: see `_may_begin`.  A program that has compiled a kernel calls it; it looks once."""
    if _ASKED or not compiler.STATS.compiles:
        return
    _ASKED.append(True)
    if _may_begin():
        # Where no process can be started, the program goes on as it would have.
        with suppress(OSError):
            isolated.leave(_aside, str(store.folder()), settings.get("target"))


def _may_begin() -> bool:
    # A package with machine code for this processor has all of it.
    return fcntl is not None and may_leave() and not is_done() and not compiler.is_shipped()


def may_leave() -> bool:
    """May a process be left behind that writes to the cache?"""
    if not settings.get("warm") or os.environ.get("CI", "") not in ("", "0", "false"):
        return False
    # Tests want to find what they left; PYTEST_… is what programs that they start know of it.
    if "pytest" in sys.modules or any(name.startswith("PYTEST_") for name in os.environ):
        return False
    if not isolated.is_supported() or threads.cores() < 2:
        return False
    root = store.trusted_folder()
    return root is not None and os.access(root, os.W_OK | os.X_OK)


def _aside(requests: IO[bytes], replies: IO[bytes]) -> None:
    """What the process in the background runs."""
    folder, wanted = json.loads(requests.readline())
    with settings.override(cache=folder, target=wanted):
        work_aside()


def work_aside() -> None:
    """Compiles what is missing of the library when nobody else wants the processor, one kernel
    after the other, by one process at a time, until it is done for a version and a target."""
    step_back()
    root, end = store.folder(), time.monotonic() + _MOST
    with _only_one(root) as is_alone:
        if not is_alone or is_done():
            return
        time.sleep(_PAUSE)
        begun = _noted()
        for kernel in compiler.absent(all_kernels()):
            key = compiler.key_of(kernel)
            # What was begun and is not there may have ended the process: nobody begins it again.
            if key in begun:
                continue
            # A folder that has been removed is not made again.
            if not _awaited(end) or not root.is_dir():
                return
            _note(key)
            compiler.store_kernels([kernel], threads=1)
        if root.is_dir():
            note_done()


def step_back() -> None:
    """Takes what the processor has to spare, and no more."""
    with suppress(OSError):
        os.nice(19)
    if hasattr(os, "SCHED_IDLE"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _awaited(end: float) -> bool:
    """Waits until a core is free; False where that takes too long."""
    while not _is_idle():
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK)
    return True


def _is_idle() -> bool:
    """Does this process get enough of a core, now that all others come first?"""
    # Measured: the system's load is that of the whole machine, of which we may have a part.
    wall, spent = time.perf_counter(), time.process_time()
    while time.process_time() - spent < 0.02:
        if time.perf_counter() - wall > 0.02 / _FREE:
            return False
    return True


@contextmanager
def _only_one(root: Path) -> Iterator[bool]:
    """Whether no other process is at it in this cache; none will be meanwhile."""
    try:
        handle = os.open(root / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield False
        return
    try:
        yield _has_locked(handle)
    finally:
        os.close(handle)


def _has_locked(handle: int) -> bool:
    try:
        # Given up by the system when this process ends, however it does.
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # another one has it, or the disk has no locks
        return False
    return True
