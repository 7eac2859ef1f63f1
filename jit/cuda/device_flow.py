# SPDX-License-Identifier: Apache-2.0
"""The rows of a run on a device, walked from Python, and what of them is begun as one.

Between jumps, and what the host does, rows are launches alone: a stretch.  One that has been begun
a few times is recorded, and replayed from then on, which costs about as much as one launch.
Imports what runs on a device are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from ..schedule.steps import Fail
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
        *("_leaves", "cells", "counts", "end", "first", "has_addresses", "launches", "moves"),
        *("played", "replay", "run", "tables"),
    )

    def __init__(self, run: DeviceRun, first: int, end: int) -> None:
        self.run, self.first, self.end = run, first, end
        self._leaves: dict[tuple[int, ...], bool] = {}
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

    def leaves(self, rows: Sequence[int]) -> bool:
        """Whether all that these rows look at is still there when this is done, and nothing that
        outlives the run is changed."""
        key = tuple(rows)
        if key not in self._leaves:
            self._leaves[key] = self._is_apart(key)
        return self._leaves[key]

    def _is_apart(self, rows: Sequence[int]) -> bool:
        run, stops = self.run, self.run.plan.template.stops
        written: list[tuple[int, int]] = []
        for row in range(self.first, self.end):
            places = run.places_written(row)
            if places is None:
                return False
            written += places
        for row in rows:
            stop = stops[row]
            assert isinstance(stop, Fail)
            for begin, end in filter(None, map(run.place_of, stop.check.values)):
                if any(first < end and begin < last for first, last in written):
                    return False
        return True

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
    """Rows of a run on a device, walked from Python: launches do not wait, jumps do.

    What ends a turn if something is wrong is looked at with what begins the next one, if nothing
    that comes between gets in the way: one wait for both.
    """

    __slots__ = ("_flags", "_late", "_stretches", "_targets", "last", "run_of")

    def __init__(self, run: DeviceRun, first: int, last: int) -> None:
        self.run_of, self.first, self.last = run, first, last
        self.rows = last - first
        table = run.frame.table[first:last]
        jumps = (table[:, ADDRESS] == 0) & np.isin(table[:, KIND], (SKIP, AGAIN))
        self._targets = frozenset(table[jumps, TARGET].tolist())
        self._stretches: dict[int, Stretch] = {}
        # What flags hold, by row, while nothing is launched.
        self._flags: dict[int, bool] = {}
        # Rows that stop if something is wrong, at which nobody has looked yet.
        self._late: list[int] = []

    def run(self, row: int) -> int:
        """See Flow."""
        self._flags.clear()
        self._late.clear()
        while row < self.rows:
            is_control = self.run_of.launches[self.first + row] is None
            after = self._after_control(row) if is_control else self._after_launches(row)
            if after < 0:
                return -1 - after
            row = after
        return self._or_failed(row)

    def _or_failed(self, row: int) -> int:
        """A row, or the first of those that nobody has looked at yet, if it has to stop."""
        late, self._late = self._late, []
        if any(number not in self._flags for number in late):
            self._read(late)
        return next((number for number in late if self._flags[number]), row)

    def _after_launches(self, row: int) -> int:
        """The row that comes behind a launch, or several; -1 - that where Python is needed."""
        run = self.run_of
        run.sent.send()
        is_call = isinstance(run.plan.rows[self.first + row], ProcessorCall)
        stretch = None if is_call else self._stretches.get(row) or self._new_stretch(row)
        late = [self.first + number for number in self._late]
        if late and (stretch is None or not stretch.leaves(late)):
            failed = self._or_failed(-1)
            if failed >= 0:
                return -1 - failed
        self._flags.clear()
        if stretch is not None:
            stretch.play()
            return stretch.end - self.first
        launch = run.launches[self.first + row]
        assert launch is not None
        launch()
        return row + 1

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
        """The row that comes behind one that jumps or stops; -1 - that where Python is needed."""
        words = self.run_of.frame.table[self.first + row]
        kind = words[KIND]
        if kind == HOST or (kind == ROOM and self._is_full(words)):
            return -1 - self._or_failed(row)
        if kind == STOP:
            stop = self.run_of.plan.template.stops[self.first + row]
            if row not in self._flags and isinstance(stop, Fail) and stop.is_last:
                self._late.append(row)
            elif self._flag(row):
                return -1 - self._or_failed(row)
        if kind == SKIP:
            holds = self._flag(row)
            failed = self._or_failed(-1)
            if failed >= 0:
                return -1 - failed
            if holds != words[WANTED]:
                return int(words[TARGET])
        return int(words[TARGET]) if kind == AGAIN else row + 1

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
        """A flag on the device; with it come those of the rows behind that look at one, and those
        at which nobody has looked yet."""
        if row not in self._flags:
            run, rows, number = self.run_of, list(self._late), row
            while number < self.rows and run.launches[self.first + number] is None:
                if run.frame.table[self.first + number, KIND] in (SKIP, STOP):
                    rows.append(number)
                number += 1
            self._read(rows)
        return self._flags[row]

    def _read(self, rows: Sequence[int]) -> None:
        """Copies the flags of rows from the device, and waits once."""
        run = self.run_of
        found = np.empty(len(rows), np.uint8)
        pairs = [
            (found[i : i + 1], self._pointer(run.frame.table[self.first + row], run.there))
            for i, row in enumerate(rows)
        ]
        run.device.download_all(pairs)
        self._flags.update(zip(rows, (found != 0).tolist()))
