# SPDX-License-Identifier: Apache-2.0
"""Compiled steps that keep other runs from the variables that they change.

Python does nothing among these steps, so that nobody waits for somebody who waits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ...engine.session.shared_reads import Changing, Moves
from ..library.step_table import AT_TILE
from .driver import Flow, Program, Table
from .variable_places import VariablePlaces


class Change(Changing):
    """Variables that steps change, as a context in which nobody else does.

    look: what is called every tenth of a second, and raises if the run is given up.
    """

    __slots__ = ("look", "moved", "places")

    def __init__(
        self, cells: Collection[Any], places: VariablePlaces, look: Callable[[], object]
    ) -> None:
        super().__init__(*cells, by=places.reader)
        self.places, self.look, self.moved = places, look, Moves.count

    def __enter__(self) -> None:
        super().__enter__()
        if self.moved != Moves.count:
            # What somebody else added must not be lost.
            self.moved = Moves.count
            try:
                self.places.change(self.cells)
            except BaseException:
                self.__exit__()
                raise


class Exclusive:
    """Calls a program's steps while others are kept out."""

    __slots__ = ("change", "program")

    def __init__(self, program: Program, change: Change) -> None:
        self.program, self.change = program, change

    def __call__(self) -> int:
        """Runs the steps to their end, so that there is nothing to go on with."""
        with self.change:
            paused = self.program.call()
            while paused:
                self.change.look()
                paused = self.program.go_on()
        return 0


class ExclusiveFlow(Flow):
    """Steps with jumps; others come in only where Python is needed, or the walk pauses."""

    __slots__ = ("change",)

    def __init__(
        self, rows: Table, first: int, threads: int | None, most: int, change: Change
    ) -> None:
        super().__init__(rows, first, threads, most)
        self.change = change

    def run(self, row: int) -> int:
        """As `Flow.run`; it pauses only between steps."""
        with self.change:
            row = super().run(row)
            while self.is_paused and self._place[AT_TILE]:
                self.change.look()
                row = super().run(-1)
            return row
