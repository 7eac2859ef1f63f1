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
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial

from .. import target
from ..codegen import compile as compiler
from ..codegen.clock import SLICE
from ..library.library_kernel import LibraryKernel
from ..schedule.bind import AGAIN, HOST, ROOM, ROW, SKIP

_FUTEX_NUMBERS = {"x86_64": 202, "aarch64": 98}
_LINE = 64  # every word of the pool's state has a cache line of its own
_WORDS = ("GEN", "LOCK", "WORD", "DONE", "STEP", "SLEEPERS", "WAITING", "STOP", "LIMIT", "EPOCH")
_STATE_BYTES = _LINE * len(_WORDS)

# Walkers stop when their slice of time is over (jit/codegen/clock.py), also within a step, when all
# tiles that were begun are done.  They note the place behind the table and are called again.
_TILES = """
@helper
def count_tiles(row):
    # row: the address of a step's line in the table
    words = pointer(region(row, "int64"))
    down = (words[2] + words[3] - 1) // words[3]
    return down * ((words[4] + words[5] - 1) // words[5])


@helper
def run_tile(row, tile, worker):
    # row: the address of a step's line in the table
    words = pointer(region(row, "int64"))
    rows, row_tile, columns, column_tile = words[2], words[3], words[4], words[5]
    across = (columns + column_tile - 1) // column_tile
    r, c = tile // across * row_tile, tile % across * column_tile
    call_kernel(words[0], words[1], r, min(r + row_tile, rows), c, min(c + column_tile, columns),
                worker)


@helper
def alone(row, tile, total, end):
    # Runs tiles one after the other until a moment; the first that is left.
    while tile < total:
        run_tile(row, tile, 0)
        tile += 1
        if tile < total and clock() > end:
            return tile
    return tile
"""

# To take a tile is one atomic addition to WORD, which gives number and total of the same step even
# to a thread that comes late; STEP is read afterwards, and cannot change before that tile is in
# DONE.  A thread may add beyond the total: hence steps of less than half of MASK tiles, so that
# nothing is carried into the total's bits.
_TAKE = """
@helper
def take_tiles(state, worker, end):
    # Neighbours together while many are left and they are quick, which spares the shared words.
    shares = SHARES * (atomic_load(state + LIMIT) + 1)
    word = atomic_load(state + WORD)
    most = 1
    seen = clock()
    while True:
        left = max(((word >> BITS) & MASK) - (word & MASK), 0)
        count = min(left // shares + 1, most)
        word = atomic_add(state + WORD, count)
        first, total = word & MASK, (word >> BITS) & MASK
        if first >= total:
            return
        last = min(first + count, total)
        for tile in range(first, last):
            run_tile(atomic_load(state + STEP), tile, worker)
        atomic_add(state + DONE, last - first)
        if atomic_load(state + WAITING) != 0:
            futex(FUTEX, state + DONE, WAKE, 1)
        now = clock()
        if worker == 0 and now > end:
            return
        most = min(2 * most, TOGETHER) if now == seen else 1
        seen = now
        word += count
"""

# Everything else is written before WORD, which lets others begin.  All accesses are sequentially
# consistent (jit/codegen/atomics.py), which two pairs need: the caller raises GEN and then looks
# for SLEEPERS, a thread counts itself among these and then has the kernel compare GEN; the caller
# sets WAITING and then looks at DONE, threads add to DONE and then look at WAITING.  In either
# order one sees the other, and no wake-up is lost.  When the time is up, the swap tells which tile
# was the last begun and leaves none to begin.
_SHARE = """
@helper
def share(state, row, begin, total, limit, end):
    # Shares tiles until a moment; the first that nobody has begun.
    epoch = atomic_load(state + EPOCH) + 1
    atomic_store(state + EPOCH, epoch)
    atomic_store(state + STEP, row)
    atomic_store(state + DONE, begin)
    atomic_store(state + LIMIT, limit)
    atomic_store(state + WORD, (epoch << (2 * BITS)) | (total << BITS) | begin)
    atomic_add(state + GEN, 1)
    if atomic_load(state + SLEEPERS) > 0:
        futex(FUTEX, state + GEN, WAKE, 1 << 30)
    take_tiles(state, 0, end)
    last = total
    if clock() > end:
        none_left = (epoch << (2 * BITS)) | (total << BITS) | total
        last = min(atomic_swap(state + WORD, none_left) & MASK, total)
    spins = 0
    while atomic_load(state + DONE) != last:
        spins += 1
        if spins < SPINS:
            pause()
        else:
            atomic_store(state + WAITING, 1)
            done = atomic_load(state + DONE)
            if done != last:
                futex(FUTEX, state + DONE, WAIT, done)
            atomic_store(state + WAITING, 0)
    return last
"""

_WALK = """
def kernel(args, r0, r1, c0, c1, worker):
    # args: the table; c1: its address; r0: its steps; r1: the pool's state; c0: workers to use;
    # worker: -1 to go on at the place behind the table: step, tile, whether the walk paused
    state = r1
    place = ROW * r0
    mine = take_if_zero(state + LOCK) if c0 > 0 else 0
    s = args[place] if worker < 0 else 0
    tile = args[place + 1] if worker < 0 else 0
    args[place + 2] = 0
    end = clock() + SLICE
    while s < r0:
        row = c1 + 8 * ROW * s
        total = count_tiles(row)
        if total > 1 and total < MASK // 2 and mine == 1:
            tile = share(state, row, tile, total, c0, end)
        else:
            tile = alone(row, tile, total, end)
        if tile >= total:
            s += 1
            tile = 0
        if s < r0 and clock() > end:
            args[place] = s
            args[place + 1] = tile
            args[place + 2] = 1
            break
    if mine == 1:
        atomic_store(state + LOCK, 0)
"""

# Rows whose kernel is 0 jump or stop: jit/schedule/bind.py, ControlNumbers.  The clock is looked at
# after more and more rows, as long as they are quick: a turn of a loop may take a few nanoseconds.
_FLOW = """
@helper
def word_at(address):
    return pointer(region(address, "int64"))[0]


def kernel(args, r0, r1, c0, c1, worker):
    # As the walk above, from row `worker` on.  The place is: row where it stopped, tile, whether
    # it only paused.
    state = r1
    place = ROW * r0
    mine = take_if_zero(state + LOCK) if c0 > 0 else 0
    s = args[place] if worker < 0 else worker
    tile = args[place + 1] if worker < 0 else 0
    args[place + 2] = 0
    seen = clock()
    end = seen + SLICE
    every = 1
    left = 1
    while s < r0:
        left -= 1
        if left == 0:
            now = clock()
            if now > end:
                args[place + 2] = 1
                break
            every = min(2 * every, SELDOM) if now == seen else 1
            left = every
            seen = now
        if args[ROW * s] == 0:
            kind = args[ROW * s + 2]
            if kind == SKIP:
                flag = pointer(region(word_at(args[ROW * s + 1]), "uint8"))[0]
                s = s + 1 if int64(flag) == args[ROW * s + 4] else args[ROW * s + 3]
                continue
            if kind == AGAIN:
                s = args[ROW * s + 3]
                continue
            if kind == HOST:
                break
            if kind == ROOM:
                record = pointer(region(word_at(args[ROW * s + 1]), "int64"))
                if record[4] > record[2]:
                    break
                s += 1
                continue
            flag = pointer(region(word_at(args[ROW * s + 1]), "uint8"))[0]
            if int64(flag) != 0:
                break
            s += 1
            continue
        rows, row_tile = args[ROW * s + 2], args[ROW * s + 3]
        columns, column_tile = args[ROW * s + 4], args[ROW * s + 5]
        if rows <= row_tile and columns <= column_tile:
            if rows > 0 and columns > 0:
                call_kernel(args[ROW * s], args[ROW * s + 1], 0, rows, 0, columns, 0)
            s += 1
            continue
        row = c1 + 8 * ROW * s
        total = count_tiles(row)
        if total < MASK // 2 and mine == 1:
            tile = share(state, row, tile, total, c0, end)
        else:
            tile = alone(row, tile, total, end)
        if tile < total:
            args[place + 2] = 1
            break
        s += 1
        tile = 0
    args[place] = s
    args[place + 1] = tile
    if mine == 1:
        atomic_store(state + LOCK, 0)
"""

# GEN is read before tiles are looked for, so that a step published meanwhile keeps the thread
# awake.  LIMIT is how many threads the caller's session allows.
_WORK = """
def kernel(args, r0, r1, c0, c1, worker):
    # a thread of the pool, until it is stopped; r1: the pool's state
    state = r1
    while True:
        seen = atomic_load(state + GEN)
        if atomic_load(state + STOP) != 0:
            return
        if worker <= atomic_load(state + LIMIT):
            take_tiles(state, worker, 0)
        spins = 0
        while spins < SPINS and atomic_load(state + GEN) == seen:
            pause()
            spins += 1
        if atomic_load(state + GEN) == seen:
            atomic_add(state + SLEEPERS, 1)
            futex(FUTEX, state + GEN, WAIT, seen & 0xFFFFFFFF)
            atomic_add(state + SLEEPERS, -1)
"""


def is_supported() -> bool:
    """Does this system have futexes with a known number?"""
    return sys.platform == "linux" and platform.machine() in _FUTEX_NUMBERS


def kernels() -> tuple[LibraryKernel, LibraryKernel]:
    """What callers and threads of a pool run."""
    machine = target.current().machine
    return _kernel("pool_walk", _SHARE + _WALK, machine), _kernel("pool_work", _WORK, machine)


def flow_kernel() -> LibraryKernel:
    """What runs rows with jumps among them, with or without a pool."""
    machine = target.current().machine
    if is_supported():
        return _kernel("flow_walk", _SHARE + _FLOW, machine)
    none = "\n@helper\ndef share(state, row, begin, total, limit, end):\n    return begin\n"
    return _kernel("flow_walk", none + _FLOW, machine)


def closed() -> Iterator[LibraryKernel]:
    """Every kernel that walks plans on the system at hand, for the machine of the settings."""
    if is_supported():
        yield from kernels()
    yield flow_kernel()


@cache
def flow_walk() -> Callable[..., None]:
    """The machine code of it: (table, rows, state, workers, table, first row or -1)."""
    return _FUNCTION(compiler.compile_kernel(flow_kernel()).address)


@cache
def _kernel(name: str, text: str, machine: str) -> LibraryKernel:
    constants = {word: _LINE * place for place, word in enumerate(_WORDS)}
    constants |= {"FUTEX": _FUTEX_NUMBERS.get(machine, 0), "WAIT": 128, "WAKE": 129}
    # SPINS take some 100 µs: a thread stays awake between the steps of a plan, and from one step of
    # a training loop to the next, but not while a program does something else.  A third of an even
    # SHARE of what is left leaves enough to even out threads that are held up.
    constants |= {"BITS": 20, "MASK": (1 << 20) - 1, "SPINS": 4000, "SHARES": 3}
    # (The clock ticks every few milliseconds: what is done between two equal readings is quick.)
    constants |= {"SLICE": SLICE, "TOGETHER": 64, "SELDOM": 64, "ROW": ROW}
    constants |= {"SKIP": SKIP, "AGAIN": AGAIN, "HOST": HOST, "ROOM": ROOM}
    header = "".join(f"{key} = {value}\n" for key, value in constants.items())
    return LibraryKernel(name, header + _TILES + (_TAKE if is_supported() else "") + text)


_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 5)


class Pool:
    """Worker threads that sleep until a caller has a step of several tiles."""

    def __init__(self) -> None:
        walk, work = (compiler.compile_kernel(kernel) for kernel in kernels())
        self._walk, self._work = _FUNCTION(walk.address), _FUNCTION(work.address)
        # Never freed: a thread may look at it until the process is gone.
        allocate = ctypes.pythonapi.PyMem_RawCalloc
        allocate.restype, allocate.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_size_t]
        self._state = -(-int(allocate(1, _STATE_BYTES + _LINE)) // _LINE) * _LINE
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
        self, walk: Callable[..., None], table: int, rows: int, workers: int, first: int
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
        words[_WORDS.index("STOP") * _LINE // 8] = 1
        words[_WORDS.index("LIMIT") * _LINE // 8] = 0
        words[_WORDS.index("GEN") * _LINE // 8] += 1
        number, wake = _FUTEX_NUMBERS[platform.machine()], 129
        ctypes.CDLL(None).syscall(number, ctypes.c_void_p(self._state), wake, 1 << 30, 0, 0, 0)
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
