# SPDX-License-Identifier: Apache-2.0
"""Runs a graph with operations that may have to wait: what is between them is compiled.

A wait that cannot end yet does not hold up what does not depend on it.  What compiled parts will
compute later is tried while a run waits: if that fails, the run fails now.
Imports the rest of jit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.session import interpreter
from ...engine.session.dataflow import FlowProgram, Resume
from ...engine.session.futures import Future, FutureSet
from ..trace.control_regions import connected
from ..trace.partition import Partition, Stage, waits_at_top
from ..trace.tracer import makes_handles

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor

# Makes what runs operations: (operations, fetches, feeds).
MakePart = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Any]
# So long a run waits before it tries what comes later, in seconds: queues that are kept filled
# answer sooner, and cost nothing.
_PATIENCE = 0.05


class AsyncRunner:
    """Computes fetches from feeds, part by part; safe for several threads."""

    def __init__(
        self,
        operations: Sequence[Any],
        fetches: Sequence[Any],
        feeds: Sequence[Any],
        plan: Partition,
        evaluate: Any,
        make: MakePart,
    ) -> None:
        self.operations, self.fetches, self.feeds = list(operations), list(fetches), list(feeds)
        self.evaluate = evaluate
        self.parts, self.plan = plan.parts, plan
        self.runners = [make(part.operations, part.gives, part.takes) for part in self.parts]
        self.waits = plan.waits
        # Conditionals and loops that wait inside.
        self.programs = {
            number: FlowProgram(evaluate.session, wait.operations, wait.gives, wait.takes)
            for number, wait in enumerate(plan.waits)
            if not waits_at_top(wait.operations[-1])
        }
        self._trials: dict[Any, Trial] = {}
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
                + ", ".join(_waiting(wait).name for wait in self.waits)
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

    def trial(self, over: int, parts: Sequence[int]) -> Trial:
        """What can be tried of parts that cannot begin before more waits are over."""
        key = (over, *parts)
        if key not in self._trials:
            self._trials[key] = Trial(self, over, [self.parts[number] for number in parts])
        return self._trials[key]

    def _largest(self, arrays: Sequence[np.ndarray]) -> tuple[Stage, Any, list[np.ndarray] | None]:
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


class Trial:
    """Operations of later parts that could run now and change nothing, by reference kernels."""

    def __init__(self, runner: AsyncRunner, over: int, parts: Sequence[Stage]) -> None:
        ready = {
            op
            for part in parts
            for op in part.operations
            if op in runner.plan.free or not runner.plan.early[op] & ~over
        }
        later = [op for part in parts for op in part.operations if op not in ready]
        later += [op for op in ready if not _is_harmless(op) and op not in runner.plan.free]
        given = {tensor for part in parts for tensor in part.takes}
        self.operations = _without(ready, set(later), runner.operations, given)
        inside = {tensor for op in self.operations for tensor in op.outputs}
        used = dict.fromkeys(t for op in self.operations for t in op._inputs_val)
        self.takes = [tensor for tensor in used if tensor not in inside]
        session = runner.evaluate.session
        self._program = interpreter.program_of(session, self.operations, [], self.takes)

    def run(self, known: dict[Any, Any]) -> None:
        """Runs them and drops the results; raises what they raise."""
        self._program.run([known[tensor] for tensor in self.takes])


def _without(
    ready: set[Any], left_out: set[Any], operations: Sequence[Any], given: set[Any]
) -> list[Any]:
    """Operations in order without some, what depends on these, and whole groups they are in."""
    members = [op for op in ready if op.definition.flow or op._control_flow_context]
    group = connected(members)
    size = -1
    while size != len(left_out):
        size = len(left_out)
        broken = {group[op] for op in left_out if op in group}
        left_out |= {op for op in members if group[op] in broken}
        for op in ready - left_out:
            made = [t.op for t in op._inputs_val if t not in given]
            if not left_out.isdisjoint((*made, *op._control_inputs_val)):
                left_out.add(op)
    return [op for op in operations if op in ready and op not in left_out]


def _is_harmless(op: Operation) -> bool:
    """Does an operation neither change anything nor draw random numbers nor wait?"""
    definition = op.definition
    if definition.flow == "wait" or any(arg.is_ref for arg in definition.inputs):
        return False
    return not definition.is_stateful or definition.flow == "step" or definition.moves == "value"


def _waiting(wait: Stage) -> Any:
    """The operation of a wait that may have to wait; the first, of a conditional or loop."""
    return next(op for op in wait.operations if op.definition.flow == "wait")


class _Inside:
    """The waits inside a conditional or loop, which the run waits for among others."""

    def __init__(self, waits: FutureSet, number: int) -> None:
        self._waits, self._number = waits, number
        self.count = 0

    def add(self, key: Any, pending: Future) -> None:
        """Waits for one more."""
        self.count += 1
        self._waits.add((self._number, key), pending)


class _Run:
    """One run: what is known, and which parts and waits are still to come."""

    def __init__(self, runner: AsyncRunner, arrays: Sequence[np.ndarray]) -> None:
        self.runner = runner
        self.known: dict[Any, Any] = dict(runner.fixed)
        self.known.update(zip(runner.feeds, arrays))
        for op in runner.handles:
            self.known.update(zip(op.outputs, runner.evaluate(op, [])))
        self.waits = FutureSet(runner.evaluate.session)
        self.over = 0
        self.next_parts = list(range(len(runner.parts)))
        self.next_waits = list(range(len(runner.waits)))
        # Of conditionals and loops that are under way.
        self.under_way: dict[int, tuple[Resume, _Inside, list[Any]]] = {}

    def execute(self) -> None:
        """Runs everything."""
        while True:
            while self._begin_some():
                pass
            if not self.waits:
                return
            (number, key), pending = self._next()
            self._end(number, key, pending)

    def _next(self) -> tuple[Any, Future]:
        """Waits for one more; if it takes time, sees meanwhile whether what is left would fail."""
        if self.next_parts:
            found = self.waits.next_within(_PATIENCE)
            if found is not None:
                return found
            self.runner.trial(self.over, self.next_parts).run(self.known)
        return self.waits.next()

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
        waits = [i for i in self.next_waits if not self.runner.waits[i].after & ~self.over]
        for number in waits:
            self.next_waits.remove(number)
            if number in self.runner.programs:
                self._begin_group(number)
            else:
                self._begin(number)
        return bool(parts or waits)

    def _begin(self, number: int) -> None:
        op = self.runner.waits[number].operations[-1]
        inputs = [self.known[tensor] for tensor in op._inputs_val]
        result = self.runner.evaluate.begin(op, inputs)
        if not isinstance(result, Future):
            self._keep(number, result)
        elif result.is_done:
            self._end(number, None, result)
        else:
            self.waits.add((number, None), result)

    def _begin_group(self, number: int) -> None:
        program, wait = self.runner.programs[number], self.runner.waits[number]
        values = program.start([self.known[tensor] for tensor in wait.takes])
        inside = _Inside(self.waits, number)
        resume = program.begin(values, inside)
        self.under_way[number] = (resume, inside, values)
        self._end_group(number)

    def _end_group(self, number: int) -> None:
        """Takes the results of a conditional or loop if nothing in it waits any more."""
        _, inside, values = self.under_way[number]
        if inside.count:
            return
        del self.under_way[number]
        results = self.runner.programs[number].results(values)
        for tensor, value in zip(self.runner.waits[number].gives, results):
            self.known[tensor] = _array(tensor, value)
        self.over |= 1 << number

    def _end(self, number: int, key: Any, pending: Future) -> None:
        if number in self.under_way:
            resume, inside, _ = self.under_way[number]
            inside.count -= 1
            resume(key, pending)
            self._end_group(number)
            return
        op = self.runner.waits[number].operations[-1]
        try:
            result = pending.outcome()
        except Exception as error:
            raise interpreter.located(error, op) from error
        self._keep(number, result)

    def _keep(self, number: int, result: Any) -> None:
        op = self.runner.waits[number].operations[-1]
        for tensor, value in zip(op.outputs, self.runner.evaluate.spread(op, result)):
            self.known[tensor] = _array(tensor, value)
        self.over |= 1 << number


def _array(tensor: Tensor, value: np.ndarray | np.generic) -> Any:
    """A value as an array; results of no dimension come as scalars."""
    if isinstance(value, np.ndarray):
        return value
    result = np.empty((), tensor.dtype.base_dtype.np_dtype)
    result[()] = value
    return result
