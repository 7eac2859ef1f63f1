# SPDX-License-Identifier: Apache-2.0
"""Matrix products on GPUs by tiles (block_tiles.py), with a bias and relu if these are wanted.

Where the device has a library for products, that computes them in their place.  Imports nothing
heavy.
"""

from __future__ import annotations

from functools import cache

from .block_tiles import DTYPES, Factor, Tiling
from .computed import MatrixProduct
from .library_kernel import LibraryKernel

__all__ = ["DTYPES", "block_product"]

_NUMBERS = "m n k lead x_next x_row x_column y_next y_row y_column".split()


@cache
def block_product(
    dtype: str,
    bias: bool = False,
    relu: bool = False,
    turn_x: bool = False,
    turn_y: bool = False,
    across: int = 16,
) -> LibraryKernel:
    """z[lead, m, n] = x @ y for a dtype; its arguments are those of MatrixProduct (computed.py).

    turn_x, turn_y: of the two, whether columns lie side by side in memory rather than rows.
    across: threads side by side.
    """
    computes = MatrixProduct(dtype, bias, relu)
    x = "x_first + OUTER + (INNER) * x_column" if turn_x else "x_first + OUTER * x_row + INNER"
    y = "y_first + INNER + (first + OUTER) * y_column"
    y = y if turn_y else "y_first + (INNER) * y_row + first + OUTER"
    within = "logical_and(lt({0}, {1}), lt(INNER, k))"
    tiling = Tiling(
        dtype,
        ("x", "y", *["added"] * bias, "z"),
        _NUMBERS,
        (),
        Factor("x", (), x, within.format("top + OUTER", "m"), not turn_x),
        Factor("y", (), y, within.format("first + OUTER", "n"), turn_y),
        "k",
        bias=bias,
        relu=relu,
        across=across,
        tile_lines=["x_first = number * x_next + top * x_row", "y_first = number * y_next"],
    )
    return LibraryKernel("block_product", tiling.text(), block=tiling.block, computes=computes)
