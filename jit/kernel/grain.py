# SPDX-License-Identifier: Apache-2.0
"""Which loads of a map go across the grain, as those of transposes do.

What neighbouring columns of a map read lies side by side as a rule, and so does what they write.
Of a transpose it lies far apart, and what lies side by side is read by neighbours on another axis:
who goes column by column touches a whole line of memory for each element.
So processors and GPUs take such maps square by square.  Imports kernel IR.
"""

from __future__ import annotations

from collections.abc import Container
from functools import cache
from typing import Any

from .ir import Const, Expr, Kernel, Load, Param, nodes
from .reference import numpy_dtype

_MOST = 4  # loads that are treated together, each with memory of its own for a square
SHORT = 4  # the most columns that a row of a map has one by one: channels of a picture
# Of the squares on processors (jit/codegen/squares.py):
SQUARE = 4  # the side of what is transposed in registers
WIDE = 64  # columns: whole lines of memory, whatever the dtype
_ROOM = 512  # bytes of a column of all squares, which together stay in a first-level cache
# Strides that stand in a kernel's text are those of near elements, which vectors load well.
_NEAR = (-1, 0, 1, 2, 3)


def squares_of(kernel: Kernel) -> tuple[int, tuple[Load, ...]] | None:
    """As `crossing` has it, of a kernel that a processor does by squares; else None."""
    found = crossing(kernel, _NEAR)
    # Of a short axis a few positions are read at once, whichever way.
    if found is None or any((kernel.axes[n].size or WIDE) <= SQUARE for n in (found[0], -1)):
        return None
    return found


def pixels_of(kernel: Kernel) -> int | None:
    """The short axis of a map on which neighbours of some loads lie, all others being next to them:
    the channels of pixels, which the map puts apart; None if there is none."""
    found = crossing(kernel, (0, 1))
    if found is None or kernel.axes[found[0]].size is None:
        return None
    axis, loads = found
    is_next = all(load.index.strides[-1] == kernel.axes[axis].size for load in loads)
    return axis if is_next and kernel.axes[axis].size in _NEAR else None


def height(kernel: Kernel, loads: tuple[Load, ...]) -> int:
    """The rows of a square."""
    each = sum(numpy_dtype(kernel.buffers[load.buffer].dtype).itemsize for load in loads)
    return _ROOM // max(each, 8)


def rows_together(kernel: Kernel) -> int:
    """How many rows a tile of a kernel had better have; 0 where its columns are not cut."""
    if kernel.form == "row":
        return 0
    found, pixels = squares_of(kernel), pixels_of(kernel)
    if pixels is not None:
        return kernel.axes[pixels].size or 1
    return 1 if found is None else height(kernel, found[1])


def crossing(kernel: Kernel, near: Container[Any]) -> tuple[int, tuple[Load, ...]] | None:
    """The axis along which neighbours of some loads of a map lie, and these loads.

    near: strides of the innermost axis that are no crossing.  None if all loads go along the
    innermost axis, as the stores do.
    """
    inner = len(kernel.axes) - 1
    if kernel.form != "map" or inner < 1 or any(s.index.strides[inner] != 1 for s in kernel.stores):
        return None
    if not all(is_plain(store.index.offset) for store in kernel.stores):
        return None
    along = _along(kernel)
    found = {load: axis for load, axis in along.items() if load.index.strides[inner] not in near}
    if not found:
        return None
    axes = list(found.values())
    axis = max(axes, key=axes.count)  # the first of those that most loads have
    loads = tuple(load for load in found if found[load] == axis)
    return (axis, loads) if len(loads) <= _MOST else None


@cache
def _along(kernel: Kernel) -> dict[Load, int]:
    """For loads of a map whose neighbours lie along one axis other than the inner one, which.

    Once for a kernel: a plan has equal ones in many places, as layers and unrolled steps are.
    """
    found = {}
    loads = (node for node in nodes(kernel) if isinstance(node, Load))
    for load in dict.fromkeys(loads):
        if kernel.buffers[load.buffer].access == "r" and is_plain(load.index.offset):
            axes = [axis for axis, stride in enumerate(load.index.strides[:-1]) if stride == 1]
            if len(axes) == 1:
                found[load] = axes[0]
    return found


def is_plain(offset: Expr | None) -> bool:
    """Is an offset the same everywhere?"""
    return offset is None or isinstance(offset, (Param, Const))
