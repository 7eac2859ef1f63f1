# SPDX-License-Identifier: Apache-2.0
"""What goes round a loop, in memory that lasts from turn to turn.

Most variables of a loop keep their shape: a Register holds them.  Others are as large as a turn
makes them (a frontier, a mask's choice, all words so far): their contents lie on a stack, and their
sizes in Registers, which each turn measures.  Imports the rest of jit's front end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from ..kernel.sizes import AnySize, Unanswered, same
from ..library import lists, stacks
from ..program.tensor_ir import GrowableStack, Register, Value


class Varies(Exception):
    """Variables of a loop turn out to have other sizes in each turn: all is traced again.

    (What was made so far, arrays and stacks among it, has been told what they hold.)
    """


class Carrier(Protocol):
    """A loop variable's memory.  `registers` are those that the loop writes."""

    @property
    def registers(self) -> Sequence[Register]:
        """All of them."""

    def put(self, b: Any, value: Value) -> None:
        """Has it hold a value, which fits."""

    def take(self, b: Any) -> Value:
        """What it holds."""


class Fixed:
    """A variable of one shape for the whole run of a loop."""

    def __init__(self, register: Register) -> None:
        self.registers: Sequence[Register] = (register,)

    def put(self, b: Any, value: Value) -> None:
        """Writes the register."""
        b.program.write(self.registers[0], value)

    def take(self, b: Any) -> Value:
        """Reads the register."""
        return b.program.read(self.registers[0])


class Held:
    """A list of tensors, whose memory stays where it is."""

    registers: Sequence[Register] = ()

    def __init__(self, entered: lists.List, origin: Any) -> None:
        """origin: what sends the list to the next turn."""
        self._entered, self._origin = entered, origin

    def put(self, b: Any, value: Value) -> None:
        """Sees that it is the list that came in."""
        lists.leaving(b, self._entered, value, self._origin)

    def take(self, b: Any) -> Value:
        """The list as it is now."""
        return lists.arriving(b, self._entered)


class Varying:
    """A variable that is of another size along some axes in each turn."""

    def __init__(self, b: Any, name: str, like: Value, axes: Iterable[int]) -> None:
        """like: what goes into the loop, whose sizes along other axes hold for all turns."""
        self.dtype, self.shape = like.dtype, like.shape
        self.sizes = {
            axis: Register(f"{name}/size_{axis}", "int64", (), b.program) for axis in sorted(axes)
        }
        self.registers: Sequence[Register] = tuple(self.sizes.values())
        self.stack: GrowableStack = stacks.make_stack(b, name).cell
        self.stack.bytes = 1

    def put(self, b: Any, value: Value) -> None:
        """Notes the sizes, and copies the contents."""
        for axis, register in self.sizes.items():
            number = b.known_as(np.array(value.shape[axis], object), "int64")
            b.program.write(register, number)
        stacks.refill(b, self.stack, value)

    def take(self, b: Any) -> Value:
        """Measures the sizes, and copies the contents."""
        shape: list[AnySize] = list(self.shape)
        for axis, register in self.sizes.items():
            shape[axis] = b.measure(b.program.read(register))
        return stacks.contents(b, self.stack, shape, self.dtype)


def changing(
    b: Any, before: Value, after: Value, varying: Collection[int], stated: Any
) -> frozenset[int]:
    """The axes along which what a turn makes may have another size than what it was given.

    b: the turn's builder; varying: those that are known to vary; stated: what the graph says of the
    shape, in sizes of which None are open.
    """
    assert b.outer is not None
    found = set()
    for axis, (old, new) in enumerate(zip(before.shape, after.shape, strict=True)):
        if axis in varying or same(old, new):
            continue
        # (One that only this turn knows may happen to be equal now; nobody says that it is.)
        is_open = stated is not None and stated[axis] is None
        if is_open and not b.scope.is_known(new, b.outer.place):
            found.add(axis)
            continue
        try:
            is_equal = b.equal(old, new)
        except Unanswered:
            is_equal = False
        if not is_equal:
            found.add(axis)
    return frozenset(found)
