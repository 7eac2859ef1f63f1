# SPDX-License-Identifier: Apache-2.0
"""What a run does to its stacks side by side, as two launches: one copies items, one counts them.

A turn of a loop keeps a dozen values, and each of them alone takes two launches, which is what
loops over short sequences wait for.  Kernels find in a table on the device the argument blocks that
rows have anyway.  Nothing is moved past what is no stack's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from ...engine.record_class import record
from ..library.stacks import WORD
from . import device_stacks
from .cuda_kernel import KernelText
from .device import Memory
from .device_plan import Launch
from .launching import extents_of_tiles

if TYPE_CHECKING:
    from .device_run import DeviceRun

_MOST_BYTES = 1 << 20  # of an item: what is longer is worth a launch of its own
_EMPTIED = -(1 << 62)  # items that a stack has more, when it has none
# What rows of these kernels do: of the first, whether they put something on a stack; of the
# second, how many items a stack has more, for their parameter.
_PUTS = {"stack_put": True, "stack_look": False}
_CHANGES: dict[str, Callable[[int], int]] = {
    "stack_clear": lambda count: _EMPTIED,
    "stack_added": lambda count: count,
    "stack_taken": lambda count: -count,
}
# Words of the argument blocks of the first (jit/library/stacks_kernels.py).
_VALUE, _BYTES = 0, 2


@record
class Bundle:
    """Neighbours among rows that may be done at once: what is copied, and counted behind that.

    alone: what would begin them one by one.  moves, changes: rows of the tables.  spans: the
    memory of values, and whether it is written to.
    """

    alone: list[Callable[[], None]] = field(default_factory=list)
    moves: list[tuple[int, int, bool]] = field(default_factory=list)
    changes: dict[int, int] = field(default_factory=dict)
    spans: list[tuple[int, int, bool]] = field(default_factory=list)
    puts: dict[int, bool] = field(default_factory=dict)

    def move(self, block: int, record: int, value: int, count: int, puts: bool) -> bool:
        """Takes a row that copies `count` bytes; whether it can."""
        written = not puts
        if (
            count > _MOST_BYTES
            or self.puts.setdefault(record, puts) != puts
            or any(
                (written or other) and value < end and begin < value + count
                for begin, end, other in self.spans
            )
        ):
            return False
        self.moves.append((block, self.changes.get(record, 0), puts))
        self.spans.append((value, value + count, written))
        return True

    def change(self, record: int, more: int) -> bool:
        """Takes a row that counts; whether it can."""
        before = self.changes.get(record, 0)
        # (Numbers of items end at none on their way down, so that up and down are no sum.)
        if before * more < 0 or before <= _EMPTIED or (before and more <= _EMPTIED):
            return False
        self.changes[record] = before + more
        return True


class Launches:
    """Launches of a run in order, neighbours that use stacks as bundles.

    tables: memory that they need as long as they are begun.
    """

    def __init__(self, run: DeviceRun) -> None:
        self.run, self.tables = run, list[Memory]()
        self.all: list[Callable[[], None]] = []
        self._bundle = Bundle()

    def add(self, row: int, launch: Callable[[], None]) -> None:
        """Adds what begins a row."""
        entry = self.run.plan.rows[row]
        is_stacks = isinstance(entry, Launch) and entry.stack is not None
        if is_stacks and not self._take(row):
            self.end()
            is_stacks = self._take(row)
        if is_stacks:
            self._bundle.alone.append(launch)
        else:
            self.put(launch)

    def put(self, launch: Callable[[], None]) -> None:
        """Adds a launch that uses no stack."""
        self.end()
        self.all.append(launch)

    def _take(self, row: int) -> bool:
        """Whether a row could join the bundle."""
        run = self.run
        entry, start = run.plan.rows[row], run.start_of(row)
        assert isinstance(entry, Launch)
        words = run.there[start:]
        record = int(words[entry.words])
        puts, change = _PUTS.get(entry.name), _CHANGES.get(entry.name)
        if puts is not None:
            block, value, count = run.address_of_word(start), int(words[_VALUE]), int(words[_BYTES])
            return self._bundle.move(block, record, value, count, puts)
        return change is not None and self._bundle.change(record, change(int(words[0])))

    def end(self) -> None:
        """Adds what is side by side; what comes next is not."""
        found, self._bundle = self._bundle, Bundle()
        made = bool(found.moves) + bool(found.changes)
        if made >= len(found.alone):
            self.all += found.alone
            return
        moves, changes = device_stacks.bundled()
        if found.moves:
            most = max(end - begin for begin, end, _ in found.spans)
            self._begin(moves, found.moves, max(most, 1))
        if found.changes:
            self._begin(changes, found.changes.items(), 1)

    def _begin(self, text: KernelText, rows: Iterable[tuple[int, ...]], wide: int) -> None:
        """Adds the launch of a kernel over the rows of a table and so many bytes."""
        device = self.run.device
        table = np.array(list(rows), np.int64)
        memory = Memory(device, 8 + table.nbytes)
        self.tables.append(memory)
        # The argument block is the address of the table, which lies behind it.
        whole = np.concatenate([[memory.address + 8], table.reshape(-1)]).astype(np.int64)
        device.upload(memory.address, whole)
        tile = WORD if device.is_parallel else wide
        tiles = len(table) * -(-wide // tile)
        extents = extents_of_tiles(tiles, tiles)
        words = (memory.address, len(table), 1, wide, tile)
        self.all.append(device.launcher(device.function(text), extents, words))
