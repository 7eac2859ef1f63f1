# SPDX-License-Identifier: Apache-2.0
"""Plans: trace, fuse, schedule and compile a stretch of operations once; run it many times.

`Plan` is the compiler written out in order.  `Stretch` keeps the plans of one stretch of a graph,
one per pattern of sizes, and their bindings to concrete sizes.  Imports the rest of jit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..engine import errors, garbage
from . import compile as compiler
from . import debug, driver, notices, pool, report, threads, verify
from .bind import Arena, Binding, bind, make_template
from .fuse import fuse
from .prepare import written_cells
from .products import extend_products
from .run import Run
from .schedule import CallStep, Control, KernelStep, schedule
from .sizes import Scope
from .tensor import Growing, Host, Register, Source
from .trace import Evaluate, Tracer, dtype_name, symbolic_feeds
from .unpool import unpool

# Exact sizes that are remembered per stretch before the oldest are forgotten.
_MOST_BINDINGS = 512
# Prepared runs that are kept per arena.
_MOST_RUNS = 256
# Contents of integer feeds count as sizes when there are at most so many of them.
_SIZE_FEED_ITEMS = 8


class Stale(Exception):
    """A variable changed its shape: the plan no longer fits."""


class CompileFailure(Exception):
    """The compiler broke down (its fault, not the program's); the text says where and why.

    `before_effects` says that nothing of the run had happened yet.
    """

    def __init__(self, text: str, before_effects: bool) -> None:
        super().__init__(text)
        self.before_effects = before_effects


class Plan:
    """A stretch of operations for one pattern of sizes: traced when made, then compiled."""

    def __init__(
        self,
        operations: Sequence[Any],
        start: int,
        feeds: dict[Any, Any],
        scope: Scope,
        wanted: Callable[[int], Sequence[Any]],
        evaluate: Evaluate,
        handles: Mapping[Any, Any],
        regions: Mapping[int, int] | None = None,
    ) -> None:
        """wanted(stop) names the tensors that are needed once the stretch ends at `stop`."""
        self.began = time.perf_counter()
        self.operations, self.scope, self.evaluate = operations, scope, evaluate
        self.feed_names = [tensor.name for tensor in feeds]
        debug.show("graph", operations)
        tracer = Tracer(operations, start, feeds, scope, evaluate, handles, regions)
        traced = tracer.run()
        self.stop, self.barrier = traced.stop, traced.barrier
        self.complete = self.stop == len(operations) and not self.barrier
        self.host_reasons = traced.host_reasons
        self.exports: dict[Any, int] = {}
        for tensor in wanted(self.stop):
            # Variables are passed on as they are; at the end their contents are what was asked.
            known = tracer.values.get(tensor)
            passed = (
                known is not None
                and known.cell is not None
                and (not self.complete or id(known.cell) in tracer.builder.unsettled)
            )
            value = None if passed else tracer.export(tensor)
            if value is not None:
                self.exports[tensor] = len(traced.program.fetches)
                traced.program.fetches.append(value)
        self.passed = {
            t: tracer.values[t].cell
            for t in wanted(self.stop)
            if t in tracer.values and t not in self.exports
        }
        self.program = traced.program
        self.fits = scope.checker()
        self.cells = self._cells()
        # Of variables, by id: the array that one was last seen with, and its address.
        self.addresses: dict[int, tuple[Any, int]] = {}
        self.is_compiled = False

    def compile(self) -> None:
        """Makes kernels of what was traced."""
        self._schedule()
        self._compile_kernels()
        self.template = make_template(
            self.schedule, self.program, self.scope, [kernel.address for kernel in self.kernels]
        )
        self.seconds = time.perf_counter() - self.began
        debug.show("timing", self)
        # Plans of a session take turns.
        self.arenas: list[Arena] = self.evaluate.session.arenas
        self.is_compiled = True

    def _schedule(self) -> None:
        for program in self.program.all():
            # Work under conditions stays where it is.
            if not any(node.guard for node in program.nodes):
                unpool(program, self.scope)
                extend_products(program, self.scope)
        debug.show("ir", self.program)
        fused = fuse(self.program)
        debug.show("fused", fused)
        self.schedule = schedule(fused)
        debug.show("schedule", self.schedule)
        if verify.enabled or debug.is_on():
            for step in self.schedule.steps:
                if isinstance(step, KernelStep):
                    verify.verify(step.nest.kernel)
        self.traced_seconds = time.perf_counter() - self.began

    def _compile_kernels(self) -> None:
        steps = [s for s in self.schedule.steps if isinstance(s, (KernelStep, CallStep))]
        names = list(self.exports)
        kernels: list[compiler.Wanted] = []
        for step in steps:
            kernel = step.nest.kernel if isinstance(step, KernelStep) else step.node.kernel
            kernels.append((kernel, partial(report.origin, step, self.operations, names)))
        if any(isinstance(step, Control) and step.is_row for step in self.schedule.steps):
            kernels.append((pool.flow_kernel(), None))
        kernels += [(kernel, None) for kernel in driver.kernels()]
        self.kernels = compiler.compile_kernels(kernels)[: len(steps)]
        driver.prepare()

    def arena(self) -> Arena:
        """Memory for one run; give it back by appending it to `arenas`."""
        try:
            return self.arenas.pop()
        except IndexError:
            return Arena(max(threads.count(), threads.cores(), self.evaluate.threads or 1))

    def _cells(self) -> dict[int, tuple[Any, tuple[int, ...]]]:
        """The variables whose shapes the plan was traced with, by id."""
        found = {}
        for node in (node for program in self.program.all() for node in program.nodes):
            if not isinstance(node, Source) or node.kind != "cell":
                continue
            if not isinstance(node.payload, Register):
                found[id(node.payload)] = (node.payload, node.outputs[0].shape)
        return found  # type: ignore[return-value]

    @property
    def is_pure(self) -> bool:
        """Whether nothing outlives a run but its results."""
        nodes = (node for program in self.program.all() for node in program.nodes)
        written = (cell for node in nodes for cell in written_cells(node))
        is_clean = all(isinstance(cell, (Register, Growing)) for cell in written)
        return is_clean and not any(
            isinstance(node, Host) and node.effects
            for program in self.program.all()
            for node in program.nodes
        )

    def shapes_hold(self) -> bool:
        """Do all variables still have the shapes that the plan was traced with?"""
        return all(
            cell.value is None or cell.value.shape == shape for cell, shape in self.cells.values()
        )

    def address_of(self, cell: Any) -> int:
        """Where a variable is now; Stale if it is no longer as the plan was traced with."""
        array = cell.value
        if array is None:
            cell.read()
        known = self.cells.get(id(cell))
        if known is not None and array.shape != known[1]:
            raise Stale(cell.name)
        address = int(array.__array_interface__["data"][0])
        self.addresses[id(cell)] = array, address
        return address


class Stretch:
    """The plans of operations[start:], whose inputs are always the same tensors."""

    def __init__(
        self,
        operations: Sequence[Any],
        start: int,
        inputs: Sequence[Any],
        wanted: Callable[[int], Sequence[Any]],
        evaluate: Evaluate,
        handles: Mapping[Any, Any],
        regions: Mapping[int, int] | None = None,
    ) -> None:
        self.handles, self.regions = handles, regions
        self.operations, self.start, self.inputs = operations, start, list(inputs)
        self.wanted, self.evaluate = wanted, evaluate
        self.static = [tensor.shape.sizes for tensor in self.inputs]
        self.dtypes = [dtype_name(tensor.dtype) for tensor in self.inputs]
        self.may_be_sizes = [i for i, t in enumerate(self.inputs) if _may_be_sizes(t)]
        self.plans: dict[Any, list[Plan]] = {}
        self._ready: dict[Any, tuple[Plan, Binding]] = {}
        self._lock = threading.Lock()

    def run(self, arrays: Sequence[np.ndarray]) -> tuple[Plan, list[Any]]:
        """Runs the plan for these inputs, made if there is none; returns it and its exports."""
        key = self._key(arrays)
        for _ in range(3):
            ready = self._ready.get(key)
            if ready is None:
                ready = self._prepare(key, arrays)
            plan, binding = ready
            arena = plan.arena()
            try:
                run = arena.runs.get(id(binding))
                if run is None:
                    run = self._run(plan, binding, arena, arrays)
                return plan, run(arrays)
            except Stale:
                self.forget(plan)
            finally:
                plan.arenas.append(arena)
        raise errors.AbortedError(None, None, "a variable keeps changing its shape while running")

    @staticmethod
    def _run(plan: Plan, binding: Binding, arena: Arena, arrays: Sequence[np.ndarray]) -> Run:
        run = Run(plan, binding, arena, arrays)
        if len(arena.runs) >= _MOST_RUNS:
            arena.runs.pop(next(iter(arena.runs)))
        arena.runs[id(binding)] = run
        return run

    def prepare(self, arrays: Sequence[np.ndarray]) -> tuple[Plan, Binding]:
        """The plan for these inputs, made if there is none, without running it."""
        key = self._key(arrays)
        return self._ready.get(key) or self._prepare(key, arrays)

    def _key(self, arrays: Sequence[np.ndarray]) -> Any:
        key: Any = tuple([array.shape for array in arrays])
        if self.may_be_sizes:
            key = (key, *(arrays[i].tobytes() for i in self.may_be_sizes))
        return key

    def trace(self, arrays: Sequence[np.ndarray]) -> Plan:
        """The plan for these inputs, traced but perhaps not compiled."""
        with self._lock:
            return self._find(arrays)[0]

    def _prepare(self, key: Any, arrays: Sequence[np.ndarray]) -> tuple[Plan, Binding]:
        with self._lock:
            if key in self._ready:
                return self._ready[key]
            plan, symbols = self._find(arrays)
            if not plan.is_compiled:
                with self._compiling():
                    plan.compile()
                self._note(plan)
            if len(self._ready) >= _MOST_BINDINGS:
                self._ready.pop(next(iter(self._ready)))
            ready = (plan, bind(plan.template, symbols))
            self._ready[key] = ready
            return ready

    def _find(self, arrays: Sequence[np.ndarray]) -> tuple[Plan, tuple[int, ...]]:
        """The plan for these inputs, made if there is none, and the values of its symbols."""
        scope = Scope()
        valued = [i in self.may_be_sizes for i in range(len(arrays))]
        feeds, symbols = symbolic_feeds(scope, arrays, self.static, self.dtypes, valued)
        pattern = tuple((kind.shape, _texts(kind)) for kind in feeds)
        plans = self.plans.setdefault(repr(pattern), [])
        for plan in plans:
            if plan.fits(*symbols) and plan.shapes_hold():
                return plan, symbols
        plan = self._plan(feeds, scope)
        plans.append(plan)
        return plan, symbols

    def _note(self, plan: Plan) -> None:
        sizes = ", ".join(self.inputs[i].name for i in self.may_be_sizes)
        graph = self.operations[0].graph if self.operations else None
        notices.note_plan(plan, sum(map(len, self.plans.values())), sizes, graph)

    def _plan(self, feeds: Sequence[Any], scope: Scope) -> Plan:
        with self._compiling():
            return Plan(
                self.operations,
                self.start,
                dict(zip(self.inputs, feeds)),
                scope,
                self.wanted,
                self.evaluate,
                self.handles,
                self.regions,
            )

    @contextmanager
    def _compiling(self) -> Iterator[None]:
        """Turns the compiler's own faults into CompileFailure."""
        try:
            with garbage.held_up():
                yield
        except (errors.OpError, KeyboardInterrupt, SystemExit):
            raise
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            raise CompileFailure(text, self.start == 0) from error

    def forget(self, plan: Plan) -> None:
        """Lets a plan go that no longer fits."""
        with self._lock:
            self._ready = {k: ready for k, ready in self._ready.items() if ready[0] is not plan}
            for plans in self.plans.values():
                if plan in plans:
                    plans.remove(plan)


def _may_be_sizes(tensor: Any) -> bool:
    """Are the contents of a feed perhaps sizes?  Small integer vectors of static length."""
    if tensor.op.definition.flow == "wait":
        # What comes out of queues is data.
        return False
    if dtype_name(tensor.dtype) not in ("int32", "int64"):
        return False
    shape = tensor.shape.sizes
    if shape is None or len(shape) > 1 or any(size is None for size in shape):
        return False
    return int(np.prod(shape)) <= _SIZE_FEED_ITEMS


def _texts(kind: Any) -> Any:
    return None if kind.known is None else [str(item) for item in kind.known.flat]
