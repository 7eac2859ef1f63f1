# SPDX-License-Identifier: Apache-2.0
"""Text of every stage of the compiler: programs, clusters, schedules, and where kernels come from.

Values print as `%7: float32[s0,128]`, kernels as indented blocks with what they fuse.
Imports the rest of jit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..cache.kernel_text import applied
from ..cache.store import Facts
from ..kernel import ir
from ..passes.fuse import Fused
from ..program.editing import Program
from ..program.tensor_ir import (
    Call,
    Feed,
    Host,
    Iota,
    Map,
    Node,
    Reduce,
    Source,
    StoreRegion,
    Value,
    View,
    Write,
)
from .nest_builder import Nest
from .steps import Again, CallStep, Control, HostStep, KernelStep, Schedule, Skip

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation

_WIDTH = 100


def text(thing: Sequence[Any]) -> str:
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


def _graph_line(op: Operation) -> str:
    inputs = ", ".join(tensor.name for tensor in op._inputs_val)
    outputs = ", ".join(f"{o.dtype.name}{o.shape}" for o in op.outputs)
    return _cut(f"{op.name} = {op.type}({inputs}) -> {outputs}")


def _timing_text(plan: Any) -> str:
    """How long the stages of making a plan took, and which kernels were compiled for it."""
    # Others were made for plans before, in this process.
    fresh = {k.key: k for k in plan.compiled if k.made >= plan.began}.values()
    new = [k for k in fresh if not k.from_cache]
    lines = [
        f"traced, fused and scheduled in {plan.traced_seconds * 1e3:.1f} ms, "
        f"ready after {sum(plan.seconds.values()) * 1e3:.1f} ms"
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
        self._names: dict[Value, str] = {}
        for node in program:
            for value in node.outputs:
                self._names[value] = f"%{len(self._names)}"

    def __getitem__(self, value: Value) -> str:
        return self._names.get(value, "%?")


def program_text(program: Program) -> str:
    """One line per value: `%7: f32[s0,128] = map %3 + %5   # dense/add, model.py:41`."""
    names = _Names(program)
    lines = [node_text(node, names) for node in program]
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
        case Feed():
            return f"feed {node.number}"
        case Source():
            return type(node).__name__.lower()
        case Map():
            args = [names[value] for value in node.inputs]
            return "map " + ", ".join(formula(expr, args) for expr in node.exprs)
        case Reduce():
            return f"{node.fn} over {sorted(node.axes)} {inputs}"
        case View():
            return f"view {inputs}"
        case Call():
            return f"call {node.launch.kernel.name} {inputs}"
        case Host():
            return f"host {node.op.type} {inputs} ({node.reason})"
        case Write():
            return f"write {inputs} to {node.cell.name}"
        case StoreRegion():
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
        # (A node that was refused may have come in all the same, with another cluster.)
        for node, reason in cluster.refusals:
            if fused.home.get(node) is not cluster:
                yield _cut(f"    not with {node_name(node)}: {reason}")


def node_name(node: Node) -> str:
    """The graph operation that a node comes from, or what kind of node it is."""
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
    if isinstance(step, Control):
        to = f" to step {step.target.step}" if isinstance(step, (Skip, Again)) else ""
        return type(step).__name__.lower() + to
    if isinstance(step, CallStep):
        return f"{step.node.launch.kernel.name} {node_name(step.node)}"
    extents = "x".join(map(str, step.nest.sizes))
    return f"{step.nest.kernel.form}[{extents}] " + " ".join(fused_ops(step.nest))


def fused_ops(nest: Nest) -> list[str]:
    """The names of the graph operations in a kernel."""
    return list(
        dict.fromkeys(node_name(node) for node in nest.cluster.nodes if node.origin is not None)
    )


def origin(
    step: KernelStep | CallStep, operations: Sequence[Any] = (), fetches: Sequence[Any] = ()
) -> Facts:
    """Where a step comes from: its graph operations, the user's line of the last, the graph."""
    ops = step_ops(step)
    graph = f"{len(operations)} operations for {_listed(fetches)}" if operations else ""
    if not ops:
        return Facts(graph=graph)
    names = tuple(dict.fromkeys(op.name for op in ops))
    return Facts(ops=names, line=user_line(ops[-1]), graph=graph)


def user_line(op: Operation) -> str:
    """The line of the user's program that made an operation: file:line."""
    file, line, _ = op._frame
    return f"{file}:{line}" if line else str(file)


def step_ops(step: KernelStep | CallStep) -> list[Any]:
    """The graph operations in a kernel, with repetitions."""
    if isinstance(step, CallStep):
        return [op for op in (step.node.origin, *step.node.fused) if op is not None]
    return [node.origin for node in step.nest.cluster.nodes if node.origin is not None]


def _listed(things: Sequence[Any], most: int = 4) -> str:
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(thing.name for thing in things[:most]) + more or "their effects"
