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
    from .guessed_sizes import Plans


class _Step(NamedTuple):
    """An operation, what runs it, why it is on the host, and what it was found to begin with.

    shapes: of its inputs, on which it depends that it ends a segment; before: the plans of that
    segment.
    """

    op: Operation
    begin: Callable[[Sequence[Any]], Any]
    reason: str
    shapes: list[tuple[int, ...]]
    before: Plans


class HostLead:
    """The first operations of a runner, and the plans that come behind them."""

    def __init__(self, evaluate: Evaluator, fed: Container[Any]) -> None:
        self._evaluate, self._fed = evaluate, fed
        self._steps: list[_Step] = []
        self._behind: Plans | None = None

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
        self._steps.append(_Step(op, self._evaluate.bound(op), reason, shapes, plans[0]))
        self._behind = plans[1]

    def run(self, known: dict[Any, Any]) -> Plans:
        """Adds to what is known what the operations make of it; the plans of what comes then.

        Errors are the operations'.
        """
        evaluate, fed = self._evaluate, self._fed
        with stopping.within(evaluate.session):
            for op, begin, reason, shapes, before in self._steps:
                inputs = [known[tensor] for tensor in op._inputs_val]
                if [array.shape for array in inputs] != shapes:
                    return before
                stopping.check()
                began = perf_counter()
                made = evaluate.spread(op, begin(inputs))
                for output, result in zip(op.outputs, made):
                    if output not in fed:
                        known[output] = np.asarray(result)
                evaluate.meter.add(op, reason, perf_counter() - began)
        assert self._behind is not None
        return self._behind


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
