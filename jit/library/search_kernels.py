# SPDX-License-Identifier: Apache-2.0
"""The kernel of searches in sorted rows; see jit/library/search.py."""

from __future__ import annotations

from .plain_vocabulary import GIVEN, Arguments, Scalar, helper, pointer

RIGHT: bool = GIVEN  # behind equal numbers, not before them


@helper
def is_before(a: Scalar, b: Scalar) -> bool:
    """As numbers are sorted: NaN comes behind all others."""
    return a < b or (b != b and a == a)


def search(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: sorted rows, values, places; the lengths of rows of both."""
    length, count = args[3], args[4]
    for r in range(r0, r1):
        row = pointer(args[0] + r * length)
        values, places = pointer(args[1] + r * count), pointer(args[2] + r * count)
        for c in range(c0, c1):
            value = values[c]
            low, high = 0, length
            while low < high:
                middle = (low + high) // 2
                item = row[middle]
                below = not is_before(value, item) if RIGHT else is_before(item, value)
                if below:
                    low = middle + 1
                else:
                    high = middle
            places[c] = low
