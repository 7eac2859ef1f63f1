# SPDX-License-Identifier: Apache-2.0
"""One run of a plan on a device: its memory there, launches, and copies for what the host does.

A run has the processor's layout twice: in device memory, where values are, and in host memory,
where pages cost nothing until something is copied there for the host to see.  Imports the rest of
jit's back end.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ...engine.memory import recycled_empty
from ..kernel.reference import numpy_dtype
from ..library.step_table import COLUMN_TILE, ROWS
from ..program.editing import Check
from ..program.tensor_ir import Feed, GrowableStack, Read, Value, home
from ..runtime.driver import Flow, Program
from ..runtime.execution import Run, is_held
from ..runtime.variable_places import StalePlan
from ..schedule.argument_blocks import Reserved, cell_of
from ..schedule.bind import Binding
from ..schedule.frame import Arena
from ..schedule.steps import Grow, HostStep, in_arena
from . import residency
from .cuda_kernel import LIBRARY
from .device import Device, Memory
from .device_flow import DeviceFlow
from .device_plan import DevicePlan, Launch, ProcessorCall
from .device_stacks import Count, DeviceStack
from .launching import Extents, extents, extents_of_blocks, extents_of_tiles
from .stretch import nothing

_WORD = 8
_ALIGN = 64  # of what is sent
_SMALL = 1 << 14  # bytes of a feed that is sent along with the argument blocks
_FEW = 3  # launches of which the quickest counts


class DeviceArena(Arena):
    """The memory of runs on a device, its image in host memory, and memory for what is fed."""

    def __init__(self, workers: int, device: Device) -> None:
        super().__init__(workers)
        self.device = device
        self.block: Memory | None = None
        # By the number of a feed; runs take turns.
        self.given: dict[int, Memory] = {}

    def reserve(self, count: int) -> np.ndarray:
        """At least `count` bytes on both sides."""
        memory = super().reserve(count)
        if self.block is None or self.block.count < count:
            # Before the new one is taken: there may be no room for both.
            self.runs.clear()
            self.block = None
            self.block = Memory(self.device, count + count // 4)
        return memory

    def room_for(self, number: int, count: int) -> int:
        """The address of memory for a feed of so many bytes."""
        memory = self.given.get(number)
        if memory is None or memory.count < count:
            self.given.pop(number, None)
            memory = self.given[number] = Memory(self.device, count)
        return memory.address


class _Sent:
    """What a run sends ahead of its kernels: its argument blocks, and behind them small feeds.

    Both lie in one piece of device memory, so that one copy takes them there.
    """

    def __init__(self, device: Device, args: np.ndarray, small: Sequence[np.ndarray]) -> None:
        self.device = device
        starts, count = [], args.nbytes
        for feed in small:
            starts.append(-(-count // _ALIGN) * _ALIGN)
            count = starts[-1] + feed.nbytes
        self.host = np.zeros(max(count, _WORD), np.uint8)
        self.args = self.host[: args.nbytes].view(np.int64)
        self.args[:] = args
        self.memory = Memory(device, len(self.host))
        self.feeds = [
            self.host[at : at + feed.nbytes].view(feed.dtype).reshape(feed.shape)
            for at, feed in zip(starts, small)
        ]
        self.addresses = [self.memory.address + at for at in starts]
        self._first_feed = starts[0] if starts else len(self.host)
        # Does the device have the blocks, and the feeds, as they are here?
        self.has_args = self.has_feeds = False

    def send(self) -> None:
        """Copies what the device does not have yet."""
        if not self.has_args:
            self.device.upload(self.memory.address, self.host)
        elif not self.has_feeds:
            at = self._first_feed
            self.device.upload(self.memory.address + at, self.host[at:])
        self.has_args = self.has_feeds = True


class DeviceRun(Run):
    """Memory for one run of a plan at concrete sizes on a device; reused by later runs."""

    plan: DevicePlan
    arena: DeviceArena

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
        args = binding.args.copy()
        args[template.arena.positions] = binding.starts[template.arena.sources] + self.base
        args[template.scratch.positions] = self.base + binding.arena_bytes
        for position, array in template.fixed:
            args[position] = plan.constant(position, array).address
        small = [n for n, _ in template.feeds if feed_types[n].nbytes <= _SMALL]
        self.sent = _Sent(self.device, args, [feed_types[n] for n in small])
        self.there = self.sent.args
        self.small = dict(zip(small, self.sent.feeds))
        self.large = [(n, places) for n, places in template.feeds if n not in self.small]
        places_of = dict(template.feeds)
        for number, address in zip(small, self.sent.addresses):
            self.there[places_of[number]] = address
        self.device_stacks: dict[GrowableStack, DeviceStack] = {}
        self._place_device_stacks()
        # Counts changes of addresses, but of what the argument blocks themselves are.
        self.moves = 0
        self.copies: list[residency.DeviceCopy | None] = [None] * len(self.cells)
        self.launches = [self._prepared(row) for row in range(len(plan.rows))]
        self.written = [row.writes if isinstance(row, Launch) else () for row in plan.rows]
        self.has_calls = any(isinstance(row, ProcessorCall) for row in plan.rows)
        self._prepare_results()
        # What was copied here for a host step.
        self._seen: dict[Value, np.ndarray] = {}

    def _place_device_stacks(self) -> None:
        rows = self.plan.rows
        used = {row.stack for row in rows if isinstance(row, Launch) and row.stack is not None}
        for place, stack, _ in self.plan.template.stacks:
            if stack in used:
                if stack not in self.device_stacks:
                    record = self.stacks[stack][0]
                    self.device_stacks[stack] = DeviceStack(self.device, record)
                self.there[place] = self.device_stacks[stack].there.address

    def count_of(self, row: int) -> Count | None:
        """What a row does to a stack on the device, if that is something."""
        entry, stop = self.plan.rows[row], self.plan.template.stops.get(row)
        if isinstance(stop, Grow) and stop.stack in self.device_stacks:
            return Count(stop.stack, None)
        if not isinstance(entry, Launch) or entry.stack is None or entry.change is None:
            return None
        return Count(entry.stack, entry.change, int(self.there[self.start_of(row)]))

    def place_of(self, value: Value) -> tuple[int, int] | None:
        """Where in the arena a value lies, and ends; None if it lies elsewhere."""
        slot = self.plan.schedule.slot_of.get(home(value))
        if slot is None:
            return None
        begin = int(self.binding.offsets[slot])
        return begin, begin + int(self.binding.numbers[self.plan.template.slots[slot][0]])

    def places_written(self, row: int) -> list[tuple[int, int]] | None:
        """Where in the arena a row writes to; None if it changes anything else."""
        entry = self.plan.rows[row]
        if entry is None:
            return []
        if not isinstance(entry, Launch) or entry.writes or entry.written is None:
            return None
        places = [self.place_of(value) for value in entry.written]
        return None if None in places else [place for place in places if place is not None]

    def _grow(self, stack: GrowableStack) -> None:
        found = self.device_stacks.get(stack)
        if found is None:
            super()._grow(stack)
        else:
            found.grow()

    def _prepare_results(self) -> None:
        """What comes back at the end: checks' flags, and results that are the device's."""
        slots = self.plan.schedule.slot_of
        self.flags = [
            (flag, self.address_of(check.flag))
            for flag, check in self.checks
            if home(check.flag) in slots
        ]
        self.fetched: list[tuple[int, tuple[int, ...], Any, int]] = []
        self.brought: dict[int, np.ndarray] = {}
        for number, value in enumerate(self.plan.traced.program.fetches):
            if not isinstance(self.results[number], Value):
                place = self.shape_of(value), numpy_dtype(value.dtype), self.address_of(value)
                self.fetched.append((number, *place))
                self.results[number] = partial(self._result, number)
        reads = [value for value in self.results if isinstance(value, Value)]
        self.fetched_cells = [
            cell for value in reads if value.cell is None and (cell := cell_of(value)) is not None
        ]

    # What the base class prepares for processors.

    def _require_native(self) -> None:
        # (To look at the processor takes LLVM, which nothing else here needs.)
        if any(isinstance(row, ProcessorCall) for row in self.plan.rows):
            super()._require_native()

    def _walked(self, steps: tuple[int, int], locked: Collection[Any] | None, arena: Arena) -> Flow:
        return DeviceFlow(self, *steps)

    def _give_away(self, results: Sequence[Value]) -> None:
        """Results are copied from the device in any case."""

    def _reader(self, value: Value) -> Callable[[], Any] | Value:
        # (Variables themselves, and what is no number, are for the base class to hand on.)
        if home(value).cell is not None or home(value) not in self.plan.schedule.slot_of:
            return value
        return lambda: None  # (its place is not known yet)

    def _plain_calls(self) -> None:
        return None

    def _may_hold(self, binding: Binding) -> bool:
        return False

    def _prepared(self, row: int) -> Callable[[], None] | None:
        entry = self.plan.rows[row]
        if entry is None:
            return None
        if isinstance(entry, ProcessorCall):
            return lambda: self._on_processor(row, entry)
        sizes = tuple(int(n) for n in self.frame.table[row, ROWS : COLUMN_TILE + 1])
        if sizes[0] <= 0 or sizes[2] <= 0:
            return nothing
        computed = self._by_library(row, entry)
        if computed is not None:
            return computed
        shape, sizes = self._extents(entry, sizes)
        words = (self.address_of_word(self.start_of(row)), *sizes)
        return self.device.launcher(self.device.function(entry.text), shape, words)

    def _by_library(self, row: int, launch: Launch) -> Callable[[], None] | None:
        """What begins a row that a library of the device computes, if one does."""
        if launch.library is None:
            return None
        words = (ctypes.c_int64 * launch.words).from_buffer(
            self.there.data, _WORD * self.start_of(row)
        )
        return launch.library.prepared(launch.computes, words)

    def _extents(self, launch: Launch, sizes: tuple[int, ...]) -> tuple[Extents, tuple[int, ...]]:
        """Grid and block of a launch, and the numbers that its kernel takes."""
        rows, row_tile, columns, column_tile = sizes
        if launch.text.block is not None:
            return extents_of_blocks(launch.text.block, rows, columns), (rows, columns)
        if launch.text.form != LIBRARY:
            positions = self.binding.numbers[launch.positions]
            return extents(launch.text.form, rows, columns, positions), (rows, columns)
        by_row, by_column = launch.cuts
        row_tile = 1 if by_row else row_tile
        # (Where tiles are not threads, more of them are more work.)
        column_tile = 1 if by_column and self.device.is_parallel else column_tile
        tiles = -(-rows // row_tile) * -(-columns // column_tile)
        # Only so many workers have scratch memory.
        most = self.arena.workers if launch.has_scratch else tiles
        return extents_of_tiles(tiles, most), (rows, row_tile, columns, column_tile)

    def start_of(self, row: int) -> int:
        """The number of the first word of a row's argument block."""
        return int(self.plan.template.steps[row].start)

    def address_of_word(self, number: int) -> int:
        """Where the device has a word of the argument blocks."""
        return self.sent.memory.address + _WORD * number

    # A run.

    def _begin(self, feeds: Sequence[np.ndarray]) -> None:
        self.feeds = feeds = [
            feed if feed.flags.c_contiguous else np.ascontiguousarray(feed) for feed in feeds
        ]
        if self.has_sizes:
            self.frame.fill_sizes(self.binding)
            for slot in {n for part in self.plan.template.size_arrays for n in part.slots.tolist()}:
                self._send(slot)
        self._send_feeds(feeds)
        if self.has_calls:
            for number, memory in self.staged:
                memory[...] = feeds[number]
            for number, places in self.pointed:
                self.args[places] = feeds[number].ctypes.data
        self._place_variables()

    def _send_feeds(self, feeds: Sequence[np.ndarray]) -> None:
        for number, memory in self.small.items():
            memory[...] = feeds[number]
            self.sent.has_feeds = False
        for number, places in self.large:
            feed = feeds[number]
            address = self.arena.room_for(number, feed.nbytes)
            self.device.upload(address, feed)
            self._point(places, address)

    def _point(self, places: np.ndarray, address: int) -> None:
        """Has kernels find something at an address."""
        if self.there[places[0]] != address:
            self.there[places] = address
            self.sent.has_args = False
            self.moves += 1

    def _place_variables(self) -> None:
        """Sees that the device has the newest contents of all variables, and where."""
        copies = self.copies
        for number, entry in enumerate(self.cells):
            copy = copies[number]
            if copy is None or entry[0].resident is not copy.of or not copy.is_current:
                self._place_variable(number, entry)

    def _place_variable(self, number: int, entry: list[Any]) -> None:
        cell, _, places = entry
        if not self.plan.traced.still_holds(cell, residency.raw(cell)):
            raise StalePlan(cell.name)
        copy = self.copies[number] = residency.settle(cell, self.device)
        entry[1] = residency.raw(cell)
        self._point(places, copy.memory.address)

    def _take(self, reserved: Reserved) -> None:
        super()._take(reserved)
        place = slice(reserved.position, reserved.position + reserved.words)
        self.there[place] = self.args[place]
        self.sent.has_args = False

    def _arrive(self) -> None:
        """Copies from the device what is looked at behind the last step, and waits once."""
        pairs = list(self.flags)
        self.brought = {
            number: recycled_empty(shape, dtype) for number, shape, dtype, _ in self.fetched
        }
        pairs += [(self.brought[number], address) for number, *_, address in self.fetched]
        newer = residency.newer(self.fetched_cells, self.device)
        pairs += newer.values()
        if pairs:
            self.device.download_all(pairs)
        for copies in newer:
            copies.newest = None

    def _result(self, number: int) -> np.ndarray:
        return self.brought.pop(number)[()]

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
        if isinstance(before, DeviceRun):
            for stack, mine in self.device_stacks.items():
                if stack in before.device_stacks:
                    mine.take_over(before.device_stacks[stack])
        for position, words, _, _ in self.plan.template.reserves:
            self.there[position : position + words] = self.args[position : position + words]
        self.sent.has_args = False

    def _read(self, value: Value) -> Any:
        if value in self._seen:
            return self._seen[value]
        storage = home(value)
        if storage.cell is None and storage not in self.hosted:
            if isinstance(storage.node, Read) and cell_of(storage) is not None:
                array = residency.peek(storage.node.cell)
                return array if value is storage else array.reshape(self.shape_of(value))
            if storage in self.plan.schedule.slot_of:
                view = self.view(value)
                self.device.download(view, self.address_of(value))
                return view
        return super()._read(value)

    def address_of(self, value: Value) -> int:
        """Where on the device a value of the arena is."""
        return self.base + self.binding.offsets[self.plan.schedule.slot_of[home(value)]]

    def _look(self, checks: Sequence[tuple[np.ndarray, Check]]) -> None:
        # (Those behind the last step have come by then.)
        if checks is not self.checks:
            self.bring([check.flag for _, check in checks])
        super()._look(checks)

    def bring(self, values: Iterable[Value]) -> dict[Value, np.ndarray]:
        """Copies values to the host, as far as they are the device's; how they look there."""
        slots = self.plan.schedule.slot_of
        found = {
            value: self.view(value)
            for value in values
            if home(value).cell is None and home(value) in slots and home(value) not in self.hosted
        }
        if found:
            pairs = [(view, self.address_of(value)) for value, view in found.items()]
            self.device.download_all(pairs)
        return found

    def _host(self, step: HostStep) -> None:
        self._seen = self.bring(step.node.inputs)
        try:
            super()._host(step)
        finally:
            self._seen = {}
        for value in step.node.outputs:
            storage = home(value)
            if storage in self.plan.schedule.slot_of and storage not in self.hosted:
                self.device.upload(self.address_of(value), self.view(value))
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
        self._send_feeds([np.ascontiguousarray(feed).reshape(feed.shape) for feed in feeds])
        copies = []
        for cell, _, places in self.cells:
            array = residency.peek(cell)
            copies.append(Memory(self.device, array.nbytes))
            self.device.upload(copies[-1].address, array)
            self._point(places, copies[-1].address)
        self.sent.send()
        for entry, launch in zip(self.plan.rows, self.launches):
            # (What is done to a stack several times, or out of order, would leave its memory.)
            is_timed = isinstance(entry, Launch) and entry.stack is None
            yield self._least_seconds(launch) if is_timed and launch is not None else 0.0

    def _least_seconds(self, launch: Callable[[], None]) -> float:
        least = float("inf")
        for _ in range(_FEW):
            self.device.synchronize()
            start = perf_counter()
            launch()
            self.device.synchronize()
            least = min(least, perf_counter() - start)
        return least
