# SPDX-License-Identifier: Apache-2.0
"""The kernels that read indices and data of tensor bundles; see jit/library/bundles.py."""

from __future__ import annotations

from .features_kernels import varint
from .plain_vocabulary import Arguments, Scalar, as_bytes, copy, helper, pointer
from .records_kernels import DELTA, ONES, stored, word

# Of a row: element, component, dtype, shard, offset, size, checksum, rank, and so many sizes.
SIZES, MOST = 8, 8
WIDTH = 16
LONGEST_KEY = 64
BLANK, ZERO, UNDERLINE = 32, 48, 95


@helper
def number(text: Scalar, at: int, stop: int) -> tuple[int, int]:
    """The number at a place and the place behind it; -1 where there is none, or was none before."""
    value, behind = 0, -1
    if at >= 0:
        value, behind = varint(text, at, stop)
    return value, behind


@helper
def behind(text: Scalar, at: int, stop: int) -> int:
    """The place behind so many bytes as the number at a place says; -1 where there are fewer."""
    length, start = number(text, at, stop)
    if start < 0 or length < 0 or length > stop - start:
        return -1
    return start + length


@helper
def digits(key: Scalar, at: int, stop: int, mark: int) -> tuple[int, int]:
    """The number in digits before `mark`, or before the end, and the place behind; -1: none."""
    value, start, goes_on = 0, at, True
    while goes_on and at < stop:
        goes_on = key[at] >= ZERO and key[at] < ZERO + 10
        if goes_on:
            value = value * 10 + (key[at] - ZERO)
            at += 1
    over = -1
    if at > start and at - start < 16:
        if mark == 0:
            over = at if at == stop else -1
        elif at < stop:
            over = at + 1 if key[at] == mark else -1
    return value, over


@helper
def sizes(text: Scalar, at: int, stop: int, rows: Scalar, row: int) -> bool:
    """Notes the sizes of a shape, each a message (field 2) of a number (field 1)."""
    rank = 0
    while at >= 0 and at < stop and rank < MOST:
        end, start, size = -1, at, 0
        if text[at] == 18:
            end = behind(text, at + 1, stop)
            _, start = number(text, at + 1, stop)
        if end >= 0 and start < end:
            at = -1
            if text[start] == 8:
                size, at = number(text, start + 1, end)
            end = end if at == end and size >= 0 else -1
        rows[row + SIZES + rank] = size
        rank += 1
        at = end
    rows[row + SIZES - 1] = rank
    return at == stop


@helper
def entry(text: Scalar, at: int, stop: int, rows: Scalar, row: int) -> bool:
    """Notes what the message of a tensor says, its fields in any order; whether it is usual."""
    for i in range(2, SIZES):
        rows[row + i] = 0
    sound = True
    while sound and at < stop:
        tag = text[at]
        if tag == 18:
            end = behind(text, at + 1, stop)
            _, start = number(text, at + 1, stop)
            sound = end >= 0
            if sound:
                sound = sizes(text, start, end, rows, row)
            at = end
        elif tag == 53:
            sound = at + 5 <= stop
            if sound:
                rows[row + 6] = word(text, at + 1)
            at += 5
        else:
            # dtype, shard, offset and size: fields 1, 3, 4 and 5
            sound = tag == 8 or tag == 24 or tag == 32 or tag == 40
            value, at = number(text, at + 1, stop)
            sound = sound and at >= 0 and value >= 0
            if sound:
                rows[row + (2 if tag == 8 else tag // 8)] = value
    return sound


def entries(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: block, key, rows, found; bytes of the block's entries, most rows.

    Keys are the numbers of an element and of a component, as caches of datasets have them; the
    header's is empty.  found: how many rows there are, -1 where anything is unusual.
    """
    text, key, rows, found = pointer(args[0]), pointer(args[1]), pointer(args[2]), pointer(args[3])
    stop, most = args[4], args[5]
    at, count, length, sound = 0, 0, 0, True
    while sound and at < stop:
        shared, at = number(text, at, stop)
        rest, at = number(text, at, stop)
        size, at = number(text, at, stop)
        sound = at >= 0 and shared >= 0 and rest >= 0 and size >= 0 and count < most
        if sound:
            sound = shared <= length and shared + rest <= LONGEST_KEY and rest <= stop - at
        if sound:
            for i in range(rest):
                key[shared + i] = text[at + i]
            length = shared + rest
            at += rest
            sound = size <= stop - at
        if sound and length > 0:
            row, first = count * WIDTH, 0
            while first < length and key[first] == BLANK:
                first += 1
            element, first = digits(key, first, length, UNDERLINE)
            component, over = -1, -1
            if first >= 0:
                while first < length and key[first] == BLANK:
                    first += 1
                component, over = digits(key, first, length, 0)
            rows[row], rows[row + 1] = element, component
            sound = over >= 0
            if sound:
                sound = entry(text, at, at + size, rows, row)
            count += 1
        at += size
    found[0] = count if sound else -1


def numbers(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: text, tables of checksums, starts, checksums, target, found; bytes of a tensor.

    Puts tensors of one size one behind the other.  found: how many have another checksum.
    """
    text, tables, starts = pointer(args[0]), pointer(args[1]), pointer(args[2])
    wanted, found, size = pointer(args[3]), pointer(args[5]), args[6]
    bad = 0
    for i in range(r0, r1):
        if stored(text, starts[i], size, tables) != wanted[i]:
            bad += 1
        copy(as_bytes(args[4]) + i * size, as_bytes(args[0]) + starts[i], size)
    found[0] = bad


@helper
def unmasked(masked: int) -> int:
    """A checksum that is stored as another number, before its bits are turned round."""
    rotated = (masked - DELTA) & ONES
    return ((rotated >> 17) | (rotated << 15)) & ONES


@helper
def after(crc: int, byte: int, tables: Scalar) -> int:
    """The state of a checksum behind one byte more."""
    return tables[(crc ^ byte) & 255] ^ (crc >> 8)


def texts(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: text, tables of checksums, starts, sizes, checksums, places, found; texts of a tensor.

    A tensor is the lengths of its texts, a checksum of them, each as four bytes, and the texts; its
    own checksum is that of the lengths as four bytes each and what stands behind them.
    places: where each text begins and ends; found: how many tensors are not as they should be.
    """
    text, tables, starts = pointer(args[0]), pointer(args[1]), pointer(args[2])
    widths, wanted = pointer(args[3]), pointer(args[4])
    places, found, count = pointer(args[5]), pointer(args[6]), args[7]
    bad = 0
    for i in range(r0, r1):
        at, stop = starts[i], starts[i] + widths[i]
        crc, total = ONES, 0
        for j in range(count):
            length, at = number(text, at, stop)
            if at < 0 or length < 0 or length > stop - at:
                at, length = -1, 0
            place = 2 * (i * count + j)
            places[place], places[place + 1] = total, total + length
            total += length
            for k in range(4):
                crc = after(crc, (length >> (8 * k)) & 255, tables)
        sound = at >= 0 and total + 4 == stop - at
        if sound:
            sound = unmasked(word(text, at)) == crc ^ ONES
            for k in range(at, stop):
                crc = after(crc, text[k], tables)
            sound = sound and unmasked(wanted[i]) == crc ^ ONES
        first = at + 4 if sound else 0
        for j in range(2 * i * count, 2 * (i + 1) * count):
            places[j] = places[j] + first if sound else 0
        if not sound:
            bad += 1
    found[0] = bad
