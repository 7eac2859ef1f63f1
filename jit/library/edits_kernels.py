# SPDX-License-Identifier: Apache-2.0
"""The kernel of distances between sequences; see jit/library/edits.py."""

from __future__ import annotations

from .plain_vocabulary import Arguments, Scalar, float32, helper, pointer, region


@helper
def first_of(rows: Scalar, count: int, row: int) -> int:
    """Where elements of a row, or of later ones, begin."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


def distances(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: rows and elements of one side, rows and elements of the other, distances; how many
    elements each side has; then scratch memory for one number more than those of the other.

    After Wagner and Fischer: `line` has the distances to the beginnings of the other sequence.
    """
    rows, elements, others, wanted = (
        pointer(args[0]),
        pointer(args[1]),
        pointer(args[2]),
        pointer(args[3]),
    )
    out, count, other_count = pointer(args[4]), args[5], args[6]
    line = pointer(region(args[7] + worker * args[8], "int64"))
    at, start = first_of(rows, count, r0), first_of(others, other_count, r0)
    for r in range(r0, r1):
        length = 0
        while start + length < other_count and others[start + length] == r:
            length += 1
        for j in range(length + 1):
            line[j] = j
        while at < count and rows[at] == r:
            element, diagonal = elements[at], line[0]
            line[0] = diagonal + 1
            for j in range(length):
                above = line[j + 1]
                best = diagonal if wanted[start + j] == element else diagonal + 1
                line[j + 1] = min(min(best, above + 1), line[j] + 1)
                diagonal = above
            at += 1
        out[r] = float32(line[length])
        start += length
