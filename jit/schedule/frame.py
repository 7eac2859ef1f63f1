# SPDX-License-Identifier: Apache-2.0
"""The memory of runs: arenas, which grow, and frames in them, which have the addresses of one run.

Frames are reused, so a warm run allocates nothing but its results; concurrent runs take different
ones.  Imports jit/schedule/bind.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from ..kernel.reference import numpy_dtype
from ..library.step_table import FIT, HELD, ITEM_BYTES, MEMORY, NEEDED
from ..program.tensor_ir import Value
from .aligned import aligned_empty

if TYPE_CHECKING:
    from .bind import Binding

# Items that a stack has room for at first: so many, if they take no more than so many bytes.  Large
# ones are activations that a loop keeps for its gradient, of which a few turns may be all there is.
_FIRST_ITEMS, _FIRST_BYTES = 32, 1 << 18


def grown(record: Sequence[int] | np.ndarray) -> int:
    """How many items a stack that is full should have room for.

    Twice as many as before: however many are pushed, each is copied about once.
    """
    first = min(_FIRST_ITEMS, _FIRST_BYTES // max(int(record[ITEM_BYTES]), 1))
    return max(2 * int(record[FIT]), first, int(record[NEEDED]), 1)


def grow(entry: list[np.ndarray]) -> None:
    """Doubles a stack's memory, which is zero where nothing has been."""
    record, old = entry
    count, item = int(record[HELD]), int(record[ITEM_BYTES])
    room = grown(record)
    memory = aligned_empty((room * item,), np.uint8)
    memory[: count * item] = old[: count * item]
    memory[count * item :] = 0
    record[MEMORY], record[FIT] = memory.ctypes.data, room
    entry[1] = memory


def resize(entry: list[np.ndarray], item: int) -> None:
    """Has a stack count in items of so many bytes; it holds none yet, or these are of that size."""
    record, memory = entry
    record[ITEM_BYTES], record[FIT] = item, memory.nbytes // max(item, 1)


class Arena:
    """A block of memory that runs at many sizes use in turn; it only grows."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.memory = aligned_empty((0,), np.uint8)
        # What was prepared to run in this block, by binding.
        self.runs: dict[int, Any] = {}
        # By where slots lie, the one of them that goes from sizes to sizes.
        self.spares: WeakValueDictionary[int, Any] = WeakValueDictionary()
        # Did the run that is here give a variable its first value?
        self.fills_variables = False

    def reserve(self, count: int) -> np.ndarray:
        """At least `count` bytes.  A move makes everything that was prepared void."""
        if count > self.memory.nbytes:
            # Runs hold addresses in it.
            self.runs.clear()
            # A quarter more, so that batches which grow by little do not move it each time.
            self.memory = aligned_empty((count + count // 4,), np.uint8)
        return self.memory

    def given_back(self) -> Arena:
        """Itself, after a run.

        What has given variables their first values is another plan when it runs again, and it may
        have taken more memory than all that follows.
        """
        if self.fills_variables:
            self.fills_variables = False
            self.runs.clear()
            self.memory = self.memory[:0].copy()
        return self


class Frame:
    """Argument blocks that point into an arena, for one binding at first."""

    def __init__(self, binding: Binding, arena: Arena) -> None:
        template, self.placement = binding.template, binding.placement
        # Steps run one after the other, so that all can use one piece of scratch memory.
        scratch = binding.scratch_bytes * arena.workers
        self.memory = arena.reserve(binding.arena_bytes + scratch)
        start = self.memory.ctypes.data
        self.args = binding.args.copy()
        self.args[template.arena.positions] = self.placement.starts[template.arena.sources] + start
        self.args[template.scratch.positions] = start + binding.arena_bytes
        self.table = binding.table.copy()
        self.table[:, 1] *= 8
        self.table[:, 1] += self.args.ctypes.data
        # What `fill_sizes` writes for a binding: where to, at which places, and which numbers.
        self._filled: Binding | None = None
        self._sizes: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def fill_sizes(self, binding: Binding) -> None:
        """Writes the tensors whose contents are sizes."""
        if self._filled is not binding:
            self._sizes, self._filled = self._sizes_of(binding), binding
        for numbers, places, sizes in self._sizes:
            numbers[places] = sizes

    def _sizes_of(self, binding: Binding) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        found = []
        for kind, slots, places, sources in binding.template.size_arrays:
            whole = len(self.memory) // kind.itemsize * kind.itemsize
            # (Slots begin at multiples of more than any element takes.)
            at = self.placement.starts[slots] // kind.itemsize + places
            found.append((self.memory[:whole].view(kind), at, binding.values[sources]))
        return found

    def change_sizes(self, before: Binding, after: Binding) -> None:
        """Writes those that have become others."""
        for kind, slots, places, sources in after.template.size_arrays:
            differs = np.flatnonzero(before.values[sources] != after.values[sources])
            if len(differs):
                whole = len(self.memory) // kind.itemsize * kind.itemsize
                at = self.placement.starts[slots] // kind.itemsize + places
                self.memory[:whole].view(kind)[at[differs]] = after.values[sources[differs]]

    def view(self, slot: int, value: Value, shape: Sequence[int]) -> np.ndarray:
        """An arena value as an array, at concrete sizes."""
        dtype = numpy_dtype(value.dtype)
        count = math.prod(shape) * dtype.itemsize
        offset = self.placement.offsets[slot]
        return self.memory[offset : offset + count].view(dtype).reshape(shape)
