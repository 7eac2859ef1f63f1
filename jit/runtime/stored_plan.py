# SPDX-License-Identifier: Apache-2.0
"""Plans that another process has made: found in the cache by what they are made of.

Tracing, rewriting, fusing and scheduling are most of what a second process of a program would
wait for.  A plan that is found runs at once; of the graph behind it nothing is known until an error
or a report asks, and then it is traced.  Plans are found by an exact key (jit/runtime/plan_key.py),
sizes among it, so results are the same whatever a cache holds.  Imports the compiler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from ...engine import errors
from ...engine.record_class import record
from .. import debug
from ..cache.plan_files import PLANS
from ..codegen import compile as compiler
from ..kernel import size_scope, verify_kernel
from ..passes.fuse import Fused
from ..program.editing import Program
from ..schedule.argument_blocks import compiled_numbers
from ..schedule.steps import Schedule
from ..trace.bit_exact import is_exact
from ..trace.segment import FeedType, Segment, Traced
from ..trace.tracer import trace_segment
from . import driver, thread_pool, warming
from .plan import Plan, scheduled
from .plan_encoding import Stored, from_bytes, to_bytes
from .plan_key import NotStored, Outside, key_of, require_known, require_worthwhile
from .plan_reading import Reader, require_sizes
from .plan_writing import Writer, all_checks

# What reading a plan may find that its writer would not have written.
_DAMAGE = (ValueError, TypeError, LookupError, AttributeError, ImportError)


@record(frozen=True, eq=False)
class Slot:
    """Where the plan of a segment at some sizes is stored, or would be."""

    text: str
    segment: Segment
    outside: Outside
    feeds: Sequence[FeedType]
    scope: size_scope.Scope


@record(frozen=True, eq=False)
class Found:
    """A stored plan; is_exact: reference kernels give the same bits (jit/trace/bit_exact.py)."""

    plan: Plan
    is_exact: bool


def slot_of(segment: Segment, feeds: Sequence[FeedType], scope: size_scope.Scope) -> Slot | None:
    """Where the plan for these feeds is stored; None for those that are made in each process."""
    # Who looks at the stages of the compiler wants to see them.
    if verify_kernel.enabled or verify_kernel.guards or debug.is_on():
        return None
    try:
        require_worthwhile(segment)
        require_known(segment)
        outside = Outside(segment)
        return Slot(key_of(segment, outside, feeds, scope), segment, outside, feeds, scope)
    except (NotStored, OSError, errors.OpError):
        return None  # what is wrong with an operation is said when it is traced


def find(slot: Slot) -> Found | None:
    """The plan that is stored there, ready to run, if there is one and its kernels are there."""
    began = time.perf_counter()
    content = PLANS.load(slot.text)
    if content is None:
        return None
    try:
        stored = from_bytes(content)
        kernels = compiler.stored_kernels(stored.kernels)
        found = None if kernels is None else _found(slot, stored, kernels, began)
    except _DAMAGE as error:
        PLANS.reject(slot.text, f"{type(error).__name__}: {error}")
        return None
    # (Another thread may have changed a variable since its shape was looked at.)
    return found if found is not None and found.plan.traced.shapes_hold() else None


def _found(slot: Slot, stored: Stored, kernels: Sequence[compiler.Compiled], began: float) -> Found:
    checks = _Checks(slot, len(stored.tables["checks"]))
    reader = Reader(stored, slot.outside, kernels, lambda number: partial(checks.error, number))
    program, scope = Program(), reader.scope
    program.fetches = reader.fetches
    traced = Traced(
        *(slot.segment, program, scope, *reader.stop),
        *(reader.exports, reader.passed, reader.hosted, 0.0, reader.cells),
    )
    traced.__dict__["hasty"] = reader.hasty  # which it would find out of the program
    template = reader.template(_Numbers(scope, stored.tables))
    # (Of the steps only those are looked at that learn sizes.)
    steps: list[Any] = [reader.learning.get(number) for number in range(stored.tables["steps"])]
    nothing = Fused([], {}, {}, program, {})
    schedule = Schedule(steps, [], reader.slot_of, reader.last_checks, nothing)
    rows = reader.row_kernels
    parts = tuple(dict.fromkeys(part for _, called in rows for part in called))
    _make_ready(kernels[number] for number in stored.tables["walkers"])
    seconds = {"trace": 0.0, "compile": 0.0, "lay out": time.perf_counter() - began}
    own = [kernel for kernel, _ in rows]
    plan = Plan(traced, schedule, own, parts, template, seconds, began)
    plan.__dict__["idle"] = reader.idle  # which it would find out of the loops
    return Found(plan, stored.tables["is exact"])


def _make_ready(walkers: Iterable[compiler.Compiled]) -> None:
    """Has all that runs plans, as after each compilation."""
    thread_pool.adopt(walkers)
    driver.prepare()
    warming.begin()


class _Numbers:
    """Computes a plan's sizes; those for the sizes of its key are known without."""

    def __init__(self, scope: size_scope.Scope, tables: dict[str, Any]) -> None:
        self._scope, self._symbols = scope, tuple(scope.examples.values())
        self._known, self._texts = tuple(tables["numbers"]), tables["texts"]
        self._compute: Callable[..., tuple[int, ...]] | None = None

    def __call__(self, *symbols: int) -> tuple[int, ...]:
        if symbols == self._symbols:
            return self._known
        if self._compute is None:
            require_sizes(*self._texts)
            self._compute = compiled_numbers(self._scope, self._texts)
        return self._compute(*symbols)


class _Checks:
    """What the checks of a stored plan raise: the program is traced when the first one fails."""

    def __init__(self, slot: Slot, count: int) -> None:
        self._slot, self._count = slot, count
        self._errors: list[Callable[..., BaseException]] | None = None

    def error(self, number: int, *contents: Any) -> BaseException:
        """The error of a check, given the contents of its evidence."""
        if self._errors is None:
            self._errors = self._traced()
        return self._errors[number](*contents)

    def _traced(self) -> list[Callable[..., BaseException]]:
        slot = self._slot
        steps = scheduled(trace_segment(slot.segment, slot.feeds, slot.scope), {})
        found = [check.error for check in all_checks(steps)]
        if len(found) != self._count:
            raise errors.internal("a stored plan is not that of its program")
        return found


class Saving:
    """Keeps what is to be known of a program once its plan is stored, as compiling uses it up."""

    def __init__(self, slot: Slot, traced: Traced) -> None:
        self._slot = slot
        # (Behind the end of an incomplete program may be anything.)
        self._is_exact = traced.is_complete and is_exact(traced.program)

    def save(self, plan: Plan) -> None:
        """Stores the plan, if it is of a kind that can be."""
        traced = plan.traced
        if traced.stop == traced.segment.start:
            return  # nothing was traced
        try:
            content = to_bytes(Writer(plan, self._slot.outside).stored(self._is_exact))
        except NotStored:
            return
        PLANS.save({self._slot.text: content})
