# SPDX-License-Identifier: Apache-2.0
"""Runs a graph with operations that may have to wait: what is between them is compiled.

A wait that cannot end yet does not hold up what does not depend on it.  What compiled parts will
compute later is tried while a run waits: if that fails, the run fails now.  What has effects is
never put off, and fails by itself.
Imports the rest of jit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.kernel_context import KernelContext
from ...engine.session import interpreter
from ...engine.session.dataflow import FlowProgram
from ...engine.session.futures import DEAD, Future, FutureSet, release_all
from ...engine.session.state import VariableStorage
from ..trace.loop_recovery import Unstructured
from ..trace.partition import Partition, Stage, draws, is_harmless, waits_at_top
from ..trace.tracer import makes_handles
from .straight_run import Inside, Line, Rest, UnderWay, as_array
from .waiting_branches import WaitingBranches

if TYPE_CHECKING:
    from .piecewise import MakeRunner

# Makes what runs operations: (operations, fetches, feeds, variables that others hand it).
MakePart = Callable[[Sequence[Any], Sequence[Any], Sequence[Any], dict[Any, Any]], Any]
# So long a run waits before it tries what comes later, in seconds: queues that are kept filled
# answer sooner, and cost nothing.
_PATIENCE = 0.05
# So many ways to try what comes later are kept.
_MOST_TRIALS = 16
# The number, among waits, of what is left when a tensor turns out to be dead.
_REST = -1


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
        make_within: MakeRunner,
    ) -> None:
        """make, make_within: make what runs parts, and pieces of branches."""
        self.operations, self.fetches, self.feeds = list(operations), list(fetches), list(feeds)
        self.evaluate = evaluate
        self.parts, self.plan = plan.parts, plan
        variables = {
            tensor: cell
            for op in dict.fromkeys(origin.op for origin in plan.origins.values())
            for tensor, cell in zip(op.outputs, evaluate(op, []))
        }
        self.runners = [
            make(
                *(part.operations, part.gives, part.takes),
                {tensor: variables[plan.origins[tensor]] for tensor in part.cells},
            )
            for part in self.parts
        ]
        self.waits = plan.waits
        # Conditionals and loops that wait inside.
        self.programs = {
            number: _program(evaluate.session, wait)
            for number, wait in enumerate(plan.waits)
            if not waits_at_top(wait.operations[-1])
        }
        self._make_within = make_within
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
        line = self.line
        if line is None:
            run = _Run(self, self._known(arrays))
            run.finish()
            return [interpreter.fetched(run.known[tensor], tensor) for tensor in self.fetches]
        values = line.begin(arrays)
        rest = line.run(values, _PATIENCE)
        if rest is None:
            return [line.fetched(values, slot, tensor) for slot, tensor in line.fetches]
        known = {name: value for name, value in zip(line.names, values) if value is not None}
        run = _Run(self, known, rest)
        run.finish()
        return [interpreter.fetched(run.known[tensor], tensor) for tensor in self.fetches]

    @cached_property
    def line(self) -> Line | None:
        """What runs if nothing has to wait for long; None if something may within a loop."""
        if self.programs and self.evaluate.session.flow_class is not None:
            return None
        try:
            branches = {
                number: WaitingBranches(
                    self._make_within, self.evaluate, self.waits[number], self.feeds
                )
                for number in self.programs
            }
        except Unstructured:
            return None
        return Line(self, branches)

    def _known(self, arrays: Sequence[np.ndarray]) -> dict[Any, Any]:
        """What a run knows before anything has run."""
        known: dict[Any, Any] = {**self.fixed, **dict(zip(self.feeds, arrays))}
        for op in self.handles:
            known.update(zip(op.outputs, self.evaluate(op, [])))
        known.update((t, known[origin]) for t, origin in self.plan.origins.items())
        return known

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
        found = self._trials.get(key)
        if found is None:
            if len(self._trials) >= _MOST_TRIALS:
                self._trials.clear()
            found = self._trials[key] = Trial(self, over, [self.parts[n] for n in parts])
        return found

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
    """Operations of later parts that could run now and change nothing, by reference kernels.

    What acts, what is under way and what follows from either stays out.  Random numbers are drawn
    of streams that nobody uses, and go nowhere.
    """

    def __init__(self, runner: AsyncRunner, over: int, parts: Sequence[Stage]) -> None:
        plan, session = runner.plan, runner.evaluate.session
        later = {op for part in parts for op in part.operations} - plan.free
        waits = [wait for i, wait in enumerate(runner.waits) if not over >> i & 1]
        under_way = {op for wait in waits for op in wait.operations}
        needed = [t.op for op in later for t in op._inputs_val if t not in runner.feeds]
        needed += [other for op in later for other in op._control_inputs_val]
        outside = dict.fromkeys(op for op in needed if op in under_way)
        operations = [op for op in runner.operations if op in later or op in outside]
        made = {tensor for op in operations for tensor in op.outputs if tensor not in runner.feeds}
        used = dict.fromkeys(t for op in later for t in op._inputs_val)
        self.takes = [tensor for tensor in used if tensor not in made]
        self._program = FlowProgram(session, operations, [], self.takes, outside)
        states: dict[Any, Any] = {}
        for node in self._program.nodes:
            op = node.step.op
            if op not in outside and (not is_harmless(op) or draws(op)):
                node.role = "wait"
                node.step.kernel = _endless(node.step.kernel if is_harmless(op) else None)
                node.step.context = KernelContext(op, session.resources, states, session=session)

    def run(self, known: dict[Any, Any]) -> None:
        """Runs them and drops the results; raises what they raise."""
        values = self._program.start([known[tensor] for tensor in self.takes])
        for step in self._program.outside.values():
            values[step.slot] = Future()
        self._program.begin(values, _Nobody())


def _endless(kernel: Callable[..., Any] | None) -> Callable[..., Future]:
    """A kernel that runs another, if any, and gives nothing."""

    def run(*arguments: Any) -> Future:
        # It runs for its errors alone.
        if kernel is not None:
            kernel(*arguments)
        return Future()

    return run


class _Nobody:
    """Waits for nothing."""

    def add(self, key: Any, pending: Future) -> None:
        """Notes nothing: the pending result never comes."""


def _waiting(wait: Stage) -> Any:
    """The operation of a wait that may have to wait; the first, of a conditional or loop."""
    waiting = (op for op in wait.operations if op.definition.control_flow_role == "wait")
    return next(waiting, wait.operations[0])


def _program(session: Any, wait: Stage) -> FlowProgram:
    """What runs a conditional or loop as its inputs come."""
    operations = [*wait.outside, *wait.operations]
    return FlowProgram(session, operations, wait.gives, wait.takes, wait.outside)


class _Run:
    """One run: what is known, and which parts and waits are still to come."""

    def __init__(
        self, runner: AsyncRunner, known: dict[Any, Any], rest: Rest | None = None
    ) -> None:
        """known: what is known so far, by tensor.  rest: what is left where a part is done."""
        self.runner, self.known = runner, known
        # Bit i says that wait i is over. What comes after waits has their bits in `after`, so
        # `after & ~over` is zero once nothing holds it up.
        self.over = 0
        # When what is left is tried, and what has been.
        self.patient_until = time.monotonic() + _PATIENCE
        self.tried = -1
        self.next_parts = list(range(len(runner.parts)))
        self.next_waits = list(range(len(runner.waits)))
        # Conditionals and loops that are under way, and what they wait for outside.
        self.under_way: dict[int, UnderWay] = {}
        self.outside: dict[Any, list[Future]] = {}
        self.done: set[Any] = set()  # operations whose results are known
        self.dead: set[Any] = set()  # and those that turned out to have none
        # Once there is one: what runs all that had not begun, and the fetches that it gives.
        self.rest: tuple[FlowProgram, list[Any]] | None = None
        if rest is None:
            self.waits = FutureSet(runner.evaluate.session)
            return
        self.over, self.next_parts, self.next_waits = rest.over, rest.parts, rest.waits
        # It has been waited for already.
        self.waits, self.patient_until = rest.futures, 0.0
        self.under_way.update(rest.under_way)
        if runner.programs:
            left = {*self.next_parts}
            done = [part for number, part in enumerate(runner.parts) if number not in left]
            done += [wait for number, wait in enumerate(runner.waits) if self.over >> number & 1]
            self.done.update(op for stage in done for op in stage.operations)

    def finish(self) -> None:
        """Runs all that is left."""
        try:
            self.execute()
        except BaseException:
            release_all(self.known.values())
            raise
        finally:
            self.waits.close()

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
        if self.next_parts and self.tried != self.over:
            left = self.patient_until - time.monotonic()
            found = self.waits.next_within(left) if left > 0 else None
            if found is not None:
                return found
            # Once for each set of waits that are over: until the next ends nothing new is known.
            self.runner.trial(self.over, self.next_parts).run(self.known)
            self.tried = self.over
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
                self.known[tensor] = as_array(tensor, value)
            self._tell(part.operations)
        waits = [i for i in self.next_waits if not self.runner.waits[i].after & ~self.over]
        # Conditionals and loops go on as what they take comes: little of it is left to come when
        # all else that can begin has done so.
        single = [i for i in waits if i not in self.runner.programs]
        for number in single if parts or single else waits:
            if number not in self.next_waits:
                # A dead tensor has come, and the rest has been taken over.
                continue
            self.next_waits.remove(number)
            if number in self.runner.programs:
                self._begin_group(number)
            else:
                self._begin(number)
        return bool(parts or waits)

    def _begin(self, number: int) -> None:
        op = self.runner.waits[number].operations[-1]
        inputs = [self._input(op, i) for i in range(len(op._inputs_val))]
        result = self.runner.evaluate.begin(op, inputs)
        if not isinstance(result, Future):
            self._keep(number, result)
        elif result.is_done:
            self._end(number, None, result)
        else:
            self.waits.add((number, None), result)

    def _input(self, op: Any, position: int) -> Any:
        tensor, wanted = op._inputs_val[position], op._input_types_val[position]
        value = self.known[tensor]
        if (
            # A variable's tensor stands for its memory. Who takes a value gets what is in it when
            # the operation begins.
            isinstance(value, VariableStorage)
            and not wanted._is_ref_dtype
            and tensor.dtype._is_ref_dtype
        ):
            try:
                return value.read()
            except Exception as error:
                raise interpreter.located(error, op) from error
        return value

    def _tell(self, operations: Iterable[Any]) -> None:
        """Gives the results of operations to the conditionals and loops that wait for them."""
        for op in operations:
            self.done.add(op)
            given = DEAD if op in self.dead else [self.known.get(t) for t in op.outputs]
            for pending in self.outside.pop(op, ()):
                pending.settle(given)

    def _begin_group(self, number: int) -> None:
        self._start(number, self.runner.programs[number], self.runner.waits[number].takes)

    def _start(self, number: int, program: FlowProgram, takes: Sequence[Any]) -> None:
        values = program.start([self.known[tensor] for tensor in takes])
        for op, step in program.outside.items():
            if op in self.done and op not in self.dead:
                step.store(values, [self.known.get(t) for t in op.outputs])
                continue
            pending = values[step.slot] = Future()
            self.outside.setdefault(op, []).append(pending)
        inside = Inside(self.waits.add, number)
        resume = program.begin(values, inside)
        self.under_way[number] = UnderWay(resume, inside, partial(program.results, values))
        # What need not wait is over before the conditional or loop meets what is dead.
        self._tell([op for op in program.outside if op in self.done and op in self.dead])
        self._end_group(number)

    def _end_group(self, number: int) -> None:
        """Takes the results of a conditional or loop if nothing in it waits any more."""
        under_way = self.under_way[number]
        if under_way.inside.count:
            return
        del self.under_way[number]
        if number == _REST:
            assert self.rest is not None, "what is under way has begun"
            gives = self.rest[1]
        else:
            gives = self.runner.waits[number].gives
        for tensor, value in zip(gives, under_way.results()):
            self.known[tensor] = as_array(tensor, value)
        if number != _REST:
            self._note_end(number)

    def _end(self, number: int, key: Any, pending: Future) -> None:
        if number in self.under_way:
            under_way = self.under_way[number]
            under_way.inside.count -= 1
            under_way.resume(key, pending)
            self._end_group(number)
            return
        op = self.runner.waits[number].operations[-1]
        try:
            result = pending.outcome()
        except Exception as error:
            raise interpreter.located(error, op) from error
        if result is DEAD:
            if self.rest is None:
                self._take_over()
            self.dead.add(op)
            self._note_end(number)
        else:
            self._keep(number, result)

    def _take_over(self) -> None:
        """Has all that has not begun run operation by operation, as some of it never will.

        Another task turned out not to make a tensor: it is of a branch that was not taken.
        """
        runner = self.runner
        begun = [
            wait
            for i, wait in enumerate(runner.waits)
            if not self.over >> i & 1 and i not in self.next_waits
        ]
        outside = dict.fromkeys(op for wait in begun for op in wait.operations)
        left = {op for i in self.next_parts for op in runner.parts[i].operations}
        left.update(op for i in self.next_waits for op in runner.waits[i].operations)
        left.difference_update(outside)
        operations = [op for op in runner.operations if op in left or op in outside]
        made = {t for op in operations for t in op.outputs if t not in runner.feeds}
        used = dict.fromkeys(t for op in operations if op in left for t in op._inputs_val)
        takes = [tensor for tensor in used if tensor not in made]
        gives = [tensor for tensor in runner.fetches if tensor.op in left]
        session = runner.evaluate.session
        program = (session.flow_class or FlowProgram)(session, operations, gives, takes, outside)
        self.rest = program, gives
        self.next_parts, self.next_waits = [], []
        self._start(_REST, program, takes)

    def _keep(self, number: int, result: Any) -> None:
        op = self.runner.waits[number].operations[-1]
        for tensor, value in zip(op.outputs, self.runner.evaluate.spread(op, result)):
            # What is fed stays what was fed.
            if tensor not in self.runner.feeds:
                self.known[tensor] = as_array(tensor, value)
        self._note_end(number)

    def _note_end(self, number: int) -> None:
        self.over |= 1 << number
        self.patient_until = time.monotonic() + _PATIENCE
        self._tell(self.runner.waits[number].operations)
