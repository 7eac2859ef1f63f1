# SPDX-License-Identifier: Apache-2.0
"""Rejection methods for many outputs at once, each with a part of the stream of its own.

An output takes from its part what the scalar loop of TensorFlow takes, so that the numbers agree.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import philox


class Lanes:
    """Uniform and normal numbers for a row of outputs.

    Both come two at a time, the second of a pair first.
    """

    def __init__(self, at: philox.Philox, first: int, count: int) -> None:
        self._at = at
        self._next = np.arange(first, first + count, dtype=np.int64) * philox.RESERVED
        self._pairs = np.empty((2, count, 2))
        self._left = np.zeros((2, count), np.int8)

    def uniform(self, rows: np.ndarray) -> np.ndarray:
        """The next uniform number of each of the given outputs."""
        return self._take(0, rows, philox.uniform_pairs)

    def normal(self, rows: np.ndarray) -> np.ndarray:
        """The next normal number of each of the given outputs."""
        return self._take(1, rows, philox.normal_pairs)

    def _take(
        self, kind: int, rows: np.ndarray, make: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        pairs, left = self._pairs[kind], self._left[kind]
        empty = rows[left[rows] == 0]
        if empty.size:
            pairs[empty] = make(self._at.blocks_at(self._next[empty]))
            self._next[empty] += 1
            left[empty] = 2
        left[rows] -= 1
        return pairs[rows, left[rows]]


def _unfinished(rows: np.ndarray, done: np.ndarray, size: int) -> np.ndarray:
    is_open = np.ones(size, bool)
    is_open[done] = False
    return rows[is_open[rows]]


def gamma(lanes: Lanes, alpha: np.ndarray) -> np.ndarray:
    """Marsaglia and Tsang's method; below one, by way of alpha + 1."""
    result = np.empty(alpha.shape)
    exponential = np.flatnonzero(alpha == 1.0)
    result[exponential] = -np.log(1.0 - lanes.uniform(exponential))
    is_small = alpha < 1
    # d = alpha - 1/3 for alpha >= 1.  For less, a sample of alpha + 1 times U**(1 / alpha) is one
    # of alpha.
    d = alpha + np.where(is_small, 2.0 / 3, -1.0 / 3)
    with np.errstate(all="ignore"):
        c = 1.0 / 3 / np.sqrt(d)
        rows = np.flatnonzero(alpha != 1.0)
        while rows.size:
            x = lanes.normal(rows)
            v = 1 + c[rows] * x
            # (What is no number goes ahead: of an alpha that is none, all samples are none.)
            goes_on = ~(v <= 0)
            ahead, x, v = rows[goes_on], x[goes_on], v[goes_on]
            v = v * v * v
            u = lanes.uniform(ahead)
            limit = 0.5 * x * x + d[ahead] * (1 - v + np.log(v))
            # The squeeze of Marsaglia and Tsang (2000): mostly it saves the exact test, which takes
            # logarithms.
            accepted = (u < 1 - 0.0331 * (x * x) * (x * x)) | (np.log(u) < limit)
            done = ahead[accepted]
            result[done] = d[done] * v[accepted]
            small = done[is_small[done]]
            result[small] *= lanes.uniform(small) ** (1 / alpha[small])
            rows = _unfinished(rows, done, len(alpha))
    return result


def poisson(lanes: Lanes, rate: np.ndarray) -> np.ndarray:
    """Knuth's method for small rates, else Hoermann's transformed rejection."""
    result = np.zeros(rate.shape)
    _few(lanes, rate, np.flatnonzero(rate < 10), result)
    _many(lanes, rate, np.flatnonzero(rate >= 10), result)
    return result


def _few(lanes: Lanes, rate: np.ndarray, rows: np.ndarray, result: np.ndarray) -> None:
    """Counts the uniform numbers whose product stays above exp(-rate)."""
    limits, products = np.exp(-rate), np.ones(rate.shape)
    while rows.size:
        products[rows] *= lanes.uniform(rows)
        rows = rows[products[rows] > limits[rows]]
        result[rows] += 1


def _many(lanes: Lanes, rate: np.ndarray, rows: np.ndarray, result: np.ndarray) -> None:
    from scipy.special import gammaln

    while rows.size:
        mean = rate[rows]
        # PTRS of W. Hoermann, "The transformed rejection method for generating Poisson random
        # variables" (1993), whose constants these are.
        b = 0.931 + 2.53 * np.sqrt(mean)
        a = -0.059 + 0.02483 * b
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        u = lanes.uniform(rows) - 0.5
        v = lanes.uniform(rows)
        shifted = 0.5 - np.abs(u)
        with np.errstate(all="ignore"):
            k = np.floor((2 * a / shifted + b) * u + mean + 0.43)
            at_once = (shifted >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
            hopeless = (k < 0) | ((shifted < 0.013) & (v > shifted))
            s = np.log(v * inverse_alpha / (a / (shifted * shifted) + b))
            accepted = s <= -mean + k * np.log(mean) - gammaln(k + 1)
        accepted = at_once | (accepted & ~hopeless)
        result[rows[accepted]] = k[accepted]
        rows = rows[~accepted]
