# SPDX-License-Identifier: Apache-2.0
"""The kernels of arrays whose elements have other sizes each; see jit/library/ragged_arrays.py.

An entry tells of a piece: one more than where its bytes begin in the stack, how many those are,
and how many rows.
"""

from __future__ import annotations

from .plain_vocabulary import Address, Arguments, as_bytes, copy, helper, int64, pointer, region
from .step_table import HELD, MEMORY, NEEDED


@helper
def tell(entry: Address, start: int, count: int, rows: int) -> None:
    """Writes an entry."""
    pointer(entry)[0] = int64(start + 1)
    pointer(entry)[1] = int64(count)
    pointer(entry)[2] = int64(rows)


def keep(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: value, entry; bytes, rows; record, whose items are bytes.  There is room."""
    record = pointer(region(args[4], "int64"))
    copy(region(record[MEMORY] + record[HELD], "uint8"), as_bytes(args[0]), args[2])
    tell(args[1], record[HELD], args[2], args[3])
    record[HELD] = record[HELD] + args[2]
    record[NEEDED] = record[HELD] + 1


def take(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: entry, result; bytes; record, whose items are bytes."""
    record = pointer(region(args[3], "int64"))
    start = pointer(args[0])[0] - 1
    if start >= 0:
        copy(as_bytes(args[1]), region(record[MEMORY] + start, "uint8"), args[2])


def join(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: entries, result; number of entries; record, whose items are bytes."""
    record = pointer(region(args[3], "int64"))
    target = as_bytes(args[1])
    done = 0
    for i in range(args[2]):
        entry = args[0] + i * 3
        start, count = pointer(entry)[0] - 1, pointer(entry)[1]
        if start >= 0:
            copy(target + done, region(record[MEMORY] + start, "uint8"), count)
            done += count


def cut(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: value, lengths, entries, problem; bytes of a row, rows, parts; record, as above."""
    record = pointer(region(args[7], "int64"))
    row, total = args[4], 0
    for i in range(args[6]):
        rows = pointer(args[1])[i]
        if rows < 0 or rows > args[5] - total:
            total = args[5] + 1
            break
        tell(args[2] + i * 3, record[HELD] + total * row, rows * row, rows)
        total += rows
    pointer(args[3])[0] = total != args[5]
    copy(region(record[MEMORY] + record[HELD], "uint8"), as_bytes(args[0]), args[5] * row)
    record[HELD] = record[HELD] + args[5] * row
    record[NEEDED] = record[HELD] + 1
