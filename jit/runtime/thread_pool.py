# SPDX-License-Identifier: Apache-2.0
"""The threads that share the tiles of a plan's steps, without an interpreter lock between them.

A caller walks the table of steps (see jit/runtime/driver.py), a slice of time at once.  For a step
of several tiles it publishes the step and takes tiles itself until none are left, or the time is
over; threads that are awake take tiles too.  So a step never waits for a thread that has not begun
to work, which matters on busy machines.  The tiles are the same whoever computes them, and so are
the results.

One word holds epoch, number of tiles and next tile, so that a thread that comes late for one step
cannot take a tile of another.  A second caller while the pool is taken does its own tiles alone.
Linux only (futexes); elsewhere Numba's prange does the work (jit/runtime/parallel.py).
"""

from __future__ import annotations

import atexit
import ctypes
import os
import platform
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, partial

from .. import target
from ..codegen import compile as compiler
from ..codegen.clock import SLICE
from ..codegen.signature import SIGNATURE
from ..library import walk_kernels
from ..library.library_kernel import LibraryKernel
from ..library.template import specialise
from ..library.walk_kernels import LINE
from ..schedule import size_code

_FUTEX_NUMBERS = {"x86_64": 202, "aarch64": 98}


def is_supported() -> bool:
    """Does this system have futexes with a known number?"""
    return sys.platform == "linux" and platform.machine() in _FUTEX_NUMBERS


def kernels() -> tuple[LibraryKernel, LibraryKernel]:
    """What callers and threads of a pool run."""
    return _walk_kernel(), _work_kernel()


def _walk_kernel() -> LibraryKernel:
    return _kernel("pool_walk", walk_kernels.walk)


def _work_kernel() -> LibraryKernel:
    return _kernel("pool_work", walk_kernels.work)


def flow_kernel() -> LibraryKernel:
    """What runs rows with jumps among them, with or without a pool."""
    return _kernel("flow_walk", walk_kernels.walk_with_jumps)


def closed() -> Iterator[LibraryKernel]:
    """Every kernel that walks plans, or binds them to sizes, on the system at hand.

    They are those for the machine of the settings.
    """
    if is_supported():
        yield from kernels()
    yield flow_kernel()
    yield from size_code.closed()


@cache
def flow_walk() -> int:
    """Where the machine code of it is: (table, rows, state, workers, table, first row or -1)."""
    return _address("flow_walk", flow_kernel)


# Addresses of walkers that came with a stored plan, by name and target: their texts, which take
# longer to make than they to load, are not needed then.
_ADOPTED: dict[tuple[str, str], int] = {}


def adopt(walkers: Iterable[compiler.Compiled]) -> None:
    """Takes walkers for the present target that are loaded already."""
    aim = repr(target.current())
    _ADOPTED.update(((walker.name, aim), walker.address) for walker in walkers)


def _address(name: str, kernel: Callable[[], LibraryKernel]) -> int:
    """Where a walker's machine code is."""
    adopted = _ADOPTED.get((name, repr(target.current())))
    return compiler.compile_kernel(kernel()).address if adopted is None else adopted


def _kernel(name: str, entry: Callable[..., None]) -> LibraryKernel:
    number = _FUTEX_NUMBERS.get(target.current().machine, 0)
    return specialise(name, entry, SHARED=is_supported(), FUTEX=number, SLICE=SLICE)


class Pool:
    """Worker threads that sleep until a caller has a step of several tiles."""

    def __init__(self) -> None:
        walk, work = _address("pool_walk", _walk_kernel), _address("pool_work", _work_kernel)
        self._walk, self._work = SIGNATURE(walk), SIGNATURE(work)
        # Never freed: a thread may look at it until the process is gone.
        allocate = ctypes.pythonapi.PyMem_RawCalloc
        allocate.restype, allocate.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_size_t]
        self._state = -(-int(allocate(1, walk_kernels.STATE_BYTES + LINE)) // LINE) * LINE
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._pid = os.getpid()
        atexit.register(self.stop)

    def run(self, table: int, steps: int, workers: int, goes_on: bool) -> None:
        """Runs a table of steps at an address with up to `workers` threads beside the caller's.

        It may pause; `goes_on` says to go on where it did.
        """
        if workers > len(self._threads):
            self._grow(workers)
        self._walk(table, steps, self._state, workers, table, -goes_on)

    def flow(
        self, walk: Callable[..., object], table: int, rows: int, workers: int, first: int
    ) -> None:
        """Runs a table with jumps from a row on, -1: where it paused, with up to `workers` more."""
        if workers > len(self._threads):
            self._grow(workers)
        walk(table, rows, self._state, workers, table, first)

    def _grow(self, count: int) -> None:
        # Never fewer: how many of them work on a step is its LIMIT.
        with self._lock:
            here = int(ctypes.CDLL(None).sched_getcpu())
            for number in range(len(self._threads) + 1, count + 1):
                work = partial(self._thread, number, here)
                thread = threading.Thread(target=work, name=f"numbaflow-{number}", daemon=True)
                # Noted first: an exception here must not give its number to another thread too.
                self._threads.append(thread)
                thread.start()

    def _thread(self, number: int, caller: int) -> None:
        """Begins on another core than the caller's, where a busy system would leave it for long."""
        cores = sorted(os.sched_getaffinity(0))
        if caller in cores:
            there = cores[(cores.index(caller) + number) % len(cores)]
            with suppress(OSError):  # where a sandbox forbids it, the system's choice stands
                # Moved there and let go again: a pinned thread could not give way to another
                # program.
                os.sched_setaffinity(0, {there})
                os.sched_setaffinity(0, cores)
        self._work(None, 0, self._state, 0, 0, number)

    def stop(self) -> None:
        """Ends the threads; before the interpreter takes their code away."""
        if self._pid != os.getpid() or not self._threads:
            return
        words = ctypes.cast(self._state, ctypes.POINTER(ctypes.c_int64))
        words[walk_kernels.ENDED // 8] = 1
        words[walk_kernels.LIMIT // 8] = 0
        words[walk_kernels.GEN // 8] += 1
        number, state = _FUTEX_NUMBERS[platform.machine()], ctypes.c_void_p(self._state)
        wake, every = walk_kernels.WAKE, walk_kernels.ALL
        ctypes.CDLL(None).syscall(number, state, wake, every, 0, 0, 0)
        for thread in self._threads:
            if thread.is_alive():
                thread.join(1.0)
        self._threads.clear()


_POOLS: list[Pool] = []
_MAKING = threading.Lock()


def current() -> Pool:
    """The pool of this process."""
    if not _POOLS:
        with _MAKING:
            if not _POOLS:
                _POOLS.append(Pool())
    return _POOLS[0]


# A forked child has none of the parent's threads; it makes a pool of its own when it needs one.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_POOLS.clear)
