# SPDX-License-Identifier: Apache-2.0
"""Runs a graph with operations that may have to wait: what is between them is compiled.

A wait that cannot end yet does not hold up what does not depend on it.  Imports the rest of jit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..engine import interpreter
from ..engine.waiting import Pending, Waits
from .parts import Cut, Part
from .trace import makes_handles

# Makes what runs operations: (operations, fetches, feeds).
MakePart = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Any]


class WaitingRunner:
    """Computes fetches from feeds, part by part; safe for several threads."""

    def __init__(
        self,
        operations: Sequence[Any],
        fetches: Sequence[Any],
        feeds: Sequence[Any],
        plan: Cut,
        evaluate: Any,
        make: MakePart,
    ) -> None:
        self.operations, self.fetches, self.feeds = list(operations), list(fetches), list(feeds)
        self.evaluate = evaluate
        self.parts = plan.parts
        self.runners = [make(part.operations, part.gives, part.takes) for part in self.parts]
        self.waits = plan.waits
        self.handles = [op for op in plan.free if makes_handles(op)]
        self.fixed = {
            op.outputs[i]: np.asarray(value)
            for op in plan.free
            if not makes_handles(op)
            for i, value in enumerate(evaluate(op, []))
        }

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """The fetches' values, each an array of its own."""
        run = _Run(self, arrays)
        try:
            run.execute()
        finally:
            run.waits.close()
        return [interpreter.fetched(run.known[tensor], tensor) for tensor in self.fetches]

    def explain(self, arrays: Sequence[np.ndarray]) -> Any:
        """The report of the largest part, as far as the sizes of what it takes are known."""
        part, runner, inputs = self._largest(arrays)
        if inputs is None:
            return (
                "Compiled once it is known what comes out of "
                + ", ".join(op.name for op, _ in self.waits)
                + "."
            )
        del part
        return runner.explain(inputs)

    def prepare(self, arrays: Sequence[np.ndarray]) -> Any:
        """The plan of the largest part and its sizes."""
        part, runner, inputs = self._largest(arrays)
        if inputs is None:
            unknown = ", ".join(t.name for t in part.takes if not t.shape.is_fully_defined())
            raise ValueError(f"The shape of {unknown} is known only when the graph runs.")
        return runner.prepare(inputs)

    def _largest(self, arrays: Sequence[np.ndarray]) -> tuple[Part, Any, list[np.ndarray] | None]:
        """The part with most operations, what runs it, and values like those that it takes."""
        number = max(range(len(self.parts)), key=lambda i: len(self.parts[i].operations))
        part = self.parts[number]
        fed = dict(zip(self.feeds, arrays))
        inputs: list[np.ndarray] = []
        for tensor in part.takes:
            if tensor in fed:
                inputs.append(fed[tensor])
            elif not tensor.shape.is_fully_defined():
                return part, self.runners[number], None
            else:
                inputs.append(np.zeros(tensor.shape.as_list(), tensor.dtype.base_dtype.np_dtype))
        return part, self.runners[number], inputs


class _Run:
    """One run: what is known, and which parts and waits are still to come."""

    def __init__(self, runner: WaitingRunner, arrays: Sequence[np.ndarray]) -> None:
        self.runner = runner
        self.known: dict[Any, Any] = dict(runner.fixed)
        self.known.update(zip(runner.feeds, arrays))
        for op in runner.handles:
            self.known.update(zip(op.outputs, runner.evaluate(op, [])))
        self.waits = Waits(runner.evaluate.session)
        self.over = 0
        self.next_parts = list(range(len(runner.parts)))
        self.next_waits = list(range(len(runner.waits)))

    def execute(self) -> None:
        """Runs everything."""
        while True:
            while self._begin_some():
                pass
            if not self.waits:
                return
            number, pending = self.waits.next()
            self._end(number, pending)

    def _begin_some(self) -> bool:
        """Starts what can start now; whether there was anything."""
        parts = [i for i in self.next_parts if not self.runner.parts[i].after & ~self.over]
        # Parts are sorted: what a part takes from others is there before it.
        for number in parts:
            self.next_parts.remove(number)
            part = self.runner.parts[number]
            results = self.runner.runners[number]([self.known[t] for t in part.takes])
            for tensor, value in zip(part.gives, results):
                self.known[tensor] = _array(tensor, value)
        waits = [i for i in self.next_waits if not self.runner.waits[i][1] & ~self.over]
        for number in waits:
            self.next_waits.remove(number)
            self._begin(number)
        return bool(parts or waits)

    def _begin(self, number: int) -> None:
        op = self.runner.waits[number][0]
        inputs = [self.known[tensor] for tensor in op._inputs_val]
        result = self.runner.evaluate.begin(op, inputs)
        if not isinstance(result, Pending):
            self._keep(number, result)
        elif result.is_done:
            self._end(number, result)
        else:
            self.waits.add(number, result)

    def _end(self, number: int, pending: Pending) -> None:
        op = self.runner.waits[number][0]
        try:
            result = pending.outcome()
        except Exception as error:
            raise interpreter.located(error, op) from error
        self._keep(number, result)

    def _keep(self, number: int, result: Any) -> None:
        op = self.runner.waits[number][0]
        for tensor, value in zip(op.outputs, self.runner.evaluate.spread(op, result)):
            self.known[tensor] = _array(tensor, value)
        self.over |= 1 << number


def _array(tensor: Any, value: Any) -> Any:
    """A value as an array; results of no dimension come as scalars."""
    if isinstance(value, np.ndarray):
        return value
    result = np.empty((), tensor.dtype.base_dtype.np_dtype)
    result[()] = value
    return result
