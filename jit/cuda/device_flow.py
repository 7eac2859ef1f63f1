# SPDX-License-Identifier: Apache-2.0
"""The rows of a run on a device, walked from Python, and what of them is begun as one.

Between jumps, and what the host does, rows are launches alone: a stretch.  One that has been begun
a few times is recorded, and replayed from then on, which costs about as much as one launch.
Imports what runs on a device are made of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..library.step_table import (
    ADDRESS,
    AGAIN,
    ARGS,
    FIT,
    HOST,
    KIND,
    NEEDED,
    ROOM,
    SKIP,
    STOP,
    TARGET,
    WANTED,
)
from ..runtime.driver import Flow
from . import device_stacks, residency
from .device_plan import Launch, ProcessorCall
from .stack_bundles import Launches

if TYPE_CHECKING:
    from .device_run import DeviceRun

_WORD = 8
_PLAIN = 2  # times that a stretch is begun launch by launch: sizes that come once are not recorded
LEAST = 3  # launches of a stretch that is worth it
_MOST_RECORDS = 8  # of one stretch, whose addresses change


class Stretch:
    """Launches between one row and another (`end`, excluded), with nothing else among them.

    (What asks for room on a stack of the device is answered before they begin.)
    """

    __slots__ = (
        *("cells", "counts", "end", "has_addresses", "launches", "moves", "played", "replay"),
        *("run", "tables"),
    )

    def __init__(self, run: DeviceRun, first: int, end: int) -> None:
        self.run, self.end = run, end
        entries = run.plan.rows[first:end]
        found = Launches(run)
        for row in range(first, end):
            launch = run.launches[row]
            if launch is not None and launch is not nothing:
                found.add(row, launch)
        found.end()
        self.launches, self.tables = found.all, found.tables
        written = [cell for row in range(first, end) for cell in run.written[row]]
        self.cells = tuple(dict.fromkeys(written))
        counts = map(run.count_of, range(first, end))
        self.counts = [count for count in counts if count is not None]
        # Kernels find addresses in the argument blocks; libraries are given them when they begin.
        self.has_addresses = any(
            type(entry) is not Launch or entry.library is not None for entry in entries
        )
        self.played = self.moves = 0
        self.replay: Callable[[], None] | None = None

    def play(self) -> None:
        """Begins all, behind what was begun before."""
        if self.counts:
            device_stacks.begin(self.run.device_stacks, self.counts)
        begin = self._recorded() or self._one_by_one
        begin()
        for cell in self.cells:
            residency.wrote(cell, self.run.device)

    def _recorded(self) -> Callable[[], None] | None:
        """What replays the launches, if they have been recorded, or are to be by now."""
        run = self.run
        if self.replay is not None and (not self.has_addresses or self.moves == run.moves):
            return self.replay
        self.replay = None
        self.played += 1
        if len(self.launches) >= LEAST and _PLAIN < self.played <= _PLAIN + _MOST_RECORDS:
            self.moves = run.moves
            self.replay = run.device.recorded(self.launches)
            if self.replay is None:
                self.played += _MOST_RECORDS  # nor will it be the next time
        return self.replay

    def _one_by_one(self) -> None:
        with self.run.device.issuing:
            for launch in self.launches:
                launch()


def nothing() -> None:
    """The launch of a kernel over no element."""


class DeviceFlow(Flow):
    """Rows of a run on a device, walked from Python: launches do not wait, jumps do."""

    __slots__ = ("_flags", "_stretches", "_targets", "last", "run_of")

    def __init__(self, run: DeviceRun, first: int, last: int) -> None:
        self.run_of, self.first, self.last = run, first, last
        self.rows = last - first
        table = run.frame.table[first:last]
        jumps = (table[:, ADDRESS] == 0) & np.isin(table[:, KIND], (SKIP, AGAIN))
        self._targets = frozenset(table[jumps, TARGET].tolist())
        self._stretches: dict[int, Stretch] = {}
        # What flags hold, by row, while nothing is launched.
        self._flags: dict[int, bool] = {}

    def run(self, row: int) -> int:
        """See Flow."""
        run = self.run_of
        self._flags.clear()
        while row < self.rows:
            launch = run.launches[self.first + row]
            if launch is None:
                after = self._after_control(row)
                if after < 0:
                    return row
                row = after
                continue
            run.sent.send()
            self._flags.clear()
            if isinstance(run.plan.rows[self.first + row], ProcessorCall):
                launch()
                row += 1
                continue
            stretch = self._stretches.get(row) or self._new_stretch(row)
            stretch.play()
            row = stretch.end - self.first
        return row

    def _new_stretch(self, row: int) -> Stretch:
        """From a row to the next that something else leads to, or that is no launch."""
        run, end = self.run_of, row + 1
        while end < self.rows and end not in self._targets:
            number = self.first + end
            is_launch = isinstance(run.plan.rows[number], Launch)
            if not is_launch and run.count_of(number) is None:
                break
            end += 1
        found = self._stretches[row] = Stretch(run, self.first + row, self.first + end)
        return found

    @property
    def is_paused(self) -> bool:
        """Never: Python sees signals as it walks."""
        return False

    def _after_control(self, row: int) -> int:
        """The row that comes behind one that jumps or stops; -1 where Python is needed."""
        words = self.run_of.frame.table[self.first + row]
        kind = words[KIND]
        if kind == HOST or (kind == ROOM and self._is_full(words)):
            return -1
        if kind == STOP and self._flag(row):
            return -1
        if kind == AGAIN or (kind == SKIP and self._flag(row) != words[WANTED]):
            return int(words[TARGET])
        return row + 1

    def _is_full(self, words: np.ndarray) -> bool:
        """Whether a stack has no room for what is to be pushed."""
        record = next(
            record
            for record, _ in self.run_of.stacks.values()
            if record.ctypes.data == self._pointer(words, self.run_of.args)
        )
        return bool(record[NEEDED] > record[FIT])

    def _pointer(self, words: np.ndarray, args: np.ndarray) -> int:
        place = (int(words[ARGS]) - self.run_of.args.ctypes.data) // _WORD
        return int(args[place])

    def _flag(self, row: int) -> bool:
        """A flag on the device; with it come those of the rows behind that look at one, too."""
        if row not in self._flags:
            run = self.run_of
            table = run.frame.table[self.first : self.last]
            rows = []
            while row < self.rows and run.launches[self.first + row] is None:
                if table[row, KIND] in (SKIP, STOP):
                    rows.append(row)
                row += 1
            found = np.empty(len(rows), np.uint8)
            pairs = [
                (found[i : i + 1], self._pointer(table[number], run.there))
                for i, number in enumerate(rows)
            ]
            run.device.download_all(pairs)
            self._flags.update(zip(rows, (found != 0).tolist()))
            row = rows[0]
        return self._flags[row]
