# SPDX-License-Identifier: Apache-2.0
"""Matrix products from register tiles: packed panels, tiles cut by size alone.

A tile packs its blocks of both factors into the worker's scratch memory, so that the innermost loop
reads a few rows of the left one from the nearest cache and streams the right one from the next.
"""

from __future__ import annotations

from typing import Any

from ..sizes import AnySize, ceil_div, maximum, minimum
from .kernel import LibraryKernel, edge, specialise
from .vectors import BYTES, vectors

_DEPTH = 256  # how much of the reduction is packed at a time: a panel of it fits the first cache
_ROWS = 128  # rows of the left factor packed at a time: they stay in the second cache
_COLUMNS = 256  # columns of the right factor packed at a time
_WORK = 1 << 19  # multiply-adds that make a worthwhile tile
_GAP = 16  # keeps packed rows from starting at the same place in the cache

_PACK_RIGHT = """
@helper
def pack_right(y, first, depth, start, width, stride, panel):
    # panel[q, f] = y[first + q, start + f], zero for f >= width
    target = pointer(panel, DTYPE)
    source = pointer(y, DTYPE)
    if width < PANEL:
        zero_bytes(panel, BYTES * PANEL * depth)
    if RIGHT_TRANSPOSED:
        done = 0
        if width == PANEL:
            done = depth // LANES * LANES
            for f in range(0, PANEL, LANES):
                for q in range(0, done, LANES):
                    corner = (start + f) * stride + first + q
                    transpose_tile(WIDTH, LANES, y + BYTES * corner, stride,
                                   panel + BYTES * (q * PANEL + f), PANEL)
        for f in range(width):
            for q in range(done, depth):
                target[q * PANEL + f] = source[(start + f) * stride + first + q]
    elif width == PANEL:
        for q in range(depth):
            copy_bytes(panel + BYTES * q * PANEL, y + BYTES * ((first + q) * stride + start),
                       BYTES * PANEL)
    else:
        for q in range(depth):
            copy_bytes(panel + BYTES * q * PANEL, y + BYTES * ((first + q) * stride + start),
                       BYTES * width)


@helper
def pack_left(x, first, depth, start, m, stride, packed):
    for i in range(m):
        copy_bytes(packed + BYTES * i * LEFT_ROW, x + BYTES * ((start + i) * stride + first),
                   BYTES * depth)
"""

_MULTIPLY = """
@helper
def multiply(left, pixel, step, panel, out, m, depth, width, n, bias, flags):
    # out[i, f] (+)= the sum over q of left[i * pixel + q * step] * panel[q, f]; m is at most TALL.
    # The flags are those of fma_tile: 1 adds the old out, 2 the bias, 4 applies relu.
    i = 0
    if m == TALL:
        fma_tile(DTYPE, TALL, VECTORS, LANES, EDGE, 0, left, panel, out, bias, flags, 1, 0, 0,
                 depth, PIXEL, STEP, PANEL, n)
        return
    while i + LOW <= m:
        fma_tile(DTYPE, LOW, VECTORS, LANES, EDGE, 0, left + BYTES * i * PIXEL, panel,
                 out + BYTES * i * n, bias, flags, 1, 0, 0, depth, PIXEL, STEP, PANEL, n)
        i += LOW
    while i < m:
        fma_tile(DTYPE, 1, VECTORS, LANES, EDGE, 0, left + BYTES * i * PIXEL, panel,
                 out + BYTES * i * n, bias, flags, 1, 0, 0, depth, PIXEL, STEP, PANEL, n)
        i += 1


def kernel(args, r0, r1, c0, c1, worker):
    x, y, bias, out = args[0], args[1], args[OUT_AT - 1], args[OUT_AT]
    m, n, k = args[OUT_AT + 1], args[OUT_AT + 2], args[OUT_AT + 3]
    panels = args[OUT_AT + 4] + worker * args[OUT_AT + 5]
    packed = panels + BYTES * DEPTH * COLUMNS
    x_stride = m if LEFT_TRANSPOSED else k
    y_stride = k if RIGHT_TRANSPOSED else n
    if k == 0:
        for r in range(r0, r1):
            zero_bytes(out + BYTES * (r * n + c0), BYTES * (c1 - c0))
    row = r0
    while row < r1:
        matrix = row // m
        start = row - matrix * m
        height = min(min(ROWS, r1 - row), m - start)
        x_matrix = x + BYTES * matrix * m * k
        y_matrix = y + BYTES * matrix * k * n
        for first in range(0, k, DEPTH):
            depth = min(DEPTH, k - first)
            flags = (1 if first > 0 else 0) + (EPILOGUE if first + DEPTH >= k else 0)
            if PACK_LEFT:
                pack_left(x_matrix, first, depth, start, height, x_stride, packed)
                left = packed
            elif LEFT_TRANSPOSED:
                left = x_matrix + BYTES * (first * x_stride + start)
            else:
                left = x_matrix + BYTES * (start * x_stride + first)
            pixel = 1 if LEFT_TRANSPOSED else x_stride
            step = x_stride if LEFT_TRANSPOSED else 1
            for c in range(c0, c1, PANEL):
                pack_right(y_matrix, first, depth, c, min(PANEL, c1 - c), y_stride,
                           panels + BYTES * (c - c0) * DEPTH)
            for i in range(0, height, TALL):
                for c in range(c0, c1, PANEL):
                    multiply(left + BYTES * i * PIXEL, pixel, step,
                             panels + BYTES * (c - c0) * DEPTH, out + BYTES * ((row + i) * n + c),
                             min(TALL, height - i), depth, min(PANEL, c1 - c), n,
                             bias + BYTES * c, flags)
        row += height
"""

# Integers: the plain product, a row of the right factor at a time so that the loop vectorises.
_INTEGER = """
def kernel(args, r0, r1, c0, c1, worker):
    x = pointer(args[0], DTYPE)
    y = pointer(args[1], DTYPE)
    out = pointer(args[2], DTYPE)
    m, n, k = args[3], args[4], args[5]
    for row in range(r0, r1):
        matrix = row // m
        i = row - matrix * m
        zero_bytes(args[2] + BYTES * (row * n + c0), BYTES * (c1 - c0))
        for q in range(k):
            a = x[matrix * m * k + (q * m + i if LEFT_TRANSPOSED else i * k + q)]
            for j in range(c0, c1):
                if RIGHT_TRANSPOSED:
                    out[row * n + j] += a * y[matrix * k * n + j * k + q]
                else:
                    out[row * n + j] += a * y[matrix * k * n + q * n + j]
"""

_INTEGERS = {"int32": 4, "int64": 8, "uint8": 1, "int8": 1, "int16": 2, "uint16": 2}


def matmul(b: Any, x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    """The product of two matrices, or NotImplemented for dtypes without a kernel."""
    return _product(b, x, y, transpose_x, transpose_y)


def batch_matmul(
    b: Any, x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False
) -> Any:
    """The products of two equal stacks of matrices (all leading dimensions are the stack)."""
    return _product(b, x, y, transpose_x, transpose_y)


def _product(b: Any, x: Any, y: Any, transpose_x: bool, transpose_y: bool) -> Any:
    dtype = x.dtype
    if dtype not in BYTES and dtype not in _INTEGERS:
        return NotImplemented
    lead = tuple(x.shape[:-2])
    m, k = (x.shape[-1], x.shape[-2]) if transpose_x else (x.shape[-2], x.shape[-1])
    n = y.shape[-2] if transpose_y else y.shape[-1]
    rows: AnySize = m
    for size in lead:
        rows = rows * size
    row_tile, col_tile = _tiles(rows, n, k)
    if dtype in _INTEGERS:
        kernel, scratch = _integer_kernel(dtype, transpose_x, transpose_y), 0
        absorbs = None
    else:
        kernel, scratch = product_kernel(dtype, n, transpose_x, transpose_y)
        # With nothing to sum over there is no last step that could add a bias.
        whole = isinstance(k, int) and k > 0

        def with_epilogue(bias: bool, relu: bool) -> LibraryKernel:
            return product_kernel(dtype, n, transpose_x, transpose_y, bias, relu)[0]

        absorbs = with_epilogue if whole else None
    (out,) = b.call(
        kernel, [x, y], [((*lead, m, n), dtype)], [m, n, k], rows, row_tile, n, col_tile, scratch,
        absorbs=absorbs, operations=2 * rows * n * k,
    )  # fmt: skip
    return out


def _tiles(rows: AnySize, n: AnySize, k: AnySize) -> tuple[AnySize, AnySize]:
    """Rows and columns of a tile: about eight tiles down, four across, none too small."""
    col_tile = minimum(_COLUMNS, maximum(128, ceil_div(ceil_div(n, 4), 32) * 32))
    row_tile = minimum(_ROWS, maximum(64, ceil_div(ceil_div(rows, 8), 16) * 16))
    per_row = maximum(minimum(n, col_tile) * k, 1)
    return maximum(row_tile, ceil_div(_WORK, per_row)), col_tile


def _integer_kernel(dtype: str, transpose_x: bool, transpose_y: bool) -> LibraryKernel:
    facts = {"DTYPE": dtype, "LEFT_TRANSPOSED": transpose_x, "RIGHT_TRANSPOSED": transpose_y}
    return specialise("matmul_integer", _INTEGER, BYTES=_INTEGERS[dtype], **facts)


def product_kernel(
    dtype: str,
    n: AnySize,
    transpose_x: bool,
    transpose_y: bool,
    bias: bool = False,
    relu: bool = False,
) -> tuple[LibraryKernel, int]:
    """The kernel for a dtype and (where known) width of the product, and its scratch bytes."""
    facts = {"DTYPE": dtype, "LEFT_TRANSPOSED": transpose_x, "RIGHT_TRANSPOSED": transpose_y}
    facts |= {"EPILOGUE": 2 * bias + 4 * relu, "OUT_AT": 2 + bias}
    size = BYTES[dtype]
    lanes, registers = vectors(dtype)
    narrow = isinstance(n, int) and n <= lanes
    count = 1 if narrow else 2
    tall = {(32, 1): 24, (32, 2): 12, (16, 1): 8, (16, 2): 6}[registers, count]
    panel = count * lanes
    masked = not (isinstance(n, int) and n % panel == 0)
    # Columns of a transposed factor lie side by side already; each row of a narrow product is read
    # only once.
    pack_left = not narrow and not transpose_x
    row = _DEPTH + _GAP
    text = edge(_PACK_RIGHT + _MULTIPLY, masked, "width")
    pixel = "1" if transpose_x else str(row) if pack_left else "pixel"
    text = text.replace("PIXEL", pixel).replace("STEP", "step" if transpose_x else "1")
    kernel = specialise(
        "matmul", text, BYTES=size, WIDTH=size, TALL=tall, LOW=4, VECTORS=count, LANES=lanes,
        PANEL=panel, DEPTH=_DEPTH, ROWS=_ROWS, COLUMNS=_COLUMNS, LEFT_ROW=row,
        PACK_LEFT=pack_left, **facts,
    )  # fmt: skip
    return kernel, size * (_DEPTH * _COLUMNS + pack_left * _ROWS * row)
