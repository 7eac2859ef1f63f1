# SPDX-License-Identifier: Apache-2.0
"""Binding: a plan meets concrete sizes and becomes tables of numbers that the driver walks.

A `Binding` holds what is common to all runs at some sizes; jit/schedule/frame.py has the memory of
one run.  Imports the rest of jit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...engine.record_class import record
from .. import target
from ..library.binding_kernels import BOUND, COLUMN_UNIT, PARALLEL_FROM, STEP_WORDS, TILE
from ..library.step_table import COLUMN_TILE, ROWS
from .argument_blocks import ControlNumbers, StepNumbers, Template
from .placing import ALIGN, place
from .size_code import Binder, SizeCode, Written, address

# A placement is for sizes that take a part of it, this one at least, so that a run at small sizes
# does not ask for the memory of one at large ones; but what is small serves whatever is smaller.
_ROOMY, _SMALL = 4, 1 << 16
# So often a plan is bound by Python, in a fraction of a millisecond, before code is made that does
# so in some microseconds: to make it takes as long as several bindings.
_PATIENCE = 3


@record(eq=False, slots=True)
class Placement:
    """Where slots lie, which do for all sizes for which they have room."""

    offsets: list[int]
    starts: np.ndarray  # the offsets, as a vector
    room: np.ndarray  # the bytes that each slot has
    total: int  # the bytes of all together

    def has_room(self, counts: np.ndarray) -> bool:
        """Is there room for slots of so many bytes each?"""
        return bool((counts <= self.room).all())

    def is_roomy(self, count: int) -> bool:
        """Is it many times what slots of so many bytes in all need?"""
        return self.total > _ROOMY * count + _SMALL


class Binding:
    """A plan at concrete sizes: finished numbers, missing only the addresses of one run."""

    __slots__ = (
        *("args", "counts", "cut", "placement", "places", "scratch_bytes", "symbols", "table"),
        *("template", "total", "uses", "values", "_numbers"),
    )

    def __init__(self, template: Template, symbols: tuple[int, ...]) -> None:
        self.template, self.symbols = template, symbols
        # (Of the arguments those are missing that depend on where slots lie.)
        found = _written(template, symbols)
        self.values, self.counts, self.args, self.table, self.places, *rest = found
        self.scratch_bytes, self.cut, self.total = rest
        self.placement: Placement = _NOWHERE
        # How often a run for other sizes was laid out for it.
        self.uses = 0
        self._numbers: list[int] | None = None

    @property
    def numbers(self) -> list[int]:
        """The numbers, as Python's own."""
        if self._numbers is None:
            self._numbers = self.values.tolist()
        return self._numbers

    @property
    def offsets(self) -> list[int]:
        """Where slots lie."""
        return self.placement.offsets

    @property
    def starts(self) -> np.ndarray:
        """Where slots lie, as a vector."""
        return self.placement.starts

    @property
    def arena_bytes(self) -> int:
        """The bytes of all slots together."""
        return self.placement.total


_NOWHERE = Placement([], np.empty(0, np.int64), np.empty(0, np.int64), 0)


def bind(
    template: Template,
    symbols: Sequence[int],
    like: Placement | None = None,
    most: Sequence[int] | None = None,
) -> Binding:
    """A plan at the given values of its symbols; see `computed` and `settle`."""
    binding = computed(template, symbols)
    settle(binding, like, most)
    return binding


def computed(template: Template, symbols: Sequence[int]) -> Binding:
    """Every number of a plan for the given values of its symbols, whose slots lie nowhere yet."""
    return Binding(template, tuple(symbols))


def settle(
    binding: Binding, like: Placement | None = None, most: Sequence[int] | None = None
) -> None:
    """Says where the slots of a binding lie.

    like: where they lay; if they have room enough they stay there, so that a run can go on in the
    memory of another.  most: values of the symbols for which slots are given room if they have to
    be placed; none gets less than it has there.
    """
    if like is None or not like.has_room(binding.counts):
        template = binding.template
        room = binding.counts if most is None else _roomy(template, binding.counts, most)
        if like is not None:
            # Sizes that vary each on its own would else outgrow their slots in turns, for ever.
            room = np.maximum(room, like.room)
        live = (steps for _, steps in template.slots)
        offsets, total = place(list(zip(room.tolist(), live, strict=True)))
        like = Placement(offsets, np.array(offsets, np.int64), room, total)
    binding.placement = like


def _roomy(template: Template, counts: np.ndarray, symbols: Sequence[int]) -> np.ndarray:
    """The bytes that slots need for some symbols, and no fewer than `counts`."""
    numbers = np.array(template.compute(*symbols), np.int64)
    return np.maximum(counts, numbers[template.slot_bytes])


def _written(template: Template, symbols: Sequence[int]) -> Written:
    """All that follows from the symbols."""
    template.bound += 1
    if template.may_compile and template.bound > _PATIENCE:
        if template.binder is None:
            template.binder = _binder(template)
            template.may_compile = template.binder is not None
        found = template.binder and template.binder.run(symbols)
        if found:
            return found
    numbers = template.compute(*symbols)
    values = np.array(numbers, np.int64)
    args, table = template.args.copy(), template.table.copy()
    args[template.numbers.positions] = values[template.numbers.sources]
    scratch = -(-values[template.scratch.sources] // ALIGN) * ALIGN
    args[template.scratch.positions + 1] = scratch
    cut = 0
    for row, step in enumerate(template.steps):
        if isinstance(step, StepNumbers):
            extents = _extents(step, numbers)
            table[row, ROWS : COLUMN_TILE + 1] = extents
            cut += extents[0] > extents[1] or extents[2] > extents[3]
    # (Sizes that a run is still to learn are guesses, and what is made of them may be negative.)
    counts = np.maximum(values[template.slot_bytes], 0)
    places, most = (address(args), address(table)), int(scratch.max(initial=0))
    return Written(values, counts, args, table, places, most, int(cut), int(counts.sum()))


def _extents(step: StepNumbers, numbers: Sequence[int]) -> tuple[int, int, int, int]:
    """How many rows and columns a step has, each with how many of them are one tile."""
    rows, columns = numbers[step.rows], numbers[step.columns]
    if step.row_tile is not None and step.col_tile is not None:
        return rows, max(numbers[step.row_tile], 1), columns, max(numbers[step.col_tile], 1)
    row_tile, col_tile = tiles(rows, columns, numbers[step.positions] * step.cost, step.together)
    return rows, row_tile, columns, col_tile


def tiles(rows: int, columns: int, work: float, together: int) -> tuple[int, int]:
    """How a kernel's rows and columns are cut: by size alone, never by the number of threads.

    together: rows that a tile had better have; 0 where columns are not cut.
    """
    if work < PARALLEL_FROM or rows <= 0 or columns <= 0:
        return max(rows, 1), max(columns, 1)
    pieces = max(int(work / TILE), 1)
    # Whole rows as long as there are enough of them: a row is read along memory.
    row_tile = -(-rows // min(pieces, rows))
    if together > 1:
        row_tile = max(row_tile // together, 1) * together
    left = pieces // -(-rows // row_tile)
    if not together or left < 2:
        return row_tile, max(columns, 1)
    col_tile = -(-columns // left)
    return row_tile, -(-col_tile // COLUMN_UNIT) * COLUMN_UNIT


def _binder(template: Template) -> Binder | None:
    """Code that binds a plan; None where it could not run here, or its numbers are too large."""
    if target.lacking(target.current()):
        return None
    code = SizeCode(template.names, template.texts)
    if any(abs(number) >= BOUND for number in code.constants):
        return None
    steps, costs = [], []
    for row, step in enumerate(template.steps):
        if not isinstance(step, ControlNumbers):
            cut = [-1 if tile is None else tile for tile in (step.row_tile, step.col_tile)]
            steps.append((row, step.rows, step.columns, step.positions, *cut, step.together))
            costs.append(step.cost)
    return Binder(
        code,
        (template.args, template.table),
        (template.numbers.positions, template.numbers.sources),
        (template.scratch.positions, template.scratch.sources),
        (np.array(steps, np.int64).reshape(-1, STEP_WORDS), np.array(costs, np.float64)),
        template.slot_bytes,
    )
