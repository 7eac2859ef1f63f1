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
# Blocks of the stream computed at a time: at first, and at most before more are asked for.
_FIRST_BLOCKS, _MOST_BLOCKS = 32, 256


class Bits:
    """32-bit numbers of a stream, in order."""

    def __init__(self, at: philox.Philox) -> None:
        self._at = at
        self._buffer = np.empty(0, np.uint64)
        self._ahead = _FIRST_BLOCKS

    def next32(self, count: int) -> np.ndarray:
        """The next numbers, each in a uint64."""
        if len(self._buffer) < count:
            blocks = max(-(-(count - len(self._buffer)) // 4), self._ahead)
            self._ahead = min(2 * blocks, _MOST_BLOCKS)
            more = self._at.blocks(blocks).reshape(-1).astype(np.uint64)
            self._buffer = np.concatenate([self._buffer, more])
            self._at = self._at.skip(blocks)
        found, self._buffer = self._buffer[:count], self._buffer[count:]
        return found

    def give_back(self, numbers: np.ndarray) -> None:
        """Numbers that were taken last come next."""
        self._buffer = np.concatenate([numbers, self._buffer])

    def next64(self, count: int) -> np.ndarray:
        """The next numbers of 64 bits, the lower half first."""
        words = self.next32(2 * count)
        return words[0::2] | words[1::2] << np.uint64(32)

    def uniform(self, count: int) -> np.ndarray:
        """Numbers of float64 in [0, 1)."""
        words = self.next32(2 * count).astype(np.uint32)
        return philox.to_double(words[0::2], words[1::2])

    def uniform32(self) -> np.float32:
        """A float32 in [0, 1)."""
        return np.float32(philox.to_float(self.next32(1).astype(np.uint32))[0])

    def below32(self, n: int, count: int) -> np.ndarray:
        """Uniform in [0, n), each from 32 bits."""
        return _below(n, _MASK32, self.next32, count)

    def below64(self, n: int, count: int) -> np.ndarray:
        """Uniform in [0, n), each from 64 bits."""
        return _below(n, _MASK64, self.next64, count)


def _below(n: int, mask: int, draw: Callable[[int], np.ndarray], count: int) -> np.ndarray:
    """Exactly uniform: numbers of the incomplete first period are drawn again."""
    if n & (n - 1) == 0:
        return (draw(count) & np.uint64(n - 1)).astype(np.int64)
    skewed = _skewed(n, mask)
    found = np.empty(0, np.uint64)
    while len(found) < count:
        more = draw(count - len(found))
        found = np.concatenate([found, more[more >= skewed]])
    return (found % np.uint64(n)).astype(np.int64)


def skewed(size: int, law: str) -> int:
    """The least number that counts where one of `size` classes is drawn from a whole word."""
    return int(_skewed(size, _MASK64)) if law == "uniform" else 0


def _skewed(n: int, mask: int) -> np.uint64:
    """The least number that counts; for powers of two all do."""
    # mask + 1 numbers less the first (mask + 1) % n, or n, of them are whole periods.
    return np.uint64(0 if n & (n - 1) == 0 else mask % n + 1)


class Uniform:
    """Every class of the range is equally probable."""

    def __init__(self, size: int) -> None:
        self.size = size

    def sample(self, bits: Bits, count: int) -> list[int]:
        """Draws classes."""
        return bits.below64(self.size, count).tolist()

    def probability(self, values: np.ndarray) -> np.ndarray:
        """The probabilities of classes."""
        return np.full(len(values), 1.0 / self.size, np.float32)

    def update(self, values: np.ndarray) -> None:
        """Learns nothing."""


class LogUniform(Uniform):
    """Zipf's law: class k has probability log((k + 2) / (k + 1)) / log(size + 1)."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._log_size = math.log1p(size)

    def sample(self, bits: Bits, count: int) -> list[int]:
        """Draws classes; rounding may reach the end of the range."""
        numbers = np.exp(bits.uniform(count) * self._log_size).astype(np.int64)
        return ((numbers - 1) % self.size).tolist()

    def probability(self, values: np.ndarray) -> np.ndarray:
        """The probabilities of classes."""
        with np.errstate(divide="ignore"):  # of -1, as in TensorFlow
            ratios = np.log((values + 2.0) / (values + 1.0))
        return (ratios / self._log_size).astype(np.float32)


class Unigram(Uniform):
    """Classes are as frequent as they were among the true classes so far, and one more each."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self._counts = np.ones(size, np.int64)
        self._total = size

    def sample(self, bits: Bits, count: int) -> list[int]:
        """Draws classes."""
        ends = np.cumsum(self._counts)
        return np.searchsorted(ends, bits.below32(self._total, count), side="right").tolist()

    def probability(self, values: np.ndarray) -> np.ndarray:
        """The probabilities of classes."""
        return self._counts[values].astype(np.float32) / np.float32(self._total)

    def update(self, values: np.ndarray) -> None:
        """Counts true classes."""
        # TensorFlow draws below the total as an int32 and stops counting before it overflows.
        counted = values[: max(_INT32_MAX - self._total, 0)]
        np.add.at(self._counts, counted, 1)
        self._total += len(counted)


class Weighted(Uniform):
    """Classes with fixed weights, drawn by Walker's alias method."""

    def __init__(self, weights: Sequence[np.float32]) -> None:
        super().__init__(len(weights))
        self._weights = np.array(weights, np.float32)
        self._total = np.float32(0)
        for weight in weights:
            self._total += weight
        chances, aliases = _alias_table([float(w) for w in weights])
        self._chances, self._aliases = np.array(chances, np.float32), np.array(aliases, np.int64)

    def sample(self, bits: Bits, count: int) -> list[int]:
        """Draws classes, each by a chance and a column."""
        found: list[int] = []
        least = _skewed(self.size, _MASK32)
        while len(found) < count:
            pairs = bits.next32(2 * (count - len(found))).reshape(-1, 2)
            bad = np.flatnonzero(pairs[:, 1] < least)
            # Behind a number that is not taken, what was a chance is the column, and so on.
            whole = int(bad[0]) if bad.size else len(pairs)
            columns = (pairs[:whole, 1] % np.uint64(self.size)).astype(np.int64)
            found += self._chosen(pairs[:whole, 0], columns)
            if bad.size:
                bits.give_back(pairs[whole:].reshape(-1))
                chance = bits.next32(1)
                found += self._chosen(chance, bits.below32(self.size, 1))
        return found

    def _chosen(self, chances: np.ndarray, columns: np.ndarray) -> list[int]:
        """The classes of columns, or those that they are shared with."""
        stays = philox.to_float(chances.astype(np.uint32)) < self._chances[columns]
        return np.where(stays, columns, self._aliases[columns]).tolist()

    def probability(self, values: np.ndarray) -> np.ndarray:
        """The probabilities of classes; zero for those out of the range."""
        inside = (values >= 0) & (values < self.size)
        weights = self._weights[np.where(inside, values, 0)] / self._total
        return np.where(inside, weights, np.float32(0))


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
        return sampler.sample(bits, count), count
    picked: dict[int, None] = {}
    tries = 0
    while True:
        # Those that are not needed are drawn for nothing: the stream is this run's own.
        for value in sampler.sample(bits, min(count, 2 * (count - len(picked)) + 8)):
            tries += 1
            picked.setdefault(value)
            if len(picked) == count:
                return list(picked), tries


def expected_counts(probabilities: np.ndarray, count: int, tries: int) -> np.ndarray:
    """How often classes of these probabilities are expected in a batch."""
    if tries == count:
        return probabilities * np.float32(count)
    # 1 - (1 - p) ** tries, without cancellation.
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.expm1(np.float32(tries) * np.log1p(-probabilities))
