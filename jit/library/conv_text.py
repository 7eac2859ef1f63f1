# SPDX-License-Identifier: Apache-2.0
"""Texts of the convolution kernels (NHWC); see jit/library/conv.py for what the constants mean."""

# Lines of the input with zeros around them: lines [top, top + lines) of one image, `before` zeros
# on the left (a negative number drops that many pixels).
PAD_LINES = """
@helper
def pad_lines(image, height, width, top, lines, before, line, padded):
    skip = max(0, -before)
    left = min(max(0, before) * C, line)
    count = max(0, min((width - skip) * C, line - left))
    for i in range(lines):
        target = padded + i * line
        y = top + i
        if y >= 0 and y < height:
            zero(target, left)
            source = image + (y * width + skip) * C
            copy(target + left, source, count)
            zero(target + (left + count), line - left - count)
        else:
            zero(target, line)
"""

# Filters as panels: out[panel, tap, c, f] is w[TAPS[tap] + c * STEP_C + g * STEP_F] for feature
# g = panel * PANEL + f, zero where there is no such feature.  TAPS and the steps make flipped and
# transposed filters.
PACK_FILTER = """
def kernel(args, r0, r1, c0, c1, worker):
    for tap in range(r0, r1):
        for panel in range(c0, c1):
            target = args[1] + ((panel * len(TAPS) + tap) * C * PANEL)
            source = args[0] + (TAPS[tap] + panel * PANEL * STEP_F)
            pack(source, target, min(PANEL, F - panel * PANEL))


@helper
def pack(source, target, width):
    values = pointer(source)
    panel = pointer(target)
    if width < PANEL:
        zero(target, C * PANEL)
    if STEP_F == 1:
        for c in range(C):
            copy(target + c * PANEL, source + c * STEP_C, width)
        return
    whole = C // LANES * LANES if width == PANEL and STEP_C == 1 else 0
    for f in range(0, PANEL, LANES):
        for c in range(0, whole, LANES):
            transpose_tile(LANES, source + (f * STEP_F + c), STEP_F,
                           target + (c * PANEL + f), PANEL)
    for f in range(width):
        for c in range(whole, C):
            panel[c * PANEL + f] = values[c * STEP_C + f * STEP_F]
"""

# Rows are output lines of all images, columns are panels of features.  The reduction is cut into
# blocks whose filters fit the first cache; sums of blocks meet in the output.
FORWARD = """
@helper
def line_of_tiles(source, weights, target, bias, flags, width, ow, line, segments, count):
TILES


@helper
def blocks(padded, weights, out, bias, width, first, height, h, top, ow, line):
    for start in range(0, KH, SEGMENTS):
        for c in range(0, C, CHANNELS):
            for r in range(height):
                # Taps of lines outside of the input are left out; where all are, all are zero.
                y = (first + r) * SH - top
                low, high = max(0, (DH - 1 - y) // DH), min(KH, (h - y + DH - 1) // DH)
                if low >= high:
                    low, high = 0, KH
                begin, end = max(start, low), min(start + SEGMENTS, high)
                if begin >= end:
                    continue
                flags = 0
                if begin > low or c > 0:
                    flags = 1
                if end == high and c + CHANNELS >= C:
                    flags += EPILOGUE
                line_of_tiles(padded + ((r * SH + begin * DH) * line + c),
                              weights + (begin * KW * C + c) * PANEL,
                              out + r * ow * F, bias, flags, width, ow, line, end - begin,
                              min(CHANNELS, C - c))


def kernel(args, r0, r1, c0, c1, worker):
    x, packed, bias, out = args[0], args[1], args[BIAS_AT], args[OUT_AT]
    p = OUT_AT + 1
    h, w, oh, ow = args[p], args[p + 1], args[p + 2], args[p + 3]
    top, before = args[p + 4], args[p + 5]
    padded = region(args[p + 6] + worker * args[p + 7], DTYPE)
    line = ((ow - 1) * SW + (KW - 1) * DW + 1) * C
    row = r0
    while row < r1:
        image = row // oh
        first = row - image * oh
        height = min(min(r1 - row, oh - first), HIGHEST)
        pad_lines(x + image * h * w * C, h, w, first * SH - top,
                  (height - 1) * SH + (KH - 1) * DH + 1, before, line, padded)
        for panel in range(c0, c1):
            blocks(padded, packed + panel * KH * KW * C * PANEL,
                   out + (row * ow * F + panel * PANEL), bias + panel * PANEL,
                   min(PANEL, F - panel * PANEL), first, height, h, top, ow, line)
        row += height
"""

# The gradient of a strided convolution: every pixel of the output belongs to one of SH * SW phases,
# and within a phase the gradient is a convolution of stride one with every SH-th and SW-th tap.
# Here C is the number of output channels of the convolution, F that of its input channels.  Rows
# are lines of dy (and some more) of all images, columns are panels of input channels.
STRIDED_GRADIENT = """
@helper
def lines_of_tiles(padded, weights, out, flags, width, lines, cols, line, skip, segments, run,
                   count):
    for r in range(lines):
        source = padded + r * line
        target = out + r * skip
        col = 0
        while col + PIXELS <= cols:
            fma_tile(PIXELS, VECTORS, LANES, EDGE, 0, source + col * C, weights,
                     target + col * SW * F, 0, flags, segments, line, run * PANEL, count,
                     C, 1, PANEL, SW * F)
            col += PIXELS
        while col + LOW <= cols:
            fma_tile(LOW, VECTORS, LANES, EDGE, 0, source + col * C, weights,
                     target + col * SW * F, 0, flags, segments, line, run * PANEL, count,
                     C, 1, PANEL, SW * F)
            col += LOW
        while col < cols:
            fma_tile(1, VECTORS, LANES, EDGE, 0, source + col * C, weights,
                     target + col * SW * F, 0, flags, segments, line, run * PANEL, count,
                     C, 1, PANEL, SW * F)
            col += 1


@helper
def phase(padded, weights, out, width, lines, cols, line, skip, high, wide):
    run = wide * C
    if high * run == 0:
        for r in range(lines):
            for col in range(cols):
                zero(out + (r * skip + col * SW * F), width)
        return
    for first in range(0, high, SEGMENT_BLOCK):
        segments = min(SEGMENT_BLOCK, high - first)
        for q in range(0, run, RUN_BLOCK):
            flags = 1 if first + q > 0 else 0
            lines_of_tiles(padded + (first * line + q),
                           weights + (first * run + q) * PANEL, out, flags, width, lines,
                           cols, line, skip, segments, run, min(RUN_BLOCK, run - q))


@helper
def count_below(limit, offset, step):
    # How many i >= 0 have offset + i * step < limit.
    return max(0, (limit - offset + step - 1) // step)


@helper
def phases(padded, weights, image, first, last, width, h, w, top, before, line):
    # Lines first <= v < last; phase (a, b) of line v is output line v * SH + a - top.
    done = 0
    for a in range(SH):
        high = max(0, (KH - a + SH - 1) // SH)
        v0, v1 = max(first, count_below(0, a - top, SH)), min(last, count_below(h, a - top, SH))
        for b in range(SW):
            wide = max(0, (KW - b + SW - 1) // SW)
            q0, q1 = count_below(0, b - before, SW), count_below(w, b - before, SW)
            if v1 > v0 and q1 > q0:
                skipped = (v0 - first + HIGH - high) * line + (q0 + WIDE - wide) * C
                source = padded + skipped
                target = image + (((v0 * SH + a - top) * w + q0 * SW + b - before) * F)
                phase(source, weights + done * C * PANEL, target, width, v1 - v0, q1 - q0,
                      line, SH * w * F, high, wide)
            done += high * wide


def kernel(args, r0, r1, c0, c1, worker):
    dy, packed, out = args[0], args[1], args[2]
    h, w, oh, ow = args[3], args[4], args[5], args[6]
    top, before, lines, cols = args[7], args[8], args[9], args[10]
    padded = region(args[11] + worker * args[12], DTYPE)
    line = (cols + WIDE - 1) * C
    row = r0
    while row < r1:
        image = row // lines
        first = row - image * lines
        height = min(min(r1 - row, lines - first), HIGHEST)
        pad_lines(dy + image * oh * ow * C, oh, ow, first - (HIGH - 1), height + HIGH - 1,
                  WIDE - 1, line, padded)
        for panel in range(c0, c1):
            phases(padded, packed + panel * KH * KW * C * PANEL,
                   out + (image * h * w * F + panel * PANEL), first, first + height,
                   min(PANEL, F - panel * PANEL), h, w, top, before, line)
        row += height
"""
