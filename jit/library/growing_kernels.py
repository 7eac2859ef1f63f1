# SPDX-License-Identifier: Apache-2.0
"""The kernels of arrays of tensors that grow; see jit/library/growing.py.

Such an array is a stack of items, each a word that marks it (0 new, 1 written, 2 read and gone)
and, 8 bytes on, its element.
"""

from __future__ import annotations

from .plain_vocabulary import (
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


@helper
def item(record: Address, index: int) -> int:
    """Where an item is."""
    return int64(pointer(record)[MEMORY] + index * pointer(record)[ITEM_BYTES])


@helper
def put_item(record: Address, index: int, value: Address, size: int) -> int:
    """Writes an element for which there is room; 1 where it must not be written."""
    if index < 0:
        return 1
    mark = pointer(region(item(record, index), "int64"))
    bad = 0 if mark[0] == 0 else 1
    mark[0] = 1
    copy(region(item(record, index) + 8, "uint8"), value, size)
    pointer(record)[HELD] = max(pointer(record)[HELD], index + 1)
    return bad


def forget(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: record.  All elements are new, and there are none."""
    record = region(args[0], "int64")
    for index in range(pointer(record)[HELD]):
        pointer(region(item(record, index), "int64"))[0] = 0
    pointer(record)[HELD] = 0
    pointer(record)[NEEDED] = 0


def reach(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: indices; how many; record.  There must be room for these elements."""
    last = int64(-1)
    for row in range(args[1]):
        last = max(last, int64(pointer(args[0])[row]))
    pointer(region(args[2], "int64"))[NEEDED] = last + 1


def begin(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: record.  There are as many elements, all new, as there has to be room for."""
    record = pointer(region(args[0], "int64"))
    record[HELD] = record[NEEDED]


def append(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: indices, rows, problem; bytes of a row, how many; record.  There is room."""
    record = region(args[5], "int64")
    bad = 0
    for row in range(args[4]):
        index = int64(pointer(args[0])[row])
        bad |= put_item(record, index, as_bytes(args[1]) + row * args[3], args[3])
    pointer(args[2])[0] = uint8(bad)


def look(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: index, value, problem; bytes, whether it goes, whether new ones are zeros; record."""
    record = region(args[6], "int64")
    index = int64(pointer(args[0])[0])
    bad = 1
    if index >= 0 and index < pointer(record)[HELD]:
        mark = pointer(region(item(record, index), "int64"))
        if mark[0] == 1:
            bad = 0
            copy(as_bytes(args[1]), region(item(record, index) + 8, "uint8"), args[3])
        elif mark[0] == 0 and args[5] != 0:
            bad = 0
            for i in range(args[3]):
                pointer(as_bytes(args[1]))[i] = uint8(0)
        if args[4] != 0:
            mark[0] = 2
    pointer(args[2])[0] = uint8(bad)


def count(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: result; record.  How many items there are."""
    pointer(args[0])[0] = pointer(region(args[1], "int64"))[HELD]


def settle(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: memory, marks; bytes; record.  Moves elements to an array that grows no more."""
    record = region(args[3], "int64")
    for index in range(pointer(record)[HELD]):
        mark = pointer(region(item(record, index), "int64"))[0]
        if mark != 0:
            source = region(item(record, index) + 8, "uint8")
            copy(as_bytes(args[0]) + index * args[2], source, args[2])
            pointer(args[1])[index] = uint8(mark)
