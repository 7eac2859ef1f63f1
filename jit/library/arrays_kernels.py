# SPDX-License-Identifier: Apache-2.0
"""The kernels of arrays of tensors and of stacks; see jit/library/arrays.py."""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    as_bytes,
    copy,
    helper,
    int64,
    pointer,
    region,
    uint8,
)
from .step_table import HELD, ITEM_BYTES, MEMORY, NEEDED

ADDS: bool = GIVEN  # a second write to an element adds to the first


def read(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: index, memory, marks, result, problem; bytes of one, elements, whether it goes."""
    index = int64(pointer(args[0])[0])
    inside = index >= 0 and index < args[6]
    if c0 == 0:
        bad = uint8(1)
        if inside:
            mark = pointer(args[2])[index]
            if mark != 2:
                bad = uint8(0)
            if args[7] != 0:
                pointer(args[2])[index] = uint8(2)
        pointer(args[4])[0] = bad
    if inside:
        end = min(c1, args[5])  # there is one column even if elements are empty
        memory, value = as_bytes(args[1]), as_bytes(args[3])
        copy(value + c0, memory + (index * args[5] + c0), end - c0)


@helper
def put_row(
    memory: Address, marks: Address, value: Address, index: int, size: int, c0: int, c1: int
) -> int:
    """Writes an element; 1 where it must not be written.

    Its size is in elements of its dtype where these are added, else in bytes.
    """
    mark = 0
    if c0 == 0:
        mark = int64(pointer(marks)[index])
        pointer(marks)[index] = uint8(1)
    if ADDS:
        target, source = pointer(memory + index * size), pointer(value)
        for i in range(c0, min(c1, size)):
            target[i] = target[i] + source[i]
        return 1 if mark == 2 else 0
    copy(memory + (index * size + c0), value + c0, min(c1, size) - c0)
    return 1 if mark != 0 else 0


def write(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: index, value, memory, marks, problem; size of an element, elements."""
    index = int64(pointer(args[0])[0])
    memory = args[2] if ADDS else as_bytes(args[2])
    value = args[1] if ADDS else as_bytes(args[1])
    bad = 1
    if index >= 0 and index < args[6]:
        bad = put_row(memory, args[3], value, index, args[5], c0, c1)
    if c0 == 0:
        pointer(args[4])[0] = uint8(bad)


def scatter(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: indices, values, memory, marks, problem; size of an element, elements, rows."""
    memory = args[2] if ADDS else as_bytes(args[2])
    values = args[1] if ADDS else as_bytes(args[1])
    bad = 0
    for row in range(args[7]):
        index = int64(pointer(args[0])[row])
        if index < 0 or index >= args[6]:
            bad = 1
        else:
            bad |= put_row(memory, args[3], values + row * args[5], index, args[5], c0, c1)
    if c0 == 0:
        pointer(args[4])[0] = uint8(bad)


def clear(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: a record (jit/library/step_table.py)."""
    record = pointer(region(args[0], "int64"))
    record[HELD] = 0
    record[NEEDED] = 1


def push(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: value; bytes; record.  There is room."""
    record = pointer(region(args[2], "int64"))
    target = region(record[MEMORY] + record[HELD] * args[1], "uint8")
    copy(target, as_bytes(args[0]), args[1])
    record[HELD] = record[HELD] + 1
    record[NEEDED] = record[HELD] + 1


def pop(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: result; bytes; record."""
    record = pointer(region(args[2], "int64"))
    if record[HELD] > 0:
        record[HELD] = record[HELD] - 1
        record[NEEDED] = record[HELD] + 1
        source = region(record[MEMORY] + record[HELD] * args[1], "uint8")
        copy(as_bytes(args[0]), source, args[1])


# Arrays that grow are stacks of items, each a word that marks it and, 8 bytes on, its element.


def forget(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: record.  All elements are new."""
    record = pointer(region(args[0], "int64"))
    for index in range(record[HELD]):
        pointer(region(record[MEMORY] + index * record[ITEM_BYTES], "int64"))[0] = 0
    record[HELD] = 0
    record[NEEDED] = 0


def reach(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: index; record.  There must be room for the element."""
    pointer(region(args[1], "int64"))[NEEDED] = int64(pointer(args[0])[0]) + 1


def append(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: index, value, problem; bytes; record.  There is room."""
    record = pointer(region(args[4], "int64"))
    index = int64(pointer(args[0])[0])
    bad = 1
    if index >= 0:
        mark = pointer(region(record[MEMORY] + index * record[ITEM_BYTES], "int64"))
        bad = 0 if mark[0] == 0 else 1
        mark[0] = 1
        target = region(record[MEMORY] + index * record[ITEM_BYTES] + 8, "uint8")
        copy(target, as_bytes(args[1]), args[3])
        record[HELD] = max(record[HELD], index + 1)
    pointer(args[2])[0] = uint8(bad)


def count(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: result; record.  How many elements there are."""
    pointer(args[0])[0] = pointer(region(args[1], "int64"))[HELD]


def settle(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: memory, marks; bytes; record.  Moves elements to an array that grows no more."""
    record = pointer(region(args[3], "int64"))
    for index in range(record[HELD]):
        if pointer(region(record[MEMORY] + index * record[ITEM_BYTES], "int64"))[0] != 0:
            source = region(record[MEMORY] + index * record[ITEM_BYTES] + 8, "uint8")
            copy(as_bytes(args[0]) + index * args[2], source, args[2])
            pointer(args[1])[index] = uint8(1)


def items(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: result; bytes of an item; record.  All items of a stack."""
    record = pointer(region(args[2], "int64"))
    copy(as_bytes(args[0]), region(record[MEMORY], "uint8"), record[HELD] * args[1])
