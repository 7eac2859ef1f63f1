# SPDX-License-Identifier: Apache-2.0
"""Functions for the tests of jit/library/template.py, which need a module with a source."""

from __future__ import annotations

from collections.abc import Callable

from numbaflow.jit.library.plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    helper,
    pointer,
    uint64,
)

FIRST: bool = GIVEN
SECOND: bool = GIVEN
SIZE: int = GIVEN  # 0 where it is not known
STEPS: tuple[tuple[int, int], ...] = GIVEN
COMBINE: Callable[[int, int], int] = GIVEN
LOW = uint64(0xFFFFFFFF)


@helper
def add(x: int, y: int) -> int:
    """The sum."""
    return x + y


@helper
def subtract(x: int, y: int) -> int:
    return x - y


def chosen(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Goes where constants say."""
    out = pointer(args[0])
    # Above a branch that may be left out.
    if FIRST:
        out[0] = 1  # behind a statement
    elif r0 > 1 and SECOND:
        out[0] = 2
    elif SECOND:
        # Inside of a branch.
        out[0] = 3
    else:
        if r1 > 3:
            out[0] = 4
    if r1 > 4:
        if FIRST and SECOND:
            out[1] = 5
    elif not FIRST:
        out[1] = 6


def sized(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    out = pointer(args[0])
    total = 0
    for step, weight in STEPS:
        for i in range(r0, r1, step):
            total += weight * i if weight > 1 else i
    out[0] = COMBINE(total, (SIZE or c1) * (2 if FIRST else c0))
    out[1] = (
        total if SECOND else  # a long condition
        total + 1
    ) * (FIRST or SECOND or c1) * 2  # fmt: skip


def unsigned(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    pointer(args[0])[0] = low_bits(args[0], c1)


@helper
def low_bits(address: Address, value: int) -> Scalar:
    return uint64(value) & LOW


def twice(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    pointer(args[0])[0] = COMBINE(add(r0, r1), c0)


def left(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    for i in range(r0, r1):
        for step, weight in STEPS:
            if i == step * weight:
                continue
            pointer(args[0])[0] = i


def ended(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    for i in range(r0, r1):
        if i > c1:
            break
    else:
        pointer(args[0])[0] = 1


def filled(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int = 0) -> None:
    pointer(args[0])[0] = worker


def wrong(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    pointer(args[0])[0] = Callable
