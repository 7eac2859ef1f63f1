# SPDX-License-Identifier: Apache-2.0
"""Compiled steps that keep other runs from the variables that they change."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from .driver import Program


class Exclusive:
    """Calls a program's steps while it holds the locks of some variables.

    Python does nothing among these steps, so that nobody waits for somebody who waits.
    """

    __slots__ = ("cells", "look", "program")

    def __init__(
        self, program: Program, cells: Collection[Any], look: Callable[[], object]
    ) -> None:
        """look: is called every tenth of a second, and raises if the run is given up."""
        # In one order, whoever else does the same (engine/session/deferred_assign.py).
        self.program, self.cells, self.look = program, sorted(cells, key=id), look

    def __call__(self) -> int:
        """Runs the steps to their end, so that there is nothing to go on with."""
        held = []
        try:
            for cell in self.cells:
                cell.lock.acquire()
                held.append(cell)
            paused = self.program.call()
            while paused:
                self.look()
                paused = self.program.go_on()
        finally:
            for cell in held:
                cell.lock.release()
        return 0
