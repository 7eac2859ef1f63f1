# SPDX-License-Identifier: Apache-2.0
"""Samplers of classes: which numbers they draw from a Philox stream, and how probable a class is.

Each draws one number at a time from the op's stream, as TensorFlow does, so that the same seeds
give the same classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..random import philox

_MASK32, _MASK64 = (1 << 32) - 1, (1 << 64) - 1
_INT32_MAX = (1 << 31) - 1
# Blocks of the stream computed at a time.
_CHUNK = 256


class Bits:
    """32-bit numbers of a stream, one by one."""

    def __init__(self, at: philox.Philox) -> None:
        self._at = at
        self._buffer: list[int] = []

    def next32(self) -> int:
        """The next 32 bits."""
        if not self._buffer:
            self._buffer = self._at.blocks(_CHUNK).reshape(-1)[::-1].tolist()
            self._at = self._at.skip(_CHUNK)
        return self._buffer.pop()

    def next64(self) -> int:
        """The next 64 bits, the lower half first."""
        low = self.next32()
        return low | self.next32() << 32

    def uniform(self) -> float:
        """A float64 in [0, 1)."""
        high, low = self.next32(), self.next32()
        return float(philox.to_double(np.asarray(high, np.uint32), np.asarray(low, np.uint32)))

    def uniform32(self) -> np.float32:
        """A float32 in [0, 1)."""
        return np.float32(philox.to_float(np.array([self.next32()], np.uint32))[0])

    def below32(self, n: int) -> int:
        """Uniform in [0, n), from 32 bits."""
        return _below(n, _MASK32, self.next32)

    def below64(self, n: int) -> int:
        """Uniform in [0, n), from 64 bits."""
        return _below(n, _MASK64, self.next64)


def _below(n: int, mask: int, draw: Callable[[], int]) -> int:
    """Exactly uniform: numbers of the incomplete first period are drawn again."""
    if n & (n - 1) == 0:
        return draw() & (n - 1)
    # mask + 1 numbers less the first (mask + 1) % n, or n, of them are whole periods.
    skewed = mask % n + 1
    while True:
        value = draw()
        if value >= skewed:
            return value % n


class Uniform:
    """Every class of the range is equally probable."""

    def __init__(self, size: int) -> None:
        self.size = size

    def sample(self, bits: Bits) -> int:
        """Draws a class."""
        return bits.below64(self.size)

    def probability(self, value: int) -> np.float32:
        """The probability of a class."""
        return np.float32(1.0 / self.size)

    def update(self, values: Sequence[int]) -> None:
        """Learns nothing."""


class LogUniform(Uniform):
    """Zipf's law: class k has probability log((k + 2) / (k + 1)) / log(size + 1)."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._log_size = math.log1p(size)

    def sample(self, bits: Bits) -> int:
        """Draws a class; rounding may reach the end of the range."""
        return (int(math.exp(bits.uniform() * self._log_size)) - 1) % self.size

    def probability(self, value: int) -> np.float32:
        """The probability of a class."""
        return np.float32(math.log((value + 2.0) / (value + 1.0)) / self._log_size)


class Unigram(Uniform):
    """Classes are as frequent as they were among the true classes so far, and one more each.

    A Fenwick tree keeps the cumulated counts.
    """

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._counts = [1] * size
        # A Fenwick tree: node i holds the counts of the i & -i classes that end with the i-th.
        self._tree = [i & -i for i in range(size + 1)]
        self._total = size
        self._top = 1 << size.bit_length() - 1

    def sample(self, bits: Bits) -> int:
        """Draws a class."""
        rest, position, step = bits.below32(self._total), 0, self._top
        while step:
            after = position + step
            if after <= self.size and self._tree[after] <= rest:
                position, rest = after, rest - self._tree[after]
            step >>= 1
        return position

    def probability(self, value: int) -> np.float32:
        """The probability of a class."""
        return np.float32(self._counts[value]) / np.float32(self._total)

    def update(self, values: Sequence[int]) -> None:
        """Counts true classes."""
        # TensorFlow draws below the total as an int32 and stops counting before it overflows.
        for value in values[: _INT32_MAX - self._total]:
            self._counts[value] += 1
            self._total += 1
            node = value + 1
            while node <= self.size:
                self._tree[node] += 1
                node += node & -node


class Weighted(Uniform):
    """Classes with fixed weights, drawn by Walker's alias method."""

    def __init__(self, weights: Sequence[np.float32]) -> None:
        super().__init__(len(weights))
        self._weights = weights
        self._total = np.float32(0)
        for weight in weights:
            self._total += weight
        self._chances, self._aliases = _alias_table([float(w) for w in weights])

    def sample(self, bits: Bits) -> int:
        """Draws a class."""
        chance, index = bits.uniform32(), bits.below32(self.size)
        return index if chance < self._chances[index] else self._aliases[index]

    def probability(self, value: int) -> np.float32:
        """The probability of a class; zero for those out of the range."""
        return self._weights[value] / self._total if 0 <= value < self.size else np.float32(0)


def _alias_table(weights: list[float]) -> tuple[list[np.float32], list[int]]:
    """For each column, the chance to stay in it and the class to go to otherwise."""
    size, total = len(weights), sum(weights)
    # The product is rounded to float32, as in TensorFlow.
    chances = [float(np.float32(w) * np.float32(size)) / total for w in weights]
    aliases = [-1] * size
    low = [i for i in range(size) if chances[i] < 1.0]
    high = [i for i in range(size) if chances[i] >= 1.0]
    while low and high:
        # The poor column is filled up by the rich one, which loses what it gives.
        poor, rich = low.pop(), high.pop()
        aliases[poor] = rich
        chances[rich] -= 1.0 - chances[poor]
        (low if chances[rich] < 1.0 else high).append(rich)
    # What rounding leaves over is as good as full.
    for i in (*low, *high):
        chances[i], aliases[i] = 1.0, i
    return [np.float32(c) for c in chances], aliases


def draw(sampler: Uniform, bits: Bits, count: int, unique: bool) -> tuple[list[int], int]:
    """Draws classes; tells how many draws that took."""
    if not unique:
        return [sampler.sample(bits) for _ in range(count)], count
    picked: dict[int, None] = {}
    tries = 0
    while len(picked) < count:
        tries += 1
        picked.setdefault(sampler.sample(bits))
    return list(picked), tries


def expected_count(probability: np.float32, count: int, tries: int) -> np.float32:
    """How often a class of this probability is expected in a batch."""
    if tries == count:
        return np.float32(probability * np.float32(count))
    # 1 - (1 - p) ** tries, without cancellation.
    with np.errstate(divide="ignore"):
        return np.float32(-np.expm1(np.float32(tries) * np.log1p(-np.float32(probability))))
