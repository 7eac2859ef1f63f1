# SPDX-License-Identifier: Apache-2.0
"""The kernels of stacks; see jit/library/stacks.py."""

from __future__ import annotations

from .plain_vocabulary import Arguments, as_bytes, copy, helper, pointer, region
from .step_table import (
    BLOCK,
    CHANGE,
    CHANGED,
    HELD,
    LATER,
    MEMORY,
    MOVE,
    NEEDED,
    PUTS,
    STACK,
)

WORD = 4  # bytes that a thread of a device moves at once


def clear(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: a record (jit/library/step_table.py)."""
    record = pointer(region(args[0], "int64"))
    record[HELD] = 0
    record[NEEDED] = 1


def begin(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: number of items; record.  Empties it, and there must be room for so many."""
    record = pointer(region(args[1], "int64"))
    record[HELD] = 0
    record[NEEDED] = args[0]


def push(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: value; bytes; record.  There is room."""
    record = pointer(region(args[2], "int64"))
    target = region(record[MEMORY] + record[HELD] * args[1], "uint8")
    copy(target, as_bytes(args[0]), args[1])
    record[HELD] = record[HELD] + 1
    record[NEEDED] = record[HELD] + 1


def room(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: number of items; record.  There must be room for so many more."""
    record = pointer(region(args[1], "int64"))
    record[NEEDED] = record[HELD] + args[0]


def push_rows(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: value; bytes of an item, number of items; record.  There is room."""
    record = pointer(region(args[3], "int64"))
    target = region(record[MEMORY] + record[HELD] * args[1], "uint8")
    copy(target, as_bytes(args[0]), args[1] * args[2])
    record[HELD] = record[HELD] + args[2]
    record[NEEDED] = record[HELD] + 1


def pop(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: result; bytes; record."""
    record = pointer(region(args[2], "int64"))
    if record[HELD] > 0:
        record[HELD] = record[HELD] - 1
        record[NEEDED] = record[HELD] + 1
        source = region(record[MEMORY] + record[HELD] * args[1], "uint8")
        copy(as_bytes(args[0]), source, args[1])


def push_sized(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: value, sizes; bytes of each; record, whose items are bytes.  There is room."""
    record = pointer(region(args[4], "int64"))
    target = region(record[MEMORY] + record[HELD], "uint8")
    copy(target, as_bytes(args[0]), args[2])
    behind = region(record[MEMORY] + record[HELD] + args[2], "uint8")
    copy(behind, as_bytes(args[1]), args[3])
    record[HELD] = record[HELD] + args[2] + args[3]
    record[NEEDED] = record[HELD] + 1


def top(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: result; bytes; record, whose items are bytes.  The last ones, which stay."""
    record = pointer(region(args[2], "int64"))
    source = region(record[MEMORY] + record[HELD] - args[1], "uint8")
    copy(as_bytes(args[0]), source, args[1])


def pop_sized(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: result; its bytes, bytes of the sizes behind; record, whose items are bytes."""
    record = pointer(region(args[3], "int64"))
    record[HELD] = record[HELD] - args[1] - args[2]
    record[NEEDED] = record[HELD] + 1
    copy(as_bytes(args[0]), region(record[MEMORY] + record[HELD], "uint8"), args[1])


def items(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: result; bytes of an item; record.  All items of a stack."""
    record = pointer(region(args[2], "int64"))
    copy(as_bytes(args[0]), region(record[MEMORY], "uint8"), record[HELD] * args[1])


# The same for devices, of whose threads each copies a part: first room is made, then items are
# copied, and only then the stack has them.


def put(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: value; bytes of an item, of the value, and where in the item it goes; record."""
    record = pointer(region(args[4], "int64"))
    target = region(record[MEMORY] + record[HELD] * args[1] + args[3] + c0, "uint8")
    copy(target, as_bytes(args[0]) + c0, min(c1, args[2]) - c0)


def look(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: result; bytes of an item, of the result, and where it is behind the items; record."""
    record = pointer(region(args[4], "int64"))
    source = region(record[MEMORY] + record[HELD] * args[1] + args[3] + c0, "uint8")
    copy(as_bytes(args[0]) + c0, source, min(c1, args[2]) - c0)


def added(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: number of items; record."""
    record = pointer(region(args[1], "int64"))
    record[HELD] = record[HELD] + args[0]
    record[NEEDED] = record[HELD] + 1


def taken(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: number of items; record."""
    record = pointer(region(args[1], "int64"))
    record[HELD] = max(record[HELD] - args[0], 0)
    record[NEEDED] = record[HELD] + 1


# What stands side by side, in one launch for all stacks: first every item is copied, as if those
# before had been counted already, and then all are.


def moves(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: a table of what `put` and `look` would do (step_table.py).  Rows are its rows."""
    table = pointer(args[0])
    for r in range(r0, r1):
        block = pointer(region(table[MOVE * r + BLOCK], "int64"))
        record = pointer(region(block[4], "int64"))
        held = max(record[HELD] + table[MOVE * r + LATER], 0)
        item = record[MEMORY] + held * block[1] + block[3] + c0
        if table[MOVE * r + PUTS] > 0:
            moved(item, block[0] + c0, min(c1, block[2]) - c0)
        else:
            moved(block[0] + c0, item, min(c1, block[2]) - c0)


@helper
def moved(to: int, source: int, count: int) -> None:
    """Copies so many bytes from one address to another; none if there are less than that."""
    if count == WORD and to % WORD == 0 and source % WORD == 0:
        word = pointer(region(to, "int32"))
        word[0] = pointer(region(source, "int32"))[0]
    elif count > 0:
        copy(region(to, "uint8"), region(source, "uint8"), count)


def changes(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: a table of records, and how many items each has more.  Rows are its rows."""
    table = pointer(args[0])
    for r in range(r0, r1):
        record = pointer(region(table[CHANGED * r + STACK], "int64"))
        record[HELD] = max(record[HELD] + table[CHANGED * r + CHANGE], 0)
        record[NEEDED] = record[HELD] + 1
