# SPDX-License-Identifier: Apache-2.0
"""The kernels of pooling and of its gradients (NHWC).

See jit/library/pooling.py, and jit/library/max_pool_argmax.py for those with places of maxima.
Sizes, windows and strides are parameters.  A window is a list of offsets from its first element,
with a number for each, which is that within the whole window: y * width + x.  The list of a whole
window is made once; windows at edges get their own.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    float64,
    helper,
    pointer,
    region,
    spread_mean,
    spread_places,
    window_max,
    window_mean,
    window_places,
    zero,
)

DTYPE: str = GIVEN
LANES: int = GIVEN  # elements of a vector
KIND: str = GIVEN  # "max", "mean", or "places": the maximum with its place, or a gradient by places
OUT_AT: int = GIVEN  # the number of the last buffer, a result; parameters are behind it
BYTES: int = GIVEN  # of an element
CHANNELS: int = GIVEN  # channels of a tile of gradients at most


@helper
def enter(
    offsets: Address, numbers: Address, rows: int, cols: int, line: int, c: int, first: int, kw: int
) -> None:
    """Lists the elements of a window, the first of which has a number."""
    offset, number = pointer(offsets), pointer(numbers)
    at, n, x = 0, first, 0
    for k in range(rows * cols):
        offset[k] = at
        number[k] = n
        at, n, x = at + c, n + 1, x + 1
        if x == cols:
            at, n, x = at + line - cols * c, n + kw - cols, 0


@helper
def alike(begin: int, kw: int, sw: int, w: int, most: int) -> int:
    """How many windows from that at a column on are whole, if that is; else one."""
    is_whole = begin >= 0 and begin + kw <= w
    return min((w - kw - begin) // sw + 1, most) if is_whole else 1


@helper
def enter_at(
    offsets: Address,
    numbers: Address,
    rows: int,
    skipped: int,
    begin: int,
    kh: int,
    kw: int,
    w: int,
    c: int,
    is_whole: bool,
) -> int:
    """How many elements the window at a column has, `skipped` of its lines being above the image.

    Lists them, but for those of a whole window, where the lists have them already.
    """
    x0, x1 = max(begin, 0), min(begin + kw, w)
    count = rows * (x1 - x0)
    if count < kh * kw or not is_whole:
        enter(offsets, numbers, rows, x1 - x0, w * c, c, skipped * kw + x0 - begin, kw)
    return count


def pool(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are lines of windows."""
    h, w, oh, ow = args[OUT_AT + 1], args[OUT_AT + 2], args[OUT_AT + 3], args[OUT_AT + 4]
    c, top, left = args[OUT_AT + 5], args[OUT_AT + 6], args[OUT_AT + 7]
    kh, kw, sh, sw = args[OUT_AT + 8], args[OUT_AT + 9], args[OUT_AT + 10], args[OUT_AT + 11]
    memory = args[OUT_AT + 12] + worker * args[OUT_AT + 13]
    offsets, numbers = region(memory, "int64"), region(memory, "int64") + kh * kw
    is_whole = False  # the lists are those of a whole window
    for row in range(r0, r1):
        image = row // oh
        y = (row - image * oh) * sh - top
        y0, y1 = max(y, 0), min(y + kh, h)
        col = 0
        while col < ow:
            i = col * sw - left
            x0, same = max(i, 0), alike(i, kw, sw, w, ow - col)
            count = enter_at(offsets, numbers, y1 - y0, y0 - y, i, kh, kw, w, c, is_whole)
            is_whole = count == kh * kw
            x, out = args[0] + ((image * h + y0) * w + x0) * c, args[1] + (row * ow + col) * c
            if KIND == "max":
                window_max(LANES, x, offsets, count, out, c, same, sw * c, c)
            elif KIND == "mean":
                scale = float64(1) / count
                window_mean(LANES, x, offsets, count, scale, out, c, same, sw * c, c)
            else:
                places = args[2] + (row * ow + col) * c
                window_places(LANES, x, offsets, numbers, count, out, places, c, same, sw * c, c)
            col += same


def gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are images, columns are channels: windows of one image may overlap.

    Buffers: for "max" the input; gradients of windows; for "places" those; the result.
    """
    h, w, oh, ow = args[OUT_AT + 1], args[OUT_AT + 2], args[OUT_AT + 3], args[OUT_AT + 4]
    c, top, left = args[OUT_AT + 5], args[OUT_AT + 6], args[OUT_AT + 7]
    kh, kw, sh, sw = args[OUT_AT + 8], args[OUT_AT + 9], args[OUT_AT + 10], args[OUT_AT + 11]
    memory = args[OUT_AT + 12] + worker * args[OUT_AT + 13]
    offsets, numbers = region(memory, "int64"), region(memory, "int64") + kh * kw
    is_whole = False  # the lists are those of a whole window
    channels = c1 - c0
    for image in range(r0, r1):
        clear(args[OUT_AT] + image * h * w * c, h * w, c, c0, channels)
        for row in range(oh):
            y = row * sh - top
            y0, y1 = max(y, 0), min(y + kh, h)
            col = 0
            while col < ow:
                i = col * sw - left
                x0, same = max(i, 0), alike(i, kw, sw, w, ow - col)
                count = enter_at(offsets, numbers, y1 - y0, y0 - y, i, kh, kw, w, c, is_whole)
                is_whole = count == kh * kw
                source = ((image * oh + row) * ow + col) * c + c0
                target = ((image * h + y0) * w + x0) * c + c0
                dy = args[1] + source if KIND == "max" else args[0] + source
                out = args[OUT_AT] + target
                if KIND == "mean":
                    scale = float64(1) / count
                    spread_mean(LANES, dy, offsets, count, scale, out, channels, same, sw * c, c)
                elif KIND == "places":
                    places = args[1] + source
                    spread_places(
                        LANES, dy, places, offsets, numbers, count, out, channels, same, sw * c, c
                    )
                else:
                    # The maxima are found again, a window at a time.
                    same = 1
                    best = region(memory + 16 * kh * kw, DTYPE)
                    places = region(memory + 16 * kh * kw + BYTES * CHANNELS, "uint8")
                    x = args[0] + target
                    window_places(
                        LANES, x, offsets, numbers, count, best, places, channels, 1, 0, 0
                    )
                    spread_places(
                        LANES, dy, places, offsets, numbers, count, out, channels, 1, 0, 0
                    )
                col += same


@helper
def clear(image: Address, pixels: int, c: int, c0: int, channels: int) -> None:
    """Zeros for some channels of all pixels."""
    if channels == c:
        zero(image, pixels * c)
    else:
        for pixel in range(pixels):
            zero(image + (pixel * c + c0), channels)
