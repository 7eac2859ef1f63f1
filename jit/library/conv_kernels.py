# SPDX-License-Identifier: Apache-2.0
"""The kernels of convolutions and of their input's gradients (NHWC); see jit/library/conv.py."""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    conv_tile,
    copy,
    fma_tile,
    helper,
    pointer,
    region,
    transpose_tile,
    zero,
)

DTYPE: str = GIVEN
LANES: int = GIVEN  # elements of a vector
VECTORS: int = GIVEN  # vectors across a panel of features
PANEL: int = GIVEN  # features of a panel
EDGE: int = GIVEN  # -1 where all panels are whole, else 0
PIXELS: int = GIVEN  # rows of the tallest register tile, and of a lower one
LOW: int = GIVEN
C: int = GIVEN  # channels that are summed over
F: int = GIVEN  # features of the result
KH: int = GIVEN  # the window, its strides and dilations, along height and width
KW: int = GIVEN
SH: int = GIVEN
SW: int = GIVEN
DH: int = GIVEN
DW: int = GIVEN
LINE: int = GIVEN  # elements of a padded line, 0 where that is not known
# The tiles of a line: pixels, what conv_tile takes for taps, whether these lie side by side and are
# summed in one go, and the pixel that ends them, 0 for that of the line.
TILES: tuple[tuple[int, str, bool, int], ...] = GIVEN
SEGMENTS: int = GIVEN  # lines of the window, and channels, that are summed at a time
CHANNELS: int = GIVEN
HIGHEST: int = GIVEN  # lines of one image that are padded at a time
EPILOGUE: int = GIVEN  # flags of the last step of the sum
BIAS_AT: int = GIVEN  # the numbers of buffers
OUT_AT: int = GIVEN
TAPS: tuple[int, ...] = GIVEN  # where the taps of a filter begin
STEP_C: int = GIVEN  # from a channel of a filter to the next, and from a feature
STEP_F: int = GIVEN
HIGH: int = GIVEN  # the taps of a phase at most
WIDE: int = GIVEN
SEGMENT_BLOCK: int = GIVEN  # lines of taps of a phase, and elements of one, summed at a time
RUN_BLOCK: int = GIVEN


@helper
def pad_lines(
    image: Address, height: int, width: int, top: int, lines: int, before: int, line: int,
    padded: Address,
) -> None:  # fmt: skip
    """Lines of the input with zeros around them: lines [top, top + lines) of one image.

    before: zeros on the left; a negative number drops that many pixels.
    """
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


def pack_filter(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Filters as panels, rows are taps and columns panels.

    out[panel, tap, c, f] is w[TAPS[tap] + c * STEP_C + g * STEP_F] for feature
    g = panel * PANEL + f, zero where there is no such feature.  TAPS and the steps make flipped
    and transposed filters.
    """
    for tap in range(r0, r1):
        for panel in range(c0, c1):
            target = args[1] + ((panel * len(TAPS) + tap) * C * PANEL)
            source = args[0] + (TAPS[tap] + panel * PANEL * STEP_F)
            pack(source, target, min(PANEL, F - panel * PANEL))


@helper
def pack(source: Address, target: Address, width: int) -> None:
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
            corner = source + (f * STEP_F + c)
            transpose_tile(LANES, corner, STEP_F, target + (c * PANEL + f), PANEL)
    for f in range(width):
        for c in range(whole, C):
            panel[c * PANEL + f] = values[c * STEP_C + f * STEP_F]


@helper
def line_of_tiles(
    source: Address, weights: Address, target: Address, bias: Address, flags: int, width: int,
    ow: int, line: int, segments: int, count: int,
) -> None:  # fmt: skip
    col = 0
    for pixels, taps, whole, end in TILES:
        while col + pixels <= (end or ow):
            conv_tile(
                pixels, VECTORS, LANES, EDGE or width, taps,
                source + col * SW * C, weights, target + col * F, bias, flags,
                segments, DH * (LINE or line), KW * C * PANEL, KW * C if whole else count,
                DW * C, C * PANEL, SW * C, PANEL, F,
            )  # fmt: skip
            col += pixels


@helper
def blocks(
    padded: Address, weights: Address, out: Address, bias: Address, width: int, first: int,
    height: int, h: int, top: int, ow: int, line: int,
) -> None:  # fmt: skip
    """Some lines of the output, for a panel of features.

    The reduction is cut into blocks whose filters fit the first cache; sums of blocks meet in the
    output.
    """
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
                line_of_tiles(
                    padded + ((r * SH + begin * DH) * line + c),
                    weights + (begin * KW * C + c) * PANEL,
                    out + r * ow * F, bias, flags, width, ow, line, end - begin,
                    min(CHANNELS, C - c),
                )  # fmt: skip


def convolution(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are output lines of all images, columns are panels of features."""
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
        lines = (height - 1) * SH + (KH - 1) * DH + 1
        pad_lines(x + image * h * w * C, h, w, first * SH - top, lines, before, line, padded)
        for panel in range(c0, c1):
            blocks(
                padded, packed + panel * KH * KW * C * PANEL,
                out + (row * ow * F + panel * PANEL), bias + panel * PANEL,
                min(PANEL, F - panel * PANEL), first, height, h, top, ow, line,
            )  # fmt: skip
        row += height


@helper
def lines_of_tiles(
    padded: Address, weights: Address, out: Address, flags: int, width: int, lines: int, cols: int,
    line: int, skip: int, segments: int, run: int, count: int,
) -> None:  # fmt: skip
    for r in range(lines):
        source = padded + r * line
        target = out + r * skip
        col = 0
        for pixels in (PIXELS, LOW, 1):
            while col + pixels <= cols:
                fma_tile(
                    pixels, VECTORS, LANES, EDGE or width, 0,
                    source + col * C, weights, target + col * SW * F, 0, flags,
                    segments, line, run * PANEL, count, C, 1, PANEL, SW * F,
                )  # fmt: skip
                col += pixels


@helper
def phase(
    padded: Address, weights: Address, out: Address, width: int, lines: int, cols: int, line: int,
    skip: int, high: int, wide: int,
) -> None:  # fmt: skip
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
            lines_of_tiles(
                padded + (first * line + q), weights + (first * run + q) * PANEL, out, flags,
                width, lines, cols, line, skip, segments, run, min(RUN_BLOCK, run - q),
            )  # fmt: skip


@helper
def count_below(limit: int, offset: int, step: int) -> int:
    """How many i >= 0 have offset + i * step < limit."""
    return max(0, (limit - offset + step - 1) // step)


@helper
def phases(
    padded: Address, weights: Address, image: Address, first: int, last: int, width: int, h: int,
    w: int, top: int, before: int, line: int,
) -> None:  # fmt: skip
    """Lines first <= v < last; phase (a, b) of line v is output line v * SH + a - top."""
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
                phase(
                    source, weights + done * C * PANEL, target, width, v1 - v0, q1 - q0, line,
                    SH * w * F, high, wide,
                )  # fmt: skip
            done += high * wide


def strided_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The gradient of a strided convolution.

    Every pixel of the output belongs to one of SH * SW phases, and within a phase the gradient is a
    convolution of stride one with every SH-th and SW-th tap.  Here C is the number of output
    channels of the convolution, F that of its input channels.  Rows are lines of dy (and some more)
    of all images, columns are panels of input channels.
    """
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
        source = dy + image * oh * ow * C
        pad_lines(source, oh, ow, first - (HIGH - 1), height + HIGH - 1, WIDE - 1, line, padded)
        for panel in range(c0, c1):
            phases(
                padded, packed + panel * KH * KW * C * PANEL,
                out + (image * h * w * F + panel * PANEL), first, first + height,
                min(PANEL, F - panel * PANEL), h, w, top, before, line,
            )  # fmt: skip
        row += height
