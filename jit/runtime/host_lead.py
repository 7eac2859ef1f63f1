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
from ..trace.tracer import is_handle

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from .evaluator import Evaluator
    from .segment_plans import SegmentPlans


class _Step(NamedTuple):
    op: Operation
    begin: Callable[[Sequence[Any]], Any]
    reason: str


class HostLead:
    """The first operations of a runner, and the plans that come behind them."""

    def __init__(self, evaluate: Evaluator, fed: Container[Any]) -> None:
        self._evaluate, self._fed = evaluate, fed
        self._steps: list[_Step] = []
        self.behind: SegmentPlans | None = None

    def __len__(self) -> int:
        return len(self._steps)

    def add(self, op: Operation, reason: str, behind: SegmentPlans) -> None:
        """An operation more, why it is on the host, and the plans of what follows it."""
        self._steps.append(_Step(op, self._evaluate.bound(op), reason))
        self.behind = behind

    def run(self, known: dict[Any, Any]) -> None:
        """Adds to what is known what the operations make of it; errors are the operations'."""
        evaluate, fed = self._evaluate, self._fed
        with stopping.within(evaluate.session):
            for op, begin, reason in self._steps:
                stopping.check()
                began = perf_counter()
                made = evaluate.spread(op, begin([known[tensor] for tensor in op._inputs_val]))
                for output, result in zip(op.outputs, made):
                    if output not in fed:
                        known[output] = np.asarray(result)
                evaluate.meter.add(op, reason, perf_counter() - began)


def lead_of(
    operations: Sequence[Any],
    segments: Mapping[tuple[int, bool], SegmentPlans],
    regions: Mapping[int, int],
    lead: HostLead,
) -> HostLead | None:
    """A lead, with the operations that belong to it; None where a run begins with a plan.

    segments: the plans of what was run, by where it begins and whether its sizes came late.
    """
    for start, op in enumerate(operations):
        plans, behind = segments.get((start, False)), segments.get((start + 1, False))
        if plans is None or behind is None or start in regions or (start, True) in segments:
            break
        traced = plans.only_ends_before(start)
        if traced is None or op.definition.lower is not None or not _is_plain(op):
            break
        reason = next((reason for of, reason in traced.hosted[-1:] if of is op), "")
        lead.add(op, reason, behind)
    return lead if len(lead) else None


def _is_plain(op: Operation) -> bool:
    """Whether an operation takes and gives values alone."""
    tensors = [*op._inputs_val, *op.outputs]
    return not any(t.dtype._is_ref_dtype or is_handle(t) for t in tensors) and not any(
        wanted._is_ref_dtype for wanted in op._input_types_val
    )
