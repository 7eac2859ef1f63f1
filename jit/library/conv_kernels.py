# SPDX-License-Identifier: Apache-2.0
"""The kernels of convolutions and of their input's gradients (NHWC); see jit/library/conv.py.

Sizes are numbers of the argument block, behind its buffers: the constants below say which.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Pointer,
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
    FACTOR,
    LEFT,
    OUT_FIRST,
    OUT_NEXT,
    PART,
    REPEATS,
    SEGMENTS,
    TILES,
    W_SEGMENT,
    WORDS,
    X_FIRST,
    X_NEXT,
    run_row,
    run_tiles,
    strides,
)

DTYPE: str = GIVEN
LANES: int = GIVEN  # elements of a vector
BIAS_AT: int = GIVEN  # the number of the buffer with the bias, or of any where there is none
OUT_AT: int = GIVEN  # that of the result
FIRST: int = GIVEN  # how many buffers there are

# The numbers of all kernels: sizes of the input and the output, zeros above and on the left of the
# input (negative ones drop pixels), and channels that are summed over and those of the result.
H, W, OH, OW, TOP, BEFORE, C, F = 0, 1, 2, 3, 4, 5, 6, 7
# The window, its strides and dilations, along height and width.
KH, KW, SH, SW, DH, DW = 8, 9, 10, 11, 12, 13
PANEL = 14  # features of a panel
HIGHEST = 15  # lines of one image that are padded at a time
# Of convolutions: lines of the window, and channels, that are summed at a time; flags of the last
# step of the sum; how many kinds of tiles a line has.
LINES, CHANNELS, EPILOGUE, KINDS = 16, 17, 18, 19
SCRATCH, PARTS = 20, 22
# A row of the table of tiles: the number of their kernel, the pixels of a tile, the pixel that ends
# them (0 for that of the line), whether all taps lie side by side and are summed in one go, how
# many numbers tell of its taps, and these (see REPEATS of tile_kernels.py).
KERNEL, PIXELS, END, WHOLE, COUNT_OF_TAPS, TAPS, ROW = 0, 1, 2, 3, 4, 5, 30
# Of gradients of strided convolutions: lines and columns of a phase with those that are cut off,
# the taps of a phase at most, lines of taps of a phase, and elements of one, summed at a time, and
# the rows of three tiles.
PHASE_LINES, PHASE_COLS, HIGH, WIDE, LINES_BLOCK, RUN_BLOCK = 16, 17, 18, 19, 20, 21
TALL, LOW, PHASE_SCRATCH, PHASE_PARTS = 22, 23, 24, 26


@helper
def pad_lines(
    image: Address,
    height: int,
    width: int,
    c: int,
    top: int,
    lines: int,
    before: int,
    line: int,
    padded: Address,
) -> None:
    """Lines of the input with zeros around them: lines [top, top + lines) of one image.

    before: zeros on the left; a negative number drops that many pixels.
    """
    skip = max(0, -before)
    left = min(max(0, before) * c, line)
    count = max(0, min((width - skip) * c, line - left))
    for i in range(lines):
        target = padded + i * line
        y = top + i
        if y >= 0 and y < height:
            zero(target, left)
            source = image + (y * width + skip) * c
            copy(target + left, source, count)
            zero(target + (left + count), line - left - count)
        else:
            zero(target, line)


def pack_filter(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Filters as panels, rows are taps and columns panels.

    out[panel, tap, c, f] is w[taps[tap] + c * step_c + g * step_f] for feature
    g = panel * width + f, zero where there is no such feature.  The taps and the steps make flipped
    and transposed filters.
    """
    taps = pointer(args[1])
    count, channels, features, panel = args[3], args[4], args[5], args[6]
    step_c, step_f = args[7], args[8]
    for tap in range(r0, r1):
        for number in range(c0, c1):
            target = args[2] + (number * count + tap) * channels * panel
            source = args[0] + (taps[tap] + number * panel * step_f)
            width = min(panel, features - number * panel)
            pack(source, target, width, panel, channels, step_c, step_f)


@helper
def pack(
    source: Address,
    target: Address,
    width: int,
    panel: int,
    channels: int,
    step_c: int,
    step_f: int,
) -> None:
    if width < panel:
        zero(target, channels * panel)
    if step_f == 1:
        for c in range(channels):
            copy(target + c * panel, source + c * step_c, width)
        return
    whole = channels // LANES * LANES if width == panel and step_c == 1 else 0
    for f in range(0, panel, LANES):
        for c in range(0, whole, LANES):
            corner = source + (f * step_f + c)
            transpose_tile(LANES, corner, step_f, target + (c * panel + f), panel)
    values, out = pointer(source), pointer(target)
    for f in range(width):
        for c in range(whole, channels):
            out[c * panel + f] = values[c * step_c + f * step_f]


@helper
def line_of_tiles(
    args: Arguments,
    blocks: Address,
    source: Address,
    weights: Address,
    target: Address,
    flags: int,
    segments: int,
    count: int,
) -> None:
    for kind in range(args[FIRST + KINDS]):
        numbers = blocks + kind * WORDS
        block = pointer(numbers)
        block[SEGMENTS] = segments
        block[COUNT] = count * block[FACTOR]
        run_tiles(
            block[PART],
            numbers,
            source + block[X_FIRST],
            weights,
            target + block[OUT_FIRST],
            flags,
            block[TILES],
        )


@helper
def blocks_of_tiles(args: Arguments, table: Pointer, blocks: Address, line: int) -> None:
    """What tiles get that is the same for all lines and panels."""
    c, f, panel = args[FIRST + C], args[FIRST + F], args[FIRST + PANEL]
    sw, kw, ow = args[FIRST + SW], args[FIRST + KW], args[FIRST + OW]
    col = 0
    for kind in range(args[FIRST + KINDS]):
        numbers = blocks + kind * WORDS
        block = pointer(numbers)
        row = kind * ROW
        pixels, end = table[row + PIXELS], table[row + END]
        tiles = max(0, ((end if end > 0 else ow) - col) // pixels)
        taps, steps = args[FIRST + DW] * c, args[FIRST + DH] * line
        strides(numbers, steps, kw * c * panel, taps, c * panel, sw * c, 1, panel, f)
        block[BASE] = 0
        block[X_NEXT] = pixels * sw * c
        block[OUT_NEXT] = pixels * f
        for number in range(table[row + COUNT_OF_TAPS]):
            block[REPEATS + number] = table[row + TAPS + number]
        block[FACTOR] = kw if table[row + WHOLE] > 0 else 1
        block[PART] = args[FIRST + PARTS + table[row + KERNEL]]
        block[TILES] = tiles
        block[X_FIRST] = col * sw * c
        block[OUT_FIRST] = col * f
        col += tiles * pixels


@helper
def panel_of_tiles(blocks: Address, kinds: int, width: int, bias: int) -> None:
    """What tiles get that is a panel's."""
    for kind in range(kinds):
        block = pointer(blocks + kind * WORDS)
        block[LEFT] = width
        block[BIAS] = bias


@helper
def lines_of_tiles(
    args: Arguments,
    blocks: Address,
    padded: Address,
    weights: Address,
    out: Address,
    first: int,
    height: int,
    line: int,
) -> None:
    """Some lines of the output, for a panel of features.

    The reduction is cut into blocks whose filters fit the first cache; sums of blocks meet in the
    output.
    """
    c, kh, kw = args[FIRST + C], args[FIRST + KH], args[FIRST + KW]
    h, sh, dh = args[FIRST + H], args[FIRST + SH], args[FIRST + DH]
    for start in range(0, kh, args[FIRST + LINES]):
        for channel in range(0, c, args[FIRST + CHANNELS]):
            for r in range(height):
                # Taps of lines outside of the input are left out; where all are, all are zero.
                y = (first + r) * sh - args[FIRST + TOP]
                low, high = max(0, (dh - 1 - y) // dh), min(kh, (h - y + dh - 1) // dh)
                if low >= high:
                    low, high = 0, kh
                begin, end = max(start, low), min(start + args[FIRST + LINES], high)
                if begin >= end:
                    continue
                flags = 0
                if begin > low or channel > 0:
                    flags = 1
                if end == high and channel + args[FIRST + CHANNELS] >= c:
                    flags += args[FIRST + EPILOGUE]
                line_of_tiles(
                    args,
                    blocks,
                    padded + ((r * sh + begin * dh) * line + channel),
                    weights + (begin * kw * c + channel) * args[FIRST + PANEL],
                    out + r * args[FIRST + OW] * args[FIRST + F],
                    flags,
                    end - begin,
                    min(args[FIRST + CHANNELS], c - channel),
                )


def convolution(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are output lines of all images, columns are panels of features."""
    x, packed, table, out = args[0], args[1], pointer(args[2]), args[OUT_AT]
    h, w, oh, ow = args[FIRST + H], args[FIRST + W], args[FIRST + OH], args[FIRST + OW]
    c, f, kh, kw = args[FIRST + C], args[FIRST + F], args[FIRST + KH], args[FIRST + KW]
    sh, panel, kinds = args[FIRST + SH], args[FIRST + PANEL], args[FIRST + KINDS]
    scratch = args[FIRST + SCRATCH] + worker * args[FIRST + SCRATCH + 1]
    blocks = region(scratch, "int64")
    padded = region(scratch + kinds * WORDS * 8, DTYPE)
    line = ((ow - 1) * args[FIRST + SW] + (kw - 1) * args[FIRST + DW] + 1) * c
    blocks_of_tiles(args, table, blocks, line)
    row = r0
    while row < r1:
        image = row // oh
        first = row - image * oh
        height = min(min(r1 - row, oh - first), args[FIRST + HIGHEST])
        lines = (height - 1) * sh + (kh - 1) * args[FIRST + DH] + 1
        top = first * sh - args[FIRST + TOP]
        pad_lines(x + image * h * w * c, h, w, c, top, lines, args[FIRST + BEFORE], line, padded)
        for number in range(c0, c1):
            bias = place(args[BIAS_AT] + number * panel)
            panel_of_tiles(blocks, kinds, min(panel, f - number * panel), bias)
            lines_of_tiles(
                args,
                blocks,
                padded,
                packed + number * kh * kw * c * panel,
                out + (row * ow * f + number * panel),
                first,
                height,
                line,
            )
        row += height


@helper
def phase(
    args: Arguments,
    block: Address,
    padded: Address,
    weights: Address,
    out: Address,
    lines: int,
    cols: int,
    line: int,
    skip: int,
    high: int,
    wide: int,
) -> None:
    c, f, sw, panel = args[FIRST + C], args[FIRST + F], args[FIRST + SW], args[FIRST + PANEL]
    numbers = pointer(block)
    run = wide * c
    if high * run == 0:
        for r in range(lines):
            for col in range(cols):
                zero(out + (r * skip + col * sw * f), numbers[LEFT])
        return
    numbers[W_SEGMENT] = run * panel
    for first in range(0, high, args[FIRST + LINES_BLOCK]):
        numbers[SEGMENTS] = min(args[FIRST + LINES_BLOCK], high - first)
        for q in range(0, run, args[FIRST + RUN_BLOCK]):
            numbers[COUNT] = min(args[FIRST + RUN_BLOCK], run - q)
            flags = 1 if first + q > 0 else 0
            for r in range(lines):
                source = padded + (first * line + q) + r * line
                col = 0
                for kind in range(3):
                    pixels = args[FIRST + TALL + kind] if kind < 2 else 1
                    tiles = (cols - col) // pixels
                    run_row(
                        args[FIRST + PHASE_PARTS + kind],
                        block,
                        source + col * c,
                        weights + (first * run + q) * panel,
                        out + (r * skip + col * sw * f),
                        flags,
                        tiles,
                        pixels * c,
                        pixels * sw * f,
                    )
                    col += tiles * pixels


@helper
def count_below(limit: int, offset: int, step: int) -> int:
    """How many i >= 0 have offset + i * step < limit."""
    return max(0, (limit - offset + step - 1) // step)


@helper
def phases(
    args: Arguments,
    block: Address,
    padded: Address,
    weights: Address,
    image: Address,
    first: int,
    last: int,
    line: int,
) -> None:
    """Lines first <= v < last; phase (a, b) of line v is output line v * SH + a - top."""
    h, w, sh, sw = args[FIRST + H], args[FIRST + W], args[FIRST + SH], args[FIRST + SW]
    top, before, c, f = args[FIRST + TOP], args[FIRST + BEFORE], args[FIRST + C], args[FIRST + F]
    done = 0
    for a in range(sh):
        high = max(0, (args[FIRST + KH] - a + sh - 1) // sh)
        v0, v1 = max(first, count_below(0, a - top, sh)), min(last, count_below(h, a - top, sh))
        for b in range(sw):
            wide = max(0, (args[FIRST + KW] - b + sw - 1) // sw)
            q0, q1 = count_below(0, b - before, sw), count_below(w, b - before, sw)
            if v1 > v0 and q1 > q0:
                skipped = (v0 - first + args[FIRST + HIGH] - high) * line
                source = padded + (skipped + (q0 + args[FIRST + WIDE] - wide) * c)
                target = image + (((v0 * sh + a - top) * w + q0 * sw + b - before) * f)
                phase(
                    args,
                    block,
                    source,
                    weights + done * c * args[FIRST + PANEL],
                    target,
                    v1 - v0,
                    q1 - q0,
                    line,
                    sh * w * f,
                    high,
                    wide,
                )
            done += high * wide


def strided_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The gradient of a strided convolution.

    Every pixel of the output belongs to one of SH * SW phases, and within a phase the gradient is a
    convolution of stride one with every SH-th and SW-th tap.  Here C is the number of output
    channels of the convolution, F that of its input channels.  Rows are lines of dy (and some more)
    of all images, columns are panels of input channels.
    """
    dy, packed, out = args[0], args[1], args[2]
    h, w, oh, ow = args[FIRST + H], args[FIRST + W], args[FIRST + OH], args[FIRST + OW]
    c, f, high = args[FIRST + C], args[FIRST + F], args[FIRST + HIGH]
    lines, wide, panel = args[FIRST + PHASE_LINES], args[FIRST + WIDE], args[FIRST + PANEL]
    scratch = args[FIRST + PHASE_SCRATCH] + worker * args[FIRST + PHASE_SCRATCH + 1]
    block = region(scratch, "int64")
    padded = region(scratch + WORDS * 8, DTYPE)
    line = (args[FIRST + PHASE_COLS] + wide - 1) * c
    taps = args[FIRST + KH] * args[FIRST + KW]
    # From a segment of weights to the next it is as far as a phase has taps (see `phase`).
    strides(block, line, 0, 0, 0, c, 1, panel, args[FIRST + SW] * f)
    numbers = pointer(block)
    numbers[BASE] = numbers[BIAS] = 0
    numbers[REPEATS] = 1
    row = r0
    while row < r1:
        image = row // lines
        first = row - image * lines
        height = min(min(r1 - row, lines - first), args[FIRST + HIGHEST])
        source = dy + image * oh * ow * c
        top = first - (high - 1)
        pad_lines(source, oh, ow, c, top, height + high - 1, wide - 1, line, padded)
        for number in range(c0, c1):
            numbers[LEFT] = min(panel, f - number * panel)
            phases(
                args,
                block,
                padded,
                packed + number * taps * c * panel,
                out + (image * h * w * f + number * panel),
                first,
                first + height,
                line,
            )
        row += height
