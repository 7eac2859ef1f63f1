# SPDX-License-Identifier: Apache-2.0
"""Makes a program ready for fusion: memory where it is needed, effects in order, nothing dead.

Imports tensor IR, programs and sizes.
"""

from __future__ import annotations

from typing import Any

from ..kernel import scalar, sizes
from ..kernel.size_scope import Scope
from ..kernel.sizes import same
from ..program.editing import Check, Program
from ..program.tensor_ir import (
    Call,
    Compose,
    Gather,
    Handle,
    Host,
    Iota,
    Loop,
    Map,
    Measure,
    Node,
    Part,
    Read,
    Reshape,
    Source,
    Stop,
    StoreRegion,
    Value,
    View,
    Write,
    argument,
    base,
    lasts,
    written_cells,
)


def is_lazy(node: Node) -> bool:
    """Is the node computed where it is read, and never stored of itself?"""
    return isinstance(node, (View, Iota))


def needs_memory(node: Node) -> bool:
    """Does a node read its inputs at positions of its own, so that they must be in memory?"""
    return isinstance(node, (Reshape, Call, Host, Gather, Loop, Stop, Measure))


def views_what_it_writes(node: Node) -> bool:
    """Does a node write a variable that it reads at other positions, after some are written?"""
    if not isinstance(node, Write):
        return False
    read = base(node.inputs[0]).node
    return isinstance(read, Read) and read.cell is node.cell


# Checks.


def stop_before_effects(program: Program, scope: Scope) -> None:
    """Checks become nodes before what outlasts the run and before loops; others come at its end."""
    checks = list(program.checks)
    left = [_made_before(check) for check in checks]
    behind: dict[Node, list[int]] = {}  # of a node, the checks that wait for it
    for number, nodes in enumerate(left):
        for node in nodes:
            behind.setdefault(node, []).append(number)
    ready = [number for number, nodes in enumerate(left) if not nodes]
    stopped: set[int] = set()
    for node in program.nodes:
        # No check can wait any longer: behind this node it would come too late.  (A loop might
        # never end by what comes of what is wrong.)
        if ready and (lasts(node) or isinstance(node, Loop)):
            # (Others are about what comes behind, which nothing before may depend on.)
            for number in sorted(ready):
                check = checks[number]
                with program.adding(node, like=base(check.flag).node):
                    program.add(Stop(check.values, check.error))
            stopped.update(ready)
            ready.clear()
        for number in behind.get(node, ()):
            left[number].discard(node)
            if not left[number]:
                ready.append(number)
    program.checks = [check for number, check in enumerate(checks) if number not in stopped]


def _made_before(check: Check) -> set[Node]:
    """The nodes that must have come before a check."""
    made = {base(value).node for value in check.values}
    return made if check.behind is None else {check.behind, *made}


# Variables that are read before a write and used after it.


def snapshot_reads(program: Program, scope: Scope) -> None:
    """A variable that is read before a write and used after it is copied at the read."""
    writes: dict[Any, list[Node]] = {}
    for node in program:
        for cell in written_cells(node):
            writes.setdefault(cell, []).append(node)
    if not writes:
        return
    readers = _real_readers(program)
    # What Python reads when the run (or a turn of a loop) is over: fetches, and what checks show.
    looked_at = {base(value).node for value in program.kept}
    for node in program.nodes:
        if not isinstance(node, Read) or node.cell not in writes:
            continue
        later = [other for other in writes[node.cell] if other.position > node.position]
        if not later:
            continue
        last_use = max((reader.position for reader in readers.get(node, ())), default=-1)
        is_given = any(_updates_what_it_is_given(reader, node) for reader in readers.get(node, ()))
        if last_use > later[0].position or is_given or node in looked_at:
            value = node.outputs[0]
            copy = _copy(program, value, before=node.behind)
            program.replace(value, copy, but=copy.node)


def _updates_what_it_is_given(node: Node, read: Read) -> bool:
    """Does a kernel or loop change a variable in whose memory an input of it lies?

    (What is to be stored as it is viewed will lie elsewhere: see store_views.)
    """
    changed = node.effects.updates if isinstance(node, Call) else ()
    if read.cell not in (node.written if isinstance(node, Loop) else changed):
        return False
    return any(_stored_in(value).node is read for value in node.inputs)


def _stored_in(value: Value) -> Value:
    """The value in whose memory another one lies when views are stored."""
    while isinstance(value.node, Reshape) or _only_drops_ones(value):
        value = value.node.inputs[0]
    return value


def _real_readers(program: Program) -> dict[Node, list[Node]]:
    """For each node, those that read its results, directly or through views."""
    readers: dict[Node, list[Node]] = {}
    for node in program:
        if not isinstance(node, (View, Reshape)):
            for value in node.inputs:
                readers.setdefault(base(value).node, []).append(node)
    return readers


def _copy(program: Program, value: Value, before: Node | None) -> Value:
    """A copy of a value in memory of its own."""
    with program.adding(before, like=value.node):
        node = Map((value,), (argument(0, value.dtype),))
        return program.add(node, (value.dtype, value.shape))[0]


# Views that somebody needs as memory.


def store_views(program: Program, scope: Scope) -> None:
    """What is only a way of reading is copied where somebody needs memory, once."""
    # Nodes are walked in order: a copy stands in front of the first that needs it, and so of all.
    stored: dict[Value, Value] = {}

    def memory(value: Value, before: Node | None) -> Value:
        if not is_lazy(value.node):
            return value
        if value not in stored:
            if _only_drops_ones(value):
                whole = memory(value.node.inputs[0], before)
                with program.adding(before, like=value.node):
                    (renamed,) = program.add(Reshape((whole,)), (value.dtype, value.shape))
                stored[value] = renamed
            else:
                stored[value] = _copy(program, value, before)
        return stored[value]

    for node in program.nodes:
        if not any(is_lazy(value.node) for value in node.inputs):
            continue
        if needs_memory(node) or views_what_it_writes(node):
            program.set_inputs(node, [memory(value, node) for value in node.inputs])
    program.keep(lambda value: memory(value, None))


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
        order == sorted(set(order))  # (a diagonal reads along two dimensions at once)
        and all(same(size, 1) for size in rest)
        and sizes.same_shape([before[i] for i in wide], [value.shape[i] for i in order])
    )


# Tensors put together from parts.


def place_parts(program: Program, scope: Scope) -> None:
    """What writes the fill and the parts of a Compose become nodes, StoreRegions, of their own."""
    for node in program.nodes:
        if isinstance(node, Compose):
            with program.adding(node.behind, like=node):
                _place_parts(program, node)


def _place_parts(program: Program, node: Compose) -> None:
    target = node.outputs[0]
    filler: Node | None = None
    if node.fill is not None:
        (fill,) = program.add(
            Map((), (scalar.const(node.fill, target.dtype),)), (target.dtype, target.shape)
        )
        filler = StoreRegion((fill,), target, Part((0,) * target.ndim, (1,) * target.ndim))
        program.add(filler)
    for value, part in zip(node.inputs, node.parts):
        place = StoreRegion((value,), target, part)
        program.add(place)
        if filler is not None:
            # Parts do not overlap each other (nor need an order, therefore), but they do overlap
            # the fill.
            place.after.append(filler)


# Effects.


def order_effects(program: Program, scope: Scope) -> None:
    """A variable's reads and writes, and effects on the host, keep their program order."""
    last_write: dict[Any, Node] = {}
    # For each variable, the nodes that must be through with it before it is written again.
    users: dict[Any, list[Node]] = {}
    last_host: Node | None = None
    writes: list[Node] = []
    stops: list[Node] = []
    measures: list[Node] = []
    for node in program:
        # Nothing may be laid out by a size before it is known.
        node.after.extend(measures)
        if isinstance(node, Measure):
            measures = [node]
        if isinstance(node, Stop):
            # All that changed something before has done so when the run ends here.
            node.after.extend(last_write.values())
            stops.append(node)
        elif lasts(node):
            node.after.extend(stops)
        elif isinstance(node, Loop) and _may_begin_anew(node):
            stops.append(node)
        # A read is no kernel: who reads its memory waits for what it waits for (fuse.dependencies).
        # (Loops and kernels that are given a handle have none before them: they wait themselves.)
        cells = _cells_read(node)
        node.after.extend(last_write[cell] for cell in cells if cell in last_write)
        # What an op on the host looks at or changes cannot be told from its inputs: a handle may
        # lead it to any variable.
        if _writes(node) and last_host is not None:
            node.after.append(last_host)
        if isinstance(node, Host) and node.effects:
            node.after.extend(writes if last_host is None else [*writes, last_host])
            last_host, writes = node, []
        for cell in cells:
            users.setdefault(cell, []).append(node)
        for cell in written_cells(node):
            last_write[cell] = node
            node.after.extend(user for user in users.get(cell, ()) if user is not node)
            # Those before are behind this write, and so behind everything that waits for it.
            users[cell] = [node]
        if _writes(node):
            writes.append(node)


def _may_begin_anew(loop: Loop) -> bool:
    """May a run find in a loop that another program must run?"""
    nodes = (node for part in (loop.test, loop.body) for p in part.all() for node in p)
    return any(isinstance(node, Measure) for node in nodes)


def _writes(node: Node) -> bool:
    """Does a kernel change a variable here?"""
    return isinstance(node, Write) or (isinstance(node, Call) and bool(node.effects.updates))


def _cells_read(node: Node) -> list[Any]:
    """The variables whose memory a node reads, through views or not."""
    if isinstance(node, Read):
        return [node.cell]
    if isinstance(node, (View, Reshape, Source)):
        return []
    found = list(node.read) if isinstance(node, Loop) else []
    for value in node.inputs:
        match base(value).node:
            case Read() as source:
                found.append(source.cell)
            case Handle() as source:
                found.append(source.resource)
    return found


# What nobody needs.


def drop_dead(program: Program, scope: Scope) -> None:
    """Keeps what fetches, checks, variables, streams of random numbers and host effects need."""
    places: dict[Node, list[StoreRegion]] = {}
    for node in program:
        if isinstance(node, StoreRegion):
            places.setdefault(node.target.node, []).append(node)
    alive: set[Node] = set()
    stack = [value.node for value in program.kept]
    stack += [node for node in program if _has_effects(node)]
    while stack:
        node = stack.pop()
        if node in alive:
            continue
        alive.add(node)
        # What a node only waits for is not kept alive by it: without an effect there is nothing to
        # wait for.
        stack.extend(value.node for value in node.inputs)
        stack.extend(flag.node for flag, _ in node.guard)
        stack.extend(places.get(node, ()))
        if isinstance(node, StoreRegion):
            stack.extend(node.after)
    # Users go before what they use.
    for node in reversed(program.nodes):
        if node not in alive:
            program.remove(node)
        else:
            node.after = [other for other in node.after if other in alive]


def _has_effects(node: Node) -> bool:
    if isinstance(node, Host):
        return node.effects
    if isinstance(node, Call):
        # (Of a stream the next part is taken in every run, read or not.)
        return bool(written_cells(node)) or node.reserve is not None
    return isinstance(node, (Write, Loop, Stop, Measure))
