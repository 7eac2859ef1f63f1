# SPDX-License-Identifier: Apache-2.0
"""The kernels of convolutions whose channels are independent; see jit/library/channel_windows.py.

Images are NHWC and filters [height, width, channels].  Sizes, windows, strides and dilations are
parameters.  A window is a list of its taps within the image: offsets of their pixels from the first
one, and of their weights.  Windows side by side that have the same taps share the list.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    helper,
    pointer,
    region,
    window_dot,
    window_taps,
    zero,
)

LANES: int = GIVEN  # elements of a vector
# Parameters: sizes of the image and of what windows give, channels, what is padded above and on the
# left; height and width of the filter, its strides and dilations; those of gradients of filters
# begin with images, and lines of windows that a row of the launch adds up.
H, W, OH, OW, C, TOP, LEFT, KH, KW, SH, SW, DH, DW, SCRATCH = range(3, 17)
IMAGES, LINES, MEMORY = 16, 17, 18


@helper
def enter(
    offsets: Address,
    numbers: Address,
    rows: int,
    row_step: int,
    row_number: int,
    cols: int,
    col_step: int,
    col_number: int,
    first: int,
) -> None:
    """Lists rows times cols taps, and how far it is from one to the next in pixels and weights."""
    offset, number = pointer(offsets), pointer(numbers)
    k = 0
    for i in range(rows):
        at, tap = i * row_step, first + i * row_number
        for _ in range(cols):
            offset[k] = at
            number[k] = tap
            at, tap, k = at + col_step, tap + col_number, k + 1


@helper
def first_inside(before: int, dilation: int) -> int:
    """The first tap that is not in the padding before the image."""
    return max(0, (before + dilation - 1) // dilation)


@helper
def end_inside(room: int, dilation: int, taps: int) -> int:
    """Behind the last tap that is within the room behind the first tap's pixel."""
    return min(taps, max(0, (room + dilation - 1) // dilation))


@helper
def alike(left: int, w: int, reach: int, sw: int, most: int) -> int:
    """How many windows from that at a pixel on are whole, if that is; else one."""
    is_whole = left >= 0 and left + reach <= w
    return min((w - reach - left) // sw + 1, most) if is_whole else 1


def windows(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: images, filters, result.  Rows are lines of windows."""
    h, w, oh, ow, c = args[H], args[W], args[OH], args[OW], args[C]
    kh, kw, sw, dh, dw = args[KH], args[KW], args[SW], args[DH], args[DW]
    offsets = region(args[SCRATCH] + worker * args[SCRATCH + 1], "int64")
    numbers = offsets + kh * kw
    for row in range(r0, r1):
        image = row // oh
        top = (row - image * oh) * args[SH] - args[TOP]
        i0, i1 = first_inside(-top, dh), end_inside(h - top, dh, kh)
        col = 0
        while col < ow:
            left = col * sw - args[LEFT]
            same = alike(left, w, (kw - 1) * dw + 1, sw, ow - col)
            j0, j1 = first_inside(-left, dw), end_inside(w - left, dw, kw)
            out = args[2] + (row * ow + col) * c
            if i0 < i1 and j0 < j1:
                first = (i0 * kw + j0) * c
                enter(offsets, numbers, i1 - i0, dh * w * c, kw * c, j1 - j0, dw * c, c, first)
                x = args[0] + ((image * h + top + i0 * dh) * w + left + j0 * dw) * c
                count = (i1 - i0) * (j1 - j0)
                window_dot(LANES, x, offsets, args[1], numbers, count, out, c, same, sw * c, c)
            else:
                zero(out, same * c)
            col += same


def spread_windows(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The gradient of images.  Args: gradient of windows, filters, result.

    Rows are lines of images.  A pixel was at every tap whose distance to it windows are apart by:
    every SH-th and SW-th of them, the first of which the pixel's place tells.  Along an axis either
    the stride or the dilation is 1.
    """
    h, w, oh, ow, c = args[H], args[W], args[OH], args[OW], args[C]
    kh, kw, sh, sw, dh, dw = args[KH], args[KW], args[SH], args[SW], args[DH], args[DW]
    offsets = region(args[SCRATCH] + worker * args[SCRATCH + 1], "int64")
    numbers = offsets + kh * kw
    for row in range(r0, r1):
        image = row // h
        y = row - image * h + args[TOP]
        i = y % sh
        # Window `top` had the pixel at tap i, and the one DH before it at tap i + SH.
        top = (y - i * dh) // sh
        i0, i1 = first_inside(top - oh + 1, dh), end_inside(top + 1, dh, (kh - i + sh - 1) // sh)
        for phase in range(min(sw, w)):
            j = (phase + args[LEFT]) % sw
            taps = max(0, (kw - j + sw - 1) // sw)
            col = phase
            while col < w:
                left = (col + args[LEFT] - j * dw) // sw
                j0, j1 = first_inside(left - ow + 1, dw), end_inside(left + 1, dw, taps)
                same = 1
                if j0 == 0 and j1 == taps:
                    same = max(1, min((w - col + sw - 1) // sw, ow - left))
                out = args[2] + (row * w + col) * c
                if i0 < i1 and j0 < j1:
                    first = ((i + i0 * sh) * kw + j + j0 * sw) * c
                    enter(
                        offsets,
                        numbers,
                        i1 - i0,
                        -dh * ow * c,
                        sh * kw * c,
                        j1 - j0,
                        -dw * c,
                        sw * c,
                        first,
                    )
                    dy = args[0] + ((image * oh + top - i0 * dh) * ow + left - j0 * dw) * c
                    count = (i1 - i0) * (j1 - j0)
                    window_dot(LANES, dy, offsets, args[1], numbers, count, out, c, same, c, sw * c)
                else:
                    for n in range(same):
                        zero(out + n * sw * c, c)
                col += same * sw


def taps(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The gradient of filters.  Args: images, gradient of windows, sums of so many lines each.

    Rows are groups of lines, each of which has its own sums.
    """
    h, w, oh, ow, c = args[H], args[W], args[OH], args[OW], args[C]
    kh, kw, sw, dh, dw = args[KH], args[KW], args[SW], args[DH], args[DW]
    offsets = region(args[MEMORY] + worker * args[MEMORY + 1], "int64")
    numbers = offsets + kh * kw
    for row in range(r0, r1):
        sums = args[2] + row * kh * kw * c
        zero(sums, kh * kw * c)
        for line in range(row * args[LINES], min((row + 1) * args[LINES], args[IMAGES] * oh)):
            image = line // oh
            top = (line - image * oh) * args[SH] - args[TOP]
            i0, i1 = first_inside(-top, dh), end_inside(h - top, dh, kh)
            col = 0
            while col < ow:
                left = col * sw - args[LEFT]
                same = alike(left, w, (kw - 1) * dw + 1, sw, ow - col)
                j0, j1 = first_inside(-left, dw), end_inside(w - left, dw, kw)
                if i0 < i1 and j0 < j1:
                    first = (i0 * kw + j0) * c
                    enter(offsets, numbers, i1 - i0, dh * w * c, kw * c, j1 - j0, dw * c, c, first)
                    x = args[0] + ((image * h + top + i0 * dh) * w + left + j0 * dw) * c
                    dy = args[1] + (line * ow + col) * c
                    count = (i1 - i0) * (j1 - j0)
                    window_taps(LANES, x, offsets, dy, numbers, count, sums, c, same, sw * c, c)
                col += same
