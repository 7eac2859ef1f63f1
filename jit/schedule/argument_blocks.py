# SPDX-License-Identifier: Apache-2.0
"""The argument blocks of a plan's steps, with every number still symbolic.

jit/schedule/bind.py fills in numbers.  Imports the rest of jit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ...engine.record_class import record
from ...engine.session.state import VariableStorage
from ..kernel import size_scope, sizes
from ..kernel.grain import rows_together
from ..kernel.ir import Kernel
from ..kernel.reference import numpy_dtype
from ..kernel.sizes import AnySize
from ..library.step_table import AGAIN, HOST, ROOM, ROW, SKIP, STOP
from ..program.editing import Program
from ..program.tensor_ir import Call, Constant, Feed, GrowableStack, Read, Sizes, Value, home
from .aligned import aligned
from .exclusive import exclusive_cells
from .size_code import Binder
from .steps import (
    Again,
    CallStep,
    Control,
    Draw,
    Fail,
    Grow,
    HostStep,
    KernelStep,
    Label,
    Learn,
    Schedule,
    Skip,
    byte_size,
    in_arena,
)

# What Python does among rows that jump.
Stop = HostStep | Fail | Grow | Draw | Learn


class Places:
    """Positions in the argument array, and for each the number of what goes there."""

    def __init__(self, pairs: Sequence[tuple[int, int]]) -> None:
        table = np.array(pairs, np.int64).reshape(-1, 2)
        self.positions, self.sources = table[:, 0].copy(), table[:, 1].copy()

    @classmethod
    def of(cls, positions: np.ndarray, sources: np.ndarray) -> Places:
        """Copies of both."""
        places = cls.__new__(cls)
        places.positions, places.sources = positions.copy(), sources.copy()
        return places


class Reserved(NamedTuple):
    """Where in the argument array random numbers' beginnings stand."""

    position: int
    words: int
    reserve: Any  # a PhiloxReservation (jit/library/random.py)
    size: int  # the number in `compute` of how many are drawn


class SizeArrays(NamedTuple):
    """The tensors of one dtype whose contents are sizes, element by element."""

    dtype: np.dtype
    slots: np.ndarray
    places: np.ndarray  # in the slot
    sources: np.ndarray  # numbers in `compute`


@record(slots=True)
class Template:
    """The argument blocks of a plan's native steps with every number still symbolic.

    `numbers` are all symbolic sizes in one tuple, computed by one generated function; positions
    say where they go.  Pointers are filled in by kind: arena slots, feeds, variables, constants.
    """

    compute: Callable[..., tuple[int, ...]]
    args: np.ndarray  # the argument array with what never changes: addresses and literals
    numbers: Places  # of values of `compute`
    arena: Places  # of slots
    feeds: list[tuple[int, np.ndarray]]  # feed number, its positions
    cells: list[tuple[Any, np.ndarray]]  # variable, its positions
    reserves: list[Reserved]  # what every run takes once
    draws: dict[Call, Reserved]  # what is taken whenever a step runs
    scratch: Places  # of values of `compute`, which are bytes per worker
    stacks: list[tuple[int, GrowableStack, int]]  # position of a record, stack, number of its bytes
    steps: list[StepNumbers | ControlNumbers]
    slots: list[tuple[int, int]]  # number in `compute` with a slot's bytes; steps that need it
    slot_bytes: np.ndarray  # the numbers in `compute` alone
    size_arrays: list[SizeArrays]
    # Ranges of table rows, and between them what Python does.
    segments: list[tuple[int, int] | HostStep | Fail]
    locks: dict[int, frozenset[Any]]  # by segment: the variables that others may not change
    # By segment: the resource variables that no segment before it reads or changes.
    first_reads: dict[int, frozenset[Any]]
    stops: dict[int, Stop]  # by row: what Python does there, inside of loops
    shapes: dict[Value, list[int]]  # per value that is read from Python, numbers in `compute`
    contents: dict[Value, list[int]]  # per value of sizes that is read from Python, likewise
    fixed: list[tuple[int, np.ndarray]]  # position of the address of a constant, and the constant
    # Segments of the host that may give variables memory, and their inputs that are of no more use.
    gifts: list[tuple[int, int]]
    table: np.ndarray  # the rows of all steps, without how much there is to do
    names: list[str]  # of the symbols
    texts: list[str]  # the expressions in `compute`
    # How often it was bound to sizes, and what does that once it has been often.
    bound: int = 0
    binder: Binder | None = None
    may_compile: bool = True


@record(slots=True)
class StepNumbers:
    """Where in `compute`'s tuple a step's extents are, and what it costs."""

    address: int
    start: int  # of its argument block
    rows: int
    columns: int
    positions: int
    row_tile: int | None  # given by library kernels; estimated for generated ones
    col_tile: int | None
    cost: float
    together: int  # rows that a tile had better have; 0 where its columns are not cut
    parts: int = 0  # where the addresses of the kernels begin that it calls
    lead: int = 0  # the words in front of its argument block


@record(slots=True)
class ControlNumbers:
    """A row that jumps or stops."""

    start: int  # of its argument block: the address of the flag
    kind: int
    wanted: bool
    target: Label | None
    row: int = 0  # to jump to, counted from the first of its segment


class _Numbers:
    """Collects symbolic sizes and compiles one function that computes them all."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._index: dict[str, int] = {}

    def add(self, size: AnySize) -> int:
        """The place of a size in the tuple."""
        text = sizes.expression(size)
        if text not in self._index:
            self._index[text] = len(self.texts)
            self.texts.append(text)
        return self._index[text]


def make_template(
    schedule: Schedule,
    program: Program,
    scope: size_scope.Scope,
    addresses: Sequence[tuple[int, ...]],
) -> Template:
    """Lays out the argument blocks; `addresses` are those of the native steps' kernels.

    Behind the address of a kernel come those of the kernels that it calls; where a machine runs it
    (jit/library/bytecode_kernels.py), what is in front of its arguments.
    """
    layout = _Layout(schedule, _Numbers())
    remaining, exclusive = iter(addresses), exclusive_cells(schedule.steps)
    for number, step in enumerate(schedule.steps):
        layout.row_of.append(len(layout.steps))
        if isinstance(step, Control):
            layout.control(step)
        elif isinstance(step, HostStep):
            layout.host(step)
        else:
            layout.native(step, next(remaining), *exclusive.get(number, (frozenset(), False)))
    layout.row_of.append(len(layout.steps))
    for value in program.kept:
        layout.shape(value)
    return layout.template(scope)


class _Layout:
    """Writes argument blocks one behind the other."""

    def __init__(self, schedule: Schedule, numbers: _Numbers) -> None:
        self.schedule, self.numbers = schedule, numbers
        self.length = 0
        self.sized: list[tuple[int, int]] = []
        self.constants: dict[int, int] = {}
        self.arena: list[tuple[int, int]] = []
        self.feeds: list[tuple[int, int]] = []
        self.cells: list[tuple[int, Any]] = []
        self.reserves: list[Reserved] = []
        self.draws: dict[Call, Reserved] = {}
        self.scratch: list[tuple[int, int]] = []
        self.stacks: list[tuple[int, GrowableStack, int]] = []
        self.steps: list[StepNumbers | ControlNumbers] = []
        self.row_of: list[int] = []  # of every step of the schedule
        self.stops: dict[int, Stop] = {}
        self.drawn: set[Call] = set()  # those in front of which a Draw stands
        self.segments: list[tuple[int, int] | HostStep | Fail] = []
        self.locks: dict[int, frozenset[Any]] = {}
        self.walked: dict[int, set[Any]] = {}  # those of segments with jumps
        self.first_reads: dict[Any, int] = {}
        self.fixed: list[tuple[int, np.ndarray]] = []
        self.shapes: dict[Value, list[int]] = {}
        self.contents: dict[Value, list[int]] = {}

    def native(
        self,
        step: KernelStep | CallStep,
        addresses: tuple[int, ...],
        locked: frozenset[Any],
        is_jumped: bool,
    ) -> None:
        """The block of one kernel, which runs while it has the locks of these variables.

        is_jumped: or all of its segment does, as jumps lead around it.
        """
        address, *parts = addresses
        before = self.length
        if isinstance(step.kernel, Kernel) and parts:
            self._lead(*parts)
            parts = []
        start = self.length
        for value in step.reads:
            self._pointer(value)
        if isinstance(step, KernelStep):
            for size in (*step.nest.sizes, *step.nest.params):
                self._number(size)
            extents = self._kernel_extents(step, address, start)
        else:
            self._call_arguments(step)
            extents = self._call_extents(step, address, start)
        extents.lead, extents.parts = start - before, self.length
        for part in parts:
            self.constants[self.length] = part
            self.length += 1
        self._row(extents, frozenset() if is_jumped else locked)
        if is_jumped:
            self.walked.setdefault(len(self.segments) - 1, set()).update(locked)
        for cell in map(cell_of, step.reads):
            if cell is not None and cell.is_resource:
                self.first_reads.setdefault(cell, len(self.segments) - 1)

    def _lead(self, memory: int, desk: int) -> None:
        """What a machine finds in front of a kernel's arguments: memory, and where its desk is."""
        self._scratch(memory)
        self.constants[self.length] = desk
        self.length += 1

    def _scratch(self, size: AnySize) -> None:
        """The words of memory for each thread: its address, and how much that is."""
        self.scratch.append((self.length, self.numbers.add(size)))
        self.length += 2

    def control(self, step: Control) -> None:
        """A jump or stop."""
        if isinstance(step, Fail):
            for value in step.reads:
                self.shape(value)
            # No row: the table ends here, and Python looks at the flag between two walks.
            if step.is_between:
                self.segments.append(step)
                return
        if isinstance(step, (Fail, Grow, Draw, Learn)):
            self.stops[len(self.steps)] = step
        match step:
            case Skip():
                self._row(ControlNumbers(self.length, SKIP, step.wanted, step.target))
                self._pointer(step.flag)
            case Again():
                self._row(ControlNumbers(self.length, AGAIN, True, step.target))
                self.length += 1
            case Fail():
                self._row(ControlNumbers(self.length, STOP, True, None))
                self._pointer(step.check.flag)
            case Grow():
                self._row(ControlNumbers(self.length, ROOM, True, None))
                self._stack(step.stack)
            case Draw():
                self._row(ControlNumbers(self.length, HOST, True, None))
                self.length += 1
                self.drawn.add(step.node)
            case Learn():
                self._row(ControlNumbers(self.length, HOST, True, None))
                self.length += 1

    def _row(
        self, numbers: StepNumbers | ControlNumbers, locked: frozenset[Any] = frozenset()
    ) -> None:
        self.steps.append(numbers)
        row, last = len(self.steps) - 1, len(self.segments) - 1
        is_next = self.segments and isinstance(self.segments[-1], tuple)
        if is_next and bool(locked) == (last in self.locks):
            self.segments[-1] = (self.segments[-1][0], row + 1)  # type: ignore[index]
        else:
            self.segments.append((row, row + 1))
            last += 1
        if locked:
            self.locks[last] = self.locks.get(last, locked) | locked

    def host(self, step: HostStep) -> None:
        """A step outside of the driver's table."""
        if step.is_inside:
            self.stops[len(self.steps)] = step
            self._row(ControlNumbers(self.length, HOST, True, None))
            self.length += 1
        else:
            self.segments.append(step)
        for value in (*step.node.inputs, *step.node.outputs):
            self.shape(value)

    def shape(self, value: Value) -> None:
        """Has the concrete shape of a value computed, and its contents if they are sizes."""
        source = home(value).node
        if isinstance(source, Sizes):
            self.contents[home(value)] = [self.numbers.add(n) for n in source.items.flat]
        if any(isinstance(size, sizes.Size) for size in value.shape):
            self.shapes[value] = [self.numbers.add(size) for size in value.shape]

    def _kernel_extents(self, step: KernelStep, address: int, start: int) -> StepNumbers:
        nest, add = step.nest, self.numbers.add
        return StepNumbers(
            address,
            start,
            add(nest.rows),
            add(nest.columns),
            add(nest.positions),
            None,
            None,
            step.cost,
            rows_together(nest.kernel),
        )

    def _call_arguments(self, step: CallStep) -> None:
        node, launch = step.node, step.node.launch
        for param in launch.params:
            self._number(param)
        if node.effects.stack is not None:
            self._stack(node.effects.stack)
        if node.reserve is not None:
            count = len(node.reserve.initial)
            size = self.numbers.add(node.reserve.size)
            reserved = Reserved(self.length, count, node.reserve, size)
            if node in self.drawn:
                self.draws[node] = reserved
            else:
                self.reserves.append(reserved)
            self.length += count
        if not sizes.same(launch.scratch, 0):
            self._scratch(launch.scratch)

    def _stack(self, stack: GrowableStack) -> None:
        self.stacks.append((self.length, stack, self.numbers.add(stack.bytes)))
        self.length += 1

    def _call_extents(self, step: CallStep, address: int, start: int) -> StepNumbers:
        launch, add = step.node.launch, self.numbers.add
        return StepNumbers(
            address,
            start,
            add(launch.rows),
            add(launch.columns),
            add(1),
            add(launch.row_tile),
            add(launch.columns if launch.col_tile is None else launch.col_tile),
            0.0,
            0,
        )

    def _number(self, size: AnySize) -> None:
        self.sized.append((self.length, self.numbers.add(size)))
        self.length += 1

    def _pointer(self, value: Value) -> None:
        value = home(value)
        node = value.node
        if value.cell is not None:
            self.cells.append((self.length, value.cell))
        elif in_arena(value):
            self.arena.append((self.length, self.schedule.slot_of[value]))
        elif isinstance(node, Feed):
            self.feeds.append((self.length, node.number))
        elif isinstance(node, Read):
            self.cells.append((self.length, node.cell))
        elif isinstance(node, Constant):
            array = aligned(node.array)
            self.fixed.append((self.length, array))
            self.constants[self.length] = array.ctypes.data
        else:
            raise AssertionError(f"{value} of {type(node).__name__} has no address")
        self.length += 1

    def _aim(self) -> None:
        """Turns the targets of jumps into rows."""
        # A jump stays in its segment: what Python does inside of loops and branches has a row of
        # its own (`stops`), and only what it does between them ends a segment.
        for first, behind in (s for s in self.segments if isinstance(s, tuple)):
            for step in self.steps[first:behind]:
                if isinstance(step, ControlNumbers) and step.target is not None:
                    step.row = self.row_of[step.target.step] - first

    def template(self, scope: size_scope.Scope) -> Template:
        """Everything laid out, with one function for all the numbers."""
        self._aim()
        add = self.numbers.add
        slots = [(add(byte_size(slot.values[0])), slot.live) for slot in self.schedule.slots]
        size_arrays = _size_arrays(self.schedule, add)
        compute = compiled_numbers(scope, self.numbers.texts)
        for position, number in self.sized:
            if self.numbers.texts[number].lstrip("-").isdigit():
                self.constants[position] = int(self.numbers.texts[number])
        args = np.zeros(self.length, np.int64)
        args[list(self.constants)] = list(self.constants.values())
        return Template(
            compute=compute,
            args=args,
            numbers=Places([(p, n) for p, n in self.sized if p not in self.constants]),
            arena=Places(self.arena),
            feeds=_grouped(self.feeds),
            cells=_grouped(self.cells),
            reserves=self.reserves,
            draws=self.draws,
            scratch=Places(self.scratch),
            stacks=self.stacks,
            steps=self.steps,
            slots=slots,
            slot_bytes=np.array([number for number, _ in slots], np.int64),
            size_arrays=size_arrays,
            segments=self.segments,
            locks={**{n: frozenset(cells) for n, cells in self.walked.items()}, **self.locks},
            first_reads={
                segment: frozenset(cell for cell, _ in cells)
                for segment, cells in groupby(self.first_reads.items(), itemgetter(1))
            },
            stops=self.stops,
            shapes=self.shapes,
            contents=self.contents,
            fixed=self.fixed,
            table=constant_rows(self.steps),
            names=list(scope.examples),
            texts=self.numbers.texts,
            gifts=_gifts(self.schedule, self.segments),
        )


def compiled_numbers(scope: size_scope.Scope, texts: Sequence[str]) -> Callable[..., Any]:
    """One function of all symbols that gives all numbers."""
    text = "(" + ", ".join(texts) + ",)" if texts else "()"
    return sizes.compile_function(scope.examples, text)


def _size_arrays(schedule: Schedule, add: Callable[[AnySize], int]) -> list[SizeArrays]:
    """What has to be written before a run, as the numbers that `add` makes of sizes."""
    found: dict[str, list[tuple[int, int, int]]] = {}
    for number, slot in enumerate(schedule.slots):
        for value in slot.values:
            if isinstance(value.node, Sizes):
                rows = found.setdefault(value.dtype, [])
                rows += [(number, i, add(s)) for i, s in enumerate(value.node.items.flat)]
    tables = {dtype: np.array(rows, np.int64).reshape(-1, 3) for dtype, rows in found.items()}
    return [SizeArrays(numpy_dtype(dtype), *table.T) for dtype, table in tables.items()]


def _gifts(
    schedule: Schedule, segments: Sequence[tuple[int, int] | HostStep | Fail]
) -> list[tuple[int, int]]:
    """What a host step reads last that gives variables memory (`Template.gifts`)."""
    givers = [(n, s) for n, s in enumerate(segments) if isinstance(s, HostStep) and s.node.reshaped]
    if not givers:
        return []
    last = {home(value): step for step in schedule.steps for value in step.reads}
    checked = [value for check in schedule.checks for value in check.values]
    kept = set(map(home, (*schedule.fused.program.fetches, *checked)))
    return [
        (place, number)
        for place, step in givers
        for number, value in enumerate(step.node.inputs)
        if home(value) in schedule.slot_of and home(value) not in kept
        if last[home(value)] is step and step.node.inputs.count(value) == 1
    ]


def constant_rows(steps: Sequence[StepNumbers | ControlNumbers]) -> np.ndarray:
    """The rows of jumps, and what is known of others: where code and argument block are."""
    rows = [
        (0, step.start, step.kind, step.row, int(step.wanted), 0)
        if isinstance(step, ControlNumbers)
        else (step.address, step.start, 0, 0, 0, 0)
        for step in steps
    ]
    return np.array(rows, np.int64).reshape(-1, ROW)


def cell_of(value: Value) -> VariableStorage | None:
    """The variable whose memory a value is, if it is one's."""
    storage = home(value)
    cell = storage.cell if storage.cell is not None else getattr(storage.node, "cell", None)
    return cell if isinstance(cell, VariableStorage) else None


def _grouped(pairs: Sequence[tuple[int, Any]]) -> list[tuple[Any, np.ndarray]]:
    """For each thing that goes somewhere, all its positions."""
    groups: dict[Any, list[int]] = {}
    for position, thing in pairs:
        groups.setdefault(thing, []).append(position)
    return [(thing, np.array(positions)) for thing, positions in groups.items()]
