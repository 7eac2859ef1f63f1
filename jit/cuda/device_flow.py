# SPDX-License-Identifier: Apache-2.0
"""The rows of a run on a device, walked from Python.

Between jumps, and what the host does, rows are launches alone, which are begun together
(stretch.py).  Imports what runs on a device are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from . import known_turns
from .device_plan import Launch, ProcessorCall
from .device_turns import Turns, turns_of
from .stretch import Stretch

if TYPE_CHECKING:
    from .device_run import DeviceRun

_WORD = 8


class DeviceFlow(Flow):
    """Rows of a run on a device, walked from Python: launches do not wait, jumps do.

    What ends a turn if something is wrong is looked at with what begins the next one, if nothing
    that comes between gets in the way: one wait for both.  Where the host knows ahead how many
    turns there are, it begins them all, and waits once behind them.
    """

    __slots__ = ("_flags", "_late", "_stretches", "_targets", "_turns", "last", "run_of")

    def __init__(self, run: DeviceRun, first: int, last: int) -> None:
        self.run_of, self.first, self.last = run, first, last
        self.rows = last - first
        table = run.frame.table[first:last]
        jumps = (table[:, ADDRESS] == 0) & np.isin(table[:, KIND], (SKIP, AGAIN))
        self._targets = frozenset(table[jumps, TARGET].tolist())
        self._stretches: dict[int, tuple[Stretch, int]] = {}  # and the row behind it
        self._turns: dict[int, Turns | None] = {}
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
        stretch, end = (None, 0) if is_call else self._stretch_at(row)
        late = [self.first + number for number in self._late]
        if late and (stretch is None or not stretch.leaves(late)):
            failed = self._or_failed(-1)
            if failed >= 0:
                return -1 - failed
        self._flags.clear()
        if stretch is not None:
            stretch.play()
            return end
        launch = run.launches[self.first + row]
        assert launch is not None
        launch()
        return row + 1

    def _stretch_at(self, row: int) -> tuple[Stretch, int]:
        """From a row to the next that something else leads to, or that is no launch."""
        found = self._stretches.get(row)
        if found is None:
            run, end = self.run_of, row + 1
            while end < self.rows and end not in self._targets:
                number = self.first + end
                is_launch = isinstance(run.plan.rows[number], Launch)
                if not is_launch and run.count_of(number) is None:
                    break
                end += 1
            stretch = Stretch(run, range(self.first + row, self.first + end))
            found = self._stretches[row] = stretch, end
        return found

    def _turns_at(self, row: int) -> Turns | None:
        """The turns of the loop whose test a row is, if the host can count them."""
        if row not in self._turns:
            table, plan = self.run_of.frame.table, self.run_of.plan
            number = self.first + row
            if number not in plan.loops:
                plan.loops[number] = known_turns.find(
                    plan, number, lambda other: self.first + int(table[other, TARGET])
                )
            loop = plan.loops[number]
            self._turns[row] = None if loop is None else turns_of(self.run_of, loop)
        return self._turns[row]

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
            turns = self._turns_at(row)
            if turns is not None:
                return self._after_turns(turns, int(words[TARGET]))
            holds = self._flag(row)
            failed = self._or_failed(-1)
            if failed >= 0:
                return -1 - failed
            if holds != words[WANTED]:
                return int(words[TARGET])
        return int(words[TARGET]) if kind == AGAIN else row + 1

    def _after_turns(self, turns: Turns, target: int) -> int:
        """The row behind all turns of a loop; -1 - that of what was wrong in one."""
        failed = self._or_failed(-1)
        if failed < 0:
            wrong = turns.run()
            failed = -1 if wrong is None else wrong - self.first
        self._flags.clear()
        return target if failed < 0 else -1 - failed

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
