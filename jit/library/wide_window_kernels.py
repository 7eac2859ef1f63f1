# SPDX-License-Identifier: Apache-2.0
"""The kernels of depthwise convolutions by filters of many taps; see jit/library/wide_window.py.

Images are channels-last, and as large as the windows reach.  Rows of a launch are lines of all
results.
"""

from __future__ import annotations

from .plain_vocabulary import GIVEN, Address, Arguments, helper, pointer, region, zero

PIXELS = 16  # how many of a line are summed at a time, so that sums stay near
DEPTH: int = GIVEN  # the number of channels, or 0 for any


@helper
def repeat(target: Address, weights: Address, taps: int, depth: int) -> None:
    """The weights of each tap once for every pixel that is summed at a time."""
    out, given = pointer(target), pointer(weights)
    for tap in range(taps):
        for p in range(PIXELS):
            for c in range(depth):
                out[(tap * PIXELS + p) * depth + c] = given[tap * depth + c]


@helper
def add_product(target: Address, source: Address, weights: Address, count: int) -> None:
    """Adds products, element by element."""
    out, x, w = pointer(target), pointer(source), pointer(weights)
    for k in range(count):
        out[k] = out[k] + x[k] * w[k]


@helper
def add_four(target: Address, source: Address, weights: Address, count: int, depth: int) -> None:
    """Adds products of four taps beside each other, one after the other."""
    out, x, w = pointer(target), pointer(source), pointer(weights)
    step = PIXELS * depth
    y, z, u = pointer(source + depth), pointer(source + 2 * depth), pointer(source + 3 * depth)
    v, s, t = pointer(weights + step), pointer(weights + 2 * step), pointer(weights + 3 * step)
    for k in range(count):
        out[k] = out[k] + x[k] * w[k] + y[k] * v[k] + z[k] * s[k] + u[k] * t[k]


@helper
def add_line(
    target: Address, source: Address, weights: Address, wide: int, count: int, depth: int
) -> None:
    """Adds the products of one line of taps."""
    fours = wide // 4
    for x in range(fours):
        tap = weights + 4 * x * PIXELS * depth
        # LLVM makes the most of a number that it knows.
        if DEPTH > 0 and count == PIXELS * DEPTH:
            add_four(target, source + 4 * x * depth, tap, PIXELS * DEPTH, DEPTH)
        else:
            add_four(target, source + 4 * x * depth, tap, count, depth)
    for x in range(4 * fours, wide):
        add_product(target, source + x * depth, weights + x * PIXELS * depth, count)


def wide_window(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: images, filters, result; height and width of an image, lines and pixels of a result,
    channels, height and width of a filter; scratch.
    """
    height, width, rows, columns, depth, tall, wide = (
        args[3],
        args[4],
        args[5],
        args[6],
        args[7],
        args[8],
        args[9],
    )
    weights = region(args[10] + worker * args[11], "float32")
    repeat(weights, args[1], tall * wide, depth)
    for r in range(r0, r1):
        image = r // rows
        line = (image * height + r - image * rows) * width
        j = 0
        while j < columns:
            count = min(PIXELS, columns - j) * depth
            out = args[2] + (r * columns + j) * depth
            zero(out, count)
            for y in range(tall):
                source = args[0] + (line + y * width + j) * depth
                add_line(out, source, weights + y * wide * PIXELS * depth, wide, count, depth)
            j += PIXELS


def wide_window_taps(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: images, gradient of results, result; number, height and width of images, lines and
    pixels of results, channels, width of a filter; scratch.

    A row of a launch is a line of taps.  Of each tap there are PIXELS sums a channel, so that they
    are of few terms and lie beside each other.
    """
    images, height, width, rows, columns, depth, wide = (
        args[3],
        args[4],
        args[5],
        args[6],
        args[7],
        args[8],
        args[9],
    )
    sums = region(args[10] + worker * args[11], "float32")
    step = PIXELS * depth
    for y in range(r0, r1):
        zero(sums, wide * step)
        for line in range(images * rows):
            image = line // rows
            source = args[0] + (image * height + line - image * rows + y) * width * depth
            j = 0
            while j < columns:
                count = min(PIXELS, columns - j) * depth
                slope = args[1] + (line * columns + j) * depth
                for x in range(wide):
                    add_product(sums + x * step, source + (j + x) * depth, slope, count)
                j += PIXELS
        out = pointer(args[2] + y * wide * depth)
        for x in range(wide):
            parts = pointer(sums + x * step)
            for c in range(depth):
                total = parts[c]
                for p in range(1, PIXELS):
                    total = total + parts[p * depth + c]
                out[x * depth + c] = total
