# SPDX-License-Identifier: Apache-2.0
"""The kernel of the largest elements of rows; see jit/library/ranking.py.

Of numbers that a NaN leaves without an order it takes those that the C++ library's heaps and
sorting take, each of whose comparisons with a NaN is false.
"""

from __future__ import annotations

from .plain_vocabulary import Address, Arguments, helper, pointer, region

# Items that are sorted by insertion.
SHORT = 16
# Numbers of a part of a row that waits to be sorted: where it begins and ends, how deep it may go.
PART = 3


@helper
def is_larger(row: Address, a: int, b: int, ties: int) -> bool:
    """Whether element a of a row stands before element b; with `ties` the first of equal ones."""
    values = pointer(row)
    x, y = values[a], values[b]
    return y < x or (ties != 0 and not y > x and a < b)


@helper
def sift(row: Address, heap: Address, hole: int, size: int, item: int, ties: int) -> None:
    """Fills a hole from below down to a leaf, and lets the item rise from there."""
    items = pointer(heap)
    # Down to a leaf without a look at the item: it comes from the end of the heap and most often
    # belongs there again, so that the way up is short.
    top, child = hole, 2 * hole + 2
    while child <= size:
        if child == size or is_larger(row, items[child], items[child - 1], ties):
            child -= 1
        items[hole] = items[child]
        hole, child = child, 2 * child + 2
    while hole > top and is_larger(row, items[(hole - 1) // 2], item, ties):
        items[hole] = items[(hole - 1) // 2]
        hole = (hole - 1) // 2
    items[hole] = item


@helper
def pop(row: Address, heap: Address, size: int, ties: int) -> None:
    """Moves the first of `size` items, which is the least, to their end."""
    items = pointer(heap)
    item = items[size - 1]
    items[size - 1] = items[0]
    sift(row, heap, 0, size - 1, item, ties)


@helper
def make_heap(row: Address, heap: Address, size: int, ties: int) -> None:
    """Puts the item that comes last first, and so on down the heap."""
    for step in range(size // 2):
        parent = size // 2 - 1 - step
        sift(row, heap, parent, size, pointer(heap)[parent], ties)


@helper
def sort_heap(row: Address, heap: Address, size: int, ties: int) -> None:
    """Puts the items of a heap in order."""
    # The least goes behind the rest until all are in order, the largest first.
    for step in range(size - 1):
        pop(row, heap, size - step, ties)


@helper
def keep_largest(row: Address, heap: Address, length: int, kept: int) -> None:
    """A heap of one item more than is kept takes up all items, one after the other."""
    items, values = pointer(heap), pointer(row)
    # The place more holds what has left the heap; the next item goes there, and then in.
    for item in range(kept + 1):
        items[item] = item
    make_heap(row, heap, kept + 1, 1)
    pop(row, heap, kept + 1, 1)
    for item in range(kept + 1, length):
        least, value = values[items[0]], values[item]
        if least < value or (not least > value and item < items[0]):
            items[kept] = item
            pop(row, heap, kept + 1, 1)
    sort_heap(row, heap, kept, 1)


@helper
def median_first(row: Address, heap: Address, start: int, end: int) -> None:
    """Puts the median of three items of a part first: its pivot."""
    items = pointer(heap)
    low, high, last = start + (end - start) // 2, start + 1, end - 1
    if is_larger(row, items[high], items[low], 0):
        low, high = high, low
    middle = low
    if is_larger(row, items[high], items[last], 0):
        middle = high
    elif is_larger(row, items[low], items[last], 0):
        middle = last
    first = items[start]
    items[start] = items[middle]
    items[middle] = first


@helper
def partition(row: Address, heap: Address, start: int, end: int) -> int:
    """Where the part behind the pivot begins, once all items of a part are on their side of it."""
    items = pointer(heap)
    pivot, low, high, cut = items[start], start + 1, end, -1
    while cut < 0:
        while low < end and is_larger(row, items[low], pivot, 0):
            low += 1
        high -= 1
        while high > start and is_larger(row, pivot, items[high], 0):
            high -= 1
        if low >= high:
            cut = low
        else:
            item = items[low]
            items[low] = items[high]
            items[high] = item
            low += 1
    return cut


@helper
def sort_parts(row: Address, heap: Address, stack: Address, length: int) -> None:
    """Quicksort down to short parts, and heaps where it goes too deep."""
    parts = pointer(stack)
    depth, half = 0, length // 2
    while half > 0:
        depth += 2
        half = half // 2
    parts[0], parts[1], parts[2] = 0, length, depth
    waiting = 1
    while waiting > 0:
        waiting -= 1
        start, end = parts[waiting * PART], parts[waiting * PART + 1]
        depth = parts[waiting * PART + 2]
        while end - start > SHORT:
            if depth == 0:
                make_heap(row, heap + start, end - start, 0)
                sort_heap(row, heap + start, end - start, 0)
                end = start
            else:
                depth -= 1
                median_first(row, heap, start, end)
                cut = partition(row, heap, start, end)
                parts[waiting * PART], parts[waiting * PART + 1] = cut, end
                parts[waiting * PART + 2] = depth
                waiting += 1
                end = cut


@helper
def insert(row: Address, heap: Address, place: int) -> None:
    """Moves an item to where it belongs among those before it."""
    items = pointer(heap)
    item = items[place]
    # (A short way to the front, which a NaN on the way does not end.)
    is_first = place < SHORT and is_larger(row, item, items[0], 0)
    while place > 0 and (is_first or is_larger(row, item, items[place - 1], 0)):
        items[place] = items[place - 1]
        place -= 1
    items[place] = item


@helper
def sort_row(row: Address, heap: Address, stack: Address, length: int) -> None:
    """All items in order, those that are equal as they come."""
    items, values = pointer(heap), pointer(row)
    for item in range(length):
        items[item] = item
    sort_parts(row, heap, stack, length)
    for place in range(1, length):
        insert(row, heap, place)
    start = 0
    for end in range(1, length + 1):
        is_same = False
        if end < length:
            is_same = values[items[end]] == values[items[start]]
        if not is_same:
            make_heap(row, heap + start, end - start, 1)
            sort_heap(row, heap + start, end - start, 1)
            start = end


@helper
def first_largest(row: Address, length: int) -> int:
    """Where the largest number is first; 0 if there is none."""
    values = pointer(row)
    place = 0
    for item in range(1, length):
        best = values[place]
        # (A NaN that comes first gives way to any number.)
        if values[item] > best or (best != best and values[item] == values[item]):
            place = item
    return place


@helper
def rank_row(row: Address, heap: Address, length: int, kept: int) -> None:
    """The first items are those of the largest elements, in order."""
    if kept == 1:
        pointer(heap)[0] = first_largest(row, length)
    elif kept == length:
        sort_row(row, heap, heap + (kept + 1), length)
    elif kept > 0:
        keep_largest(row, heap, length, kept)


def largest(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: x, values, indices; the length of a row, how many are kept of it; scratch.

    Scratch: words for one item more than are kept, and for parts that wait to be sorted.
    """
    length, kept = args[3], args[4]
    heap = region(args[5] + worker * args[6], "int64")
    items = pointer(heap)
    for r in range(r0, r1):
        row = args[0] + r * length
        x, values, indices = pointer(row), pointer(args[1] + r * kept), pointer(args[2] + r * kept)
        rank_row(row, heap, length, kept)
        for i in range(kept):
            indices[i] = items[i]
            values[i] = x[items[i]]


def unordered(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: x, whether any row counts, which rows do, indices of their largest; the length of a
    row, how many are kept of it, rows; scratch as of `largest`.  In one tile.
    """
    length, kept = args[4], args[5]
    heap = region(args[7] + worker * args[8], "int64")
    items, flags = pointer(heap), pointer(args[2])
    if pointer(args[1])[0] != 0:
        for r in range(args[6]):
            if flags[r] != 0:
                indices = pointer(args[3] + r * kept)
                rank_row(args[0] + r * length, heap, length, kept)
                for i in range(kept):
                    indices[i] = items[i]
