# SPDX-License-Identifier: Apache-2.0
"""What a plan consists of, as data: steps, what each fuses and moves, buffers and their lives.

`PlanReport` is what `Session.explain` returns; it prints as a table (jit/report/plan_text.py),
turns into JSON by `as_dict`, and jit/report/plan_html.py makes a page of it.  Imports the rest of
jit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ...engine.record_class import record
from ..kernel.reference import numpy_dtype
from ..kernel.sizes import number
from ..program.tensor_ir import Constant, Feed, Partial, Read, Sizes, Source, Value, home
from ..schedule.ir_printer import fused_ops, node_name, step_ops, user_line
from ..schedule.nest_builder import memory
from ..schedule.steps import (
    Again,
    CallStep,
    Control,
    Draw,
    Fail,
    Grow,
    HostStep,
    KernelStep,
    Learn,
    Skip,
    byte_size,
    has_row,
    in_arena,
)
from . import plan_text, roofline

if TYPE_CHECKING:
    from ..kernel.sizes import AnySize

_KINDS = {Feed: "fed", Constant: "constant", Read: "variable", Sizes: "sizes"}


@record(frozen=True)
class Buffer:
    """A piece of memory that steps use.

    kind is "fed", "variable", "constant", "sizes" (shapes as data), "python" (strings and the like)
    or "between": what one step leaves for others.  The last kind and sizes have a place in the
    plan's own memory, the arena, from byte `offset` on; buffers whose lives do not overlap may
    share it.  A buffer lives from step `first` to step `last`; what is fetched lives to the end.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    first: int
    last: int
    offset: int | None
    fetched: bool


@record(frozen=True)
class Boundary:
    """Why a step is not one with an earlier one, whose result (the buffer) it reads."""

    step: int
    buffer: int
    reason: str


@record(frozen=True)
class KernelReport:
    """One step of a plan at concrete sizes.

    kind is "generated", "library", "host" (run in Python, for the `reason` given) or "flow" (a jump
    of a loop or branch, to the step that `work` names).  `work` are its loops: m map, r reduce, c
    pieces of a reduction, each with its size; for a library kernel the shape of its result.
    `bytes` is what it reads and writes, `operations` its arithmetic.  at_best are the seconds that
    this machine needs for as much, held up by `limit` ("memory" or "compute"); seconds are
    measured.  Both are 0 where they are unknown.
    """

    name: str
    kind: str
    work: str = ""
    ops: tuple[str, ...] = ()
    line: str = ""
    reason: str = ""
    key: str = ""
    from_cache: bool = False
    compile_seconds: float = 0.0
    reads: tuple[int, ...] = ()
    writes: tuple[int, ...] = ()
    bytes: int = 0
    operations: int = 0
    tiles: int = 1
    at_best: float = 0.0
    limit: str = ""
    seconds: float = 0.0
    boundaries: tuple[Boundary, ...] = ()


@record(frozen=True)
class PlanReport:
    """What was compiled for a run; prints as a table.

    kernels has one entry per step, in order; their seconds are measured with variables set aside.
    between_bytes is what all the buffers between steps would take without sharing arena_bytes;
    scratch_bytes is what each thread needs besides.
    follows says what comes behind a plan that is not all of the run.  plans are those that runs so
    far came to behind it, or went on in piece by piece; each begins with the operation `start`.
    machine is what the estimates
    are based on; None where nothing was measured.  sources are the kernels' texts by their keys.
    """

    fetches: tuple[str, ...]
    feeds: tuple[str, ...]
    kernels: tuple[KernelReport, ...]
    buffers: tuple[Buffer, ...]
    arena_bytes: int
    between_bytes: int
    scratch_bytes: int
    trace_seconds: float
    compile_seconds: float
    cache_hits: int
    cache_misses: int
    guards: tuple[str, ...]
    follows: str
    machine: roofline.Machine | None
    sources: dict[str, str]
    start: str = ""
    plans: tuple[PlanReport, ...] = ()

    def __str__(self) -> str:
        return "\n\n".join([plan_text.table(self), *map(str, self.plans)])

    __repr__ = __str__

    @property
    def details(self) -> str:
        """Why steps are not fused, and the memory, as text."""
        return "\n\n".join([plan_text.details(self), *(plan.details for plan in self.plans)])

    @property
    def seconds(self) -> float:
        """The sum of the steps' measured seconds."""
        return sum(kernel.seconds for kernel in self.kernels)

    @property
    def at_best(self) -> float:
        """The sum of the steps' seconds at best."""
        return sum(kernel.at_best for kernel in self.kernels)

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return asdict(self)

    def html(self, title: str = "Plan") -> str:
        """The report as one page for a browser, which needs nothing but itself."""
        from .plan_html import page

        return page(
            title,
            [self.as_dict(), *(plan.as_dict() for plan in self.plans)],
            f"{self}\n\n{self.details}",
        )


def plan_report(
    plan: object, binding: object, seconds: Sequence[float], machine: roofline.Machine | None = None
) -> PlanReport:
    """The report of a plan bound to concrete sizes; seconds has one entry per step."""
    return _Reporter(plan, binding, machine).report(seconds)


class _Reporter:
    """Looks at a plan, step by step."""

    def __init__(self, plan: Any, binding: Any, machine: roofline.Machine | None) -> None:
        self.plan, self.binding, self.machine = plan, binding, machine
        self.steps = plan.schedule.steps
        self.values = dict(zip(plan.traced.scope.examples, binding.symbols))
        self.buffers: list[Buffer] = []
        self.number_of: dict[object, int] = {}
        self.home = {n: c for fused in plan.schedule.fused.all() for n, c in fused.home.items()}
        self.writer: dict[int, int] = {}  # the step that last wrote a buffer
        self.fetched = {memory(home(value)) for value in plan.traced.program.fetches}

    def report(self, seconds: Sequence[float]) -> PlanReport:
        plan = self.plan
        compiled, rows = iter(plan.kernels), iter(self.binding.table)
        reports = []
        for place, (step, time) in enumerate(zip(self.steps, seconds)):
            if isinstance(step, HostStep):
                if step.is_inside:
                    next(rows)
                reports.append(self._host(place, step))
            elif isinstance(step, Control):
                if has_row(step):
                    next(rows)
                reports.append(self._control(place, step))
            else:
                found = self._native(place, step, next(compiled), next(rows))
                reports.append(replace(found, seconds=time))
        # Equal kernels of several steps were compiled once.
        unique = {kernel.key: kernel for kernel in plan.compiled}
        return PlanReport(
            tuple(tensor.name for tensor in plan.traced.exports),
            self._feeds(),
            tuple(reports),
            tuple(self.buffers),
            self.binding.arena_bytes,
            sum(b.bytes for b in self.buffers if b.offset is not None),
            self.binding.scratch_bytes,
            plan.traced_seconds,
            sum(k.seconds for k in unique.values()),
            sum(k.from_cache for k in unique.values()),
            sum(not k.from_cache for k in unique.values()),
            tuple(t if yes else f"not {t}" for t, yes in plan.traced.scope.guards.items()),
            self._follows(),
            self.machine,
            {key: kernel.source for key, kernel in unique.items()},
        )

    def _feeds(self) -> tuple[str, ...]:
        """Names and shapes of what is fed."""
        found = {}
        for node in self.plan.traced.program:
            if isinstance(node, Feed):
                shape = [self._number(size) for size in node.outputs[0].shape]
                found[node.number] = f"{self._feed_name(node)} {shape}"
        return tuple(found[number] for number in sorted(found))

    def _follows(self) -> str:
        traced = self.plan.traced
        if traced.is_complete:
            return ""
        if not traced.is_barrier:
            return "branches, loops or waiting, and another plan"
        op, reason = traced.hosted[-1]
        if traced.stop in traced.segment.regions:
            return f"from {op.name} on piece by piece ({reason}), and another plan"
        return f"{op.type} {op.name} on the host ({reason}), and another plan"

    def _host(self, place: int, step: HostStep) -> KernelReport:
        op = step.node.op
        used = [(home(value), "r") for value in step.node.inputs]
        used += [(value, "w") for value in step.node.outputs]
        reads, writes, boundaries = self._used(place, step, used)
        count = sum(self.buffers[n].bytes for n in (*set(reads), *set(writes)))
        return KernelReport(
            op.type,
            "host",
            ops=(op.name,),
            line=user_line(op),
            reason=step.node.reason,
            reads=reads,
            writes=writes,
            bytes=count,
            boundaries=boundaries,
        )

    def _control(self, place: int, step: Control) -> KernelReport:
        reads, writes, _ = self._used(place, step, [(home(v), "r") for v in step.reads[:1]])
        match step:
            case Skip():
                name, where = "unless" if step.wanted else "if", f"step {step.target.step}"
            case Again():
                name, where = "repeat", f"step {step.target.step}"
            case Fail():
                name, where = "check", ""
            case Grow():
                name, where = "grow", ""
            case Draw():
                name, where = "draw", ""
            case Learn():
                name, where = "measure", step.node.symbol
        return KernelReport(name, "flow", where, reads=reads, writes=writes)

    def _native(self, place: int, step: Any, kernel: Any, row: Sequence[int]) -> KernelReport:
        ops = step_ops(step)
        if isinstance(step, KernelStep):
            names, work = fused_ops(step.nest), self._loops(step)
            used = [(b, a.access) for b, a in zip(step.nest.buffers, step.nest.kernel.buffers)]
        else:
            names = list(dict.fromkeys(op.name for op in ops)) or [node_name(step.node)]
            work = self._call_work(step)
            used = [(home(value), "r") for value in step.node.inputs]
            used += [(value, "w") for value in step.node.outputs]
        kind = (
            "generated" if isinstance(step, KernelStep) or step.node.effects.updates else "library"
        )
        reads, writes, boundaries = self._used(place, step, used)
        count = self._moved(step, (*set(reads), *set(writes)), used)
        done = roofline.work_of(step, self.values)
        # As many threads as that can share the step, and no more.
        tiles = -(-int(row[2]) // max(int(row[3]), 1)) * -(-int(row[4]) // max(int(row[5]), 1))
        at_best, limit = roofline.bound(self.machine, count, done.weight, tiles)
        return KernelReport(
            kernel.name,
            kind,
            work=work,
            ops=tuple(names),
            line=user_line(ops[-1]) if ops else "",
            key=kernel.key,
            from_cache=kernel.from_cache,
            compile_seconds=kernel.seconds,
            reads=reads,
            writes=writes,
            bytes=count,
            operations=done.operations,
            tiles=tiles,
            at_best=at_best,
            limit=limit,
            boundaries=boundaries,
        )

    def _moved(self, step: Any, used: Sequence[int], values: Sequence[tuple[Value, str]]) -> int:
        """The bytes of the buffers that are read or written: of each no more than loops go over.

        A buffer that is updated in place counts twice.
        """
        most = {n: self.buffers[n].bytes for n in used}
        if isinstance(step, KernelStep):
            for (value, _), count in zip(values, roofline.touched(step.nest, self.values)):
                n = self.number_of[memory(home(value))]
                most[n] = min(most[n], count * numpy_dtype(value.dtype).itemsize)
        elif step.node.effects.updates:
            count = number(step.node.effects.touches, self.values)
            for value in step.node.outputs:
                n = self.number_of[memory(home(value))]
                most[n] = min(most[n], count * numpy_dtype(value.dtype).itemsize)
        return sum(most[n] for n in used)

    def _call_work(self, step: CallStep) -> str:
        """The shape of the result; of an update in place what it goes over."""
        if step.node.effects.updates:
            launch = step.node.launch
            return f"m{self._number(launch.rows)} m{self._number(launch.columns)}"
        shapes = (output.shape for output in step.node.outputs[:1])
        return " ".join(str(self._number(size)) for shape in shapes for size in shape)

    def _loops(self, step: KernelStep) -> str:
        return " ".join(
            f"{axis.kind[0]}{self._number(size)}"
            for axis, size in zip(step.nest.kernel.axes, step.nest.sizes)
        )

    def _number(self, size: AnySize) -> int:
        return number(size, self.values)

    # Buffers

    def _used(
        self, place: int, step: object, used: Iterable[tuple[Value, str]]
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Boundary, ...]]:
        """Notes what a step reads and writes, and what it is not fused with."""
        reads, writes, boundaries = [], [], []
        for value, access in used:
            n = self._buffer(value, place)
            if "r" in access:
                reads.append(n)
                if n in self.writer and self.writer[n] != place:
                    before = self.writer[n]
                    boundaries.append(Boundary(before, n, self._why(self.steps[before], step)))
            if "w" in access:
                writes.append(n)
        self.writer.update(dict.fromkeys(writes, place))
        return _unique(reads), _unique(writes), _unique(boundaries)

    def _buffer(self, value: Value, place: int) -> int:
        """The number of a value's buffer, whose life reaches to this step now."""
        storage = memory(home(value))
        known = self.number_of.get(storage)
        if known is None:
            known = self.number_of[storage] = len(self.buffers)
            self.buffers.append(self._new_buffer(home(value), place))
        # What is fetched is copied out behind the last step.
        last = len(self.steps) - 1 if self.buffers[known].fetched else place
        self.buffers[known] = replace(self.buffers[known], last=last)
        return known

    def _new_buffer(self, value: Value, place: int) -> Buffer:
        name, kind = self._name(value)
        slot = self.plan.schedule.slot_of.get(value) if in_arena(value) else None
        return Buffer(
            name,
            kind,
            value.dtype,
            tuple(self._number(size) for size in value.shape),
            0 if value.dtype == "object" else self._number(byte_size(value)),
            place,
            place,
            None if slot is None else self.binding.offsets[slot],
            memory(value) in self.fetched,
        )

    def _name(self, value: Value) -> tuple[str, str]:
        node = value.node
        if value.cell is not None:
            return value.cell.name, "variable"
        if isinstance(node, Source):
            kind = _KINDS.get(type(node), "between")
            if isinstance(node, Feed):
                return self._feed_name(node), kind
            if isinstance(node, Read):
                return node.cell.name, kind
            what = "pieces of a reduction" if isinstance(node, Partial) else kind
            return node.origin.name if node.origin is not None else what, kind
        many = f":{node.outputs.index(value)}" if len(node.outputs) > 1 else ""
        return f"{node_name(node)}{many}", "between" if in_arena(value) else "python"

    def _feed_name(self, node: Feed) -> str:
        return str(self.plan.traced.segment.inputs[node.number].name)

    # Why a fusion stopped

    def _why(self, before: Any, step: Any) -> str:
        """Why a step that reads the result of another is not one kernel with it."""
        for side in (step, before):
            if isinstance(side, HostStep):
                return f"{side.node.op.type} runs in Python"
            if isinstance(side, Control):
                return "a condition is decided"
        for side in (step, before):
            if isinstance(side, CallStep):
                return (
                    f"{side.node.launch.kernel.name} is a kernel of the library, complete in itself"
                )
        theirs, mine = before.nest.cluster.nodes, step.nest.cluster.nodes
        # One cluster, two kernels.
        if not set(mine).isdisjoint(theirs):
            return "a long reduction: first its pieces, then their results"
        # The clusters as fusion left them; long reductions have been cut in two since.
        for cluster in _unique(self.home[node] for node in theirs):
            for node, reason in cluster.refusals:
                if node in mine:
                    return f"{node_name(node)} {reason}"
        return "it went with another of its inputs"


def _unique(things: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(things))
