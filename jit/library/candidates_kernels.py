# SPDX-License-Identifier: Apache-2.0
"""The kernels that draw classes, one after the other; see jit/library/candidates.py.

The draws are those of ops/nn/candidate_kernels.py: words of 32 bits of one stream, in order.
"""

from __future__ import annotations

from collections.abc import Callable

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    exp,
    helper,
    int64,
    pointer,
    region,
    uint64,
)
from .random_kernels import HALF, block, to_double

# What draws a class: given a table, how many classes there are, the numbers that do not count,
# the stream and the next word of it; the class, and the word behind.
SAMPLE: Callable[..., tuple[Scalar, int]] = GIVEN
OUT: int = GIVEN  # the number of the classes among the arguments, behind a table
TRIES: int = GIVEN  # and that of how many draws there were

EMPTY = -1
SPREAD = uint64(0x9E3779B97F4A7C15)  # by which classes are spread over places (Fibonacci hashing)
FREE_BITS = uint64(64)


@helper
def two_words(key: Scalar, low: Scalar, high: Scalar, at: int) -> tuple[Scalar, Scalar]:
    """Two words, of which the first has an even number."""
    n0, n1, n2, n3 = block(key, low, high, uint64(at >> 2))
    is_second = at & 2
    return n2 if is_second else n0, n3 if is_second else n1


@helper
def uniform(
    table: Address,
    size: int,
    skewed: int,
    key: Scalar,
    low: Scalar,
    high: Scalar,
    at: int,
) -> tuple[int, int]:
    """All classes are equally probable: 64 bits each, drawn again in the first, short period."""
    found = uint64(0)
    is_open = True
    while is_open:
        w0, w1 = two_words(key, low, high, at)
        found = w0 | (w1 << HALF)
        at += 2
        is_open = found < uint64(skewed)
    return int64(found % uint64(size)), at


@helper
def log_uniform(
    table: Address,
    size: int,
    skewed: int,
    key: Scalar,
    low: Scalar,
    high: Scalar,
    at: int,
) -> tuple[int, int]:
    """Zipf's law; table: the logarithm of size + 1.  Rounding may reach the end of the range."""
    w0, w1 = two_words(key, low, high, at)
    number = int64(exp(to_double(w0, w1) * pointer(table)[0]))
    return (number - 1) % size, at + 2


@helper
def is_new(places: Scalar, bits: int, value: int) -> bool:
    """Is a class not in a table of 2 ** bits places?  Then it is put there."""
    at = int64((uint64(value) * SPREAD) >> (FREE_BITS - uint64(bits)))
    while places[at] != EMPTY and places[at] != value:
        at = (at + 1) & ((1 << bits) - 1)
    was_empty = places[at] == EMPTY
    places[at] = value
    return was_empty


def draw(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: perhaps a table, classes, how many draws there were; count, bits of a set of classes
    (0: they may come again), how many there are, the numbers that do not count; the stream's
    position; scratch: the set of those that were drawn.
    """
    table = args[0]
    found, tries = pointer(args[OUT]), pointer(args[TRIES])
    count, bits, size, skewed = args[OUT + 2], args[OUT + 3], args[OUT + 4], args[OUT + 5]
    key, low, high = uint64(args[OUT + 6]), uint64(args[OUT + 7]), uint64(args[OUT + 8])
    drawn, at, many = 0, 0, 0
    if bits:
        memory = region(args[OUT + 9] + worker * args[OUT + 10], "int64")
        places = pointer(memory)
        for i in range(1 << bits):
            places[i] = EMPTY
        while drawn < count:
            value, at = SAMPLE(table, size, skewed, key, low, high, at)
            many += 1
            if is_new(places, bits, value):
                found[drawn] = value
                drawn += 1
    else:
        while drawn < count:
            value, at = SAMPLE(table, size, skewed, key, low, high, at)
            found[drawn] = value
            drawn += 1
        many = count
    tries[0] = many
