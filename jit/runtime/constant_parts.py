# SPDX-License-Identifier: Apache-2.0
"""Computes what follows from a graph's constants alone: once, by the kernels that a step would run.

So results are the same bits whether a graph states a number or is fed it, and no step computes them
again.  Imports what runs plans, when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors, settings
from .. import target
from ..trace.segment import Segment

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from .evaluator import Evaluator


class ConstantParts:
    """The constant parts of what a session runs for one set of fetches, by tensor."""

    def __init__(self, inner: Evaluator) -> None:
        """inner: what the parts themselves are traced with, which have no parts."""
        self._inner = inner
        self._values: dict[Any, np.ndarray] = {}

    def values(
        self, op: Operation, segment: Segment, fed: frozenset[Any]
    ) -> list[np.ndarray] | None:
        """What an operation gives; None if it does not follow from constants alone.

        All of the segment that does is computed with it.
        """
        from ..trace.folding import constant_operations, leading_to

        if op.outputs[0] not in self._values:
            regions = (o for a, b in segment.regions.items() for o in segment.operations[a:b])
            part = constant_operations(segment.operations, regions, fed)
            needed = part if op in part else leading_to(op, fed)
            if needed is None or not self._compute(needed):
                return None
        return [self._values[tensor] for tensor in op.outputs]

    def _compute(self, operations: Iterable[Any]) -> bool:
        from ..trace.folding import results_of
        from .runner import Runner

        ordered = list(operations)
        wanted = results_of(ordered)
        # (What is compiled for another processor takes what this one computes.)
        other = target.lacking(target.current())
        here = settings.override(target="") if other else nullcontext()
        try:
            with here:
                results = Runner(ordered, wanted, (), self._inner)(())
        except errors.OpError:
            return False  # the step says what is wrong, should it come to that
        self._values.update(zip(wanted, map(np.asarray, results)))
        return True
