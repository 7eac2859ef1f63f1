# SPDX-License-Identifier: Apache-2.0
"""The compiler, from a traced segment to a plan that runs: `compile_segment` is all of it.

Imports the stages of the compiler.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from ...engine import stopping
from ...engine.record_class import record
from .. import debug
from ..codegen import compile as compiler
from ..kernel import ir, verify_kernel
from ..library.library_kernel import LibraryKernel
from ..passes.fuse import fuse
from ..passes.pipeline import rewrite
from ..program.editing import Program
from ..program.tensor_ir import Host, Loop, home
from ..schedule import ir_printer
from ..schedule.argument_blocks import Template, make_template
from ..schedule.bind import Binding
from ..schedule.loop_nest import PROCESSOR, Pieces
from ..schedule.steps import CallStep, Control, KernelStep, Learn, Schedule, has_row, schedule
from ..trace.segment import Traced
from . import driver, thread_pool, warming
from .host_call import HostCall
from .interpreted import FirstKernels, Interpreted, first_kernels


@record(frozen=True, eq=False)
class Plan:
    """A traced segment of a graph as kernels, in order, with a place in memory for every value.

    kernels are those of the native steps, in their order; parts are kernels that some of them call.
    seconds has the time that each stage took, by name; `began` is when the first began.
    """

    # Do kernels run Python, on whatever thread?
    runs_python: ClassVar[bool] = False
    traced: Traced
    schedule: Schedule
    kernels: Sequence[compiler.Compiled]
    parts: Sequence[compiler.Compiled]
    template: Template
    seconds: dict[str, float]
    began: float

    @property
    def compiled(self) -> tuple[compiler.Compiled, ...]:
        """All kernels that it needs."""
        return (*self.kernels, *self.parts)

    @cached_property
    def host_calls(self) -> dict[Host, HostCall]:
        """What its host operations need, by node; each is made when it first runs."""
        return {}

    @cached_property
    def stack_numbers(self) -> np.ndarray:
        """The numbers, among those of a binding, of how large the items of stacks are."""
        return np.array([number for _, _, number in self.template.stacks], np.int64)

    @cached_property
    def tests(self) -> dict[str, list[tuple[str, Callable[..., bool]]]]:
        """By the symbol of a size that a run measures, what must be true once it is known."""
        found: dict[str, list[tuple[str, Callable[..., bool]]]] = {}
        known: set[str] = set()
        for step in self.schedule.steps:
            if isinstance(step, Learn):
                tests = self.traced.scope.tests(known, step.node.symbol)
                known.add(step.node.symbol)
                if tests:
                    found[step.node.symbol] = tests
        return found

    @cached_property
    def is_whole(self) -> bool:
        """Is it all of its segment, and does it leave nothing to the host?"""
        traced = self.traced
        return traced.is_complete and not traced.passed and not traced.hosted

    @cached_property
    def sized_fetches(self) -> list[int]:
        """The numbers of fetches whose shapes hold sizes."""
        fetches = enumerate(self.traced.program.fetches)
        return [number for number, value in fetches if value in self.template.shapes]

    @cached_property
    def symbol_numbers(self) -> dict[str, int]:
        """Where the value of a symbol stands among those of all."""
        return {name: number for number, name in enumerate(self.traced.scope.examples)}

    @cached_property
    def idle(self) -> dict[str, list[tuple[int, int]]]:
        """By a symbol that a run has just learnt, those that nothing is laid out by until they are
        learnt again: sizes of turns of other loops, and what comes later in this turn; in a turn,
        also what is learnt behind the loop.

        By number, and with a value that stands for any, so that few layouts do for all turns.
        """
        scope, around = self.traced.scope, dict(_around(self.traced.program, ()))
        order = [step.node.symbol for step in self.schedule.steps if isinstance(step, Learn)]
        found = {}
        for place, symbol in enumerate(order):
            here = around.get(scope.turns.get(symbol), ())
            held = {name for name in order[: place + 1] if scope.turns.get(name) in here}
            later = order[place + 1 :] if symbol in scope.turns else ()
            idle = [n for n in order if n not in held and (n in scope.turns or n in later)]
            found[symbol] = [(self.symbol_numbers[name], scope.examples[name]) for name in idle]
        return found

    def step_seconds(self, binding: Binding, feeds: Sequence[np.ndarray]) -> Sequence[float] | None:
        """Measured times of all steps, where they run elsewhere; None for the processor's."""
        return None

    @property
    def traced_seconds(self) -> float:
        """What it took to trace, rewrite, fuse and schedule."""
        return sum(self.seconds.values()) - self.seconds["compile"] - self.seconds["lay out"]


@record(frozen=True, eq=False)
class FirstPlan(Plan):
    """A plan for the first runs, in which some kernels are bytecode.

    for_good: makes the same plan with all kernels compiled.
    """

    runs_python: ClassVar[bool] = True
    first: FirstKernels
    for_good: Callable[[], Plan]


def _around(
    program: Program, outer: tuple[object, ...]
) -> Iterator[tuple[object, tuple[object, ...]]]:
    """Each program of a loop, and those that it is in, itself among them."""
    for node in program:
        if isinstance(node, Loop):
            for part in (node.test, node.body):
                yield part, (*outer, part)
                yield from _around(part, (*outer, part))


def compile_segment(traced: Traced, is_first: bool = False) -> Plan:
    """Makes a plan of what was traced; is_first: for first runs, that evaluate new kernels."""
    seconds = {"trace": traced.seconds}
    began = time.perf_counter() - traced.seconds
    steps = scheduled(traced, seconds)
    # Kernels of the library have no loop nest; in production the nests are believed.
    if verify_kernel.enabled or debug.is_on():
        for step in native_steps(steps):
            if isinstance(step.kernel, ir.Kernel):
                verify_kernel.verify(step.kernel, [home(value).dtype for value in step.reads])
    return _finished(traced, steps, seconds, began, is_first)


def _finished(
    traced: Traced, steps: Schedule, seconds: dict[str, float], began: float, is_first: bool
) -> Plan:
    begins = FirstKernels.of(traced.segment) if is_first else None
    with timed("compile", seconds):
        kernels, parts, first = _compile_kernels(steps, traced, begins)
    with timed("lay out", seconds):
        addresses = [
            (k.address, *(one.lead if one else (p.address for p in called)))
            for k, called, one in zip(kernels, parts, first)
        ]
        template = make_template(steps, traced.program, traced.scope, addresses)
    every = tuple(dict.fromkeys(part for called in parts for part in called))
    facts = traced, steps, kernels, every, template, seconds, began
    if begins is not None and begins.kernels:
        again = partial(_finished, traced, steps, seconds, began, False)
        return FirstPlan(*facts, begins, again)
    plan = Plan(*facts)
    debug.show("timing", plan)
    return plan


def kernels_of(traced: Traced) -> list[ir.Kernel | LibraryKernel]:
    """What a plan of what was traced would compile; what was traced is used up by it."""
    return [step.kernel for step in native_steps(scheduled(traced, {}))]


def scheduled(traced: Traced, seconds: dict[str, float], pieces: Pieces = PROCESSOR) -> Schedule:
    """Kernels in order, not yet compiled; adds the time that each stage took."""
    debug.show("ir", traced.program)
    seconds |= rewrite(traced.program, traced.scope)
    stopping.check()
    with timed("fuse", seconds):
        fused = fuse(traced.program)
    debug.show("fused", fused)
    with timed("schedule", seconds):
        steps = schedule(fused, pieces)
    stopping.check()
    debug.show("schedule", steps)
    return steps


@contextmanager
def timed(stage: str, seconds: dict[str, float]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - start


def native_steps(steps: Schedule) -> list[KernelStep | CallStep]:
    return [step for step in steps.steps if isinstance(step, (KernelStep, CallStep))]


# Of so many kernels of the library that have to be compiled, evaluating others saves nothing.
_MANY = 4


def _waits_for_library(native: Sequence[KernelStep | CallStep]) -> bool:
    """Must much of the library be compiled, as on a machine that runs its first program?"""
    kernels = [step.kernel for step in native if isinstance(step, CallStep)]
    every = dict.fromkeys(k for kernel in kernels for k in (kernel, *compiler.parts_of(kernel)))
    return len(compiler.absent(every)) >= _MANY


def _compile_kernels(
    steps: Schedule, traced: Traced, begins: FirstKernels | None
) -> tuple[list[compiler.Compiled], list[list[compiler.Compiled]], Sequence[Interpreted | None]]:
    """For every native step, in their order, machine code, the kernels that it calls, and bytecode.

    What runs them is compiled as well.  There is bytecode of new kernels of a plan that `begins`.
    """
    native, names = native_steps(steps), list(traced.exports)
    wanted: list[compiler.Wanted] = []
    for step in native:
        origin = partial(ir_printer.origin, step, traced.segment.operations, names)
        wanted.append((step.kernel, origin))
    first: Sequence[Interpreted | None] = [None] * len(native)
    if begins is not None and not _waits_for_library(native):
        first = first_kernels(wanted, begins)
    # Asked for together with the plan's own kernels, so that one round of compiling does for all.
    needed = [want for want, one in zip(wanted, first) if one is None]
    if any(isinstance(step, Control) and has_row(step) for step in steps.steps):
        needed.append((thread_pool.flow_kernel(), None))
    made = iter(compiler.compile_kernels([*needed, *((k, None) for k in driver.kernels())]))
    kernels = [next(made) if one is None else one.compiled for one in first]
    driver.prepare()
    # Last, so that what this run waits for does not wait for the library.
    warming.begin()
    parts = [[] if one else compiler.compiled_parts(s.kernel) for s, one in zip(native, first)]
    return kernels, parts, first
