# SPDX-License-Identifier: Apache-2.0
"""The kernels of random numbers from Philox4x32-10; see jit/library/random.py.

Logarithms, sines and cosines in single precision are those of jit/kernel/glibc_float32.py.
"""

from __future__ import annotations

from collections.abc import Callable

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    bits_as_float,
    cos,
    float32,
    float64,
    float_as_bits,
    helper,
    int64,
    log,
    pointer,
    sin,
    sqrt,
    uint32,
    uint64,
)

Four = tuple[Scalar, Scalar, Scalar, Scalar]

OUT: int = GIVEN  # the number of the output, behind the inputs
FROM_SEEDS: bool = GIVEN  # are two seeds the first input?
FIRST: int = GIVEN  # the number of what VALUES gets first: a table, or the least integer
PER: int = GIVEN  # values that a block becomes
STRIDE: int = GIVEN  # blocks that PER values own where some are rejected
VALUES: Callable[..., tuple[Scalar, ...]] = GIVEN  # what one block becomes

# The numbers of logf and sincosf.
LN2: float = GIVEN
A0: float = GIVEN
A1: float = GIVEN
A2: float = GIVEN
TWO_OVER_PI: float = GIVEN
HALF_PI: float = GIVEN
S1: float = GIVEN
S2: float = GIVEN
S3: float = GIVEN
C1: float = GIVEN
C2: float = GIVEN
C3: float = GIVEN
C4: float = GIVEN

# Constants are unsigned so that Numba does not turn their products into floats.
LOW = uint64(0xFFFFFFFF)
HALF = uint64(32)
M0, M1 = uint64(0xD2511F53), uint64(0xCD9E8D57)
W0, W1 = uint64(0x9E3779B9), uint64(0xBB67AE85)
ONE = uint64(1)
MIX = uint64(0x02461E293EC8F720)  # TensorFlow's constant (stateless_random_ops.cc)
SMALLEST = float32(1e-7)


@helper
def logf(x: Scalar, table: Address) -> Scalar:
    entries = pointer(table)
    # x is 2**exponent times a mantissa from 0.7 (0x3F330000) to twice that.  Each sixteenth of that
    # range has an entry, a reciprocal and a logarithm, so that r is small.
    bits = int64(float_as_bits(x))
    shifted = bits - 0x3F330000
    interval = (shifted >> 19) & 15
    exponent = shifted >> 23
    mantissa = float64(bits_as_float(uint32(bits - (exponent << 23))))
    r = mantissa * entries[2 * interval] - 1.0
    near = entries[2 * interval + 1] + float64(exponent) * LN2
    square = r * r
    # The brackets are part of the method: sums in another order round otherwise.
    y = A0 * square + (A1 * r + A2)
    return float32(y * square + (near + r))


@helper
def sincosf(angle: Scalar) -> tuple[Scalar, Scalar]:
    x = float64(angle)
    # Quarter turns, to the nearest: TWO_OVER_PI is scaled by 2**24.
    turns = (int64(x * TWO_OVER_PI) + 0x800000) >> 24
    if abs(angle) < float32(0.78539816339744830962):
        turns = 0
    x = x - float64(turns) * HALF_PI
    square = x * x
    if (turns + 1) & 2:
        x = -x
    cube, fourth = square * x, square * square
    sine = float32(x + cube * S1 + cube * square * (S2 + square * S3))
    cosine = (1.0 + square * C1) + fourth * C2
    cosine = cosine + fourth * square * (C3 + square * C4)
    if turns & 2:
        cosine = -cosine
    # A quarter turn on, sine and cosine change places.
    if turns & 1:
        return float32(cosine), sine
    return sine, float32(cosine)


@helper
def block(key: Scalar, low: Scalar, high: Scalar, index: Scalar) -> Four:
    """The four 32-bit numbers of block `index`, each in a uint64."""
    first = low + index
    # The counter has 128 bits, and the sum may carry.
    if first < low:
        high = high + ONE
    c0, c1, c2, c3 = first & LOW, first >> HALF, high & LOW, high >> HALF
    k0, k1 = key & LOW, key >> HALF
    for _ in range(10):
        p0, p1 = c0 * M0, c2 * M1
        c0, c2 = (p1 >> HALF) ^ c1 ^ k0, (p0 >> HALF) ^ c3 ^ k1
        c1, c3 = p1 & LOW, p0 & LOW
        k0, k1 = (k0 + W0) & LOW, (k1 + W1) & LOW
    return c0, c1, c2, c3


@helper
def stream_of(seeds: Address) -> tuple[Scalar, Scalar, Scalar]:
    """The key and the counter of a stream that two seeds name: a block of a fixed one."""
    given = pointer(seeds)
    n0, n1, n2, n3 = block(MIX, uint64(given[0]), uint64(given[1]), uint64(0))
    return n0 | (n1 << HALF), uint64(0), n2 | (n3 << HALF)


@helper
def to_float(bits: Scalar) -> Scalar:
    # 23 bits behind the point of a number from 1 to 2, and so evenly spaced from 0 to 1.
    return bits_as_float(uint32((bits & uint64(0x7FFFFF)) | uint64(0x3F800000))) - float32(1)


@helper
def to_double(high: Scalar, low: Scalar) -> Scalar:
    # The same with 52 bits.
    mantissa = ((high & uint64(0xFFFFF)) << HALF) | low
    return bits_as_float(mantissa | uint64(0x3FF0000000000000)) - 1.0


@helper
def uniform_float32(c0: Scalar, c1: Scalar, c2: Scalar, c3: Scalar, low: int, high: int) -> Four:
    return to_float(c0), to_float(c1), to_float(c2), to_float(c3)


@helper
def uniform_float64(
    c0: Scalar, c1: Scalar, c2: Scalar, c3: Scalar, low: int, high: int
) -> tuple[Scalar, Scalar]:
    return to_double(c0, c1), to_double(c2, c3)


@helper
def pair(x0: Scalar, x1: Scalar, table: Address) -> tuple[Scalar, Scalar]:
    # By Box and Muller: a radius and a direction.  The logarithm of 0 is not finite.
    u = max(to_float(x0), SMALLEST)
    # Multiplied in double precision, as 2 * pi is a double in C.
    sine, cosine = sincosf(float32(6.283185307179586 * float64(to_float(x1))))
    radius = sqrt(float32(-2) * logf(u, table))
    return sine * radius, cosine * radius


@helper
def normal_float32(
    c0: Scalar, c1: Scalar, c2: Scalar, c3: Scalar, table: Address, high: int
) -> Four:
    a, b = pair(c0, c1, table)
    c, d = pair(c2, c3, table)
    return a, b, c, d


@helper
def normal_float64(
    c0: Scalar, c1: Scalar, c2: Scalar, c3: Scalar, low: int, high: int
) -> tuple[Scalar, Scalar]:
    u = max(to_double(c0, c1), 1e-7)
    angle = 6.283185307179586 * to_double(c2, c3)
    radius = sqrt(-2.0 * log(u))
    return sin(angle) * radius, cos(angle) * radius


@helper
def integer_32(c0: Scalar, c1: Scalar, c2: Scalar, c3: Scalar, low: int, high: int) -> Four:
    # TensorFlow's remainder, which is not quite uniform.
    span = (uint64(high) - uint64(low)) & LOW
    base = uint64(low)
    return (base + c0 % span, base + c1 % span, base + c2 % span, base + c3 % span)


@helper
def integer_64(
    c0: Scalar, c1: Scalar, c2: Scalar, c3: Scalar, low: int, high: int
) -> tuple[Scalar, Scalar]:
    span = uint64(high) - uint64(low)
    base = uint64(low)
    return base + (c0 | (c1 << HALF)) % span, base + (c2 | (c3 << HALF)) % span


def fill(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Rows are blocks.  Parameters: number of values, the limits of integers, then the stream's
    position: key, counter low and high.
    """
    out = pointer(args[OUT])
    size, least, most = args[OUT + 1], args[FIRST], args[OUT + 3]
    if FROM_SEEDS:
        key, low, high = stream_of(args[0])
    else:
        key, low, high = uint64(args[OUT + 4]), uint64(args[OUT + 5]), uint64(args[OUT + 6])
    whole = min(r1, size // PER)
    for r in range(r0, whole):
        n0, n1, n2, n3 = block(key, low, high, uint64(r))
        made = VALUES(n0, n1, n2, n3, least, most)
        for i in range(PER):
            out[r * PER + i] = made[i]
    for r in range(max(r0, whole), r1):
        n0, n1, n2, n3 = block(key, low, high, uint64(r))
        made = VALUES(n0, n1, n2, n3, least, most)
        for i in range(size - r * PER):
            out[r * PER + i] = made[i]


def fill_truncated(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Every group of PER values owns STRIDE blocks and takes its first candidates within two
    deviations.
    """
    out = pointer(args[OUT])
    size = args[OUT + 1]
    if FROM_SEEDS:
        key, low, high = stream_of(args[0])
    else:
        key, low, high = uint64(args[OUT + 4]), uint64(args[OUT + 5]), uint64(args[OUT + 6])
    for r in range(r0, r1):
        wanted = min(PER, size - r * PER)
        found = 0
        # Blocks of its own, so that no group has to know how many others rejected.
        index = uint64(r) * uint64(STRIDE)
        while found < wanted:
            n0, n1, n2, n3 = block(key, low, high, index)
            index = index + ONE
            made = VALUES(n0, n1, n2, n3, args[FIRST], 0)
            for i in range(PER):
                if found < wanted and abs(made[i]) < 2:
                    out[r * PER + found] = made[i]
                    found += 1


def shuffled(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """The numbers below `size` in random order, after Fisher and Yates; in one tile.

    Parameters: how many, then the stream's position.
    """
    order, size = pointer(args[0]), args[1]
    key, low, high = uint64(args[2]), uint64(args[3]), uint64(args[4])
    for i in range(size):
        order[i] = i
    for first in range(0, size - 1, 4):
        words = block(key, low, high, uint64(first // 4))
        for turn in (0, 1, 2, 3):
            i = first + turn
            if i < size - 1:
                # TensorFlow's remainder, which is not quite uniform.
                j = i + int64(words[turn] % uint64(size - i))
                kept = order[i]
                order[i] = order[j]
                order[j] = kept
