# SPDX-License-Identifier: Apache-2.0
"""From a kernel (jit/kernel/ir.py) to readable Python source, in the words of words.py.

The source is neutral to the target: it names addresses, indices and scalar primitives only.
Imports no Numba.
"""

from __future__ import annotations

from functools import partial

from ..kernel import grain
from ..kernel.ir import Const, Kernel, declaration
from . import reductions, squares
from .writer import Writer, wide

# Channels of a picture.
_SHORT = 4


def emit(kernel: Kernel, title: str = "") -> str:
    """The Python source of a kernel: a module whose one function is `kernel`."""
    across = grain.squares_of(kernel)
    e = squares.SquareWriter(kernel, *across) if across else Writer(kernel)
    if isinstance(e, squares.SquareWriter):
        squares.write(e, partial(e.over_rows, [partial(_map_row, e)]))
    elif kernel.form == "row":
        reductions.write_rows(e)
    else:
        e.over_rows([partial(_map_row if kernel.form == "map" else reductions.write_columns, e)])
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


def _map_row(e: Writer) -> None:
    e.open((e.inner,))
    e.stores(e.kernel.stores)
    size = e.kernel.axes[e.inner].size
    # So few columns are in one tile, always: a loop of a known count is none in machine code.
    is_short = isinstance(size, int) and size <= _SHORT
    e.close(f"for i{e.inner} in range({f'0, {size}' if is_short else 'c0, c1'}):")


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
