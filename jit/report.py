# SPDX-License-Identifier: Apache-2.0
"""Text of every stage: programs, clusters, schedules, and the plan that `Session.explain` shows.

Values print as `%7: float32[s0,128]`, kernels as indented blocks with what they fuse.
Imports the rest of jit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from . import ir, sizes
from .cache import Facts
from .fuse import Fused
from .kernel_text import applied
from .nest import Nest
from .schedule import CallStep, HostStep, KernelStep, Schedule, byte_size
from .tensor import (
    Call,
    Host,
    Iota,
    Map,
    Node,
    Place,
    Program,
    Reduce,
    Source,
    Value,
    View,
    Write,
)

_WIDTH = 100


def text(thing: Any) -> str:
    """The printed form of a Program, Fused or Schedule."""
    if isinstance(thing, Program):
        return program_text(thing)
    if isinstance(thing, Fused):
        return "\n".join(_cluster_lines(thing, _Names(thing.program)))
    if isinstance(thing, Schedule):
        return "\n".join(_schedule_lines(thing))
    if isinstance(thing, list):
        return "\n".join(_graph_line(op) for op in thing)
    return _timing_text(thing)


def _graph_line(op: Any) -> str:
    inputs = ", ".join(tensor.name for tensor in op._inputs_val)
    outputs = ", ".join(f"{o.dtype.name}{o.shape}" for o in op.outputs)
    return _cut(f"{op.name} = {op.type}({inputs}) -> {outputs}")


def _timing_text(plan: Any) -> str:
    """How long the stages of making a plan took, and which kernels were compiled for it."""
    fresh = {k.key: k for k in plan.kernels if k.made >= plan.began}.values()
    new = [k for k in fresh if not k.from_cache]
    lines = [
        f"traced, fused and scheduled in {plan.traced_seconds * 1e3:.1f} ms, "
        f"ready after {plan.seconds * 1e3:.1f} ms"
    ]
    lines += [
        f"compiled {k.name} {k.key[:12]} in {k.seconds * 1e3:.0f} ms: {k.reason}".rstrip(": ")
        for k in new
    ]
    if len(fresh) > len(new):
        lines.append(f"loaded {len(fresh) - len(new)} kernels from the cache")
    return "\n".join(lines)


class _Names:
    """Numbers the values of a program."""

    def __init__(self, program: Program) -> None:
        self._names: dict[int, str] = {}
        for node in program.nodes:
            for value in node.outputs:
                self._names[id(value)] = f"%{len(self._names)}"

    def __getitem__(self, value: Value) -> str:
        return self._names.get(id(value), "%?")


def program_text(program: Program) -> str:
    """One line per value: `%7: f32[s0,128] = map %3 + %5   # dense/add, model.py:41`."""
    names = _Names(program)
    lines = [node_text(node, names) for node in program.nodes]
    fetched = ", ".join(names[value] for value in program.fetches)
    return "\n".join([*lines, f"fetch {fetched}"])


def node_text(node: Node, names: _Names) -> str:
    """One node with its outputs, what it does and where it comes from."""
    left = ", ".join(f"{names[value]}: {value}" for value in node.outputs)
    body = _what(node, names)
    line = f"{left} = {body}" if left else body
    return _cut(f"{line}{_origin(node)}")


def _what(node: Node, names: _Names) -> str:
    inputs = " ".join(names[value] for value in node.inputs)
    match node:
        case Source():
            return f"{node.kind} {node.payload if node.kind == 'feed' else ''}".strip()
        case Map():
            args = [names[value] for value in node.inputs]
            return "map " + ", ".join(formula(expr, args) for expr in node.exprs)
        case Reduce():
            return f"{node.fn} over {sorted(node.axes)} {inputs}"
        case View():
            return f"view {inputs}"
        case Call():
            return f"call {node.kernel.name} {inputs}"
        case Host():
            return f"host {node.op.type} {inputs} ({node.reason})"
        case Write():
            return f"write {inputs} to {node.cell.name}"
        case Place():
            return f"place {inputs} into {names[node.target]}"
        case Iota():
            return f"iota {node.axis}"
    return f"{type(node).__name__.lower()} {inputs}"


def formula(expr: ir.Expr, args: list[str]) -> str:
    """A scalar expression as one reads it."""
    match expr:
        case ir.Const():
            return f"{expr.value}"
        case ir.Load():
            return args[expr.buffer] if expr.buffer < len(args) else f"b{expr.buffer}[…]"
        case ir.Apply():
            return applied(expr, [formula(arg, args) for arg in expr.args])
        case ir.AxisIndex():
            return f"i{expr.axis}"
        case ir.Param():
            return f"p{expr.slot}"
        case ir.Reduced():
            return f"r{expr.reduction}"
    raise AssertionError(expr)


def _origin(node: Node) -> str:
    op = node.origin
    if op is None:
        return ""
    file, line = op._frame[0], op._frame[1]
    return f"   # {op.name}, {os.path.basename(file)}:{line}"


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH * 2 else line[: _WIDTH * 2 - 1] + "…"


def _cluster_lines(fused: Fused, names: _Names) -> Iterator[str]:
    for number, cluster in enumerate(fused.clusters):
        domain = ",".join(map(str, cluster.domain))
        reduced = f" reducing {sorted(cluster.reduced)}" if cluster.reduced else ""
        yield f"cluster {number} over [{domain}]{reduced}"
        for node in cluster.nodes:
            yield "    " + node_text(node, names)
        for node, reason in cluster.refusals:
            if fused.home.get(id(node)) is not cluster:
                yield _cut(f"    not with {_name(node)}: {reason}")


def _name(node: Node) -> str:
    return node.origin.name if node.origin is not None else type(node).__name__


def _schedule_lines(schedule: Schedule) -> Iterator[str]:
    for number, step in enumerate(schedule.steps):
        yield f"step {number}: {step_title(step)}"
    for number, slot in enumerate(schedule.slots):
        yield f"slot {number}: " + ", ".join(f"{value}" for value in slot.values)


def step_title(step: Any) -> str:
    """What a step is, with the graph operations that it fuses."""
    if isinstance(step, HostStep):
        return f"host {step.node.op.type} {step.node.op.name}: {step.node.reason}"
    if isinstance(step, CallStep):
        return f"{step.node.kernel.name} {_name(step.node)}"
    extents = "x".join(map(str, step.nest.sizes))
    return f"{step.nest.kernel.form}[{extents}] " + " ".join(fused_ops(step.nest))


def fused_ops(nest: Nest) -> list[str]:
    """The names of the graph operations in a kernel."""
    return list(
        dict.fromkeys(_name(node) for node in nest.cluster.nodes if node.origin is not None)
    )


def origin(
    step: KernelStep | CallStep, operations: Sequence[Any] = (), fetches: Sequence[Any] = ()
) -> Facts:
    """Where a step comes from: its graph operations, the user's line of the last, the graph."""
    ops = step_ops(step)
    graph = f"{len(operations)} operations for {_listed(fetches)}" if operations else ""
    if not ops:
        return Facts(graph=graph)
    file, line, _ = ops[-1]._frame
    names = tuple(dict.fromkeys(op.name for op in ops))
    return Facts(ops=names, line=f"{file}:{line}" if line else file, graph=graph)


def step_ops(step: KernelStep | CallStep) -> list[Any]:
    """The graph operations in a kernel, with repetitions."""
    if isinstance(step, CallStep):
        return [op for op in (step.node.origin, *step.node.absorbed) if op is not None]
    return [node.origin for node in step.nest.cluster.nodes if node.origin is not None]


def _listed(things: Sequence[Any], most: int = 4) -> str:
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(thing.name for thing in things[:most]) + more or "their effects"


@dataclass(frozen=True)
class KernelReport:
    """One step of a plan at concrete sizes."""

    name: str
    key: str
    ops: tuple[str, ...]
    bytes: int
    from_cache: bool
    compile_seconds: float
    kind: str
    seconds: float
    work: str
    reason: str = ""


@dataclass(frozen=True)
class PlanReport:
    """What was compiled for a run; prints as a table.

    kernels has one entry per step, in order.  Seconds of a kernel are measured, with variables set
    aside; bytes are what a step reads and writes.
    """

    kernels: tuple[KernelReport, ...]
    arena_bytes: int
    trace_seconds: float
    compile_seconds: float
    cache_hits: int
    cache_misses: int
    guards: tuple[str, ...]
    follows: str = ""

    def __str__(self) -> str:
        distinct = len({k.key for k in self.kernels if k.kind != "host"})
        total = sum(k.seconds for k in self.kernels)
        compiled = (
            f", {self.cache_misses} compiled in {self.compile_seconds:.2f} s"
            if self.cache_misses
            else ""
        )
        head = [
            f"plan   {len(self.kernels)} steps{f' in {total * 1e3:.3f} ms' * bool(total)}, "
            f"arena {_bytes(self.arena_bytes)}, traced in {self.trace_seconds * 1e3:.0f} ms",
            f"cache  {distinct} kernels: {self.cache_hits} loaded{compiled}",
        ]
        if self.guards:
            head.append("serves sizes with " + ", ".join(self.guards))
        if self.follows:
            head.append(f"then {self.follows}")
        title = f"{'':>4} {'kernel':<10} {'loops':<24} {'moves':>9} {'time':>10} {'GB/s':>6}  fuses"
        return "\n".join([*head, title, *(_kernel_line(i, k) for i, k in enumerate(self.kernels))])

    __repr__ = __str__


def _kernel_line(number: int, kernel: KernelReport) -> str:
    ops = " ".join(kernel.ops)
    ops = ops if len(ops) <= 76 else f"{ops[:75]}… ({len(kernel.ops)} ops)"
    if kernel.kind == "host":
        return f"{number:>4} {'host':<10} {kernel.name:<24} {'':>27}  {ops}: {kernel.reason}"
    timed = ""
    if kernel.seconds:
        timed = f"{kernel.seconds * 1e6:>7.1f} µs {kernel.bytes / kernel.seconds / 1e9:>6.1f}"
    return (
        f"{number:>4} {kernel.name:<10} {kernel.work:<24} {_bytes(kernel.bytes):>9} "
        f"{timed:>17}  {ops}"
    )


def _bytes(count: float) -> str:
    for unit in ("B", "KB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def plan_report(plan: Any, binding: Any, seconds: list[float]) -> PlanReport:
    """The report of a plan bound to concrete sizes; seconds has one entry per step."""
    values = dict(zip(plan.scope.examples, binding.symbols))
    compiled = iter(plan.kernels)
    reports = [
        _step_report(step, None if isinstance(step, HostStep) else next(compiled), values, time)
        for step, time in zip(plan.schedule.steps, seconds)
    ]
    unique = {kernel.key: kernel for kernel in plan.kernels}.values()
    follows = ""
    if plan.barrier:
        op, reason = plan.host_reasons[-1]
        follows = f"{op.type} {op.name} on the host ({reason}), and another plan"
    return PlanReport(
        tuple(reports),
        binding.arena_bytes,
        plan.traced_seconds,
        sum(k.seconds for k in unique),
        sum(k.from_cache for k in unique),
        sum(not k.from_cache for k in unique),
        tuple(t if yes else f"not {t}" for t, yes in plan.scope.guards.items()),
        follows,
    )


def _step_report(step: Any, kernel: Any, values: dict[str, int], seconds: float) -> KernelReport:
    total = sum(_concrete(byte_size(value), values) for value in _distinct(step.reads))
    if isinstance(step, HostStep):
        op = step.node.op
        return KernelReport(
            op.type, "", (op.name,), total, False, 0.0, "host", 0.0, "", step.node.reason
        )
    if isinstance(step, KernelStep):
        ops, kind = fused_ops(step.nest), "generated"
        loops = " ".join(
            f"{axis.kind[0]}{_concrete(size, values)}"
            for axis, size in zip(step.nest.kernel.axes, step.nest.sizes)
        )
    else:
        ops, kind = [_name(step.node), *(op.name for op in step.node.absorbed)], "library"
        loops = " ".join(str(_concrete(s, values)) for s in step.node.outputs[0].shape)
    return KernelReport(
        kernel.name,
        kernel.key,
        tuple(ops),
        total,
        kernel.from_cache,
        kernel.seconds,
        kind,
        seconds,
        loops,
    )


def _distinct(values: Iterable[Value]) -> list[Value]:
    return list({id(value): value for value in values if value.dtype != "object"}.values())


def _concrete(size: sizes.AnySize, values: dict[str, int]) -> int:
    if not isinstance(size, sizes.Size):
        return int(size)
    return int(sizes.compile_function(values, size.text)(*values.values()))
