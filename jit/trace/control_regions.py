# SPDX-License-Identifier: Apache-2.0
"""The stretches of a graph that branch or loop: they run by reference kernels, what is around is
compiled.

A region is a run of operations that holds whole conditionals and loops.  Imports the engine's
graph layer only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation

_JOINS = ("merge", "exit")


def find_regions(operations: Sequence[Any], feeds: Iterable[Any]) -> dict[int, int] | None:
    """Start and end of every region, as numbers of operations; None if the graph cannot be cut."""
    number = {op: i for i, op in enumerate(operations)}
    members = [op for op in operations if _is_member(op)]
    spans = _merged(_spans(members, number))
    result = dict(spans)
    fed = {tensor.op for tensor in feeds}
    for start, end in spans:
        inside = set(operations[start:end])
        if fed & inside or any(leaks(op, inside, number) for op in inside):
            return None
    return result


def _is_member(op: Operation) -> bool:
    return bool(op.definition.flow) or op._control_flow_context is not None


def _spans(members: Sequence[Any], number: dict[Any, int]) -> list[tuple[int, int]]:
    """For each group of operations that hang together, its first and behind its last number."""
    groups: dict[Any, list[int]] = {}
    for op, root in connected(members).items():
        groups.setdefault(root, []).append(number[op])
    return sorted((min(places), max(places) + 1) for places in groups.values())


def connected(members: Sequence[Any]) -> dict[Any, Any]:
    """For each operation that branches or loops, one that stands for all it hangs together with."""
    parent = {op: op for op in members}

    def root(op: Operation) -> Any:
        while parent[op] is not op:
            parent[op] = parent[parent[op]]
            op = parent[op]
        return op

    contexts: dict[int, Any] = {}
    for op in members:
        context = op._control_flow_context
        while context is not None and context.outer_context is not None:
            context = context.outer_context
        if context is not None:
            parent[root(op)] = root(contexts.setdefault(id(context), op))
        for tensor in op._inputs_val:
            if tensor.op in parent:
                parent[root(op)] = root(tensor.op)
    return {op: root(op) for op in members}


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping and touching spans become one."""
    result: list[tuple[int, int]] = []
    for start, end in spans:
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def leaks(op: Operation, inside: set[Any], number: dict[Any, int]) -> bool:
    """Does an operation outside take from this one a variable, or a value that may be missing?

    Values of a branch that is not taken are missing, until a merge or an exit.
    """
    role = op.definition.flow
    inner = role in ("switch", "enter", "next") or (
        op._control_flow_context is not None and role not in _JOINS
    )
    for tensor in op.outputs:
        handle = tensor.dtype._is_ref_dtype or tensor.dtype.base_dtype.name == "resource"
        if (handle or inner) and any(
            user in number and user not in inside for user in tensor._consumers
        ):
            return True
    return False
