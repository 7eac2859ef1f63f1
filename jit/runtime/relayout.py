# SPDX-License-Identifier: Apache-2.0
"""How a run is laid out for other sizes: what its steps read is written anew, where it stands.

Sizes change from run to run, and in a loop that learns some in each turn.  Imports jit's back end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..library.step_table import ROW
from ..program.tensor_ir import Value
from ..schedule.argument_blocks import StepNumbers, Template
from ..schedule.bind import Binding
from ..schedule.size_code import HandOver, address
from .driver import Flow, Program


def is_resized(value: Value, before: Binding, after: Binding) -> bool:
    """Has a value another shape at other sizes?"""
    places = before.template.shapes.get(value, ())
    return any(before.numbers[n] != after.numbers[n] for n in places)


def owners(
    template: Template, segments: Sequence[Any], programs: Iterable[Program]
) -> dict[int, Flow | Program]:
    """What has the tables of compiled steps, by segment: what runs them, or one of the programs."""
    found: dict[int, Flow | Program] = {}
    remaining = iter(programs)
    for place, (steps, walked) in enumerate(zip(template.segments, segments, strict=True)):
        if isinstance(steps, tuple):
            found[place] = walked if isinstance(walked, Flow) else next(remaining)
    return found


class Tables:
    """The arguments and tables of a run, which take over what a binding says."""

    def __init__(
        self, template: Template, args: np.ndarray, owners: Mapping[int, Flow | Program]
    ) -> None:
        """owners: what has the table of a segment."""
        positions = np.concatenate([template.numbers.positions, template.scratch.positions + 1])
        rows = []
        for number, (place, owner) in enumerate(owners.items()):
            first, behind = template.segments[place]  # type: ignore[misc]
            start = address(owner.table)
            for row in range(first, behind):
                if isinstance(template.steps[row], StepNumbers):
                    rows.append((row, start + 8 * ROW * (row - first), number))
        self._hand_over = HandOver(positions, args, rows)
        # By segment, with the number of the table.
        self.programs = {
            place: (number, owner)
            for number, (place, owner) in enumerate(owners.items())
            if isinstance(owner, Program)
        }

    def take(self, binding: Binding) -> dict[int, Program]:
        """Writes a binding's numbers; the programs, by segment, whose calls are others now."""
        cuts = self._hand_over.run(binding.places)
        changed = {}
        for place, (number, program) in self.programs.items():
            is_tiled = number < len(cuts) and cuts[number] > 0
            if is_tiled != program.is_tiled:
                program.refresh(is_tiled)
                changed[place] = program
        return changed
