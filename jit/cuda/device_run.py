# SPDX-License-Identifier: Apache-2.0
"""One run of a plan on a device: its memory there, launches, and copies for what the host does.

A run has the processor's layout twice: in device memory, where values are, and in host memory,
where pages cost nothing until something is copied there for the host to see.  Imports the rest of
jit's back end.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ..library.step_table import (
    AGAIN,
    ARGS,
    COLUMN_TILE,
    FIT,
    HOST,
    KIND,
    NEEDED,
    ROOM,
    ROWS,
    SKIP,
    STOP,
    TARGET,
    WANTED,
)
from ..program.editing import Check
from ..program.tensor_ir import Feed, Read, Value, home
from ..runtime.driver import Flow, Program
from ..runtime.execution import Run, StalePlan, is_held
from ..schedule.bind import Binding, Reserved
from ..schedule.frame import Arena
from ..schedule.steps import HostStep, in_arena
from . import residency
from .cuda_kernel import LIBRARY
from .device import Device, Memory
from .device_plan import DevicePlan, Launch, ProcessorCall, cell_of
from .launching import Extents, extents, extents_of_blocks, extents_of_tiles

_WORD = 8
_FEW = 3  # launches of which the quickest counts


class DeviceArena(Arena):
    """The memory of runs on a device, and its image in host memory."""

    def __init__(self, workers: int, device: Device) -> None:
        super().__init__(workers)
        self.device = device
        self.block: Memory | None = None

    def reserve(self, count: int) -> np.ndarray:
        """At least `count` bytes on both sides."""
        memory = super().reserve(count)
        if self.block is None or self.block.count < count:
            # Before the new one is taken: there may be no room for both.
            self.runs.clear()
            self.block = None
            self.block = Memory(self.device, count + count // 4)
        return memory


class DeviceRun(Run):
    """Memory for one run of a plan at concrete sizes on a device; reused by later runs."""

    plan: DevicePlan

    def __init__(
        self,
        plan: DevicePlan,
        binding: Binding,
        arena: DeviceArena,
        feed_types: Sequence[np.ndarray],
        learn: Callable[[Run, tuple[int, ...]], Binding] | None = None,
        other: Callable[[Run, Binding], Run] | None = None,
    ) -> None:
        self.device = plan.device
        super().__init__(plan, binding, arena, feed_types, learn, other)
        template = plan.template
        assert arena.block is not None
        self.block = arena.block
        self.base = arena.block.address
        # The argument blocks as the device has them.
        self.there = binding.args.copy()
        self.there[template.arena.positions] += self.base
        self.there[template.scratch.positions] = self.base + binding.arena_bytes
        self.blocks = Memory(self.device, max(self.there.nbytes, _WORD))
        self.constants = [self._fixed(position, array) for position, array in template.fixed]
        self.given: dict[int, Memory] = {}
        self.is_sent = False
        self.launches = [self._prepared(row) for row in range(len(plan.rows))]
        self.written = [row.writes if isinstance(row, Launch) else () for row in plan.rows]

    # What the base class prepares for processors.

    def _walked(self, steps: tuple[int, int], arena: Arena) -> Flow:
        return DeviceFlow(self, *steps)

    def _give_away(self, results: Sequence[Value]) -> None:
        """Results are copied from the device in any case."""

    def _reader(self, value: Value) -> Callable[[], Any] | Value:
        # (Variables themselves, and what is no number, are for the base class to hand on.)
        if home(value).cell is not None or home(value) not in self.plan.schedule.slot_of:
            return value
        return lambda: np.array(self._read(value))[()]

    def _plain_calls(self) -> None:
        return None

    def _lay_out(self, binding: Binding) -> bool:
        return False

    def _fixed(self, position: int, array: np.ndarray) -> Memory:
        memory = Memory(self.device, array.nbytes)
        self.device.upload(memory.address, np.ascontiguousarray(array))
        self.there[position] = memory.address
        return memory

    def _prepared(self, row: int) -> Callable[[], None] | None:
        entry = self.plan.rows[row]
        if entry is None:
            return None
        if isinstance(entry, ProcessorCall):
            return lambda: self._on_processor(row, entry)
        sizes = tuple(int(n) for n in self.frame.table[row, ROWS : COLUMN_TILE + 1])
        if sizes[0] <= 0 or sizes[2] <= 0:
            return lambda: None
        computed = self._by_library(row, entry)
        if computed is not None:
            return computed
        shape, sizes = self._extents(entry, sizes)
        words = (self.blocks.address + _WORD * self._start(row), *sizes)
        return self.device.launcher(self.device.function(entry.text), shape, words)

    def _by_library(self, row: int, launch: Launch) -> Callable[[], None] | None:
        """What begins a row that a library of the device computes, if one does."""
        if launch.library is None:
            return None
        words = (ctypes.c_int64 * launch.words).from_buffer(self.there, _WORD * self._start(row))
        return launch.library.prepared(launch.computes, words)

    def _extents(self, launch: Launch, sizes: tuple[int, ...]) -> tuple[Extents, tuple[int, ...]]:
        """Grid and block of a launch, and the numbers that its kernel takes."""
        rows, row_tile, columns, column_tile = sizes
        if launch.text.block is not None:
            return extents_of_blocks(launch.text.block, rows, columns), (rows, columns)
        if launch.text.form != LIBRARY:
            positions = self.binding.numbers[launch.positions]
            return extents(launch.text.form, rows, columns, positions), (rows, columns)
        if launch.is_cut:
            row_tile = 1
        tiles = -(-rows // row_tile) * -(-columns // column_tile)
        # Only so many workers have scratch memory.
        most = self.arena.workers if self.binding.scratch_bytes else tiles
        return extents_of_tiles(tiles, most), (rows, row_tile, columns, column_tile)

    def _start(self, row: int) -> int:
        """The number of the first word of a row's argument block."""
        return int(self.plan.template.steps[row].start)

    # A run.

    def _begin(self, feeds: Sequence[np.ndarray]) -> None:
        self.feeds = feeds = [np.ascontiguousarray(feed).reshape(feed.shape) for feed in feeds]
        if self.has_sizes:
            self.frame.fill_sizes(self.binding)
            for slot in {n for part in self.plan.template.size_arrays for n in part.slots.tolist()}:
                self._send(slot)
        for number, places in self.plan.template.feeds:
            self.there[places] = self._take_feed(number, feeds[number])
        for number, memory in self.staged:
            memory[...] = feeds[number]
        for number, places in self.pointed:
            self.args[places] = feeds[number].ctypes.data
        self._place_variables()
        self.is_sent = False

    def _take_feed(self, number: int, feed: np.ndarray) -> int:
        memory = self.given.get(number)
        if memory is None or memory.count < feed.nbytes:
            memory = self.given[number] = Memory(self.device, feed.nbytes)
        self.device.upload(memory.address, feed)
        return memory.address

    def _place_variables(self) -> None:
        """Sees that the device has the newest contents of all variables, and where."""
        for entry in self.cells:
            cell, _, places = entry
            if not self.plan.traced.still_holds(cell, residency.raw(cell)):
                raise StalePlan(cell.name)
            address = residency.settle(cell, self.device)
            entry[1] = residency.raw(cell)
            if self.there[places[0]] != address:
                self.there[places] = address
                self.is_sent = False

    def _take(self, reserved: Reserved) -> None:
        super()._take(reserved)
        place = slice(reserved.position, reserved.position + reserved.words)
        self.there[place] = self.args[place]
        self.is_sent = False

    def send_arguments(self) -> None:
        """Copies the argument blocks to the device if they have changed."""
        if not self.is_sent:
            self.device.upload(self.blocks.address, self.there)
            self.is_sent = True

    # What the host sees and does.

    def _slot(self, slot: int) -> tuple[np.ndarray, int]:
        """A slot's image in host memory, and its address on the device."""
        return super().memory_of(slot), self.base + self.binding.offsets[slot]

    def _send(self, slot: int) -> None:
        image, address = self._slot(slot)
        self.device.upload(address, image)

    def _fetch(self, slot: int) -> None:
        image, address = self._slot(slot)
        self.device.download(image, address)

    def memory_of(self, slot: int) -> np.ndarray:
        """The bytes of a slot, as they are on the device."""
        self._fetch(slot)
        return super().memory_of(slot)

    def shares_memory(self, other: Run) -> bool:
        """See Run: on the device, too."""
        is_there = isinstance(other, DeviceRun) and other.base == self.base
        return is_there and super().shares_memory(other)

    def take_over(self, before: Run, step: int) -> None:
        """See Run: what was held is copied to the device again."""
        super().take_over(before, step)
        if not self.shares_memory(before):
            for slot, (_, live) in enumerate(self.plan.template.slots):
                if is_held(live, step):
                    self._send(slot)
        for position, words, _, _ in self.plan.template.reserves:
            self.there[position : position + words] = self.args[position : position + words]
        self.is_sent = False

    def _read(self, value: Value) -> Any:
        storage = home(value)
        if storage.cell is None and storage not in self.hosted:
            if isinstance(storage.node, Read) and cell_of(storage) is not None:
                array = residency.peek(storage.node.cell)
                return array if value is storage else array.reshape(self.shape_of(value))
            if storage in self.plan.schedule.slot_of:
                view = self.view(value)
                self.device.download(view, self._address(value))
                return view
        return super()._read(value)

    def _address(self, value: Value) -> int:
        return self.base + self.binding.offsets[self.plan.schedule.slot_of[home(value)]]

    def _look(self, checks: Sequence[tuple[np.ndarray, Check]]) -> None:
        for flag, check in checks:
            if home(check.flag) in self.plan.schedule.slot_of:
                self.device.download(flag, self._address(check.flag))
        super()._look(checks)

    def _host(self, step: HostStep) -> None:
        super()._host(step)
        for value in step.node.outputs:
            storage = home(value)
            if storage in self.plan.schedule.slot_of and storage not in self.hosted:
                self.device.upload(self._address(value), self.view(value))
        if step.node.cells:
            self._place_variables()

    def _point_at_variable(self, entry: list[Any]) -> None:
        """(Of variables that a host operation gave other memory.)"""
        entry[1] = residency.raw(entry[0])

    def _on_processor(self, row: int, call: ProcessorCall) -> None:
        """Runs a kernel of the processor on images of its values."""
        values = {home(value): value for value in call.step.reads}
        for storage in values:
            cell = cell_of(storage)
            if cell is not None:
                places = next(entry[2] for entry in self.cells if entry[0] is cell)
                # (`value` says that the host may have written to it.)
                array = cell.value
                assert array is not None
                self.args[places] = array.ctypes.data
            elif in_arena(storage):
                self._fetch(self.plan.schedule.slot_of[storage])
        Program(self.frame.table[row : row + 1], self.evaluate.threads, self.arena.workers).run()
        for storage in values:
            cell = cell_of(storage)
            if cell is not None:
                self._place_variables()
            elif in_arena(storage) and not isinstance(storage.node, Feed):
                self._send(self.plan.schedule.slot_of[storage])

    def step_seconds(self, feeds: Sequence[np.ndarray]) -> Iterator[float]:
        """The least time of a few launches of every row, on copies of variables; else 0."""
        if self.has_sizes:
            self.frame.fill_sizes(self.binding)
        for number, places in self.plan.template.feeds:
            self.there[places] = self._take_feed(number, np.ascontiguousarray(feeds[number]))
        copies = []
        for cell, _, places in self.cells:
            array = residency.peek(cell)
            copies.append(Memory(self.device, array.nbytes))
            self.device.upload(copies[-1].address, array)
            self.there[places] = copies[-1].address
        self.send_arguments()
        for entry, launch in zip(self.plan.rows, self.launches):
            yield self._least_seconds(launch) if isinstance(entry, Launch) and launch else 0.0

    def _least_seconds(self, launch: Callable[[], None]) -> float:
        least = float("inf")
        for _ in range(_FEW):
            self.device.synchronize()
            start = perf_counter()
            launch()
            self.device.synchronize()
            least = min(least, perf_counter() - start)
        return least


class DeviceFlow(Flow):
    """Rows of a run on a device, walked from Python: launches do not wait, jumps do."""

    __slots__ = ("last", "run_of")

    def __init__(self, run: DeviceRun, first: int, last: int) -> None:
        self.run_of, self.first, self.last = run, first, last
        self.rows = last - first

    def run(self, row: int) -> int:
        """See Flow."""
        run = self.run_of
        while row < self.rows:
            launch = run.launches[self.first + row]
            if launch is not None:
                run.send_arguments()
                launch()
                for cell in run.written[self.first + row]:
                    residency.wrote(cell)
                row += 1
                continue
            words = run.frame.table[self.first + row]
            if self._needs_python(words):
                return row
            kind = words[KIND]
            jumps = kind == AGAIN or (kind == SKIP and self._flag(words) != words[WANTED])
            row = int(words[TARGET]) if jumps else row + 1
        return row

    @property
    def is_paused(self) -> bool:
        """Never: Python sees signals as it walks."""
        return False

    def _needs_python(self, words: np.ndarray) -> bool:
        kind = words[KIND]
        if kind == ROOM:
            record = next(
                record
                for record, _ in self.run_of.stacks.values()
                if record.ctypes.data == self._pointer(words, self.run_of.args)
            )
            return bool(record[NEEDED] > record[FIT])
        return kind == HOST or bool(kind == STOP and self._flag(words))

    def _pointer(self, words: np.ndarray, args: np.ndarray) -> int:
        place = (int(words[ARGS]) - self.run_of.args.ctypes.data) // _WORD
        return int(args[place])

    def _flag(self, words: np.ndarray) -> int:
        found = np.empty(1, np.uint8)
        self.run_of.device.download(found, self._pointer(words, self.run_of.there))
        return int(found[0] != 0)
