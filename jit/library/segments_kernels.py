# SPDX-License-Identifier: Apache-2.0
"""The kernels of sorted segments and of sparse products; see jit/library/segments.py."""

from __future__ import annotations

from collections.abc import Callable

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    float32,
    float64,
    helper,
    pointer,
    sqrt,
)

COMBINE: Callable[[Scalar, Scalar], Scalar] = GIVEN  # what was there, with what comes
START: Scalar = GIVEN  # what is there at first
EMPTY: Scalar = GIVEN  # what remains where no row is
ALONE: bool = GIVEN  # a row that is alone is taken as it is
MEANS: bool = GIVEN  # results may be divided by a power of the number of rows
SHORT: bool = GIVEN  # numbers have single precision
PICKED: bool = GIVEN  # rows are those that another vector names


@helper
def fmax(old: Scalar, new: Scalar) -> Scalar:
    return old if old >= new or new != new else new


@helper
def fmin(old: Scalar, new: Scalar) -> Scalar:
    return old if old <= new or new != new else new


@helper
def first_at_least(ids: Address, count: int, row: int) -> int:
    """The first of sorted ids that is not below a number."""
    values = pointer(ids)
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if values[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def root(rows: int, halves: int) -> Scalar:
    """So many halves (0, 1 or 2) as power of the number of rows, one at least, in the precision of
    the results.
    """
    number = float64(max(rows, 1))
    power = sqrt(number) if halves == 1 else number
    return float32(power) if SHORT else power


def sorted_segments(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: ids, data, picked rows (or ids again), result; ids, width of a row, rows of data, by
    what results are divided (see root).
    """
    ids, data, picks = pointer(args[0]), pointer(args[1]), pointer(args[2])
    count, width, most = args[4], args[5], args[6]
    i = first_at_least(args[0], count, r0)
    for row in range(r0, r1):
        out = pointer(args[3] + row * width)
        for f in range(width):
            out[f] = START
        begin, source = i, 0
        while i < count and ids[i] == row:
            # (Where picks are outside, the run fails; here nothing outside is read.)
            source = min(max(picks[i], 0), most - 1) if PICKED else i
            place = source * width
            for f in range(width):
                out[f] = COMBINE(out[f], data[place + f])
            i += 1
        if i == begin:
            for f in range(width):
                out[f] = EMPTY
        if ALONE and i == begin + 1:
            place = source * width
            for f in range(width):
                out[f] = data[place + f]
        if MEANS and args[7] > 0:
            divisor = root(i - begin, args[7])
            for f in range(width):
                out[f] = out[f] / divisor


def sparse_product(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: places and values of entries, matrix, result; entries, width, which number of a place
    is its row, which its column, and how many rows the matrix has.

    Every tile goes through all entries in order and adds to the rows that are its own.  (Where a
    place is outside, the run fails; here nothing outside is read.)
    """
    places, values = pointer(args[0]), pointer(args[1])
    count, width, row_at, column_at, inner = args[4], args[5], args[6], args[7], args[8]
    result = pointer(args[3])
    for place in range(r0 * width, r1 * width):
        result[place] = START
    if width == 1:
        # A loop of one turn for each entry would cost more than the entry.
        dense = pointer(args[2])
        for i in range(count):
            row, column = places[2 * i + row_at], places[2 * i + column_at]
            if row >= r0 and row < r1 and column >= 0 and column < inner:
                result[row] = result[row] + values[i] * dense[column]
        return
    for i in range(count):
        row, column = places[2 * i + row_at], places[2 * i + column_at]
        if row >= r0 and row < r1 and column >= 0 and column < inner:
            factor = values[i]
            source, target = pointer(args[2] + column * width), pointer(args[3] + row * width)
            for f in range(width):
                target[f] = target[f] + factor * source[f]
