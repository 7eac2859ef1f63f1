# SPDX-License-Identifier: Apache-2.0
"""Instructions of bytecode beside functions: moves, positions and reductions.

They get blocks of some rows by some columns, from row and column 0 on; see bytecode_kernels.py.
"""

from __future__ import annotations

from .plain_vocabulary import GIVEN, Arguments, Pointer, Scalar, helper, pointer, region

DTYPE: str = GIVEN  # of elements
FN: str = GIVEN  # of a reduction

# Words of arguments: of loads and stores,
REGISTER = 0
ADDRESS = 1
POSITIONS = 2
COUNT = 3  # of positions, and of strides, which end the words
DOWN, ACROSS = 4, 5  # strides of rows and of columns
OFFSETS = 6  # a register of further offsets, or 0
STRIDES = 7
# of positions: REGISTER, ADDRESS of the word, POSITIONS nothing, and
STEPS_DOWN, STEPS_ACROSS = 2, 3
# of what reduces.
TOTAL = 0
VALUES = 1
WHERE = 2  # a register of positions, or the address of how far a line is
PLACE = 3  # the address of the first position, or of a line's length
WIDTH, VECTORS, LANES = 4, 5, 6  # see jit/codegen/reductions.py


@helper
def first_offset(args: Arguments) -> int:
    """The offset of a block's first element, but for what is looked up."""
    positions, start = pointer(region(args[POSITIONS], "int64")), 0
    for axis in range(args[COUNT]):
        start += positions[axis] * args[STRIDES + axis]
    return start


def load(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: the register, the buffer and where elements are in it."""
    source = pointer(region(args[ADDRESS], DTYPE) + first_offset(args))
    register = pointer(region(args[REGISTER], DTYPE))
    down, across, count = args[DOWN], args[ACROSS], c1
    if args[OFFSETS] != 0:
        offsets = pointer(region(args[OFFSETS], "int64"))
        for r in range(r1):
            for c in range(c1):
                register[r * c1 + c] = source[r * down + c * across + offsets[r * c1 + c]]
    else:
        rows = r1
        if r1 > 1 and down == across * c1:
            rows, count = 1, r1 * c1
        for r in range(rows):
            if across == 1:
                for c in range(count):
                    register[r * count + c] = source[r * down + c]
            elif across == 0:
                value = source[r * down]
                for c in range(count):
                    register[r * count + c] = value
            else:
                for c in range(count):
                    register[r * count + c] = source[r * down + c * across]


def store(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: the register, the buffer and where elements are in it."""
    target = pointer(region(args[ADDRESS], DTYPE) + first_offset(args))
    register = pointer(region(args[REGISTER], DTYPE))
    down, across = args[DOWN], args[ACROSS]
    if args[OFFSETS] != 0:
        offsets = pointer(region(args[OFFSETS], "int64"))
        for r in range(r1):
            for c in range(c1):
                target[r * down + c * across + offsets[r * c1 + c]] = register[r * c1 + c]
    else:
        for r in range(r1):
            if across == 1:
                for c in range(c1):
                    target[r * down + c] = register[r * c1 + c]
            else:
                for c in range(c1):
                    target[r * down + c * across] = register[r * c1 + c]


def positions(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: the register, the address of the first position, and what a row and a column add."""
    register = pointer(region(args[REGISTER], "int64"))
    first = pointer(region(args[ADDRESS], "int64"))[0]
    down, across = args[STEPS_DOWN], args[STEPS_ACROSS]
    for r in range(r1):
        for c in range(c1):
            register[r * c1 + c] = first + r * down + c * across


def reduce_down(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: totals of columns, and values that they take, row by row."""
    totals = pointer(region(args[TOTAL], DTYPE))
    values = pointer(region(args[VALUES], DTYPE))
    for r in range(r1):
        for c in range(c1):
            value = values[r * c1 + c]
            if FN == "sum":
                totals[c] = totals[c] + value
            elif FN == "prod":
                totals[c] = totals[c] * value
            elif FN == "max":
                totals[c] = value if value > totals[c] else totals[c]
            elif FN == "min":
                totals[c] = value if value < totals[c] else totals[c]
            elif FN == "any":
                totals[c] = totals[c] | value
            else:
                totals[c] = totals[c] & value


def find_down(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: the best of columns so far, values, where the best are, the first row's position."""
    best, where = pointer(region(args[TOTAL], DTYPE)), pointer(region(args[WHERE], "int64"))
    values = pointer(region(args[VALUES], DTYPE))
    first = pointer(region(args[PLACE], "int64"))[0]
    for r in range(r1):
        for c in range(c1):
            value = values[r * c1 + c]
            # (Nothing is better than a NaN, nor it than anything.)
            if value > best[c] if FN == "argmax" else value < best[c]:
                best[c] = value
                where[c] = first + r


@helper
def combined(total: Scalar, value: Scalar) -> Scalar:
    """One more of a total."""
    return total + value if FN == "sum" else total * value


@helper
def take_lanes(lanes: Pointer, values: Pointer, count: int, many: int) -> None:
    """Every lane takes its own of some values."""
    for turn in range(0, count - many + 1, many):
        for lane in range(many):
            lanes[lane] = combined(lanes[lane], values[turn + lane])


@helper
def begin_lanes(lanes: Pointer, total: Scalar, many: int) -> None:
    """The first lane begins with the total so far."""
    for lane in range(many):
        lanes[lane] = 0.0 if FN == "sum" else 1.0
    lanes[0] = total


@helper
def joined_lanes(lanes: Pointer, width: int, vectors: int) -> Scalar:
    """The total of the vectors one after the other, then of halves."""
    for vector in range(1, vectors):
        for lane in range(width):
            lanes[lane] = combined(lanes[lane], lanes[vector * width + lane])
    half = width // 2
    while half > 0:
        for lane in range(half):
            lanes[lane] = combined(lanes[lane], lanes[half + lane])
        half = half // 2
    return lanes[0]


def reduce_lanes(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: a total, values of a piece of a line, where that begins, how long the line is, lanes.

    The order is that of jit/codegen/reductions.py.
    """
    total, lanes = pointer(region(args[TOTAL], DTYPE)), pointer(region(args[LANES], DTYPE))
    values = region(args[VALUES], DTYPE)
    at = pointer(region(args[WHERE], "int64"))[0]
    length = pointer(region(args[PLACE], "int64"))[0]
    width, vectors = args[WIDTH], args[VECTORS]
    if vectors == 0:
        # A short line, which is part of one vector.
        begin_lanes(lanes, total[0], width)
        take_lanes(lanes, pointer(values), length, length)
        total[0] = joined_lanes(lanes, width, 1)
    else:
        many = width * vectors
        whole = length - length % many
        count = max(min(whole - at, c1), 0)
        if count > 0:
            if at == 0:
                begin_lanes(lanes, total[0], many)
            take_lanes(lanes, pointer(values), count, many)
            if at + count == whole:
                total[0] = joined_lanes(lanes, width, vectors)
        left = c1 - count
        if left >= width:
            whole = left - left % width
            begin_lanes(lanes, total[0], width)
            take_lanes(lanes, pointer(values + count), whole, width)
            total[0] = joined_lanes(lanes, width, 1)
            count += whole
        rest = pointer(values)
        for c in range(count, c1):
            total[0] = combined(total[0], rest[c])
