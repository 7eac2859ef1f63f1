# SPDX-License-Identifier: Apache-2.0
"""What every run of a runner begins with on the host, as where a file is decoded and then cut.

A plan that ends in front of such an operation computes nothing, whatever is fed, and so need not be
asked for.  Operations are looked up once, and run one behind the other.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engine import stopping
from ...engine.types.texts import PackedTexts
from ..trace.tracer import is_handle

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from .evaluator import Evaluator
    from .guessed_sizes import Plans


class _Step(NamedTuple):
    """An operation, what runs it, what it takes and gives, and what it was found to begin with.

    given: the outputs, None for those that are fed.  reason: why it is on the host, None where
    nobody counts the time that it takes there.  shapes: of its inputs, if it depends on them that
    it ends a segment; before: the plans of that segment.
    """

    begin: Callable[[Sequence[Any]], Any]
    taken: Sequence[Any]
    given: Sequence[Any]
    op: Operation
    reason: str | None = None
    shapes: list[tuple[int, ...]] | None = None
    before: Plans | None = None


class HostLead:
    """The first operations of a runner, and the plans that come behind them."""

    def __init__(self, evaluate: Evaluator, fed: Container[Any]) -> None:
        self._evaluate, self._fed = evaluate, fed
        self._steps: list[_Step] = []
        self._behind: Callable[[], Plans] = _nothing_behind
        # What is the same in every run, and whether every run begins so.
        self._fixed: dict[Any, Any] = {}
        self._is_for_all = False

    def __len__(self) -> int:
        return len(self._steps)

    def add(
        self,
        op: Operation,
        hosted: Sequence[tuple[Any, str]],
        known: Mapping[Any, Any],
        plans: tuple[Plans, Plans],
    ) -> None:
        """One operation more.

        hosted: those on the host with reasons; known: values of a run; plans: those that it ends,
        and those of what follows it.
        """
        reason = next((reason for of, reason in hosted[-1:] if of is op), "")
        shapes = [known[tensor].shape for tensor in op._inputs_val]
        self._steps.append(self._step(op, reason)._replace(shapes=shapes, before=plans[0]))
        self._behind = lambda: plans[1]

    def add_all(
        self, operations: Sequence[Operation], cells: Mapping[Any, Any], behind: Callable[[], Plans]
    ) -> None:
        """Operations that take what is fed, cells, constants and what others before them give.

        behind: gives the plans of what follows.
        """
        self._fixed.update(cells)
        self._behind, self._is_for_all = behind, True
        for op in operations:
            step = self._step(op, "it runs in front of all that is compiled")
            if op._is_stateful or any(tensor not in self._fixed for tensor in step.taken):
                self._steps.append(step)
                continue
            with stopping.within(self._evaluate.session):
                result = step.begin([self._fixed[tensor] for tensor in step.taken])
            self._put(self._fixed, step, result)

    def _step(self, op: Operation, reason: str) -> _Step:
        given = [None if tensor in self._fed else tensor for tensor in op.outputs]
        is_counted = op.definition.is_work
        return _Step(
            self._evaluate.bound(op), op._inputs_val, given, op, reason if is_counted else None
        )

    @property
    def may_run_together(self) -> bool:
        """Whether nobody can tell if an operation ran for several runs before the next one did."""
        return self._is_for_all and not any(
            step.op._is_stateful
            or any(touch.kind != "files" for touch in step.op.definition.touches or ())
            for step in self._steps
        )

    def run(self, known: dict[Any, Any]) -> Plans:
        """Adds to what is known what the operations make of it; the plans of what comes then.

        Errors are the operations'.
        """
        session = self._evaluate.session
        known.update(self._fixed)
        with stopping.within(session):
            for step in self._steps:
                inputs = [known[tensor] for tensor in step.taken]
                if step.before is not None and [x.shape for x in inputs] != step.shapes:
                    return step.before
                self._take(known, step, inputs)
        return self._behind()

    def run_together(self, many: Sequence[dict[Any, Any]]) -> list[Exception | None]:
        """Does `run` for several runs, each operation for all of them: so its code is at hand.

        The errors, for runs that had one.
        """
        failed: list[Exception | None] = [None] * len(many)
        for known in many:
            known.update(self._fixed)
        with stopping.within(self._evaluate.session):
            for step in self._steps:
                for i, known in enumerate(many):
                    if failed[i] is None:
                        try:
                            self._take(known, step, [known[tensor] for tensor in step.taken])
                        except Exception as error:  # (for who goes on with the run)
                            failed[i] = error
        return failed

    def _take(self, known: dict[Any, Any], step: _Step, inputs: Sequence[Any]) -> None:
        stopping.check_session(self._evaluate.session)
        if step.reason is None:
            self._put(known, step, step.begin(inputs))
            return
        began = perf_counter()
        self._put(known, step, step.begin(inputs))
        self._evaluate.meter.add(step.op, step.reason, perf_counter() - began)

    @property
    def behind(self) -> Plans:
        """The plans of what follows."""
        return self._behind()

    def _put(self, known: dict[Any, Any], step: _Step, result: object) -> None:
        given = step.given
        if type(result) is np.ndarray and len(given) == 1:
            if given[0] is not None:
                known[given[0]] = result
            return
        results = [result]
        if not isinstance(result, PackedTexts):
            results = list(self._evaluate.spread(step.op, result))
        for output, each in zip(given, results):
            if output is not None:
                known[output] = each if isinstance(each, PackedTexts) else np.asarray(each)


def _nothing_behind() -> Plans:
    raise AssertionError("a lead without operations ran")


def lead_of(
    lead: HostLead,
    operations: Sequence[Any],
    segments: Mapping[tuple[int, bool], Plans],
    regions: Container[int],
    known: Mapping[Any, Any],
) -> HostLead | None:
    """A lead, with the operations that belong to it; None where a run begins with a plan.

    segments: the plans of what was run, by where it begins and whether its sizes came late; known:
    the values of a run that is over.
    """
    for start, op in enumerate(operations):
        plans, behind = segments.get((start, False)), segments.get((start + 1, False))
        if plans is None or behind is None or start in regions or (start, True) in segments:
            break
        traced = plans.only_ends_before(start)
        if traced is None or op.definition.lower is not None or not _is_plain(op):
            break
        if not all(tensor in known for tensor in op._inputs_val):
            break
        lead.add(op, traced.hosted, known, (plans, behind))
    return lead if len(lead) else None


def _is_plain(op: Operation) -> bool:
    """Whether an operation takes and gives values alone."""
    tensors = [*op._inputs_val, *op.outputs]
    return not any(t.dtype._is_ref_dtype or is_handle(t) for t in tensors) and not any(
        wanted._is_ref_dtype for wanted in op._input_types_val
    )
