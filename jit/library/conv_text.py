# SPDX-License-Identifier: Apache-2.0
"""Texts of the convolution kernels (NHWC); see jit/library/conv.py for what the constants mean."""

# Lines of the input with zeros around them: lines [top, top + lines) of one image, `before` zeros
# on the left.  With INSERT > 1 that many minus one zeros stand between neighbours (the gradient of
# a strided convolution).
PAD_LINES = """
@helper
def pad_lines(image, height, width, top, lines, before, line, padded):
    for i in range(lines):
        target = padded + BYTES * i * line
        y = top + i
        inside = y >= 0 and y < height * INSERT
        if INSERT > 1:
            inside = inside and y % INSERT == 0
        if not inside:
            zero_bytes(target, BYTES * line)
        elif INSERT > 1:
            zero_bytes(target, BYTES * line)
            for j in range(width):
                place = before + j * INSERT
                if place >= 0 and (place + 1) * C <= line:
                    copy_bytes(target + BYTES * place * C,
                               image + BYTES * (y // INSERT * width + j) * C, BYTES * C)
        else:
            skip = max(0, -before)
            left = max(0, before) * C
            count = min((width - skip) * C, line - left)
            zero_bytes(target, BYTES * left)
            copy_bytes(target + BYTES * left, image + BYTES * (y * width + skip) * C, BYTES * count)
            zero_bytes(target + BYTES * (left + count), BYTES * (line - left - count))
"""

# Filters as panels: out[panel, i, j, c, f] = w[i, j, c, panel * PANEL + f], zero where f is no
# feature.  STEP_* are the strides of the source, so that flipped and transposed filters are views.
PACK_FILTER = """
def kernel(args, r0, r1, c0, c1, worker):
    w = args[0] + BYTES * ORIGIN
    for tap in range(r0, r1):
        i = tap // KW
        j = tap - i * KW
        for panel in range(c0, c1):
            target = args[1] + BYTES * ((panel * KH * KW + tap) * C * PANEL)
            source = w + BYTES * (i * STEP_I + j * STEP_J + panel * PANEL * STEP_F)
            width = min(PANEL, F - panel * PANEL)
            pack(source, target, width)


@helper
def pack(source, target, width):
    values = pointer(source, DTYPE)
    panel = pointer(target, DTYPE)
    if width < PANEL:
        zero_bytes(target, BYTES * C * PANEL)
    if STEP_F == 1:
        for c in range(C):
            copy_bytes(target + BYTES * c * PANEL, source + BYTES * c * STEP_C, BYTES * width)
        return
    whole = C // LANES * LANES if width == PANEL and STEP_C == 1 else 0
    for f in range(0, PANEL, LANES):
        for c in range(0, whole, LANES):
            transpose_tile(WIDTH, LANES, source + BYTES * (f * STEP_F + c), STEP_F,
                           target + BYTES * (c * PANEL + f), PANEL)
    for f in range(width):
        for c in range(whole, C):
            panel[c * PANEL + f] = values[c * STEP_C + f * STEP_F]
"""

# Rows are output lines of all images, columns are panels of features.  The reduction is cut into
# blocks whose filters fit the first cache; sums of blocks meet in the output.
FORWARD = """
@helper
def lines_of_tiles(padded, weights, out, bias, flags, width, height, ow, line, segments, count):
    for r in range(height):
        source = padded + BYTES * r * SH * line
        target = out + BYTES * r * ow * F
        col = 0
        while col + PIXELS <= ow:
            fma_tile(DTYPE, PIXELS, VECTORS, LANES, EDGE, 0,
                     source + BYTES * col * SW * C, weights, target + BYTES * col * F, bias, flags,
                     segments, SEGMENT_X, RUN * PANEL, count, SW * C, 1, PANEL, F)
            col += PIXELS
        if REST:
            while col + REST <= ow:
                fma_tile(DTYPE, REST, VECTORS, LANES, EDGE, 0,
                         source + BYTES * col * SW * C, weights, target + BYTES * col * F, bias,
                         flags, segments, SEGMENT_X, RUN * PANEL, count, SW * C, 1, PANEL, F)
                col += REST
        if ONES:
            while col < ow:
                fma_tile(DTYPE, 1, VECTORS, LANES, EDGE, 0,
                         source + BYTES * col * SW * C, weights, target + BYTES * col * F, bias,
                         flags, segments, SEGMENT_X, RUN * PANEL, count, SW * C, 1, PANEL, F)
                col += 1


@helper
def blocks(padded, weights, out, bias, width, height, ow, line):
    for outer in range(OUTER):
        for first in range(0, SEGMENTS, SEGMENT_BLOCK):
            segments = min(SEGMENT_BLOCK, SEGMENTS - first)
            for q in range(0, RUN, RUN_BLOCK):
                count = min(RUN_BLOCK, RUN - q)
                flags = 0
                if outer + first + q > 0:
                    flags = 1
                if outer == OUTER - 1 and first + segments == SEGMENTS and q + count == RUN:
                    flags += EPILOGUE
                source = padded + BYTES * (outer * DH * line + first * SEGMENT_X + q)
                at = ((outer * SEGMENTS + first) * RUN + q) * PANEL
                lines_of_tiles(source, weights + BYTES * at, out, bias, flags, width,
                               height, ow, line, segments, count)


def kernel(args, r0, r1, c0, c1, worker):
    x, packed, bias, out = args[0], args[1], args[BIAS_AT], args[OUT_AT]
    p = OUT_AT + 1
    h, w, oh, ow = args[p], args[p + 1], args[p + 2], args[p + 3]
    top, before = args[p + 4], args[p + 5]
    padded = args[p + 6] + worker * args[p + 7]
    line = ((ow - 1) * SW + (KW - 1) * DW + 1) * C
    row = r0
    while row < r1:
        image = row // oh
        first = row - image * oh
        height = min(r1 - row, oh - first, HIGHEST)
        pad_lines(x + BYTES * image * h * w * C, h, w, first * SH - top,
                  (height - 1) * SH + (KH - 1) * DH + 1, before, line, padded)
        for panel in range(c0, c1):
            blocks(padded, packed + BYTES * panel * KH * KW * C * PANEL,
                   out + BYTES * (row * ow * F + panel * PANEL), bias + BYTES * panel * PANEL,
                   min(PANEL, F - panel * PANEL), height, ow, line)
        row += height
"""

# Rows are chunks of `images` images, columns are panels of features.  Every chunk has its own
# sums; they are added afterwards, in order.
FILTER_GRADIENT = """
@helper
def taps(padded, dy, out, width, lines, ow, line, old):
    for outer in range(OUTER):
        for inner in range(INNER):
            source = padded + BYTES * (outer * DH * line + inner * DW * C)
            target = out + BYTES * (outer * INNER + inner) * RUN * F
            p = 0
            while p + PIXELS <= RUN:
                fma_tile(DTYPE, PIXELS, VECTORS, LANES, EDGE, 1, source + BYTES * p, dy,
                         target + BYTES * p * F, 0, old, lines, SH * line, ow * F, ow, 1, SW * C,
                         F, F)
                p += PIXELS
            if REST:
                fma_tile(DTYPE, REST, VECTORS, LANES, EDGE, 1, source + BYTES * p, dy,
                         target + BYTES * p * F, 0, old, lines, SH * line, ow * F, ow, 1, SW * C,
                         F, F)


def kernel(args, r0, r1, c0, c1, worker):
    x, dy, out = args[0], args[1], args[2]
    n, h, w, oh, ow, top, before, images = (
        args[3], args[4], args[5], args[6], args[7], args[8], args[9], args[10])
    padded = args[11] + worker * args[12]
    line = ((ow - 1) * SW + (KW - 1) * DW + 1) * C
    for chunk in range(r0, r1):
        for panel in range(c0, c1):
            target = out + BYTES * (chunk * KH * KW * C * F + panel * PANEL)
            old = 0
            for image in range(chunk * images, min(n, (chunk + 1) * images)):
                for first in range(0, oh, LINES):
                    lines = min(LINES, oh - first)
                    pad_lines(x + BYTES * image * h * w * C, h, w, first * SH - top,
                              (lines - 1) * SH + (KH - 1) * DH + 1, before, line, padded)
                    taps(padded, dy + BYTES * ((image * oh + first) * ow * F + panel * PANEL),
                         target, min(PANEL, F - panel * PANEL), lines, ow, line, old)
                    old = 1
"""
