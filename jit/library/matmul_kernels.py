# SPDX-License-Identifier: Apache-2.0
"""The kernels of matrix products; see jit/library/matmul.py.

The right factor is read in panels of a few vectors, packed by the tile that needs them or, where
several products share it, by a kernel of its own before them.  Sizes are numbers of the argument
block, behind its buffers: the constants below say which.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    copy,
    helper,
    place,
    pointer,
    region,
    transpose_tile,
    zero,
)
from .tile_kernels import (
    BASE,
    BIAS,
    COUNT,
    LEFT,
    REPEATS,
    SEGMENTS,
    W_STEP,
    WORDS,
    run_row,
    strides,
)

DTYPE: str = GIVEN
LANES: int = GIVEN  # elements of a vector
# The numbers of buffers; those of a bias and of another sum are of any where there is none.
BASE_AT: int = GIVEN
BIAS_AT: int = GIVEN
OUT_AT: int = GIVEN
FIRST: int = GIVEN  # how many buffers there are
LEFT_TRANSPOSED: bool = GIVEN  # of products of integers
RIGHT_TRANSPOSED: bool = GIVEN

# The numbers: sizes, what lies between the rows (columns, if transposed) of the factors, and where
# these begin.
M, N, K, X_STRIDE, Y_STRIDE, X_OFFSET, Y_OFFSET = 0, 1, 2, 3, 4, 5, 6
# Whether factors are transposed, and whether the left one is packed here; whether the right one has
# been packed before.
LEFT_TURNED, RIGHT_TURNED, PACKS_LEFT, IS_PACKED = 7, 8, 9, 10
# Columns of a panel, flags of the last step of the sum, how much of the sum is packed at a time,
# rows of the left factor taken at a time, elements from a packed row of it (a column, if it is
# transposed) to the next, and the rows of three tiles, tallest first; a fourth has one.
PANEL, EPILOGUE, DEPTH, ROWS, LEFT_ROW, HEIGHTS = 11, 12, 13, 14, 15, 16
SCRATCH, PARTS = 19, 21


@helper
def pack_right(
    y: Address,
    turned: int,
    first: int,
    depth: int,
    start: int,
    width: int,
    panel: int,
    stride: int,
    packed: Address,
) -> None:
    """packed[q, f] = y[first + q, start + f], zero for f >= width."""
    if width < panel:
        zero(packed, panel * depth)
    if turned > 0:
        done = 0
        if width == panel:
            done = depth // LANES * LANES
            for f in range(0, panel, LANES):
                for q in range(0, done, LANES):
                    corner = (start + f) * stride + first + q
                    transpose_tile(LANES, y + corner, stride, packed + (q * panel + f), panel)
        target, source = pointer(packed), pointer(y)
        for f in range(width):
            for q in range(done, depth):
                target[q * panel + f] = source[(start + f) * stride + first + q]
    elif width == 2 * LANES:
        for q in range(depth):
            copy(packed + q * panel, y + ((first + q) * stride + start), 2 * LANES)
    else:
        for q in range(depth):
            copy(packed + q * panel, y + ((first + q) * stride + start), width)


def pack_panels(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The panels of a whole factor, one after the other: a row is a panel."""
    n, k, stride, offset = args[2], args[3], args[4], args[5]
    turned, panel = args[6], args[7]
    for r in range(r0, r1):
        width = min(panel, n - r * panel)
        target = args[1] + panel * k * r
        pack_right(args[0] + offset, turned, 0, k, r * panel, width, panel, stride, target)


@helper
def pack_left(
    x: Address,
    turned: int,
    first: int,
    depth: int,
    start: int,
    m: int,
    stride: int,
    row: int,
    packed: Address,
) -> None:
    if turned > 0:
        for q in range(depth):
            copy(packed + q * row, x + ((first + q) * stride + start), m)
    else:
        for i in range(m):
            copy(packed + i * row, x + ((start + i) * stride + first), depth)


@helper
def multiply(
    args: Arguments,
    block: Address,
    left: Address,
    pixel: int,
    panel: Address,
    out: Address,
    base: Address,
    m: int,
    flags: int,
) -> None:
    """out[i, f] (+)= the sum over q of left[i * pixel + q * step] * panel[q, f] for i < m.

    The flags are those of fma_tile: 1 adds the old out, 8 the base, 2 the bias, 4 is relu.
    """
    n = args[FIRST + N]
    numbers = pointer(block)
    i = 0
    for kind in range(4):
        height = args[FIRST + HEIGHTS + kind] if kind < 3 else 1
        count = (m - i) // height
        numbers[BASE] = place(base + i * n)
        part, x, target = args[FIRST + PARTS + kind], left + i * pixel, out + i * n
        run_row(part, block, x, panel, target, flags, count, height * pixel, height * n)
        i += count * height


@helper
def block_of_tiles(args: Arguments, block: Address, row: int) -> None:
    """What tiles get that is the same for all of them."""
    # From a row of the left factor to the next, or from a step: the other lie side by side.  Steps
    # of the right one are stated with its panels.
    strides(block, 0, 0, 0, 0, row, row, 0, args[FIRST + N])
    numbers = pointer(block)
    numbers[SEGMENTS] = 1
    numbers[REPEATS] = 1


def product(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    base, bias, out = args[BASE_AT], args[BIAS_AT], args[OUT_AT]
    m, n, k, width = args[FIRST + M], args[FIRST + N], args[FIRST + K], args[FIRST + PANEL]
    x, y = args[0] + args[FIRST + X_OFFSET], args[1] + args[FIRST + Y_OFFSET]
    x_stride, is_packed = args[FIRST + X_STRIDE], args[FIRST + IS_PACKED]
    turned, packs_left = args[FIRST + LEFT_TURNED], args[FIRST + PACKS_LEFT]
    y_stride, right_turned = args[FIRST + Y_STRIDE], args[FIRST + RIGHT_TURNED]
    scratch = args[FIRST + SCRATCH] + worker * args[FIRST + SCRATCH + 1]
    block = region(scratch, "int64")
    panels = region(scratch + WORDS * 8, DTYPE)
    packed = panels + (args[FIRST + DEPTH] * width if is_packed == 0 else 0)
    row_of_left = args[FIRST + LEFT_ROW] if packs_left > 0 else x_stride
    pixel = 1 if turned > 0 else row_of_left
    block_of_tiles(args, block, row_of_left)
    numbers = pointer(block)
    if k == 0:
        for r in range(r0, r1):
            zero(out + (r * n + c0), c1 - c0)
    row = r0
    while row < r1:
        matrix = row // m
        start = row - matrix * m
        height = min(min(args[FIRST + ROWS], r1 - row), m - start)
        x_matrix = x + matrix * m * k
        y_matrix = y + matrix * k * n
        # What few rows read, in one tile, they read where it is.
        is_low = height <= args[FIRST + HEIGHTS + 2]
        is_one = height == args[FIRST + HEIGHTS] or height == args[FIRST + HEIGHTS + 1]
        reads_once = (is_low or is_one) and is_packed + right_turned == 0
        for first in range(0, k, args[FIRST + DEPTH]):
            depth = min(args[FIRST + DEPTH], k - first)
            flags = 1 if first > 0 else 0
            if first + depth >= k:
                flags += args[FIRST + EPILOGUE]
            numbers[COUNT] = depth
            left = x_matrix + (start * x_stride + first)
            if turned > 0:
                left = x_matrix + (first * x_stride + start)
            if packs_left > 0:
                pack_left(
                    x_matrix, turned, first, depth, start, height, x_stride, row_of_left, packed
                )
                left = packed
            for c in range(c0, c1, width):
                count = min(width, c1 - c)
                panel, step = y_matrix + (c * k + first * width), width
                if reads_once and count == width:
                    panel, step = y_matrix + (first * y_stride + c), y_stride
                elif is_packed == 0:
                    panel = panels
                    pack_right(
                        y_matrix, right_turned, first, depth, c, count, width, y_stride, panel
                    )
                numbers[W_STEP] = step
                numbers[LEFT] = count
                numbers[BIAS] = place(bias + c)
                at = row * n + c
                multiply(args, block, left, pixel, panel, out + at, base + at, height, flags)
        row += height


def integer_product(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The plain product, a row of the right factor at a time so that the loop vectorises."""
    x = pointer(args[0] + args[8])
    y = pointer(args[1] + args[9])
    out = pointer(args[2])
    m, n, k = args[3], args[4], args[5]
    x_stride, y_stride = args[6], args[7]
    for row in range(r0, r1):
        matrix = row // m
        i = row - matrix * m
        zero(args[2] + (row * n + c0), c1 - c0)
        for q in range(k):
            at = q * x_stride + i if LEFT_TRANSPOSED else i * x_stride + q
            a = x[matrix * m * k + at]
            for j in range(c0, c1):
                if RIGHT_TRANSPOSED:
                    out[row * n + j] += a * y[matrix * k * n + j * y_stride + q]
                else:
                    out[row * n + j] += a * y[matrix * k * n + q * y_stride + j]
