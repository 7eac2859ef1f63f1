# SPDX-License-Identifier: Apache-2.0
"""Runs branches and loops that are no plan as a whole: Python decides, and what lies between is
compiled.

A loop's turn is a run of its test and of its body, each a plan of its own for the sizes that it
meets, so that what a loop carries may grow, be a string, or go through Python functions.  What
branches or loops inside of a body is compiled with it where that can be, else it runs piece by
piece in its turn.  Imports jit's front end; plans come from whoever makes this.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ...engine import errors, stopping
from ...engine.session import interpreter
from ...engine.session.futures import Future
from ...engine.session.host_calls import HostCalls
from ..trace.loop_recovery import Frame, Unstructured, structured
from ..trace.partition import is_free
from ..trace.pieces import Alone, Guard, Join, Piece, Side, Stretch, Turns, cut, inside
from ..trace.segment import Evaluate
from ..trace.tracer import makes_handles

Values = dict[Any, Any]

# Numbers of a loop that reference kernels compute for an operation on what lives for one run.
_MOST_SMALL = 8


class MakeRunner(Protocol):
    """Makes what runs operations without what is around them."""

    def __call__(
        self,
        operations: Sequence[Any],
        fetches: Sequence[Any],
        feeds: Sequence[Any],
        cells: Mapping[Any, Any],
        around: Collection[Any],
    ) -> Callable[[Sequence[Any]], list[Any]]: ...


class Piecewise:
    """The pieces of a region, ready to run."""

    def __init__(
        self,
        make: MakeRunner,
        evaluate: Evaluate,
        operations: Sequence[Any],
        given: Sequence[Any],
        cells: Mapping[Any, Any],
        constants: Collection[Any] = (),
    ) -> None:
        """given: the tensors that it is to compute; cells: variables and resources by tensor.

        constants: operations elsewhere that take nothing, whose results it takes.

        Unstructured where operations have no form that is known.
        """
        self.make, self.evaluate, self.given = make, evaluate, list(given)
        self.runners: list[Any] = []  # of what is compiled, for reports
        self.count = 0  # of pieces that ran
        makers = [op for op in operations if makes_handles(op)]
        self.cells = {**cells, **{t: c for op in makers for t, c in _made(evaluate, op)}}
        self.operations = [op for op in operations if not makes_handles(op)]
        self.constants = {*constants, *(op for op in self.operations if is_free(op))}
        items = structured(self.operations)
        found = cut(items, self.operations, given)
        self.is_loop = len(items) == 1
        self.aliases: dict[Any, Any] = found.aliases
        self.used = _uses(self.operations)
        self.asked = {*given, *_predicates(found.pieces)}
        guards = [self._guard(piece.guard) for piece in found.pieces]
        # Of operations that may have to wait, by the number of the piece; and the bits of those
        # that each piece comes behind.
        self.waits: dict[int, Waiting] = {}
        self.behind = found.behind
        # The conditions of each piece, what runs it, and the ways on from there.
        self.steps = [
            (guard, self._prepared(piece, number), _ways_on(guards, number))
            for number, (guard, piece) in enumerate(zip(guards, found.pieces))
        ]
        # Variables are never among `values`, which have contents that no longer change.
        for tensor in given:
            if self.cell(tensor) is not None:
                raise Unstructured(f"'{tensor.name}' is a variable")
        asked = {self.name(tensor): self.cell(tensor) for tensor in _predicates(found.pieces)}
        self._decisive = {name: cell for name, cell in asked.items() if cell is not None}

    def run(self, values: Values) -> list[Any]:
        """Runs all pieces, given what the region takes, by tensor; what it gives.

        None of them may have to wait.
        """
        self.begin(values)
        # (What held for the piece before holds; what does not, does not for those behind either.)
        number, held, count = 0, 0, len(self.steps)
        while number < count:
            guard, piece, ways = self.steps[number]
            while held < len(guard) and self.holds(guard[held], values):
                held += 1
            if held == len(guard):
                piece(values)
            number, held = ways[held]
        return self.results(values)

    def begin(self, values: Values) -> None:
        """Adds to what the region takes what is decided before anything runs."""
        # Read once: a branch may assign to the variable that it hangs on.
        values.update((name, cell.read().copy()) for name, cell in self._decisive.items())

    def results(self, values: Values) -> list[Any]:
        """What the region gives, of the values after a run."""
        for position, tensor in enumerate(self.given):
            if self.name(tensor) not in values:
                raise errors.invalid(f"Retval[{position}] does not have value")
        return [values[self.name(tensor)] for tensor in self.given]

    def holds(self, condition: Any, values: Values) -> bool:
        """Does a condition hold?  What it asks for may not be there, and then it does not."""
        if not isinstance(condition, Side):
            return condition.outputs[0] in values
        found = values.get(condition.predicate)
        return found is not None and bool(found) == condition.is_true

    def name(self, tensor: Any) -> Any:
        """The tensor whose value this one has."""
        while tensor in self.aliases:
            tensor = self.aliases[tensor]
        return tensor

    def cell(self, tensor: Any) -> Any:
        """The variable or resource that a tensor stands for, if it outlives the run."""
        return self.cells.get(self.name(tensor))

    def _guard(self, guard: Guard) -> Guard:
        """Conditions over the tensors that have values."""
        return tuple(
            Side(self.name(c.predicate), c.is_true) if isinstance(c, Side) else c for c in guard
        )

    def _prepared(self, piece: Piece, number: int) -> Callable[[Values], Future | None]:
        match piece:
            case Stretch():
                return _Part(self, piece.operations, [], _contexts(piece.operations)).run
            case Turns():
                if self.is_loop:
                    return _Loop(self, piece.frame).run
                # Without the rest it may be a plan.
                members = set(inside(piece.frame))
                loop = [op for op in self.operations if op in members]
                around = _contexts([piece.frame.condition])
                around.discard(piece.frame.condition._control_flow_context)
                return _Part(self, loop, [], around, is_loop=True).run
            case Alone() if piece.operation.definition.control_flow_role == "wait":
                wait = self.waits[number] = Waiting(self, piece.operation, 1 << len(self.waits))
                return wait.run
            case Alone():
                return _Hosted(self, piece.operation).run
            case Join():
                return _Join(self, piece, [s if s is None else self._guard(s) for s in piece.sides])
        raise AssertionError(piece)


def _ways_on(guards: Sequence[Guard], number: int) -> list[tuple[int, int]]:
    """Where a piece leads to: the number of the next one, and how many of its conditions hold.

    By how many of its own do; if all, it runs.  Pieces behind it with the same conditions up to
    one that does not hold are passed over.
    """
    guard, ways = guards[number], []
    for held in range(len(guard) + 1):
        following = number + 1
        if held < len(guard):
            failed = guard[: held + 1]
            while following < len(guards) and guards[following][: held + 1] == failed:
                following += 1
        behind = guards[following] if following < len(guards) else ()
        shared = 0
        while shared < min(held, len(behind)) and behind[shared] == guard[shared]:
            shared += 1
        ways.append((following, shared))
    return ways


def _made(evaluate: Evaluate, op: Any) -> Iterable[tuple[Any, Any]]:
    return zip(op.outputs, evaluate(op, []))


def _predicates(pieces: Iterable[Piece]) -> Iterable[Any]:
    """What the conditions ask for."""
    for piece in pieces:
        sides = piece.sides if isinstance(piece, Join) else []
        for guard in (piece.guard, *(side for side in sides if side is not None)):
            yield from (c.predicate for c in guard if isinstance(c, Side))


def _uses(operations: Sequence[Any]) -> dict[Any, list[Any]]:
    """The operations that take a tensor."""
    users: dict[Any, list[Any]] = {}
    for op in operations:
        for tensor in op._inputs_val:
            users.setdefault(tensor, []).append(op)
    return users


class _Join:
    """Takes the first that is there."""

    def __init__(self, region: Piecewise, join: Join, sides: Sequence[Guard | None]) -> None:
        self.region, self.operation = region, join.operation
        inputs = list(zip(join.operation._inputs_val, join.operation._input_types_val))
        self.cells = [region.cell(tensor) for tensor, _ in inputs]
        if any(c is not None and kind._is_ref_dtype for c, (_, kind) in zip(self.cells, inputs)):
            # Which variable the merge stands for would be known only when it runs; pieces are
            # compiled for one.
            raise Unstructured(f"'{join.operation.name}' merges variables")
        self.names = [region.name(tensor) for tensor, _ in inputs]
        self.sides = sides

    def __call__(self, values: Values) -> None:
        for position, (guard, name, cell) in enumerate(zip(self.sides, self.names, self.cells)):
            if guard is None or not all(self.region.holds(c, values) for c in guard):
                continue
            # (A copy: the variable may change in place while its contents go on.)
            values[self.operation.outputs[0]] = values[name] if cell is None else cell.read().copy()
            values[self.operation.outputs[1]] = np.array(position, np.int32)
            return


class _Hosted:
    """An operation by its reference kernel."""

    def __init__(self, region: Piecewise, operation: Any) -> None:
        self.region, self.evaluate, self.operation = region, region.evaluate, operation
        self.names = [region.name(tensor) for tensor in operation._inputs_val]
        self.cells = [region.cell(tensor) for tensor in operation._inputs_val]

    def run(self, values: Values) -> None:
        """Runs it."""
        self.region.count += 1
        inputs = [
            values[name] if cell is None else cell for name, cell in zip(self.names, self.cells)
        ]
        results = self.evaluate(self.operation, inputs)
        for tensor, result in zip(self.operation.outputs, results):
            values[tensor] = _boxed(result)


class Waiting:
    """An operation that may have to wait, by its reference kernel."""

    def __init__(self, region: Piecewise, operation: Any, bit: int) -> None:
        """bit: its own among those of `Piecewise.behind`."""
        self.operation, self.bit = operation, bit
        self._session = region.evaluate.session
        self._start, self._spread = region.evaluate.bound(operation), region.evaluate.spread
        pairs = zip(operation._inputs_val, operation._input_types_val)
        cells = [(region.name(t), region.cell(t), t, kind) for t, kind in pairs]
        # A variable's tensor stands for its memory. Who takes a value gets what is in it when the
        # operation begins.
        self._inputs = [
            (name, cell, t.dtype._is_ref_dtype and not kind._is_ref_dtype)
            for name, cell, t, kind in cells
        ]

    def run(self, values: Values) -> Future | None:
        """Begins it; what it waits for, None if it is over."""
        found = [
            values[name] if cell is None else cell.read() if is_read else cell
            for name, cell, is_read in self._inputs
        ]
        with stopping.within(self._session):
            result = self._start(found)
        if not isinstance(result, Future):
            self._store(values, result)
        elif result.is_done:
            self.end(values, result)
        else:
            return result
        return None

    def end(self, values: Values, pending: Future) -> None:
        """Takes the results of a wait that is over."""
        if pending.error is not None:
            raise interpreter.located(pending.error, self.operation) from pending.error
        self._store(values, pending.result)

    def _store(self, values: Values, result: object) -> None:
        outputs = self.operation.outputs
        for tensor, value in zip(outputs, self._spread(self.operation, result)):
            values[tensor] = _boxed(value)


def _boxed(value: Any) -> np.ndarray:
    """A value as an array; of a resource one that holds it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    box = np.empty((), object)
    box[()] = value
    return box


class _Part:
    """Operations that run as one: what reference kernels have to give first, and what is compiled.

    wanted: tensors that are needed besides those that other operations of the region take.
    """

    def __init__(
        self,
        region: Piecewise,
        operations: Sequence[Any],
        wanted: Iterable[Any],
        around: Collection[Any],
        is_loop: bool = False,
    ) -> None:
        first = [] if is_loop else _first_on_host(operations, set(operations))
        self.before = [_Hosted(region, op) for op in first]
        hosted = set(first)
        rest = [op for op in operations if op not in hosted]
        inside_rest = set(rest)
        inputs = dict.fromkeys(t for op in rest for t in op._inputs_val if t.op not in inside_rest)
        cells = {t: region.cell(t) for t in inputs if region.cell(t) is not None}
        # Stated again in every part, so that each knows the numbers that its shapes are made of.
        constants = dict.fromkeys(t.op for t in inputs if t.op in region.constants)
        feeds = [t for t in inputs if t not in cells and t.op not in constants]
        asked = {*wanted, *region.asked}
        self.gives = [
            tensor
            for op in rest
            for tensor in op.outputs
            if tensor in asked or any(u not in inside_rest for u in region.used.get(tensor, ()))
        ]
        # An alias has no contents of its own: what it stands for is given under that tensor.
        self.gives = [t for t in self.gives if region.name(t) is t]
        self.takes = [region.name(t) for t in feeds]
        self.region, self.runner = region, None
        if any(op.outputs or op.definition.kernel is not None for op in rest):
            self.runner = region.make([*constants, *rest], self.gives, feeds, cells, around)
            region.runners.append(self.runner)
        # What it gives in every run, where that is the same.
        self.fixed: Values = {}
        if isinstance(self.runner, HostCalls) and self.runner.is_fixed:
            self.fixed = {t: _boxed(value) for t, value in zip(self.gives, self.runner([]))}
            for value in self.fixed.values():
                value.flags.writeable = False  # so that nobody takes it for his own
            self.runner = None

    def run(self, values: Values) -> None:
        """Runs them."""
        for step in self.before:
            step.run(values)
        values.update(self.fixed)
        if self.runner is not None:
            self.region.count += 1
            results = self.runner([values[name] for name in self.takes])
            for tensor, result in zip(self.gives, results):
                values[tensor] = _boxed(result)


def _first_on_host(operations: Sequence[Any], present: set[Any]) -> list[Any]:
    """Operations on what lives for one run that need little else: what they give may be sizes.

    Run first, they do not cut in two what is compiled.
    """
    chosen: dict[Any, None] = {}
    for op in operations:
        if op.definition.control_flow_role != "step" or not op.outputs:
            continue
        needed = _small_needs(op, present, chosen)
        if needed is not None:
            chosen.update(dict.fromkeys([*needed, op]))
    return [op for op in operations if op in chosen]


def _small_needs(op: Any, present: set[Any], chosen: Mapping[Any, None]) -> list[Any] | None:
    """What an operation needs of the others, if that is but a few numbers; else None."""
    needed: dict[Any, None] = {}
    pending = [op]
    while pending:
        for tensor in pending.pop()._inputs_val:
            maker = tensor.op
            if maker not in present or maker in chosen or maker in needed:
                continue
            if not _is_small(maker) or len(needed) >= _MOST_SMALL:
                return None
            needed[maker] = None
            pending.append(maker)
    return list(needed)


def _is_small(op: Any) -> bool:
    definition = op.definition
    if definition.control_flow_role or definition.is_stateful or definition.kernel is None:
        return False
    return all(t.shape.rank == 0 and _is_exact(t) for t in op.outputs)


def _is_exact(tensor: Any) -> bool:
    """Whole numbers and truth values, which everybody computes alike."""
    kind = tensor.dtype.base_dtype
    return bool(kind.is_integer or kind.is_bool)


class _Loop:
    """A loop, turn by turn."""

    def __init__(self, region: Piecewise, frame: Frame) -> None:
        self.region, self.frame = region, frame
        around = _contexts([frame.condition])
        for op in frame.constants:
            region.aliases[op.outputs[0]] = op._inputs_val[0]
        for variable in frame.variables:
            self._note(variable)
        self.truth = frame.condition.outputs[0]
        self.flag = frame.condition._inputs_val[0]
        parts = [{op for item in items for op in inside(item)} for items in self._items(frame)]
        # In the order of the run, not of the loop: nobody else may change what it means.
        test, body, after = ([op for op in region.operations if op in part] for part in parts)
        self.carried = [v.merge.outputs[0] for v in frame.variables]
        self.sent = [v.next._inputs_val[0] for v in frame.variables]
        self.test = _Part(region, test, [self.flag], around)
        self.body = _Part(region, body, self.sent, around)
        self.after = _Part(region, after, [op._inputs_val[0] for op in frame.late_exits], around)
        for op in frame.late_exits:
            region.aliases[op.outputs[0]] = op._inputs_val[0]
        self.entered = [region.name(v.enter._inputs_val[0]) for v in frame.variables]
        self.start_cells = [region.cell(v.enter._inputs_val[0]) for v in frame.variables]
        self.names = [region.name(tensor) for tensor in self.sent]
        self.cells = [region.cell(tensor) for tensor in self.sent]

    def _items(self, frame: Frame) -> Iterable[list[Any]]:
        return frame.test, frame.body, frame.after

    def _note(self, variable: Any) -> None:
        """Notes under which names what goes round is known."""
        merged = variable.merge.outputs[0]
        if merged.dtype._is_ref_dtype or merged.dtype.base_dtype.name == "resource":
            raise Unstructured(f"'{variable.enter.name}' is a variable or resource")
        aliases = self.region.aliases
        if variable.switch is not None:
            aliases.update(dict.fromkeys(variable.switch.outputs, merged))
        aliases.update((op.outputs[0], merged) for op in variable.exits)

    def run(self, values: Values) -> None:
        """Runs the loop to its end."""
        session, flag = self.region.evaluate.session, self.region.name(self.flag)
        entered = [_contents(values, *pair) for pair in zip(self.entered, self.start_cells)]
        values.update(zip(self.carried, entered))
        values[self.truth] = np.array(True)
        while True:
            stopping.check_session(session)
            self.test.run(values)
            if not values[flag]:
                break
            self.body.run(values)
            # All before the first: one variable may take what another one has.
            sent = [_contents(values, *pair) for pair in zip(self.names, self.cells)]
            values.update(zip(self.carried, sent))
        self.after.run(values)


def _contents(values: Values, name: Any, cell: Any) -> Any:
    """A value, or what a variable holds now."""
    return values[name] if cell is None else cell.read().copy()


def _contexts(operations: Iterable[Any]) -> set[Any]:
    """The branches and loops that operations were made in."""
    found = set[Any]()
    for op in operations:
        context = op._control_flow_context
        while context is not None and context not in found:
            found.add(context)
            context = context.outer_context
    return found
