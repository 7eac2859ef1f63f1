# SPDX-License-Identifier: Apache-2.0
"""The machine that runs bytecode.

A program (jit/codegen/bytecode.py) is a block of words: a header, positions on the kernel's axes,
which positions make rows, what the sections are, instructions, and a block of arguments for each.
An instruction is a kernel.  It gets a block of elements of each operand, some rows by some columns,
in registers, which are memory for LIMIT elements.  Functions see them as one line.

The machine takes the place of a kernel that is not compiled.  Whatever goes for all threads lies on
the kernel's desk, to which the word in front of its arguments points.  For every tile a thread sets
up the program in memory of its own; no Python is run, unless more is done than what it would have
taken to compile the kernel.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Arguments,
    Pointer,
    atomic_add,
    atomic_load,
    call_kernel,
    helper,
    place,
    pointer,
    region,
)

IS_MAP: bool = GIVEN  # the form of kernels; else that of columns
IS_ROW: bool = GIVEN
LIMIT = 512  # the most elements of a block

# In front of a kernel's arguments: memory for each thread, how much that is, and the desk.
MEMORY, BYTES, DESK = -3, -2, -1
LEAD = 3
# Words of a desk: machine code that does instead, or 0; what to call before more is done than
# ENOUGH; how many elements instructions had so far; may nothing be done any more?
TARGET, ASK, DONE, ENOUGH, IS_BROKEN = 0, 1, 2, 3, 4
# Then what a program is made of, each as how much there is and where: its words; pairs of a word
# and how far what it points to lies in registers, in the words, and the word of arguments that it
# is; registers that hold a constant, as where they are, eight bytes of it, and how often.
WORDS, REGISTERS, INNER_WORDS, GIVEN_WORDS, CONSTANTS = 8, 10, 12, 14, 16
DESK_WORDS = 18
# What an instruction takes beside its elements, in elements.
OVERHEAD = 32
LINE = 64  # bytes

# Words of a program: addresses, or places in it.
AXES = 0  # positions on them
INNER = 1  # the axis of columns
OUTER, OUTER_COUNT = 2, 3  # pairs of an axis and its size, the last changes first
BESIDE = 4  # may a block have several rows?
REDUCE, REDUCE_COUNT = 5, 6  # spans, outermost first
LEVELS = 7  # how many passes finish reductions
SECTIONS = 8  # pairs: the first instruction of each, and the first behind it
CODE = 9
AT, LENGTH = 10, 11  # of a line that is reduced: where a block begins in it, and how long it is
USED = 12  # elements that instructions had
COLUMNS = 13  # that rows have
HEADER = 14
# A span: the axis, its size, and the axis whose positions are pieces of it, or -1, and how long
# they are; then where it begins and ends in a row.
SPAN = 6
# An instruction: addresses of the kernel and its arguments, and how it sees blocks.
STEP = 3
IN_SQUARES, IN_LINE, IN_COLUMN = 0, 1, 2
# Sections: what comes first, then the passes, of three each, then late stores, then the others.
FIRST = 0
PASS = 1


@helper
def put_addresses(words: Pointer, desk: Pointer, kind: int, first: int, scale: int) -> None:
    """Words that point to somewhere behind a place."""
    for pair in range(desk[kind]):
        at = desk[kind + 1] + 2 * pair
        words[desk[at]] = first + scale * desk[at + 1]


@helper
def set_up(args: Arguments, desk: Pointer, memory: int) -> None:
    """Makes a program, and the registers behind it, in some memory."""
    words, first = pointer(region(memory, "int64")), desk[WORDS + 1]
    for number in range(desk[WORDS]):
        words[number] = desk[first + number]
    registers = memory + (8 * desk[WORDS] + LINE - 1) // LINE * LINE
    put_addresses(words, desk, REGISTERS, registers, 1)
    put_addresses(words, desk, INNER_WORDS, memory, 8)
    for pair in range(desk[GIVEN_WORDS]):
        at = desk[GIVEN_WORDS + 1] + 2 * pair
        words[desk[at]] = args[desk[at + 1]]
    for constant in range(desk[CONSTANTS]):
        at = desk[CONSTANTS + 1] + 3 * constant
        register, bits = pointer(region(registers + desk[at], "int64")), desk[at + 1]
        for number in range(desk[at + 2]):
            register[number] = bits


@helper
def note(words: Pointer, desk: Pointer, address: int, elements: int) -> None:
    """Counts what was done; the first tile tells how much there is to do."""
    used, done = words[USED], desk[DONE]
    if done == 0 and elements > 0:
        every = max(words[COLUMNS], 1)
        for axis in range(words[OUTER_COUNT]):
            every *= words[words[OUTER] + 2 * axis + 1]
        if used * (every // elements) > desk[ENOUGH]:
            used = max(used, desk[ENOUGH] + 1)
    atomic_add(address + 8 * DONE, used)


@helper
def is_done(args: Arguments, worker: int, r0: int, r1: int, c0: int, c1: int) -> bool:
    """Has machine code done it, or may nothing be done?"""
    desk = pointer(region(args[DESK], "int64"))
    if desk[TARGET] == 0 and desk[DONE] > desk[ENOUGH]:
        call_kernel(desk[ASK], place(args), r0, r1, c0, c1, worker)
    target = atomic_load(args[DESK])
    if target != 0:
        call_kernel(target, place(args), r0, r1, c0, c1, worker)
    return target != 0 or desk[IS_BROKEN] != 0


@helper
def run_section(words: Pointer, number: int, rows: int, columns: int, worker: int) -> None:
    """Runs the instructions of a section for a block."""
    at = words[SECTIONS] + 2 * number
    words[USED] += (words[at + 1] - words[at]) * (rows * columns + OVERHEAD)
    for i in range(words[at], words[at + 1]):
        step = words[CODE] + STEP * i
        kernel, block, form = words[step], words[step + 1], words[step + 2]
        if form == IN_LINE:
            call_kernel(kernel, block, 0, 1, 0, rows * columns, worker)
        elif form == IN_COLUMN:
            call_kernel(kernel, block, 0, rows * columns, 0, 1, worker)
        else:
            call_kernel(kernel, block, 0, rows, 0, columns, worker)


@helper
def go_to(words: Pointer, row: int) -> None:
    """Finds the positions of a row."""
    rest, axis = row, words[OUTER_COUNT] - 1
    while axis > 0:
        pair = words[OUTER] + 2 * axis
        size = words[pair + 1]
        words[words[AXES] + words[pair]] = rest % size
        rest = rest // size
        axis -= 1
    # (The outermost axis has no end here: nothing is divided by its size.)
    if axis == 0:
        words[words[AXES] + words[words[OUTER]]] = rest


@helper
def rows_beside(words: Pointer, row: int, end: int, columns: int) -> int:
    """How many rows, from one on, that go along one axis, are a block."""
    if words[BESIDE] == 0:
        return 1
    left = end - row
    count = words[OUTER_COUNT]
    if count > 1:
        pair = words[OUTER] + 2 * (count - 1)
        left = min(left, words[pair + 1] - words[words[AXES] + words[pair]])
    return max(min(left, LIMIT // columns), 1)


@helper
def find_limits(words: Pointer) -> None:
    """Where the reduce axes begin and end in the present row."""
    for number in range(words[REDUCE_COUNT]):
        span = words[REDUCE] + SPAN * number
        low, high = 0, words[span + 1]
        if words[span + 2] >= 0:
            low = words[words[AXES] + words[span + 2]] * words[span + 3]
            high = min(low + words[span + 3], high)
        words[span + 4], words[span + 5] = low, high


@helper
def count_pieces(words: Pointer) -> int:
    """How many positions the outer ones of the reduce axes have."""
    total = 1
    for number in range(words[REDUCE_COUNT] - 1):
        span = words[REDUCE] + SPAN * number
        total *= max(words[span + 5] - words[span + 4], 0)
    return total


@helper
def go_to_piece(words: Pointer, piece: int) -> None:
    """Finds the positions on the outer ones of the reduce axes."""
    rest, number = piece, words[REDUCE_COUNT] - 2
    while number >= 0:
        span = words[REDUCE] + SPAN * number
        extent = words[span + 5] - words[span + 4]
        words[words[AXES] + words[span]] = words[span + 4] + rest % extent
        rest = rest // extent
        number -= 1


@helper
def along_rows(words: Pointer, section: int, worker: int) -> None:
    """Runs a section for all positions on the reduce axes, in order."""
    last = words[REDUCE] + SPAN * (words[REDUCE_COUNT] - 1)
    low, high = words[last + 4], words[last + 5]
    words[LENGTH] = high - low
    for piece in range(count_pieces(words)):
        go_to_piece(words, piece)
        at = low
        while at < high:
            width = min(high - at, LIMIT)
            words[words[AXES] + words[last]] = at
            words[AT] = at - low
            run_section(words, section, 1, width, worker)
            at += width


@helper
def down_columns(words: Pointer, section: int, columns: int, worker: int) -> None:
    """Runs a section for all positions on the reduce axes, in order, of some columns."""
    last = words[REDUCE] + SPAN * (words[REDUCE_COUNT] - 1)
    low, high = words[last + 4], words[last + 5]
    for piece in range(count_pieces(words)):
        go_to_piece(words, piece)
        at = low
        while at < high:
            count = min(high - at, max(LIMIT // columns, 1))
            words[words[AXES] + words[last]] = at
            run_section(words, section, count, columns, worker)
            at += count


@helper
def go_through_map(words: Pointer, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """A program of the map form."""
    run_section(words, FIRST, 1, LIMIT, worker)
    row = r0
    while row < r1 and c0 < c1:
        go_to(words, row)
        count = rows_beside(words, row, r1, c1 - c0)
        column = c0
        while column < c1:
            width = min(c1 - column, LIMIT)
            words[words[AXES] + words[INNER]] = column
            run_section(words, PASS, count, width, worker)
            column += width
        row += count


@helper
def go_along_rows(words: Pointer, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """A program of the row form."""
    run_section(words, FIRST, 1, LIMIT, worker)
    end = PASS + 3 * words[LEVELS]
    for row in range(r0, r1):
        go_to(words, row)
        find_limits(words)
        for level in range(words[LEVELS]):
            run_section(words, PASS + 3 * level, 1, 1, worker)
            along_rows(words, PASS + 3 * level + 1, worker)
            run_section(words, PASS + 3 * level + 2, 1, 1, worker)
        late = words[SECTIONS] + 2 * end
        if words[late] < words[late + 1]:
            along_rows(words, end, worker)
        run_section(words, end + 1, 1, 1, worker)


@helper
def go_down_columns(words: Pointer, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """A program of the column form."""
    run_section(words, FIRST, 1, LIMIT, worker)
    end = PASS + 3 * words[LEVELS]
    for row in range(r0, r1):
        go_to(words, row)
        find_limits(words)
        column = c0
        while column < c1:
            width = min(c1 - column, LIMIT)
            words[words[AXES] + words[INNER]] = column
            if words[LEVELS] > 0:
                run_section(words, PASS, 1, width, worker)
                down_columns(words, PASS + 1, width, worker)
                run_section(words, PASS + 2, 1, width, worker)
            late = words[SECTIONS] + 2 * end
            if words[late] < words[late + 1]:
                down_columns(words, end, width, worker)
            run_section(words, end + 1, 1, width, worker)
            column += width


def run(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: those of a kernel of the form, which has a desk."""
    if not is_done(args, worker, r0, r1, c0, c1):
        desk, memory = pointer(region(args[DESK], "int64")), args[MEMORY] + worker * args[BYTES]
        set_up(args, desk, memory)
        words, elements = pointer(region(memory, "int64")), r1 - r0
        if IS_MAP:
            go_through_map(words, r0, r1, c0, c1, worker)
        elif IS_ROW:
            go_along_rows(words, r0, r1, c0, c1, worker)
        else:
            go_down_columns(words, r0, r1, c0, c1, worker)
        if not IS_ROW:
            elements = elements * (c1 - c0)
        note(words, desk, args[DESK], elements)
