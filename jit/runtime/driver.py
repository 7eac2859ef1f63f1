# SPDX-License-Identifier: Apache-2.0
"""Walks the steps of a plan: calls every kernel on its tiles, in order, small ones serially.

A plan's steps are the rows of an int64 table (jit/library/step_table.py):

    program = driver.Program(table)     # copies the table (`program.table`)
    program.run()

A step with one tile is called directly.  Tiles of a step with several are shared by the threads of
jit/runtime/thread_pool.py, or, where those are not supported, by Numba's prange
(jit/runtime/parallel.py); with one thread the serial walker, a page of LLVM code, does them in
order.  Tiles are cut by size alone, so all compute the same bits.

A walk that takes long pauses: after a slice of time, between steps or tiles, when everything that
was begun is done, it comes back to Python, where signals arrive and a run may be given up.  So
`program.call()`, the cheapest form, says whether it has paused; `program.go_on()` does the rest,
`run` all of it.  A program that is given up begins anew with the next call.

The table may be edited between runs (sizes, addresses) but not its number of steps; call
`program.refresh()` when an edit may turn a one-tile step into a tiled one or back.  `run` releases
the GIL unless the last time took next to no time; several threads may run programs at once, but not
the same one.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np

from ...engine.memory import address_of
from .. import threads
from ..codegen import assembly, clock
from ..codegen.signature import ARGUMENTS
from ..library.library_kernel import LibraryKernel
from ..library.step_table import (
    ADDRESS,
    AT_ROW,
    COLUMN_TILE,
    COLUMNS,
    PAUSED,
    PLACE,
    ROW,
    ROW_TILE,
    ROWS,
)
from . import thread_pool

_HEADS = ("kernel", "args", "rows", "row_tile", "columns", "column_tile")
Table = np.ndarray[Any, np.dtype[np.int64]]

T = TypeVar("T")
# More threads than there are.
_MANY = 1 << 30
# Longer than anything takes.
_NEVER = 1 << 62

# Called with minus the number of steps it goes on at the place behind the table.
# The clock is looked at behind a step or tile if another follows, so a plan of one small step never
# does.  In LLVM's own language, as kernels of the cache are loaded without Numba, whose import
# takes longer than many a plan.
_WALKER, _FLOW_CALLER = "numbaflow_call", "numbaflow_flow"
_WALK = """
define internal i64 @numbaflow_walk(ptr %table, i64 %number) nounwind {
entry:
  %resumes = icmp slt i64 %number, 0
  %count = call i64 @llvm.abs.i64(i64 %number, i1 false)
  %place.word = mul i64 %count, 6
  %place.step = getelementptr i64, ptr %table, i64 %place.word
  %place.tile = getelementptr i64, ptr %place.step, i64 1
  %place.s = load i64, ptr %place.step
  %place.t = load i64, ptr %place.tile
  %s.first = select i1 %resumes, i64 %place.s, i64 0
  %t.first = select i1 %resumes, i64 %place.t, i64 0
  %empty = icmp sge i64 %s.first, %count
  br i1 %empty, label %end, label %step
step:
  %s = phi i64 [ %s.first, %entry ], [ %s.next, %look.step ], [ %s.next, %start.step ]
  %t.begin = phi i64 [ %t.first, %entry ], [ 0, %look.step ], [ 0, %start.step ]
  %begun = phi i64 [ 0, %entry ], [ %begun.tile, %look.step ], [ %now.step, %start.step ]
  %base = mul i64 %s, 6
  %p0 = getelementptr i64, ptr %table, i64 %base
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %p4 = getelementptr i64, ptr %p0, i64 4
  %p5 = getelementptr i64, ptr %p0, i64 5
  %address = load i64, ptr %p0
  %args = load i64, ptr %p1
  %rows = load i64, ptr %p2
  %row.tile = load i64, ptr %p3
  %columns = load i64, ptr %p4
  %column.tile = load i64, ptr %p5
  %kernel = inttoptr i64 %address to ptr
  %block = inttoptr i64 %args to ptr
  %no.rows = icmp sle i64 %rows, 0
  %no.columns = icmp sle i64 %columns, 0
  %nothing = or i1 %no.rows, %no.columns
  br i1 %nothing, label %step.end, label %some
some:
  %one.down = icmp sle i64 %rows, %row.tile
  %one.across = icmp sle i64 %columns, %column.tile
  %one = and i1 %one.down, %one.across
  br i1 %one, label %whole, label %tiled
whole:
  call void %kernel(ptr %block, i64 0, i64 %rows, i64 0, i64 %columns, i64 0)
  br label %step.end
tiled:
  %columns.up = add i64 %columns, %column.tile
  %columns.most = sub i64 %columns.up, 1
  %across = sdiv i64 %columns.most, %column.tile
  %rows.up = add i64 %rows, %row.tile
  %rows.most = sub i64 %rows.up, 1
  %down = sdiv i64 %rows.most, %row.tile
  %total = mul i64 %across, %down
  br label %tile
tile:
  %t = phi i64 [ %t.begin, %tiled ], [ %t.next, %look.tile ], [ %t.next, %start.tile ]
  %begun.at = phi i64 [ %begun, %tiled ], [ %begun.at, %look.tile ], [ %now.tile, %start.tile ]
  %row.number = sdiv i64 %t, %across
  %column.number = srem i64 %t, %across
  %r = mul i64 %row.number, %row.tile
  %c = mul i64 %column.number, %column.tile
  %r.sum = add i64 %r, %row.tile
  %r.next = call i64 @llvm.smin.i64(i64 %r.sum, i64 %rows)
  %c.sum = add i64 %c, %column.tile
  %c.next = call i64 @llvm.smin.i64(i64 %c.sum, i64 %columns)
  call void %kernel(ptr %block, i64 %r, i64 %r.next, i64 %c, i64 %c.next, i64 0)
  %t.next = add i64 %t, 1
  %more.tiles = icmp slt i64 %t.next, %total
  br i1 %more.tiles, label %clock.tile, label %step.end
clock.tile:
  %now.tile = call i64 @numbaflow_now()
  %first.tile = icmp eq i64 %begun.at, 0
  br i1 %first.tile, label %start.tile, label %look.tile
start.tile:
  br label %tile
look.tile:
  %spent.tile = sub i64 %now.tile, %begun.at
  %over.tile = icmp sgt i64 %spent.tile, SLICE
  br i1 %over.tile, label %pause, label %tile
step.end:
  %begun.tile = phi i64 [ %begun, %step ], [ %begun, %whole ], [ %begun.at, %tile ]
  %s.next = add i64 %s, 1
  %more.steps = icmp slt i64 %s.next, %count
  br i1 %more.steps, label %clock.step, label %end
clock.step:
  %now.step = call i64 @numbaflow_now()
  %first.step = icmp eq i64 %begun.tile, 0
  br i1 %first.step, label %start.step, label %look.step
start.step:
  br label %step
look.step:
  %spent.step = sub i64 %now.step, %begun.tile
  %over.step = icmp sgt i64 %spent.step, SLICE
  br i1 %over.step, label %pause, label %step
pause:
  %s.stop = phi i64 [ %s, %look.tile ], [ %s.next, %look.step ]
  %t.stop = phi i64 [ %t.next, %look.tile ], [ 0, %look.step ]
  store i64 %s.stop, ptr %place.step
  store i64 %t.stop, ptr %place.tile
  ret i64 1
end:
  ret i64 0
}
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.abs.i64(i64, i1)
"""

# A walk whose last one took less (in ns) keeps the GIL. Who lets go of it wakes up a thread that
# waits for it, and may wait for that one in turn: together they take longer than small steps do,
# and threads that do little else, as those that fill queues, come to stand still.
_SHORT = 20_000
# Calls INNER, and puts where SPENT points what that took.
_CALL = """
define i64 @OUTER(ptr %spent, PARAMETERS) nounwind {
  %began = call i64 @numbaflow_precisely()
  %paused = call i64 @INNER(PARAMETERS)
  %ended = call i64 @numbaflow_precisely()
  %took = sub i64 %ended, %began
  store i64 %took, ptr %spent
  ret i64 %paused
}
"""
_FLOW = """
define internal i64 @numbaflow_walk(WALKED) nounwind {
  call void %walk(ptr %table, i64 %rows, i64 %state, i64 %workers, i64 %again, i64 %first)
  ret i64 0
}
"""
_WALKED = "ptr %walk, ptr %table, i64 %rows, i64 %state, i64 %workers, i64 %again, i64 %first"


def _text(inner: str, name: str, parameters: str) -> str:
    """A function of where the time of a call is noted, and of what `numbaflow_walk` takes."""
    text = inner + _CALL.replace("PARAMETERS", parameters)
    return text.replace("INNER", "numbaflow_walk").replace("OUTER", name) + clock.assembly()


def texts() -> dict[str, str]:
    """What runs plans and is written in LLVM's own language, by the function that it defines."""
    walk, flow = _WALK.replace("SLICE", str(clock.SLICE)), _FLOW.replace("WALKED", _WALKED)
    return {
        _WALKER: _text(walk, _WALKER, "ptr %table, i64 %number"),
        _FLOW_CALLER: _text(flow, _FLOW_CALLER, _WALKED),
    }


def _functions(name: str, *types: Any) -> Sequence[Callable[..., int]]:
    """A function of such a text: without the GIL, and with it."""
    address = assembly.load(texts()[name], name)
    kinds = ctypes.CFUNCTYPE, ctypes.PYFUNCTYPE
    return [kind(ctypes.c_int64, ctypes.c_void_p, *types)(address) for kind in kinds]


@cache
def serial_walkers() -> Sequence[Callable[[int, int, int], int]]:
    """walk(time, address of the table, number of steps): all tiles in order; 1: it only paused.

    Without the GIL, and with it.  time: the address of a word for what it takes.
    """
    return _functions(_WALKER, ctypes.c_void_p, ctypes.c_int64)


@cache
def _flow_callers() -> Sequence[Callable[..., int]]:
    """call(time, address of a walk with jumps, its arguments): without the GIL, and with it."""
    return _functions(_FLOW_CALLER, ctypes.c_void_p, *ARGUMENTS)


class _Lock:
    """Which walks keep the GIL, and those under way that do not.

    When the interpreter ends it clears modules while daemon threads run on: walks that are under
    way then would find their memory given back.  So it waits for them, and later ones keep the GIL,
    and come but now and then, as they would hold up the end.
    """

    __slots__ = ("away", "is_ending", "short")

    def __init__(self) -> None:
        # A walk whose last one took less keeps the GIL; none, where no clock tells of it.
        self.short = 0
        self.is_ending = False
        # An entry for each walk without the GIL.
        self.away: list[None] = []

    def end(self) -> None:
        """Has walks keep the GIL from now on, and waits a while for those that do not."""
        self.short, self.is_ending = 0, True
        until = time.monotonic() + _MOST_WAIT
        while self.away and time.monotonic() < until:
            time.sleep(1e-3)

    def let_go(self, call: Callable[[], T], kept: Callable[[], T]) -> T:
        """Calls something that lets go of the GIL; at the end what does the same and keeps it."""
        if self.is_ending:
            if threading.current_thread() is not threading.main_thread():
                time.sleep(_PAUSE)
            return kept()
        self.away.append(None)
        try:
            return call()
        finally:
            self.away.pop()


_LOCK = _Lock()
# So many seconds the end of the interpreter waits for walks, whose steps and tiles are short.
_MOST_WAIT = 5.0
# So many seconds a thread rests before each walk meanwhile.
_PAUSE = 0.05


@cache
def _lock() -> _Lock:
    """The same, once the clock is known."""
    if not _LOCK.is_ending:
        _LOCK.short = 0 if clock.precise().number is None else _SHORT
        atexit.register(_LOCK.end)
        if hasattr(os, "register_at_fork"):  # a child has none of the parent's threads
            os.register_at_fork(after_in_child=_LOCK.away.clear)
    return _LOCK


def _walk_of(spent: np.ndarray, address: int, count: int) -> Callable[[], int]:
    """What walks over a table; `spent` has what the last walk took.

    (Bound once: in a plan of a few small steps the call itself is most of the time.)
    """
    given, kept = (partial(f, address_of(spent), address, count) for f in serial_walkers())
    last, lock = spent.item, _lock()
    return lambda: kept() if last() < lock.short else lock.let_go(given, kept)


def has_tiles(table: Table) -> bool:
    """Whether any step of a table is cut into more than one tile."""
    cut = (table[:, ROWS] > table[:, ROW_TILE]) | (table[:, COLUMNS] > table[:, COLUMN_TILE])
    return bool(cut.any())


class Program:
    """A table of steps, ready to run; see the module's docstring.

    threads: how many may share a step's tiles; None: what the settings say at every run.  most:
    how many there is scratch memory for, whatever the settings say by then.
    """

    __slots__ = (
        *("_address", "_most", "_place", "_spent", "_threads", "_walk", "call", "is_tiled"),
        "table",
    )

    def __init__(self, table: Table, threads: int | None = None, most: int = _MANY) -> None:
        self._threads, self._most = threads, most
        if table.ndim != 2 or table.shape[1] != ROW or table.dtype != np.int64:
            raise ValueError(f"a table of steps is int64 with columns {', '.join(_HEADS)}")
        self.table, self._place = _with_place(table)
        self._address = self.table.ctypes.data
        self._spent = np.full(1, _NEVER)
        self._walk = _walk_of(self._spent, self._address, len(table))
        self.refresh()

    def refresh(self, is_tiled: bool | None = None) -> None:
        """Looks again whether any step has more than one tile, unless that is known."""
        self.is_tiled = has_tiles(self.table) if is_tiled is None else is_tiled
        # Begins with the first step; whether it only paused, to be gone on with by `go_on`.
        self.call: Callable[[], int] = self._parallel if self.is_tiled else self._walk

    def run(self) -> None:
        """Runs all steps in order."""
        paused = self.call()
        while paused:
            paused = self.go_on()

    def go_on(self) -> int:
        """Goes on where a call paused; whether it paused again."""
        return self._parallel(True) if self.is_tiled else self._resume()

    def _resume(self) -> int:
        place = address_of(self._spent), self._address, -len(self.table)
        return _lock().let_go(*(partial(walk, *place) for walk in serial_walkers()))

    def _parallel(self, goes_on: bool = False) -> int:
        lock = _lock()
        workers = 0 if lock.is_ending else min(self._threads or threads.count(), self._most) - 1
        if workers > 0 and thread_pool.is_supported():
            given = self._address, len(self.table), workers, goes_on
            run = partial(thread_pool.current().run, *given)
            lock.let_go(run, run)
        elif workers <= 0 or not threads.may_launch():
            return self._resume() if goes_on else self._walk()
        else:
            if not goes_on:
                self._place[:] = 0
            run = partial(run_parallel, self.table, self._place)
            lock.let_go(run, run)
        return self._place.item(PAUSED)


def _with_place(rows: Table) -> tuple[Table, Table]:
    """A copy of rows, and the place behind them."""
    words = np.concatenate([rows.ravel(), np.zeros(PLACE, np.int64)])
    return words[:-PLACE].reshape(rows.shape), words[-PLACE:]


def has_control(table: Table) -> bool:
    """Whether any row of a table jumps or stops."""
    return bool((table[:, ADDRESS] == 0).any())


class Flow:
    """Rows with jumps and stops among them, ready to run; `first` is the number of the first."""

    __slots__ = (
        *("_address", "_most", "_place", "_spent", "_threads", "_walk", "_workers", "first"),
        *("may_keep_lock", "rows", "table"),
    )

    def __init__(
        self, rows: Table, first: int, threads: int | None = None, most: int = _MANY
    ) -> None:
        self._threads, self._most, self.first, self.rows = threads, most, first, len(rows)
        self._workers = -1
        self.table, self._place = _with_place(rows)
        self._address = int(self.table.ctypes.data)
        self._walk = thread_pool.flow_walk()
        # Not where a kernel runs Python, on a thread whose tile this one waits for.
        self.may_keep_lock = True
        # What the last walks from each row took; first of those that went on.
        self._spent = np.full(len(rows) + 2, _NEVER)

    def run(self, row: int) -> int:
        """Runs from a row on; the number of the row where Python is needed, or that of all rows.

        It may only pause (`is_paused`); row -1 says to go on where it did.
        """
        if row == 0 or self._workers < 0:
            # (Not for each row of a loop that Python is needed in.)
            self._workers = min(self._threads or threads.count(), self._most) - 1
        lock = _lock()
        is_kept = self.may_keep_lock and self._spent.item(row + 1) < lock.short
        given, kept = _flow_callers()
        if is_kept:
            self._run(row, kept, self._workers)
        else:
            alone = partial(self._run, row, kept, 0)
            lock.let_go(partial(self._run, row, given, self._workers), alone)
        return self._place.item(AT_ROW)

    def _run(self, row: int, call: Callable[..., int], workers: int) -> int:
        address = self._address
        walk = partial(call, address_of(self._spent) + 8 * (row + 1), self._walk)
        if workers > 0 and thread_pool.is_supported():
            thread_pool.current().flow(walk, address, self.rows, workers, row)
            return 0
        return walk(address, self.rows, 0, 0, address, row)

    @property
    def is_paused(self) -> bool:
        """Whether the walk only came by to let Python look whether it may go on."""
        return bool(self._place[PAUSED])


def kernels() -> tuple[LibraryKernel, ...]:
    """The kernels that `prepare` will want, to be compiled along with others."""
    return thread_pool.kernels() if threads.count() > 1 and thread_pool.is_supported() else ()


def prepare() -> None:
    """Loads what steps of several tiles need, so that the first of them compiles nothing."""
    if threads.count() > 1 and thread_pool.is_supported():
        thread_pool.current()


_SERIALISE = threading.Lock()
# So many tiles go to prange at once: a walk can pause only between such batches.
_TILES_PER_THREAD = 4


def run_parallel(table: Table, place: Table) -> None:
    """Runs a table from a place on with its tiles spread over the threads of the settings."""
    walker = parallel_walker()
    threads.prepare()
    least = _TILES_PER_THREAD * threads.count()
    # Numba's own pool, where neither OpenMP nor TBB is installed, ends a process in which two
    # threads launch at once.
    if threads.allows_concurrent_callers():
        walker(table, place, least)
    else:
        with _SERIALISE:
            walker(table, place, least)


@cache
def parallel_walker() -> Callable[[Table, Table, int], None]:
    """The driver that Numba compiles, once per machine: its own cache holds it."""
    threads.choose_layer()
    from . import parallel

    return parallel.walk
