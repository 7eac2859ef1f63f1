# SPDX-License-Identifier: Apache-2.0
"""Beam search over the labels of connectionist temporal classification, one row at a time.

What a search keeps, and in which order, is TensorFlow's to the last tie: its leaves are in a heap
of C++, whose order depends on what was put into it and when.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...engine import errors

_NEVER = float("-inf")
# Logarithms of probabilities: of all, and of those paths that end in a blank or in the label.
_Scores = tuple[float, float, float]
_DEAD: _Scores = (_NEVER, _NEVER, _NEVER)


class Leaf:
    """A sequence of labels: the one that its parent is, with a label more."""

    __slots__ = ("children", "label", "new", "old", "parent")

    def __init__(self, parent: Leaf | None, label: int, new: _Scores = _DEAD) -> None:
        self.parent, self.label = parent, label
        self.children: dict[int, Leaf] = {}
        self.old, self.new = _DEAD, new

    @property
    def is_active(self) -> bool:
        """Whether it is among the leaves of the search."""
        return self.new[0] != _NEVER

    def labels(self, merges: bool) -> list[int]:
        """The sequence; neighbours that are the same are one, if wanted."""
        found: list[int] = []
        before, leaf = -1, self
        while leaf.parent is not None:
            if not merges or leaf.label != before:
                found.append(leaf.label)
            before, leaf = leaf.label, leaf.parent
        return found[::-1]


def _sink(heap: list[Leaf], hole: int, size: int, leaf: Leaf) -> None:
    """Puts a leaf into a heap, the lowest first, in the way of libstdc++: down, and up again."""
    top, child = hole, hole
    while child < (size - 1) // 2:
        child = 2 * child + 2
        if heap[child].new[0] > heap[child - 1].new[0]:
            child -= 1
        heap[hole], hole = heap[child], child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * child + 1
        heap[hole], hole = heap[child], child
    above = (hole - 1) // 2
    while hole > top and heap[above].new[0] > leaf.new[0]:
        heap[hole], hole = heap[above], above
        above = (hole - 1) // 2
    heap[hole] = leaf


def _take_lowest(heap: list[Leaf], size: int) -> None:
    """Moves the lowest of the first `size` leaves of a heap behind the others."""
    if size > 1:
        last, heap[size - 1] = heap[size - 1], heap[0]
        _sink(heap, 0, size - 1, last)


class Leaves:
    """The best leaves, no more than `limit`: in the order in which they came until they are more,
    then a heap with one place behind it."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._kept: list[Leaf] = []
        self._is_heap = self._knows_lowest = False

    def __len__(self) -> int:
        return min(len(self._kept), self.limit)

    def __iter__(self) -> Iterator[Leaf]:
        return iter(self._kept[: len(self)])

    def push(self, leaf: Leaf) -> None:
        """Takes a leaf in, if it is one of the best."""
        kept = self._kept
        if self._is_heap:
            if leaf.new[0] > kept[0].new[0]:
                kept[-1] = leaf
                _take_lowest(kept, len(kept))
            return
        kept.append(leaf)
        if self._knows_lowest and not leaf.new[0] > kept[0].new[0]:
            kept[0], kept[-1] = kept[-1], kept[0]
        if len(kept) > self.limit:
            for hole in range((len(kept) - 2) // 2, -1, -1):
                _sink(kept, hole, len(kept), kept[hole])
            _take_lowest(kept, len(kept))
            self._is_heap = True

    def lowest(self) -> Leaf:
        """The leaf with the lowest probability."""
        kept = self._kept
        if not self._is_heap and not self._knows_lowest:
            at = 0
            for i in range(1, len(kept)):
                if kept[at].new[0] > kept[i].new[0]:
                    at = i
            kept[0], kept[at] = kept[at], kept[0]
            self._knows_lowest = True
        return kept[0]

    def take(self) -> list[Leaf]:
        """Empties the set; its leaves, the highest first."""
        kept, was_heap = self._kept, self._is_heap
        self._kept, self._is_heap, self._knows_lowest = [], False, False
        if not was_heap:
            return sorted(kept, key=lambda leaf: -leaf.new[0])
        kept.pop()
        for size in range(len(kept), 1, -1):
            _take_lowest(kept, size)
        return kept


class Search:
    """A search for the most probable sequences under rows of scores, whose last class is blank."""

    def __init__(self, width: int) -> None:
        self.leaves = Leaves(width)
        self.leaves.push(Leaf(None, -1, (0.0, 0.0, _NEVER)))

    def step(self, scores: np.ndarray) -> None:
        """Goes on by one step, in the precision of the scores."""
        most = scores.max()
        norm = most + np.log(np.exp(scores - most).sum())
        branches = self.leaves.take()
        for leaf in branches:
            leaf.old = leaf.new
        self._stay(branches, scores, norm)
        for leaf in branches:
            self.leaves.push(leaf)
        old = np.array([leaf.old for leaf in branches], scores.dtype)
        # Sequences that go on by a label: by one that is their last, after a blank alone.
        before = np.repeat(old[:, :1], len(scores), 1)
        rows = np.arange(len(branches))
        before[rows, [leaf.label for leaf in branches]] = old[:, 1]
        totals = ((scores - norm) + before)[:, :-1]
        for leaf, row in zip(branches, totals):
            if self._fits(leaf.old[0]):
                self._grow(leaf, row)

    def _stay(self, branches: list[Leaf], scores: np.ndarray, norm: np.floating) -> None:
        """The scores of sequences that stay as they are."""
        parents = [_from_parent(leaf) for leaf in branches]
        old = np.array([leaf.old for leaf in branches], scores.dtype)
        label = _sum(old[:, 2], np.array(parents, scores.dtype))
        label = label + (scores[[leaf.label for leaf in branches]] - norm)
        blank = old[:, 0] + scores[-1] - norm
        found = np.stack([_sum(blank, label), blank, label], -1)
        for leaf, (total, of_blank, of_label) in zip(branches, found.tolist()):
            leaf.new = total, of_blank, of_label

    def _fits(self, total: float) -> bool:
        if total == _NEVER:
            return False
        return len(self.leaves) < self.leaves.limit or total > self.leaves.lowest().new[0]

    def _grow(self, leaf: Leaf, totals: np.ndarray) -> None:
        """Takes in what a sequence becomes by one label more, where it is good enough."""
        is_full = len(self.leaves) == self.leaves.limit
        least = self.leaves.lowest().new[0] if is_full else _NEVER
        # Leaves only get better, so what does not fit now will not.
        good = np.flatnonzero(totals > least).tolist()
        for label in sorted({*good, *leaf.children}):
            child = leaf.children.get(label) or Leaf(leaf, label)
            if child.is_active:
                continue
            total = float(totals[label])
            if self._fits(total):
                leaf.children[label] = child
                child.new = total, _NEVER, total
                if len(self.leaves) == self.leaves.limit:
                    self.leaves.lowest().new = _DEAD
                self.leaves.push(child)
            else:
                child.old = child.new = _DEAD

    def best(self, count: int, merges: bool) -> tuple[list[list[int]], list[float]]:
        """The most probable sequences and the logarithms of their probabilities."""
        if count > self.leaves.limit:
            raise errors.invalid("requested more paths than the beam width.")
        if count > len(self.leaves):
            raise errors.invalid("Less leaves in the beam search than requested.")
        top = Leaves(count)
        for leaf in self.leaves:
            top.push(leaf)
        found = top.take()
        return [leaf.labels(merges) for leaf in found], [leaf.new[0] for leaf in found]


def _sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Logarithms of sums, whose smaller part is of single precision, as it is in TensorFlow."""
    high, low = np.maximum(a, b), np.minimum(a, b)
    part = np.log1p(np.exp((low - high).astype(np.float32)))
    return np.where(low == _NEVER, high, high + part.astype(high.dtype))


def _from_parent(leaf: Leaf) -> float:
    """What comes to a sequence from the one without its last label, in a step."""
    parent = leaf.parent
    if parent is None or not parent.is_active:
        return _NEVER
    return parent.old[1 if leaf.label == parent.label else 0]
