# SPDX-License-Identifier: Apache-2.0
"""What `Session.run` calls for one set of fetches and feeds: plans, and host operations between.

A graph is compiled in segments.  Most have one; an operation whose result shapes depend on data
ends a segment, runs on the host by itself, and a new segment begins with what it gave.
Imports the rest of jit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors, settings, stopping
from ...engine.graph import trust
from ...engine.memory import is_alone
from ...engine.session import host_calls, interpreter, run_order
from ...engine.session.dataflow import FlowProgram
from ..schedule.bind import Binding
from ..trace.bit_exact import is_made_of_constants
from ..trace.control_regions import arranged
from ..trace.folding import may_round
from ..trace.loop_recovery import Unstructured
from ..trace.partition import cut, is_free
from ..trace.segment import Segment, Traced
from ..trace.tracer import is_handle
from .async_runner import AsyncRunner
from .backend import end_of
from .evaluator import Evaluator
from .guessed_sizes import Plans, plans_of
from .host_lead import HostLead, lead_of
from .late_sizes import LateSizes
from .piecewise import Piecewise
from .plan import Plan
from .reading import left_out
from .segment_plans import CompileFailure
from .tiered_runner import InterpretedRunner, TieredRunner

if TYPE_CHECKING:
    from ...engine.graph.graph import Graph
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ...engine.session.session import BaseSession
    from ..report.plan_report import PlanReport

# Errors of runs that say nothing of the values that were fed.
_NOT_OF_VALUES = (
    *(errors.CancelledError, errors.DeadlineExceededError, errors.AbortedError),
    *(errors.ResourceExhaustedError, errors.PermissionDeniedError, errors.InternalError),
)
NONE: Mapping[Any, Any] = MappingProxyType({})
# So many runs are looked at for what all begin with.
_MOST_LOOKS = 3
# Seconds of a piece of a loop that is run by pieces, of which its kernels are but a part.
_SMALL_PIECE = 5e-4
# So few operations that give the same bits anywhere are run one by one between waits.
_MOST_EXACT = 24
# So few operations on truth values and whole numbers, as a loop's test has, are not worth a plan.
_TRIFLE = 6


def make_runner(
    session: BaseSession,
    graph: Graph,
    fetches: Sequence[Any],
    targets: Sequence[Any],
    feeds: Sequence[Any],
    cells: Mapping[Any, Any] = NONE,
    leads: bool = False,
) -> Callable[[Sequence[Any]], list[Any]]:
    """What runs a part of a graph: compiled at once, or from the second run on (mode auto).

    leads: what can run on the host in front of all else does.
    """
    operations = run_order.needed_operations(fetches, targets, [*feeds, *cells])
    trust.require(operations)
    always = settings.mode(session.config) == "always"
    if not always and _only_moves(operations):
        return _reference(session, operations, fetches, feeds, "values to and from files", cells)
    if not always and host_calls.only_takes_data(operations, feeds):
        return _reference(session, operations, fetches, feeds, "data from elsewhere", cells)
    runner = _compiled(session, operations, fetches, feeds, always, cells, leads)
    if isinstance(runner, InterpretedRunner) or always:
        return runner
    # Where the run is in parts each of them decides for itself.
    return TieredRunner(
        runner,
        lambda: _reference(session, operations, fetches, feeds, "", cells).run,
        is_first=isinstance(runner, Runner),
    )


def _only_moves(operations: Sequence[Any]) -> bool:
    """Whether values go to or from files and nothing is computed that could be compiled."""
    kinds = [op.definition for op in operations]
    return any(kind.transfer == "file" for kind in kinds) and all(
        kind.transfer or kind.lower is None for kind in kinds
    )


def _compiled(
    session: BaseSession,
    operations: Sequence[Any],
    fetches: Sequence[Any],
    feeds: Sequence[Any],
    always: bool,
    cells: Mapping[Any, Any] = NONE,
    leads: bool = False,
) -> Runner | AsyncRunner | InterpretedRunner:
    """What compiles the operations, as far as that can be."""
    evaluate = Evaluator(session)
    if not any(op.definition.control_flow_role == "wait" for op in operations):
        return _without_waits(evaluate, operations, fetches, feeds, cells, leads)
    if cells:
        return _reference(session, operations, fetches, feeds, "waits within a function", cells)
    parts = cut(operations, fetches, feeds)
    if parts is None:
        # Only all of it, operation by operation, goes on where one part waits and another fails.
        return _reference(session, operations, fetches, feeds, "waits between branches or loops")

    def make(
        operations: Sequence[Any],
        fetches: Sequence[Any],
        feeds: Sequence[Any],
        cells: dict[Any, Any],
    ) -> Any:
        exact: Any = {"is_exact": lambda op: not may_round(op, evaluate)}
        on_host = partial(host_calls.runs_on_host, operations, feeds, cells, **exact)
        # (Between waits are single elements as a rule, each of another size.)
        if not always and (on_host() or on_host(varies=True, most_others=_MOST_EXACT)):
            calls = host_calls.HostCalls(session, operations, fetches, feeds, cells, is_inner=True)
            return InterpretedRunner(calls, "none of it would be compiled")
        runner = _without_waits(evaluate, operations, fetches, feeds, cells, leads=True)
        reference = partial(_reference, session, operations, fetches, feeds, "", cells)
        if isinstance(runner, InterpretedRunner):
            return runner
        return TieredRunner(runner, reference, not always)

    within = partial(_within, evaluate)
    return AsyncRunner(operations, fetches, feeds, parts, evaluate, make, within)


def _without_waits(
    evaluate: Evaluator,
    operations: Sequence[Any],
    fetches: Sequence[Any],
    feeds: Sequence[Any],
    cells: Mapping[Any, Any] = NONE,
    leads: bool = False,
) -> Runner | InterpretedRunner:
    lead = host_calls.leading(operations, feeds, cells) if leads else []
    before = set(lead)
    operations = [op for op in operations if op not in before]
    flow = next((op for op in operations if op.definition.control_flow_role), None)
    regions: dict[int, int] | None = {}
    if flow is not None:
        found = arranged(operations, feeds)
        if found is None:
            reason = f"a tensor within a conditional or loop ('{flow.name}') is fed"
            return _reference(evaluate.session, operations, fetches, feeds, reason, cells)
        operations, inner = found
        regions = {start + len(lead): end + len(lead) for start, end in inner.items()}
    begins = len(lead) if leads else None
    return Runner([*lead, *operations], fetches, feeds, evaluate, regions, cells, lead=begins)


def _within(
    evaluate: Evaluator,
    operations: Sequence[Any],
    fetches: Sequence[Any],
    feeds: Sequence[Any],
    cells: Mapping[Any, Any],
    around: Collection[Any],
) -> Callable[[Sequence[Any]], list[Any]]:
    """What runs operations within a branch or loop that is no plan as a whole."""
    # (What is but a trifle needs no operation that only the host runs, to run there.)
    others = _TRIFLE if _is_trifle(operations) else 0
    boxed = frozenset(filter(is_handle, feeds))
    about = evaluate.session, operations, fetches, feeds
    on_host = partial(host_calls.runs_on_host, operations, feeds, cells, boxed=boxed)
    if on_host(least=0, most_others=others) or on_host():
        return host_calls.HostCalls(*about, cells, is_inner=True)
    reference = partial(_reference, *about, "", cells)
    found = None if _is_trifle(operations) else arranged(operations, feeds, around)
    if found is None:
        return reference().run
    runner = Runner(found[0], fetches, feeds, evaluate, found[1], cells, is_inner=True)
    return TieredRunner(runner, reference, is_first=False)


def _is_trifle(operations: Sequence[Any]) -> bool:
    """Is it quicker to run a few operations on whole numbers than to call a plan for them?"""
    if len(operations) > _TRIFLE or any(op.definition.control_flow_role for op in operations):
        return False
    kinds = [output.dtype.base_dtype for op in operations for output in op.outputs]
    return all(kind.is_integer or kind.is_bool for kind in kinds) and not any(
        op.definition.is_stateful for op in operations
    )


def _reference(
    session: BaseSession,
    operations: Sequence[Any],
    fetches: Sequence[Any],
    feeds: Sequence[Any],
    reason: str,
    cells: Mapping[Any, Any] = NONE,
) -> InterpretedRunner:
    program = interpreter.program_of(session, operations, fetches, [*feeds, *cells])
    if not cells:
        return InterpretedRunner(program.run, reason)
    return InterpretedRunner(lambda arrays: program.run([*arrays, *cells.values()]), reason)


class Runner:
    """Computes fetches from feeds; shapes of feeds are free, their number and dtypes are not."""

    def __init__(
        self,
        operations: Sequence[Any],
        fetches: Sequence[Any],
        feeds: Sequence[Any],
        evaluate: Evaluator,
        regions: dict[int, int] | None = None,
        cells: Mapping[Any, Any] = NONE,
        is_inner: bool = False,
        lead: int | None = None,
    ) -> None:
        """operations: what the fetches need, in order; evaluate: runs one on the host.

        regions: start and end of runs of operations that branch or loop
        (jit/trace/control_regions.py).  cells: the variables that references stand for which
        operations elsewhere give.  is_inner: it runs a part of what another one runs.  lead: of a
        part between waits, how many operations it begins with on the host.
        """
        self.is_inner, self._is_part = is_inner, is_inner or lead is not None
        self.operations, self.fetches, self.feeds = list(operations), list(fetches), list(feeds)
        self.evaluate, self.cells = evaluate, cells
        self.handles: dict[Any, Any] = dict(cells)
        self.regions = regions or {}
        self._programs: dict[int, tuple[Any, list[Any], list[Any]]] = {}
        self._fed = frozenset(self.feeds)
        self._made = _made_at(self.operations, self.feeds)
        self._used = _last_use(self.operations)
        # What lives for one run, such as an array of tensors, comes as a value.
        self._boxed = {t for t in self.feeds if is_handle(t)}
        self._segments: dict[tuple[int, bool], Plans] = {}
        self._first, self._late = self._segment(0), LateSizes(evaluate)
        self._lead: HostLead | None = None
        if lead:
            self._lead = HostLead(evaluate, self._fed)
            first = set(self.operations[:lead])
            host_calls.let_pack(self.operations, first, self.fetches, evaluate.context)
            self._lead.add_all(self.operations[:lead], cells, partial(self._segment, lead))
        self._looks = _MOST_LOOKS
        # A plan gives each result once, so fetches that repeat are put together from them.
        self._distinct = len(dict.fromkeys(self.fetches)) == len(self.fetches)

    def __call__(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        """The fetches' values, each an array of its own; 0-d ones as NumPy scalars."""
        done = self.evaluate.done
        if done.results and not self.is_inner:
            done.results.clear()  # of a run that failed
        if self._lead is not None:
            return self._run_behind(self._lead, arrays)
        plans = self._first
        began = perf_counter()
        try:
            plan, results = plans.run(arrays)
        except (errors.OpError, CompileFailure) as error:
            return self._refused(error, plans, dict(zip(self.feeds, arrays)))
        # Nearly always: one plan, and its results are the fetches in order.
        if plan.is_whole and self._distinct and len(results) == len(self.fetches):
            return results
        return self._go_on(began, plans, plan, results, dict(zip(self.feeds, arrays)))

    def _run_behind(self, lead: HostLead, arrays: Sequence[np.ndarray]) -> list[Any]:
        """What begins on the host and most often is one plan behind that."""
        known, began = dict(zip(self.feeds, arrays)), perf_counter()
        return self._run_rest(lead.run(known), known, began)

    def begun(self, many: Sequence[Sequence[np.ndarray]]) -> list[Callable[[], list[Any]]] | None:
        """Begins several runs, operation by operation; what ends each of them.

        None if somebody could tell that they did not come one after the other.
        """
        lead, done = self._lead, self.evaluate.done
        if lead is None or not lead.may_run_together or self.is_inner or done.results:
            return None
        began = perf_counter()
        known = [dict(zip(self.feeds, arrays)) for arrays in many]
        failed = lead.run_together(known)
        began += (perf_counter() - began) * (1 - 1 / len(many))  # the share of each of them

        def end(known: dict[Any, Any], error: Exception | None) -> list[Any]:
            if error is not None:
                raise error
            return self._run_rest(lead.behind, known, began)

        return [partial(end, *pair) for pair in zip(known, failed)]

    def _run_rest(self, plans: Plans, known: dict[Any, Any], began: float) -> list[Any]:
        try:
            plan, results = plans.run(plans.taken(known))
        except (errors.OpError, CompileFailure) as error:
            return self._refused(error, plans, known)
        return self._go_on(began, plans, plan, results, known)

    def _go_on(
        self,
        began: float,
        plans: Plans,
        plan: Plan,
        results: list[Any],
        known: dict[Any, Any],
    ) -> list[Any]:
        """The fetches' values, now that the first plan of a run has run."""
        traced = plan.traced
        # (What was given to a plan it does not give itself.)
        is_all = len(traced.exports) == len(self.fetches) and not traced.passed
        if traced.is_complete and is_all:
            if (traced.hosted or plans is not self._first) and not self.is_inner:
                self.evaluate.meter.ran(perf_counter() - began)
            return results
        while True:
            known.update((tensor, results[i]) for tensor, i in traced.exports.items())
            if traced.is_complete:
                self._look_for_lead(known)
                if not self.is_inner:
                    self.evaluate.meter.ran(perf_counter() - began)
                return [self._result(t, known, traced) for t in self.fetches]
            self.handles.update(traced.passed)
            stopping.check_session(self.evaluate.session)
            start, is_late = traced.stop, False
            # What ended its own segment at once would end it again.
            is_stuck = not traced.is_barrier and start == plans.segment.start
            if is_stuck or (traced.is_barrier and start in self.regions):
                start = self._interpret(start, known, traced.hosted[-1:])
            elif traced.is_barrier:
                is_late = self._is_late(start, plans, known)
                if not is_late:
                    start = self._interpret(start, known, traced.hosted[-1:])
            plans = self._segment(start, is_late)
            try:
                plan, results = plans.run(plans.taken(known))
            except (errors.OpError, CompileFailure) as error:
                return self._refused(error, plans, known)
            traced = plan.traced

    def _look_for_lead(self, known: Mapping[Any, Any]) -> None:
        """Looks, in the first runs, how all of them begin (in the very first it may not show)."""
        if self._lead is None and self._looks:
            self._looks -= 1
            lead = HostLead(self.evaluate, self._fed)
            found = lead_of(lead, self.operations, self._segments, self.regions, known)
            self._lead = found

    def _result(self, tensor: Tensor, known: dict[Any, Any], traced: Traced) -> Any:
        """A fetched value that belongs to the caller."""
        if tensor not in known:
            if tensor in traced.passed:
                return traced.passed[tensor].read().copy()
            return left_out(tensor, self.fetches, self._is_part)
        array, op = known[tensor], tensor.op
        if tensor in traced.exports or tensor not in traced.segment.inputs:
            return array
        # It was given to the last plan: fed, or made on the host, perhaps of other memory.
        is_array = isinstance(array, np.ndarray) and array.ndim and array.flags.writeable
        if is_array and tensor not in self.feeds:
            is_new = array.base is None and not op._is_stateful
            if is_new and not any(array is known.get(t) for t in op._inputs_val):
                return array
            if is_alone(known, tensor, 1):
                return array
        return np.array(array)[()]

    def _refused(self, error: Exception, plans: Plans, known: dict[Any, Any]) -> list[Any]:
        """Lets reference kernels do the rest, which say best what is wrong, or that nothing is.

        If what was done so far must not be done again, or the error is not about the values, it is
        raised as it is.
        """
        segment = plans.segment
        arrays = [known[tensor] for tensor in segment.inputs]
        if isinstance(error, _NOT_OF_VALUES) or not self._changes_nothing(error, plans, arrays):
            raise error
        rest = self.operations[segment.start :]
        given = self.feeds if not segment.start else self.live(segment.start)
        given = list(dict.fromkeys([*given, *self.cells]))
        program = interpreter.program_of(self.evaluate.session, rest, self.fetches, given)
        results = program.run([self.handles[t] if t in self.handles else known[t] for t in given])
        # Nothing is wrong with the values, so it is the compiler that failed; who called says so
        # (TieredRunner).
        if isinstance(error, CompileFailure):
            raise error
        return results

    def _changes_nothing(self, error: Exception, plans: Plans, arrays: list[Any]) -> bool:
        """Whether a segment that failed left everything as it was, so that it may run again."""
        if isinstance(error, CompileFailure):
            operations = self.operations[plans.segment.start :]
            return not any(op.definition.is_stateful for op in operations)
        try:
            traced = plans.trace(arrays)
        except (errors.OpError, CompileFailure):
            return True
        # Only complaints about values: other errors, such as missing files, are what they are.
        return traced.is_pure and isinstance(error, errors.InvalidArgumentError)

    def trace(self, arrays: Sequence[np.ndarray]) -> Traced:
        """The (first) program that these feeds use, not yet compiled."""
        return self._first.trace(arrays)

    def prepare(self, arrays: Sequence[np.ndarray]) -> tuple[Plan, Binding]:
        """The (first) plan that these feeds use, compiled but not run, and its sizes."""
        return self._first.prepare(arrays)

    def explain(self, arrays: Sequence[np.ndarray]) -> PlanReport:
        """The report of the plan that these feeds use; nothing is run for its effects.

        With it come the plans that runs so far came to behind it.
        """
        from ..report.profile import later_report, measured_report

        plan, binding = self.prepare(arrays)
        report = measured_report(plan, binding, arrays)
        later = [later_report(*pair) for pair in self.later_plans()]
        return replace(report, plans=tuple(later)) if later else report

    def later_plans(self) -> Iterator[tuple[Plan, Binding]]:
        """What runs were compiled to so far, behind their first plan and piece by piece."""
        for start in sorted({*(start for start, _ in self._segments), *self._programs}):
            for key in ((start, False), (start, True)):
                plans = self._segments.get(key)
                if plans is not None and plans is not self._first:
                    yield from plans.latest
            program = self._programs.get(start, (None,))[0]
            for inner in program.runners if isinstance(program, Piecewise) else ():
                if isinstance(inner, TieredRunner) and isinstance(inner.runner, Runner):
                    yield from inner.runner._first.latest
                    yield from inner.runner.later_plans()

    def is_exact(self, arrays: Sequence[np.ndarray]) -> bool:
        """Would reference kernels give the same bits (see jit/trace/bit_exact.py)?"""
        if is_made_of_constants(
            self.operations, self.feeds, partial(may_round, evaluate=self.evaluate)
        ):
            return True
        try:
            return self._first.is_exact(arrays)
        except (errors.OpError, CompileFailure):
            return True  # reference kernels say best what is wrong

    def live(self, position: int) -> list[Any]:
        """The tensors that exist before operation number `position` and are needed later."""
        end = len(self.operations)
        if position >= end:
            return list(dict.fromkeys(self.fetches))
        needed = [t for t, last in self._used.items() if last >= position]
        needed += [t for t in self.fetches if t not in self._used or self._used[t] < position]
        return [t for t in dict.fromkeys(needed) if self._made.get(t, end) < position]

    def _segment(self, start: int, is_late: bool = False) -> Plans:
        """The plans from an operation on; is_late: they are given its sizes."""
        if (start, is_late) not in self._segments:
            constants: list[Any] = []
            if start == 0 and not is_late:
                inputs = self.feeds
            else:
                # Variables are not handed on as values: the next program reads them when it runs.
                inputs = [
                    t
                    for t in self.live(start)
                    if t not in self.handles and (not _refers(t) or t in self._boxed)
                ]
                # What the graph states is known to every program, not only to the first: shapes
                # that are computed with it are sizes then.
                constants = self._constants(inputs)
                outputs = {t for op in constants for t in op.outputs}
                inputs = [t for t in inputs if t not in outputs]
            if is_late:
                inputs += self._late.given(start)
            # (Not what it gives itself: that another run had it is no reason not to run it again.)
            handles = {t: h for t, h in self.handles.items() if self._made.get(t, -1) < start}
            segment = Segment(
                self.operations,
                start,
                inputs,
                self.live,
                self.evaluate,
                handles,
                self.regions,
                constants,
                end=end_of(self.evaluate.session, self.operations, start, self.regions),
            )
            self._segments[start, is_late] = plans_of(segment, self.is_inner)
        return self._segments[start, is_late]

    def _constants(self, tensors: Sequence[Any]) -> list[Any]:
        """The operations that take nothing and give some of these, not fetched and not fed."""
        others = {*self.fetches, *self.feeds}
        makers = dict.fromkeys(t.op for t in tensors if t not in others)
        return [op for op in makers if is_free(op) and others.isdisjoint(op.outputs)]

    def _is_late(self, start: int, plans: Plans, known: dict[Any, Any]) -> bool:
        """Whether an operation that ended a segment begins the next one, its sizes being known."""
        if plans is self._segments.get((start, True)):
            self._late.leave(start)
        return self._late.settle(start, self.operations[start], plans.segment.inputs, known)

    def _interpret(
        self, start: int, known: dict[Any, Any], hosted: Sequence[tuple[Any, str]]
    ) -> int:
        """Runs an operation, or the region that it begins; the number of what is behind it."""
        began, op = perf_counter(), self.operations[start]
        pieces = 0
        if start in self.regions:
            pieces = self._run_region(start, known)
        else:
            self._host(op, known)
        seconds = perf_counter() - began
        # (Of many small pieces the time is that of what goes from one to the next.)
        if seconds < pieces * _SMALL_PIECE or not pieces:
            reason = next((reason for of, reason in hosted if of is op), "")
            reason = reason.replace("branches or loops:", "piece by piece:") if pieces else reason
            self.evaluate.meter.add(op, reason, seconds)
        return self.regions.get(start, start + 1)

    def _run_region(self, start: int, known: dict[Any, Any]) -> int:
        """Runs branches and loops; in how many pieces, or 0 if by reference kernels alone."""
        if start not in self._programs:
            self._programs[start] = self._program(start, self.regions[start])
        program, inputs, outputs = self._programs[start]
        if isinstance(program, Piecewise):
            before = program.count
            results = program.run({t: known[t] for t in inputs if t not in self.handles})
        elif self.evaluate.done.results:
            ran = ", ".join(f"'{op.name}'" for op in self.evaluate.done.results)
            raise errors.aborted(f"{ran} ran in vain, and would have to run again: try once more")
        else:
            results = program.run(
                [self.handles[t] if t in self.handles else known[t] for t in inputs]
            )
        # What is fed of several outputs stays what was fed, here and elsewhere.
        known.update((t, result) for t, result in zip(outputs, results) if t not in self._fed)
        return program.count - before if isinstance(program, Piecewise) else 0

    def _program(self, start: int, end: int) -> tuple[Any, list[Any], list[Any]]:
        """What runs a region, the tensors that it takes, and those that it gives."""
        operations = self.operations[start:end]
        inside = {tensor for op in operations for tensor in op.outputs}
        taken = dict.fromkeys(t for op in operations for t in op._inputs_val if t not in inside)
        given = [tensor for tensor in self.live(end) if tensor in inside]
        cells = {tensor: self.handles[tensor] for tensor in taken if tensor in self.handles}
        try:
            make = partial(_within, self.evaluate)
            constants = self._constants([t for t in taken if t not in cells])
            program: Any = Piecewise(make, self.evaluate, operations, given, cells, constants)
        except Unstructured:
            program = FlowProgram(self.evaluate.session, operations, given, list(taken))
        return program, list(taken), given

    def _host(self, op: Operation, known: dict[Any, Any]) -> None:
        inputs = []
        for tensor, wanted in zip(op._inputs_val, op._input_types_val):
            thing: Any = self.handles.get(tensor, known.get(tensor))
            if tensor in self.handles and not wanted._is_ref_dtype and not is_handle(tensor):
                thing = thing.read()
            inputs.append(thing)
        for output, result in zip(op.outputs, self.evaluate(op, inputs)):
            if output in self._fed:
                continue
            if _refers(output):
                self.handles[output] = result
            else:
                known[output] = np.asarray(result)


def _refers(tensor: Tensor) -> bool:
    return tensor.dtype._is_ref_dtype or is_handle(tensor)


def _made_at(operations: Sequence[Any], feeds: Sequence[Any]) -> dict[Any, int]:
    made = {out: i for i, op in enumerate(operations) for out in op.outputs}
    made.update(dict.fromkeys(feeds, -1))
    return made


def _last_use(operations: Sequence[Any]) -> dict[Any, int]:
    used: dict[Any, int] = {}
    for number, op in enumerate(operations):
        for tensor in op._inputs_val:
            used[tensor] = number
    return used
