# SPDX-License-Identifier: Apache-2.0
"""The kernel of the filter gradient (NHWC); see jit/library/conv_filter.py.

Sizes are numbers of the argument block, behind its buffers: the constants below say which.
"""

from __future__ import annotations

from .conv_kernels import pad_lines
from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Pointer,
    Scalar,
    copy,
    helper,
    pointer,
    region,
    uint32,
    zero,
)
from .tile_kernels import BASE, BIAS, COUNT, LEFT, REPEATS, SEGMENTS, WORDS, run_row, strides

DTYPE: str = GIVEN
ZERO: Scalar = GIVEN
FROM_MAXIMA: bool = GIVEN  # gradients come from those of pooled features and places of maxima
PLACES_AT: int = GIVEN  # the numbers of buffers
OUT_AT: int = GIVEN
FIRST: int = GIVEN  # how many buffers there are

# The numbers: images, sizes of the input and the gradient, zeros above and on the left of the input
# (negative ones drop pixels), images of a chunk.
N, H, W, OH, OW, TOP, BEFORE, IMAGES = 0, 1, 2, 3, 4, 5, 6, 7
# Pooled sizes, and zeros above and on the left of what is pooled; its windows and strides.
POH, POW, PTOP, PLEFT, PH, PW, PSH, PSW = 8, 9, 10, 11, 12, 13, 14, 15
# Channels, features, and those of a panel; the window, its strides and dilations.
C, F, PANEL, KH, KW, SH, SW, DH, DW = 16, 17, 18, 19, 20, 21, 22, 23, 24
# Output lines taken at a time; elements from a pixel's gradient to the next.
LINES, ROW = 25, 26
# Whether gradients are packed, and whether sums are taken tap by tap, with the pixels that have it;
# else line by line of the window, over lines of the input with zeros around them, where channels
# are few.
PACKS, BY_TAP = 27, 28
HEIGHTS = 29  # the rows of three tiles, tallest first
SCRATCH, PARTS = 32, 34


@helper
def pack_gradient(
    dy: Address, packed: Address, pixels: int, width: int, panel: int, features: int
) -> None:
    """The gradient of a panel of features: packed[pixel, f] for some lines of an image."""
    if width < panel:
        zero(packed, pixels * panel)
    for i in range(pixels):
        copy(packed + i * panel, dy + i * features, width)


@helper
def spread_window(value: Pointer, place: Pointer, target: Pointer, width: int, code: int) -> None:
    for f in range(width):
        target[f] += value[f] if place[f] == code else ZERO


@helper
def pack_maxima(
    args: Arguments,
    dy: Address,
    places: Address,
    packed: Address,
    first: int,
    lines: int,
    width: int,
) -> None:
    """The same from the gradient of pooled features and the places of their maxima."""
    ow, panel, columns = args[FIRST + OW], args[FIRST + PANEL], args[FIRST + POW]
    zero(packed, lines * ow * panel)
    for row in range(args[FIRST + POH]):
        for i in range(args[FIRST + PH]):
            line = row * args[FIRST + PSH] - args[FIRST + PTOP] + i - first
            if line < 0 or line >= lines:
                continue
            for col in range(columns):
                at = (row * columns + col) * args[FIRST + F]
                value, place = pointer(dy + at), pointer(places + at)
                for j in range(args[FIRST + PW]):
                    q = col * args[FIRST + PSW] - args[FIRST + PLEFT] + j
                    if q >= 0 and q < ow:
                        target = pointer(packed + (line * ow + q) * panel)
                        code = uint32(i * args[FIRST + PW] + j)
                        spread_window(value, place, target, width, code)


@helper
def tiles(
    args: Arguments,
    block: Address,
    run: int,
    source: Address,
    packed: Address,
    target: Address,
    lines: int,
    columns: int,
) -> None:
    """out[p, f] += the sum over lines and columns of source[…, p] * packed[…, f], p < run."""
    numbers = pointer(block)
    numbers[SEGMENTS] = lines
    numbers[COUNT] = columns
    features = args[FIRST + F]
    done = 0
    for kind in range(3):
        height = args[FIRST + HEIGHTS + kind]
        count = (run - done) // height
        out, next_out = target + done * features, height * features
        part = args[FIRST + PARTS + kind]
        run_row(part, block, source + done, packed, out, 1, count, height, next_out)
        done += count * height


@helper
def inside(start: int, step: int, count: int, size: int) -> tuple[int, int]:
    """The first and the last (excluded) i < count with 0 <= start + i * step < size."""
    return max(0, (step - 1 - start) // step), min(count, (size - start + step - 1) // step)


@helper
def sum_by_tap(
    args: Arguments,
    block: Address,
    image: Address,
    packed: Address,
    out: Address,
    first: int,
    lines: int,
) -> None:
    c, w, ow = args[FIRST + C], args[FIRST + W], args[FIRST + OW]
    sh, sw, kw = args[FIRST + SH], args[FIRST + SW], args[FIRST + KW]
    for i in range(args[FIRST + KH]):
        y = first * sh - args[FIRST + TOP] + i * args[FIRST + DH]
        r0, r1 = inside(y, sh, lines, args[FIRST + H])
        for j in range(kw):
            x = j * args[FIRST + DW] - args[FIRST + BEFORE]
            q0, q1 = inside(x, sw, ow, w)
            if r0 < r1 and q0 < q1:
                source = image + ((y + r0 * sh) * w + x + q0 * sw) * c
                target = out + (i * kw + j) * c * args[FIRST + F]
                gradient = packed + (r0 * ow + q0) * args[FIRST + ROW]
                tiles(args, block, c, source, gradient, target, r1 - r0, q1 - q0)


@helper
def sum_by_line(
    args: Arguments,
    block: Address,
    image: Address,
    memory: Address,
    packed: Address,
    out: Address,
    first: int,
    lines: int,
    line: int,
) -> None:
    c, h, sh, dh = args[FIRST + C], args[FIRST + H], args[FIRST + SH], args[FIRST + DH]
    kh, ow = args[FIRST + KH], args[FIRST + OW]
    top, padded_lines = first * sh - args[FIRST + TOP], (lines - 1) * sh + (kh - 1) * dh + 1
    before, w = args[FIRST + BEFORE], args[FIRST + W]
    pad_lines(image, h, w, c, top, padded_lines, before, line, memory)
    run = args[FIRST + KW] * c
    for i in range(kh):
        r0, r1 = inside(top + i * dh, sh, lines, h)
        if r0 < r1:
            source = memory + (r0 * sh + i * dh) * line
            gradient = packed + r0 * ow * args[FIRST + ROW]
            target = out + i * run * args[FIRST + F]
            tiles(args, block, run, source, gradient, target, r1 - r0, ow)


@helper
def block_of_tiles(args: Arguments, block: Address, line: int) -> None:
    """What tiles get that is the same for all of them."""
    sh, sw, row = args[FIRST + SH], args[FIRST + SW], args[FIRST + ROW]
    c, f, ow = args[FIRST + C], args[FIRST + F], args[FIRST + OW]
    strides(block, sh * line, ow * row, 0, 0, 1, sw * c, row, f)
    numbers = pointer(block)
    numbers[BIAS] = 0
    numbers[BASE] = 0
    numbers[REPEATS] = 1


@helper
def sum_lines(
    args: Arguments,
    block: Address,
    packed: Address,
    source: Address,
    gradient: Address,
    target: Address,
    first: int,
    lines: int,
    width: int,
    line: int,
) -> None:
    """Adds what some lines of an image give."""
    panel, ow = args[FIRST + PANEL], args[FIRST + OW]
    if args[FIRST + PACKS] > 0:
        if not FROM_MAXIMA:
            pack_gradient(gradient, packed, lines * ow, width, panel, args[FIRST + F])
        gradient = packed
    if args[FIRST + BY_TAP] > 0:
        sum_by_tap(args, block, source, gradient, target, first, lines)
    else:
        padded = packed + (args[FIRST + LINES] * ow * panel + 15) // 16 * 16
        sum_by_line(args, block, source, padded, gradient, target, first, lines, line)


def filter_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are chunks of `images` images, columns are panels of features.  Every chunk has its own
    sums; they are added afterwards, in order.
    """
    x, dy, places, out = args[0], args[1], args[PLACES_AT], args[OUT_AT]
    n, h, w, oh = args[FIRST + N], args[FIRST + H], args[FIRST + W], args[FIRST + OH]
    ow, c, f, panel = args[FIRST + OW], args[FIRST + C], args[FIRST + F], args[FIRST + PANEL]
    kw, images = args[FIRST + KW], args[FIRST + IMAGES]
    rows = args[FIRST + KH] * kw * c
    scratch = args[FIRST + SCRATCH] + worker * args[FIRST + SCRATCH + 1]
    block = region(scratch, "int64")
    packed = region(scratch + WORDS * 8, DTYPE)
    line = ((ow - 1) * args[FIRST + SW] + (kw - 1) * args[FIRST + DW] + 1) * c
    if args[FIRST + BY_TAP] > 0:
        line = w * c
    block_of_tiles(args, block, line)
    for chunk in range(r0, r1):
        for number in range(c0, c1):
            width = min(panel, f - number * panel)
            pointer(block)[LEFT] = width
            target = out + (chunk * rows * f + number * panel)
            for row in range(rows):
                zero(target + row * f, width)
            for image in range(chunk * images, min(n, (chunk + 1) * images)):
                source = x + image * h * w * c
                for first in range(0, oh, args[FIRST + LINES]):
                    lines = min(args[FIRST + LINES], oh - first)
                    gradient = dy
                    if FROM_MAXIMA:
                        pooled = args[FIRST + POH] * args[FIRST + POW] * f
                        at = image * pooled + number * panel
                        pack_maxima(args, dy + at, places + at, packed, first, lines, width)
                    else:
                        gradient = dy + (((image * oh + first) * ow) * f + number * panel)
                    sum_lines(
                        args, block, packed, source, gradient, target, first, lines, width, line
                    )
