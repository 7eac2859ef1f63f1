# SPDX-License-Identifier: Apache-2.0
"""Philox4x32-10, vectorised, and the distributions that TensorFlow draws from it.

A generator is a 128-bit counter and a 64-bit key; block number i of a stream is a function of
counter + i alone, so any part of a stream can be computed by itself.  The same seeds give the same
bits as TensorFlow.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import ml_dtypes
import numpy as np

from ...engine.record_class import record
from ...jit.kernel import glibc_float32

# J. Salmon and others, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011); the key grows by
# the golden ratio and sqrt(3) - 1 as fractions of 2**32.
_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = 0x9E3779B9, 0xBB67AE85
_MASK = 0xFFFFFFFF
_ROUNDS = 10
_LOW = np.uint64(_MASK)
_HALF = np.uint64(32)
# Blocks computed at a time, so that the temporaries stay in cache.
_CHUNK = 1 << 15
# Draws that a rejection method may use for each output, in samples of the distribution.
RESERVED = 256


@record(frozen=True, slots=True)
class Philox:
    """A position in a stream: 128-bit counter and 64-bit key as Python integers."""

    counter: int
    key: int

    @staticmethod
    def seeded(seed: int, seed2: int) -> Philox:
        """TensorFlow's generator for the two seeds of an op: key and upper half of the counter."""
        return Philox((seed2 & (1 << 64) - 1) << 64, seed & (1 << 64) - 1)

    def skip(self, blocks: int) -> Philox:
        """The position `blocks` blocks of four 32-bit numbers further on."""
        return Philox((self.counter + blocks) & (1 << 128) - 1, self.key)

    def blocks_to(self, behind: Philox) -> int:
        """How many blocks further on another position of the stream is."""
        return (behind.counter - self.counter) & (1 << 128) - 1

    def blocks(self, count: int, stride: int = 1, offset: int = 0) -> np.ndarray:
        """Blocks number offset, offset + stride, ...: uint32 of shape [count, 4]."""
        result = np.empty((count, 4), np.uint32)
        for start in range(0, count, _CHUNK):
            stop = min(count, start + _CHUNK)
            first = self.skip(offset + start * stride)
            result[start:stop] = _rounds(*first._counters(stop - start, stride), self.key)
        return result

    def blocks_at(self, numbers: np.ndarray) -> np.ndarray:
        """The blocks with the given numbers: uint32 of shape [count, 4]."""
        low, high = self.counter & (1 << 64) - 1, self.counter >> 64
        lows = np.uint64(low) + numbers.astype(np.uint64)
        carried = np.uint64(high + 1 & (1 << 64) - 1)
        # The low half wrapped around: one is carried to the high half.
        highs = np.where(lows < np.uint64(low), carried, np.uint64(high))
        return _rounds(lows, highs, self.key)

    def _counters(self, count: int, stride: int) -> tuple[np.ndarray, np.ndarray]:
        """The counters' low and high 64-bit halves."""
        low, high = self.counter & (1 << 64) - 1, self.counter >> 64
        steps = np.arange(count, dtype=np.uint64) * np.uint64(stride)
        lows = np.uint64(low) + steps
        highs = np.where(
            lows < np.uint64(low), np.uint64(high + 1 & (1 << 64) - 1), np.uint64(high)
        )
        return lows, highs


def _rounds(lows: np.ndarray, highs: np.ndarray, key: int) -> np.ndarray:
    c0, c1, c2, c3 = lows & _LOW, lows >> _HALF, highs & _LOW, highs >> _HALF
    k0, k1 = key & _MASK, key >> 32
    for _ in range(_ROUNDS):
        p0, p1 = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c2 = (p1 >> _HALF) ^ c1 ^ np.uint64(k0), (p0 >> _HALF) ^ c3 ^ np.uint64(k1)
        c1, c3 = p1 & _LOW, p0 & _LOW
        k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
    return np.stack([c0, c1, c2, c3], axis=1).astype(np.uint32)


class Stream:
    """A generator that hands out disjoint parts of its stream; the state of a random op."""

    def __init__(self, seed: int, seed2: int) -> None:
        # Two zeros ask for another stream in every session.
        if seed == 0 and seed2 == 0:
            import secrets

            seed, seed2 = secrets.randbits(64), secrets.randbits(64)
        self._next = Philox.seeded(seed, seed2)
        self._lock = threading.Lock()

    def reserve(self, blocks: int) -> Philox:
        """The present position; the stream moves on by `blocks`."""
        with self._lock:
            here = self._next
            self._next = here.skip(blocks)
            return here

    def go_back(self, counter: int, key: int) -> None:
        """What begins there is reserved next, as if nobody had."""
        with self._lock:
            self._next = Philox(counter, key)

    def reserve_outputs(self, count: int) -> Philox:
        """Reserves what TensorFlow does for `count` outputs, whatever the distribution."""
        return self.reserve(count * RESERVED)


def scrambled(seed: np.ndarray) -> Philox:
    """The generator of a stateless op: the two seeds mixed by one block under a fixed key."""
    first, second = (int(s) & (1 << 64) - 1 for s in seed)
    # The key is TensorFlow's constant (stateless_random_ops.cc).
    mix = Philox(second << 64 | first, 0x02461E29 << 32 | 0x3EC8F720).blocks(1)[0]
    m0, m1, m2, m3 = (int(m) for m in mix)
    return Philox((m3 << 32 | m2) << 64, m1 << 32 | m0)


def to_float(bits: np.ndarray) -> np.ndarray:
    """uint32 to float32 in [0, 1): the low 23 bits as mantissa."""
    # An exponent of zero makes a number in [1, 2), whose distance to 1 is exact.
    return ((bits & np.uint32(0x7FFFFF)) | np.uint32(127 << 23)).view(np.float32) - np.float32(1)


def to_double(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Two uint32 to float64 in [0, 1): 20 and 32 bits of mantissa."""
    mantissa = (high & np.uint32(0xFFFFF)).astype(np.uint64) << _HALF | low
    return (mantissa | np.uint64(1023 << 52)).view(np.float64) - 1.0


def _to_half(bits: np.ndarray) -> np.ndarray:
    words = (bits & np.uint32(0x3FF)).astype(np.uint16) | np.uint16(15 << 10)
    return words.view(np.float16) - np.float16(1)


def _to_bfloat16(bits: np.ndarray) -> np.ndarray:
    words = (bits & np.uint32(0x7F)).astype(np.uint16) | np.uint16(127 << 7)
    return (words.view(ml_dtypes.bfloat16).astype(np.float32) - 1).astype(ml_dtypes.bfloat16)


def _box_muller_float(x0: np.ndarray, x1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # TensorFlow's least value, so that the logarithm is finite.
    u1 = np.maximum(to_float(x0), np.float32(1e-7))
    # In C++ the constant is a double and makes the product one.
    angle = (2 * np.pi * to_float(x1).astype(np.float64)).astype(np.float32)
    radius = np.sqrt(np.float32(-2) * glibc_float32.logf(u1))
    sine, cosine = glibc_float32.sincosf(angle)
    return sine * radius, cosine * radius


def _box_muller_double(blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    u1 = np.maximum(to_double(blocks[:, 0], blocks[:, 1]), 1e-7)
    angle = 2 * np.pi * to_double(blocks[:, 2], blocks[:, 3])
    radius = np.sqrt(-2.0 * np.log(u1))
    return np.sin(angle) * radius, np.cos(angle) * radius


def _uniform_blocks(blocks: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if dtype == np.float64:
        return uniform_pairs(blocks)
    if dtype == np.float16:
        return _to_half(blocks)
    return _to_bfloat16(blocks) if dtype == ml_dtypes.bfloat16 else to_float(blocks)


def _normal_blocks(blocks: np.ndarray, dtype: np.dtype) -> np.ndarray:
    if dtype == np.float64:
        return normal_pairs(blocks)
    pairs = _box_muller_float(blocks[:, 0::2], blocks[:, 1::2])
    return np.stack(pairs, axis=2).reshape(len(blocks), 4).astype(dtype)


def uniform_pairs(blocks: np.ndarray) -> np.ndarray:
    """Two uniform float64 from each block."""
    return to_double(blocks[:, 0::2], blocks[:, 1::2])


def normal_pairs(blocks: np.ndarray) -> np.ndarray:
    """Two normal float64 from each block."""
    return np.stack(_box_muller_double(blocks), axis=1)


def per_block(dtype: np.dtype) -> int:
    """Outputs made of one block: two for 64-bit types, else four."""
    return 2 if dtype.itemsize == 8 else 4


def _fill(
    at: Philox, shape: tuple[int, ...], dtype: np.dtype, make: Callable[..., np.ndarray]
) -> np.ndarray:
    size = int(np.prod(shape, dtype=np.int64))
    blocks = at.blocks(-(-size // per_block(dtype)))
    return make(blocks, dtype).reshape(-1)[:size].reshape(shape)


def uniform(at: Philox, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Uniform in [0, 1)."""
    return _fill(at, shape, dtype, _uniform_blocks)


def normal(at: Philox, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Standard normal, by Box and Muller."""
    return _fill(at, shape, dtype, _normal_blocks)


def integers(
    at: Philox, shape: tuple[int, ...], dtype: np.dtype, low: int, high: int
) -> np.ndarray:
    """Uniform integers in [low, high): bits modulo the range."""
    unsigned = np.dtype(f"u{dtype.name}")
    # The range of all 64-bit numbers is not an int64: differences wrap, as in C.
    span = unsigned.type((int(high) - int(low)) & np.iinfo(unsigned).max)

    def make(blocks: np.ndarray, _: np.dtype) -> np.ndarray:
        if dtype.itemsize == 8:
            bits = blocks[:, 0::2] | blocks[:, 1::2].astype(np.uint64) << _HALF
        else:
            bits = blocks
        base = np.asarray(low, dtype).view(unsigned)
        return (bits % span + base).view(dtype)

    return _fill(at, shape, dtype, make)


def truncated_normal(at: Philox, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Standard normal within two deviations, by rejection inside of each group of outputs.

    Every group of one block's outputs owns a part of the stream and takes its first accepted
    candidates, so groups do not depend on each other.
    """
    size = int(np.prod(shape, dtype=np.int64))
    width = per_block(dtype)
    groups = -(-size // width)
    # Each group of outputs that one block makes has blocks of its own, so a rejected candidate does
    # not shift the numbers of other groups.
    stride = width * RESERVED // 4
    result = np.empty((groups, width), np.float64 if dtype == np.float64 else np.float32)
    filled = np.zeros(groups, np.int64)
    pending = np.arange(groups)
    draw = 0
    while pending.size:
        blocks = _blocks_of(at, pending, stride, draw, groups)
        candidates = _normal_blocks(blocks, result.dtype)
        for column in candidates.T:
            take = (np.abs(column) < 2) & (filled[pending] < width)
            rows = pending[take]
            result[rows, filled[rows]] = column[take]
            filled[rows] += 1
        pending = pending[filled[pending] < width]
        draw += 1
    return result.reshape(-1)[:size].reshape(shape).astype(dtype)


def _blocks_of(at: Philox, groups: np.ndarray, stride: int, draw: int, total: int) -> np.ndarray:
    """Block number `draw` of each of the given groups."""
    if len(groups) == total:
        return at.blocks(total, stride, draw)
    return at.blocks_at(groups * stride + draw)
