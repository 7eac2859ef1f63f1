# SPDX-License-Identifier: Apache-2.0
"""The kernels that read features of many messages; see jit/library/features.py."""

from __future__ import annotations

from .plain_vocabulary import Arguments, Scalar, copy, helper, pointer

# Kinds of values: their tags are 10, 18 and 26.
TEXTS, FLOATS, INTEGERS = 0, 1, 2
FIRST, SECOND = 10, 18  # tags of fields 1 and 2 that have a length


@helper
def varint(text: Scalar, at: int, stop: int) -> tuple[int, int]:
    """The number at a place and the place behind it; -1 where it does not end, or is too long."""
    value, shift, behind = 0, 0, -1
    while behind < 0 and at < stop and shift < 70:
        byte = text[at]
        value = value | ((byte & 127) << shift)
        at += 1
        shift += 7
        if byte < 128:
            behind = at
    return value, behind


@helper
def contents(text: Scalar, at: int, stop: int, tag: int) -> tuple[int, int]:
    """Where the contents of a field begin and end; -1 where there is no such field."""
    start, end = -1, -1
    if at >= 0 and at < stop:
        if text[at] == tag:
            length, behind = varint(text, at + 1, stop)
            if behind >= 0 and length >= 0 and length <= stop - behind:
                start, end = behind, behind + length
    return start, end


@helper
def is_key(text: Scalar, at: int, width: int, keys: Scalar, bounds: Scalar, k: int) -> bool:
    """Whether the bytes at a place are the key of that number."""
    same = width == bounds[k + 1] - bounds[k]
    i = 0
    while same and i < width:
        same = text[at + i] == keys[bounds[k] + i]
        i += 1
    return same


@helper
def number_of(
    text: Scalar, at: int, width: int, keys: Scalar, bounds: Scalar, count: int, guess: int
) -> int:
    """The number of a key, -1 if it is not asked for; `guess` is looked at first."""
    if guess >= 0 and is_key(text, at, width, keys, bounds, guess):
        return guess
    found, k = -1, 0
    while found < 0 and k < count:
        if is_key(text, at, width, keys, bounds, k):
            found = k
        k += 1
    return found


@helper
def counted(text: Scalar, start: int, end: int, kind: int) -> tuple[int, int]:
    """Where the values of a list begin and how many there are; -1 of them where it is unusual."""
    count = 0
    if start < end:
        if kind == TEXTS:
            at = start
            while count >= 0 and at < end:
                _, at = contents(text, at, end, FIRST)
                count = count + 1 if at >= 0 else -1
        else:
            start, stop = contents(text, start, end, FIRST)
            if start < 0 or stop != end:
                count = -1
            elif kind == FLOATS:
                count = (end - start) // 4 if (end - start) % 4 == 0 else -1
            else:
                for i in range(start, end):
                    count += 1 if text[i] < 128 else 0
                if start < end and text[end - 1] >= 128:
                    count = -1
    return start, count


@helper
def is_wrong(number: int, exact: int, stride: int) -> bool:
    """Whether there may not be so many values: `exact` of them if that is not negative."""
    if exact >= 0:
        return number != exact
    return number % stride != 0


def locate(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: text, both ends of messages, keys, bounds of keys, wanted, guesses, found, sums,
    problem; the number of keys and of guesses.

    wanted: for each key the kind of its values, how many there are exactly or -1, what their number
    is divided by, and whether it may be missing.
    found: for each message and key where values begin (-1: it is missing) and end, and how many
    there are.
    sums: for each key how many values there are, in how many messages it is, and the most in one.
    """
    text, bounds, keys = pointer(args[0]), pointer(args[1]), pointer(args[2])
    widths, wanted, guesses = pointer(args[3]), pointer(args[4]), pointer(args[5])
    found, sums, problem = pointer(args[6]), pointer(args[7]), pointer(args[8])
    count, room = args[9], args[10]
    bad = 0
    for r in range(r0, r1):
        row = r * count * 3
        for k in range(count):
            found[row + 3 * k], found[row + 3 * k + 2] = -1, 0
        begin, over = bounds[2 * r], bounds[2 * r + 1]
        if begin < over:
            at, stop = contents(text, begin, over, FIRST)
            if at < 0 or stop != over:
                bad = 1
            position = 0
            while bad == 0 and at < stop:
                inside, end = contents(text, at, stop, FIRST)
                key, behind = contents(text, inside, end, FIRST)
                value, last = contents(text, behind, end, SECOND)
                if key < 0 or value < 0 or last != end:
                    bad = 1
                else:
                    place = min(position, room - 1)
                    guess = guesses[place]
                    k = number_of(text, key, behind - key, keys, widths, count, guess)
                    guesses[place] = k
                    if k >= 0 and value < end:
                        item, kind = row + 3 * k, wanted[4 * k]
                        start, finish = contents(text, value, end, FIRST + 8 * kind)
                        first, number = counted(text, start, finish, kind)
                        # Another kind, more behind it, an unusual list, or the key a second time.
                        if start < 0 or finish != end or number < 0 or found[item] >= 0:
                            bad = 1
                        elif is_wrong(number, wanted[4 * k + 1], wanted[4 * k + 2]):
                            bad = 1
                        found[item], found[item + 1], found[item + 2] = first, finish, number
                        sums[3 * k] += number
                        sums[3 * k + 1] += 1
                        sums[3 * k + 2] = max(sums[3 * k + 2], number)
                at = end
                position += 1
    for k in range(count):
        if sums[3 * k + 1] < r1 - r0 and wanted[4 * k + 3] == 0:
            bad = 1
    if bad != 0:
        problem[0] = 1


@helper
def put_values(
    data: Scalar,
    floats: Scalar,
    integers: Scalar,
    texts: Scalar,
    kind: int,
    at: int,
    end: int,
    number: int,
    place: int,
) -> bool:
    """Puts values that lie between two places among those of their kind; whether all are whole."""
    text, numbers, ends, fine = pointer(data), pointer(integers), pointer(texts), True
    if kind == FLOATS:
        copy(floats + 4 * place, data + at, 4 * number)
    elif kind == INTEGERS:
        for i in range(number):
            value, at = varint(text, at, end)
            numbers[place + i] = value
            if at < 0:
                fine, at = False, end
    else:
        for i in range(number):
            first, at = contents(text, at, end, FIRST)
            ends[2 * (place + i)], ends[2 * (place + i) + 1] = first, at
    return fine


def gather(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: text, wanted, found, places, floats as bytes, integers, texts, problem; the number of
    keys.

    places: where the next values of each key go in the array of its kind; of texts there are both
    ends.
    """
    wanted, found, places, count = pointer(args[1]), pointer(args[2]), pointer(args[3]), args[8]
    bad = 0
    for r in range(r0, r1):
        for k in range(count):
            item = (r * count + k) * 3
            at, end, number = found[item], found[item + 1], found[item + 2]
            if at >= 0:
                kind, place = wanted[4 * k], places[k]
                whole = put_values(args[0], args[4], args[5], args[6], kind, at, end, number, place)
                if not whole:
                    bad = 1
                places[k] = place + number
    if bad != 0:
        pointer(args[7])[0] = 1
