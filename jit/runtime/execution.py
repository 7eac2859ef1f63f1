# SPDX-License-Identifier: Apache-2.0
"""One run of a plan: memory and addresses for concrete sizes, and what Python does between kernels.

Imports the rest of jit's back end; jit/runtime/segment_plans.py makes runs and keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.memory import address_of, copy_of, keeps_lock, recycled_empty
from ...engine.stopping import check_session
from .. import target
from ..kernel import verify_kernel
from ..kernel.reference import numpy_dtype
from ..library.step_table import HELD, ITEM_BYTES, MEMORY, NEEDED, RECORD
from ..program.editing import Check
from ..program.tensor_ir import GrowableStack, Host, Value, home
from ..schedule.aligned import aligned_empty
from ..schedule.argument_blocks import Reserved
from ..schedule.bind import Binding
from ..schedule.frame import Arena, Frame, grow, resize
from ..schedule.steps import Draw, Grow, HostStep, Learn
from ..trace.builder import Misjudged
from . import driver, own_memory, relayout
from .driver import Flow, Program
from .host_call import HostCall
from .locked_steps import Change, Exclusive, ExclusiveFlow
from .reading import reader_of
from .relayout import Tables, is_resized
from .variable_places import VariablePlaces

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from .plan import Plan

# Feeds of at most so many bytes are copied into a run's own memory instead of being pointed at.
# That takes a tenth of the time in which NumPy tells an address.
_STAGED_BYTES = 2048
# What of a stack's record a run takes over that goes on for another.
_MOVED = [MEMORY, HELD, NEEDED]


# What stands for memory of a feed before there is any.
_NO_STAGE = np.empty(0, np.uint8), 0

View = tuple[int, tuple[int, ...], np.ndarray]  # a slot, and how a value in it looks


class Moved(Exception):
    """A run learnt a size that it was not laid out for: another one goes on behind a step."""

    def __init__(self, other: Run, segment: int, row: int, step: int) -> None:
        super().__init__()
        self.other, self.segment, self.row, self.step = other, segment, row, step


def is_held(live: int, step: int) -> bool:
    """Is what lies in a slot behind a step wanted by the next?  live: its steps, as bits.

    A slot that is free here and was, or will be, taken shares its memory with others meanwhile.
    """
    return live >> step & 3 == 3


class Run:
    """Memory for one run of a plan at concrete sizes, ready to go; reused by later runs."""

    def __init__(
        self,
        plan: Plan,
        binding: Binding,
        arena: Arena,
        feed_types: Sequence[np.ndarray],
        learn: Callable[[Run, tuple[int, ...]], Binding] | None = None,
        other: Callable[[Run, Binding], Run] | None = None,
        like: Run | None = None,
    ) -> None:
        """like: a run of the same plan, whose views serve where the memory is the same."""
        self.plan, self.binding = plan, binding
        self._require_native()
        # They give a binding for sizes that were learnt, and a run of it in the same arena.
        self.learn, self.other = learn, other
        self.arena = arena
        # What it changes before it sees that its program is the right one; what that was.
        self.hasty = plan.traced.hasty.cells if plan.traced.hasty is not None else ()
        # What operations on the host gave that may not run again.
        self.done: list[tuple[Operation, Sequence[Any]]] = []
        self.kept: list[tuple[Any, np.ndarray, np.ndarray]] = []
        self.evaluate = plan.traced.segment.evaluate
        template = plan.template
        self.has_sizes = bool(template.size_arrays)
        self.frame = Frame(binding, arena)
        self.args = self.frame.args
        self.staged: list[tuple[int, np.ndarray]] = []
        self.pointed: list[tuple[int, np.ndarray]] = []
        # By number of a feed: the run's own memory for it, and where that is.
        self._stages: dict[int, tuple[np.ndarray, int]] = {}
        self._place_feeds(feed_types)
        # Of stacks: the record, and the memory.
        self.stacks: dict[GrowableStack, list[np.ndarray]] = {}
        self._place_stacks()
        self.variables = VariablePlaces(plan, self.args)
        self.cells = self.variables.entries
        # Memory of results that the caller gets as it is, by slot: value, places of its address,
        # what it looks like; and in a run the memory.
        self.places: dict[int, tuple[Value, np.ndarray, np.ndarray]] = {}
        self.own: dict[int, np.ndarray] = {}
        self.empty = recycled_empty  # makes it
        self.hosted: dict[Value, Any] = {}
        # Where the random numbers begin that this run took, with what gave them, by its `id`.
        self.taken: dict[int, tuple[Any, Sequence[int]]] = {}
        self._views: dict[Value, View] = {}
        # Of values whose shapes hold sizes.
        self._sized: dict[Value, View] = {}
        self._reads: dict[Value, Callable[[Run], Any]] = {}
        if like is not None and self.shares_memory(like):
            self._views = dict(like._views)
        self.feeds: Sequence[np.ndarray] = ()
        self.checks = [(self.view(check.flag), check) for check in plan.schedule.checks]
        self._give_away(plan.traced.program.fetches)
        # By what fills variables: inputs that these may keep, and their slots.
        self.gifts: dict[Host, list[tuple[int, int]]] = {}
        own_memory.place_gifts(self)
        self.results = [self._reader(value) for value in plan.traced.program.fetches]
        # Compiled steps between host steps, each a program of the driver.
        # (No bound methods of its own: a run is big, and a cycle would outlive its last use.)
        self.segments: list[Callable[[], int] | HostStep | Flow | tuple[np.ndarray, Check]] = []
        self.programs: list[Program] = []  # they own the memory that their calls read
        for place, segment in enumerate(template.segments):
            if isinstance(segment, tuple):
                self.segments.append(self._walked(segment, template.locks.get(place), arena))
            elif isinstance(segment, HostStep):
                self.segments.append(segment)
            else:
                self.segments.append((self.view(segment.check.flag), segment.check))
        self.calls = self._plain_calls()
        # What writes other sizes into tables and arguments, once there are any.
        self._tables: Tables | None = None
        self._is_at_rest = True  # it is not between two sizes
        # What its plans know these inputs by.
        self.key: object = None

    def _require_native(self) -> None:
        """Refuses code for another processor, which is made ahead of time, not to be run here."""
        target.require_native()

    def _place_feeds(self, feeds: Sequence[np.ndarray]) -> None:
        """Small feeds are copied to memory of the run's own; of large ones the address is set."""
        self.staged, self.pointed = [], []
        for number, places in self.plan.template.feeds:
            feed = feeds[number]
            if feed.nbytes > _STAGED_BYTES or not keeps_lock(feed):
                self.pointed.append((number, places))
                continue
            memory, address = self._stages.get(number, _NO_STAGE)
            if memory.nbytes < feed.nbytes or not address:
                # (Where it is not the first, for whatever comes.)
                count = _STAGED_BYTES if address else feed.nbytes
                memory = aligned_empty((count,), np.uint8)
                address = memory.ctypes.data
                self._stages[number] = memory, address
            self.args[places] = address
            self.staged.append((number, np.ndarray(feed.shape, feed.dtype, memory)))

    def _place_stacks(self) -> None:
        for place, stack, number in self.plan.template.stacks:
            if stack not in self.stacks:
                record = np.zeros(RECORD, np.int64)
                record[ITEM_BYTES], record[NEEDED] = self.binding.numbers[number], 1
                self.stacks[stack] = [record, np.empty(0, np.uint8)]
            self.args[place] = self.stacks[stack][0].ctypes.data

    def _walked(
        self, steps: tuple[int, int], locked: Collection[Any] | None, arena: Arena
    ) -> Callable[[], int] | Flow:
        """What walks over compiled steps, from the first to the last (excluded).

        locked: variables that nobody else may change meanwhile.
        """
        rows, count = self.frame.table[steps[0] : steps[1]], self.evaluate.threads
        if verify_kernel.guards:
            return self._guarded(steps)
        look = partial(check_session, self.evaluate.session)
        change = Change(locked, self.variables, look) if locked else None
        if driver.has_control(rows):
            walk = rows, steps[0], count, arena.workers
            flow = Flow(*walk) if change is None else ExclusiveFlow(*walk, change)
            flow.may_keep_lock = not self.plan.runs_python
            return flow
        program = Program(rows.copy(), count, arena.workers)
        self.programs.append(program)
        return program.call if change is None else Exclusive(program, change)

    def adopt(self, binding: Binding, feeds: Sequence[np.ndarray]) -> bool:
        """Makes it a run at other sizes, with feeds of others, if its memory does for them.

        If it does not nothing is changed, and it is False.
        """
        if not self._may_hold(binding):
            return False
        before = self.binding
        self._go_over(binding)
        self._place_feeds(feeds)
        fetches = self.plan.traced.program.fetches
        if any(is_resized(fetches[n], before, binding) for n in self.plan.sized_fetches):
            self.places.clear()
            self._give_away(fetches)
            self.results = [self._reader(value) for value in fetches]
        self.calls = self._plain_calls()
        self._is_at_rest = True
        self.arena.runs[id(binding)] = self
        return True

    def _lay_out(self, binding: Binding) -> bool:
        """Goes on at other sizes, if everything stays in its place; False, and nothing is changed,
        if not."""
        before = self.binding
        if not self._may_hold(binding):
            return False
        if any(is_resized(value, before, binding) for value, *_ in self.places.values()):
            return False
        self._go_over(binding)
        self.frame.change_sizes(before, binding)
        fetches = self.plan.traced.program.fetches
        for number in self.plan.sized_fetches:
            if is_resized(fetches[number], before, binding):
                self.results[number] = self._reader(fetches[number])
        self._is_at_rest = True
        self.arena.runs[id(binding)] = self
        return True

    def _may_hold(self, binding: Binding) -> bool:
        """Is there room for other sizes where everything lies?"""
        placement = self.frame.placement
        needed = placement.total + binding.scratch_bytes * self.arena.workers
        is_here = self._is_at_rest and self.frame.memory is self.arena.memory
        if verify_kernel.guards or not is_here or needed > self.frame.memory.nbytes:
            return False
        return binding.placement is placement or placement.has_room(binding.counts)

    def _go_over(self, binding: Binding) -> None:
        """Has steps, and what Python reads, go by other sizes; who calls it does the rest.

        (Until all is done, which an interrupt may prevent, it is the run of no sizes.)
        """
        before, runs = self.binding, self.arena.runs
        self._is_at_rest = False
        if runs.get(id(before)) is self:
            del runs[id(before)]
        self.binding = binding
        if self._tables is None:
            owners = relayout.owners(self.plan.template, self.segments, self.programs)
            self._tables = Tables(self.plan.template, self.args, owners)
        for place, program in self._tables.take(binding).items():
            if not isinstance(self.segments[place], Exclusive):
                self.segments[place] = program.call
        numbers = self.plan.stack_numbers
        if len(numbers):
            others = np.flatnonzero(before.values[numbers] != binding.values[numbers])
            for _, stack, number in map(self.plan.template.stacks.__getitem__, others.tolist()):
                resize(self.stacks[stack], binding.numbers[number])
        # What has no size in its shape looks as before, and is where it was.
        self._sized.clear()

    def _plain_calls(self) -> list[Callable[[], int]] | None:
        """The steps of a run that is nothing but compiled steps, as most are; else None."""
        calls = [segment for segment in self.segments if callable(segment)]
        readers = [read for read in self.results if callable(read)]
        is_plain = len(calls) == len(self.segments) and len(readers) == len(self.results)
        if not is_plain or self.places or self.plan.template.reserves:
            return None
        return calls

    def _guarded(self, segment: tuple[int, int]) -> Flow:
        from .guards import Guarded

        return Guarded(self.plan, self.binding, self.args, self.frame.table, segment)

    def __call__(self, feeds: Sequence[np.ndarray]) -> list[Any]:
        """Runs the plan; the results belong to the caller."""
        try:
            self._begin(feeds)
            if self.hasty:
                self.kept = [(cell, array := cell.read(), array.copy()) for cell in self.hasty]
            if self.calls is None:
                self.taken, self.done = {}, []
                for reserved in self.plan.template.reserves:
                    self._take(reserved)
                return self._finish(0, 0)
            # A small plan's kernels take less time than a few calls of Python's: there are none
            # that it can do without.
            for call in self.calls:
                if call():
                    self._go_on(call)
            if self.checks:
                self._look(self.checks)
            return [read() for read in self.results]  # type: ignore[operator]
        finally:
            self.feeds = ()
            self.variables.end()

    def put_back(self) -> None:
        """Variables that a run changed which has to begin anew are what they were before."""
        for cell, array, content in self.kept:
            if cell.value is array:
                array[...] = content

    def _begin(self, feeds: Sequence[np.ndarray]) -> None:
        """Puts in place what a run is given."""
        if self.has_sizes:
            self.frame.fill_sizes(self.binding)
        for number, memory in self.staged:
            memory[...] = feeds[number]
        for number, places in self.pointed:
            # Kernels know the sizes of feeds, not their strides.
            if not feeds[number].flags.c_contiguous:
                feeds = [np.ascontiguousarray(feed) for feed in feeds]
            self.args[places] = address_of(feeds[number])
        self.variables.begin()
        self.feeds = feeds
        if self.places:
            own_memory.make(self)

    def _finish(self, segment: int, row: int) -> list[Any]:
        """Runs all from a row of a segment on; the results."""
        try:
            self._walk(segment, row)
            self._arrive()
            self._look(self.checks)
            self.done.clear()
            # Copies: the memory is the next run's.
            return [
                copy_of(self._read(read)) if isinstance(read, Value) else read()
                for read in self.results
            ]
        except Moved as moved:
            moved.other.take_over(self, moved.step)
            return moved.other._finish(moved.segment, moved.row)
        finally:
            # What is the caller's must not live on in a run that is kept.
            self.feeds = ()
            self.variables.end()
            if self.own:
                self.own.clear()
                for _, positions, like in self.places.values():
                    self.args[positions] = address_of(like)

    def _arrive(self) -> None:
        """Sees that checks and results can be read; on a processor they can."""

    def shares_memory(self, other: Run) -> bool:
        """Do the slots of both lie in the same places?"""
        is_same = self.frame.placement is other.frame.placement
        return is_same and self.frame.memory is other.frame.memory

    def take_over(self, before: Run, step: int) -> None:
        """Takes what another run has come to behind a step, at other sizes of what comes then."""
        template = self.plan.template
        held = [n for n, (_, live) in enumerate(template.slots) if is_held(live, step)]
        if self.shares_memory(before):
            held = [n for n in held if n in self.places or n in before.places]
        # All is read before anything is written: both may use the same memory.
        kept = [before.memory_of(slot).copy() for slot in held]
        for entry, known in zip(self.cells, before.cells):
            if known[1] is not None:
                self.args[entry[2]], entry[1] = before.args[entry[2]], known[1]
        self._begin(before.feeds)
        for slot, content in zip(held, kept):
            memory = self.memory_of(slot)
            count = min(len(memory), len(content))
            memory[:count] = content[:count]
        if template.size_arrays:  # of the sizes before, among what is held
            self.frame.fill_sizes(self.binding)
        for position, words, _, _ in template.reserves:
            self.args[position : position + words] = before.args[position : position + words]
        for stack, (record, memory) in before.stacks.items():
            mine = self.stacks[stack]
            mine[0][_MOVED] = record[_MOVED]
            mine[1] = memory
            resize(mine, int(mine[0][ITEM_BYTES]))
        self.hosted.update(before.hosted)
        self.taken, self.done = before.taken, before.done

    def memory_of(self, slot: int) -> np.ndarray:
        """The bytes of a slot."""
        own = self.own.get(slot)
        if own is not None:
            return own.reshape(-1).view(np.uint8)
        start = self.frame.placement.offsets[slot]
        return self.frame.memory[start : start + self.binding.numbers[self._bytes_at(slot)]]

    def _bytes_at(self, slot: int) -> int:
        return self.plan.template.slots[slot][0]

    def _walk(self, first: int, row: int) -> None:
        """All steps in order, from a row of a segment on."""
        for place, segment in enumerate(self.segments[first:], first):
            if isinstance(segment, HostStep):
                self._host(segment)
                self.variables.wait_over(place)
            elif isinstance(segment, Flow):
                self._flow(segment, row)
                row = 0
            elif isinstance(segment, tuple):
                self._look([segment])
            elif segment():
                self._go_on(segment)

    def _take(self, reserved: Reserved) -> None:
        """Takes the random numbers that one kernel is to draw."""
        position, words, reserve, size = reserved
        context = self.evaluate.context(reserve.op)
        numbers = reserve.take(context, self.binding.numbers[size])
        self.args[position : position + words] = numbers
        # (Of what a loop draws, where its first turn began.)
        self.taken.setdefault(id(reserve), (reserve, numbers))

    def _look(self, checks: Sequence[tuple[np.ndarray, Check]]) -> None:
        """Raises the error of the first check whose flag is set."""
        for flag, check in checks:
            if flag[()]:
                raise check.error(*map(self._read, check.evidence))

    def _point_at_variable(self, entry: list[Any]) -> None:
        self.variables.point(entry)

    def _go_on(self, call: Callable[[], int]) -> None:
        """Does the rest of compiled steps that take long, unless the run is given up meanwhile."""
        # (Looked for only here, where a tenth of a second has gone by.)
        program = next(program for program in self.programs if program.call is call)
        paused = 1
        while paused:
            check_session(self.evaluate.session)
            paused = program.go_on()

    def _flow(self, flow: Flow, row: int) -> None:
        """Steps with jumps, from a row on; what Python has to do among them."""
        row = flow.run(row)
        while flow.is_paused or row < flow.rows:
            if flow.is_paused:
                check_session(self.evaluate.session)
                row = flow.run(-1)
                continue
            stop = self.plan.template.stops[flow.first + row]
            if isinstance(stop, HostStep):
                self._host(stop)
            elif isinstance(stop, Grow):
                self._grow(stop.stack)
            elif isinstance(stop, Draw):
                self._take(self.plan.template.draws[stop.node])
            elif isinstance(stop, Learn):
                row = self._learn(flow, row)
            else:
                raise stop.check.error(*map(self._read, stop.check.evidence))
            row = flow.run(row + 1)

    def _grow(self, stack: GrowableStack) -> None:
        grow(self.stacks[stack])

    def _learn(self, flow: Flow, row: int) -> int:
        """Reads the size of a row, and those of the rows behind that read sizes; the last row.

        If this run is not laid out for them, another one has to go on.
        """
        stops, examples = self.plan.template.stops, self.plan.traced.scope.examples
        symbols, tests = list(self.binding.symbols), self.plan.tests
        step: object = stops[flow.first + row]
        while isinstance(step, Learn):
            name, number = step.node.symbol, int(self._read(step.node.inputs[0]))
            # (What was met last is what the next run is laid out for.)
            examples[name] = symbols[self.plan.symbol_numbers[name]] = number
            for text, holds in tests.get(name, ()):
                if not holds(*symbols):
                    raise Misjudged(text)
            last, row = step, row + 1
            step = stops.get(flow.first + row) if row < flow.rows else None
        for place, number in self.plan.idle[name]:
            symbols[place] = number
        if tuple(symbols) == self.binding.symbols:
            return row - 1
        assert self.learn is not None and self.other is not None
        binding = self.learn(self, tuple(symbols))
        if self._lay_out(binding):
            return row - 1
        steps = self.plan.schedule.steps
        done = next(i for i, other in enumerate(steps) if other is last)
        raise Moved(self.other(self, binding), self.segments.index(flow), row, done)

    def _host(self, step: HostStep) -> None:
        calls = self.plan.host_calls
        call = calls.get(step.node)
        if call is None:
            call = calls[step.node] = HostCall(self.plan, step)
        call.run(self)

    def follow_variables(self, node: Host) -> None:
        """An operation may have given variables other memory, which the kernels behind must use."""
        for entry in self.cells:
            if entry[0] in node.reshaped:
                entry[1] = None  # the next run looks; this one reads it no more
            elif entry[0].value is not entry[1] and entry[0].value is not None:
                self._point_at_variable(entry)

    # Reading values.

    def view(self, value: Value) -> np.ndarray:
        """The memory of a value among what lies between steps, or of the caller's result."""
        found = self._views.get(value) or self._sized.get(value)
        slot, shape, plain = found or self._find_view(value)
        own = self.own.get(slot)
        if own is None:
            return plain
        # (The slot may have held a smaller value, or one of another dtype, at an earlier step.)
        dtype = numpy_dtype(value.dtype)
        count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return own.reshape(-1).view(np.uint8)[:count].view(dtype).reshape(shape)

    def _find_view(self, value: Value) -> View:
        """The slot of a value, its shape, and how it looks among what lies between steps."""
        slot, shape = self.plan.schedule.slot_of[home(value)], self.shape_of(value)
        found = slot, shape, self.frame.view(slot, value, shape)
        views = self._sized if value in self.plan.template.shapes else self._views
        views[value] = found
        return found

    def shape_of(self, value: Value) -> tuple[int, ...]:
        """The shape of a value at the sizes that are known by now."""
        places = self.plan.template.shapes.get(value)
        if places is None:
            return tuple(int(size) for size in value.shape)
        return tuple(self.binding.numbers[n] for n in places)

    def _read(self, value: Value) -> Any:
        """The contents of a value now; not a copy."""
        read = self._reads.get(value)
        if read is None:
            read = self._reads[value] = reader_of(value)
        return read(self)

    def spelled(self, value: Value) -> np.ndarray:
        """The sizes that a value is made of, as they are now."""
        places = self.plan.template.contents[value]
        return np.array([self.binding.numbers[n] for n in places], value.dtype)

    def _reader(self, value: Value) -> Callable[[], Any] | Value:
        """What gives a fetched value, or the value if that depends on the run."""
        if home(value).cell is not None or home(value) not in self.plan.schedule.slot_of:
            return value
        if not self.has_room(value):
            return value
        view, slot = self.view(value), self.plan.schedule.slot_of[home(value)]
        if slot not in self.places:
            return partial(copy_of, view) if view.ndim else (lambda: view[()])
        if self.places[slot][0] is value:
            return lambda: self.own[slot]
        return lambda: copy_of(self.view(value))

    def bytes_of(self, value: Value) -> int:
        return math.prod(self.shape_of(value)) * numpy_dtype(value.dtype).itemsize

    def has_room(self, value: Value) -> bool:
        """Can a value lie in its slot at these sizes?  Not always if some are not learnt yet.

        Guesses that differ may make a value larger than its slot, or a size of it negative.
        """
        is_possible = all(size >= 0 for size in self.shape_of(value))
        return is_possible and self.bytes_of(value) <= self.room(value)

    def room(self, value: Value) -> int:
        """The bytes of a value's slot."""
        slot = self.plan.schedule.slot_of[home(value)]
        return int(self.binding.numbers[self.plan.template.slots[slot][0]])

    def _give_away(self, results: Sequence[Value]) -> None:
        """Large results, and what variables keep, get memory of their own."""
        own_memory.place(self, results)
