# SPDX-License-Identifier: Apache-2.0
"""The kernels of rows of indices; see jit/library/index_rows.py."""

from __future__ import annotations

from collections.abc import Callable

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    helper,
    int64,
    pointer,
    region,
    uint8,
)

COMBINE: Callable[[Scalar, Scalar], Scalar] = GIVEN  # of two values in one place
LONELY: bool = GIVEN  # what stands alone is combined with zero
ZERO: Scalar = GIVEN  # of the values
LEAST: bool = GIVEN  # sums of two count if they are no smaller than a number, without their signs


@helper
def compared(a: Address, b: Address, rank: int) -> int:
    """-1, 0 or 1: the first row of indices comes before the other, is equal, or comes behind."""
    left, right = pointer(a), pointer(b)
    found = 0
    for axis in range(rank):
        if found == 0:
            x, y = left[axis], right[axis]
            found = -1 if x < y else 1 if x > y else 0
    return found


@helper
def size_of(x: Scalar) -> Scalar:
    return -x if x < ZERO else x


@helper
def larger(a: Scalar, b: Scalar) -> Scalar:
    return a if a >= b or a != a else b


@helper
def smaller(a: Scalar, b: Scalar) -> Scalar:
    return a if a <= b or a != a else b


def merged(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: rows and values of one side, of the other, a number, rows, values and the number of
    results; how many rows both sides have, and how long rows are.  In one tile.
    """
    a, b = pointer(args[1]), pointer(args[3])
    target, values = pointer(args[5]), pointer(args[6])
    m, n, rank = args[8], args[9], args[10]
    i, j, found = 0, 0, 0
    while i < m or j < n:
        if i == m:
            order = 1
        elif j == n:
            order = -1
        else:
            order = compared(args[0] + i * rank, args[2] + j * rank, rank)
        source = pointer(args[0] + i * rank) if order <= 0 else pointer(args[2] + j * rank)
        # (Written in any case, and kept where it counts.)
        for axis in range(rank):
            target[found * rank + axis] = source[axis]
        kept = 1
        if order < 0:
            x = a[i]
            values[found] = COMBINE(x, ZERO) if LONELY else x
        elif order > 0:
            y = b[j]
            values[found] = COMBINE(ZERO, y) if LONELY else y
        else:
            total = COMBINE(a[i], b[j])
            values[found] = total
            if LEAST:
                kept = 1 if size_of(total) >= pointer(args[4])[0] else 0
        found += kept
        i += 1 if order <= 0 else 0
        j += 1 if order >= 0 else 0
    pointer(args[7])[0] = found


@helper
def handed(rows: Address, whole: Address, rank: int, give: Address, take: Address) -> int:
    """Compares a row with one of the whole; of equal ones the first takes what the other gives."""
    order = compared(rows, whole, rank)
    if order == 0:
        target, source = pointer(take), pointer(give)
        target[0] = source[0]
    return order


def parted(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: values, rows of one side, of the other, of the whole, then the values that belong to
    each side's rows, or zero; how many rows the three have, and how long rows are.  In one tile.
    """
    left, right, rank = pointer(args[4]), pointer(args[5]), args[9]
    m, n, count = args[6], args[7], args[8]
    for i in range(m):
        left[i] = ZERO
    for j in range(n):
        right[j] = ZERO
    i, j, k = 0, 0, 0
    while k < count and (i < m or j < n):
        # The whole goes on when both sides have come as far as its row.
        behind = 0
        whole, value = args[3] + k * rank, args[0] + k
        if i < m:
            order = handed(args[1] + i * rank, whole, rank, value, args[4] + i)
            i += 1 if order <= 0 else 0
            behind += 1 if order < 0 else 0
        if j < n:
            order = handed(args[2] + j * rank, whole, rank, value, args[5] + j)
            j += 1 if order <= 0 else 0
            behind += 1 if order < 0 else 0
        k += 1 if behind == 0 else 0


def subsequence(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: values, rows, rows of a subsequence, what is added to these; for each row the value of
    the one of the subsequence that it is, or zero, and how many of these were found; how many rows
    both have, and how long they are.  In one tile.
    """
    values, rows, chosen, start = (
        pointer(args[0]),
        pointer(args[1]),
        pointer(args[2]),
        pointer(args[3]),
    )
    out, m, n, rank = pointer(args[4]), args[6], args[7], args[8]
    found = 0
    for i in range(m):
        out[i] = ZERO
        if found < n:
            differ = 0
            for axis in range(rank):
                if rows[i * rank + axis] != chosen[found * rank + axis] + start[axis]:
                    differ += 1
            if differ == 0:
                out[i] = values[found]
                found += 1
    pointer(args[5])[0] = found


@helper
def merge(
    rows: Address, rank: int, order: Address, spare: Address, low: int, mid: int, high: int
) -> None:
    """Two neighbouring stretches of an order become one that is in order, too."""
    numbers, room = pointer(order), pointer(spare)
    for k in range(low, mid):
        room[k] = numbers[k]
    i, j, place = low, mid, low
    while i < mid:
        if j < high and compared(rows + numbers[j] * rank, rows + room[i] * rank, rank) < 0:
            numbers[place] = numbers[j]
            j += 1
        else:
            numbers[place] = room[i]
            i += 1
        place += 1


def row_order(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: rows, their numbers in order; how many they are, and how long.  In one tile.

    Stretches of one, two, four rows are merged; those that are in order already are left alone.
    """
    order, count, rank = pointer(args[1]), args[2], args[3]
    spare = region(args[4] + worker * args[5], "int64")
    late = 0
    for i in range(count):
        order[i] = i
        if i > 0 and compared(args[0] + i * rank, args[0] + (i - 1) * rank, rank) < 0:
            late += 1
    width = 1
    while late > 0 and width < count:
        for low in range(0, count - width, 2 * width):
            mid = low + width
            last, first = order[mid - 1], order[mid]
            if compared(args[0] + first * rank, args[0] + last * rank, rank) < 0:
                merge(args[0], rank, args[1], spare, low, mid, min(mid + width, count))
        width = 2 * width


def row_groups(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: rows, their order, the number of each row's group, which is of those that begin alike;
    how many rows there are, how long they are, how many indices must be alike.  In one tile.
    """
    order, out, count, rank, depth = pointer(args[1]), pointer(args[2]), args[3], args[4], args[5]
    group = 0
    for i in range(count):
        if i > 0:
            last, here = args[0] + order[i - 1] * rank, args[0] + order[i] * rank
            group += 0 if compared(last, here, depth) == 0 else 1
        out[i] = group


def row_places(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: where rows of values begin and end; the row of every value, and its number in the row;
    how many rows and how many values there are.  In one tile.

    What lies behind the last end is taken for the first value of the last row.
    """
    splits, owners, inside = pointer(args[0]), pointer(args[1]), pointer(args[2])
    rows, count = args[3], args[4]
    done = 0
    for row in range(rows):
        first, limit = splits[row], splits[row + 1]
        limit = limit if limit < count else count
        for i in range(done, limit):
            owners[i] = row
            inside[i] = i - first
        done = limit if limit > done else done
    for i in range(done, count):
        owners[i] = rows - 1 if rows > 0 else 0
        inside[i] = 0


def filled(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: rows of indices; those with one more for each number that none begins with, by their
    first numbers; the row that each was, or -1; which numbers were missing; for each row where it
    has gone; how many there are.  Parameters: how many rows, how long they are, how many numbers.
    In one tile.

    What begins with a number that is outside is left out.
    """
    rows, target, source = pointer(args[0]), pointer(args[1]), pointer(args[2])
    missing, gone = pointer(args[3]), pointer(args[4])
    count, rank, numbers = args[6], args[7], args[8]
    # First how many rows begin with a number, then where the next of them goes.
    place = pointer(region(args[9] + worker * args[10], "int64"))
    for number in range(numbers):
        place[number] = 0
    for i in range(count):
        number = rows[i * rank]
        if number >= 0 and number < numbers:
            place[number] = place[number] + 1
    total = 0
    for number in range(numbers):
        many = place[number]
        place[number] = total
        missing[number] = uint8(1) if many == 0 else uint8(0)
        if many == 0:
            source[total] = -1
            for axis in range(rank):
                target[total * rank + axis] = number if axis == 0 else 0
        total += many if many > 0 else 1
    for i in range(count):
        number = rows[i * rank]
        gone[i] = 0
        if number >= 0 and number < numbers:
            here = place[number]
            place[number] = here + 1
            gone[i] = here
            source[here] = i
            for axis in range(rank):
                target[here * rank + axis] = rows[i * rank + axis]
    pointer(args[5])[0] = int64(total)
