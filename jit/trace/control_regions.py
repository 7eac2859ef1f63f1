# SPDX-License-Identifier: Apache-2.0
"""The parts of a graph that branch or loop, and an order in which each of them is in one piece.

A region is what hangs together: whole conditionals and loops, and what lies on a way from one of
its operations to another.  All else is ordered around it by its edges, so that what cannot be
compiled in a region does not concern the rest.  Imports the engine's graph layer only.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation

_JOINS = ("merge", "exit")
# What gives a value only where it is taken, until a merge or an exit.
_PARTS = ("switch", "enter", "next")


def arranged(
    operations: Sequence[Any], feeds: Iterable[Any], around: Collection[Any] = ()
) -> tuple[list[Any], dict[int, int]] | None:
    """The operations in an order in which every region is in one piece, and the regions: by the
    number of the first operation that behind the last.

    around: the contexts that all of the operations are in, such as that of the loop whose body they
    are.  None if a tensor within a region is fed: what comes after it is no whole loop.
    """
    members = conditional(operations, around)
    if not members:
        return list(operations), {}
    root = connected(members, members, around)
    number = {op: i for i, op in enumerate(operations)}
    first: dict[Any, int] = {}
    for op in operations:
        first.setdefault(root.get(op, op), number[op])
    group = [first[root.get(op, op)] for op in operations]
    users: list[set[int]] = [set() for _ in operations]
    fed = set(feeds)
    for before, after in (*_edges(operations, fed), *accesses(operations)):
        if before in number and group[number[before]] != group[number[after]]:
            users[group[number[before]]].add(group[number[after]])
    component = _components(sorted(first.values()), users)
    pieces: dict[int, list[Any]] = {}
    for op, place in zip(operations, group):
        pieces.setdefault(component[place], []).append(op)
    inside = {component[first[op]] for op in set(root.values())}
    makers = {tensor.op for tensor in fed}
    if any(op in makers for piece in inside for op in pieces[piece]):
        return None
    result: list[Any] = []
    regions: dict[int, int] = {}
    for piece in _in_order(pieces, number, users, component):
        if piece in inside:
            regions[len(result)] = len(result) + len(pieces[piece])
        result += pieces[piece]
    return result, regions


def conditional(
    operations: Sequence[Operation], around: Collection[Any] = ()
) -> dict[Operation, bool]:
    """The operations that branch or loop, or that run under a condition; and whether their results
    may be missing, as those of a branch that is not taken and those of a loop's turn.

    An operation needs no context for that: gradients have switches, merges and what lies between
    outside of all contexts.  Who takes a variable or resource from such an operation is counted as
    one, since nothing hands it out.  What works on an array of tensors is one with what made it.
    """
    present = set(operations)
    members: dict[Operation, bool] = {}
    handles: set[Any] = set()  # variables and resources that members give
    frames: dict[str, Conditions] = {}
    # Twice: what enters a loop last may be what says under which condition all of it runs.
    _under(operations, frames)
    under = _under(operations, frames)
    for op in operations:
        role, conditions = op.definition.control_flow_role, under[op]
        has_context = _context(op, around) is not None
        takes = any(tensor in handles for tensor in op._inputs_val)
        is_foreign = role == "step" and any(
            _binds(tensor) and tensor.op not in present for tensor in op._inputs_val
        )
        if not ((role and not is_foreign) or has_context or conditions or takes):
            continue
        members[op] = bool(conditions) or role == "switch"
        handles.update(tensor for tensor in op.outputs if _binds(tensor))
    return members


def _context(op: Operation, around: Collection[Any]) -> Any:
    """The outermost branch or loop that an operation was made in, of those within some others."""
    context = op._control_flow_context
    if context is None or context in around:
        return None
    while context.outer_context is not None and context.outer_context not in around:
        context = context.outer_context
    return context


# What has to hold for an operation to run, outermost first: predicates with sides, names of loops.
Conditions = tuple[Any, ...]


def _under(operations: Sequence[Operation], frames: dict[str, Conditions]) -> dict[Any, Conditions]:
    """What operations, and sides of switches, run under; frames: the same of loops, by name."""
    under: dict[Any, Conditions] = {}
    for op in operations:
        role = op.definition.control_flow_role
        conditions = under[op] = _conditions(op, role, under, frames)
        if role == "switch":
            predicate = op._inputs_val[1]
            for side, tensor in enumerate(op.outputs):
                condition = predicate.op, predicate.value_index, side
                under[tensor] = _both(conditions, (condition,))
    return under


def _conditions(
    op: Operation, role: str, under: dict[Any, Conditions], frames: dict[str, Conditions]
) -> Conditions:
    given = [under.get(t, under.get(t.op)) for t in op._inputs_val]
    # (What a loop sends back is behind its merge: it runs under the same as what comes in.)
    known = [conditions for conditions in given if conditions is not None]
    if role == "merge" and known:
        first, *others = known
        return tuple(c for c in first if all(c in conditions for conditions in others))
    before = [under[other] for other in op._control_inputs_val if other in under]
    conditions: Conditions = ()
    for more in (*known, *before):
        conditions = _both(conditions, more)
    if role == "enter":
        name = op.attr("frame_name")
        frames[name] = _both(frames.get(name, ()), conditions)
        return _both(frames[name], (name,))
    if role == "exit":
        loops = [i for i, condition in enumerate(conditions) if isinstance(condition, str)]
        return conditions[: loops[-1]] if loops else ()
    return conditions


def _both(one: Conditions, other: Conditions) -> Conditions:
    return (*one, *(condition for condition in other if condition not in one))


def connected(
    members: Iterable[Operation],
    missing: dict[Operation, bool] | None = None,
    around: Collection[Any] = (),
) -> dict[Operation, Operation]:
    """For each operation that branches or loops, one that stands for all it hangs together with.

    missing: whose results may be missing.  What is always there, such as the value of a whole
    conditional, connects nobody then but by a variable or resource.
    """
    parent = {op: op for op in members}

    def root(op: Operation) -> Operation:
        while parent[op] is not op:
            parent[op] = parent[parent[op]]
            op = parent[op]
        return op

    contexts: dict[int, Operation] = {}
    for op in parent:
        context = _context(op, around)
        if context is not None:
            parent[root(op)] = root(contexts.setdefault(id(context), op))
        before = [(t.op, _binds(t)) for t in op._inputs_val]
        before += [(other, False) for other in op._control_inputs_val]
        for other, is_handle in before:
            if other in parent and (missing is None or missing[other] or is_handle):
                parent[root(op)] = root(other)
    return {op: root(op) for op in parent}


def leaks(op: Any, inside: set[Any], number: dict[Any, int]) -> bool:
    """Does an operation outside take from this one a variable, or a value that may be missing?"""
    role = op.definition.control_flow_role
    inner = role in _PARTS or (op._control_flow_context is not None and role not in _JOINS)
    return any(
        (inner or _binds(tensor))
        and any(user in number and user not in inside for user in tensor._consumers)
        for tensor in op.outputs
    )


def refers(tensor: Any) -> bool:
    """Does a tensor stand for a variable or a resource?"""
    return bool(tensor.dtype._is_ref_dtype or tensor.dtype.base_dtype.name == "resource")


def _binds(tensor: Any) -> bool:
    """Do those that use a tensor belong together?"""
    return refers(tensor) or lives_for_run(tensor)


def lives_for_run(tensor: Any) -> bool:
    """Is a variant a list or optional that compiled code may have, and nobody outside of it?"""
    seen: set[Any] = set()
    while tensor.dtype.base_dtype.name == "variant" and tensor.op not in seen:
        op = tensor.op
        seen.add(op)
        definition = op.definition
        if definition.control_flow_role == "step":
            return True
        if not definition.control_flow_role and definition.lower is None:
            return False
        given = [t for t in op._inputs_val if t.dtype.base_dtype.name == "variant"]
        if not given:
            return True
        tensor = given[0]
    return False


def _edges(operations: Sequence[Any], fed: set[Any]) -> Iterator[tuple[Any, Any]]:
    """What must run before what, by the graph."""
    for op in operations:
        yield from ((t.op, op) for t in op._inputs_val if t not in fed)
        yield from ((other, op) for other in op._control_inputs_val)


def accesses(operations: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """What must run before what, so that who reads a variable sees what it sees in the order given.

    A graph does not say it; but a run shall give the same however its operations are arranged.
    """
    makers: dict[Any, Any] = {}  # of operations that give variables: the one that made it
    written: dict[Any, Any] = {}
    read: dict[Any, list[Any]] = {}
    for op in operations:
        # (What hands on a variable's value gives what is in it when that is used.)
        handles = [t for t in op._inputs_val if _binds(t) or t.op in makers]
        cells = list(dict.fromkeys(makers.get(t.op, t.op) for t in handles))
        if cells and (op.definition.passes_ref or any(map(_binds, op.outputs))):
            makers[op] = cells[0]
        writes = any(arg.is_ref for arg in op.definition.inputs)
        writes = writes or bool(op.definition.is_stateful and not op.outputs)
        for cell in cells:
            if cell in written:
                yield written[cell], op
            if writes:
                yield from ((reader, op) for reader in read.pop(cell, ()))
                written[cell] = op
            else:
                read.setdefault(cell, []).append(op)


def _components(places: Sequence[int], users: Sequence[set[int]]) -> dict[int, int]:
    """For each place the strongly connected component that it is in (Tarjan 1972), as a number."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    component: dict[int, int] = {}
    stack: list[int] = []
    for start in places:
        walk = [(start, iter(users[start]))] if start not in index else []
        if walk:
            index[start] = low[start] = len(index)
            stack.append(start)
        while walk:
            place, rest = walk[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    walk.append((other, iter(users[other])))
                    break
                if other not in component:
                    low[place] = min(low[place], index[other])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[place])
                if low[place] == index[place]:
                    while place not in component:
                        component[stack.pop()] = place
    return component


def _in_order(
    pieces: dict[int, list[Any]],
    number: dict[Any, int],
    users: Sequence[set[int]],
    component: dict[int, int],
) -> Iterator[int]:
    """The pieces, each behind what it needs and as near to where its last operation stood."""
    waiting = dict.fromkeys(pieces, 0)
    behind: dict[int, set[int]] = {piece: set() for piece in pieces}
    for place, piece in component.items():
        behind[piece].update(component[user] for user in users[place])
    for piece, after in behind.items():
        after.discard(piece)
        for other in after:
            waiting[other] += 1
    heap = [(number[pieces[p][-1]], p) for p, count in waiting.items() if not count]
    heapq.heapify(heap)
    while heap:
        _, piece = heapq.heappop(heap)
        yield piece
        for other in behind[piece]:
            waiting[other] -= 1
            if not waiting[other]:
                heapq.heappush(heap, (number[pieces[other][-1]], other))
