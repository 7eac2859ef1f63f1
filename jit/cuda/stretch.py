# SPDX-License-Identifier: Apache-2.0
"""Launches of a run that are begun as one.

What has been begun a few times is recorded, and replayed from then on, which costs about as much as
one launch.  Imports what runs on a device are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..schedule.steps import Fail
from . import residency
from .device_plan import Launch
from .device_stacks import Counts
from .stack_bundles import Launches

if TYPE_CHECKING:
    from .device_run import DeviceRun

_PLAIN = 2  # times that a stretch is begun launch by launch: sizes that come once are not recorded
LEAST = 3  # launches of a stretch that is worth it
_MOST_RECORDS = 8  # of one stretch, whose addresses change
END = -1  # stands for the row behind the last one


class Stretch:
    """Launches of rows, in order, with nothing else among them.

    more: launches that come before that of a row, or behind all (END).  (What asks for room on a
    stack of the device is answered before they begin.)
    """

    __slots__ = (
        *("_leaves", "cells", "counts", "has_addresses", "launches", "moves", "played", "replay"),
        *("rows", "run", "tables"),
    )

    def __init__(
        self,
        run: DeviceRun,
        rows: Sequence[int],
        more: Mapping[int, Callable[[], None]] = MappingProxyType({}),
    ) -> None:
        self.run, self.rows = run, rows
        self._leaves: dict[tuple[int, ...], bool] = {}
        entries = [run.plan.rows[row] for row in rows]
        found = Launches(run)
        for row in rows:
            if row in more:
                found.put(more[row])
            launch = run.launches[row]
            if launch is not None and launch is not nothing:
                found.add(row, launch)
        if END in more:
            found.put(more[END])
        found.end()
        self.launches, self.tables = found.all, found.tables
        written = [cell for row in rows for cell in run.written[row]]
        self.cells = tuple(dict.fromkeys(written))
        counts = map(run.count_of, rows)
        self.counts = Counts([count for count in counts if count is not None])
        # Kernels find addresses in the argument blocks; libraries are given them when they begin.
        self.has_addresses = any(
            type(entry) is not Launch or entry.library is not None for entry in entries
        )
        self.played = self.moves = 0
        self.replay: Callable[[], None] | None = None

    def play(self) -> None:
        """Begins all, behind what was begun before."""
        self.counts.begin(self.run.device_stacks)
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
        for row in self.rows:
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
