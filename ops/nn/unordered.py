# SPDX-License-Identifier: Apache-2.0
"""The k largest of numbers that NaN leaves without an order, in the order in which TensorFlow has
them: that of the C++ library's heaps and sorting, each of whose comparisons with a NaN is false.

All functions take `before(a, b)`, whether item a has to stand before item b, and work in place.
"""

from __future__ import annotations

from collections.abc import Callable

Before = Callable[[int, int], bool]
_SHORT = 16  # items that are sorted by insertion


def largest(row: list[float], count: int) -> list[int]:
    """Where the `count` largest of a row are, largest first."""
    if count == 1:
        return [_first_extreme(row)]
    if count == len(row):
        items = list(range(count))
        _sort(items, lambda a, b: row[b] < row[a])
        return _equal_runs_sorted(items, row)

    def is_larger(a: int, b: int) -> bool:
        if row[b] < row[a] or row[b] > row[a]:
            return row[b] < row[a]
        return a < b

    return _kept(len(row), count, is_larger)


def _first_extreme(row: list[float]) -> int:
    numbers = [value for value in row if value == value]
    return row.index(max(numbers)) if numbers else 0


def _equal_runs_sorted(items: list[int], row: list[float]) -> list[int]:
    """Items, where neighbours that are equal stand in increasing order."""
    start = 0
    for end in range(1, len(items) + 1):
        if end == len(items) or row[items[end]] != row[items[start]]:
            items[start:end] = sorted(items[start:end])
            start = end
    return items


def _kept(size: int, count: int, before: Before) -> list[int]:
    """A heap of one item more than is asked for takes up all items, one after the other."""
    heap: list[int] = []
    for item in range(size):
        if len(heap) <= count:
            heap.append(item)
            if len(heap) > count:
                _make_heap(heap, before)
                _pop(heap, len(heap), before)
        elif before(item, heap[0]):
            heap[-1] = item
            _pop(heap, len(heap), before)
    heap.pop()
    return _sort_heap(heap, before)


# Heaps


def _sift(heap: list[int], hole: int, size: int, item: int, before: Before) -> None:
    """Fills a hole from below down to a leaf, and lets the item rise from there."""
    top, child = hole, 2 * hole + 2
    while child <= size:
        if child == size or before(heap[child], heap[child - 1]):
            child -= 1
        heap[hole] = heap[child]
        hole, child = child, 2 * child + 2
    while hole > top and before(heap[(hole - 1) // 2], item):
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = item


def _make_heap(heap: list[int], before: Before) -> None:
    for parent in range(len(heap) // 2 - 1, -1, -1):
        _sift(heap, parent, len(heap), heap[parent], before)


def _pop(heap: list[int], size: int, before: Before) -> None:
    """Moves the first of `size` items to their end."""
    item, heap[size - 1] = heap[size - 1], heap[0]
    _sift(heap, 0, size - 1, item, before)


def _sort_heap(heap: list[int], before: Before) -> list[int]:
    for size in range(len(heap), 1, -1):
        _pop(heap, size, before)
    return heap


# Sorting


def _sort(items: list[int], before: Before) -> None:
    """Quicksort down to short parts, heaps where it goes too deep, and insertion at the end."""
    _partition_all(items, 0, len(items), 2 * (len(items).bit_length() - 1), before)
    for place in range(1, len(items)):
        item = items[place]
        if place < _SHORT and before(item, items[0]):
            items[: place + 1] = [item, *items[:place]]
            continue
        while place > 0 and before(item, items[place - 1]):
            items[place] = items[place - 1]
            place -= 1
        items[place] = item


def _partition_all(items: list[int], start: int, end: int, depth: int, before: Before) -> None:
    while end - start > _SHORT:
        if depth == 0:
            part = items[start:end]
            _make_heap(part, before)
            items[start:end] = _sort_heap(part, before)
            return
        depth -= 1
        _median_first(items, start, (start + 1, start + (end - start) // 2, end - 1), before)
        cut = _partition(items, start, end, before)
        _partition_all(items, cut, end, depth, before)
        end = cut


def _median_first(items: list[int], start: int, three: tuple[int, ...], before: Before) -> None:
    a, b, c = three
    low, high = (a, b) if before(items[a], items[b]) else (b, a)
    if before(items[high], items[c]):
        middle = high
    else:
        middle = c if before(items[low], items[c]) else low
    items[start], items[middle] = items[middle], items[start]


def _partition(items: list[int], start: int, end: int, before: Before) -> int:
    """Where the part behind the pivot, the first item, begins."""
    pivot, low, high = items[start], start + 1, end
    while True:
        while low < end and before(items[low], pivot):
            low += 1
        high -= 1
        while high > start and before(pivot, items[high]):
            high -= 1
        if low >= high:
            return low
        items[low], items[high] = items[high], items[low]
        low += 1
