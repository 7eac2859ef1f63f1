# SPDX-License-Identifier: Apache-2.0
"""The kernels that read, change and write many texts at once; see jit/library/text_rows.py.

Texts lie in one piece of memory; `places` has two numbers for each, where it begins and ends.
"""

from __future__ import annotations

from .plain_vocabulary import (
    Arguments,
    copy,
    helper,
    int64,
    pointer,
    region,
    uint8,
    uint64,
)

SPACE, TAB, RETURN = 32, 9, 13
GOES_ON, ABOVE = 128, 192  # bytes from the one to below the other continue a character
MINUS, ZERO, TEN = 45, 48, uint64(10)
FILL, BAD = 61, 255  # "=", and what stands for characters that are none


@helper
def word_at(start: int) -> int:
    """The word at an address."""
    return pointer(region(start, "int64"))[0]


def measure(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: objects, sizes, found; the type of texts, where objects have their type and their size.

    objects: addresses.  found: the sum of all sizes, and how many objects are no texts.
    """
    objects, sizes, found = pointer(args[0]), pointer(args[1]), pointer(args[2])
    kind, kind_at, size_at = args[3], args[4], args[5]
    total, others = 0, 0
    for i in range(r0, r1):
        start, size = objects[i], -1
        if start != 0:
            if word_at(start + kind_at) == kind:
                size = word_at(start + size_at)
        if size < 0:
            others += 1
        sizes[i] = size
        total += size
    found[0] = total
    found[1] = others


def gather(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: objects, sizes, data, places, found; the three numbers of `measure`, where objects have
    their bytes, and how many of `mark` come behind each text.

    found: how many objects are others than those that were measured: the memory is anybody's.
    """
    objects, sizes, data, places = pointer(args[0]), pointer(args[1]), args[2], pointer(args[3])
    found = pointer(args[4])
    kind, kind_at, size_at, bytes_at = args[5], args[6], args[7], args[8]
    gap, mark, bytes_ = args[9], args[10], pointer(args[2])
    at, others = 0, 0
    for i in range(r0, r1):
        start, size = objects[i], sizes[i]
        is_same = False
        if start != 0:
            if word_at(start + kind_at) == kind:
                is_same = word_at(start + size_at) == size
        places[2 * i] = at
        if is_same:
            copy(data + at, region(start + bytes_at, "uint8"), size)
        else:
            others += 1
        at += size
        places[2 * i + 1] = at
        for _ in range(gap):
            bytes_[at] = uint8(mark)
            at += 1
    found[0] = others


def spread(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places, out; a byte that comes behind each text."""
    data, places, out, mark = args[0], pointer(args[1]), args[2], args[3]
    bytes_, at = pointer(args[2]), 0
    for i in range(r0, r1):
        start, stop = places[2 * i], places[2 * i + 1]
        copy(out + at, data + start, stop - start)
        at += stop - start
        bytes_[at] = uint8(mark)
        at += 1


def join(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places, bounds, separator, out; the separator's size, a byte behind each result.

    bounds: for each result its first text and the one behind its last.
    """
    data, places, bounds = args[0], pointer(args[1]), pointer(args[2])
    separator, out, bytes_ = args[3], args[4], pointer(args[4])
    width, mark, at = args[5], args[6], 0
    for r in range(r0, r1):
        first = bounds[r]
        for i in range(first, bounds[r + 1]):
            if i > first:
                copy(out + at, separator, width)
                at += width
            start, stop = places[2 * i], places[2 * i + 1]
            copy(out + at, data + start, stop - start)
            at += stop - start
        bytes_[at] = uint8(mark)
        at += 1


@helper
def is_space(code: int) -> bool:
    """Whether a byte is white space, as C has it."""
    return code == SPACE or (code >= TAB and code <= RETURN)


def strip(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places: they become those of the texts without white space at their ends."""
    data, places = pointer(args[0]), pointer(args[1])
    for i in range(r0, r1):
        start, stop = places[2 * i], places[2 * i + 1]
        while start < stop and is_space(data[start]):
            start += 1
        while start < stop and is_space(data[stop - 1]):
            stop -= 1
        places[2 * i], places[2 * i + 1] = start, stop


def characters(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places, counts: how many bytes of each text do not continue a character."""
    data, places, counts = pointer(args[0]), pointer(args[1]), pointer(args[2])
    for i in range(r0, r1):
        count = 0
        for j in range(places[2 * i], places[2 * i + 1]):
            code = data[j]
            count += 1 if code < GOES_ON or code >= ABOVE else 0
        counts[i] = count


def cut(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: places, starts, lengths, found; how far starts and lengths are apart.

    The places become those of `lengths` bytes from `starts` on, which count from the end where they
    are negative; to the end where the length is.  found: the first text that has no such part, -1.
    """
    places, starts, lengths, found = (
        pointer(args[0]),
        pointer(args[1]),
        pointer(args[2]),
        pointer(args[3]),
    )
    start_step, length_step = args[4], args[5]
    found[0] = -1
    for i in range(r0, r1):
        first, stop = places[2 * i], places[2 * i + 1]
        start, length, size = starts[i * start_step], lengths[i * length_step], stop - first
        if start < 0:
            start += size
        if start < 0 or start > size:
            if found[0] < 0:
                found[0] = i
            start = 0
        if length >= 0 and length < size - start:
            stop = first + start + length
        places[2 * i], places[2 * i + 1] = first + start, stop


def split(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places, marks, parts, owners, found; whether parts without bytes are left out,
    and whether a text without bytes has a part.

    marks: for each byte whether it ends a part.  parts: the places of all parts; owners: for each
    the number of its text and which part of it.  found: how many there are, and the most of a text.
    """
    data, places, marks = pointer(args[0]), pointer(args[1]), pointer(args[2])
    parts, owners, found = pointer(args[3]), pointer(args[4]), pointer(args[5])
    skips, keeps_empty, count, most = args[6], args[7], 0, 0
    for i in range(r0, r1):
        start, stop, number = places[2 * i], places[2 * i + 1], 0
        if start < stop or keeps_empty != 0:
            at = start
            while at <= stop:
                ends = at == stop
                if not ends:
                    ends = marks[data[at]] != 0
                if ends:
                    if skips == 0 or start < at:
                        parts[2 * count], parts[2 * count + 1] = start, at
                        owners[2 * count], owners[2 * count + 1] = i, number
                        count += 1
                        number += 1
                    start = at + 1
                at += 1
        most = max(most, number)
    found[0] = count
    found[1] = most


def write(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: numbers, out, found; a byte that comes behind each: whole numbers as decimal ones.

    found: how many bytes they are, at most 21 each.
    """
    numbers, out, found, mark = pointer(args[0]), pointer(args[1]), pointer(args[2]), args[3]
    at = 0
    for i in range(r0, r1):
        number = numbers[i]
        left = uint64(number)
        if number < 0:
            left = uint64(0) - left
            out[at] = uint8(MINUS)
            at += 1
        digits, more = 1, left // TEN
        while more > uint64(0):
            more = more // TEN
            digits += 1
        at += digits
        for k in range(1, digits + 1):
            out[at - k] = uint8(ZERO + int64(left % TEN))
            left = left // TEN
        out[at] = uint8(mark)
        at += 1
    found[0] = at


def encode(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places, letters, out; whether texts are filled up, a byte behind each result.

    letters: the 64 of Base64.
    """
    data, places, letters, out = pointer(args[0]), pointer(args[1]), pointer(args[2]), args[3]
    fills, mark, to, at = args[4], args[5], pointer(out), 0
    for i in range(r0, r1):
        start, stop = places[2 * i], places[2 * i + 1]
        while start < stop:
            left = stop - start
            bits = data[start] << 16
            if left > 1:
                bits = bits | (data[start + 1] << 8)
            if left > 2:
                bits = bits | data[start + 2]
            for k in range(4):
                if k <= left:
                    to[at] = letters[(bits >> (18 - 6 * k)) & 63]
                    at += 1
                elif fills != 0:
                    to[at] = uint8(FILL)
                    at += 1
            start += 3
        to[at] = uint8(mark)
        at += 1


def decode(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places, values, out, found: texts in Base64, whose places become those in `out`.

    values: of each letter its number, BAD for what is none.  found: 1 where some text is no Base64.
    """
    data, places, values = pointer(args[0]), pointer(args[1]), pointer(args[2])
    out, found, at, bad = pointer(args[3]), pointer(args[4]), 0, 0
    for i in range(r0, r1):
        start, stop = places[2 * i], places[2 * i + 1]
        places[2 * i] = at
        # What fills up stands at the end of a last block of four letters only.
        if (stop - start) & 3 == 0 and start < stop:
            if data[stop - 1] == FILL:
                stop -= 1
                if data[stop - 1] == FILL:
                    stop -= 1
        if (stop - start) & 3 == 1:
            bad = 1
        while start < stop:
            left, bits = stop - start, 0
            for k in range(4):
                value = 0
                if k < left:
                    value = int64(values[data[start + k]])
                    if value == BAD:
                        bad, value = 1, 0
                bits = (bits << 6) | value
            for k in range(3):
                if k + 1 < left:
                    out[at] = uint8((bits >> (16 - 8 * k)) & 255)
                    at += 1
            start += 4
        places[2 * i + 1] = at
    found[0] = bad


def match(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: data, places, table, accepts, found: which texts lead to a state that accepts.

    table: for each state and byte the next state.  Texts begin in state 1; none leads out of 0.
    """
    data, places, table = pointer(args[0]), pointer(args[1]), pointer(args[2])
    accepts, found = pointer(args[3]), pointer(args[4])
    for i in range(r0, r1):
        at, stop, state = places[2 * i], places[2 * i + 1], 1
        while at < stop and state != 0:
            state = int64(table[(state << 8) + data[at]])
            at += 1
        found[i] = accepts[state]
