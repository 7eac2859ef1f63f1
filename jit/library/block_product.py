# SPDX-License-Identifier: Apache-2.0
"""Matrix products on GPUs: the text of a kernel whose blocks take tiles of the result.

A block of 256 threads has a tile of the factors in shared memory and each thread 4 by 4 elements of
the result in registers, which are added up in the order of the inner axis.  Threads take elements
by their number, so that fewer of them, or one alone, do all of it as well.  Imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product as product_of

from .library_kernel import LibraryKernel

TILE = 64  # rows and columns of a tile
THREADS = 256
_DEPTH = 16  # how much of the inner axis is in shared memory at a time
_EACH = 4  # rows and columns of a thread
_ACROSS = TILE // _EACH
# Columns of the left factor are written side by side, and begin in different banks of memory.
_PITCH = TILE + 1


@cache
def block_product(dtype: str) -> LibraryKernel:
    """z[lead, m, n] = x @ y for a dtype.

    Its arguments: x, y, z; then m, n, k, lead, and how far apart neighbours are: matrices, rows and
    columns of x, and the same of y.
    """
    return LibraryKernel("block_product", _text(dtype), block=(TILE, TILE, THREADS))


def _text(dtype: str) -> str:
    numbers = {"ZERO": f"{dtype}(0.0)", "TILE": f"int64({TILE})", "DEPTH": f"int64({_DEPTH})"}
    numbers |= {"ACROSS": f"int64({_ACROSS})"}
    head = ["CONSTANT = (0, 1)", *(f"{name} = {value}" for name, value in numbers.items())]
    body = ["def kernel(args, rows, columns):", *(f"    {line}" for line in _lines(dtype))]
    return "\n".join([*head, "", "", *body, ""])


def _lines(dtype: str) -> Iterator[str]:
    yield from (f"{name} = args[{i}]" for i, name in enumerate("xyz"))
    names = "m n k lead x_next x_row x_column y_next y_row y_column".split()
    yield from (f"{name} = args[{3 + i}]" for i, name in enumerate(names))
    yield f"left = shared_{dtype}({_PITCH * _DEPTH})"
    yield f"right = shared_{dtype}({TILE * _DEPTH})"
    yield f"down = truncatediv(m + {TILE - 1}, TILE)"
    yield f"across = truncatediv(n + {TILE - 1}, TILE)"
    yield "for tile in range(block_y(), down * lead, blocks_y()):"
    yield "    number = truncatediv(tile, down)"
    yield f"    top = truncatemod(tile, down) * {TILE}"
    yield "    for part in range(block_x(), across, blocks_x()):"
    yield f"        first = part * {TILE}"
    yield f"        for thread in range(lane(), {THREADS}, lanes()):"
    yield from (f"            {line}" for line in _of_a_thread())


def _of_a_thread() -> Iterator[str]:
    places = list(product_of(range(_EACH), repeat=2))
    yield f"row = truncatediv(thread, ACROSS) * {_EACH}"
    yield f"column = truncatemod(thread, ACROSS) * {_EACH}"
    yield from (f"a{i}{j} = ZERO" for i, j in places)
    yield f"for start in range(0, k, {_DEPTH}):"
    yield "    barrier()"
    yield f"    for e in range(lane(), {TILE * _DEPTH}, lanes()):"
    # Neighbouring threads read neighbours of rows of x, and of rows of y.
    yield "        i = truncatediv(e, DEPTH)"
    yield "        j = truncatemod(e, DEPTH)"
    yield "        at_row = minimum(top + i, m - 1)"
    yield "        at_column = minimum(start + j, k - 1)"
    yield "        found = load(x, number * x_next + at_row * x_row + at_column * x_column)"
    yield f"        store(left, j * {_PITCH} + i, select(lt(start + j, k), found, ZERO))"
    yield "        p = truncatediv(e, TILE)"
    yield "        q = truncatemod(e, TILE)"
    yield "        at_inner = minimum(start + p, k - 1)"
    yield "        at_outer = minimum(first + q, n - 1)"
    yield "        there = load(y, number * y_next + at_inner * y_row + at_outer * y_column)"
    yield "        store(right, e, select(lt(start + p, k), there, ZERO))"
    yield "    barrier()"
    yield f"    for s in range({_DEPTH}):"
    yield from (f"        x{i} = load(left, s * {_PITCH} + row + {i})" for i in range(_EACH))
    yield from (f"        y{j} = load(right, s * {TILE} + column + {j})" for j in range(_EACH))
    yield from (f"        a{i}{j} = fused(x{i}, y{j}, a{i}{j})" for i, j in places)
    for i, j in places:
        yield f"if top + row + {i} < m:"
        yield f"    if first + column + {j} < n:"
        place = f"(number * m + top + row + {i}) * n + first + column + {j}"
        yield f"        store(z, {place}, a{i}{j})"
