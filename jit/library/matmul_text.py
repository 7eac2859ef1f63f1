# SPDX-License-Identifier: Apache-2.0
"""The texts of matrix products' kernels, in the vocabulary of jit/codegen/vocabulary.py.

The right factor is read in panels of a few vectors, packed by the tile that needs them or, where
several products share it, by a kernel of its own before them.  Imports nothing.
"""

from __future__ import annotations

PACK_RIGHT = """
@helper
def pack_right(y, first, depth, start, width, stride, panel):
    # panel[q, f] = y[first + q, start + f], zero for f >= width
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
                    transpose_tile(LANES, y + corner, stride,
                                   panel + (q * PANEL + f), PANEL)
        for f in range(width):
            for q in range(done, depth):
                target[q * PANEL + f] = source[(start + f) * stride + first + q]
    elif width == PANEL:
        for q in range(depth):
            copy(panel + q * PANEL, y + ((first + q) * stride + start), PANEL)
    else:
        for q in range(depth):
            copy(panel + q * PANEL, y + ((first + q) * stride + start), width)
"""

# The panels of a whole factor, one after the other: a row is a panel.
PACK = """
def kernel(args, r0, r1, c0, c1, worker):
    n, k, stride, offset = args[2], args[3], args[4], args[5]
    for r in range(r0, r1):
        pack_right(args[0] + offset, 0, k, r * PANEL, min(PANEL, n - r * PANEL), stride,
                   args[1] + PANEL * k * r)
"""

MULTIPLY = """
@helper
def pack_left(x, first, depth, start, m, stride, packed):
    for i in range(m):
        copy(packed + i * LEFT_ROW, x + ((start + i) * stride + first), depth)


@helper
def multiply(left, pixel, step, panel, out, m, depth, width, n, bias, base, flags):
    # out[i, f] (+)= the sum over q of left[i * pixel + q * step] * panel[q, f]; m is at most TALL.
    # The flags are those of product_tile: 1 adds the old out, 8 the base, 2 the bias, 4 is relu.
    i = 0
    if m == TALL:
        product_tile(TALL, VECTORS, LANES, EDGE, 0, left, panel, out, bias, base, flags,
                     depth, PIXEL, STEP, PANEL, n)
        return
    if i + MIDDLE <= m:
        product_tile(MIDDLE, VECTORS, LANES, EDGE, 0, left, panel, out, bias, base, flags,
                     depth, PIXEL, STEP, PANEL, n)
        i += MIDDLE
    while i + LOW <= m:
        product_tile(LOW, VECTORS, LANES, EDGE, 0, left + i * PIXEL, panel,
                     out + i * n, bias, base + i * n, flags,
                     depth, PIXEL, STEP, PANEL, n)
        i += LOW
    while i < m:
        product_tile(1, VECTORS, LANES, EDGE, 0, left + i * PIXEL, panel,
                     out + i * n, bias, base + i * n, flags,
                     depth, PIXEL, STEP, PANEL, n)
        i += 1


def kernel(args, r0, r1, c0, c1, worker):
    base, bias, out = args[2], args[BIAS_AT], args[OUT_AT]
    m, n, k = args[OUT_AT + 1], args[OUT_AT + 2], args[OUT_AT + 3]
    x_stride, y_stride = args[OUT_AT + 4], args[OUT_AT + 5]
    x, y = args[0] + args[OUT_AT + 6], args[1] + args[OUT_AT + 7]
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
            pixel = 1 if LEFT_TRANSPOSED else x_stride
            step = x_stride if LEFT_TRANSPOSED else 1
            for c in range(c0, c1, PANEL):
                panel = scratch
                if PACKED:
                    panel = y_matrix + (c * k + first * PANEL)
                else:
                    pack_right(y_matrix, first, depth, c, min(PANEL, c1 - c), y_stride, panel)
                for i in range(0, height, TALL):
                    place = (row + i) * n + c
                    multiply(left + i * PIXEL, pixel, step, panel, out + place,
                             min(TALL, height - i), depth, min(PANEL, c1 - c), n,
                             bias + c, base + place, flags)
        row += height
"""

# Integers: the plain product, a row of the right factor at a time so that the loop vectorises.
INTEGER = """
def kernel(args, r0, r1, c0, c1, worker):
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
"""
