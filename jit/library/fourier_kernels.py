# SPDX-License-Identifier: Apache-2.0
"""The kernels of Fourier transforms; see jit/library/fourier.py.

A group of lines, one in each lane of vectors, is transformed at a time, between two regions of
scratch memory: number i of all lines is two rows there, at 2 * LANES * i, of real parts and then of
imaginary ones.  Stockham's steps put numbers in order by themselves: where `step` numbers lie
beside each other that belong to transforms done so far, a step of radix r takes r of them that are
length / r apart.  What they are multiplied by, and the radices, are arguments.

Exchanged, real and imaginary parts make the inverse of the transform but for a factor.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    butterflies,
    fold_pairs,
    helper,
    join_pairs,
    pointer,
    region,
    split_pairs,
    zero,
)
from .rows_kernels import block

DTYPE: str = GIVEN
LANES: int = GIVEN  # elements of a vector
HALVES: int = GIVEN  # lines are of real numbers: 1 those that are read, -1 those that are written
RADICES = (8, 4, 2, 3, 5, 7, 11, 13)
# Parameters, behind four buffers: lines' numbers, radices, factors, results.
LENGTH = 4  # of the transform
STEPS = 5  # how many radices there are
TAKEN = 6  # numbers of a line that are read
GIVEN_BACK = 7  # and written
INVERSE = 8
SCALED = 9  # whether the last factor is one of all results
FOLDS = 10  # where the factors of halves begin, and how many there are
FOLD_COUNT = 11
SCALE = 12  # where the factor of all results is
INNER = 13  # how far a line's numbers lie apart, in numbers
SCRATCH = 14


@helper
def transformed(
    args: Arguments, one: Address, other: Address, radices: Address, turns: Address
) -> Address:
    """Where the transform of a group of lines is: in the region that it came from, or the other."""
    x, y, part = one, other, LANES
    if args[INVERSE] != 0:
        x, y, part = one + LANES, other + LANES, -LANES
    row, left, step, factors = 2 * LANES, args[LENGTH], 1, turns
    numbers = pointer(radices)
    for k in range(args[STEPS]):
        radix = numbers[k]
        left = left // radix
        for RADIX in RADICES:
            if radix == RADIX:
                # (The factors of a last step are ones; odd radices are rarely last.)
                if RADIX % 2 == 0 and left == 1:
                    butterflies(LANES, RADIX, 0, step, x, y, part, step * row, step * row, factors)
                else:
                    for p in range(left):
                        butterflies(
                            LANES, RADIX, 1, step, x + p * step * row,
                            y + p * step * row * RADIX, part, step * left * row, step * row,
                            factors + p * 2 * (RADIX - 1),
                        )  # fmt: skip
        factors = factors + left * 2 * (radix - 1)
        step = step * radix
        x, y = y, x
    return x if args[INVERSE] == 0 else x + (-LANES)


@helper
def folded(args: Arguments, numbers: Address, turns: Address) -> None:
    """What transforms of halves are to those of real numbers, or the reverse."""
    row, last = 2 * LANES, args[LENGTH]
    factors = turns + args[FOLDS]
    for k in range(args[FOLD_COUNT]):
        high = numbers + (last - k) * row
        fold_pairs(LANES, numbers + k * row, high, LANES, factors + 2 * k)


@helper
def worked(
    args: Arguments, one: Address, other: Address, radices: Address, turns: Address
) -> Address:
    """Where the results of a group of lines are."""
    row, length = 2 * LANES, args[LENGTH]
    if HALVES == -1:
        # Of real numbers the first and the middle have no imaginary part, whatever is there.
        zero(one + LANES, LANES)
        zero(one + (length * row + LANES), LANES)
        folded(args, one, turns)
    found = transformed(args, one, other, radices, turns)
    if HALVES == 1:
        first, last = pointer(found), pointer(found + length * row)
        for i in range(row):
            last[i] = first[i]
        folded(args, found, turns)
    if args[SCALED] != 0:
        by, all_numbers = pointer(turns + args[SCALE])[0], pointer(found)
        for i in range(args[GIVEN_BACK] * row):
            all_numbers[i] = all_numbers[i] * by
    return found


def rows(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Transforms of lines whose numbers lie side by side."""
    one = region(args[SCRATCH] + worker * args[SCRATCH + 1], DTYPE)
    other = one + (args[LENGTH] + 1) * 2 * LANES
    taken, given = 2 * args[TAKEN], 2 * args[GIVEN_BACK]
    for r in range(r0, r1, LANES):
        count = min(LANES, r1 - r)
        block(args[0] + r * taken, one, LANES, taken, 0, count, 0, taken)
        found = worked(args, one, other, args[1], args[2])
        block(found, args[3] + r * given, given, LANES, 0, given, 0, count)


def columns(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Transforms of lines that lie side by side."""
    one = region(args[SCRATCH] + worker * args[SCRATCH + 1], DTYPE)
    length, inner = args[LENGTH], 2 * args[INNER]
    other = one + (length + 1) * 2 * LANES
    for r in range(r0, r1):
        for c in range(c0, c1, LANES):
            place = r * length * inner + 2 * c
            x, y = args[0] + place, args[3] + place
            if c + LANES <= c1:
                split_pairs(LANES, length, x, inner, one)
                found = worked(args, one, other, args[1], args[2])
                join_pairs(LANES, length, found, y, inner)
            else:
                split_some(c1 - c, length, x, inner, one)
                found = worked(args, one, other, args[1], args[2])
                join_some(c1 - c, length, found, y, inner)


@helper
def split_some(count: int, length: int, x: Address, inner: int, out: Address) -> None:
    """As split_pairs, of fewer lines."""
    source, target = pointer(x), pointer(out)
    for i in range(length):
        for k in range(count):
            target[i * 2 * LANES + k] = source[i * inner + 2 * k]
            target[i * 2 * LANES + LANES + k] = source[i * inner + 2 * k + 1]


@helper
def join_some(count: int, length: int, x: Address, out: Address, inner: int) -> None:
    """As join_pairs, of fewer lines."""
    source, target = pointer(x), pointer(out)
    for i in range(length):
        for k in range(count):
            target[i * inner + 2 * k] = source[i * 2 * LANES + k]
            target[i * inner + 2 * k + 1] = source[i * 2 * LANES + LANES + k]
