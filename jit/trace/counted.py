# SPDX-License-Identifier: Apache-2.0
"""Loops that lowerings write themselves: so many turns of steps that are traced once.

Such a loop is the same node that while loops of a graph become (control_flow.py).  Imports the rest
of jit's front end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..kernel import scalar
from ..program.editing import Program
from ..program.tensor_ir import (
    Captured,
    GrowableStack,
    Handle,
    Loop,
    Map,
    Read,
    Register,
    Value,
    argument,
    written_cells,
)
from .builder import Builder

# turn(builder of a turn, number of the turn, carried, given) -> carried by the next turn.
Turn = Callable[[Builder, Value, list[Value], list[Value]], Sequence[Value]]


def repeated(
    b: Builder, count: Value, carried: Sequence[Value], given: Sequence[Value], turn: Turn
) -> list[Value]:
    """Runs `turn` as often as `count` says.

    Args:
        b: what builds around the loop.
        count: a 0-d int32 or int64.
        carried: what the first turn gets; each turn gives the next one values of the same shapes
            and dtypes.
        given: what every turn gets: values, and things of the plan (arrays, stacks).
        turn: traces one turn, by a builder of its own; values of `b` are not to be used in it.

    Returns:
        What the last turn gave, or `carried` where there was none.
    """
    zero = b.constant(np.array(0, count.dtype))
    registers = [_begun(b, value) for value in (zero, *carried)]
    loop = Loop((), Program(), Program())
    test, body = _Turn(b, loop, registers), _Turn(b, loop, registers)
    loop.test, loop.body = test.program, body.program
    flag = test.b.map(scalar.lt, test.carried[0], test.capture(count))
    # (In memory of its own, where the jump looks.)
    node = Map((flag,), (argument(0, "bool"),))
    loop.test.fetches = [loop.test.add(node, ("bool", ()))[0]]
    number, *before = body.carried
    after = turn(body.b, number, before, [body.capture(value) for value in given])
    step = body.b.map(lambda i: scalar.add(i, scalar.const_like(1, i)), number)
    for register, value in zip(registers, [step, *after], strict=True):
        loop.body.write(register, value)
    note_touched(b, loop, registers)
    b.program.add(loop)
    return [b.program.read(register) for register in registers[1:]]


def _begun(b: Builder, value: Value) -> Register:
    if not scalar.holds(value.dtype):
        raise b.host(f"a loop carries {value.dtype}")
    register = Register("carried", value.dtype, value.shape, b.program)
    b.program.write(register, value)
    return register


class _Turn:
    """What traces the test or the body: a program, its builder, and what comes round."""

    def __init__(self, outer: Builder, loop: Loop, registers: Sequence[Register]) -> None:
        self.loop, self.program = loop, Program()
        self.program.origin = outer.program.origin
        self.b = _within(outer, self.program)
        self.carried = [self.program.read(register) for register in registers]

    def capture(self, value: Value) -> Value:
        """A value from around the loop, or a thing of the plan, for use in it."""
        if value.cell is not None:
            (handle,) = self.program.add(Handle(value.cell), (value.dtype, value.shape))
            handle.cell = value.cell
            return handle
        if value.known is not None:
            return self.b.known_as(value.known, value.dtype)
        source = Captured(self.loop, len(self.loop.inputs))
        self.loop.inputs += (value,)
        return self.program.add(source, (value.dtype, value.shape))[0]


def _within(outer: Builder, program: Program) -> Builder:
    found = Builder(program, outer.scope)
    found.outer, found.unsettled = outer, outer.unsettled
    found.may_measure, found.may_assume = outer.may_measure, outer.may_assume
    found.is_plain, found.offered, found.is_mixed = outer.is_plain, outer.offered, outer.is_mixed
    return found


def note_touched(b: Builder, loop: Loop, registers: Sequence[Register]) -> None:
    """Notes what a loop, which carries these registers, writes and reads of what is around it."""
    programs = [*loop.test.all(), *loop.body.all()]
    nodes = [node for program in programs for node in program]
    written = dict.fromkeys(cell for node in nodes for cell in written_cells(node))
    outside = [cell for cell in written if not _is_of(cell, programs)]
    read = [node.cell for node in nodes if isinstance(node, Read)]
    read += [value.cell for node in nodes for value in node.inputs if value.cell is not None]
    loop.written = (*registers, *outside)
    loop.read = tuple(dict.fromkeys(cell for cell in read if not _is_of(cell, programs)))
    b.forget(outside)


def _is_of(cell: object, programs: Sequence[Program]) -> bool:
    """Is something a register or stack that is made in one of these programs?"""
    return isinstance(cell, (Register, GrowableStack)) and cell.program in programs
