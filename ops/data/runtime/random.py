# SPDX-License-Identifier: Apache-2.0
"""Random numbers one by one, as TensorFlow's kernels for datasets draw them."""

from __future__ import annotations

import secrets
import threading

import numpy as np

from ...random.philox import Philox

# Blocks of four numbers computed at a time.
_BLOCKS = 1024


class Samples:
    """The 32-bit numbers of a Philox stream, in order."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._stream = Philox.seeded(seed, seed2)
        self._first = 0
        self._numbers = np.empty(0, np.uint32)
        self.count = 0

    def next(self) -> int:
        """The next number."""
        return int(self.take(1)[0])

    def take(self, count: int) -> np.ndarray:
        """The next numbers, as uint32."""
        start = self.count - self._first
        if start + count > len(self._numbers):
            self._fill(count)
            start = self.count - self._first
        self.count += count
        return self._numbers[start : start + count]

    def _fill(self, count: int) -> None:
        """Computes numbers from the present place on."""
        block = self.count // 4
        self._first = 4 * block
        blocks = max(_BLOCKS, -(-(count + 4) // 4))
        self._numbers = self._stream.blocks(blocks, offset=block).reshape(-1)

    def skip_to(self, count: int) -> None:
        """Goes to where `count` numbers have been drawn."""
        self.count = count
        self._numbers, self._first = np.empty(0, np.uint32), 4 * (count // 4)


class SeedGenerator:
    """Gives pairs of seeds, two random numbers each."""

    def __init__(self, seed: int, seed2: int) -> None:
        self.seeds = seed, seed2
        self._samples = Samples(seed, seed2)
        self._lock = threading.Lock()

    def next(self) -> tuple[int, int]:
        """The next pair."""
        with self._lock:
            return self._samples.next(), self._samples.next()

    @property
    def count(self) -> int:
        """How many numbers were drawn."""
        return self._samples.count

    def skip_to(self, count: int) -> None:
        """Goes to where `count` numbers have been drawn."""
        with self._lock:
            self._samples.skip_to(count)


def seeds_or_chance(seed: int, seed2: int) -> tuple[int, int]:
    """The seeds, or by chance where both are 0."""
    if seed == 0 and seed2 == 0:
        return secrets.randbits(63), secrets.randbits(63)
    return seed, seed2
