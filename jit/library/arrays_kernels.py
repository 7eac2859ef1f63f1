# SPDX-License-Identifier: Apache-2.0
"""The kernels of arrays of tensors; see jit/library/arrays.py."""

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
    uint8,
)

ADDS: bool = GIVEN  # a second write to an element adds to the first
NUMBERS: bool = GIVEN  # what is copied is counted in numbers of the array's dtype, not in bytes


@helper
def moved(target: Address, source: Address, count: int) -> None:
    """Copies numbers one by one, so that many threads take few each; or bytes."""
    if NUMBERS:
        into, given = pointer(target), pointer(source)
        for i in range(count):
            into[i] = given[i]
    else:
        copy(target, source, count)


def read(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: index, memory, marks, result, problem; size of one, elements, whether it goes."""
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
        memory = args[1] if NUMBERS else as_bytes(args[1])
        value = args[3] if NUMBERS else as_bytes(args[3])
        moved(value + c0, memory + (index * args[5] + c0), end - c0)


@helper
def put_row(
    memory: Address, marks: Address, value: Address, index: int, size: int, c0: int, c1: int
) -> int:
    """Writes an element; 1 where it must not be written.

    Its size is in numbers of its dtype where these are added or copied, else in bytes.
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
    moved(memory + (index * size + c0), value + c0, min(c1, size) - c0)
    return 1 if mark != 0 else 0


def write(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: index, value, memory, marks, problem; size of an element, elements."""
    index = int64(pointer(args[0])[0])
    memory = args[2] if ADDS or NUMBERS else as_bytes(args[2])
    value = args[1] if ADDS or NUMBERS else as_bytes(args[1])
    bad = 1
    if index >= 0 and index < args[6]:
        bad = put_row(memory, args[3], value, index, args[5], c0, c1)
    if c0 == 0:
        pointer(args[4])[0] = uint8(bad)


def put_whole(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: value, memory; the size of both."""
    value = args[0] if NUMBERS else as_bytes(args[0])
    memory = args[1] if NUMBERS else as_bytes(args[1])
    moved(memory + c0, value + c0, min(c1, args[2]) - c0)


def scatter(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: indices, values, memory, marks, problem; size of an element, elements, rows."""
    memory = args[2] if ADDS or NUMBERS else as_bytes(args[2])
    values = args[1] if ADDS or NUMBERS else as_bytes(args[1])
    bad = 0
    for row in range(args[7]):
        index = int64(pointer(args[0])[row])
        if index < 0 or index >= args[6]:
            bad = 1
        else:
            bad |= put_row(memory, args[3], values + row * args[5], index, args[5], c0, c1)
    if c0 == 0:
        pointer(args[4])[0] = uint8(bad)
