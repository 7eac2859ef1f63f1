# SPDX-License-Identifier: Apache-2.0
"""The kernels of pooling and of its gradients (NHWC).

See jit/library/pooling.py, and jit/library/max_pool_argmax.py for those with places of maxima.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Arguments,
    Pointer,
    Scalar,
    float64,
    helper,
    pointer,
    region,
    uint32,
    zero,
)

DTYPE: str = GIVEN
KH: int = GIVEN  # the window and its strides, along height and width
KW: int = GIVEN
SH: int = GIVEN
SW: int = GIVEN
AVERAGE: bool = GIVEN  # windows are averaged, else their maximum is taken
CHANNELS: int = GIVEN  # channels of a tile at most
ZERO: Scalar = GIVEN
LOWEST: Scalar = GIVEN  # the least finite number
INFINITY: Scalar = GIVEN


@helper
def window(position: int, stride: int, before: int, length: int, size: int) -> tuple[int, int]:
    """The part of a window that lies inside of the input."""
    start = position * stride - before
    return max(start, 0), min(start + length, size)


@helper
def initial(x: Scalar) -> Scalar:
    """Of NaN and minus infinity alone the maximum is the least finite number, as in TensorFlow."""
    return x if AVERAGE else (x if x > LOWEST else LOWEST)


@helper
def combine(old: Scalar, new: Scalar) -> Scalar:
    return old + new if AVERAGE else (new if new > old else old)


@helper
def whole(x: Pointer, out: Pointer, source: int, target: int, line: int, c: int) -> None:
    """A window without an edge: all its elements of a channel are combined in a register."""
    for f in range(c):
        value = initial(x[source + f])
        for y in range(KH):
            for i in range(KW):
                if y + i > 0:
                    value = combine(value, x[source + y * line + i * c + f])
        out[target + f] = value


@helper
def part(
    x: Pointer, out: Pointer, source: int, target: int, line: int, c: int, rows: int, cols: int
) -> None:
    for f in range(c):
        out[target + f] = initial(x[source + f])
    for y in range(rows):
        for i in range(cols):
            if y + i > 0:
                for f in range(c):
                    out[target + f] = combine(out[target + f], x[source + y * line + i * c + f])


def pool(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    x, out = pointer(args[0]), pointer(args[1])
    h, w, oh, ow, c, top, left = args[2], args[3], args[4], args[5], args[6], args[7], args[8]
    for row in range(r0, r1):
        image = row // oh
        y0, y1 = window(row - image * oh, SH, top, KH, h)
        for col in range(ow):
            x0, x1 = window(col, SW, left, KW, w)
            source, target = ((image * h + y0) * w + x0) * c, (row * ow + col) * c
            if y1 - y0 == KH and x1 - x0 == KW:
                whole(x, out, source, target, w * c, c)
            else:
                part(x, out, source, target, w * c, c, y1 - y0, x1 - x0)
            if AVERAGE:
                scale = float64(1) / ((y1 - y0) * (x1 - x0))
                for f in range(c):
                    out[target + f] = out[target + f] * scale


def max_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are images, columns are channels: windows of one image may overlap."""
    x, dy, out = pointer(args[0]), pointer(args[1]), pointer(args[2])
    h, w, oh, ow, c, top, left = args[3], args[4], args[5], args[6], args[7], args[8], args[9]
    memory = region(args[10] + worker * args[11], DTYPE)
    best, left_over = pointer(memory), pointer(memory + CHANNELS)
    count = c1 - c0
    for image in range(r0, r1):
        for pixel in range(image * h * w, (image + 1) * h * w):
            zero(args[2] + (pixel * c + c0), count)
        for row in range(oh):
            y0, y1 = window(row, SH, top, KH, h)
            for col in range(ow):
                x0, x1 = window(col, SW, left, KW, w)
                source = ((image * h + y0) * w + x0) * c + c0
                for f in range(count):
                    best[f] = x[source + f]
                for y in range(y0, y1):
                    for i in range(x0, x1):
                        source = ((image * h + y) * w + i) * c + c0
                        for f in range(count):
                            best[f] = x[source + f] if x[source + f] > best[f] else best[f]
                gradient = ((image * oh + row) * ow + col) * c + c0
                for f in range(count):
                    left_over[f] = dy[gradient + f]
                for y in range(y0, y1):
                    for i in range(x0, x1):
                        source = ((image * h + y) * w + i) * c + c0
                        for f in range(count):
                            # Once given away, nothing is left for later elements.  NaN is the
                            # best only where it comes first.
                            hit = (x[source + f] == best[f]) | (best[f] != best[f])
                            given = left_over[f] if hit else ZERO
                            left_over[f] = ZERO if hit else left_over[f]
                            out[source + f] += given


def average_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    dy, out = pointer(args[0]), pointer(args[1])
    h, w, oh, ow, c, top, left = args[2], args[3], args[4], args[5], args[6], args[7], args[8]
    count = c1 - c0
    for image in range(r0, r1):
        for pixel in range(image * h * w, (image + 1) * h * w):
            zero(args[1] + (pixel * c + c0), count)
        for row in range(oh):
            y0, y1 = window(row, SH, top, KH, h)
            for col in range(ow):
                x0, x1 = window(col, SW, left, KW, w)
                scale = float64(1) / ((y1 - y0) * (x1 - x0))
                gradient = ((image * oh + row) * ow + col) * c + c0
                for y in range(y0, y1):
                    for i in range(x0, x1):
                        source = ((image * h + y) * w + i) * c + c0
                        for f in range(count):
                            out[source + f] += dy[gradient + f] * scale


# With places.  The maximum is the least finite number if there are only NaN and minus infinity, but
# its place is that of the first element, unless another is larger: where a NaN comes first it keeps
# the place.


@helper
def whole_with_places(
    x: Pointer, out: Pointer, places: Pointer, source: int, target: int, line: int, c: int
) -> None:
    """A window without an edge: all its elements of a channel are combined in registers."""
    for f in range(c):
        begin = x[source + f]
        value, place = begin if begin == begin else -INFINITY, uint32(0)
        for y in range(KH):
            for i in range(KW):
                if y + i > 0:
                    other = x[source + y * line + i * c + f]
                    place = uint32(y * KW + i) if other > value else place
                    value = other if other > value else value
        out[target + f] = value if value > LOWEST else LOWEST
        places[target + f] = place if begin == begin else uint32(0)


@helper
def part_with_places(
    x: Pointer, out: Pointer, places: Pointer, source: int, target: int, line: int, c: int,
    rows: int, cols: int, first: int,
) -> None:  # fmt: skip
    for f in range(c):
        begin = x[source + f]
        out[target + f] = begin if begin == begin else -INFINITY
        places[target + f] = first
    for y in range(rows):
        for i in range(cols):
            for f in range(c):
                other = x[source + y * line + i * c + f]
                if other > out[target + f]:
                    out[target + f] = other
                    places[target + f] = first + y * KW + i
    for f in range(c):
        begin, value = x[source + f], out[target + f]
        out[target + f] = value if value > LOWEST else LOWEST
        places[target + f] = places[target + f] if begin == begin else first


def pool_with_places(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    x, out, places = pointer(args[0]), pointer(args[1]), pointer(args[2])
    h, w, oh, ow, c, top, left = args[3], args[4], args[5], args[6], args[7], args[8], args[9]
    for row in range(r0, r1):
        image = row // oh
        y = row - image * oh
        y0, y1 = window(y, SH, top, KH, h)
        for col in range(ow):
            x0, x1 = window(col, SW, left, KW, w)
            source, target = ((image * h + y0) * w + x0) * c, (row * ow + col) * c
            if y1 - y0 == KH and x1 - x0 == KW:
                whole_with_places(x, out, places, source, target, w * c, c)
            else:
                first = (y0 - (y * SH - top)) * KW + x0 - (col * SW - left)
                part_with_places(
                    x, out, places, source, target, w * c, c, y1 - y0, x1 - x0, first
                )  # fmt: skip


def spread(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are images, columns are channels: windows of one image may overlap."""
    dy, places, out = pointer(args[0]), pointer(args[1]), pointer(args[2])
    h, w, oh, ow, c, top, left = args[3], args[4], args[5], args[6], args[7], args[8], args[9]
    for image in range(r0, r1):
        zero(args[2] + image * h * w * c, h * w * c)
        for row in range(oh):
            for col in range(ow):
                source = ((image * oh + row) * ow + col) * c
                for y in range(max(0, row * SH - top), min(h, row * SH - top + KH)):
                    for i in range(max(0, col * SW - left), min(w, col * SW - left + KW)):
                        place = uint32((y - row * SH + top) * KW + i - col * SW + left)
                        target = ((image * h + y) * w + i) * c
                        for f in range(c):
                            value = dy[source + f] if places[source + f] == place else ZERO
                            out[target + f] += value
