# SPDX-License-Identifier: Apache-2.0
"""The kernels of scatters, running sums and transposes; see jit/library/rows.py."""

from __future__ import annotations

from collections.abc import Callable

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    copy,
    exp,
    helper,
    int64,
    log1p,
    pointer,
    region,
    transpose_tile,
    uint8,
)

COMBINE: Callable[[Scalar, Scalar], Scalar] = GIVEN  # what was there, with what comes
START: Scalar = GIVEN  # what is there at first
ZERO: Scalar = GIVEN  # of the dtype
OUT_AT: int = GIVEN  # the number of the output: 3 where it begins as the buffer before it
SINGLE: bool = GIVEN  # rows have one element
LANES: int = GIVEN  # elements of a vector
BLOCK: int = GIVEN  # rows and columns of the blocks of a transpose


@helper
def add(old: Scalar, new: Scalar) -> Scalar:
    return old + new


@helper
def subtract(old: Scalar, new: Scalar) -> Scalar:
    return old - new


@helper
def multiply(old: Scalar, new: Scalar) -> Scalar:
    return old * new


@helper
def divide(old: Scalar, new: Scalar) -> Scalar:
    return old / new


@helper
def log_add(old: Scalar, new: Scalar) -> Scalar:
    """The logarithm of the sum of two exponentials."""
    # (Of two infinities that are equal the difference would be no number.)
    difference = ZERO if old == new else old - new
    beyond = -difference if difference > 0 else difference
    return (old if difference > 0 else new) + log1p(exp(beyond))


# As TensorFlow has it, what follows a NaN takes its place.
@helper
def largest(old: Scalar, new: Scalar) -> Scalar:
    return old if new < old else new


@helper
def smallest(old: Scalar, new: Scalar) -> Scalar:
    return old if new > old else new


@helper
def replace(old: Scalar, new: Scalar) -> Scalar:
    return new


def scatter(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The output starts as the base, or as START everywhere.  Indices outside of it are skipped."""
    indices, updates = pointer(args[0]), pointer(args[1])
    out = pointer(args[OUT_AT])
    count, width = args[OUT_AT + 1], args[OUT_AT + 2]
    if OUT_AT == 3:
        copy(args[3] + r0 * width, args[2] + r0 * width, (r1 - r0) * width)
    else:
        for place in range(r0 * width, r1 * width):
            out[place] = START
    for i in range(count):
        row = indices[i]
        if row >= r0 and row < r1:
            if SINGLE:
                old, new = out[row], updates[i]
                out[row] = COMBINE(old, new)
            else:
                for f in range(width):
                    old, new = out[row * width + f], updates[i * width + f]
                    out[row * width + f] = COMBINE(old, new)


@helper
def run_line(
    source: Address, target: Address, at: int, length: int, step: int, is_exclusive: int
) -> None:
    """One line, the sum of which stays in a register."""
    x, out = pointer(source), pointer(target)
    total = COMBINE(START, x[at])
    out[at] = START if is_exclusive else total
    for _ in range(length - 1):
        at += step
        before = total
        total = COMBINE(before, x[at])
        out[at] = before if is_exclusive else total


@helper
def run_four(
    source: Address, target: Address, at: int, length: int, step: int, is_exclusive: int
) -> None:
    """Four lines: each sum waits for the one before, but not for those of other lines."""
    x, out = pointer(source), pointer(target)
    second, third, last = at + length, at + 2 * length, at + 3 * length
    a, b = COMBINE(START, x[at]), COMBINE(START, x[second])
    c, d = COMBINE(START, x[third]), COMBINE(START, x[last])
    out[at] = START if is_exclusive else a
    out[second] = START if is_exclusive else b
    out[third] = START if is_exclusive else c
    out[last] = START if is_exclusive else d
    for _ in range(length - 1):
        at, second, third, last = at + step, second + step, third + step, last + step
        p, q, r, s = a, b, c, d
        a, b = COMBINE(p, x[at]), COMBINE(q, x[second])
        c, d = COMBINE(r, x[third]), COMBINE(s, x[last])
        out[at] = p if is_exclusive else a
        out[second] = q if is_exclusive else b
        out[third] = r if is_exclusive else c
        out[last] = s if is_exclusive else d


def running(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are the dimensions before the axis, columns those behind it; both are independent.

    Parameters: the length of the axis, elements of a step along it; whether a sum ends one position
    before its own, and whether sums begin at the end.
    """
    x, out = pointer(args[0]), pointer(args[1])
    length, inner, is_exclusive, is_reverse = args[2], args[3], args[4], args[5]
    step = -inner if is_reverse else inner
    if inner == 1 and length > 0:
        first = length - 1 if is_reverse else 0
        fours = r0 + (r1 - r0) // 4 * 4
        for row in range(r0, fours, 4):
            run_four(args[0], args[1], row * length + first, length, step, is_exclusive)
        for row in range(fours, r1):
            run_line(args[0], args[1], row * length + first, length, step, is_exclusive)
        return
    for row in range(r0, r1 if length > 0 else r0):
        at = (row * length + (length - 1 if is_reverse else 0)) * inner
        for c in range(c0, c1):
            out[at + c] = COMBINE(START, START if is_exclusive else x[at + c])
        for _ in range(length - 1):
            before, at = at, at + step
            source = before if is_exclusive else at
            for c in range(c0, c1):
                out[at + c] = COMBINE(out[before + c], x[source + c])


def running_complex(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Running products of complex numbers: the same over their parts, which are two buffers each.

    Args: real and imaginary parts, those of the result; parameters as those of `running`.
    """
    re, im, out_re, out_im = pointer(args[0]), pointer(args[1]), pointer(args[2]), pointer(args[3])
    length, inner, is_exclusive, is_reverse = args[4], args[5], args[6], args[7]
    step = -inner if is_reverse else inner
    for row in range(r0, r1 if length > 0 else r0):
        at = (row * length + (length - 1 if is_reverse else 0)) * inner
        for c in range(c0, c1):
            out_re[at + c] = START if is_exclusive else re[at + c]
            out_im[at + c] = ZERO if is_exclusive else im[at + c]
        for _ in range(length - 1):
            before, at = at, at + step
            source = before if is_exclusive else at
            for c in range(c0, c1):
                a, b = out_re[before + c], out_im[before + c]
                x, y = re[source + c], im[source + c]
                out_re[at + c] = a * x - b * y
                out_im[at + c] = a * y + b * x


def inverted(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: numbers, result, whether these are a permutation; how many.  In one tile."""
    numbers, out, count = pointer(args[0]), pointer(args[1]), args[3]
    for i in range(count):
        out[i] = -1
    for i in range(count):
        number = numbers[i]
        if number >= 0 and number < count:
            out[number] = i
    # As many places as there are: one is left over if one is named twice, or outside.
    missing = 0
    for i in range(count):
        if out[i] < 0:
            missing += 1
    pointer(args[2])[0] = uint8(1) if missing == 0 else uint8(0)


def distinct(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: integers; those that are new, in order; for each its number among these; how often each
    of these occurs; how many they are.  Parameter: how many integers.  In one tile.

    A table holds the numbers of what was met, one more each, by some bits of the integers; what
    finds its place taken takes the next.
    """
    x, new, number, often = pointer(args[0]), pointer(args[1]), pointer(args[2]), pointer(args[3])
    count = args[5]
    table, room = pointer(region(args[6] + worker * args[7], "int64")), 1
    while room < 2 * count:
        room = 2 * room
    for i in range(room):
        table[i] = 0
    found = 0
    for i in range(count):
        item = int64(x[i])
        place = (item ^ (item >> 7) ^ (item >> 17)) & (room - 1)
        while table[place] != 0 and int64(new[table[place] - 1]) != item:
            place = (place + 1) & (room - 1)
        if table[place] == 0:
            new[found] = x[i]
            often[found] = 0
            found += 1
            table[place] = found
        number[i] = table[place] - 1
        often[table[place] - 1] = often[table[place] - 1] + 1
    pointer(args[4])[0] = found


def coordinates(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: x, the places of what is not zero; how many there are, lines, length of a line, rank,
    then the sizes of the dimensions but the last one.  In one tile.
    """
    x, out = pointer(args[0]), pointer(args[1])
    room, lines, length, rank = args[2], args[3], args[4], args[5]
    found = 0
    for line in range(lines):
        for column in range(length):
            is_one, place = x[line * length + column] != 0, found * rank
            # Of vectors and matrices written at every position, and kept where it counts: nobody
            # foresees which those are.
            if found < room and rank <= 2:
                out[place] = line
                out[place + rank - 1] = column
                found += 1 if is_one else 0
            elif is_one and found < room:
                rest = line
                for turn in range(rank - 1):
                    axis = rank - 2 - turn
                    size = args[6 + axis]
                    out[place + axis] = rest % size
                    rest = rest // size
                out[place + rank - 1] = column
                found += 1


@helper
def block(x: Address, out: Address, m: int, n: int, i0: int, i1: int, j0: int, j1: int) -> None:
    """Whole squares go through registers."""
    source, target = pointer(x), pointer(out)
    i = i0
    while i + LANES <= i1:
        j = j0
        while j + LANES <= j1:
            transpose_tile(LANES, x + (i * n + j), n, out + (j * m + i), m)
            j += LANES
        for k in range(i, i + LANES):
            for q in range(j, j1):
                target[q * m + k] = source[k * n + q]
        i += LANES
    for q in range(j0, j1):
        for k in range(i, i1):
            target[q * m + k] = source[k * n + q]


def transpose(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are row blocks of all matrices."""
    m, n = args[2], args[3]
    blocks = (m + BLOCK - 1) // BLOCK
    for r in range(r0, r1):
        matrix = r // blocks
        i = (r - matrix * blocks) * BLOCK
        x, out = args[0] + matrix * m * n, args[1] + matrix * m * n
        for j in range(c0, c1, BLOCK):
            block(x, out, m, n, i, min(i + BLOCK, m), j, min(j + BLOCK, c1))
