# SPDX-License-Identifier: Apache-2.0
"""The kernel of depthwise convolutions by filters of many taps; see jit/library/wide_window.py.

Images are channels-last, and as large as the windows reach.  Rows of a launch are lines of all
results.
"""

from __future__ import annotations

from .plain_vocabulary import Address, Arguments, helper, pointer, region, zero

PIXELS = 16  # how many of a line are summed at a time, so that sums stay near


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


def wide_window(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: images, filters, result; height and width of an image, lines and pixels of a result,
    channels, height and width of a filter; scratch.
    """
    height, width, rows, columns, depth, tall, wide = (
        args[3], args[4], args[5], args[6], args[7], args[8], args[9],
    )  # fmt: skip
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
                for x in range(wide):
                    source = args[0] + (line + y * width + j + x) * depth
                    tap = weights + (y * wide + x) * PIXELS * depth
                    add_product(out, source, tap, count)
            j += PIXELS
