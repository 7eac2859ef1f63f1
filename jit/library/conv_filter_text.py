# SPDX-License-Identifier: Apache-2.0
"""Texts of the filter gradient (NHWC); see jit/library/conv_filter.py."""

# The gradient of a panel of features, in rows of ROW: packed[pixel, f] for some lines of an image.
PACK = """
@helper
def pack_gradient(dy, packed, pixels, width):
    if width == PANEL:
        for i in range(pixels):
            copy(packed + i * PANEL, dy + i * F, PANEL)
    else:
        zero(packed, pixels * PANEL)
        for i in range(pixels):
            copy(packed + i * PANEL, dy + i * F, width)
"""

# The same from the gradient of pooled features and the places of their maxima.
PACK_MAXIMA = """
@helper
def spread_window(value, place, target, width, code):
    for f in range(width):
        target[f] += value[f] if place[f] == code else ZERO


@helper
def pack_maxima(dy, places, packed, first, lines, ow, width, poh, pow, ptop, pleft):
    zero(packed, lines * ow * PANEL)
    for row in range(poh):
        for i in range(PH):
            line = row * PSH - ptop + i - first
            if line < 0 or line >= lines:
                continue
            for col in range(pow):
                at = (row * pow + col) * F
                value, place = pointer(dy + at), pointer(places + at)
                for j in range(PW):
                    q = col * PSW - pleft + j
                    if q >= 0 and q < ow:
                        target = pointer(packed + (line * ow + q) * PANEL)
                        spread_window(value, place, target, width, uint32(i * PW + j))
"""

TILES = """
@helper
def tiles(source, packed, target, width, lines, columns, line, ow):
    # out[p, f] += the sum over lines and columns of source[…, p] * packed[…, f], p < RUN
    p = 0
    while p + PIXELS <= RUN:
        fma_tile(PIXELS, VECTORS, LANES, EDGE, RAGGED, source + p, packed,
                 target + p * F, 0, 1, lines, SH * LINE, OUT_ROW * ROW, columns, 1,
                 SW * C, ROW, F)
        p += PIXELS
    if REST:
        fma_tile(REST, VECTORS, LANES, EDGE, RAGGED, source + p, packed,
                 target + p * F, 0, 1, lines, SH * LINE, OUT_ROW * ROW, columns, 1,
                 SW * C, ROW, F)


@helper
def inside(start, step, count, size):
    # The first and the last (excluded) i < count with 0 <= start + i * step < size.
    return max(0, (step - 1 - start) // step), min(count, (size - start + step - 1) // step)
"""

# Tap by tap, with the pixels that have it; many channels.
BY_TAP = """
@helper
def block(image, memory, packed, out, width, first, lines, h, w, top, before, ow, line):
    for i in range(KH):
        y = first * SH - top + i * DH
        r0, r1 = inside(y, SH, lines, h)
        for j in range(KW):
            q0, q1 = inside(j * DW - before, SW, ow, w)
            if r0 < r1 and q0 < q1:
                source = image + ((y + r0 * SH) * w + j * DW - before + q0 * SW) * C
                tiles(source, packed + (r0 * ow + q0) * ROW,
                      out + (i * KW + j) * C * F, width, r1 - r0, q1 - q0, line, ow)
"""

# Line by line of the window, over lines of the input with zeros around them; few channels.
BY_LINE = """
@helper
def block(image, memory, packed, out, width, first, lines, h, w, top, before, ow, line):
    pad_lines(image, h, w, first * SH - top, (lines - 1) * SH + (KH - 1) * DH + 1, before, line,
              memory)
    for i in range(KH):
        r0, r1 = inside(first * SH - top + i * DH, SH, lines, h)
        if r0 < r1:
            tiles(memory + (r0 * SH + i * DH) * line, packed + r0 * ow * ROW,
                  out + i * RUN * F, width, r1 - r0, ow, line, ow)
"""

# Rows are chunks of `images` images, columns are panels of features.  Every chunk has its own
# sums; they are added afterwards, in order.
KERNEL = """
def kernel(args, r0, r1, c0, c1, worker):
    x, dy, places, out = args[0], args[1], args[PLACES_AT], args[OUT_AT]
    p = OUT_AT + 1
    n, h, w, oh, ow = args[p], args[p + 1], args[p + 2], args[p + 3], args[p + 4]
    top, before, images = args[p + 5], args[p + 6], args[p + 7]
    poh, pow, ptop, pleft = args[p + 8], args[p + 9], args[p + 10], args[p + 11]
    packed = region(args[p + 12] + worker * args[p + 13], DTYPE)
    padded = packed + (LINES * ow * PANEL + 15) // 16 * 16
    line = LINE_OF_INPUT
    for chunk in range(r0, r1):
        for panel in range(c0, c1):
            width = min(PANEL, F - panel * PANEL)
            target = out + (chunk * KH * KW * C * F + panel * PANEL)
            for row in range(KH * KW * C):
                zero(target + row * F, width)
            for image in range(chunk * images, min(n, (chunk + 1) * images)):
                for first in range(0, oh, LINES):
                    lines = min(LINES, oh - first)
                    if FROM_MAXIMA:
                        at = image * poh * pow * F + panel * PANEL
                        gradient = packed
                        pack_maxima(dy + at, places + at, packed, first, lines, ow, width,
                                    poh, pow, ptop, pleft)
                    else:
                        gradient = dy + (((image * oh + first) * ow) * F + panel * PANEL)
                        if PACKS:
                            pack_gradient(gradient, packed, lines * ow, width)
                            gradient = packed
                    block(x + image * h * w * C, padded, gradient, target, width, first,
                          lines, h, w, top, before, ow, line)
"""
