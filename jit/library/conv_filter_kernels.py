# SPDX-License-Identifier: Apache-2.0
"""The kernel of the filter gradient (NHWC); see jit/library/conv_filter.py."""

from __future__ import annotations

from .conv_kernels import pad_lines
from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Pointer,
    Scalar,
    copy,
    fma_tile,
    helper,
    pointer,
    region,
    uint32,
    zero,
)

DTYPE: str = GIVEN
LANES: int = GIVEN  # elements of a vector
VECTORS: int = GIVEN  # vectors across a panel of features
PANEL: int = GIVEN  # features of a panel
EDGE: int = GIVEN  # -1 where all panels are whole, else 0
RAGGED: int = GIVEN  # 1 where rows of the gradient are read that are not whole panels, else 0
ZERO: Scalar = GIVEN
C: int = GIVEN  # channels
F: int = GIVEN  # features
KH: int = GIVEN  # the window, its strides and dilations, along height and width
KW: int = GIVEN
SH: int = GIVEN
SW: int = GIVEN
DH: int = GIVEN
DW: int = GIVEN
# Tap by tap, with the pixels that have it; else line by line of the window, over lines of the input
# with zeros around them, where channels are few.
BY_TAP: bool = GIVEN
RUN: int = GIVEN  # elements of a tap, or of a line of the window, that are summed for
PIXELS: int = GIVEN  # rows of a register tile, and those of the last
REST: int = GIVEN
LINES: int = GIVEN  # output lines taken at a time
LINE: int = GIVEN  # elements from a line of the input to the next, 0 where that is not known
OUT_LINE: int = GIVEN  # pixels of a line of the output, 0 where that is not known
ROW: int = GIVEN  # elements from a pixel's gradient to the next
PACKS: bool = GIVEN  # gradients are packed
FROM_MAXIMA: bool = GIVEN  # gradients come from those of pooled features and places of maxima
PH: int = GIVEN  # the pooling's window and strides
PW: int = GIVEN
PSH: int = GIVEN
PSW: int = GIVEN
PLACES_AT: int = GIVEN  # the numbers of buffers
OUT_AT: int = GIVEN


@helper
def pack_gradient(dy: Address, packed: Address, pixels: int, width: int) -> None:
    """The gradient of a panel of features: packed[pixel, f] for some lines of an image."""
    if width == PANEL:
        for i in range(pixels):
            copy(packed + i * PANEL, dy + i * F, PANEL)
    else:
        zero(packed, pixels * PANEL)
        for i in range(pixels):
            copy(packed + i * PANEL, dy + i * F, width)


@helper
def spread_window(value: Pointer, place: Pointer, target: Pointer, width: int, code: int) -> None:
    for f in range(width):
        target[f] += value[f] if place[f] == code else ZERO


@helper
def pack_maxima(
    dy: Address, places: Address, packed: Address, first: int, lines: int, ow: int, width: int,
    poh: int, pow: int, ptop: int, pleft: int,
) -> None:  # fmt: skip
    """The same from the gradient of pooled features and the places of their maxima."""
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


@helper
def tiles(
    source: Address, packed: Address, target: Address, width: int, lines: int, columns: int,
    line: int, ow: int,
) -> None:  # fmt: skip
    """out[p, f] += the sum over lines and columns of source[…, p] * packed[…, f], p < RUN."""
    p = 0
    while p + PIXELS <= RUN:
        fma_tile(
            PIXELS, VECTORS, LANES, EDGE or width, RAGGED, source + p, packed, target + p * F, 0, 1,
            lines, SH * (LINE or line), (OUT_LINE or ow) * ROW, columns, 1, SW * C, ROW, F,
        )  # fmt: skip
        p += PIXELS
    if REST:
        fma_tile(
            REST, VECTORS, LANES, EDGE or width, RAGGED, source + p, packed, target + p * F, 0, 1,
            lines, SH * (LINE or line), (OUT_LINE or ow) * ROW, columns, 1, SW * C, ROW, F,
        )  # fmt: skip


@helper
def inside(start: int, step: int, count: int, size: int) -> tuple[int, int]:
    """The first and the last (excluded) i < count with 0 <= start + i * step < size."""
    return max(0, (step - 1 - start) // step), min(count, (size - start + step - 1) // step)


@helper
def sum_by_tap(
    image: Address, packed: Address, out: Address, width: int, first: int, lines: int, h: int,
    w: int, top: int, before: int, ow: int, line: int,
) -> None:  # fmt: skip
    for i in range(KH):
        y = first * SH - top + i * DH
        r0, r1 = inside(y, SH, lines, h)
        for j in range(KW):
            q0, q1 = inside(j * DW - before, SW, ow, w)
            if r0 < r1 and q0 < q1:
                source = image + ((y + r0 * SH) * w + j * DW - before + q0 * SW) * C
                target = out + (i * KW + j) * C * F
                gradient = packed + (r0 * ow + q0) * ROW
                tiles(source, gradient, target, width, r1 - r0, q1 - q0, line, ow)


@helper
def sum_by_line(
    image: Address, memory: Address, packed: Address, out: Address, width: int, first: int,
    lines: int, h: int, w: int, top: int, before: int, ow: int, line: int,
) -> None:  # fmt: skip
    padded_lines = (lines - 1) * SH + (KH - 1) * DH + 1
    pad_lines(image, h, w, first * SH - top, padded_lines, before, line, memory)
    for i in range(KH):
        r0, r1 = inside(first * SH - top + i * DH, SH, lines, h)
        if r0 < r1:
            source = memory + (r0 * SH + i * DH) * line
            gradient = packed + r0 * ow * ROW
            tiles(source, gradient, out + i * RUN * F, width, r1 - r0, ow, line, ow)


def filter_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are chunks of `images` images, columns are panels of features.  Every chunk has its own
    sums; they are added afterwards, in order.
    """
    x, dy, places, out = args[0], args[1], args[PLACES_AT], args[OUT_AT]
    p = OUT_AT + 1
    n, h, w, oh, ow = args[p], args[p + 1], args[p + 2], args[p + 3], args[p + 4]
    top, before, images = args[p + 5], args[p + 6], args[p + 7]
    poh, pow, ptop, pleft = args[p + 8], args[p + 9], args[p + 10], args[p + 11]
    packed = region(args[p + 12] + worker * args[p + 13], DTYPE)
    padded = packed + (LINES * ow * PANEL + 15) // 16 * 16
    line = w * C if BY_TAP else ((ow - 1) * SW + (KW - 1) * DW + 1) * C
    for chunk in range(r0, r1):
        for panel in range(c0, c1):
            width = min(PANEL, F - panel * PANEL)
            target = out + (chunk * KH * KW * C * F + panel * PANEL)
            for row in range(KH * KW * C):
                zero(target + row * F, width)
            for image in range(chunk * images, min(n, (chunk + 1) * images)):
                source = x + image * h * w * C
                for first in range(0, oh, LINES):
                    lines = min(LINES, oh - first)
                    if FROM_MAXIMA:
                        at = image * poh * pow * F + panel * PANEL
                        gradient = packed
                        pack_maxima(
                            dy + at, places + at, packed, first, lines, ow, width,
                            poh, pow, ptop, pleft,
                        )  # fmt: skip
                    else:
                        gradient = dy + (((image * oh + first) * ow) * F + panel * PANEL)
                        if PACKS:
                            pack_gradient(gradient, packed, lines * ow, width)
                            gradient = packed
                    if BY_TAP:
                        sum_by_tap(
                            source, gradient, target, width, first, lines, h, w, top, before, ow,
                            line,
                        )  # fmt: skip
                    else:
                        sum_by_line(
                            source, padded, gradient, target, width, first, lines, h, w, top,
                            before, ow, line,
                        )  # fmt: skip
