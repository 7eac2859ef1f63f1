# SPDX-License-Identifier: Apache-2.0
"""The kernel that copies a box out of a tensor; see jit/library/boxes.py."""

from __future__ import annotations

from .plain_vocabulary import GIVEN, Arguments, Scalar, copy, helper, pointer

LAST: int = GIVEN  # the last dimension


@helper
def start(begins: Scalar, axis: int, most: int) -> int:
    """Where the box begins; a place outside is an error elsewhere, and must not be read here."""
    begin = begins[axis]
    return min(max(begin, 0), most)


def box(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: tensor, corner, box; the length of a line, then of each dimension how long the box is
    in it, how far it may begin and how far apart its elements are.  Rows are lines of the box.
    """
    begins, line, fits = pointer(args[1]), args[3], True
    # Of a length below zero the error is told elsewhere, too: two of them make a count above it.
    for axis in range(LAST + 1):
        fits = fits and args[4 + 3 * axis] >= 0 and args[5 + 3 * axis] >= 0
    if fits:
        first = start(begins, LAST, args[5 + 3 * LAST]) * args[6 + 3 * LAST]
        for r in range(r0, r1):
            at, left = first, r
            for behind in range(LAST):
                axis = LAST - 1 - behind
                size = args[4 + 3 * axis]
                place = start(begins, axis, args[5 + 3 * axis]) + left % size
                at += place * args[6 + 3 * axis]
                left = left // size
            copy(args[2] + r * line, args[0] + at, line)
