# SPDX-License-Identifier: Apache-2.0
"""Maps that read something across its grain, as transposes do: square by square.

What such a load reads for a square of positions lies in short pieces, far apart; where rows are a
power of two long all of them compete for the same few places of a cache.  So a piece is read to its
end while it is near, and put into a block of the frame as the map will read it: side by side.  Then
the map goes over the square as any map does.  Imports no Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from ..kernel.grain import SQUARE, WIDE, height
from ..kernel.ir import Expr, Kernel, Load, Param
from .writer import Scope, Writer


class SquareWriter(Writer):
    """A writer that finds loads in squares once these are there."""

    def __init__(self, kernel: Kernel, axis: int, loads: tuple[Load, ...]) -> None:
        super().__init__(kernel)
        self.along, self.loads = axis, loads
        self.height = height(kernel, loads)
        self.are_there = False

    def text(self, node: Expr, scope: Scope) -> str:
        if self.are_there and isinstance(node, Load) and node in self.loads:
            return self.held(self.loads.index(node))
        return super().text(node, scope)

    def held(self, number: int) -> str:
        """What a square has for the present position."""
        return f"load(square{number}, held + i{self.inner})"

    def dependence(self, node: Any) -> frozenset[int]:
        found = super().dependence(node)
        if isinstance(node, Load) and node in self.loads:
            found |= {self.along, self.inner}
            self.axes_of[node] = found
        return found


def frame(e: SquareWriter) -> list[str]:
    """The lines that reserve the squares."""
    dtypes = [e.kernel.buffers[load.buffer].dtype for load in e.loads]
    # (The last rows of what is turned together may reach beyond.)
    count = (e.height + SQUARE) * WIDE
    return [f"square{n} = stack_{dtype}({count})" for n, dtype in enumerate(dtypes)]


def write(e: SquareWriter, plain: Callable[[], None]) -> None:
    """The map by squares; as `plain` writes it where a side is too short for them."""
    sides = [n for n in (e.along, e.inner) if e.kernel.axes[n].size is None]
    shortest = reduce(lambda a, b: f"minimum({a}, {b})", map(e.size, sides))
    # Rows may be counted in any order: those that are neighbours in what is read are together.
    e.outer = [axis for axis in e.outer if axis != e.along] + [e.along]
    e.open(())
    plain()
    e.line("return")
    e.close(f"if {shortest} < {SQUARE}:")
    e.over_lines(e.along, partial(_squares, e))


def _squares(e: SquareWriter, first: str, last: str) -> None:
    """The squares of a piece of a line."""
    e.open(())
    e.line(f"bottom = minimum(top + {e.height}, {last})")
    # Elements are turned a few rows at a time: at an end some are turned once more.
    e.line(f"start = minimum(top, {_number(e, e.along)} - {SQUARE})")
    e.open(())
    e.line(f"right = minimum(left + {WIDE}, c1)")
    e.line(f"begin = minimum(left, {_number(e, e.inner)} - {SQUARE})")
    # One after the other: lines of several at once may compete for the same places of a cache.
    for number, load in enumerate(e.loads):
        _turn(e, number, load)
    e.are_there = True
    _compute(e)
    e.are_there = False
    e.close(f"for left in range(c0, c1, {WIDE}):")
    e.close(f"for top in range({first}, {last}, {e.height}):")


def _number(e: SquareWriter, axis: int) -> str:
    return e.literal(e.size(axis))


def _turn(e: SquareWriter, number: int, load: Load) -> None:
    """Reads a square: what lies side by side goes to where it is read side by side."""
    high, wide = _number(e, e.along), _number(e, e.inner)
    e.open((e.inner,))
    e.line(f"i{e.inner} = minimum(across, {wide} - {SQUARE})")
    e.open((e.along,))
    e.line(f"i{e.along} = minimum(down, {high} - {SQUARE})")
    e.line(f"at = (i{e.along} - start) * {WIDE} + i{e.inner} - begin")
    e.dependence(load.index)
    source = f"{e.buffer(load.buffer)}, {e.index(load.index, e.scopes[-1])}"
    stride = load.index.strides[e.inner]
    step = e.param(stride) if isinstance(stride, Param) else str(stride)
    e.line(f"turn(square{number}, at, {WIDE}, {source}, {step}, {step} * {WIDE})")
    e.close(f"for down in range(start, bottom, {SQUARE}):")
    e.close(f"for across in range(begin, right, {SQUARE}):")


def _compute(e: SquareWriter) -> None:
    """What the map computes, from squares that are there."""
    e.open((e.along,))
    e.line(f"held = (i{e.along} - start) * {WIDE} - begin")
    e.open((e.inner,))
    e.stores(e.kernel.stores)
    e.close(f"for i{e.inner} in range(left, right):")
    e.close(f"for i{e.along} in range(top, bottom):")
