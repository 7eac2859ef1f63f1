# SPDX-License-Identifier: Apache-2.0
"""Maps that read something across its grain, as transposes do, by way of shared memory.

Neighbouring threads take neighbouring columns, which of what is turned lie far apart.  So a block
reads a square of it along its own neighbours first, and then goes over the square's columns, where
everything else of the map is computed as in any other.  Where a side is short (known when the
kernel runs) the map stays what it is.  Imports no Numba.
"""

from __future__ import annotations

from collections.abc import Callable

from ..codegen.squares import SquareWriter
from ..codegen.writer import ROW
from ..kernel.grain import crossing
from ..kernel.ir import Kernel, Load

SIDE = 32  # of a square
_BITS = 5
_PITCH = SIDE + 1  # so that a column of a square is in different banks of memory
_SHORT = 16
_THREAD = "line() * lanes() + lane()"
_THREADS = "lanes() * lines()"


def turned_axis(kernel: Kernel) -> tuple[int, tuple[Load, ...]] | None:
    """The axis along which neighbours of some loads of a map lie, and these loads; None if all lie
    along the innermost one, as the stores do."""
    # (A stride of one by form; others are arguments or larger.)
    return crossing(kernel, near=(0, 1))


class TurnedWriter(SquareWriter):
    """A writer that finds loads in squares once these are there."""

    def held(self, number: int) -> str:
        """What a square has for the present position."""
        return f"load_ordered(square{number}, v * {_PITCH} + u)"


def write(e: TurnedWriter, plain: Callable[[], None]) -> None:
    """The map by squares; as `plain` writes it where a side is short."""
    high, wide = e.size(e.along), e.size(e.inner)
    e.open(())
    plain()
    e.line("return")
    e.close(f"if minimum({high} + 0, {wide} + 0) < {_SHORT}:")
    e.line(f"across = right_shift({wide} + {SIDE - 1}, {_BITS})")
    e.line(f"down = right_shift({high} + {SIDE - 1}, {_BITS})")
    e.line(f"squares = across * down * truncatediv(rows, {high})")
    others = [axis for axis in e.outer if axis != e.along]
    e.open((*others, ROW))
    e.line("top = truncatemod(tile, across)")
    e.line(f"left = top * {SIDE}")
    e.line("above = truncatediv(tile, across)")
    e.line(f"top = truncatemod(above, down) * {SIDE}")
    rest = "rest"
    e.line("rest = truncatediv(above, down)")
    for axis in reversed(others):
        e.line(f"i{axis} = truncatemod({rest}, {e.size(axis)})")
        e.line(f"rest{axis} = truncatediv({rest}, {e.size(axis)})")
        rest = f"rest{axis}"
    e.line("barrier()")
    _square(e, ("u", "v"), _read)
    e.line("barrier()")
    e.are_there = True
    _square(e, ("v", "u"), _compute)
    e.are_there = False
    first, step = "block_y() * blocks_x() + block_x()", "blocks_x() * blocks_y()"
    e.close(f"for tile in range({first}, squares, {step}):")


def _square(e: TurnedWriter, names: tuple[str, str], body: Callable[[TurnedWriter], None]) -> None:
    """All of a square: of `u`, along the axis, and `v`, along columns, neighbours take the first of
    the names."""
    e.open(())
    e.line(f"{names[0]} = bitwise_and(e, {SIDE - 1})")
    e.line(f"{names[1]} = right_shift(e, {_BITS})")
    e.line(f"i{e.along} = top + u")
    e.line(f"i{e.inner} = left + v")
    e.open(())
    e.open((e.along, e.inner))
    body(e)
    e.close(f"if i{e.inner} < {e.size(e.inner)}:")
    e.close(f"if i{e.along} < {e.size(e.along)}:")
    e.close(f"for e in range({_THREAD}, {SIDE * SIDE}, {_THREADS}):")


def _read(e: TurnedWriter) -> None:
    for number, load in enumerate(e.loads):
        name = e.value(load)
        e.line(f"store_ordered(square{number}, v * {_PITCH} + u, {name})")


def _compute(e: TurnedWriter) -> None:
    e.stores(e.kernel.stores)


def shared(e: TurnedWriter) -> list[str]:
    """The lines that reserve the squares."""
    dtypes = [e.kernel.buffers[load.buffer].dtype for load in e.loads]
    return [f"square{n} = shared_{dtype}({SIDE * _PITCH})" for n, dtype in enumerate(dtypes)]
