# SPDX-License-Identifier: Apache-2.0
"""Sizes that runs learn on their way are learnt as early as can be, and together.

A run that learns a size for which it was not laid out goes on in another one
(jit/runtime/execution.py): once for all sizes that it learns in a row.  Imports the passes' IR.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..kernel.size_scope import Scope
from ..kernel.sizes import symbols_of
from ..program.editing import Program
from ..program.node_sizes import symbols_of_node
from ..program.tensor_ir import Host, Loop, Measure, Node, Read, Stop, written_cells


def measure_early(program: Program, scope: Scope) -> None:
    """Measures, and what they are made of, come first; those of sizes that need others behind."""
    measures = [node for node in program if isinstance(node, Measure)]
    if len(measures) < 2 or not program.is_straight:
        return
    written: dict[object, float] = {}
    for node in program:
        for cell in written_cells(node):
            written.setdefault(cell, node.position)
    # How many times a run has to learn sizes before it comes to a node.
    turn: dict[Node, int] = {}
    behind: dict[str, int] = {}
    tied = _tied(scope)
    for measure in measures:
        made = _made_for(measure, turn)
        if not all(_may_move(node, written) for node in made):
            break
        for node in sorted(made, key=lambda node: node.position):
            sources = [turn[value.node] for value in node.inputs]
            names = {other for name in symbols_of_node(node) for other in tied.get(name, {name})}
            turn[node] = max((*sources, *(behind.get(name, 0) for name in names)), default=0)
        behind[measure.symbol] = turn[measure] + 1
    order = sorted(turn, key=lambda n: (turn[n], isinstance(n, Measure), n.position))
    for node in reversed(order):
        first = next(iter(program))
        if node is not first:
            program.move_before(node, first)


def _tied(scope: Scope) -> dict[str, set[str]]:
    """By measured size those that something is taken for granted of together with it, and itself.

    What is laid out by one of them takes them all to be as they should.
    """
    found: dict[str, set[str]] = {}
    for text in (*scope.taken_for_zero, *scope.taken_for_some, *scope.taken_for_within):
        names = set(symbols_of(text)).intersection(scope.measured)
        for name in names:
            found.setdefault(name, {name}).update(names)
    return found


def _made_for(measure: Measure, known: Iterable[Node]) -> set[Node]:
    """The nodes that a measure is made of, itself among them, but for those that are known."""
    found: set[Node] = {measure}
    pending: list[Node] = [measure]
    while pending:
        for value in pending.pop().inputs:
            if value.node not in found and value.node not in known:
                found.add(value.node)
                pending.append(value.node)
    return found


def _may_move(node: Node, written: dict[object, float]) -> bool:
    """May a node come before all that stands in front of it, and what that changes?"""
    if isinstance(node, (Loop, Stop)) or written_cells(node):
        return False
    if isinstance(node, Host):
        return not node.effects
    if isinstance(node, Read):
        return written.get(node.cell, node.position) >= node.position
    return True
