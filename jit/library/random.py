# SPDX-License-Identifier: Apache-2.0
"""Random numbers from Philox4x32-10: uniform, normal, truncated normal, integers.

Block number i of a stream is a function of the stream's position and i alone, so tiles of blocks
are independent.  The same bits as the reference kernels, which are TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..kernel import glibc_float32
from ..kernel.sizes import AnySize, ceil_div, product
from .library_kernel import specialise

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation

_BYTES = {"float32": 4, "float64": 8, "int32": 4, "int64": 8}
_TILE = 4096  # blocks per tile
_TILE_SLOW = 512  # the same for normal numbers
# Operations per number: ten rounds of four products and six sums and exclusive ors for four words.
_PHILOX = 25

# Constants are unsigned so that Numba does not turn their products into floats.
_BLOCK = """
LOW = uint64(0xFFFFFFFF)
HALF = uint64(32)
M0, M1 = uint64(0xD2511F53), uint64(0xCD9E8D57)
W0, W1 = uint64(0x9E3779B9), uint64(0xBB67AE85)
ONE = uint64(1)
ZERO = uint64(0)


@helper
def block(key, low, high, index):
    # The four 32-bit numbers of block `index`, each in a uint64.
    first = low + index
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
def to_float(bits):
    return bits_as_float(uint32((bits & uint64(0x7FFFFF)) | uint64(0x3F800000))) - float32(1)


@helper
def to_double(high, low):
    mantissa = ((high & uint64(0xFFFFF)) << HALF) | low
    return bits_as_float(mantissa | uint64(0x3FF0000000000000)) - 1.0
"""

# What one block becomes: PER values.
_UNIFORM_FLOAT = """
@helper
def values(c0, c1, c2, c3, low, high):
    return to_float(c0), to_float(c1), to_float(c2), to_float(c3)
"""

_UNIFORM_DOUBLE = """
@helper
def values(c0, c1, c2, c3, low, high):
    return to_double(c0, c1), to_double(c2, c3)
"""

# Box and Muller.  In single precision with the very functions that TensorFlow calls; `low` is the
# address of the logarithm's table.
_NORMAL_FLOAT = (
    glibc_float32.TEXT
    + """
SMALLEST = float32(1e-7)


@helper
def pair(x0, x1, table):
    u = max(to_float(x0), SMALLEST)
    sine, cosine = sincosf(float32(6.283185307179586 * float64(to_float(x1))))
    radius = sqrt(float32(-2) * logf(u, table))
    return sine * radius, cosine * radius


@helper
def values(c0, c1, c2, c3, low, high):
    a, b = pair(c0, c1, low)
    c, d = pair(c2, c3, low)
    return a, b, c, d
"""
)

_NORMAL_DOUBLE = """
@helper
def values(c0, c1, c2, c3, low, high):
    u = max(to_double(c0, c1), 1e-7)
    angle = 6.283185307179586 * to_double(c2, c3)
    radius = sqrt(-2.0 * log(u))
    return sin(angle) * radius, cos(angle) * radius
"""

_INTEGER_32 = """
@helper
def values(c0, c1, c2, c3, low, high):
    span = (uint64(high) - uint64(low)) & LOW
    base = uint64(low)
    return (base + c0 % span, base + c1 % span, base + c2 % span, base + c3 % span)
"""

_INTEGER_64 = """
@helper
def values(c0, c1, c2, c3, low, high):
    span = uint64(high) - uint64(low)
    base = uint64(low)
    return base + (c0 | (c1 << HALF)) % span, base + (c2 | (c3 << HALF)) % span
"""

# Rows are blocks.  Parameters: number of values, the limits of integers, then the stream's
# position: key, counter low and high.
_FILL = """
def kernel(args, r0, r1, c0, c1, worker):
    out = pointer(args[0])
    size, least, most = args[1], args[2], args[3]
    key, low, high = uint64(args[4]), uint64(args[5]), uint64(args[6])
    whole = min(r1, size // PER)
    for r in range(r0, whole):
        n0, n1, n2, n3 = block(key, low, high, uint64(r))
        made = values(n0, n1, n2, n3, least, most)
        for i in range(PER):
            out[r * PER + i] = made[i]
    for r in range(max(r0, whole), r1):
        n0, n1, n2, n3 = block(key, low, high, uint64(r))
        made = values(n0, n1, n2, n3, least, most)
        for i in range(size - r * PER):
            out[r * PER + i] = made[i]
"""

# Every group of PER values owns STRIDE blocks and takes its first candidates within two deviations.
_TRUNCATED = """
def kernel(args, r0, r1, c0, c1, worker):
    out = pointer(args[0])
    size = args[1]
    key, low, high = uint64(args[4]), uint64(args[5]), uint64(args[6])
    for r in range(r0, r1):
        wanted = min(PER, size - r * PER)
        found = 0
        index = uint64(r) * uint64(STRIDE)
        while found < wanted:
            n0, n1, n2, n3 = block(key, low, high, index)
            index = index + ONE
            made = values(n0, n1, n2, n3, args[2], 0)
            for i in range(PER):
                if found < wanted and abs(made[i]) < 2:
                    out[r * PER + found] = made[i]
                    found += 1
"""


@dataclass(frozen=True)
class PhiloxReservation:
    """Takes the next part of an op's stream, once per run.

    take(context, count) gets the op's kernel context and the value of `size`, and gives the three
    ints that stand behind the parameters.  stream(context) returns the op's generator:
    reserve_outputs(count) -> an object with `key` and `counter`.
    """

    op: Any
    stream: Callable[[Any], Any]
    size: AnySize
    initial: tuple[int, int, int] = (0, 0, 0)

    def take(self, context: Any, count: int) -> Sequence[int]:
        """The key and the counter from which this run draws `count` outputs."""
        at = self.stream(context).reserve_outputs(count)
        return [_signed(word) for word in (at.key, at.counter, at.counter >> 64)]


def _signed(word: int) -> int:
    word &= (1 << 64) - 1
    return word - (1 << 64) if word >> 63 else word


def philox_uniform(
    b: Any, op: Operation, dims: Sequence[AnySize], stream: Any, dtype: str = "float32"
) -> Any:
    """Uniform in [0, 1): float32 or float64."""
    texts = {"float32": _UNIFORM_FLOAT, "float64": _UNIFORM_DOUBLE}
    return _draw(b, "uniform", texts.get(dtype), _FILL, op, dims, stream, dtype, _TILE)


def philox_normal(
    b: Any, op: Operation, dims: Sequence[AnySize], stream: Any, dtype: str = "float32"
) -> Any:
    """Standard normal: float32 or float64."""
    texts = {"float32": _NORMAL_FLOAT, "float64": _NORMAL_DOUBLE}
    return _draw(b, "normal", texts.get(dtype), _FILL, op, dims, stream, dtype, _TILE_SLOW)


def philox_truncated_normal(
    b: Any, op: Operation, dims: Sequence[AnySize], stream: Any, dtype: str = "float32"
) -> Any:
    """Standard normal within two deviations: float32 or float64."""
    texts = {"float32": _NORMAL_FLOAT, "float64": _NORMAL_DOUBLE}
    return _draw(
        b, "truncated_normal", texts.get(dtype), _TRUNCATED, op, dims, stream, dtype, _TILE_SLOW
    )


def philox_integers(
    b: Any, op: Any, dims: Sequence[AnySize], stream: Any, dtype: str, low: int, high: int
) -> Any:
    """Uniform in [low, high), for limits known while tracing: int32 or int64."""
    texts = {"int32": _INTEGER_32, "int64": _INTEGER_64}
    if low >= high:
        return NotImplemented
    return _draw(
        b, "integers", texts.get(dtype), _FILL, op, dims, stream, dtype, _TILE, (low, high)
    )


def _draw(
    b: Any, name: str, values: str | None, text: str, op: Operation,
    dims: Sequence[AnySize], stream: Any, dtype: str, tile: int, limits: tuple[int, int] = (0, 0),
) -> Any:  # fmt: skip
    if values is None:
        return NotImplemented
    per = 2 if _BYTES[dtype] == 8 else 4
    # Each output of a rejection method owns 256 draws; a block is four of them.
    facts: dict[str, Any] = {"PER": per, "STRIDE": per * 256 // 4}
    if values is _NORMAL_FLOAT:
        limits = (int(glibc_float32.log_table().ctypes.data), 0)
        facts |= glibc_float32.CONSTANTS
    kernel = specialise(f"philox_{name}", _BLOCK + values + text, **facts)
    size = product(dims)
    (out,) = b.call(
        kernel, [], [(tuple(dims), dtype)], [size, *limits], ceil_div(size, per), tile,
        reserve=PhiloxReservation(op, stream, size), operations=_PHILOX * size,
    )  # fmt: skip
    return out
