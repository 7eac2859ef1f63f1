# SPDX-License-Identifier: Apache-2.0
"""The kernel of the largest elements of rows; see jit/library/ranking.py.

Of numbers that a NaN leaves without an order it takes those that the C++ library's heaps take, each
of whose comparisons with a NaN is false.
"""

from __future__ import annotations

from .plain_vocabulary import Address, Arguments, helper, pointer, region


@helper
def is_larger(row: Address, a: int, b: int) -> bool:
    """Whether element a of a row stands before element b: of equal ones the first does."""
    values = pointer(row)
    x, y = values[a], values[b]
    return y < x or (not y > x and a < b)


@helper
def sift(row: Address, heap: Address, hole: int, size: int, item: int) -> None:
    """Fills a hole from below down to a leaf, and lets the item rise from there."""
    items = pointer(heap)
    # Down to a leaf without a look at the item: it comes from the end of the heap and most often
    # belongs there again, so that the way up is short.
    top, child = hole, 2 * hole + 2
    while child <= size:
        if child == size or is_larger(row, items[child], items[child - 1]):
            child -= 1
        items[hole] = items[child]
        hole, child = child, 2 * child + 2
    while hole > top and is_larger(row, items[(hole - 1) // 2], item):
        items[hole] = items[(hole - 1) // 2]
        hole = (hole - 1) // 2
    items[hole] = item


@helper
def pop(row: Address, heap: Address, size: int) -> None:
    """Moves the first of `size` items, which is the least, to their end."""
    items = pointer(heap)
    item = items[size - 1]
    items[size - 1] = items[0]
    sift(row, heap, 0, size - 1, item)


@helper
def keep_largest(row: Address, heap: Address, length: int, kept: int) -> None:
    """A heap of one item more than is kept takes up all items, one after the other."""
    items, values = pointer(heap), pointer(row)
    # The place more holds what has left the heap; the next item goes there, and then in.
    for item in range(kept + 1):
        items[item] = item
    for step in range((kept + 1) // 2):
        parent = (kept + 1) // 2 - 1 - step
        sift(row, heap, parent, kept + 1, items[parent])
    pop(row, heap, kept + 1)
    for item in range(kept + 1, length):
        least, value = values[items[0]], values[item]
        if least < value or (not least > value and item < items[0]):
            items[kept] = item
            pop(row, heap, kept + 1)
    # The least goes behind the rest until all are in order, the largest first.
    for step in range(kept - 1):
        pop(row, heap, kept - step)


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


def largest(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: x, values, indices; the length of a row, how many are kept of it; scratch."""
    length, kept = args[3], args[4]
    heap = region(args[5] + worker * args[6], "int64")
    items = pointer(heap)
    for r in range(r0, r1):
        row = args[0] + r * length
        x, values, indices = pointer(row), pointer(args[1] + r * kept), pointer(args[2] + r * kept)
        if kept == 1:
            items[0] = first_largest(row, length)
        else:
            keep_largest(row, heap, length, kept)
        for i in range(kept):
            indices[i] = items[i]
            values[i] = x[items[i]]
