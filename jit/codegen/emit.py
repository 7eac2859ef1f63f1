# SPDX-License-Identifier: Apache-2.0
"""From a kernel (jit/kernel/ir.py) to readable Python source, in the words of words.py.

The source is neutral to the target: it names addresses, indices and scalar primitives only.
Imports no Numba.
"""

from __future__ import annotations

from functools import partial

from ..kernel import grain
from ..kernel.ir import Const, Kernel, declaration
from . import reductions, row_order, squares
from .writer import Writer, wide


def emit(kernel: Kernel, title: str = "") -> str:
    """The Python source of a kernel: a module whose one function is `kernel`."""
    across = grain.squares_of(kernel)
    e = squares.SquareWriter(kernel, *across) if across else Writer(kernel)
    if isinstance(e, squares.SquareWriter):
        squares.write(e, partial(e.over_rows, [partial(_map_row, e)]))
    elif kernel.form == "row":
        reductions.write_rows(e)
    elif kernel.form == "map":
        _write_map(e)
    else:
        e.over_rows([partial(reductions.write_columns, e)])
    root = e.scopes[0]
    head = [f"# {text}" for text in title.splitlines()]
    head.append(declaration(buffer.dtype for buffer in kernel.buffers))
    head += [f"{name} = {literal(const)}" for const, name in e.constants.items()]
    # Once, at the top: then loops over rows and columns are known to have a turn, and what is
    # hoisted out of them reads nothing that an empty tile has not.
    body = ["if r0 >= r1 or c0 >= c1:", "    return", *_frame(e), *root.lines]
    signature = "def kernel(args, r0, r1, c0, c1, worker):"
    return "\n".join([*head, "", "", signature, *("    " + text for text in body), ""]).lstrip("\n")


def _frame(e: Writer) -> list[str]:
    """The lines that reserve blocks of the frame."""
    return squares.frame(e) if isinstance(e, squares.SquareWriter) else reductions.frame(e)


def _write_map(e: Writer) -> None:
    axis = row_order.line_axis_of(e)
    if axis is None:
        e.over_rows([partial(_map_row, e)])
        return
    # So few columns are in one tile, always: a loop of a known count is none in machine code, and
    # neighbouring rows are what vectors hold.
    is_pixel = axis == grain.pixels_of(e.kernel)
    body = _short_rows if row_order.is_short(e) else _pixels if is_pixel else _rows
    e.over_lines(axis, partial(body, e, axis))


def _rows(e: Writer, axis: int, first: str, last: str) -> None:
    e.open((axis,))
    _map_row(e)
    e.close(f"for i{axis} in range({first}, {last}):")


def _short_rows(e: Writer, axis: int, first: str, last: str) -> None:
    e.open((axis,))
    _map_row(e, f"0, {e.kernel.axes[e.inner].size}")
    e.close(f"for i{axis} in range({first}, {last}):")


def _pixels(e: Writer, axis: int, first: str, last: str) -> None:
    """Rows that are channels: all those of a pixel are read together, where all are there."""
    count = e.kernel.axes[axis].size
    e.open(())
    e.open((axis,))
    _map_row(e)
    e.close(f"for i{axis} in range({first}, {last}):")
    e.close(f"if {last} - {first} < {count}:")
    e.open(())
    e.open((e.inner,))
    e.open((axis,))
    e.stores(e.kernel.stores)
    e.close(f"for i{axis} in range(0, {count}):")
    e.close(f"for i{e.inner} in range(c0, c1):")
    e.close(f"if {last} - {first} == {count}:")


def _map_row(e: Writer, columns: str = "c0, c1") -> None:
    e.open((e.inner,))
    e.stores(e.kernel.stores)
    e.close(f"for i{e.inner} in range({columns}):")


def literal(const: Const) -> str:
    """The text of a constant."""
    if const.dtype == "bool":
        return str(bool(const.value))
    # repr gives the shortest text of which the same number is read; inf and nan are strings, since
    # Python has no literals for them.
    text = repr(const.value)
    return (
        f"{wide(const.dtype)}({text})" if text[-1].isdigit() else f'{wide(const.dtype)}("{text}")'
    )
