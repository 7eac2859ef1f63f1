# SPDX-License-Identifier: Apache-2.0
"""What decides whether a run goes by plans or by reference kernels, and what runs by these alone.

Imports runners of plans; jit/runtime/runner.py makes what is here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .async_runner import AsyncRunner
from .segment_plans import CompileFailure

if TYPE_CHECKING:
    from ..report.plan_report import PlanReport
    from ..schedule.bind import Binding
    from .plan import Plan
    from .runner import Runner

# From so many elements on, even a first run is compiled.
# Fewer take reference kernels some milliseconds, where to compile a single kernel takes tens.
_LARGE = 1 << 20


class InterpretedRunner:
    """Runs by reference kernels what is not compiled at all; `explain` says why."""

    def __init__(self, run: Callable[[Sequence[Any]], list[Any]], reason: str) -> None:
        self.run, self.reason = run, reason

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        return self.run(arrays)

    def explain(self, arrays: Sequence[Any]) -> str:
        """The reason, in place of a plan."""
        del arrays
        return f"Not compiled, runs by reference kernels: {self.reason}."


class TieredRunner:
    """Runs small work once by reference kernels, since most parts of a program run once.

    Large work, everything that runs again, and what reference kernels would round otherwise, is a
    plan, whose kernels may wait to be compiled, too (jit/runtime/interpreted.py).  The rule looks
    at the graph and at shapes alone, so that results do not depend on timing, on what a cache
    holds, or on how often something ran before.
    """

    def __init__(
        self,
        runner: Runner | AsyncRunner,
        make_reference: Callable[[], Callable[[Sequence[Any]], list[Any]]],
        is_first: bool,
    ) -> None:
        self.runner, self._make_reference = runner, make_reference
        self.is_first = is_first
        self.is_broken = False

    @cached_property
    def reference(self) -> Callable[[Sequence[Any]], list[Any]]:
        """Runs by reference kernels; large work never needs it."""
        return self._make_reference()

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        if self.is_first:
            self.is_first = False
            assert not isinstance(self.runner, AsyncRunner)
            if self._is_small(arrays) and self.runner.is_exact(arrays):
                return self.reference(arrays)
        # A compiler that broke down on these operations would do so in every run.
        if self.is_broken:
            return self.reference(arrays)
        try:
            return self.runner(arrays)
        except CompileFailure as failure:
            return self._run_instead(arrays, failure)

    def _run_instead(self, arrays: Sequence[Any], failure: CompileFailure) -> list[Any]:
        """Runs by reference kernels what could not be compiled."""
        # Run again, what has had effects would have them twice.
        if not failure.before_effects:
            raise failure
        results = self.reference(arrays)  # raises what is wrong with the values, if it is they
        self.is_broken = True
        warnings.warn(
            "a part of the graph could not be compiled and runs by the (slow) reference "
            f"kernels: {failure}. Please report this.",
            RuntimeWarning,
            stacklevel=5,
        )
        return results

    def begun(self, many: Sequence[Sequence[Any]]) -> list[Callable[[], list[Any]]] | None:
        """See Runner.begun."""
        if self.is_first or self.is_broken or isinstance(self.runner, AsyncRunner):
            return None
        ends = self.runner.begun(many)
        return ends and [partial(self._end, *pair) for pair in zip(ends, many)]

    def _end(self, end: Callable[[], list[Any]], arrays: Sequence[Any]) -> list[Any]:
        try:
            return end()
        except CompileFailure as failure:
            return self._run_instead(arrays, failure)

    def _is_small(self, arrays: Sequence[Any]) -> bool:
        return elements(self.runner.operations, arrays) < _LARGE

    def explain(self, arrays: Sequence[Any]) -> PlanReport:
        """See Runner.explain."""
        return self.runner.explain(arrays)

    def prepare(self, arrays: Sequence[Any]) -> tuple[Plan, Binding]:
        """See Runner.prepare."""
        return self.runner.prepare(arrays)


def elements(operations: Sequence[Any], arrays: Sequence[np.ndarray]) -> int:
    """About how many elements the operations make; unknown sizes count as the largest fed one."""
    unknown = max((size for array in arrays for size in array.shape), default=1)
    total = 0
    for op in operations:
        for output in op.outputs:
            count = 1
            for size in output.shape.sizes or ():
                count *= unknown if size is None else size
            total += count
    return total
