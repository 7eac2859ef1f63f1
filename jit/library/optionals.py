# SPDX-License-Identifier: Apache-2.0
"""Optionals that branches give: what is there under which conditions.

The gradient of a branch takes so what the branch has computed, under the same condition: nothing is
copied, and nothing asked while it runs.  Imports the rest of jit's IR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..program.tensor_ir import Guard, Value
from .of_run import OfRun, total, zeros_like
from .stacks import handle_of

if TYPE_CHECKING:
    from ..trace.builder import Builder

# What is there under some conditions; None: nothing.
Way = tuple[Guard, tuple[Value, ...] | None]


class Optional(OfRun):
    """An optional while it is traced."""

    def __init__(self, b: Builder, ways: Sequence[Way]) -> None:
        self.program, self.ways = b.program, tuple(ways)

    def joined(self, b: Builder, sides: Sequence[tuple[Guard, Value]]) -> Value:
        """The optional of the branch that runs."""
        ways: list[Way] = []
        for _, value in sides:
            if not isinstance(value.cell, Optional) or value.cell.program is not b.program:
                raise b.host("branches give different things")
            ways += value.cell.ways
        return handle_of(b, Optional(b, ways))

    def zeroed(self, b: Builder) -> Value:
        """An optional of zeros where this one has something."""
        return self._computed(b, [self], lambda values: zeros_like(b, values[0]))

    def total(self, b: Builder, handles: Sequence[Value]) -> Value:
        """An optional of the sums of what several have."""
        return self._computed(b, [_given(b, each) for each in handles], lambda v: total(b, v))

    def _computed(
        self, b: Builder, given: Sequence[Optional], function: Callable[[Sequence[Value]], Value]
    ) -> Value:
        """What is computed of the components of optionals, one after the other, for each way."""
        before, found = b.program.guard, []
        for guard, _ in self.here(b):
            b.program.guard = tuple(dict.fromkeys((*before, *guard)))
            ways = [each.here(b) for each in given]
            if any(len(each) != 1 for each in ways):
                raise b.host("whether an optional has a value is not known")
            values = [each[0][1] for each in ways]
            there = [each for each in values if each is not None]
            if there and len(there) < len(values):
                raise b.host("one of two optionals has a value")
            made = tuple(map(function, zip(*there, strict=True))) if there else None
            found.append((b.program.guard, made))
        b.program.guard = before
        return handle_of(b, Optional(b, found))

    def here(self, b: Builder) -> list[Way]:
        """The ways that may be taken where operations are added now."""
        if self.program is not b.program:
            raise b.host("an optional from outside of a loop")
        now = b.program.guard
        return [
            way for way in self.ways if not any((flag, not side) in now for flag, side in way[0])
        ]


def make(b: Builder, values: Sequence[Value] | None) -> Value:
    """An optional of these values, or none, within branches or loops."""
    if not b.is_closed:
        raise b.host("an optional outside of branches")
    given = None if values is None else tuple(values)
    return handle_of(b, Optional(b, [(b.program.guard, given)]))


def _given(b: Builder, handle: Value) -> Optional:
    if not isinstance(handle.cell, Optional):
        raise b.host("the optional is not one of this plan's")
    return handle.cell


def values_of(b: Builder, handle: Value) -> tuple[Value, ...]:
    """The values, where it is known that they are there."""
    ways = _given(b, handle).here(b)
    if len(ways) != 1 or ways[0][1] is None or not set(ways[0][0]) <= set(b.program.guard):
        raise b.host("whether an optional has a value is not known")
    return ways[0][1]


def has_value(b: Builder, handle: Value) -> Value:
    """Whether there are values, where that is known."""
    found = {way[1] is not None for way in _given(b, handle).here(b)}
    if len(found) != 1:
        raise b.host("whether an optional has a value is not known")
    return b.constant(np.array(found.pop()))  # type: ignore[no-any-return]
