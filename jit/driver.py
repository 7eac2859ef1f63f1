# SPDX-License-Identifier: Apache-2.0
"""Walks the steps of a plan: calls every kernel on its tiles, in order, small ones serially.

A plan's steps are the rows of an int64 table with the columns COLUMNS:

    program = driver.Program(table)     # keeps the table; its addresses must stay valid
    program.run()                       # or program.call(): the cheapest form, a bound function

A step with one tile is called directly.  Tiles of a step with several are shared by the threads of
jit/pool.py, or, where those are not supported, by Numba's prange (jit/parallel.py); with one thread
the serial walker, a dozen lines of LLVM code, does them in order.  Tiles are cut by size alone, so
all compute the same bits.  The table may be edited between runs (sizes, addresses) but not its
number of steps; call `program.refresh()` when an edit may turn a one-tile step into a tiled one or
back.  `run` releases the GIL and may be called from several threads.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from . import compile, pool, threads
from .library.kernel import LibraryKernel

COLUMNS = ("kernel", "args", "rows", "row_tile", "columns", "column_tile")
Table = np.ndarray[Any, np.dtype[np.int64]]

_WALK = """
define void @numbaflow_walk(ptr %table, i64 %count) nounwind {
entry:
  %empty = icmp sle i64 %count, 0
  br i1 %empty, label %end, label %step
step:
  %s = phi i64 [ 0, %entry ], [ %s.next, %step.end ]
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
  br label %row
row:
  %r = phi i64 [ 0, %step ], [ %r.next, %row.end ]
  %more.rows = icmp slt i64 %r, %rows
  br i1 %more.rows, label %row.body, label %step.end
row.body:
  %r.sum = add i64 %r, %row.tile
  %r.next = call i64 @llvm.smin.i64(i64 %r.sum, i64 %rows)
  br label %column
column:
  %c = phi i64 [ 0, %row.body ], [ %c.next, %column.body ]
  %more.columns = icmp slt i64 %c, %columns
  br i1 %more.columns, label %column.body, label %row.end
column.body:
  %c.sum = add i64 %c, %column.tile
  %c.next = call i64 @llvm.smin.i64(i64 %c.sum, i64 %columns)
  call void %kernel(ptr %block, i64 %r, i64 %r.next, i64 %c, i64 %c.next, i64 0)
  br label %column
row.end:
  br label %row
step.end:
  %s.next = add i64 %s, 1
  %more.steps = icmp slt i64 %s.next, %count
  br i1 %more.steps, label %step, label %end
end:
  ret void
}
declare i64 @llvm.smin.i64(i64, i64)
"""


@cache
def serial_walker() -> Callable[[int, int], None]:
    """walk(address of the table, number of steps): all tiles of all steps in order."""
    address = compile.load_assembly(_WALK, "numbaflow_walk")
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(address)


def has_tiles(table: Table) -> bool:
    """Whether any step of a table is cut into more than one tile."""
    cut = (table[:, 2] > table[:, 3]) | (table[:, 4] > table[:, 5])
    return bool(cut.any())


class Program:
    """A table of steps, ready to run; see the module's docstring.

    threads: how many may share a step's tiles; None: what the settings say at every run.
    """

    __slots__ = ("_threads", "_tiled", "_walk", "call", "table")

    def __init__(self, table: Table, threads: int | None = None) -> None:
        self._threads = threads
        if table.ndim != 2 or table.shape[1] != len(COLUMNS) or table.dtype != np.int64:
            raise ValueError(f"a table of steps is int64 with columns {', '.join(COLUMNS)}")
        self.table = np.ascontiguousarray(table)
        self._walk = partial(serial_walker(), self.table.ctypes.data, len(table))
        self.refresh()

    def refresh(self) -> None:
        """Looks again whether any step has more than one tile."""
        self._tiled = has_tiles(self.table)
        self.call: Callable[[], None] = self._parallel if self._tiled else self._walk

    def run(self) -> None:
        """Runs all steps in order."""
        self.call()

    def _parallel(self) -> None:
        workers = (self._threads or threads.count()) - 1
        if workers > 0 and pool.is_supported():
            pool.current().run(self.table.ctypes.data, len(self.table), workers)
        elif workers <= 0 or not threads.may_launch():
            self._walk()
        else:
            run_parallel(self.table)


def has_control(table: Table) -> bool:
    """Whether any row of a table jumps or stops."""
    return bool((table[:, 0] == 0).any())


class Flow:
    """Rows with jumps and stops among them, ready to run; `first` is the number of the first."""

    __slots__ = ("_threads", "_walk", "first", "rows", "table")

    def __init__(self, rows: Table, first: int, threads: int | None = None) -> None:
        self._threads, self.first, self.rows = threads, first, len(rows)
        # Two words behind the rows: where the walk stopped, and whether it only paused.
        self.table = np.concatenate([rows.ravel(), np.zeros(2, np.int64)])
        self._walk = pool.flow_walk()

    def run(self, row: int) -> int:
        """Runs from a row on; the number of the row where Python is needed, or that of all rows."""
        workers = (self._threads or threads.count()) - 1
        address = self.table.ctypes.data
        if workers > 0 and pool.is_supported():
            pool.current().flow(self._walk, address, self.rows, workers, row)
        else:
            self._walk(address, self.rows, 0, 0, address, row)
        return int(self.table[-2])

    @property
    def is_paused(self) -> bool:
        """Whether the walk only came by to let Python look whether it may go on."""
        return bool(self.table[-1])


def kernels() -> tuple[LibraryKernel, ...]:
    """The kernels that `prepare` will want, to be compiled along with others."""
    return pool.kernels() if threads.count() > 1 and pool.is_supported() else ()


def prepare() -> None:
    """Loads what steps of several tiles need, so that the first of them compiles nothing."""
    if threads.count() > 1 and pool.is_supported():
        pool.current()


_SERIALISE = threading.Lock()


def run_parallel(table: Table) -> None:
    """Runs a table with its tiles spread over the threads of the settings."""
    walker = parallel_walker()
    threads.prepare()
    if threads.allows_concurrent_callers():
        walker(table)
    else:
        with _SERIALISE:
            walker(table)


@cache
def parallel_walker() -> Callable[[Table], None]:
    """The driver that Numba compiles, once per machine: its own cache holds it."""
    threads.choose_layer()
    from . import parallel

    return parallel.walk
