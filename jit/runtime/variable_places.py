# SPDX-License-Identifier: Apache-2.0
"""Where the kernels of a run find variables, and that what they read stays what it is.

Imports the engine and argument blocks.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.memory import address_of
from ...engine.session.shared_reads import Moves, Reader

if TYPE_CHECKING:
    from ...engine.session.state import VariableStorage
    from ..trace.segment import Traced
    from .plan import Plan


class StalePlan(Exception):
    """A variable changed its shape: the plan no longer fits."""


class VariablePlaces:
    """For each variable of a plan its array, as it was last seen, and where its address goes."""

    __slots__ = ("args", "entries", "first_reads", "reader", "traced")

    def __init__(self, plan: Plan, args: np.ndarray) -> None:
        template = plan.template
        self.traced: Traced = plan.traced
        self.args = args
        self.entries: list[list[Any]] = [[cell, None, places] for cell, places in template.cells]
        # What begins to read which resource variables; of references nothing is promised.
        self.first_reads = template.first_reads
        cells = [cell for cells in template.first_reads.values() for cell in cells]
        self.reader = Reader(cells) if cells else None

    def begin(self) -> None:
        """Has kernels read what variables hold now."""
        if self.reader is not None:
            self.reader.look(self.reader.cells)
        # Assignments of the same shape keep the array, so its identity stands for address, shape
        # and dtype.
        for entry in self.entries:
            if entry[0].value is not entry[1]:
                self.point(entry)
        if self.reader is not None and self.reader.kept:
            self._follow(self.reader.cells)

    def end(self) -> None:
        """Nothing is read any more."""
        if self.reader is not None:
            self.reader.end()
            self.reader.kept.clear()

    def point(self, entry: list[Any]) -> None:
        """Has kernels find a variable where it is now."""
        self._point(entry, entry[0].read())

    def wait_over(self, place: int) -> None:
        """What is read for the first time behind a segment, which may have waited, is read now."""
        if self.reader is None or self.reader.moved in (Moves.count, -1):
            return
        later = {c for first, cells in self.first_reads.items() if first > place for c in cells}
        self.reader.look(later)
        self._follow(later)

    def change(self, cells: Collection[VariableStorage]) -> None:
        """Has kernels change variables where they are, which others may have given other memory.

        Called by who has their locks.
        """
        if self.reader is not None:
            for cell in cells:
                self.reader.kept.pop(cell, None)
        for entry in self.entries:
            if entry[0] in cells and entry[0].value is not entry[1]:
                self.point(entry)

    def array_of(self, cell: VariableStorage) -> np.ndarray:
        """What kernels see of a variable, or would; not what others assign meanwhile."""
        if self.reader is not None and cell in self.reader.cells:
            for entry in self.entries:
                if entry[0] is cell and entry[1] is not None:
                    return entry[1]
        if not cell.is_resource:
            return cell.read()
        with cell.lock:
            return cell.read().copy()

    def _follow(self, cells: Collection[VariableStorage]) -> None:
        assert self.reader is not None
        for entry in self.entries:
            if entry[0] in cells:
                array = self.reader.array_of(entry[0])
                if array is not entry[1]:
                    self._point(entry, array)

    def _point(self, entry: list[Any], array: np.ndarray) -> None:
        if not self.traced.still_holds(entry[0], array):
            raise StalePlan(entry[0].name)
        self.args[entry[2]] = address_of(array)
        entry[1] = array
