# SPDX-License-Identifier: Apache-2.0
"""What every program must satisfy between two passes: a table of facts, checked in tests.

A fact holds from the pass on that is named with it ("" for all).  Imports programs and tensor IR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...engine.record_class import record
from .. import debug
from ..kernel import ir, sizes, verify_kernel
from ..kernel.sizes import may_equal, same
from ..program.editing import Program
from ..program.tensor_ir import (
    Call,
    Captured,
    Compose,
    Gather,
    Map,
    Node,
    Reduce,
    Reshape,
    Source,
    Stop,
    StoreRegion,
    Value,
    View,
    Write,
)
from .legalize import is_lazy, needs_memory, views_what_it_writes


@record(frozen=True)
class Fact:
    """`broken` gives the nodes that break it, each with what is wrong."""

    rule: str
    broken: Callable[[Program], Iterator[tuple[Node, object]]]
    since: str = ""


def _order(program: Program) -> Iterator[tuple[Node, object]]:
    seen: set[Node] = set()
    position = -1.0
    for node in program:
        for value in node.inputs:
            if value.node not in seen or value not in value.node.outputs:
                yield node, f"takes {value} of {type(value.node).__name__} {value.node.position}"
        if node.position <= position:
            yield node, f"{node.position} behind {position}"
        position = node.position
        seen.add(node)


def _kept(program: Program) -> Iterator[tuple[Node, object]]:
    for value in program.kept:
        if not program.holds(value.node):
            yield value.node, value
    for check in program.checks:
        if check.flag.dtype != "bool" or check.flag.ndim:
            yield check.flag.node, check.flag
    for node in program:
        if isinstance(node, Stop) and (node.inputs[0].dtype != "bool" or node.inputs[0].ndim):
            yield node, node.inputs[0]


def _users(program: Program) -> Iterator[tuple[Node, object]]:
    takers: dict[Value, dict[Node, None]] = {}
    for node in program:
        for value in node.inputs:
            takers.setdefault(value, {})[node] = None
    for value, nodes in takers.items():
        # Too many are wrong as well: a rewrite that wants the only reader would never apply.
        known = program.users(value)
        yield from ((node, value) for node in nodes.keys() ^ set(known))


def _waits(program: Program) -> Iterator[tuple[Node, object]]:
    for node in program:
        for other in node.after:
            if not program.holds(other) or other.position >= node.position:
                yield node, f"waits for {type(other).__name__} at {other.position}"


def _guards(program: Program) -> Iterator[tuple[Node, object]]:
    for node in program:
        for flag, _ in node.guard:
            if flag.ndim or flag.dtype != "bool" or not flag.node.position < node.position:
                yield node, flag


def _outputs(program: Program) -> Iterator[tuple[Node, object]]:
    for node in program:
        for value in node.outputs:
            if value.node is not node:
                yield node, value


def _maps(program: Program) -> Iterator[tuple[Node, object]]:
    for node in program:
        if not isinstance(node, Map):
            continue
        if [expr.dtype for expr in node.exprs] != [value.dtype for value in node.outputs]:
            yield node, node.outputs
        for load in _loads(node):
            if load.buffer >= len(node.inputs) or node.inputs[load.buffer].dtype != load.dtype:
                yield node, load
        shape = node.outputs[0].shape
        for value in node.inputs:
            tail = shape[len(shape) - value.ndim :]
            # (A guard of the trace may say that two forms are one size: then so do the examples.)
            is_right = len(tail) == value.ndim and all(
                same(size, 1) or may_equal(size, whole) for size, whole in zip(value.shape, tail)
            )
            if not is_right:
                yield node, f"{value} over {shape}"


def _loads(node: Map) -> Iterator[ir.Load]:
    stack, seen = list(node.exprs), set()
    while stack:
        expr = stack.pop()
        if expr in seen:
            continue
        seen.add(expr)
        if isinstance(expr, ir.Load):
            yield expr
        elif isinstance(expr, ir.Apply):
            stack.extend(expr.args)


def _reductions(program: Program) -> Iterator[tuple[Node, object]]:
    for node in program:
        if isinstance(node, Reduce):
            before, after = node.inputs[0].shape, node.outputs[0].shape
            if len(before) != len(after) or not node.axes <= set(range(len(before))):
                yield node, f"{before} to {after} over {sorted(node.axes)}"
            elif not all(same(after[axis], 1) for axis in node.axes):
                yield node, after


def _views(program: Program) -> Iterator[tuple[Node, object]]:
    for node in program:
        if isinstance(node, View):
            moved = [axis.axis for axis in node.axes if axis.axis is not None]
            if len(node.axes) != node.inputs[0].ndim or any(
                not 0 <= axis < node.outputs[0].ndim for axis in moved
            ):
                yield node, node.axes
        elif isinstance(node, Reshape):
            before, after = (sizes.product(v.shape) for v in (node.inputs[0], node.outputs[0]))
            # By the example: sizes that a guard has found equal need not be so by form.
            if not may_equal(before, after):
                yield node, f"{before} elements as {after}"
        elif isinstance(node, Gather) and node.inputs[1].dtype != "int64":
            yield node, node.inputs[1]


def _dtypes(program: Program) -> Iterator[tuple[Node, object]]:
    """Nodes that move values leave their type alone."""
    for node in program:
        if isinstance(node, (View, Reshape, Gather, Compose, Write)):
            into = node.outputs[0]
        elif isinstance(node, StoreRegion):
            into = node.target
        else:
            continue
        moved = node.inputs[:1] if isinstance(node, Gather) else node.inputs
        yield from ((node, value) for value in moved if value.dtype != into.dtype)


def _placing(program: Program) -> Iterator[tuple[Node, object]]:
    for node in program:
        if isinstance(node, StoreRegion):
            ranks = {node.target.ndim, len(node.part.offsets), len(node.part.strides)}
            if ranks != {node.inputs[0].ndim} or not isinstance(node.target.node, Compose):
                yield node, node.part


def _memory(program: Program) -> Iterator[tuple[Node, object]]:
    for node in program:
        if needs_memory(node) or views_what_it_writes(node):
            yield from ((node, value) for value in node.inputs if is_lazy(value.node))
    yield from ((value.node, value) for value in program.kept if is_lazy(value.node))


def _captured(program: Program) -> Iterator[tuple[Node, object]]:
    for node in program:
        if isinstance(node, Captured) and node.number >= len(node.loop.inputs):
            yield node, node.number


def _launches(program: Program) -> Iterator[tuple[Node, object]]:
    for node in program:
        if isinstance(node, Call) and len(node.effects.updates) > len(node.outputs):
            yield node, node.effects.updates
        if isinstance(node, Source) and len(node.outputs) != 1:
            yield node, node.outputs


FACTS = (
    Fact("nodes take what nodes before them give", _order),
    Fact("what is fetched or checked is in the program, flags are scalars", _kept),
    Fact("the program knows who uses a value", _users),
    Fact("a value belongs to the node that gives it", _outputs),
    Fact("nodes wait for nodes before them", _waits),
    Fact("conditions are scalars that come out before", _guards),
    Fact("a map loads its inputs, which fit its positions, in their types", _maps),
    Fact("a reduction leaves ones", _reductions),
    Fact("views, reshapes and gathers read what is there", _views),
    Fact("moving a value leaves its type", _dtypes),
    Fact("parts go into what is put together from parts", _placing),
    Fact("what a loop's program takes is an input of the loop", _captured),
    Fact("variables that a call changes are among its results", _launches),
    Fact("what is read as a whole is in memory", _memory, since="store_views"),
)


class IllegalProgram(Exception):
    """A pass left a program that breaks a rule; the text names pass, rule and node."""


def after(name: str, program: Program) -> None:
    """Raises IllegalProgram when a pass left something wrong; does nothing outside of tests."""
    # The facts look at the whole program after each pass, which users need not wait for.
    if not (verify_kernel.enabled or debug.is_on()):
        return
    from .pipeline import PASSES

    names = ["", *(one.name for one in PASSES)]
    due = [fact for fact in FACTS if names.index(fact.since) <= names.index(name)]
    for inner in program.all():
        for fact in due:
            for node, what in fact.broken(inner):
                origin = f" of '{node.origin.name}'" if hasattr(node.origin, "name") else ""
                kind = type(node).__name__
                raise IllegalProgram(f"after {name}: {fact.rule}: {kind}{origin}: {what}")
