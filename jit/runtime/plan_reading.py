# SPDX-License-Identifier: Apache-2.0
"""A plan made of the tables of a stored one (jit/runtime/plan_encoding.py says what they are).

Imports the schedule and the compiler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..codegen.compile import Compiled
from ..kernel.size_scope import Scope
from ..kernel.sizes import Size
from ..library.random import PhiloxReservation
from ..program.editing import Check, Program
from ..program.tensor_ir import (
    Call,
    Constant,
    Feed,
    GrowableStack,
    Host,
    Launch,
    Measure,
    Node,
    Read,
    Reshape,
    Sizes,
    Value,
)
from ..schedule.aligned import aligned
from ..schedule.argument_blocks import (
    ControlNumbers,
    Places,
    Reserved,
    SizeArrays,
    StepNumbers,
    Template,
    constant_rows,
)
from ..schedule.steps import Draw, Fail, Grow, HostStep, Learn
from ..trace.segment import Hasty
from .plan_encoding import Stored, function_of
from .plan_key import Outside


class Reader:
    """Makes the parts of a plan of its tables."""

    def __init__(
        self,
        stored: Stored,
        outside: Outside,
        error_of: Callable[[int], Callable[..., BaseException]],
    ) -> None:
        """error_of gives what a check raises, by its number."""
        self.tables, self.arrays, self.outside = stored.tables, stored.arrays, outside
        self.shapes: dict[Value, list[int]] = {}
        self.contents: dict[Value, list[int]] = {}
        self.slot_of: dict[Value, int] = {}
        self.values: list[Value] = []
        for entry in self.tables["values"]:
            self.values.append(self._value(*entry))
        self.all_checks = [
            Check(self.values[flag], error_of(number), self._values(evidence))
            for number, (flag, evidence) in enumerate(self.tables["checks"])
        ]
        self.hosts = [self._host(*each) for each in self.tables["hosts"]]
        self.draws: dict[Call, Reserved] = {}
        # Those that learn sizes, by the number of their step.
        self.learning: dict[int, Learn] = {}
        program = Program()
        count = 1 + max((number for _, number, _ in self.tables["stacks"]), default=-1)
        self.stacks = [GrowableStack("", program, frozenset()) for _ in range(count)]

    def _values(self, numbers: Sequence[int]) -> tuple[Value, ...]:
        return tuple([self.values[number] for number in numbers])

    def _cells(self, numbers: Sequence[int]) -> list[Any]:
        return [self.outside.cells[number] for number in numbers]

    def _value(
        self,
        dtype: str,
        shape: list[int | None],
        sizes: list[int] | None,
        contents: list[int] | None,
        slot: int | None,
        place: int | None,
        source: list[Any] | None,
    ) -> Value:
        if place is not None:
            node: Node = Reshape((self.values[place],))
        else:
            node = self._source(*source) if source else Node(())
        # (Where a size is None the shape is looked up among the numbers of the plan.)
        value = Value(dtype, tuple(shape), node)  # type: ignore[arg-type]
        if source and source[0] == "variable":
            value.cell = self.outside.cells[source[1]]
        if sizes is not None:
            self.shapes[value] = sizes
        if contents is not None:
            self.contents[value] = contents
        if slot is not None:
            self.slot_of[value] = slot
        return value

    def _source(self, kind: str, which: Any) -> Node:
        match kind:
            case "feed":
                return Feed(which)
            case "constant":
                return Constant(self._constant(*which))
            case "sizes":
                return Sizes(np.empty(0, object))
            case "read":
                return Read(self.outside.cells[which])
            case "variable":
                return Node(())
        raise ValueError(f"it has a value of a kind {kind!r}")

    def _constant(self, which: int | list[str] | dict[str, Any], shape: list[int]) -> np.ndarray:
        if isinstance(which, dict):
            given: np.ndarray = self.outside.operations[which["of"]]._attrs[which["attribute"]]
            return np.ascontiguousarray(given).reshape(shape)
        if isinstance(which, int):
            return np.broadcast_to(self.arrays[which], shape)
        texts = np.empty(len(which), object)
        texts[:] = [text.encode("latin-1") for text in which]
        return texts.reshape(shape)

    def _host(
        self,
        op: int,
        reason: str,
        effects: bool,
        is_inside: bool,
        inputs: list[int],
        outputs: list[int],
        cells: list[int],
        reshaped: list[int],
        is_guessed: bool,
    ) -> HostStep:
        node = Host(
            self._values(inputs),
            self.outside.operations[op],
            *(reason, effects),
            *(tuple(self._cells(cells)), frozenset(self._cells(reshaped))),
            is_guessed,
        )
        node.outputs = list(self._values(outputs))
        return HostStep(node, is_inside)

    # What is known of the trace

    @property
    def scope(self) -> Scope:
        """The symbols, and what was relied on."""
        scope, tables = Scope(), self.tables
        require_sizes(*tables["guards"], *tables["taken for zero"])
        require_sizes(*tables["taken for some"], *tables["taken for within"], *tables["examples"])
        scope.examples |= tables["examples"]
        scope.guards |= tables["guards"]
        scope.measured += tables["measured"]
        zero = Size(scope, {}, 0)
        scope.taken_for_zero |= dict.fromkeys(tables["taken for zero"], zero)
        scope.taken_for_some |= set(tables["taken for some"])
        scope.taken_for_within |= set(tables["taken for within"])
        return scope

    @property
    def fetches(self) -> tuple[Value, ...]:
        """The values that are asked for."""
        return self._values(self.tables["fetches"])

    @property
    def exports(self) -> dict[Any, int]:
        """The number among them of every tensor that is wanted."""
        return {self.outside.tensors[t]: number for t, number in self.tables["exports"]}

    @property
    def stop(self) -> tuple[int, bool]:
        """The number of the first operation that is not in it, and whether that is a barrier."""
        number, is_barrier = self.tables["stop"]
        return number, is_barrier

    @property
    def passed(self) -> dict[Any, Any]:
        """The variables and resources that are wanted, as they are."""
        outside = self.outside
        return {outside.tensors[t]: outside.cells[c] for t, c in self.tables["passed"]}

    @property
    def hosted(self) -> list[tuple[Any, str]]:
        """The operations that are not compiled, with reasons."""
        return [(self.outside.operations[op], reason) for op, reason in self.tables["hosted"]]

    @property
    def cells(self) -> dict[Any, tuple[tuple[int, ...], str]]:
        """The variables that were looked at, with shapes and dtypes."""
        found = self.tables["cells"]
        return {self.outside.cells[n]: (tuple(shape), dtype) for n, shape, dtype in found}

    @property
    def idle(self) -> dict[str, list[tuple[int, int]]]:
        """What nothing is laid out by once a size is learnt (`Plan.idle`)."""
        tables = self.tables["idle"].items()
        return {name: [(place, number) for place, number in each] for name, each in tables}

    @property
    def hasty(self) -> Hasty:
        """What a run changes before it sees whether it may."""
        cells, hosts = self.tables["hasty"]
        operations = self.outside.operations
        return Hasty(tuple(self._cells(cells)), frozenset(operations[number] for number in hosts))

    # Steps

    @property
    def last_checks(self) -> list[Check]:
        """What is looked at behind the last step."""
        return self.all_checks[: self.tables["last checks"]]

    @property
    def row_kernels(self) -> list[tuple[int, list[int]]]:
        """The number of the kernel of each native step, and of those that it calls."""
        return [(row[1], row[2]) for row in self.tables["rows"] if _is_native(row)]

    @property
    def bytecode(self) -> dict[int, tuple[str, dict[str, Any]]]:
        """By the number of a kernel that was not compiled, what it is, and where from."""
        return {number: (text, facts) for number, text, facts in self.tables["bytecode"]}

    def _row(self, row: list[Any], kernels: Sequence[Compiled]) -> StepNumbers | ControlNumbers:
        if not _is_native(row):
            start, kind, wanted, target = row
            return ControlNumbers(start, kind, wanted, None, target)
        start, kernel, _, extents = row
        return StepNumbers(kernels[kernel].address, start, *extents)

    def _stops(self) -> dict[int, Any]:
        return {row: self._stop(kind, what) for row, kind, what in self.tables["stops"]}

    def _stop(self, kind: str, what: Any) -> Any:
        match kind:
            case "host":
                return self.hosts[what]
            case "fail":
                return Fail(self.all_checks[what])
            case "grow":
                return Grow(self.stacks[what])
            case "draw":
                node = Call((), _NOTHING)
                self.draws[node] = self._reserve(*what)
                return Draw(node)
            case "learn":
                step, symbol, value = what
                learn = self.learning[step] = Learn(Measure((self.values[value],), symbol))
                return learn
        raise ValueError(f"it stops for {kind!r}")

    def _segment(self, kind: str, what: Any) -> Any:
        match kind:
            case "rows":
                first, behind = what
                return first, behind
            case "host":
                return self.hosts[what]
            case "fail":
                return Fail(self.all_checks[what], is_between=True)
        raise ValueError(f"it has a segment of {kind!r}")

    # Argument blocks

    def template(
        self,
        compute: Callable[..., tuple[int, ...]],
        kernels: Sequence[Compiled],
        leads: Mapping[int, tuple[int, int]],
    ) -> Template:
        """The argument blocks, with the addresses that things have in this process.

        kernels: those of the tables; leads: of those that are bytecode, by number, what stands for
        them (`Desk.lead`).
        """
        tables, arrays = self.tables, self.arrays
        fixed = [(at, aligned(self._constant(*which))) for at, which in tables["fixed"]]
        steps = [self._row(row, kernels) for row in tables["rows"]]
        slots = [(number, int(live, 16)) for number, live in tables["slots"]]
        return Template(
            compute=compute,
            args=self._args(fixed, kernels, leads),
            numbers=self._places("number places"),
            arena=self._places("arena places"),
            feeds=[(number, arrays[places]) for number, places in tables["feeds"]],
            cells=[(self.outside.cells[n], arrays[places]) for n, places in tables["variables"]],
            reserves=[self._reserve(*each) for each in tables["reserves"]],
            draws=self.draws,
            scratch=self._scratch(leads),
            stacks=[(at, self.stacks[number], size) for at, number, size in tables["stacks"]],
            steps=steps,
            slots=slots,
            slot_bytes=np.array([number for number, _ in slots], np.int64),
            size_arrays=[
                SizeArrays(np.dtype(kind), *(arrays[n] for n in numbers))
                for kind, *numbers in tables["size arrays"]
            ],
            segments=[self._segment(*part) for part in tables["segments"]],
            locks=self._by_segment("locks"),
            first_reads=self._by_segment("first reads"),
            stops=self._stops(),
            shapes=self.shapes,
            contents=self.contents,
            fixed=fixed,
            table=constant_rows(steps),
            names=list(tables["examples"]),
            texts=tables["texts"],
            gifts=[(place, number) for place, number in tables["gifts"]],
        )

    def _by_segment(self, name: str) -> dict[int, frozenset[Any]]:
        return {number: frozenset(self._cells(cells)) for number, cells in self.tables[name]}

    def _places(self, name: str) -> Places:
        positions, sources = self.tables[name]
        return Places.of(self.arrays[positions], self.arrays[sources])

    def _args(
        self,
        fixed: list[tuple[int, np.ndarray]],
        kernels: Sequence[Compiled],
        leads: Mapping[int, tuple[int, int]],
    ) -> np.ndarray:
        args = self.arrays[self.tables["args"]].copy()
        for position, array in fixed:
            args[position] = array.ctypes.data
        for start, kernel, parts, (*_, place, lead) in filter(_is_native, self.tables["rows"]):
            for number, part in enumerate(parts, place):
                args[number] = kernels[part].address
            if kernel in leads:
                if not lead:
                    raise ValueError("it has no room for bytecode")
                args[start - 1] = leads[kernel][1]
        return args

    def _scratch(self, leads: Mapping[int, tuple[int, int]]) -> Places:
        """Where the addresses of memory go; machine code takes none in front of its block."""
        places, numbers = self._places("scratch places"), self.tables["numbers"]
        at = {position: n for n, position in enumerate(places.positions.tolist())}
        kept = np.ones(len(at), bool)
        for start, kernel, _, (*_, lead) in filter(_is_native, self.tables["rows"]):
            if not lead:
                continue
            number = at[start - lead]
            kept[number] = kernel in leads
            if kernel in leads and numbers[places.sources[number]] != leads[kernel][0]:
                raise ValueError("its bytecode takes other memory")
        return Places.of(places.positions[kept], places.sources[kept])

    def _reserve(
        self,
        position: int,
        words: int,
        size: int,
        op: int,
        stream: list[str],
        initial: list[int],
    ) -> Reserved:
        key, low, high = initial
        draw = function_of(*stream)
        reserve = PhiloxReservation(self.outside.operations[op], draw, 0, (key, low, high))
        return Reserved(position, words, reserve, size)


_SIZES = re.compile(r"(?:s\d+|min|max|and|or|not|if|else|True|False|\d+|[\s()+\-*/%,<>=!])*")


def require_sizes(*texts: str) -> None:
    """Raises ValueError for texts that are more than arithmetic of sizes."""
    for text in texts:
        if _SIZES.fullmatch(text) is None:
            raise ValueError("it has a text that is no size")


# Of a node that stands for a call, of which only is known that it draws.
_NOTHING = Launch(None)  # type: ignore[arg-type]


def _is_native(row: list[Any]) -> bool:
    return isinstance(row[2], list)
