# SPDX-License-Identifier: Apache-2.0
"""The kernel that counts numbers in buckets; see jit/library/buckets.py."""

from __future__ import annotations

from .plain_vocabulary import GIVEN, Arguments, Scalar, float64, float_as_bits, helper, pointer

BY_BITS: bool = GIVEN  # the upper bits of a number tell its bucket, for the most part


@helper
def behind(limits: Scalar, count: int, value: float) -> int:
    """How many limits are not above a value."""
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if limits[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


def buckets(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: values, buckets by bits, limits, counts, sums, end; how many values and limits.

    buckets by bits: for the upper half of the bits of a value its bucket; -1 where a limit is among
    those values.  sums: the sum, that of squares, the least and the largest value, of which the
    last two are there before.  end: the number of the first value that is not finite.
    """
    values, known, limits = pointer(args[0]), pointer(args[1]), pointer(args[2])
    counts, sums, end = pointer(args[3]), pointer(args[4]), pointer(args[5])
    count, last = args[6], args[7]
    total, squares, least, largest = sums[0], sums[1], sums[2], sums[3]
    i, sound = 0, True
    while sound and i < count:
        value = float64(values[i])
        sound = value - value == 0.0
        if sound:
            bucket = -1
            if BY_BITS:
                bucket = known[(float_as_bits(values[i]) >> 16) & 65535]
            if bucket < 0:
                bucket = behind(limits, last, value)
            counts[min(bucket, last - 1)] += 1
            # One after the other: the order tells the last bits.
            total += value
            squares += value * value
            least = min(least, value)
            largest = max(largest, value)
            i += 1
    sums[0], sums[1], sums[2], sums[3] = total, squares, least, largest
    end[0] = i
