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
    x_by_row: bool = False,
    y_by_row: bool = True,
    across: int = 16,
) -> LibraryKernel:
    """z[lead, m, n] = x @ y for a dtype; its arguments are those of MatrixProduct (computed.py).

    x_by_row, y_by_row: of the two, whether neighbours in memory are neighbouring rows of x, or
    columns of y, rather than neighbours along the inner axis.  Either way is right for all.
    across: threads side by side.
    """
    computes = MatrixProduct(dtype, bias, relu)
    x = "number * x_next + (top + OUTER) * x_row + (INNER) * x_column"
    y = "number * y_next + (INNER) * y_row + (first + OUTER) * y_column"
    within = "logical_and(lt({0}, {1}), lt(INNER, k))"
    tiling = Tiling(
        dtype,
        ("x", "y", *["added"] * bias, "z"),
        _NUMBERS,
        (),
        Factor("x", (), x, within.format("top + OUTER", "m"), not x_by_row),
        Factor("y", (), y, within.format("first + OUTER", "n"), not y_by_row),
        "k",
        bias=bias,
        relu=relu,
        across=across,
    )
    return LibraryKernel("block_product", tiling.text(), block=tiling.block, computes=computes)
