# SPDX-License-Identifier: Apache-2.0
"""In which order a kernel's rows are counted, where they lie on several axes.

Tiles are rows by number.  A run may begin with a kernel's bytecode and end with its machine code,
tile by tile: so both have to mean the same rows, and ask here.  Imports no Numba.
"""

from __future__ import annotations

from ..kernel import grain
from .reductions import is_blocked, line_axis
from .writer import Writer


def is_short(e: Writer) -> bool:
    """Are the columns of a map so few that neighbouring rows are what vectors hold?"""
    size = e.kernel.axes[e.inner].size
    return isinstance(size, int) and size <= grain.SHORT and bool(e.outer)


def line_axis_of(e: Writer) -> int | None:
    """The axis whose positions are counted one after the other; None for the innermost one."""
    across = grain.squares_of(e.kernel)
    if across is not None:
        return across[0]
    if e.kernel.form == "row":
        return None if is_blocked(e) else line_axis(e)
    if e.kernel.form != "map":
        return None
    if is_short(e):
        crossing = grain.crossing(e.kernel, (0, 1))
        return e.outer[-1] if crossing is None else crossing[0]
    pixels = grain.pixels_of(e.kernel)
    if pixels is not None:
        return pixels
    return e.outer[-1] if len(e.outer) > 1 else None


def counted(e: Writer) -> list[int]:
    """The axes of rows, from the one that changes last to the one that changes first."""
    along = line_axis_of(e)
    if along is None:
        return list(e.outer)
    return [*(axis for axis in e.outer if axis != along), along]
