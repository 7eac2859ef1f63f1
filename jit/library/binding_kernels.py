# SPDX-License-Identifier: Apache-2.0
"""The kernels that compute the sizes of a plan and write them where steps read them.

jit/schedule/size_code.py makes what they read: expressions of sizes as a list of operations on
registers, and where results go.
"""

from __future__ import annotations

from .plain_vocabulary import Arguments, Pointer, float64, helper, int64, pointer, region
from .step_table import COLUMN_TILE, COLUMNS, ROW, ROW_TILE, ROWS

# Operations on two registers.  Each is three words: which, and the registers.
ADD, MULTIPLY, DIVIDE, REMAINDER, LEAST, MOST = range(6)
# Registers: whether a number came out too large, the most scratch memory of a step, how many steps
# are cut into tiles, the bytes of all slots; then the symbols' values, constants, and the results
# of all operations.
TOO_LARGE, SCRATCH, CUT, BYTES, SYMBOLS = range(5)
# What is beyond is left to Python, whose numbers have no end.
BOUND = 1 << 62

# What `bind` reads: addresses of tables, and how long these are.
CODE, OPERATIONS, RESULT, OUTPUTS, NUMBERS, POSITIONS, SOURCES, ARGUMENTS = range(8)
SCRATCH_POSITIONS, SCRATCH_SOURCES, SCRATCHES, STEPS, STEP_COUNT, COSTS = range(8, 14)
SLOTS, SLOT_COUNT = range(14, 16)
# Of a step: its row, the numbers that it is made of (-1: none), how many rows a tile had better
# have (0: columns are not cut).
STEP_ROW, STEP_ROWS, STEP_COLUMNS, STEP_POSITIONS, STEP_ROW_TILE, STEP_COLUMN_TILE = range(6)
STEP_TOGETHER = 6
STEP_WORDS = 7

# What `hand_over` reads: positions of arguments; rows, the addresses of those that are written, and
# the number of the table that each is in; and how many rows of each table are cut, which it writes.
TAKEN, TAKEN_COUNT, TAKEN_ROWS, TAKEN_TO, TAKEN_TABLES, TAKEN_ROW_COUNT, CUTS, CUT_COUNT = range(8)

# A step estimated below this many simple instructions runs on the calling thread.
# That is some 10 µs on one core.  To share a step costs 1 to 2 µs where threads are awake, and tens
# where they have to be woken.
PARALLEL_FROM = 400_000
# Tiles of parallel steps are about this many simple instructions.
# Some 4 µs: a thread that comes late or is held up delays the others by little; to take one is an
# atomic addition.
TILE = 150_000
# Columns are cut at multiples of this, so that tiles start on vector boundaries.
COLUMN_UNIT = 64
# Scratch memory of a worker ends at a multiple of this.
ALIGN = 64


@helper
def quotient(a: int, b: int) -> int:
    """The quotient, rounded down, by a number above zero."""
    return a // b if a >= 0 else -((b - 1 - a) // b)


@helper
def is_too_large(x: float) -> bool:
    return x >= float64(BOUND) or x <= -float64(BOUND)


@helper
def computed(operation: int, a: int, b: int, registers: Pointer) -> int:
    """The result of an operation; what is beyond, or has no result, is noted."""
    if operation == ADD:
        return a + b
    if operation == LEAST:
        return min(a, b)
    if operation == MOST:
        return max(a, b)
    if operation == MULTIPLY:
        if is_too_large(float64(a) * float64(b)):
            registers[TOO_LARGE] = 1
            return 0
        return a * b
    if b <= 0:
        registers[TOO_LARGE] = 1
        return 0
    down = quotient(a, b)
    return down if operation == DIVIDE else a - down * b


@helper
def ceiling(a: int, b: int) -> int:
    return (a + b - 1) // b


@helper
def write_row(words: Pointer, row: int, rows: int, row_tile: int, columns: int, tile: int) -> int:
    """Writes how much there is to do in a step; 1 if it is more than one tile."""
    place = ROW * row
    words[place + ROWS] = rows
    words[place + ROW_TILE] = row_tile
    words[place + COLUMNS] = columns
    words[place + COLUMN_TILE] = tile
    return 1 if rows > row_tile or columns > tile else 0


@helper
def write_cut(words: Pointer, row: int, rows: int, columns: int, work: float, together: int) -> int:
    """Writes the row of a step that is cut by how much work it is; 1 if it is cut."""
    if work < float64(PARALLEL_FROM) or rows <= 0 or columns <= 0:
        return write_row(words, row, rows, max(rows, 1), columns, max(columns, 1))
    pieces = max(int64(work / float64(TILE)), 1)
    # Whole rows as long as there are enough of them: a row is read along memory.
    row_tile = ceiling(rows, min(pieces, rows))
    if together > 1:
        row_tile = max(row_tile // together, 1) * together
    left = pieces // ceiling(rows, row_tile)
    if together == 0 or left < 2:
        return write_row(words, row, rows, row_tile, columns, columns)
    tile = ceiling(ceiling(columns, left), COLUMN_UNIT) * COLUMN_UNIT
    return write_row(words, row, rows, row_tile, columns, tile)


@helper
def run_code(args: Arguments, registers: Pointer) -> None:
    """All operations, in order."""
    code, result = pointer(region(args[CODE], "int64")), args[RESULT]
    for i in range(SYMBOLS, result):
        if registers[i] >= BOUND or registers[i] <= -BOUND:
            registers[TOO_LARGE] = 1
    for i in range(args[OPERATIONS]):
        a, b = registers[code[3 * i + 1]], registers[code[3 * i + 2]]
        number = computed(code[3 * i], a, b, registers)
        if number >= BOUND or number <= -BOUND:
            registers[TOO_LARGE] = 1
            number = 0
        registers[result + i] = number


@helper
def write_arguments(args: Arguments, numbers: Pointer, words: Pointer) -> int:
    """Writes numbers, and how much scratch memory a worker has; the most that one has."""
    places = pointer(region(args[POSITIONS], "int64"))
    sources = pointer(region(args[SOURCES], "int64"))
    for i in range(args[ARGUMENTS]):
        words[places[i]] = numbers[sources[i]]
    places = pointer(region(args[SCRATCH_POSITIONS], "int64"))
    sources = pointer(region(args[SCRATCH_SOURCES], "int64"))
    most = 0
    for i in range(args[SCRATCHES]):
        room = quotient(numbers[sources[i]] + ALIGN - 1, ALIGN) * ALIGN
        words[places[i] + 1] = room
        most = max(most, room)
    return most


@helper
def write_rows(args: Arguments, numbers: Pointer, table: Pointer) -> int:
    """Writes how much there is to do in each step; how many are cut into tiles."""
    steps = pointer(region(args[STEPS], "int64"))
    costs = pointer(region(args[COSTS], "float64"))
    cut = 0
    for i in range(args[STEP_COUNT]):
        at = STEP_WORDS * i
        row, rows = steps[at + STEP_ROW], numbers[steps[at + STEP_ROWS]]
        columns = numbers[steps[at + STEP_COLUMNS]]
        if steps[at + STEP_ROW_TILE] >= 0:
            row_tile = max(numbers[steps[at + STEP_ROW_TILE]], 1)
            tile = max(numbers[steps[at + STEP_COLUMN_TILE]], 1)
            cut += write_row(table, row, rows, row_tile, columns, tile)
        else:
            work = float64(numbers[steps[at + STEP_POSITIONS]]) * costs[i]
            cut += write_cut(table, row, rows, columns, work, steps[at + STEP_TOGETHER])
    return cut


@helper
def write_counts(args: Arguments, numbers: Pointer, counts: Pointer) -> int:
    """Writes how many bytes each slot needs; the sum.  (Those of guesses may be negative.)"""
    sources = pointer(region(args[SLOTS], "int64"))
    total = 0
    for i in range(args[SLOT_COUNT]):
        counts[i] = max(numbers[sources[i]], 0)
        total += counts[i]
    return total


def bind(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Computes all numbers of a plan from its symbols and writes arguments and rows.

    args: see above; r0: the address of the registers; r1: of the numbers, behind which the bytes of
    slots are written; c0: of the arguments; c1: of the rows of all steps.
    """
    registers, numbers = pointer(region(r0, "int64")), pointer(region(r1, "int64"))
    run_code(args, registers)
    outputs = pointer(region(args[OUTPUTS], "int64"))
    for i in range(args[NUMBERS]):
        numbers[i] = registers[outputs[i]]
    counts = pointer(region(r1, "int64") + args[NUMBERS])
    registers[BYTES] = write_counts(args, numbers, counts)
    registers[SCRATCH] = write_arguments(args, numbers, pointer(region(c0, "int64")))
    registers[CUT] = write_rows(args, numbers, pointer(region(c1, "int64")))


def hand_over(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Copies the numbers among arguments, and what rows have to do.

    args: see above; r0: the address of the arguments that are read; r1: of those that are written;
    c0: of the rows that are read.
    """
    source, target = pointer(region(r0, "int64")), pointer(region(r1, "int64"))
    positions = pointer(region(args[TAKEN], "int64"))
    for i in range(args[TAKEN_COUNT]):
        target[positions[i]] = source[positions[i]]
    table, rows = pointer(region(c0, "int64")), pointer(region(args[TAKEN_ROWS], "int64"))
    places = pointer(region(args[TAKEN_TO], "int64"))
    tables, cuts = (
        pointer(region(args[TAKEN_TABLES], "int64")),
        pointer(region(args[CUTS], "int64")),
    )
    for i in range(args[CUT_COUNT]):
        cuts[i] = 0
    for i in range(args[TAKEN_ROW_COUNT]):
        row = pointer(region(places[i], "int64"))
        for word in range(ROWS, ROW):
            row[word] = table[ROW * rows[i] + word]
        if row[ROWS] > row[ROW_TILE] or row[COLUMNS] > row[COLUMN_TILE]:
            cuts[tables[i]] += 1
