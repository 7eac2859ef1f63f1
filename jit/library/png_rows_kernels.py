# SPDX-License-Identifier: Apache-2.0
"""The kernels that filter rows of PNG files and undo it; see jit/library/png_rows.py."""

from __future__ import annotations

from .plain_vocabulary import Arguments, helper, int64, pointer

NONE, SUB, UP, AVERAGE, PAETH = 0, 1, 2, 3, 4


@helper
def magnitude(value: int) -> int:
    """How far a byte is from zero as a signed one: 255 is as small as 1."""
    byte = value & 255
    return min(byte, 256 - byte)


@helper
def nearest(left: int, above: int, corner: int) -> int:
    """The byte that is nearest to what the plane through all three expects (Paeth)."""
    to_left, to_above = above - corner, left - corner
    to_corner = to_left + to_above
    to_left, to_above = max(to_left, -to_left), max(to_above, -to_above)
    to_corner = max(to_corner, -to_corner)
    found = corner
    if to_above <= to_corner:
        found = above
    if to_left <= to_above and to_left <= to_corner:
        found = left
    return found


@helper
def expected(number: int, left: int, above: int, corner: int) -> int:
    """What a filter expects of a byte, by those around it."""
    found = 0
    if number == SUB:
        found = left
    elif number == UP:
        found = above
    elif number == AVERAGE:
        found = (left + above) >> 1
    elif number == PAETH:
        found = nearest(left, above, corner)
    return found


def rows(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: bytes, found; bytes of a row and from pixel to pixel, filters.

    bytes: of the row before the first and of all rows.  filters: the bits of those to try.  found:
    for each row the number of the first filter that leaves the least, and what it leaves.
    """
    text, found = pointer(args[0]), pointer(args[1])
    width, distance, tried = args[2], args[3], args[4]
    for r in range(r0, r1):
        before = r * width
        at = before + width
        none, sub, up, average, paeth = 0, 0, 0, 0, 0
        for i in range(width):
            byte, above, left, corner = int64(text[at + i]), int64(text[before + i]), 0, 0
            if i >= distance:
                left = int64(text[at + i - distance])
                corner = int64(text[before + i - distance])
            none += magnitude(byte)
            sub += magnitude(byte - left)
            up += magnitude(byte - above)
            average += magnitude(byte - ((left + above) >> 1))
            paeth += magnitude(byte - nearest(left, above, corner))
        best, least = NONE, none
        if (tried >> SUB) & 1 == 1 and sub < least:
            best, least = SUB, sub
        if (tried >> UP) & 1 == 1 and up < least:
            best, least = UP, up
        if (tried >> AVERAGE) & 1 == 1 and average < least:
            best, least = AVERAGE, average
        if (tried >> PAETH) & 1 == 1 and paeth < least:
            best, least = PAETH, paeth
        start = r * (width + 1)
        found[start] = best
        for i in range(width):
            byte, above, left, corner = int64(text[at + i]), int64(text[before + i]), 0, 0
            if i >= distance:
                left = int64(text[at + i - distance])
                corner = int64(text[before + i - distance])
            found[start + 1 + i] = (byte - expected(best, left, above, corner)) & 255


def restored(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: filtered, bytes, found; rows, bytes of a row and from pixel to pixel.

    filtered: for each row the number of its filter, and what that left.  bytes: of the row before
    the first, which is given, and of all rows.  found: 1 if there is no filter of some number.
    """
    left_over, text, found = pointer(args[0]), pointer(args[1]), pointer(args[2])
    count, width, distance = args[3], args[4], args[5]
    sound, first = True, min(distance, width)
    for r in range(count):
        start, before = r * (width + 1) + 1, r * width
        at = before + width
        number = int64(left_over[start - 1])
        sound = sound and number <= PAETH
        for i in range(first):
            more = expected(number, 0, int64(text[before + i]), 0)
            text[at + i] = (int64(left_over[start + i]) + more) & 255
        if number == SUB:
            for i in range(first, width):
                left = int64(text[at + i - distance])
                text[at + i] = (int64(left_over[start + i]) + left) & 255
        elif number == UP:
            for i in range(first, width):
                above = int64(text[before + i])
                text[at + i] = (int64(left_over[start + i]) + above) & 255
        elif number == AVERAGE:
            for i in range(first, width):
                both = int64(text[at + i - distance]) + int64(text[before + i])
                text[at + i] = (int64(left_over[start + i]) + (both >> 1)) & 255
        elif number == PAETH:
            for i in range(first, width):
                left, above = int64(text[at + i - distance]), int64(text[before + i])
                more = nearest(left, above, int64(text[before + i - distance]))
                text[at + i] = (int64(left_over[start + i]) + more) & 255
        else:
            for i in range(first, width):
                text[at + i] = left_over[start + i]
    found[0] = 0 if sound else 1
