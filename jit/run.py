# SPDX-License-Identifier: Apache-2.0
"""One run of a plan: memory and addresses for concrete sizes, and what Python does between kernels.

Imports the rest of jit's back end; a plan's stretch (jit/plan.py) makes runs and keeps them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..engine import errors
from ..engine.interpreter import check_session
from . import driver, target
from .bind import Arena, Binding, Frame, aligned_copy, grow
from .driver import Flow, Program
from .schedule import HostStep, is_native
from .tensor import Source, Value, home

if TYPE_CHECKING:
    from .plan import Plan

# Feeds of at most so many bytes are copied into a run's own memory instead of being pointed at.
_STAGED_BYTES = 2048


class Run:
    """Memory for one run of a plan at concrete sizes, ready to go; reused by later runs."""

    def __init__(
        self, plan: Plan, binding: Binding, arena: Arena, feed_types: Sequence[np.ndarray]
    ) -> None:
        target.require_native()
        self.plan, self.binding = plan, binding
        template = plan.template
        self.frame = Frame(binding, arena)
        self.args = self.frame.args
        self.staged: list[tuple[int, np.ndarray]] = []
        self.pointed: list[tuple[int, np.ndarray]] = []
        for number, places in template.feeds:
            like = feed_types[number]
            if like.nbytes <= _STAGED_BYTES:
                memory = aligned_copy(like)
                self.args[places] = memory.ctypes.data
                self.staged.append((number, memory))
            else:
                self.pointed.append((number, places))
        # Of stacks, by id: where items are, how many, how many fit, bytes of one; and the memory.
        self.stacks: dict[int, list[np.ndarray]] = {}
        for place, stack, number in template.stacks:
            if id(stack) not in self.stacks:
                record = np.array([0, 0, 0, binding.numbers[number]], np.int64)
                self.stacks[id(stack)] = [record, np.empty(0, np.uint8)]
            self.args[place] = self.stacks[id(stack)][0].ctypes.data
        self.cells = [[cell, None, places] for cell, places in template.cells]
        self.hosted: dict[int, Any] = {}
        self.feeds: Sequence[np.ndarray] = ()
        self.flags = [(self._view(check.flag), check) for check in plan.program.checks]
        self.results = [self._reader(value) for value in plan.program.fetches]
        # Compiled steps between host steps, each a program of the driver.
        # (No bound methods of its own: a run is big, and a cycle would outlive its last use.)
        self.segments: list[Callable[[], None] | HostStep | Flow | tuple[np.ndarray, Any]] = []
        self.programs: list[Program] = []  # they own the memory that their calls read
        for segment in template.segments:
            if isinstance(segment, tuple):
                rows = self.frame.table[segment[0] : segment[1]]
                if driver.has_control(rows):
                    self.segments.append(Flow(rows, segment[0], plan.evaluate.threads))
                    continue
                program = Program(rows.copy(), plan.evaluate.threads)
                self.programs.append(program)
                self.segments.append(program.call)
            elif isinstance(segment, HostStep):
                self.segments.append(segment)
            else:
                assert segment.flag is not None
                self.segments.append((self._view(segment.flag), segment))

    def __call__(self, feeds: Sequence[np.ndarray]) -> list[Any]:
        """Runs the plan; the results belong to the caller."""
        if self.plan.template.size_arrays:
            self.frame.fill_sizes(self.binding)
        for number, memory in self.staged:
            memory[...] = feeds[number]
        for number, places in self.pointed:
            if not feeds[number].flags.c_contiguous:
                feeds = [np.ascontiguousarray(feed) for feed in feeds]
            self.args[places] = feeds[number].__array_interface__["data"][0]
        for entry in self.cells:
            if entry[0].value is not entry[1]:
                self._point_at_variable(entry)
        for position, count, reserve, size in self.plan.template.reserves:
            context = self.plan.evaluate.context(reserve.op)
            self.args[position : position + count] = reserve.take(
                context, self.binding.numbers[size]
            )
        self.feeds = feeds
        self._walk()
        for flag, check in self.flags:
            if flag[()]:
                raise check.error(*map(self._read, check.evidence))
        results = [
            np.array(self._read(read)) if isinstance(read, Value) else read()
            for read in self.results
        ]
        self.feeds = ()
        return results

    def _walk(self) -> None:
        """All steps in order."""
        for segment in self.segments:
            if isinstance(segment, HostStep):
                self._host(segment)
            elif isinstance(segment, Flow):
                self._flow(segment)
            elif isinstance(segment, tuple):
                flag, check = segment
                if flag[()]:
                    raise check.error(*map(self._read, check.evidence))
            else:
                segment()

    def _point_at_variable(self, entry: list[Any]) -> None:
        cell = entry[0]
        array = cell.value
        known, address = self.plan.addresses.get(id(cell), (None, 0))
        if known is not array or array is None:
            address = self.plan.address_of(cell)
        self.args[entry[2]] = address
        entry[1] = array

    def _flow(self, flow: Flow) -> None:
        """Steps with jumps; what Python has to do among them."""
        row = flow.run(0)
        while row < flow.rows:
            if flow.is_paused:
                check_session(self.plan.evaluate.session)
                row = flow.run(row)
                continue
            stop = self.plan.template.stops[flow.first + row]
            if isinstance(stop, HostStep):
                self._host(stop)
            elif stop.stack is not None:
                grow(self.stacks[id(stop.stack)])
            elif stop.error is not None:
                raise stop.error(*map(self._read, stop.evidence))
            row = flow.run(row + 1)

    def _host(self, step: HostStep) -> None:
        node = step.node
        inputs = [self._read(value) for value in node.inputs]
        results = self.plan.evaluate(node.op, inputs)
        for entry in self.cells if node.cells else ():
            if entry[0].value is not entry[1] and entry[0].value is not None:
                self._point_at_variable(entry)
        for value, array in zip(node.outputs, results):
            if value.cell is not None:
                continue
            if not is_native(value):
                self.hosted[id(value)] = array
                continue
            view = self._view(value)
            if view.shape != np.shape(array):
                raise errors.InternalError(
                    None,
                    node.op,
                    f"{node.op.type} gave shape {np.shape(array)}, expected {view.shape}",
                )
            view[...] = array

    # Reading values.

    def _view(self, value: Value) -> np.ndarray:
        storage = home(value)
        slot = self.plan.schedule.slot_of[id(storage)]
        shape = self._shape(value)
        return self.frame.view(self.binding, slot, value, shape)

    def _shape(self, value: Value) -> tuple[int, ...]:
        places = self.plan.template.shapes.get(id(value))
        if places is None:
            return tuple(int(size) for size in value.shape)
        return tuple(self.binding.numbers[n] for n in places)

    def _read(self, value: Value) -> Any:
        """The contents of a value now; not a copy."""
        storage = home(value)
        if storage.cell is not None:
            return storage.cell
        if id(storage) in self.hosted:
            return self.hosted[id(storage)]
        node = storage.node
        if isinstance(node, Source):
            if node.kind == "feed":
                return self.feeds[node.payload].reshape(self._shape(value))
            if node.kind == "constant":
                return node.payload.reshape(self._shape(value))
            if node.kind == "sizes":
                places = self.plan.template.contents[id(storage)]
                found = np.array([self.binding.numbers[n] for n in places], storage.dtype)
                return found.reshape(self._shape(value))
            if node.kind == "cell":
                array = node.payload.read()
                # Another session may have given a variable that is just fetched another shape.
                return array if value is storage else array.reshape(self._shape(value))
        return self._view(value)

    def _reader(self, value: Value) -> Callable[[], Any] | Value:
        """What copies a fetched value out, or the value if that depends on the run."""
        if home(value).cell is None and id(home(value)) in self.plan.schedule.slot_of:
            view = self._view(value)
            return view.copy if view.ndim else (lambda: view[()])
        return value
