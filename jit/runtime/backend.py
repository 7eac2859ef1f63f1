# SPDX-License-Identifier: Apache-2.0
"""Where plans run: what `SegmentPlans` asks of a place, and the processor, which is one.

jit/cuda/gpu.py is another; a session that has a GPU brings it along.  Imports the compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .. import threads
from ..schedule.bind import Binding
from ..schedule.frame import Arena
from ..trace.segment import Evaluate, Segment, Traced
from .execution import Run
from .plan import Plan, compile_segment

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession

# What a run that learns sizes asks for: a binding to them, and a run that goes on by it; and a run
# whose views may serve a new one.
GoingOn = tuple[
    Callable[[Run, tuple[int, ...]], Binding], Callable[[Run, Binding], Run], Run | None
]


class Backend(Protocol):
    """A place where plans run.

    is_plain: it has no hand-written kernels for products and windows; they are loop nests, but for
    what a library of the device computes, whose kinds (jit/library/computed.py) are offered.
    keeps_plans: plans are found in the cache, and put there.
    """

    is_plain: bool
    keeps_plans: bool

    @property
    def offered(self) -> frozenset[str]:
        """See above."""

    def compile(self, traced: Traced, is_first: bool) -> Plan:
        """A plan for this place; is_first: for first runs, after which another takes its place."""

    def arenas(self, session: BaseSession) -> list[Any]:
        """Memory of a session's runs that none uses at the moment."""

    def new_arena(self, evaluate: Evaluate) -> Arena:
        """Memory for one run at a time."""

    def new_run(
        self, plan: Any, binding: Binding, arena: Any, feeds: Sequence[np.ndarray], rest: GoingOn
    ) -> Run:
        """A plan at concrete sizes, ready to go."""


class Processor:
    """Plans of kernels that threads of the processor run."""

    is_plain = False
    keeps_plans = True
    offered: frozenset[str] = frozenset()

    def compile(self, traced: Traced, is_first: bool) -> Plan:
        """See Backend."""
        return compile_segment(traced, is_first)

    def arenas(self, session: BaseSession) -> list[Any]:
        """See Backend."""
        return session.arenas

    def new_arena(self, evaluate: Evaluate) -> Arena:
        """See Backend."""
        return Arena(max(threads.count(), threads.cores(), evaluate.threads or 1))

    def new_run(
        self, plan: Plan, binding: Binding, arena: Arena, feeds: Sequence[np.ndarray], rest: GoingOn
    ) -> Run:
        """See Backend."""
        return Run(plan, binding, arena, feeds, *rest)


_PROCESSOR = Processor()


def backend_of(segment: Segment) -> Backend:
    """Where the plans of a segment run: on a GPU of the session, if it has one and may use it."""
    gpu = segment.evaluate.session.gpu
    return (gpu.of(segment) if gpu is not None else None) or _PROCESSOR


def end_of(
    session: BaseSession, operations: Sequence[Any], start: int, regions: Mapping[int, int]
) -> int | None:
    """How far operations run in one place, from one of them on; None: to the last."""
    end = None if session.gpu is None else session.gpu.end(operations, start, regions)
    return None if end == len(operations) else end
