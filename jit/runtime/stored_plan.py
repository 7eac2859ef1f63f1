# SPDX-License-Identifier: Apache-2.0
"""Plans that another process has made: found in the cache by what they are made of.

Tracing, rewriting, fusing and scheduling are most of what a second process of a program would
wait for.  A plan that is found runs at once; of the graph behind it nothing is known until an error
or a report asks, and then it is traced.  Plans are found by an exact key (jit/runtime/plan_key.py),
sizes among it, so results are the same whatever a cache holds.  Imports the compiler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ...engine import errors
from ...engine.record_class import record
from .. import debug
from ..cache import store
from ..cache.plan_files import PLANS
from ..codegen import compile as compiler
from ..kernel import size_scope, verify_kernel
from ..kernel.ir_text import parsed
from ..passes.fuse import Fused
from ..program.editing import Program
from ..schedule.argument_blocks import Template, compiled_numbers
from ..schedule.steps import Schedule
from ..trace.bit_exact import is_exact
from ..trace.segment import FeedType, Segment, Traced
from ..trace.tracer import trace_segment
from . import driver, thread_pool, warming
from .interpreted import FirstKernels, Interpreted, first_kernels
from .plan import FirstPlan, Plan, scheduled
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


def find(slot: Slot, may_begin: bool) -> Found | None:
    """The plan that is stored there, ready to run, if there is one and its kernels are there.

    may_begin: as bytecode, those that were bytecode when it was stored and are still not compiled.
    """
    began = time.perf_counter()
    content = PLANS.load(slot.text)
    if content is None:
        return None
    try:
        stored = from_bytes(content)
        kernels = compiler.stored_kernels(stored.kernels)
        found = _Finding(slot, stored, began).found(kernels, may_begin)
    except _DAMAGE as error:
        PLANS.reject(slot.text, f"{type(error).__name__}: {error}")
        return None
    # (Another thread may have changed a variable since its shape was looked at.)
    return found if found is not None and found.plan.traced.shapes_hold() else None


_Kernels = Sequence[compiler.Compiled]
_Facts = tuple[Traced, Schedule, _Kernels, _Kernels, Template, dict[str, float], float]


class _Finding:
    """Makes plans of what is stored of one."""

    def __init__(self, slot: Slot, stored: Stored, began: float) -> None:
        self.slot, self.tables, self.began = slot, stored.tables, began
        self.names = stored.kernels
        checks = _Checks(slot, len(stored.tables["checks"]))
        self.reader = Reader(stored, slot.outside, lambda number: partial(checks.error, number))

    def found(self, kernels: Sequence[compiler.Compiled | None], may_begin: bool) -> Found | None:
        """The plan with these kernels, and with bytecode of those that are None."""
        begins = FirstKernels.of(self.slot.segment) if may_begin else None
        first = self._first([n for n, kernel in enumerate(kernels) if kernel is None], begins)
        if first is None:
            return None
        made = [kernel or first[number].compiled for number, kernel in enumerate(kernels)]
        traced = self._traced()
        facts = self._facts(traced, made, {number: one.lead for number, one in first.items()})
        if begins is not None and first:
            plan: Plan = FirstPlan(*facts, begins, partial(self._for_good, traced, made, first))
        else:
            plan = Plan(*facts)
        _make_ready(made[number] for number in self.tables["walkers"])
        return Found(self._known(plan), self.tables["is exact"])

    def _known(self, plan: Plan) -> Plan:
        plan.__dict__["idle"] = self.reader.idle  # which it would find out of the loops
        return plan

    def _first(
        self, missing: Sequence[int], begins: FirstKernels | None
    ) -> dict[int, Interpreted] | None:
        """Bytecode of kernels; None if there is none of some."""
        known = self.reader.bytecode
        if begins is None or not known.keys() >= set(missing):
            return None if missing else {}
        wanted: list[compiler.Wanted] = []
        for number in missing:
            text, facts = known[number]
            kernel = parsed(text)
            if (kernel.name, compiler.content_of(kernel)) != self.names[number]:
                raise ValueError("it has another kernel's bytecode")
            wanted.append((kernel, partial(_origin, **facts)))
        first = first_kernels(wanted, begins)
        return None if None in first else dict(zip(missing, first))  # type: ignore[arg-type]

    def _traced(self) -> Traced:
        reader, program = self.reader, Program()
        program.fetches = reader.fetches
        traced = Traced(
            *(self.slot.segment, program, reader.scope, *reader.stop),
            *(reader.exports, reader.passed, reader.hosted, 0.0, reader.cells),
        )
        traced.__dict__["hasty"] = reader.hasty  # which it would find out of the program
        return traced

    def _facts(
        self,
        traced: Traced,
        kernels: _Kernels,
        leads: Mapping[int, tuple[int, int]],
    ) -> _Facts:
        reader = self.reader
        template = reader.template(_Numbers(traced.scope, self.tables), kernels, leads)
        # (Of the steps only those are looked at that learn sizes.)
        steps: list[Any] = [reader.learning.get(number) for number in range(self.tables["steps"])]
        nothing = Fused([], {}, {}, traced.program, {})
        schedule = Schedule(steps, [], reader.slot_of, reader.last_checks, nothing)
        rows = reader.row_kernels
        parts = dict.fromkeys(kernels[part] for _, called in rows for part in called)
        seconds = {"trace": 0.0, "compile": 0.0, "lay out": time.perf_counter() - self.began}
        own = [kernels[number] for number, _ in rows]
        return traced, schedule, own, tuple(parts), template, seconds, self.began

    def _for_good(self, traced: Traced, kernels: _Kernels, first: dict[int, Interpreted]) -> Plan:
        """The plan with all kernels compiled."""
        wanted = [(one.kernel, one.origin) for one in first.values()]
        made = dict(zip(first, compiler.compile_kernels(wanted)))
        every = [made.get(number, kernel) for number, kernel in enumerate(kernels)]
        return self._known(Plan(*self._facts(traced, every, {})))


def _origin(ops: Sequence[str], **others: Any) -> store.Facts:
    return store.Facts(ops=tuple(ops), **others)


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
