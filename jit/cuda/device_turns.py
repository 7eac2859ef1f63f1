# SPDX-License-Identifier: Apache-2.0
"""The turns of a loop that the host can count, begun one behind the other (known_turns.py)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..library.step_table import LATCHED
from ..program.tensor_ir import home
from ..schedule.steps import Fail
from .device import Memory
from .device_plan import Launch
from .device_stacks import latching
from .known_turns import KnownLoop
from .launching import extents_of_tiles
from .stretch import END, Stretch

if TYPE_CHECKING:
    from .device_run import DeviceRun

_WORD = 8
_MOST_EVIDENCE = 1 << 16  # bytes


def turns_of(run: DeviceRun, loop: KnownLoop) -> Turns | None:
    """The turns of a loop; None where errors tell of too much to keep."""
    evidence = sum(count for _, count in _places(run, _checks(run, loop)))
    return Turns(run, loop) if evidence <= _MOST_EVIDENCE else None


class Turns:
    """All turns of a loop, in a run."""

    def __init__(self, run: DeviceRun, loop: KnownLoop) -> None:
        self.run_of, self.loop = run, loop
        self._latch = _Latch(run, loop) if loop.checks else None
        # (What only tells whether there is another turn is known.)
        left = {*loop.checks, *(row for row in loop.rows() if self._is_known(row))}
        rows = [row for row in loop.rows() if row not in left]
        # Behind the last row of a turn, before the test, which may overwrite what is looked at.
        tests = [row for row in rows if row <= loop.test]
        notes = {} if self._latch is None else {(tests or [END])[0]: self._latch.launch}
        self._stretch = Stretch(run, rows, notes)

    def _is_known(self, row: int) -> bool:
        entry, flag = self.run_of.plan.rows[row], home(self.loop.step.flag)
        written = entry.written if isinstance(entry, Launch) else None
        return bool(written) and all(home(value) is flag for value in written or ())

    def run(self) -> int | None:
        """Begins all of them; the row of what was wrong, if something was."""
        run, loop = self.run_of, self.loop
        run.sent.send()
        numbers = loop.numbers(run)
        try:
            while loop.holds(numbers):
                self._stretch.play()
                loop.turn(numbers)
            return None if self._latch is None else self._latch.look()
        except BaseException:
            # (Somebody gave up: what was noted is nobody's.)
            if self._latch is not None:
                self._latch.clear()
            raise


class _Latch:
    """What is noted on the device of what is wrong in a turn: which check, and its evidence."""

    def __init__(self, run: DeviceRun, loop: KnownLoop) -> None:
        self.run_of, self.loop = run, loop
        checks = _checks(run, loop)
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
        self.clear()
        words = self._memory.address, len(flags), len(flags), 1, 1
        function = run.device.function(latching())
        self.launch: Callable[[], None] = run.device.launcher(
            function, extents_of_tiles(1, 1), words
        )

    def clear(self) -> None:
        """Nothing is noted."""
        self.run_of.device.upload(self._memory.address, self._table)

    def look(self) -> int | None:
        """The row of what was wrong first, whose evidence is where it was then."""
        device, noted = self.run_of.device, np.zeros(1, np.int64)
        device.download(noted, self._memory.address + _WORD * (1 + LATCHED))
        if not noted[0]:
            return None
        for kept, address, count in self._copies:
            device.copy_across(address, device, kept, count)
        self.clear()
        return self.loop.checks[int(noted[0]) - 1]


def _checks(run: DeviceRun, loop: KnownLoop) -> list[Fail]:
    stops = [run.plan.template.stops[row] for row in loop.checks]
    return [stop for stop in stops if isinstance(stop, Fail)]


def _places(run: DeviceRun, checks: list[Fail]) -> Iterator[tuple[int, int]]:
    """Where on the device the values of checks are, and how many bytes."""
    for check in checks:
        for value in check.check.values:
            place = run.place_of(value)
            if place is not None:
                begin, end = place
                yield run.base + begin, end - begin
