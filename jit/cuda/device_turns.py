# SPDX-License-Identifier: Apache-2.0
"""The turns of a loop that the host can count, begun one behind the other (known_turns.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..library.step_table import LATCHED
from ..schedule.steps import Fail
from .device import Memory
from .device_stacks import latching
from .known_turns import KnownLoop
from .launching import extents_of_tiles
from .stretch import Stretch

if TYPE_CHECKING:
    from .device_run import DeviceRun

_WORD = 8


class Turns:
    """All turns of a loop, in a run."""

    def __init__(self, run: DeviceRun, loop: KnownLoop) -> None:
        self.run_of, self.loop = run, loop
        self._latch = _Latch(run, loop) if loop.checks else None
        rows = [row for row in loop.rows() if row not in loop.checks]
        # Behind the last row of a turn, before the test, which may overwrite what is looked at.
        notes = {} if self._latch is None else {loop.first: self._latch.launch}
        self._stretch = Stretch(run, rows, notes)

    def run(self) -> int | None:
        """Begins all of them; the row of what was wrong, if something was."""
        run, loop = self.run_of, self.loop
        run.sent.send()
        numbers = loop.numbers(run)
        while loop.holds(numbers):
            self._stretch.play()
            loop.turn(numbers)
        return None if self._latch is None else self._latch.look()


class _Latch:
    """What is noted on the device of what is wrong in a turn: which check, and its evidence."""

    def __init__(self, run: DeviceRun, loop: KnownLoop) -> None:
        self.run_of, self.loop = run, loop
        stops = [run.plan.template.stops[row] for row in loop.checks]
        checks = [stop for stop in stops if isinstance(stop, Fail)]
        self._evidence = list(dict.fromkeys(_places(run, checks)))
        size = sum(count for _, count in self._evidence)
        flags = [run.address_of(check.check.flag) for check in checks]
        head = [0, len(self._evidence), *flags]
        at = _WORD * (1 + len(head) + 3 * len(self._evidence))
        self._memory = Memory(run.device, at + size)
        table = [self._memory.address + _WORD, *head]
        self._copies: list[tuple[int, int, int]] = []
        for address, count in self._evidence:
            self._copies.append((self._memory.address + at, address, count))
            table += self._copies[-1]
            at += count
        self._table = np.array(table, np.int64)
        run.device.upload(self._memory.address, self._table)
        words = self._memory.address, len(flags), len(flags), 1, 1
        function = run.device.function(latching())
        self.launch: Callable[[], None] = run.device.launcher(
            function, extents_of_tiles(1, 1), words
        )

    def look(self) -> int | None:
        """The row of what was wrong first, whose evidence is where it was then."""
        device, noted = self.run_of.device, np.zeros(1, np.int64)
        device.download(noted, self._memory.address + _WORD * (1 + LATCHED))
        if not noted[0]:
            return None
        for kept, address, count in self._copies:
            device.copy_across(address, device, kept, count)
        device.upload(self._memory.address, self._table)
        return self.loop.checks[int(noted[0]) - 1]


def _places(run: DeviceRun, checks: list[Fail]) -> Iterator[tuple[int, int]]:
    """Where on the device the values of checks are, and how many bytes."""
    for check in checks:
        for value in check.check.values:
            place = run.place_of(value)
            if place is not None:
                begin, end = place
                yield run.base + begin, end - begin
