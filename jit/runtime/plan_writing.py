# SPDX-License-Identifier: Apache-2.0
"""The tables of a stored plan, made of the plan (jit/runtime/plan_encoding.py says what for).

Imports the schedule and the compiler.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from ..cache import store
from ..codegen import compile as compiler
from ..kernel.ir_text import text_of
from ..library.random import PhiloxReservation
from ..program.editing import Check
from ..program.tensor_ir import Constant, Feed, GrowableStack, Host, Read, Sizes, Value, home
from ..schedule.argument_blocks import ControlNumbers, Places, Reserved, StepNumbers, Template
from ..schedule.steps import (
    CallStep,
    Draw,
    Fail,
    Grow,
    HostStep,
    KernelStep,
    Learn,
    Schedule,
    has_row,
)
from ..trace.segment import Hasty
from . import driver, thread_pool
from .plan import FirstPlan, Plan
from .plan_encoding import Stored, name_of
from .plan_key import NotStored, Outside, digest_of

# Bytes of constants that a plan may bring which are not the graph's, or little of it.
_MOST_CONSTANTS = 1 << 20
_LITTLE = 1 << 12


def all_checks(schedule: Schedule) -> list[Check]:
    """All checks of a schedule, in the order of their numbers."""
    among = (step.check for step in schedule.steps if isinstance(step, Fail))
    return [*schedule.checks, *among]


class Writer:
    """Puts the parts of one plan into tables."""

    def __init__(self, plan: Plan, outside: Outside) -> None:
        self.plan, self.outside = plan, outside
        self.schedule = plan.schedule
        self.arrays: list[np.ndarray] = []
        self.values: list[list[Any]] = []
        self._texts = 0  # bytes of constants of texts
        self._large: dict[str, int] = {}  # arrays that are there, by their contents
        self._value_numbers: dict[Value, int] = {}
        self._kernels: dict[tuple[str, str], int] = {}
        self._stacks: dict[GrowableStack, int] = {}
        # By `id`: checks and steps are equal by what they say, and these are known as themselves.
        self._checks = {id(check): n for n, check in enumerate(all_checks(self.schedule))}
        hosts = [step for step in self.schedule.steps if isinstance(step, HostStep)]
        self._hosts = {id(step): number for number, step in enumerate(hosts)}
        self._step_numbers = {id(step): n for n, step in enumerate(self.schedule.steps)}

    def stored(self, is_exact: bool) -> Stored:
        """The plan as plain data; NotStored where it has what cannot be."""
        traced, schedule = self.plan.traced, self.schedule
        symbols, hasty = list(traced.scope.examples.values()), traced.hasty or Hasty()
        hosts = [step for step in schedule.steps if isinstance(step, HostStep)]
        tables = {
            "about": self._about(),
            "is exact": is_exact,
            **self._scope(),
            "exports": [(self._tensor(t), number) for t, number in traced.exports.items()],
            "stop": [traced.stop, traced.is_barrier],
            "passed": [(self._tensor(t), self._cell(c)) for t, c in traced.passed.items()],
            "fetches": [self._value(value) for value in traced.program.fetches],
            "cells": [(self._cell(c), *facts) for c, facts in traced.cells.items()],
            "hasty": [[self._cell(cell) for cell in hasty.cells], self._operations(hasty.hosts)],
            "hosted": [(self._operation(op), reason) for op, reason in traced.hosted],
            "checks": [self._check(check) for check in all_checks(schedule)],
            "last checks": len(schedule.checks),
            "hosts": [self._host(step) for step in hosts],
            "rows": self._rows(),
            "bytecode": self._bytecode(),
            "steps": len(schedule.steps),
            "walkers": self._walkers(),
            "numbers": list(self.plan.template.compute(*symbols)),
            **self._template(self.plan.template),
        }
        tables |= {"values": self.values, "kernels": list(self._kernels)}
        return Stored(tables, self.arrays)

    def _about(self) -> dict[str, Any]:
        """What people are shown of it."""
        traced = self.plan.traced
        operations = self.outside.operations[traced.segment.start : traced.stop]
        file, line, _ = operations[-1]._frame
        names = [tensor.name for tensor in traced.exports]
        return {"operations": len(operations), "fetches": names, "line": f"{file}:{line}"}

    # What is outside, and arrays

    def _tensor(self, tensor: Any) -> int:
        return _numbered(self.outside.tensor_numbers, tensor)

    def _cell(self, cell: Any) -> int:
        return _numbered(self.outside.cell_numbers, cell)

    def _operations(self, operations: Iterable[Any]) -> list[int]:
        return sorted(map(self._operation, operations))

    def _operation(self, op: Any) -> int:
        return _numbered(self.outside.operation_numbers, getattr(op, "node", op))

    def _array(self, array: np.ndarray) -> int:
        self.arrays.append(np.ascontiguousarray(array).reshape(array.shape))
        return len(self.arrays) - 1

    def _constant(self, array: np.ndarray) -> list[Any]:
        """The number of an array with a constant's elements, or with the one that all are.

        Of the graph's own which they are; of texts these themselves, each byte as the character of
        its number.
        """
        flat = array.reshape(-1)
        if array.dtype.hasobject:
            items = flat.tolist()
            if not all(type(item) is bytes for item in items):
                raise NotStored("it has constants of objects")
            self._texts += sum(map(len, items)) + len(items)
            if self._texts > _MOST_CONSTANTS:
                raise NotStored("its constants are large")
            return [[item.decode("latin-1") for item in items], array.shape]
        # (By bytes, as zeros have signs and NaN is not equal to itself.)
        if flat.size > 1 and _is_uniform(flat):
            return [self._array(flat[:1]), array.shape]
        if array.nbytes <= _LITTLE:
            return [self._array(array), array.shape]
        content = digest_of(array)
        if content in self._of_graph:
            return [self._of_graph[content], array.shape]
        number = self._large.get(content)
        if number is None:
            if array.nbytes + sum(other.nbytes for other in self.arrays) > _MOST_CONSTANTS:
                raise NotStored("its constants are large")
            number = self._large[content] = self._array(array)
        return [number, array.shape]

    @cached_property
    def _of_graph(self) -> dict[str, dict[str, Any]]:
        """The large arrays that are attributes of operations, by their contents: which they are.

        They are of the plan's key, so that every graph that finds the plan has them.
        """
        return {
            digest_of(value): {"of": number, "attribute": name}
            for number, op in enumerate(self.outside.operations)
            for name, value in op._attrs.items()
            if isinstance(value, np.ndarray) and not value.dtype.hasobject
            if value.nbytes > _LITTLE
        }

    # Sizes

    def _scope(self) -> dict[str, Any]:
        scope = self.plan.traced.scope
        return {
            "examples": scope.examples,
            "guards": scope.guards,
            "idle": self.plan.idle,
            "measured": scope.measured,
            "taken for zero": list(scope.taken_for_zero),
            "taken for some": sorted(scope.taken_for_some),
            "taken for within": sorted(scope.taken_for_within),
        }

    # Values that Python reads

    def _value(self, value: Value) -> int:
        """How a value looks, and where its contents are."""
        known = self._value_numbers.get(value)
        if known is not None:
            return known
        storage, template = home(value), self.plan.template
        place = None if storage is value else self._value(storage)
        shape = [size if isinstance(size, int) else None for size in value.shape]
        sizes = [template.shapes.get(value), template.contents.get(value)]
        slot = self.schedule.slot_of.get(value)
        source = self._source(value) if storage is value else None
        number = self._value_numbers[value] = len(self.values)
        self.values.append([value.dtype, shape, *sizes, slot, place, source])
        return number

    def _source(self, value: Value) -> list[Any] | None:
        """Where the contents of a value come from that lies nowhere between the steps."""
        node = value.node
        if value.cell is not None:
            return ["variable", self._cell(value.cell)]
        match node:
            case Feed(number=number):
                return ["feed", number]
            case Constant(array=array):
                return ["constant", self._constant(array)]
            case Sizes():
                return ["sizes", None]
            case Read(cell=cell):
                return ["read", self._cell(cell)]
            case Host():
                return None
        if value not in self.schedule.slot_of:
            raise NotStored("it has a value that lies nowhere")
        return None

    # Steps

    def _rows(self) -> list[list[Any]]:
        """Of each row of the table its numbers; of a kernel also what it is and calls."""
        rows: list[list[Any]] = []
        steps = (step for step in self.schedule.steps if has_row(step))
        for step, numbers in zip(steps, self.plan.template.steps, strict=True):
            if isinstance(numbers, ControlNumbers):
                rows.append([numbers.start, numbers.kind, numbers.wanted, numbers.row])
            else:
                assert isinstance(step, (KernelStep, CallStep))
                parts = [self._kernel(part) for part in compiler.parts_of(step.kernel)]
                rows.append([numbers.start, self._kernel(step.kernel), parts, _extents(numbers)])
        return rows

    def _bytecode(self) -> list[Any]:
        """The kernels that are not compiled yet: by number, what they are, and where from."""
        first = self.plan.first.kernels if isinstance(self.plan, FirstPlan) else ()
        found = {self._kernel(one.kernel): one for one in first}
        origins = [(n, one.kernel, one.origin or store.Facts) for n, one in found.items()]
        return [(n, text_of(kernel), asdict(origin())) for n, kernel, origin in origins]

    def _kernel(self, kernel: Any) -> int:
        named = kernel.name, compiler.content_of(kernel)
        return self._kernels.setdefault(named, len(self._kernels))

    def _walkers(self) -> list[int]:
        """What runs the rows."""
        has_jumps = any(isinstance(row, ControlNumbers) for row in self.plan.template.steps)
        jumping = [thread_pool.flow_kernel()] if has_jumps else []
        return [self._kernel(kernel) for kernel in (*driver.kernels(), *jumping)]

    def _check(self, check: Check) -> list[Any]:
        return [self._value(check.flag), [self._value(value) for value in check.evidence]]

    def _host(self, step: HostStep) -> list[Any]:
        node = step.node
        values = [[self._value(value) for value in each] for each in (node.inputs, node.outputs)]
        cells = [[self._cell(cell) for cell in each] for each in (node.cells, node.reshaped)]
        facts = [self._operation(node.op), node.reason, node.effects, step.is_inside]
        return [*facts, *values, *cells, node.is_guessed]

    def _stop(self, row: int, stop: object) -> list[Any]:
        """What Python does in a row."""
        match stop:
            case HostStep():
                return [row, "host", self._hosts[id(stop)]]
            case Fail(check=check):
                return [row, "fail", self._checks[id(check)]]
            case Grow(stack=stack):
                return [row, "grow", self._stack(stack)]
            case Draw(node=node):
                return [row, "draw", self._reserve(self.plan.template.draws[node])]
            case Learn(node=node):
                step = self._step_numbers[id(stop)]
                return [row, "learn", [step, node.symbol, self._value(node.inputs[0])]]
        raise NotStored(f"it stops for a {type(stop).__name__}")

    def _stack(self, stack: GrowableStack) -> int:
        return self._stacks.setdefault(stack, len(self._stacks))

    # Argument blocks

    def _template(self, template: Template) -> dict[str, Any]:
        return {
            "texts": template.texts,
            "args": self._array(_without_desks(template)),
            "number places": self._places(template.numbers),
            "arena places": self._places(template.arena),
            "scratch places": self._places(template.scratch),
            "feeds": [(number, self._array(places)) for number, places in template.feeds],
            "variables": [(self._cell(c), self._array(places)) for c, places in template.cells],
            "reserves": [self._reserve(reserved) for reserved in template.reserves],
            "stacks": [(at, self._stack(stack), size) for at, stack, size in template.stacks],
            "stops": [self._stop(row, stop) for row, stop in template.stops.items()],
            # (Bits of many steps are more digits than Python reads as a decimal number.)
            "slots": [(number, f"{live:x}") for number, live in template.slots],
            "size arrays": [
                [kind.str, *map(self._array, arrays)] for kind, *arrays in template.size_arrays
            ],
            "segments": [self._segment(part) for part in template.segments],
            "locks": self._by_segment(template.locks),
            "first reads": self._by_segment(template.first_reads),
            "gifts": template.gifts,
            "fixed": [(position, self._constant(array)) for position, array in template.fixed],
        }

    def _by_segment(self, found: dict[int, frozenset[Any]]) -> list[Any]:
        return [(n, sorted(map(self._cell, cells))) for n, cells in found.items()]

    def _segment(self, part: tuple[int, int] | HostStep | Fail) -> list[Any]:
        if isinstance(part, HostStep):
            return ["host", self._hosts[id(part)]]
        if isinstance(part, Fail):
            return ["fail", self._checks[id(part.check)]]
        return ["rows", part]

    def _places(self, places: Places) -> list[int]:
        return [self._array(places.positions), self._array(places.sources)]

    def _reserve(self, reserved: Reserved) -> list[Any]:
        reserve = reserved.reserve
        stream = name_of(reserve.stream) if type(reserve) is PhiloxReservation else None
        if stream is None:
            raise NotStored("it draws random numbers in a way of its own")
        op = self._operation(reserve.op)
        return [reserved.position, reserved.words, reserved.size, op, stream, reserve.initial]


def _numbered(numbers: dict[Any, int], thing: Any) -> int:
    if thing not in numbers:
        raise NotStored(f"it uses {thing!r}, which is not its own")
    return numbers[thing]


def _is_uniform(flat: np.ndarray) -> bool:
    """Are all elements the same, bit by bit?"""
    is_likely = flat[0].tobytes() == flat[-1].tobytes() == flat[flat.size // 2].tobytes()
    return is_likely and flat.tobytes() == flat[:1].tobytes() * flat.size


def _without_desks(template: Template) -> np.ndarray:
    """The arguments without what stands for bytecode in this process."""
    args = template.args.copy()
    args[[s.start - 1 for s in template.steps if isinstance(s, StepNumbers) and s.lead]] = 0
    return args


def _extents(step: StepNumbers) -> list[Any]:
    sizes = [step.rows, step.columns, step.positions, step.row_tile, step.col_tile]
    return [*sizes, step.cost, step.together, step.parts, step.lead]
