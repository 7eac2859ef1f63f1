# SPDX-License-Identifier: Apache-2.0
"""Picking boxes by score, without those that overlap better ones too much.

Boxes wait in a heap that orders equal scores as the C++ library's does, so that the same ones come
first as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...engine import errors
from ...engine.types.shape import shape_text


class _Candidate(NamedTuple):
    """A box in the heap; those picked before `begin` have been compared with it."""

    score: Any
    number: int
    begin: int


class _Heap:
    """Candidates, the one of the best score on top; as std::priority_queue."""

    def __init__(self) -> None:
        self.items: list[_Candidate] = []

    def push(self, item: _Candidate) -> None:
        self.items.append(item)
        self._rise(len(self.items) - 1, 0, item)

    def _rise(self, hole: int, top: int, item: _Candidate) -> None:
        items = self.items
        while hole > top and items[(hole - 1) // 2].score < item.score:
            items[hole] = items[(hole - 1) // 2]
            hole = (hole - 1) // 2
        items[hole] = item

    def pop(self) -> _Candidate:
        items = self.items
        best, last = items[0], items.pop()
        size = len(items)
        if not size:
            return best
        # The hole sinks to a leaf, and the last item rises from there.
        hole, child = 0, 2
        while child <= size:
            if child == size or items[child].score < items[child - 1].score:
                child -= 1
            items[hole] = items[child]
            hole, child = child, 2 * child + 2
        self._rise(hole, 0, last)
        return best


def _lower(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(y < x, y, x)


def _higher(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(x < y, y, x)


class Boxes:
    """Boxes as their lowest and highest corners, and areas; corners come in any order."""

    def __init__(self, boxes: np.ndarray) -> None:
        first, second = boxes[:, :2], boxes[:, 2:]
        self.low, self.high = _lower(first, second), _higher(first, second)
        with np.errstate(all="ignore"):
            sides = self.high - self.low
            self.area = sides[:, 0] * sides[:, 1]

    def overlaps(self, i: int, others: Any) -> np.ndarray:
        """How much of what a box and each other one cover they share."""
        zero = self.area.dtype.type(0)
        with np.errstate(all="ignore"):
            low = _higher(self.low[i], self.low[others])
            high = _lower(self.high[i], self.high[others])
            sides = _higher(high - low, zero)
            shared = sides[:, 0] * sides[:, 1]
            share = shared / (self.area[i] + self.area[others] - shared)
        return np.where((self.area[i] <= 0) | (self.area[others] <= 0), zero, share)


def select(
    scores: np.ndarray,
    similar: Callable[[int, Any], np.ndarray],
    count: int,
    threshold: Any,
    least: Any,
    sigma: Any = 0,
) -> tuple[list[int], list[Any]]:
    """The boxes that are picked, best first, and their scores.

    similar: of a box and others.  From `threshold` on a box is dropped; below it lowers the score
    of the other one, if sigma is not zero.  Boxes of no more than the `least` score do not count.
    """
    number = scores.dtype.type
    threshold, least = number(threshold), number(least)
    scale = number(-0.5) / number(sigma) if sigma > 0 else number(0)
    heap = _Heap()
    for each in np.flatnonzero(scores > least):
        heap.push(_Candidate(scores[each], int(each), 0))
    picked: list[int] = []
    kept: list[Any] = []
    while len(picked) < count and heap.items:
        score, index, begin = heap.pop()
        shares = similar(index, picked[begin:])[::-1]
        left, is_dropped = _compared(score, shares, threshold, least, scale)
        if is_dropped:
            continue
        begin = len(picked)
        if left == score:
            picked.append(index)
            kept.append(left)
        if left > least:
            heap.push(_Candidate(left, index, begin))
    return picked, kept


def _compared(
    score: Any, shares: np.ndarray, threshold: Any, least: Any, scale: Any
) -> tuple[Any, bool]:
    """What is left of a score beside boxes that are picked already, and whether one is too near."""
    number = type(score)
    if scale == 0 and not (np.isnan(threshold) or np.isnan(shares).any()):
        return score, bool((shares >= threshold).any())
    with np.errstate(all="ignore"):
        for share in shares:
            weight = number(np.float32(np.exp(float(np.float32(scale * share * share)))))
            score = score * (weight if share <= threshold else number(0))
            if share >= threshold:
                return score, True
            if score <= least:
                break
    return score, False


# What is asked of inputs.


def require_scalars(values: dict[str, np.ndarray]) -> None:
    """Raises unless all values are scalars."""
    for name, value in values.items():
        if value.ndim:
            raise errors.invalid(f"{name} must be 0-D, got shape {shape_text(value.shape)}")


def require_boxes(boxes: np.ndarray, scores: np.ndarray, share: float | None) -> None:
    """Raises unless there is a box for each score, and the share is one."""
    if share is not None and not 0 <= share <= 1:
        raise errors.invalid("iou_threshold must be in [0, 1]")
    if boxes.ndim != 2:
        raise errors.invalid(f"boxes must be 2-D{shape_text(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise errors.invalid("boxes must have 4 columns")
    require_scores(scores, len(boxes))


def require_scores(scores: np.ndarray, count: int) -> None:
    """Raises unless there are so many scores."""
    if scores.ndim != 1:
        raise errors.invalid(f"scores must be 1-D{shape_text(scores.shape)}")
    if len(scores) != count:
        raise errors.invalid("scores has incompatible shape")


def combined(
    boxes: np.ndarray, scores: np.ndarray, per_class: int, threshold: float, least: float
) -> list[tuple[Any, int, np.ndarray]]:
    """(score, class, box) of all that are picked of one image, class by class, then by score.

    boxes: [number, 1 or classes, 4], scores: [number, classes].
    """
    found: list[tuple[Any, int, np.ndarray]] = []
    several = boxes.shape[1] > 1
    sides = [Boxes(boxes[:, i]) for i in range(boxes.shape[1])]
    # TensorFlow takes a negative number for a huge one.
    most = len(boxes) if per_class < 0 else per_class
    for kind in range(scores.shape[1]):
        own, column = kind if several else 0, scores[:, kind]
        picked: list[int] = []
        for index in np.argsort(-column, kind="stable"):
            if len(picked) >= most or not column[index] > least:
                break
            if not (sides[own].overlaps(index, picked) > threshold).any():
                picked.append(int(index))
                found.append((column[index], kind, boxes[index, own]))
    return sorted(found, key=lambda item: -item[0])
