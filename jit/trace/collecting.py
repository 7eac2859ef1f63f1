# SPDX-License-Identifier: Apache-2.0
"""Variables of loops that only collect: each turn puts something behind what there is.

Such a variable grows, and nobody in the loop looks at it.  So the loop keeps the pieces on a stack,
and what comes out of it is put together behind it.  Imports the rest of jit's front end.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...engine.record_class import record
from ..library import stacks
from ..library.turns import of_turn
from ..program.tensor_ir import Value
from .forks import Side
from .loop_recovery import Variable


@record
class Collector:
    """The axis along which a loop collects, and the stack that has the pieces.

    Or, where they are of several sizes and the axis is the first, the rows of the pieces.
    """

    axis: int
    stack: Value
    are_rows: bool = False

    def result(self, b: Any, start: Value) -> Value:
        """All there is behind the loop, given what there was before."""
        rows = stacks.kept(b, self.stack)
        if self.are_rows:
            return b.concat([start, rows], 0)  # type: ignore[no-any-return]
        turns, *piece = rows.shape
        # The turns beside the axis that they are laid along, and both as one.
        order = [*range(1, self.axis + 1), 0, *range(self.axis + 1, rows.ndim)]
        shape = [turns * size if i == self.axis else size for i, size in enumerate(piece)]
        added = b.reshape(b.transpose(rows, order), shape)
        return b.concat([start, added], self.axis)  # type: ignore[no-any-return]


def collects(variable: Variable, members: Collection[Any]) -> bool:
    """Is what a variable holds used by nothing but one operation, whose result is sent back?

    members: the operations of the loop.
    """
    if variable.switch is None or _users(variable.merge.outputs[0], members) != [variable.switch]:
        return False
    users = _users(_last(variable.switch.outputs[1], members), members)
    if len(users) != 1 or len(users[0].outputs) != 1:
        return False
    return _users(_last(users[0].outputs[0], members), members) == [variable.next]


def _last(tensor: Any, members: Collection[Any]) -> Any:
    """The tensor behind all operations that only hand a tensor on."""
    while True:
        users = _users(tensor, members)
        if len(users) != 1 or not users[0].definition.passes_ref or len(users[0].outputs) != 1:
            return tensor
        tensor = users[0].outputs[0]


def _users(tensor: Any, members: Collection[Any]) -> list[Any]:
    users = [op for op in dict.fromkeys(tensor._consumers) if op in members]
    # (One that takes it twice is no simple user.)
    return users if len(users) != 1 or list(users[0]._inputs_val).count(tensor) == 1 else users * 2


def collector(outer: Any, inner: Any, name: str, before: Value, after: Value) -> Collector | None:
    """Has a loop keep what it collects, in one turn traced by `inner`; None if it is not that."""
    found = _added(inner, before, after)
    if found is None:
        return None
    axis, piece = found
    stack = stacks.make_stack(outer, name)
    if axis == 0 and of_turn(inner, piece.shape, outer.place):
        stacks.keep_rows(inner, stack.cell, piece)
        return Collector(axis, stack, are_rows=True)
    stacks.keep(inner, stack.cell, piece)
    return Collector(axis, stack)


def _added(b: Any, before: Value, after: Value) -> tuple[int, Value] | None:
    """What is behind what was there before, and the axis; None if it is not that."""
    axis, parts = b.joined.get(after, (0, ()))
    if len(parts) < 2 or parts[0] is not before:
        return None
    return axis, b.concat(parts[1:], axis)


def row_collector(
    outer: Any, inner: Any, name: str, before: Value, sides: Sequence[Side]
) -> Collector | None:
    """The same where two branches give pieces of several sizes."""
    program, pieces = inner.program, []
    for side in sides:
        program.guard = side.guard
        found = _added(inner, before, side.value)
        if found is None or found[0] != 0:
            return None
        pieces.append(Side(side.guard, found[1]))
    stack = stacks.make_stack(outer, name)
    for side in pieces:
        program.guard = side.guard
        stacks.keep_rows(inner, stack.cell, side.value)
    program.guard = ()
    return Collector(0, stack, are_rows=True)
