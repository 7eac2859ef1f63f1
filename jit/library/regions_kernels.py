# SPDX-License-Identifier: Apache-2.0
"""The kernels of pooling over regions of random sizes; see jit/library/regions.py.

Images lie row by row, with the channels of a pixel side by side.  Bounds say where regions of an
axis begin, and where the last one ends; those that overlap go on for one position.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    float32,
    float64,
    helper,
    int64,
    pointer,
    region,
    uint64,
    zero,
)
from .random_kernels import block, to_double

DTYPE: str = GIVEN
LEAST: Scalar = GIVEN  # the lowest finite number
IS_WHOLE: bool = GIVEN  # integers
IS_SINGLE: bool = GIVEN  # precision
MEAN: bool = GIVEN


@helper
def shuffled_sizes(
    bounds: Address, size: int, count: int, key: Scalar, low: Scalar, high: Scalar, ahead: int
) -> None:
    """Puts the sizes of regions, in random order, behind the first bound."""
    sizes = pointer(bounds + 1)
    least, larger = size // count, size % count
    for i in range(count):
        sizes[i] = least + 1 if i < larger else least
    for i in range(count - 1):
        words = block(key, low, high, uint64(ahead + i // 4))
        turn = i % 4
        early, late = words[1] if turn == 1 else words[0], words[3] if turn == 3 else words[2]
        # TensorFlow's remainder, which is not quite uniform.
        j = i + int64((early if turn < 2 else late) % uint64(count - i))
        kept = sizes[i]
        sizes[i] = sizes[j]
        sizes[j] = kept


@helper
def even_sizes(
    bounds: Address, size: int, count: int, key: Scalar, low: Scalar, high: Scalar, ahead: int
) -> None:
    """Puts the sizes of an even division with a random phase behind the first bound."""
    sizes = pointer(bounds + 1)
    words = block(key, low, high, uint64(ahead))
    alpha, least = float64(size) / float64(count), size // count
    first = float64(least + 2) / alpha - 1.0
    last = float64(size + 1 - least) / alpha - float64(count - 1)
    phase = to_double(words[0], words[1]) * (last if last < first else first)
    before = 1
    for i in range(1, count + 1):
        exact = alpha * (float64(i) + phase)
        after = int64(exact)
        if float64(after) < exact:
            after += 1
        if i == count:
            after = size + 1
        sizes[i - 1] = after - before
        before = after


def bounds(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Bounds of regions of rows, and of columns; in one tile.

    Parameters: rows, regions of them, columns, regions of them, whether regions are an even
    division, then the stream's position.
    """
    key, low, high = uint64(args[7]), uint64(args[8]), uint64(args[9])
    is_even, ahead = args[6] != 0, 0
    for axis in (0, 1):
        target, size, count = args[axis], args[2 + 2 * axis], args[3 + 2 * axis]
        if is_even:
            even_sizes(target, size, count, key, low, high, ahead)
            ahead += 1
        else:
            shuffled_sizes(target, size, count, key, low, high, ahead)
            ahead += (count + 3) // 4
        places = pointer(target)
        places[0] = 0
        for i in range(count):
            places[i + 1] = places[i] + places[i + 1]


@helper
def end_of(bounds: Address, region: int, size: int, overlap: int) -> int:
    """Where a region of an axis ends."""
    return min(pointer(bounds)[region + 1] + overlap, size)


@helper
def begin_of(bounds: Address, region: int) -> int:
    """Where a region of an axis begins."""
    return max(pointer(bounds)[region], 0)


@helper
def divided(out: Address, depth: int, count: int) -> None:
    """Divides the sums of a region, integers towards zero."""
    total = pointer(out)
    for c in range(depth):
        item = total[c]
        if IS_WHOLE:
            total[c] = item // count if item >= 0 else -(-item // count)
        else:
            total[c] = item / (float32(count) if IS_SINGLE else float64(count))


def pool(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The maxima, or means, of regions.  Rows of the tile are those of all images that result.

    Parameters: rows and columns of an image, those of a result, channels, whether regions overlap.
    """
    height, width, down, across, depth, overlap = (
        args[4],
        args[5],
        args[6],
        args[7],
        args[8],
        args[9],
    )
    x, out = pointer(args[0]), pointer(args[3])
    for row in range(r0, r1):
        image, i = row // down, row % down
        top, bottom = begin_of(args[1], i), end_of(args[1], i, height, overlap)
        for j in range(across):
            left, right = begin_of(args[2], j), end_of(args[2], j, width, overlap)
            at = (row * across + j) * depth
            for c in range(depth):
                out[at + c] = 0 if MEAN else LEAST
            for y in range(top, bottom):
                for z in range(left, right):
                    source = ((image * height + y) * width + z) * depth
                    for c in range(depth):
                        item, most = x[source + c], out[at + c]
                        if MEAN:
                            out[at + c] = most + item
                        else:
                            out[at + c] = item if item > most else most
            if MEAN:
                divided(args[3] + at, depth, (bottom - top) * (right - left))


def max_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Gradients of maxima, each at the first maximum of its region, or its first NaN.

    Rows of the tile are images.  Parameters: rows and columns of an image, those of a result,
    channels, whether regions overlap.  Scratch: two numbers for each channel.
    """
    height, width, down, across, depth, overlap = (
        args[5],
        args[6],
        args[7],
        args[8],
        args[9],
        args[10],
    )
    x, dy, out = pointer(args[0]), pointer(args[1]), pointer(args[4])
    room = args[11] + worker * args[12]
    places, best = pointer(region(room, "int64")), pointer(region(room + 8 * depth, DTYPE))
    for image in range(r0, r1):
        start = image * height * width * depth
        zero(args[4] + start, height * width * depth)
        for i in range(down):
            top, bottom = begin_of(args[2], i), end_of(args[2], i, height, overlap)
            for j in range(across):
                left, right = begin_of(args[3], j), end_of(args[3], j, width, overlap)
                if bottom <= top or right <= left:
                    continue
                first = start + (top * width + left) * depth
                for c in range(depth):
                    places[c] = first + c
                    best[c] = x[first + c]
                for y in range(top, bottom):
                    for z in range(left, right):
                        source = start + (y * width + z) * depth
                        for c in range(depth):
                            item, most = x[source + c], best[c]
                            if item > most or (item != item and most == most):
                                best[c] = item
                                places[c] = source + c
                given = ((image * down + i) * across + j) * depth
                for c in range(depth):
                    out[places[c]] = out[places[c]] + dy[given + c]


def mean_gradient(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Gradients of means, each shared out over its region.

    Rows of the tile are images.  Parameters: as those of max_gradient.  Scratch: an image of
    float64.
    """
    height, width, down, across, depth, overlap = (
        args[4],
        args[5],
        args[6],
        args[7],
        args[8],
        args[9],
    )
    dy, out = pointer(args[0]), pointer(args[3])
    whole = region(args[10] + worker * args[11], "float64")
    total = pointer(whole)
    for image in range(r0, r1):
        zero(whole, height * width * depth)
        for i in range(down):
            top, bottom = begin_of(args[1], i), end_of(args[1], i, height, overlap)
            for j in range(across):
                left, right = begin_of(args[2], j), end_of(args[2], j, width, overlap)
                count = float64((bottom - top) * (right - left))
                given = ((image * down + i) * across + j) * depth
                for y in range(top, bottom):
                    for z in range(left, right):
                        source = (y * width + z) * depth
                        for c in range(depth):
                            total[source + c] = total[source + c] + float64(dy[given + c]) / count
        start = image * height * width * depth
        for place in range(height * width * depth):
            if IS_WHOLE:
                out[start + place] = int64(total[place])
            else:
                out[start + place] = float32(total[place]) if IS_SINGLE else total[place]
