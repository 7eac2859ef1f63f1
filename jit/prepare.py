# SPDX-License-Identifier: Apache-2.0
"""Prepares a traced program for fusion: memory where it is needed, effects in order, nothing dead.

Variables that are read before a write and used after it are copied at the read; views that somebody
needs as memory are copied; an Assemble becomes Places; reads, writes and host effects get the edges
that keep their program order.  Imports tensor IR and sizes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import ir, sizes
from .epilogue import absorb
from .sizes import same
from .tensor import (
    Assemble,
    Call,
    Check,
    Gather,
    Growing,
    Host,
    Iota,
    Loop,
    Map,
    Node,
    Part,
    Place,
    Program,
    Register,
    Reshape,
    Source,
    Stop,
    Value,
    View,
    Write,
    argument,
    base,
)


def prepare(program: Program) -> dict[int, set[int]]:
    """Changes the program in place; returns what every real node must wait for, by id."""
    if not any(node.guard for node in program.nodes):
        absorb(program)
    _snapshot_reads(program)
    _normalise(program)
    _drop_dead(program)
    return _dependencies(program)


def is_lazy(node: Node) -> bool:
    """Is the node computed where it is read, and never stored of itself?"""
    return isinstance(node, (View, Iota))


def copy_of(value: Value) -> Value:
    """A Map that copies a value into memory of its own; not yet in program order."""
    node = Map((value,), (argument(0, value.dtype),))
    node.origin, node.guard = value.node.origin, value.node.guard
    node.after.extend(flag.node for flag, _ in node.guard)
    node.outputs.append(Value(value.dtype, value.shape, node))
    return node.outputs[0]


def renamed(storage: Value, value: Value) -> Value:
    """A Reshape that gives memory the shape of `value`; not yet in program order."""
    node = Reshape((storage,))
    node.origin = value.node.origin
    node.outputs.append(Value(value.dtype, value.shape, node))
    return node.outputs[0]


def _only_drops_ones(value: Value) -> bool:
    """Does a view leave the elements in order, only adding and dropping dimensions of one?"""
    node = value.node
    if not isinstance(node, View):
        return False
    before = node.inputs[0].shape
    wide = [i for i, size in enumerate(before) if not same(size, 1)]
    moved = [node.axes[i] for i in wide]
    if any(a.axis is None or not same(a.stride, 1) or not same(a.offset, 0) for a in moved):
        return False
    order: list[Any] = [a.axis for a in moved]
    rest = [size for i, size in enumerate(value.shape) if i not in order]
    return (
        order == sorted(order)
        and all(same(size, 1) for size in rest)
        and sizes.same_shape([before[i] for i in wide], [value.shape[i] for i in order])
    )


def _consumers(program: Program) -> dict[int, list[Node]]:
    """For each source node, the nodes that really read it (through views)."""
    readers: dict[int, list[Node]] = {}
    for node in program.nodes:
        if isinstance(node, (View, Reshape)):
            continue
        for value in node.inputs:
            readers.setdefault(id(base(value).node), []).append(node)
    return readers


def _snapshot_reads(program: Program) -> None:
    """A variable read before a write and used after it is copied at the read."""
    writes: dict[int, list[int]] = {}
    for node in program.nodes:
        for cell in written_cells(node):
            writes.setdefault(id(cell), []).append(node.position)
    if not writes:
        return
    readers = _consumers(program)
    fetched = {id(base(value).node) for value in program.fetches}
    for node in list(program.nodes):
        if not (isinstance(node, Source) and node.kind == "cell"):
            continue
        later = [p for p in writes.get(id(node.payload), []) if p > node.position]
        if not later:
            continue
        last_use = max((n.position for n in readers.get(id(node), [])), default=-1)
        if last_use > min(later) or id(node) in fetched:
            _replace(program, node.outputs[0], copy_of(node.outputs[0]))


def written_cells(node: Node) -> tuple[Any, ...]:
    """The variables whose memory a node may change."""
    if isinstance(node, Write):
        return (node.cell,)
    if isinstance(node, Loop):
        return node.written
    if isinstance(node, Call):
        return (*node.writes, *node.updates)
    return node.cells if isinstance(node, Host) else ()


def _writes(node: Node) -> bool:
    """Does a kernel change a variable here?"""
    return isinstance(node, Write) or (isinstance(node, Call) and bool(node.updates))


def _replace(program: Program, old: Value, new: Value) -> None:
    """Puts the maker of `new` right behind the maker of `old`; everybody reads `new` instead."""
    for node in program.nodes:
        if node is not new.node:
            node.inputs = tuple(new if value is old else value for value in node.inputs)
    program.fetches = [new if value is old else value for value in program.fetches]
    program.nodes.insert(program.nodes.index(old.node) + 1, new.node)


def _normalise(program: Program) -> None:
    """Gives memory to what must have it, and turns Assemble and Write into Places."""
    result: list[Node] = []

    copies: dict[int, Value] = {}

    def stored(value: Value) -> Value:
        """The value, copied first if it is only a way of reading other memory."""
        if not is_lazy(value.node):
            return value
        if id(value) not in copies:
            same_memory = _only_drops_ones(value)
            copies[id(value)] = (
                renamed(stored(value.node.inputs[0]), value) if same_memory else copy_of(value)
            )
            result.append(copies[id(value)].node)
        return copies[id(value)]

    waiting = list(program.checks)
    ahead = {id(node) for node in program.nodes}
    for node in program.nodes:
        if lasts(node):
            for check in [c for c in waiting if ahead.isdisjoint(_before(c))]:
                waiting.remove(check)
                result.append(_stop(check, tuple(map(stored, (check.flag, *check.evidence)))))
        ahead.discard(id(node))
        if isinstance(node, (Reshape, Call, Host, Gather, Loop)):
            node.inputs = tuple(stored(value) for value in node.inputs)
        result.append(node)
        if isinstance(node, Assemble):
            result.extend(_places(node))
    program.checks = waiting
    program.keep_instead(stored)
    program.nodes = result
    _order_effects(program)
    for position, node in enumerate(program.nodes):
        node.position = position


def lasts(node: Node) -> bool:
    """Does a node change something that outlasts the run?"""
    if isinstance(node, Host) and node.effects:
        return True
    return any(not isinstance(cell, (Register, Growing)) for cell in written_cells(node))


def _before(check: Check) -> set[int]:
    """The nodes, by id, that must have come before a check."""
    return {id(check.behind), *(id(base(v).node) for v in (check.flag, *check.evidence))}


def _stop(check: Check, inputs: tuple[Value, ...]) -> Stop:
    """A check as a node, so that what comes behind can wait for it."""
    node = Stop(inputs, check.error)
    made = base(check.flag).node
    node.origin, node.guard = made.origin, made.guard
    node.after.extend(flag.node for flag, _ in node.guard)
    return node


def _places(node: Assemble) -> Iterator[Node]:
    """The fill and the parts of an Assemble, as Places in order."""
    target = node.outputs[0]
    filler: Node | None = None
    whole = Part((0,) * target.ndim, (1,) * target.ndim)
    if node.fill is not None:
        fill = Map((), (ir.Const(node.fill, target.dtype),))
        fill.outputs.append(Value(target.dtype, target.shape, fill))
        filler = Place((fill.outputs[0],), target, whole)
        fill.origin = filler.origin = node.origin
        fill.guard = filler.guard = node.guard
        fill.after.extend(flag.node for flag, _ in node.guard)
        yield fill
        yield filler
    for value, part in zip(node.inputs, node.parts):
        place = Place((value,), target, part)
        place.origin, place.guard = node.origin, node.guard
        place.after.extend(flag.node for flag, _ in node.guard)
        if filler is not None:
            place.after.append(filler)
        yield place


def _order_effects(program: Program) -> None:
    """A variable's reads and writes, and effects on the host, keep their program order."""
    last_write: dict[int, Node] = {}
    # For each variable, the nodes that must be through with it before it is written again.
    users: dict[int, list[Node]] = {}
    last_host: Node | None = None
    writes: list[Node] = []
    stops: list[Node] = []
    for node in program.nodes:
        if isinstance(node, Stop):
            # All that changed something before has done so when the run ends here.
            node.after.extend(last_write.values())
            stops.append(node)
        elif lasts(node):
            node.after.extend(stops)
        if isinstance(node, Source) and node.kind == "cell" and id(node.payload) in last_write:
            node.after.append(last_write[id(node.payload)])
        if _writes(node) and last_host is not None:
            node.after.append(last_host)
        if isinstance(node, Host) and node.effects:
            node.after.extend(writes if last_host is None else [*writes, last_host])
            last_host, writes = node, []
        for cell in _cells_read(node):
            users.setdefault(id(cell), []).append(node)
        for cell in written_cells(node):
            last_write[id(cell)] = node
            node.after.extend(user for user in users.get(id(cell), ()) if user is not node)
            users[id(cell)] = [node]
        if _writes(node):
            writes.append(node)


def _cells_read(node: Node) -> list[Any]:
    """The variables whose memory a node reads, through views or not."""
    if isinstance(node, (View, Reshape, Source)):
        return []
    sources = (base(value).node for value in node.inputs)
    inside = list(node.read) if isinstance(node, Loop) else []
    return inside + [
        n.payload for n in sources if isinstance(n, Source) and n.kind in ("cell", "handle")
    ]


def _drop_dead(program: Program) -> None:
    """Keeps what fetches, checks, variables and host effects need."""
    alive: set[int] = set()
    places: dict[int, list[Place]] = {}
    for node in program.nodes:
        if isinstance(node, Place):
            places.setdefault(id(node.target.node), []).append(node)
    stack: list[Node] = [value.node for value in program.kept()]
    stack += [
        n
        for n in program.nodes
        if isinstance(n, (Write, Loop, Stop))
        or (isinstance(n, Host) and n.effects)
        or (isinstance(n, Call) and written_cells(n))
    ]
    while stack:
        node = stack.pop()
        if id(node) in alive:
            continue
        alive.add(id(node))
        stack.extend(value.node for value in node.inputs)
        stack.extend(flag.node for flag, _ in node.guard)
        stack.extend(places.get(id(node), ()))
        if isinstance(node, Place):
            stack.extend(node.after)
    program.nodes = [node for node in program.nodes if id(node) in alive]
    for position, node in enumerate(program.nodes):
        node.position = position
        node.after = [n for n in node.after if id(n) in alive]


def _dependencies(program: Program) -> dict[int, set[int]]:
    """For each real node, the ids of the real nodes that must run before it."""
    places: dict[int, set[int]] = {}
    for node in program.nodes:
        if isinstance(node, Place):
            places.setdefault(id(node.target.node), set()).add(id(node))
    reach: dict[int, set[int]] = {}
    for node in program.nodes:
        found: set[int] = set()
        for other in [value.node for value in node.inputs] + node.after:
            if isinstance(other, (View, Reshape, Source, Iota)):
                found |= reach[id(other)]
            elif isinstance(other, Assemble):
                found |= places.get(id(other), set())
            else:
                found.add(id(other))
        # A lazy node passes on what it waits for; an Assemble waits for nothing itself.
        reach[id(node)] = set() if isinstance(node, Assemble) else found
    return reach
