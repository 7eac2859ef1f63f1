# SPDX-License-Identifier: Apache-2.0
"""The kernels of matrix products; see jit/library/matmul.py.

The right factor is read in panels of a few vectors, packed by the tile that needs them or, where
several products share it, by a kernel of its own before them.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    copy,
    helper,
    pointer,
    product_tile,
    region,
    transpose_tile,
    zero,
)

DTYPE: str = GIVEN
LANES: int = GIVEN  # elements of a vector
VECTORS: int = GIVEN  # vectors across a panel
PANEL: int = GIVEN  # columns of a panel
EDGE: int = GIVEN  # -1 where all panels are whole, else 0
TALL: int = GIVEN  # rows of the tallest register tile; those of lower ones:
MIDDLE: int = GIVEN
LOW: int = GIVEN
DEPTH: int = GIVEN  # how much of the reduction is packed at a time
ROWS: int = GIVEN  # rows of the left factor taken at a time
LEFT_ROW: int = GIVEN  # elements from a packed row (or column) of the left factor to the next
PACK_LEFT: bool = GIVEN
PACKED: bool = GIVEN  # the right factor has been packed before
SCRATCH: bool = GIVEN  # there is scratch memory
LEFT_TRANSPOSED: bool = GIVEN
RIGHT_TRANSPOSED: bool = GIVEN
EPILOGUE: int = GIVEN  # flags of the last step of the reduction
BIAS_AT: int = GIVEN  # the numbers of buffers
OUT_AT: int = GIVEN


@helper
def pack_right(
    y: Address, first: int, depth: int, start: int, width: int, stride: int, panel: Address
) -> None:
    """panel[q, f] = y[first + q, start + f], zero for f >= width."""
    target = pointer(panel)
    source = pointer(y)
    if width < PANEL:
        zero(panel, PANEL * depth)
    if RIGHT_TRANSPOSED:
        done = 0
        if width == PANEL:
            done = depth // LANES * LANES
            for f in range(0, PANEL, LANES):
                for q in range(0, done, LANES):
                    corner = (start + f) * stride + first + q
                    transpose_tile(LANES, y + corner, stride, panel + (q * PANEL + f), PANEL)
        for f in range(width):
            for q in range(done, depth):
                target[q * PANEL + f] = source[(start + f) * stride + first + q]
    elif width == PANEL:
        for q in range(depth):
            copy(panel + q * PANEL, y + ((first + q) * stride + start), PANEL)
    else:
        for q in range(depth):
            copy(panel + q * PANEL, y + ((first + q) * stride + start), width)


def pack_panels(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The panels of a whole factor, one after the other: a row is a panel."""
    n, k, stride, offset = args[2], args[3], args[4], args[5]
    for r in range(r0, r1):
        width = min(PANEL, n - r * PANEL)
        pack_right(args[0] + offset, 0, k, r * PANEL, width, stride, args[1] + PANEL * k * r)


@helper
def pack_left(
    x: Address, first: int, depth: int, start: int, m: int, stride: int, packed: Address
) -> None:
    if LEFT_TRANSPOSED:
        for q in range(depth):
            copy(packed + q * LEFT_ROW, x + ((first + q) * stride + start), m)
    else:
        for i in range(m):
            copy(packed + i * LEFT_ROW, x + ((start + i) * stride + first), depth)


@helper
def multiply(
    left: Address, stride: int, panel: Address, out: Address, m: int, depth: int, width: int,
    n: int, bias: Address, base: Address, flags: int,
) -> None:  # fmt: skip
    """out[i, f] (+)= the sum over q of left[i * pixel + q * step] * panel[q, f]; m is at most TALL.
    The flags are those of product_tile: 1 adds the old out, 8 the base, 2 the bias, 4 is relu.
    """
    row = LEFT_ROW if PACK_LEFT else stride
    pixel = 1 if LEFT_TRANSPOSED else row
    step = row if LEFT_TRANSPOSED else 1
    edge = EDGE or width
    i = 0
    if m == TALL:
        product_tile(
            TALL, VECTORS, LANES, edge, 0, left, panel, out, bias, base, flags, depth,
            pixel, step, PANEL, n,
        )  # fmt: skip
        return
    if i + MIDDLE <= m:
        product_tile(
            MIDDLE, VECTORS, LANES, edge, 0, left, panel, out, bias, base, flags, depth,
            pixel, step, PANEL, n,
        )  # fmt: skip
        i += MIDDLE
    while i + LOW <= m:
        product_tile(
            LOW, VECTORS, LANES, edge, 0, left + i * pixel, panel, out + i * n, bias, base + i * n,
            flags, depth, pixel, step, PANEL, n,
        )  # fmt: skip
        i += LOW
    while i < m:
        product_tile(
            1, VECTORS, LANES, edge, 0, left + i * pixel, panel, out + i * n, bias, base + i * n,
            flags, depth, pixel, step, PANEL, n,
        )  # fmt: skip
        i += 1


def product(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    base, bias, out = args[2], args[BIAS_AT], args[OUT_AT]
    m, n, k = args[OUT_AT + 1], args[OUT_AT + 2], args[OUT_AT + 3]
    x_stride, y_stride = args[OUT_AT + 4], args[OUT_AT + 5]
    x, y = args[0] + args[OUT_AT + 6], args[1] + args[OUT_AT + 7]
    pixel = 1 if LEFT_TRANSPOSED else LEFT_ROW if PACK_LEFT else x_stride
    start = args[OUT_AT + 8] + worker * args[OUT_AT + 9] if SCRATCH else 0
    scratch = region(start, DTYPE)
    packed = scratch + (0 if PACKED else DEPTH * PANEL)
    if k == 0:
        for r in range(r0, r1):
            zero(out + (r * n + c0), c1 - c0)
    row = r0
    while row < r1:
        matrix = row // m
        start = row - matrix * m
        height = min(min(ROWS, r1 - row), m - start)
        x_matrix = x + matrix * m * k
        y_matrix = y + matrix * k * n
        for first in range(0, k, DEPTH):
            depth = min(DEPTH, k - first)
            flags = (1 if first > 0 else 0) + (EPILOGUE if first + DEPTH >= k else 0)
            if PACK_LEFT:
                pack_left(x_matrix, first, depth, start, height, x_stride, packed)
                left = packed
            elif LEFT_TRANSPOSED:
                left = x_matrix + (first * x_stride + start)
            else:
                left = x_matrix + (start * x_stride + first)
            for c in range(c0, c1, PANEL):
                width = min(PANEL, c1 - c)
                panel = scratch
                if PACKED:
                    panel = y_matrix + (c * k + first * PANEL)
                else:
                    pack_right(y_matrix, first, depth, c, width, y_stride, panel)
                for i in range(0, height, TALL):
                    place = (row + i) * n + c
                    multiply(
                        left + i * pixel, x_stride, panel, out + place, min(TALL, height - i),
                        depth, width, n, bias + c, base + place, flags,
                    )  # fmt: skip
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
