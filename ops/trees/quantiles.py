# SPDX-License-Identifier: Apache-2.0
"""Streams of weighted values, summed up so that their quantiles are known within a bound.

A summary is a float32 matrix with a row for each value that is kept: the value, its weight, and the
least and the greatest rank that it may have (Greenwald and Khanna, 2001; Chen and Guestrin, 2016).
"""

from __future__ import annotations

import math

import numpy as np

from ...engine import errors

_VALUE, _WEIGHT, _MIN, _MAX = range(4)
_EMPTY = np.zeros((0, 4), np.float32)


def _prev_max(rows: np.ndarray) -> np.ndarray:
    """The greatest rank of the next lesser value."""
    return rows[..., _MAX] - rows[..., _WEIGHT]


def _next_min(rows: np.ndarray) -> np.ndarray:
    """The least rank of the next greater value."""
    return rows[..., _MIN] + rows[..., _WEIGHT]


def summarize(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The exact summary of values; those without a positive weight do not count."""
    counts = weights > 0
    values, weights = values[counts], weights[counts].astype(np.float32)
    if not len(values):
        return _EMPTY
    kept, places = np.unique(values, return_inverse=True)
    each = np.zeros(len(kept), np.float32)
    np.add.at(each, places, weights)
    ends = np.add.accumulate(each, dtype=np.float32)
    begins = np.concatenate([[np.float32(0)], ends[:-1]])
    return np.stack([kept.astype(np.float32), each, begins, ends], axis=1)


def _shifted(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """A summary's rows with the ranks that they have among another's values, too."""
    after = np.searchsorted(others[:, _VALUE], rows[:, _VALUE])
    same = (after < len(others)) & (
        others[np.minimum(after, len(others) - 1), _VALUE] == rows[:, 0]
    )
    least = np.concatenate([[np.float32(0)], _next_min(others)])[after]
    most = np.concatenate([_prev_max(others), others[-1:, _MAX]])[after]
    result = rows.copy()
    result[:, _MIN] += np.where(same, np.append(others[:, _MIN], 0)[after], least)
    result[:, _MAX] += np.where(same, np.append(others[:, _MAX], 0)[after], most)
    result[:, _WEIGHT] += np.where(same, np.append(others[:, _WEIGHT], 0)[after], 0)
    return result


def merged(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The summary of the values of two."""
    if not len(a) or not len(b):
        return a if len(a) else b
    both = np.concatenate([_shifted(a, b), _shifted(b, a)])
    _, firsts = np.unique(both[:, _VALUE], return_index=True)
    return both[firsts]


def compressed(rows: np.ndarray, size: int, least_error: float) -> np.ndarray:
    """About so many rows, the first and the last among them, at the cost of some error."""
    size = max(size, 2)
    count = len(rows)
    if count <= size:
        return rows
    bound = float(rows[-1, _MAX]) * max(1.0 / size, least_error)
    before, after = _prev_max(rows).tolist(), _next_min(rows)
    # How far each row could reach, were it not for how many rows are wanted.
    kept: list[int] = []
    credit, read, last = 0, 0, 0
    while read + 1 != count:
        there = read + 1
        start = after[read]
        while there != count and credit < count and np.float32(before[there]) - start <= bound:
            credit += size
            there += 1
        read = read + 1 if read == there - 1 else there - 1
        # (The first row stays in its place; each that is read goes behind what is kept.)
        kept.append(read)
        last = read
        credit -= count
    if last + 1 != count:
        kept.append(count - 1)
    return rows[[0, *kept]]


def error_of(rows: np.ndarray) -> float:
    """How far ranks may be off, as a part of all weight."""
    if not len(rows):
        return 0.0
    inner = rows[1:, _MAX] - rows[1:, _MIN] - rows[1:, _WEIGHT]
    between = _prev_max(rows[1:]) - _next_min(rows[:-1])
    gap = max(np.float32(0), *inner.tolist(), *between.tolist())
    return float(gap) / float(rows[-1, _MAX])


def boundaries(rows: np.ndarray, count: int) -> np.ndarray:
    """At least so many different values, where there are some, spread as the values are."""
    error = np.float32(error_of(rows) + 1.0 / count)
    return np.unique(compressed(rows, count, float(error))[:, _VALUE])


def quantiles(rows: np.ndarray, count: int) -> np.ndarray:
    """`count` values that part the weight evenly; some may be the same."""
    if not len(rows):
        return np.zeros(0, np.float32)
    parts, found, current = max(count - 1, 2), [], 0
    middles = rows[:, _MIN] + rows[:, _MAX]
    for rank in range(parts + 1):
        wanted = np.float32(2) * (np.float32(rank) * rows[-1, _MAX] / np.float32(parts))
        following = current + 1
        while following < len(rows) and wanted >= middles[following]:
            following += 1
        current = following - 1
        is_here = following == len(rows) or wanted < _next_min(rows[current]) + _prev_max(
            rows[following]
        )
        found.append(rows[current if is_here else following, _VALUE])
    return np.array(found, np.float32)


class Stream:
    """Values that come one after another, kept in levels of summaries.

    Args:
        error: how far ranks may be off, as a part of all weight.
        most: how many values there may be.
    """

    def __init__(self, error: float, most: int) -> None:
        if not error > 0:
            raise errors.invalid("An epsilon value of zero is not allowed.")
        self._error = error
        self._block = _block_size(error, most)
        self._room = min(self._block * 2, most)
        self._levels: list[np.ndarray] = []
        self.final: np.ndarray | None = None

    def push_values(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Adds values, in blocks, as TensorFlow's buffer takes them one by one."""
        counts = weights > 0
        values, weights = values[counts], weights[counts]
        for begin in range(0, len(values), self._room):
            block = slice(begin, begin + self._room)
            self.push(summarize(values[block], weights[block]))

    def push(self, summary: np.ndarray) -> None:
        """Adds the values of a summary."""
        local = compressed(summary, self._block, self._error)
        if not len(local):
            return
        for level, present in enumerate(self._levels):
            local = merged(local, present)
            if not len(present) or len(local) <= self._block + 1:
                self._levels[level] = local
                return
            local = compressed(local, self._block, self._error)
            self._levels[level] = _EMPTY
        self._levels.append(local)

    def finish(self) -> np.ndarray:
        """The summary of everything; nothing can be added any more."""
        if self.final is not None:
            raise errors.internal("Finalize() may only be called once.")
        result = _EMPTY
        for level in self._levels:
            result = merged(result, level)
        self.final, self._levels = result, []
        return result


def _block_size(error: float, most: int) -> int:
    if not error < 1:
        raise errors.invalid(f"An epsilon must be below 1, got: {error}")
    if most <= 0:
        raise errors.invalid(f"max_elements must be positive, got: {most}")
    if error <= np.finfo(np.float64).eps:
        return max(most, 2)
    level, block = 1, 2
    while (1 << level) * block < most:
        block = math.ceil(level / error) + 1
        level += 1
    return max(block, 2)
