# SPDX-License-Identifier: Apache-2.0
"""The kernel of boxes picked by score; see jit/library/suppression.py.

Candidates wait in a heap as the C++ library keeps it, so equal scores come in its order.
"""

from __future__ import annotations

from .plain_vocabulary import (
    GIVEN,
    Address,
    Arguments,
    Scalar,
    bits_as_float,
    float32,
    float64,
    helper,
    int64,
    pointer,
    region,
    uint64,
)

BOXES: bool = GIVEN  # overlaps are computed of boxes, not looked up


@helper
def rise(heap: Address, keys: Address, hole: int, item: int, key: Scalar) -> None:
    """Lets an item rise from a hole to where it belongs."""
    items, scores = pointer(heap), pointer(keys)
    while hole > 0 and scores[(hole - 1) // 2] < key:
        items[hole] = items[(hole - 1) // 2]
        scores[hole] = scores[(hole - 1) // 2]
        hole = (hole - 1) // 2
    items[hole] = item
    scores[hole] = key


@helper
def drop_first(heap: Address, keys: Address, size: int) -> None:
    """Takes the best of `size` items away."""
    items, scores = pointer(heap), pointer(keys)
    item, key = items[size - 1], scores[size - 1]
    hole, child, last = 0, 2, size - 1
    if last > 0:
        while child <= last:
            if child == last or scores[child] < scores[child - 1]:
                child -= 1
            items[hole] = items[child]
            scores[hole] = scores[child]
            hole, child = child, 2 * child + 2
        rise(heap, keys, hole, item, key)


@helper
def lower(x: Scalar, y: Scalar) -> Scalar:
    """The lower one; the first of what has no order."""
    return y if y < x else x


@helper
def higher(x: Scalar, y: Scalar) -> Scalar:
    """The higher one; the first of what has no order."""
    return y if x < y else x


@helper
def put_corners(target: Address, box: Address) -> None:
    """A box as its lowest and highest corner, and its area."""
    out, corners = pointer(target), pointer(box)
    out[0] = lower(corners[0], corners[2])
    out[1] = lower(corners[1], corners[3])
    out[2] = higher(corners[0], corners[2])
    out[3] = higher(corners[1], corners[3])
    out[4] = (out[2] - out[0]) * (out[3] - out[1])


@helper
def share(box: Address, other: Address) -> Scalar:
    """How much of what two boxes cover they share."""
    p, q = pointer(box), pointer(other)
    if p[4] <= float32(0) or q[4] <= float32(0):
        return float32(0)
    tall = lower(p[2], q[2]) - higher(p[0], q[0])
    wide = lower(p[3], q[3]) - higher(p[1], q[1])
    shared = higher(tall, float32(0)) * higher(wide, float32(0))
    return shared / (p[4] + q[4] - shared)


@helper
def falling(x: Scalar) -> Scalar:
    """The exponential function of a float32 that is not above zero, rounded once."""
    exact = float64(x)
    if exact < -104.0:
        return float32(0)
    if not exact <= 0.0:
        return x if x != x else float32(1)
    # 2 ** -steps times e ** rest, which is a sum of its powers.
    steps = int64(0.5 - exact * 1.4426950408889634)
    rest = exact + float64(steps) * 0.6931471805599453
    total, k = 1.0, 14
    while k > 0:
        total = 1.0 + total * rest / float64(k)
        k -= 1
    return float32(total * bits_as_float(uint64((1023 - steps) << 52)))


@helper
def filled(heap: Address, keys: Address, scores: Address, least: Scalar, count: int) -> int:
    """Puts all that score more than the least into the heap; how many these are."""
    given, size = pointer(scores), 0
    for i in range(count):
        if given[i] > least:
            rise(heap, keys, size, i, given[i])
            size += 1
    return size


def suppressed(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: boxes or overlaps, scores, threshold, least score, how fast scores fall, indices,
    scores, count; how many there are, how many are wanted; scratch.  One row.
    """
    count, wanted = args[8], args[9]
    heap = region(args[10] + worker * args[11], "int64")
    items, begins = pointer(heap), pointer(heap + count + 1)
    keys = region(args[10] + worker * args[11] + 16 * (count + 1), "float32")
    picked = region(args[10] + worker * args[11] + 20 * (count + 1), "float32")
    mine = picked + 5 * wanted
    best = pointer(keys)
    threshold, least = pointer(args[2])[0], pointer(args[3])[0]
    scale, indices, kept = pointer(args[4])[0], pointer(args[5]), pointer(args[6])
    for i in range(wanted):
        indices[i] = 0
        kept[i] = float32(0)
    size, found = filled(heap, keys, args[1], least, count), 0
    for i in range(count):
        begins[i] = 0
    while found < wanted and size > 0:
        item, score = items[0], best[0]
        drop_first(heap, keys, size)
        size -= 1
        left, is_dropped = score, False
        if BOXES:
            put_corners(mine, args[0] + 4 * item)
        j = found - 1
        while j >= begins[item]:
            if BOXES:
                near = share(mine, picked + 5 * j)
            else:
                near = pointer(args[0])[item * count + indices[j]]
            if near >= threshold:
                is_dropped = True
                j = -1
            else:
                # What has no order takes all of a score, as a product with zero.
                weight = falling(scale * near * near) if near <= threshold else float32(0)
                left = left * weight
                if left <= least:
                    j = -1
            j -= 1
        begins[item] = found
        if not is_dropped:
            if left == score:
                indices[found] = item
                kept[found] = left
                if BOXES:
                    put_corners(picked + 5 * found, args[0] + 4 * item)
                found += 1
            if left > least:
                rise(heap, keys, size, item, left)
                size += 1
    pointer(args[7])[0] = found
