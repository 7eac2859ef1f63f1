# SPDX-License-Identifier: Apache-2.0
"""What tells one binding of a plan from another whose slots lie in the same places.

A run that learns a size goes on by the other binding.  In a loop it does so in each turn, and most
turns are alike: what is to be changed is found once for two bindings.  Imports jit's back end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..library.step_table import ARGS
from ..program.tensor_ir import GrowableStack, Value
from ..schedule.bind import Binding

if TYPE_CHECKING:
    from .driver import Table

# Bytes of changes that a run remembers before it forgets them all.
MOST_BYTES = 1 << 24
Written = tuple[np.ndarray, np.ndarray, np.ndarray]  # an array, places in it, what stands there


class Change(NamedTuple):
    """What becomes other when a run goes from one binding to another.

    Both are kept, as changes are known by their addresses.  `rows` are those of step tables, by
    segment; `resized` are the fetches that have another shape, by number; `stacks` have items of
    other sizes, in bytes.
    """

    before: Binding
    after: Binding
    written: list[Written]
    rows: list[tuple[int, np.ndarray, Table]]
    resized: list[int]
    stacks: dict[GrowableStack, int]

    @property
    def nbytes(self) -> int:
        """What remembering it takes, with the binding that it may keep alive."""
        arrays = [self.after.args, self.after.table, self.after.values]
        arrays += [array for _, *pair in self.written for array in pair]
        arrays += [array for _, *pair in self.rows for array in pair]
        return sum(array.nbytes for array in arrays)

    def is_for(self, before: Binding, after: Binding) -> bool:
        """Is it the change from one binding to another?"""
        return self.before is before and self.after is after


def is_resized(value: Value, before: Binding, after: Binding) -> bool:
    """Has a value another shape at other sizes?"""
    places = before.template.shapes.get(value, ())
    return any(before.numbers[n] != after.numbers[n] for n in places)


def change(
    before: Binding,
    after: Binding,
    args: np.ndarray,
    memory: np.ndarray,
    tables: dict[int, Table],
    fetches: Sequence[Value],
) -> Change:
    """What a run's arguments, its memory and its tables (by segment) become."""
    template = before.template
    positions = np.concatenate([template.numbers.positions, template.scratch.positions + 1])
    positions = positions[before.args[positions] != after.args[positions]]
    written = [(args, positions, after.args[positions])]
    for kind, slots, places, sources in template.size_arrays:
        differs = before.values[sources] != after.values[sources]
        whole = memory[: len(memory) // kind.itemsize * kind.itemsize].view(kind)
        # (Slots begin at multiples of more than any element takes.)
        at = after.starts[slots] // kind.itemsize + places
        written.append((whole, at[differs], after.values[sources][differs].astype(kind)))
    return Change(
        before,
        after,
        [each for each in written if len(each[1])],
        _rows(before, after, tables),
        [n for n, value in enumerate(fetches) if is_resized(value, before, after)],
        {
            stack: after.numbers[n]
            for _, stack, n in template.stacks
            if after.numbers[n] != before.numbers[n]
        },
    )


def _rows(
    before: Binding, after: Binding, tables: dict[int, Table]
) -> list[tuple[int, np.ndarray, Table]]:
    changed = np.flatnonzero((after.table != before.table).any(axis=1))
    found = []
    for place, table in tables.items():
        first, behind = before.template.segments[place]  # type: ignore[misc]
        rows = changed[(changed >= first) & (changed < behind)]
        if len(rows):
            # (Where the arguments of a step stand does not change.)
            own, new = rows - first, after.table[rows]
            new[:, ARGS] = table[own, ARGS]
            found.append((place, own, new))
    return found
