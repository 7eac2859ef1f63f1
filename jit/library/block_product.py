# SPDX-License-Identifier: Apache-2.0
"""Matrix products on GPUs: the text of a kernel whose blocks take tiles of the result.

A block of 256 threads has a tile of the factors in shared memory and each thread 4 by 4 elements of
the result in registers, which are added up in the order of the inner axis.  Threads take elements
by their number, so that fewer of them, or one alone, do all of it as well.  Where the device has a
library for products, that computes them in its place.  Imports nothing heavy.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product as product_of

from .computed import MatrixProduct
from .library_kernel import LibraryKernel

TILE = 64  # rows and columns of a tile
THREADS = 256
DTYPES = ("float32", "float64", "float16", "bfloat16")
_DEPTH = 16  # how much of the inner axis is in shared memory at a time
_EACH = 4  # rows and columns of a thread
_ACROSS = TILE // _EACH
# Columns of the left factor are written side by side, and begin in different banks of memory.
_PITCH = TILE + 1


@cache
def block_product(dtype: str, bias: bool = False, relu: bool = False) -> LibraryKernel:
    """z[lead, m, n] = x @ y for a dtype, a bias added and cut off below zero if this is wanted.

    Its arguments are those of MatrixProduct (computed.py).
    """
    computes = MatrixProduct(dtype, bias, relu)
    block = TILE, TILE, THREADS
    return LibraryKernel("block_product", _text(computes), block=block, computes=computes)


def _text(computes: MatrixProduct) -> str:
    held = _held(computes.dtype)
    numbers = {"ZERO": f"{held}(0.0)", "TILE": f"int64({TILE})", "DEPTH": f"int64({_DEPTH})"}
    numbers |= {"ACROSS": f"int64({_ACROSS})"}
    read = tuple(range(computes.buffers - 1))
    head = [f"CONSTANT = {read}", *(f"{name} = {value}" for name, value in numbers.items())]
    body = ["def kernel(args, rows, columns):", *(f"    {line}" for line in _lines(computes))]
    return "\n".join([*head, "", "", *body, ""])


def _held(dtype: str) -> str:
    """What factors are multiplied and added up as."""
    return dtype if dtype == "float64" else "float32"


def _lines(computes: MatrixProduct) -> Iterator[str]:
    buffers = ["x", "y", *["added"] * computes.bias, "z"]
    yield from (f"{name} = args[{i}]" for i, name in enumerate(buffers))
    names = "m n k lead x_next x_row x_column y_next y_row y_column".split()
    yield from (f"{name} = args[{len(buffers) + i}]" for i, name in enumerate(names))
    held = _held(computes.dtype)
    yield f"left = shared_{held}({_PITCH * _DEPTH})"
    yield f"right = shared_{held}({TILE * _DEPTH})"
    yield f"down = truncatediv(m + {TILE - 1}, TILE)"
    yield f"across = truncatediv(n + {TILE - 1}, TILE)"
    yield "for tile in range(block_y(), down * lead, blocks_y()):"
    yield "    number = truncatediv(tile, down)"
    yield f"    top = truncatemod(tile, down) * {TILE}"
    yield "    for part in range(block_x(), across, blocks_x()):"
    yield f"        first = part * {TILE}"
    yield f"        for thread in range(lane(), {THREADS}, lanes()):"
    yield from (f"            {line}" for line in _of_a_thread(computes))


def _of_a_thread(computes: MatrixProduct) -> Iterator[str]:
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
        value = f"a{i}{j}"
        if computes.bias:
            yield f"        b{j} = load(added, first + column + {j})"
            value = f"add({value}, b{j})"
        if computes.relu:
            value = f"maximum({value}, ZERO)"
        place = f"(number * m + top + row + {i}) * n + first + column + {j}"
        yield f"        store(z, {place}, {value})"
