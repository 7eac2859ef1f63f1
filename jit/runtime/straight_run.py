# SPDX-License-Identifier: Apache-2.0
"""Parts and waits of a run in one line, as they come where nothing has to wait for long.

A thread that fills a queue runs a few small operations over and over: what it costs to find out
each time what can begin counts more than they do.  So the order in which all begins if every wait
is over at once is found once.  What is not over holds up what comes behind it, and nothing else;
where it takes its time, jit/runtime/async_runner.py goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from ...engine.memory import is_alone
from ...engine.session import interpreter
from ...engine.session.futures import DEAD, Future, FutureSet, release_all
from ...engine.session.state import VariableStorage
from ...engine.stopping import within

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ..trace.partition import Stage
    from .async_runner import AsyncRunner
    from .waiting_branches import WaitingBranches

_Values = list[Any]


class Inside:
    """The waits inside a conditional or loop, which the run waits for among others."""

    __slots__ = ("_add", "_number", "count")

    def __init__(self, add: Callable[[Any, Future], None], number: int) -> None:
        """add: has the run wait for one more."""
        self._add, self._number = add, number
        self.count = 0

    def add(self, key: Any, pending: Future) -> None:
        """Waits for one more."""
        self.count += 1
        self._add((self._number, key), pending)


class UnderWay(NamedTuple):
    """A conditional or loop that has begun: what goes on with it, and what it gives in the end."""

    resume: Callable[[Any, Future], None]
    inside: Inside
    results: Callable[[], list[Any]]


class Rest(NamedTuple):
    """Where a line stopped: what is over, what is under way, and what is still to come."""

    over: int
    parts: list[int]
    waits: list[int]
    futures: FutureSet
    under_way: dict[int, UnderWay]


class _Part:
    """A compiled part."""

    __slots__ = ("after", "bit", "gives", "number", "run", "takes")

    def __init__(self, line: Line, runner: AsyncRunner, number: int) -> None:
        part = runner.parts[number]
        self.number, self.run = number, runner.runners[number]
        self.after, self.bit = part.after, 0
        self.takes = [line.slots[tensor] for tensor in part.takes]
        self.gives = [(line.slot(tensor), tensor) for tensor in part.gives]

    def begin(self, walk: _Walk) -> bool:
        """Runs it; True, as it is over then."""
        values = walk.values
        results = self.run([values[slot] for slot in self.takes])
        for (slot, tensor), value in zip(self.gives, results):
            values[slot] = value if type(value) is np.ndarray else as_array(tensor, value)
        return True


class _Wait:
    """An operation that may have to wait, at the top."""

    __slots__ = (
        *("after", "bit", "gives", "number", "op", "reads", "session", "spread", "start", "takes"),
    )

    def __init__(self, line: Line, runner: AsyncRunner, number: int) -> None:
        wait = runner.waits[number]
        op = self.op = wait.operations[-1]
        self.number, self.start = number, runner.evaluate.bound(op)
        self.after, self.bit, self.session = wait.after, 1 << number, line.session
        self.takes = [line.slots[tensor] for tensor in op._inputs_val]
        # A variable's tensor stands for its memory. Who takes a value gets what is in it when the
        # operation begins.
        pairs = zip(op._inputs_val, op._input_types_val)
        self.reads = [
            i
            for i, (tensor, wanted) in enumerate(pairs)
            if tensor.dtype._is_ref_dtype and not wanted._is_ref_dtype
        ]
        # What is fed of its outputs stays what was fed.
        self.gives = [
            (number, line.slot(tensor), tensor)
            for number, tensor in enumerate(op.outputs)
            if tensor not in runner.feeds
        ]
        self.spread = runner.evaluate.spread

    def begin(self, walk: _Walk) -> bool:
        """Begins it; whether it is over."""
        values = walk.values
        with within(self.session):
            result = self.start(self._inputs(values))
        if not isinstance(result, Future):
            self._store(values, result)
        elif result.is_done and result.result is not DEAD:
            self.end(walk, None, result)
        else:
            walk.add((self.number, None), result)
            return False
        return True

    def end(self, walk: _Walk, key: object, pending: Future) -> bool:
        """Takes the results of a wait that is over; True."""
        del key
        if pending.error is not None:
            raise interpreter.located(pending.error, self.op) from pending.error
        self._store(walk.values, pending.result)
        return True

    def _inputs(self, values: _Values) -> list[Any]:
        found = [values[slot] for slot in self.takes]
        for i in self.reads:
            if isinstance(found[i], VariableStorage):
                try:
                    found[i] = found[i].read()
                except Exception as error:
                    raise interpreter.located(error, self.op) from error
        return found

    def _store(self, values: _Values, result: object) -> None:
        if self.gives:
            found = self.spread(self.op, result)
            for number, slot, tensor in self.gives:
                value = found[number]
                values[slot] = value if type(value) is np.ndarray else as_array(tensor, value)


class _Branches:
    """Branches with waits inside, which begin when all is there that they take."""

    __slots__ = ("after", "bit", "branches", "gives", "number", "sides", "takes")

    def __init__(self, line: Line, branches: WaitingBranches, number: int, after: int) -> None:
        self.number, self.after, self.bit = number, after, 1 << number
        self.branches = branches
        self.takes = [(tensor, line.slots[tensor]) for tensor in branches.takes]
        self.gives = [(line.slot(tensor), tensor) for tensor in branches.gives]
        # Where predicates lie, one of which has to be so for anything to be done; None: who knows.
        sides = None if self.gives else branches.sides
        self.sides = sides and [(line.slots[side.predicate], side.is_true) for side in sides]

    def begin(self, walk: _Walk) -> bool:
        """Begins them; whether they are over."""
        values, sides = walk.values, self.sides
        # (As where one of several queues is chosen: most of such branches do nothing.)
        if sides and all(bool(values[slot]) != is_true for slot, is_true in sides):
            return True
        inside = Inside(walk.add, self.number)
        begun = self.branches.begin({tensor: values[slot] for tensor, slot in self.takes}, inside)
        under_way = UnderWay(begun.resume, inside, begun.results)
        if inside.count:
            walk.under_way[self.number] = under_way
            return False
        self._store(values, under_way)
        return True

    def end(self, walk: _Walk, key: object, pending: Future) -> bool:
        """Goes on behind one wait; whether they are over."""
        under_way = walk.under_way[self.number]
        under_way.inside.count -= 1
        under_way.resume(key, pending)
        if under_way.inside.count:
            return False
        del walk.under_way[self.number]
        self._store(walk.values, under_way)
        return True

    def _store(self, values: _Values, under_way: UnderWay) -> None:
        for (slot, tensor), value in zip(self.gives, under_way.results()):
            values[slot] = as_array(tensor, value)


_Step = Union[_Part, _Wait, _Branches]


class Line:
    """What a runner does when nothing waits, in order.

    `slots` tells where the value of a tensor lies among those of a run.
    """

    def __init__(self, runner: AsyncRunner, branches: dict[int, WaitingBranches]) -> None:
        """branches: what runs those waits that are branches, by number."""
        self.session, self.feeds = runner.evaluate.session, len(runner.feeds)
        self.slots: dict[Any, int] = {}
        # What is known before, and where what is fed goes.
        self.start: _Values = []
        for tensor, value in runner.fixed.items():
            self.start[self.slot(tensor)] = value
        self.fed = [self.slot(tensor) for tensor in runner.feeds]
        self.handles: list[tuple[Callable[[Sequence[Any]], Any], list[int]]] = [
            (runner.evaluate.bound(op), [self.slot(tensor) for tensor in op.outputs])
            for op in runner.handles
        ]
        self.aliases = [
            (self.slot(tensor), self.slot(origin)) for tensor, origin in runner.plan.origins.items()
        ]
        self.steps = self._in_order(runner, branches)
        self.waits = {step.number: step for step in self.steps if not isinstance(step, _Part)}
        self.fetches = [(self.slots[tensor], tensor) for tensor in runner.fetches]
        # Slots by name, for what goes on from here.
        self.names = list(self.slots)

    def slot(self, tensor: object) -> int:
        """The slot of a tensor."""
        if tensor not in self.slots:
            self.slots[tensor] = len(self.slots)
            self.start.append(None)
        return self.slots[tensor]

    def _in_order(self, runner: AsyncRunner, branches: dict[int, WaitingBranches]) -> list[_Step]:
        steps: list[_Step] = []
        parts, waits = list(range(len(runner.parts))), list(range(len(runner.waits)))
        after = [wait.after for wait in runner.waits]
        for number in branches:
            after[number] = _needed(runner.plan.parts, runner.waits, number)
        over = 0
        while parts or waits:
            ready = [i for i in parts if not runner.parts[i].after & ~over]
            steps += [_Part(self, runner, i) for i in ready]
            parts = [i for i in parts if i not in ready]
            begun = [i for i in waits if not after[i] & ~over]
            for i in begun:
                found = branches.get(i)
                steps.append(
                    _Wait(self, runner, i) if found is None else _Branches(self, found, i, after[i])
                )
                over |= 1 << i
            waits = [i for i in waits if i not in begun]
        return steps

    def begin(self, arrays: Sequence[np.ndarray]) -> _Values:
        """The values of a new run, as far as they are known."""
        values = self.start.copy()
        for slot, array in zip(self.fed, arrays):
            values[slot] = array
        with within(self.session):
            for make, slots in self.handles:
                found = make(())
                for slot, value in zip(slots, found if len(slots) > 1 else (found,)):
                    values[slot] = value
        for slot, origin in self.aliases:
            values[slot] = values[origin]
        return values

    def fetched(self, values: _Values, slot: int, tensor: Tensor) -> Any:
        """A fetched value as the caller gets it: a copy, unless nobody else sees it."""
        value = values[slot]
        is_large = type(value) is np.ndarray and value.ndim and value.nbytes >= interpreter.LARGE
        if is_large and value.flags.writeable and is_alone(values, slot, 1):
            return value
        return interpreter.fetched(value, tensor)

    def run(self, values: _Values, patience: float) -> Rest | None:
        """Does what can be done in order; where that ended, unless all is done.

        patience: for so many seconds it waits for what holds up something.
        """
        walk = _Walk(self, values)
        try:
            return walk.run(patience)
        except BaseException:
            release_all(values)
            if walk.futures is not None:
                walk.futures.close()
            raise


def _needed(parts: Sequence[Stage], waits: Sequence[Stage], number: int) -> int:
    """The bits of the waits that branches come behind as a whole."""
    homes = {op: part.after for part in parts for op in part.operations}
    homes.update((op, 1 << i) for i, w in enumerate(waits) if i != number for op in w.operations)
    bits = 0
    for op in waits[number].outside:
        bits |= homes[op]
    return bits


class _Walk:
    """One run of a line."""

    __slots__ = ("futures", "line", "missing", "under_way", "values")

    def __init__(self, line: Line, values: _Values) -> None:
        self.line, self.values = line, values
        # The bits of what has begun and is not over; what is waited for, once something is; and
        # branches among that.
        self.missing = 0
        self.futures: FutureSet | None = None
        self.under_way: dict[int, UnderWay] = {}

    def add(self, key: tuple[int, Any], pending: Future) -> None:
        """Waits for one more."""
        if self.futures is None:
            self.futures = FutureSet(self.line.session)
        self.futures.add(key, pending)

    def run(self, patience: float) -> Rest | None:
        """See `Line.run`."""
        steps = self.line.steps
        while True:
            later: list[_Step] = []
            for step in steps:
                if step.after & self.missing:
                    later.append(step)
                elif not step.begin(self):
                    self.missing |= step.bit
            if self.futures is None or not self.missing:
                return None
            found = self.futures.next_within(patience) if later else self.futures.next()
            # (What is dead concerns all that comes later.)
            if found is None or found[1].result is DEAD:
                if found is not None:
                    self.futures.add(*found)
                return self._rest(later, self.futures)
            (number, key), pending = found
            if self.line.waits[number].end(self, key, pending):
                self.missing &= ~(1 << number)
            steps = later

    def _rest(self, later: Sequence[_Step], futures: FutureSet) -> Rest:
        parts = [step.number for step in later if isinstance(step, _Part)]
        waits = [step.number for step in later if not isinstance(step, _Part)]
        open_bits = self.missing
        for number in waits:
            open_bits |= 1 << number
        over = ((1 << len(self.line.waits)) - 1) & ~open_bits
        return Rest(over, sorted(parts), sorted(waits), futures, self.under_way)


def as_array(tensor: Tensor, value: np.ndarray | np.generic) -> np.ndarray:
    """A value as an array; results of no dimension come as scalars."""
    if isinstance(value, np.ndarray):
        return value
    result = np.empty((), tensor.dtype.base_dtype.np_dtype)
    result[()] = value
    return result
