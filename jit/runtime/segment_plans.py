# SPDX-License-Identifier: Apache-2.0
"""The plans of one segment of a graph, one per pattern of sizes, and their bindings to sizes.

Imports the compiler and what runs plans.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...engine import errors, gc_pause, settings, stopping
from ...engine.memory import result_empty
from ...engine.session import mixed_precision
from .. import debug
from ..kernel import verify_kernel
from ..kernel.reference import dtype_name
from ..kernel.scalar import holds
from ..kernel.size_scope import Scope
from ..kernel.sizes import Unanswered
from ..schedule.bind import Binding
from ..schedule.frame import Arena
from ..trace.bit_exact import is_exact
from ..trace.builder import Misjudged
from ..trace.segment import MOST_SIZES, FeedType, ResultSizes, Segment, Traced, may_give_sizes
from ..trace.tracer import array_dtype_name, symbolic_feeds, trace_segment
from . import left_over, recompile_warning, stored_plan
from .backend import backend_of
from .done import Misguessed, undo
from .execution import Run
from .placements import Placements
from .plan import FirstPlan, Plan
from .size_patterns import matched, outlined, pattern_of
from .variable_places import StalePlan

# Exact sizes that are remembered per segment before the oldest are forgotten.
# (What was forgotten is computed anew, as for any new batch size.)
_MOST_BINDINGS = 512
# Prepared runs that are kept per arena.
_MOST_RUNS = 256
# Sizes that a run was laid out for so often have a run of their own, which takes as long to make.
_OFTEN = 16
# Of fewer operations a program is traced to see whether it is exact, before the cache is asked.
_QUICK_TO_TRACE = 64
# So many assumptions of a segment may turn out to be wrong, one by one, before it makes none.
_MOST_DOUBTS = 8


class CompileFailure(Exception):
    """The compiler broke down (its fault, not the program's); the text says where and why.

    `before_effects` says that nothing of the run had happened yet.
    """

    def __init__(self, text: str, before_effects: bool) -> None:
        super().__init__(text)
        self.before_effects = before_effects


class SegmentPlans:
    """Runs a segment, whose inputs are always the same tensors: traces, compiles and binds once."""

    def __init__(self, segment: Segment, is_turn: bool = False) -> None:
        """is_turn: it runs again and again within a run, as a loop's body does."""
        self.backend, self.is_turn = backend_of(segment), is_turn
        if self.backend.is_plain:
            is_mixed = mixed_precision.is_on(segment.evaluate.session.config)
            segment = replace(
                segment, is_plain=True, offered=self.backend.offered, is_mixed=is_mixed
            )
        self.segment = segment
        inputs = segment.inputs
        # (Whole shapes are a guess: jit/runtime/guessed_sizes.py.)
        self.given = [t for t in inputs if not (isinstance(t, ResultSizes) and t.ranks)]
        self.static = [tensor.shape.sizes for tensor in inputs]
        self.dtypes = [array_dtype_name(tensor.dtype) for tensor in inputs]
        self.may_be_sizes = [i for i, t in enumerate(inputs) if may_give_sizes(t, segment)]
        # What goes round a loop is another number in every turn: it counts where it has to.
        self._is_undecided = is_turn
        if is_turn:
            self.may_be_sizes = []
        # By pattern of the feeds: what was traced, and of that what was compiled.
        self._traced: dict[tuple[object, ...], list[Traced]] = {}
        self._patterns: dict[tuple[object, ...], tuple[object, ...]] = {}  # by outline
        self._compiled: dict[Traced, Plan] = {}
        self._ready: dict[object, tuple[Plan, Binding]] = {}
        # At sizes that runs measured.
        self._learnt: dict[tuple[Plan, tuple[int, ...]], Binding] = {}
        self._placements = Placements()
        # Where the plans of programs belong in the cache, and those that were found there.
        self._slots: dict[Traced, stored_plan.Slot] = {}
        self._found: dict[Traced, stored_plan.Found] = {}
        self._may_find = self.backend.keeps_plans and not is_turn
        self._asked: tuple[object, Traced] | None = None  # see is_exact
        # Those for one run that have run, and at which sizes.
        self._ran: dict[FirstPlan, tuple[int, ...]] = {}
        # May the first run of a plan do without machine code of its kernels?
        is_always = settings.mode(segment.evaluate.session.config) == "always"
        self.may_evaluate = not is_always and not is_turn
        self._lock = threading.Lock()

    def run(self, arrays: Sequence[np.ndarray]) -> tuple[Plan, list[Any]]:
        """Runs the plan for these inputs, made if there is none; returns it and its exports."""
        key = self._key(arrays)
        # Plans of a session take turns.
        arenas = self.backend.arenas(self.segment.evaluate.session)
        # A stale plan is made anew; again and again only if others keep changing a variable's
        # shape.
        for attempt in range(3):
            # No lock on the way of a run that is prepared: reading a dictionary is atomic, and
            # `forget` puts another one in its place.
            plan, binding = self._ready.get(key) or self._prepare(key, arrays)
            arena = arenas.pop() if arenas else None
            arena = arena or self.backend.new_arena(self.segment.evaluate)
            try:
                # By `id`: a Run keeps its binding, so while it is here no other has that address.
                found: Run | None = arena.runs.get(id(binding))
                run = found or self._run_of(plan, binding, arena, arrays)
                run.key = key
                results = run(arrays)
                if isinstance(plan, FirstPlan):
                    self._has_run(plan, binding, arena)
                return plan, results
            except StalePlan:
                self.forget(plan.traced)
            except Misjudged as error:
                undo(run)
                self._doubt(error.args, is_again=attempt > 0)
            except Misguessed:
                undo(run)
                raise
            except MemoryError:  # of the arena, of results, and of what grows while loops run
                from ..report.exhausted import exhausted

                raise exhausted(*self.prepare(arrays)) from None
            finally:
                # Runs that go on at once take arenas of their own: there are as many as ever went
                # on at once.
                arenas.append(arena.given_back())
        raise errors.aborted("a variable keeps changing its shape while running")

    def only_ends_before(self, number: int) -> Traced | None:
        """What was traced, if it is nothing but the end in front of an operation.

        So it is in every run in which the operation takes arrays of the same shapes, whatever else
        is there.
        """
        taken, inputs = self.segment.operations[number]._inputs_val, self.segment.inputs
        if self.is_turn or not self._ready or any(inputs[i] in taken for i in self.may_be_sizes):
            return None
        plan, _ = next(iter(self._ready.values()))
        traced = plan.traced
        is_empty = not plan.template.segments and not traced.exports and not traced.passed
        return traced if is_empty and traced.stop == number == self.segment.start else None

    def taken(self, known: Mapping[Any, np.ndarray]) -> list[np.ndarray]:
        """The inputs among what is known; kernels read what reference kernels gave as it lies."""
        arrays = [known[tensor] for tensor in self.given]
        for tensor, dtype, array in zip(self.given, self.dtypes, arrays):
            if dtype_name(array.dtype) != dtype and holds(dtype):
                text = f"{tensor.op.type} gave {array.dtype.name}, expected {dtype}"
                raise errors.InternalError(None, tensor.op, text)
        return arrays

    def _run_of(
        self, plan: Plan, binding: Binding, arena: Arena, arrays: Sequence[np.ndarray]
    ) -> Run:
        """A run in an arena for a binding that none is ready for."""
        # One run goes from sizes to sizes. Those that come again and again get one for themselves.
        binding.uses += 1
        placement = binding.placement
        if plan.traced.scope.measured:
            placement = self._placements.largest(plan) or placement
        # (A run keeps where its slots lie, as it does its binding.)
        spare: Run | None = arena.spares.get(id(placement))
        if spare is not None and binding.uses < _OFTEN and spare.adopt(binding, arrays):
            return spare
        run = self._new_run(plan, binding, arena, arrays)
        if binding.uses < _OFTEN:
            arena.spares[id(run.frame.placement)] = run
        return run

    def _new_run(
        self,
        plan: Plan,
        binding: Binding,
        arena: Arena,
        arrays: Sequence[np.ndarray],
        like: Run | None = None,
    ) -> Run:
        other = partial(self._other_run, arena)
        run = self.backend.new_run(plan, binding, arena, arrays, (self._learn, other, like))
        # (What is made for others on the way to the results may live longer than these.)
        if plan.traced.is_complete and not self.is_turn:
            run.empty = result_empty
        if len(arena.runs) >= _MOST_RUNS:
            arena.runs.pop(next(iter(arena.runs)))
        arena.runs[id(binding)] = run
        return run

    def _learn(self, run: Run, symbols: tuple[int, ...]) -> Binding:
        """The binding of a run's plan at sizes that it has learnt."""
        key = (run.plan, symbols)
        with self._lock:
            binding = self._learnt.get(key)
            if binding is None:
                if len(self._learnt) >= _MOST_BINDINGS:
                    self._learnt.pop(next(iter(self._learnt)))
                binding = self._learnt[key] = self._placements.bound(run.plan, symbols)
            # The next run with such inputs begins with what this one learnt.
            self._ready[run.key] = run.plan, binding
            return binding

    def _other_run(self, arena: Arena, before: Run, binding: Binding) -> Run:
        """A run of a plan in the same arena, which goes on for one at other sizes."""
        run = arena.runs.get(id(binding))
        run = run or self._new_run(before.plan, binding, arena, before.feeds, before)
        run.key = before.key
        return run

    def prepare(self, arrays: Sequence[np.ndarray]) -> tuple[Plan, Binding]:
        """The plan for these inputs, made if there is none, without running it.

        It is for those who look at it: one that was found in the cache, which has no program, gives
        way to the same one made here.
        """
        key = self._key(arrays)
        plan, binding = self._ready.get(key) or self._prepare(key, arrays)
        if isinstance(plan, FirstPlan):
            with self._alone():
                self._give_way(plan, binding.symbols)
            plan, binding = self._prepare(key, arrays)
        if plan.traced in self._found:
            self._may_find = False
            self.forget(plan.traced)
            plan, binding = self._prepare(key, arrays)
        return plan, binding

    @property
    def latest(self) -> list[tuple[Plan, Binding]]:
        """The plan of the newest sizes, with these; none before a run, nor behind all.

        As for `prepare`, one that was found in the cache gives way to the same one made here.
        """
        if self.segment.start == len(self.segment.operations):
            return []
        with self._alone():
            for first, binding in list(self._ready.values()):
                if isinstance(first, FirstPlan):
                    self._give_way(first, binding.symbols)
            for ran, symbols in self._ran.copy().items():
                after = self._for_good(ran)
                self._ready[ran] = after, self._placements.bound(after, symbols)
            if not self._ready:
                return []
            key, (plan, binding) = list(self._ready.items())[-1]
            if plan.traced in self._found:
                with self._compiling():
                    slot = self._slots[plan.traced]
                    traced = trace_segment(slot.segment, slot.feeds, slot.scope)
                    plan = self.backend.compile(traced, is_first=False)
                binding = self._placements.bound(plan, binding.symbols)
                self._ready[key] = plan, binding
            return [(plan, binding)]

    def trace(self, arrays: Sequence[np.ndarray]) -> Traced:
        """The program for these inputs, made if there is none."""
        with self._alone():
            traced, _ = self._find(arrays)
            if traced not in self._found:
                return traced
            scope = Scope()
            feeds, _ = self._feeds(scope, arrays, self._valued(arrays))
            return trace_segment(self.segment, feeds, scope)

    def is_exact(self, arrays: Sequence[np.ndarray]) -> bool:
        """Would reference kernels give the same bits as all of the segment's program?

        If so the program is forgotten: the run may give variables their first contents.
        """
        # Whoever asks may never compile anything: to look for plans takes as long as to trace some
        # hundred operations, once in a process.
        may_find, is_small = self._may_find, len(self.segment.operations) < _QUICK_TO_TRACE
        with self._alone():
            self._may_find = may_find and not is_small
            try:
                traced, _ = self._find(arrays)
            finally:
                self._may_find = may_find
            found = self._found.get(traced)
            if found is not None:
                exact = found.is_exact
            else:
                # Behind the end of an incomplete program may be anything.
                exact = traced.is_complete and is_exact(traced.program)
            if exact or is_small:
                self._drop(traced)
            if is_small and not exact:
                # The run that follows takes it, unless another process has stored its plan.
                self._asked = self._key(arrays), traced
            return exact

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with stopping.within(self.segment.evaluate.session):
            stopping.await_release(self._lock)
            with self._lock:
                yield

    def forget(self, traced: Traced) -> None:
        """Lets go what no longer fits."""
        with self._lock:
            self._ready = {k: r for k, r in self._ready.items() if r[0].traced is not traced}
            self._drop(traced)

    def _doubt(self, texts: Sequence[str], is_again: bool) -> None:
        """From here on programs do not take this for granted; nothing at all, if that fails, too.

        (Texts name sizes in the order in which they are learnt: up to what failed, another program
        learns the same.)
        """
        with self._lock:
            doubted = self.segment.doubted.union(texts)
            is_known = doubted == self.segment.doubted or len(doubted) > _MOST_DOUBTS
            may_assume = self.segment.may_assume and not is_again and not is_known
            self.segment = replace(self.segment, doubted=doubted, may_assume=may_assume)
            self._ready, self._learnt, self._ran, self._placements = {}, {}, {}, Placements()
            for known in (self._traced, self._compiled, self._slots, self._found):
                known.clear()

    def _drop(self, traced: Traced) -> None:
        for kept in (self._compiled, self._slots, self._found):
            kept.pop(traced, None)
        self._learnt = {k: b for k, b in self._learnt.items() if k[0].traced is not traced}
        self._ran = {plan: s for plan, s in self._ran.items() if plan.traced is not traced}
        self._placements.forget(traced)
        for known in self._traced.values():
            if traced in known:
                known.remove(traced)

    def _key(self, arrays: Sequence[np.ndarray]) -> object:
        # (From a list, which takes a third of a generator's time: this is on the way of every run.)
        key: Any = tuple([array.shape for array in arrays])
        if self.may_be_sizes:
            key = (key, *(arrays[i].tobytes() for i in self._valued(arrays)))
        return key

    def _prepare(self, key: object, arrays: Sequence[np.ndarray]) -> tuple[Plan, Binding]:
        self.segment.evaluate.meter.is_disturbed = True
        with stopping.within(self.segment.evaluate.session):
            # While another thread compiles, a run may be cancelled or its time be up: a lock would
            # not tell.
            stopping.await_release(self._lock)
            return self._prepare_alone(key, arrays)

    def _prepare_alone(self, key: object, arrays: Sequence[np.ndarray]) -> tuple[Plan, Binding]:
        with self._lock:
            if key in self._ready:
                return self._ready[key]
            traced, symbols = self._find(arrays)
            plan = self._compiled.get(traced)
            if plan is None:
                try:
                    plan = self._compile(traced)
                except Unanswered:
                    # A rule asks for what only a run tells: with plans before and behind it.
                    self.segment = replace(self.segment, may_measure=False)
                    traced, symbols = self._find(arrays)
                    plan = self._compile(traced)
                self._compiled[traced] = plan
                self._note(plan)
            elif isinstance(plan, FirstPlan) and plan in self._ran:
                plan = self._for_good(plan)
            if len(self._ready) >= _MOST_BINDINGS:
                self._ready.pop(next(iter(self._ready)))
            self._ready[key] = plan, self._placements.bound(plan, traced.with_measured(symbols))
            return self._ready[key]

    def _for_good(self, plan: FirstPlan) -> Plan:
        """The compiled plan in place of one that has run."""
        del self._ran[plan]
        after = self._compiled[plan.traced] = self._compile(plan.traced, plan)
        return after

    def _find(self, arrays: Sequence[np.ndarray]) -> tuple[Traced, tuple[int, ...]]:
        """The program for these inputs, made if there is none, and the values of its symbols."""
        if self._is_undecided:
            self._is_undecided = False
            self._decide(arrays)
        contents = self._valued(arrays)
        outline, symbols = outlined(arrays, self.static, contents)
        # Nearly always nothing is new but the numbers: no symbols have to be made to see that.
        for traced in self._traced.get(self._patterns.get(outline, ()), ()):
            # A pattern has several programs where guards came out differently, or variables had
            # other shapes.
            if traced.fits(*traced.with_measured(symbols)) and traced.shapes_hold():
                return traced, symbols
        scope = Scope()
        feeds, symbols = self._feeds(scope, arrays, contents)
        pattern = self._patterns[outline] = tuple(map(pattern_of, feeds))
        known = self._traced.setdefault(pattern, [])
        for traced in known:
            if traced.fits(*traced.with_measured(symbols)) and traced.shapes_hold():
                return traced, symbols
        # (What comes from data, in the middle of a run, is equal by chance.)
        if self.is_turn or self.segment.start:
            found = self._more_general(pattern, dict(zip(scope.examples, symbols)))
            if found is not None:
                return found
        with self._compiling():
            traced, slot = self._stored_or_traced(arrays, feeds, scope)
        if traced.hasty is None:
            # What cannot be put back is done by a plan before the one that may have to begin anew.
            end = traced.calm_end()
            may_assume = end is not None and end != self.segment.end
            self.segment = replace(
                self.segment, may_assume=may_assume, end=end if may_assume else self.segment.end
            )
            return self._find(arrays)
        self._require_fitting(traced)
        if slot is not None:
            self._slots[traced] = slot
        known.append(traced)
        return traced, symbols

    def _require_fitting(self, traced: Traced) -> None:
        """Raises Misguessed where a program would be another one had it been told other sizes."""

    def _stored_or_traced(
        self, arrays: Sequence[np.ndarray], feeds: Sequence[FeedType], scope: Scope
    ) -> tuple[Traced, stored_plan.Slot | None]:
        """The program, of a plan in the cache if there is one; and where its plan belongs."""
        slot = stored_plan.slot_of(self.segment, feeds, scope) if self._may_find else None
        found = stored_plan.find(slot, self.may_evaluate) if slot is not None else None
        asked, self._asked = self._asked, None
        if found is None and asked and asked[0] == self._key(arrays) and asked[1].shapes_hold():
            return asked[1], slot
        if found is None:
            return trace_segment(self.segment, feeds, scope), slot
        traced = found.plan.traced
        self._found[traced], self._compiled[traced] = found, found.plan
        return traced, slot

    def _feeds(
        self, scope: Scope, arrays: Sequence[np.ndarray], contents: Sequence[int]
    ) -> tuple[list[FeedType], tuple[int, ...]]:
        """Symbolic types of inputs, and the values of the symbols; of some the contents count."""
        valued = [i in contents for i in range(len(arrays))]
        # As many items as are known are no symbol.
        static = [array.shape if v else s for array, s, v in zip(arrays, self.static, valued)]
        return symbolic_feeds(scope, arrays, static, self.dtypes, valued)

    def _valued(self, arrays: Sequence[np.ndarray]) -> list[int]:
        """The inputs whose contents count as sizes, now that it is known how many they are."""
        return [i for i in self.may_be_sizes if arrays[i].size <= MOST_SIZES]

    def _decide(self, arrays: Sequence[np.ndarray]) -> None:
        """Finds the fewest inputs whose contents must count as sizes for the program to go on."""
        # (Not by what the graph knows of their shapes: what comes from a stack may be any.)
        candidates = [
            i
            for i, array in enumerate(arrays)
            if dtype_name(array.dtype) in ("int32", "int64")
            and array.ndim < 2
            and array.size <= MOST_SIZES
        ]
        if not candidates:
            return

        def reach(contents: Sequence[int]) -> tuple[int, bool]:
            scope = Scope()
            feeds, _ = self._feeds(scope, arrays, contents)
            traced = trace_segment(self.segment, feeds, scope)
            return traced.stop, not traced.is_barrier

        with self._compiling():
            best = reach(candidates)
            if reach([]) < best:
                for number in list(candidates):
                    fewer = [other for other in candidates if other != number]
                    if reach(fewer) >= best:
                        candidates = fewer
                self.may_be_sizes = candidates

    def _more_general(
        self, pattern: tuple[Any, ...], values: Mapping[str, int]
    ) -> tuple[Traced, tuple[int, ...]] | None:
        """A program for sizes that need not be equal, where these are but happen to be.

        While what goes round grows it meets other sizes, which is no reason to compile anew.
        """
        for other, programs in self._traced.items():
            found = matched(other, pattern, values)
            if found is None:
                continue
            for traced in programs:
                scope = traced.scope
                names = [name for name in scope.examples if name not in scope.measured]
                symbols = tuple(found.get(name, -1) for name in names)
                if -1 in symbols or not traced.fits(*traced.with_measured(symbols)):
                    continue
                if traced.shapes_hold():
                    return traced, symbols
        return None

    def _has_run(self, plan: FirstPlan, binding: Binding, arena: Arena) -> None:
        """Ends a run of a plan for first runs; if it was the last it gives way."""
        kernels, errors = plan.first.kernels, plan.first.errors
        if plan.first.is_new:
            left_over.note((one.kernel, one.origin) for one in kernels)
        with self._alone():
            if not errors and plan.first.may_go_on():
                return
            for runs in (arena.runs, arena.spares):
                for place in [place for place, run in runs.items() if run.plan is plan]:
                    del runs[place]
            self._give_way(plan, binding.symbols)
        if errors:
            raise errors[0]

    def _give_way(self, plan: FirstPlan, symbols: tuple[int, ...]) -> None:
        """Lets one that is compiled take a plan's place, should there be another run."""
        self._ready = {k: r for k, r in self._ready.items() if r[0] is not plan}
        self._learnt = {k: b for k, b in self._learnt.items() if k[0] is not plan}
        self._placements.give_up(plan)
        if self._compiled.get(plan.traced) is plan:
            self._ran[plan] = symbols

    def _compile(self, traced: Traced, before: FirstPlan | None = None) -> Plan:
        """A plan of a program, or one for good of that for its first run."""
        slot = self._slots.get(traced) if before is None else None
        saving = stored_plan.Saving(slot, traced) if slot is not None else None
        try:
            with self._compiling():
                is_first = before is None and self.may_evaluate and not _is_watched()
                plan = before.for_good() if before else self.backend.compile(traced, is_first)
                if saving is not None:
                    saving.save(plan)
                return plan
        except BaseException:
            self._drop(traced)  # the program has been changed half way
            raise

    def _note(self, plan: Plan) -> None:
        sizes = ", ".join(self.segment.inputs[i].name for i in self.may_be_sizes)
        operations = self.segment.operations
        graph = operations[0].graph if operations else None
        recompile_warning.note_plan(plan, sum(map(len, self._traced.values())), sizes, graph)

    @contextmanager
    def _compiling(self) -> Iterator[None]:
        """Turns the compiler's own faults into CompileFailure."""
        try:
            with gc_pause.held_up():
                yield
        except (errors.OpError, Unanswered, KeyboardInterrupt, SystemExit):
            raise
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise CompileFailure(text, self.segment.start == 0) from error


def _is_watched() -> bool:
    """Does somebody want to see kernels compiled, or run among guards?"""
    return debug.is_on() or bool(verify_kernel.guards)
