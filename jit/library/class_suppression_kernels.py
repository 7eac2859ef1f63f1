# SPDX-License-Identifier: Apache-2.0
"""The kernels of boxes picked class by class; see jit/library/class_suppression.py.

A score and a number make one key: keys of higher scores are larger, and of equal scores that of
the lower number.  So a heap of keys gives them in one order, whatever its shape.
"""

from __future__ import annotations

from .plain_vocabulary import (
    Address,
    Arguments,
    Scalar,
    float32,
    float_as_bits,
    helper,
    int64,
    pointer,
    region,
)
from .suppression_kernels import higher, lower


@helper
def key_of(score: Scalar, number: int) -> int:
    """The key of a score, which is not a NaN, and a number of 31 bits."""
    bits = int64(float_as_bits(score))
    # (Bits of what is below zero grow with its size; so both zeros are one.)
    order = bits if bits < 2147483648 else 2147483648 - bits
    return order * 4294967296 + (4294967295 - number)


@helper
def number_of(key: int) -> int:
    """The number in a key."""
    return 4294967295 - (key & 4294967295)


@helper
def sink(heap: Address, hole: int, size: int, key: int) -> None:
    """Puts a key into a heap whose hole it fills, or what is below."""
    keys, child = pointer(heap), 2 * hole + 1
    while child < size:
        if child + 1 < size and keys[child + 1] > keys[child]:
            child += 1
        if keys[child] > key:
            keys[hole] = keys[child]
            hole, child = child, 2 * child + 1
        else:
            child = size
    keys[hole] = key


@helper
def order_heap(heap: Address, size: int) -> None:
    """Makes a heap of keys, the largest first."""
    keys = pointer(heap)
    for step in range(size // 2):
        hole = size // 2 - 1 - step
        sink(heap, hole, size, keys[hole])


@helper
def take_first(heap: Address, size: int) -> int:
    """Takes the largest of `size` keys away."""
    keys = pointer(heap)
    first = keys[0]
    sink(heap, 0, size - 1, keys[size - 1])
    return first


@helper
def put_sides(sides: Address, box: Address, place: int, room: int) -> None:
    """A box as its lowest and highest corner, and its area, in columns of `room` numbers."""
    out, corners = pointer(sides + place), pointer(box)
    out[0] = lower(corners[0], corners[2])
    out[room] = lower(corners[1], corners[3])
    out[2 * room] = higher(corners[0], corners[2])
    out[3 * room] = higher(corners[1], corners[3])
    out[4 * room] = (out[2 * room] - out[0]) * (out[3 * room] - out[room])


@helper
def is_covered(sides: Address, room: int, begin: int, count: int, threshold: Scalar) -> bool:
    """Whether a box, the last one of its columns, shares too much with one of some others."""
    mine, tops, lefts = pointer(sides + (room - 1)), pointer(sides + begin), sides + room + begin
    left, bottom, right = (
        pointer(lefts),
        pointer(sides + 2 * room + begin),
        pointer(sides + 3 * room + begin),
    )
    areas, hits = pointer(sides + 4 * room + begin), 0
    top, side, low, far, area = (
        mine[0],
        mine[room],
        mine[2 * room],
        mine[3 * room],
        mine[4 * room],
    )
    if area <= float32(0):
        return False
    for j in range(count):
        tall = lower(low, bottom[j]) - higher(top, tops[j])
        wide = lower(far, right[j]) - higher(side, left[j])
        shared = higher(tall, float32(0)) * higher(wide, float32(0))
        share = shared / (area + areas[j] - shared)
        hits += 1 if share > threshold and not areas[j] <= float32(0) else 0
    return hits > 0


def class_picks(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: boxes, scores, threshold, least score, keys that are picked, how many; the number of
    boxes, of them at one place, of classes, the most that are picked; scratch.  A row is a class of
    an image.
    """
    number, several, classes, most = args[6], args[7], args[8], args[9]
    threshold, least, room = pointer(args[2])[0], pointer(args[3])[0], most + 1
    heap = region(args[10] + worker * args[11], "int64")
    sides, keys = region(args[10] + worker * args[11] + 8 * number, "float32"), pointer(heap)
    for r in range(r0, r1):
        image = r // classes
        kind = r - image * classes
        scores, size = pointer(args[1] + image * number * classes + kind), 0
        boxes = args[0] + (image * number * several + (kind if several > 1 else 0)) * 4
        for i in range(number):
            score = scores[i * classes]
            if score > least:
                keys[size] = key_of(score, i)
                size += 1
        order_heap(heap, size)
        picks, found = pointer(args[4] + r * most), 0
        while found < most and size > 0:
            item = number_of(take_first(heap, size))
            size -= 1
            put_sides(sides, boxes + item * several * 4, room - 1, room)
            # From the last one backwards, some at a time: neighbours have like scores.
            end, is_dropped = found, False
            while end > 0 and not is_dropped:
                begin = max(end - 16, 0)
                is_dropped = is_covered(sides, room, begin, end - begin, threshold)
                end = begin
            if not is_dropped:
                put_sides(sides, boxes + item * several * 4, found, room)
                picks[found] = key_of(scores[item * classes], item)
                found += 1
        pointer(args[5])[r] = found


@helper
def score_in(boxes: int, picks: Address, scores: Address, classes: int, kind: int) -> Scalar:
    """The score of a pick of a class."""
    return pointer(scores)[number_of(pointer(picks)[boxes]) * classes + kind]


def merged_picks(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: boxes, scores, keys that are picked, how many; boxes, scores, classes, how many of an
    image; the number of boxes, of them at one place, of classes, the most that are picked of one,
    the most of an image, whether boxes are clipped; scratch.  Rows are images.
    """
    number, several, classes = args[8], args[9], args[10]
    most, total, is_clipped = args[11], args[12], args[13]
    heap = region(args[14] + worker * args[15], "int64")
    keys = pointer(heap)
    for r in range(r0, r1):
        scores, counts = args[1] + r * number * classes, pointer(args[3] + r * classes)
        picks, size = args[2] + r * classes * most, 0
        for kind in range(classes):
            for i in range(counts[kind]):
                score = score_in(kind * most + i, picks, scores, classes, kind)
                keys[size] = key_of(score, kind * most + i)
                size += 1
        order_heap(heap, size)
        valid = min(size, total)
        for i in range(total):
            corners, source, score, kind = pointer(args[4] + (r * total + i) * 4), 0, float32(0), 0
            if i < valid:
                place = number_of(take_first(heap, size))
                size -= 1
                kind = place // most
                source = number_of(pointer(picks)[place]) * several
                source += kind if several > 1 else 0
                score = score_in(place, picks, scores, classes, kind)
            box = pointer(args[0] + (r * number * several + source) * 4)
            for j in range(4):
                side = box[j] if i < valid else float32(0)
                if is_clipped:
                    side = higher(lower(side, float32(1)), float32(0))
                corners[j] = side
            pointer(args[5])[r * total + i] = score
            pointer(args[6])[r * total + i] = float32(kind)
        pointer(args[7])[r] = valid
