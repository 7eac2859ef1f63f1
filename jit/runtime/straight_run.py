# SPDX-License-Identifier: Apache-2.0
"""Parts and waits of a run in one line, as they come where nothing has to wait for long.

A thread that fills a queue runs a few small operations over and over: what it costs to find out
each time what can begin counts more than they do.  So the order in which all begins if every wait
is over at once is found once.  Where one is not, and something else could go on meanwhile, or it
takes its time, jit/runtime/async_runner.py goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine.memory import is_alone
from ...engine.session import interpreter
from ...engine.session.futures import DEAD, Future, FutureSet
from ...engine.session.state import VariableStorage
from ...engine.stopping import within

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from .async_runner import AsyncRunner

_Values = list[Any]
# Smaller results are copied sooner than it is found out whose they are.
_LARGE = 1 << 12


class Rest(NamedTuple):
    """Where a line stopped: a wait is under way, these numbers are still to come."""

    pending: Future
    number: int
    over: int
    parts: list[int]
    waits: list[int]
    futures: FutureSet | None


class _Part:
    """A compiled part."""

    __slots__ = ("gives", "number", "run", "takes")

    def __init__(self, line: Line, runner: AsyncRunner, number: int) -> None:
        part = runner.parts[number]
        self.number, self.run = number, runner.runners[number]
        self.takes = [line.slots[tensor] for tensor in part.takes]
        self.gives = [(line.slot(tensor), tensor) for tensor in part.gives]


class _Wait:
    """An operation that may have to wait, at the top."""

    __slots__ = ("begin", "gives", "holds_all", "number", "op", "reads", "spread", "takes")

    def __init__(self, line: Line, runner: AsyncRunner, number: int) -> None:
        op = self.op = runner.waits[number].operations[-1]
        self.number, self.begin = number, runner.evaluate.bound(op)
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
        # Whether nothing that comes later can begin before it is over.
        self.holds_all = False

    def inputs(self, values: _Values) -> list[Any]:
        found = [values[slot] for slot in self.takes]
        for i in self.reads:
            if isinstance(found[i], VariableStorage):
                try:
                    found[i] = found[i].read()
                except Exception as error:
                    raise interpreter.located(error, self.op) from error
        return found

    def keep(self, values: _Values, pending: Future) -> None:
        """Takes the results of a wait that is over."""
        if pending.error is not None:
            raise interpreter.located(pending.error, self.op) from pending.error
        self.store(values, pending.result)

    def store(self, values: _Values, result: object) -> None:
        """Puts results where they belong."""
        if self.gives:
            found = self.spread(self.op, result)
            for number, slot, tensor in self.gives:
                value = found[number]
                values[slot] = value if type(value) is np.ndarray else as_array(tensor, value)


class Line:
    """What a runner does when nothing waits, in order.

    `slots` tells where the value of a tensor lies among those of a run.
    """

    def __init__(self, runner: AsyncRunner) -> None:
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
        self.steps = self._in_order(runner)
        self.fetches = [(self.slots[tensor], tensor) for tensor in runner.fetches]
        # Slots by name, for what goes on from here.
        self.names = list(self.slots)

    def slot(self, tensor: object) -> int:
        """The slot of a tensor."""
        if tensor not in self.slots:
            self.slots[tensor] = len(self.slots)
            self.start.append(None)
        return self.slots[tensor]

    def _in_order(self, runner: AsyncRunner) -> list[_Part | _Wait]:
        steps: list[_Part | _Wait] = []
        parts, waits = list(range(len(runner.parts))), list(range(len(runner.waits)))
        over = 0
        while parts or waits:
            ready = [i for i in parts if not runner.parts[i].after & ~over]
            steps += [_Part(self, runner, i) for i in ready]
            parts = [i for i in parts if i not in ready]
            begun = [i for i in waits if not runner.waits[i].after & ~over]
            steps += [_Wait(self, runner, i) for i in begun]
            waits = [i for i in waits if i not in begun]
            for i in begun:
                over |= 1 << i
        after = {False: runner.waits, True: runner.parts}
        for at, step in enumerate(steps):
            if isinstance(step, _Wait):
                later = [after[isinstance(s, _Part)][s.number].after for s in steps[at + 1 :]]
                step.holds_all = all(bits >> step.number & 1 for bits in later)
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
        is_large = type(value) is np.ndarray and value.ndim and value.nbytes >= _LARGE
        if is_large and value.flags.writeable and is_alone(values, slot, 1):
            return value
        return interpreter.fetched(value, tensor)

    def run(self, values: _Values, patience: float) -> Rest | None:
        """Does what can be done in order; where that ended, unless all is done.

        patience: for so many seconds it waits for what holds up all the rest.
        """
        over = 0
        for at, step in enumerate(self.steps):
            if isinstance(step, _Part):
                results = step.run([values[slot] for slot in step.takes])
                for (slot, tensor), value in zip(step.gives, results):
                    values[slot] = value if type(value) is np.ndarray else as_array(tensor, value)
                continue
            with within(self.session):
                result = step.begin(step.inputs(values))
            if not isinstance(result, Future):
                step.store(values, result)
            else:
                futures: FutureSet | None = None
                if not result.is_done and step.holds_all:
                    futures = FutureSet(self.session)
                    if self._is_over(futures, step, result, patience):
                        futures = None
                # (What is dead concerns all that comes later.)
                if futures is not None or not result.is_done or result.result is DEAD:
                    return self._rest(at, result, over, futures)
                step.keep(values, result)
            over |= 1 << step.number
        return None

    def _is_over(self, futures: FutureSet, step: _Wait, pending: Future, patience: float) -> bool:
        """Waits for the last that holds up the run; whether it was over in time."""
        futures.add((step.number, None), pending)
        try:
            is_last = step is self.steps[-1]
            if is_last:
                futures.next()
                return True
            return futures.next_within(patience) is not None
        except BaseException:
            futures.close()
            raise

    def _rest(self, at: int, pending: Future, over: int, futures: FutureSet | None) -> Rest:
        later = self.steps[at + 1 :]
        parts = [step.number for step in later if isinstance(step, _Part)]
        waits = [step.number for step in later if isinstance(step, _Wait)]
        return Rest(pending, self.steps[at].number, over, sorted(parts), sorted(waits), futures)


def as_array(tensor: Tensor, value: np.ndarray | np.generic) -> np.ndarray:
    """A value as an array; results of no dimension come as scalars."""
    if isinstance(value, np.ndarray):
        return value
    result = np.empty((), tensor.dtype.base_dtype.np_dtype)
    result[()] = value
    return result
