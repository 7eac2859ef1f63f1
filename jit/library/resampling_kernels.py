# SPDX-License-Identifier: Apache-2.0
"""The kernel of images resampled by weighted sums of rows and columns; see resampling.py.

Images are channels-last.  Rows of a launch are lines of all resampled images.  A table of spans has
three parts: how many lines each line of the result takes, which, and how much of each.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    helper,
    pointer,
    region,
)

ACROSS_FIRST: bool = GIVEN  # sums along lines come before sums of lines
DEPTH: int = GIVEN  # the number of channels, or 0 for any


@helper
def add_line(target: Address, source: Address, weight: Scalar, count: int, is_first: int) -> None:
    """Adds a multiple of a line to another one, or begins it."""
    out, line = pointer(target), pointer(source)
    if is_first:
        for i in range(count):
            out[i] = line[i] * weight
    else:
        for i in range(count):
            out[i] = out[i] + line[i] * weight


@helper
def pixel_of_three(
    target: Address, line: Address, places: Address, weights: Address, count: int
) -> None:
    """A weighted sum of pixels of three channels."""
    out, where, much = pointer(target), pointer(places), pointer(weights)
    first = pointer(line + where[0] * 3)
    weight = much[0]
    red, green, blue = (first[0] * weight, first[1] * weight, first[2] * weight)
    for k in range(1, count):
        pixel = pointer(line + where[k] * 3)
        weight = much[k]
        red += pixel[0] * weight
        green += pixel[1] * weight
        blue += pixel[2] * weight
    out[0], out[1], out[2] = red, green, blue


@helper
def pixel_of_one(
    target: Address, line: Address, places: Address, weights: Address, count: int
) -> None:
    """A weighted sum of pixels of one channel."""
    out, where, much, source = pointer(target), pointer(places), pointer(weights), pointer(line)
    total = source[where[0]] * much[0]
    for k in range(1, count):
        total += source[where[k]] * much[k]
    out[0] = total


@helper
def sum_along(
    target: Address,
    line: Address,
    counts: Address,
    places: Address,
    weights: Address,
    most: int,
    columns: int,
    depth: int,
) -> None:
    """A line of weighted sums of pixels of another one."""
    many = pointer(counts)
    for j in range(columns):
        out, at, count = target + j * depth, j * most, many[j]
        if DEPTH == 3:
            pixel_of_three(out, line, places + at, weights + at, count)
        elif DEPTH == 1:
            pixel_of_one(out, line, places + at, weights + at, count)
        else:
            where, much = pointer(places + at), pointer(weights + at)
            for k in range(count):
                add_line(out, line + where[k] * depth, much[k], depth, k == 0)


def resampled(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: images, spans of rows, spans of columns, the factor of all, result; height, width,
    rows, columns, channels, the most that a row and that a column takes; scratch.
    """
    row_counts, row_weights, row_places = pointer(args[1]), pointer(args[3]), pointer(args[2])
    height, width, rows, columns, depth = args[9], args[10], args[11], args[12], args[13]
    tall, wide = args[14], args[15]
    scratch = region(args[16] + worker * args[17], "float32")
    factor = pointer(args[7])[0]
    for r in range(r0, r1):
        image = r // rows
        i = r - image * rows
        source = args[0] + image * height * width * depth
        out = args[8] + r * columns * depth
        for k in range(row_counts[i]):
            line = source + row_places[i * tall + k] * width * depth
            weight = row_weights[i * tall + k]
            if ACROSS_FIRST:
                sum_along(scratch, line, args[4], args[5], args[6], wide, columns, depth)
                add_line(out, scratch, weight, columns * depth, k == 0)
            else:
                add_line(scratch, line, weight, width * depth, k == 0)
        if ACROSS_FIRST:
            pixels = pointer(out)
            for x in range(columns * depth):
                pixels[x] = pixels[x] * factor
        else:
            sum_along(out, scratch, args[4], args[5], args[6], wide, columns, depth)
