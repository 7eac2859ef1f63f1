# SPDX-License-Identifier: Apache-2.0
"""The kernels that read lists of features of many messages; see jit/library/sequences.py."""

from __future__ import annotations

from .features_kernels import FIRST, SECOND, contents, counted, is_wrong, number_of, put_values
from .plain_vocabulary import Arguments, Scalar, helper, pointer


@helper
def has_contents(text: Scalar, at: int, stop: int) -> bool:
    """Whether fields of tag FIRST, to the end, are pairs of a key and a value that is not empty."""
    fine = at >= 0
    while fine and at < stop:
        inside, end = contents(text, at, stop, FIRST)
        _, behind = contents(text, inside, end, FIRST)
        value, last = contents(text, behind, end, SECOND)
        fine = value >= 0 and last == end and value < end
        at = end
    return fine


@helper
def steps_in(text: Scalar, at: int, stop: int) -> int:
    """How many fields of tag FIRST there are, and nothing else; -1 where there is."""
    count = 0
    while count >= 0 and at < stop:
        _, at = contents(text, at, stop, FIRST)
        count = count + 1 if at >= 0 else -1
    return count


def find_lists(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: text, both ends of messages, keys, bounds of keys, may be missing, heads, lists, sums,
    problem; the number of keys.

    A message is a map of features (field 1) and one of lists of them (field 2); both may be absent.
    heads: both ends of the first field, with its tag.
    lists: for each message and key where its features begin (-1: it is missing) and end, and how
    many there are.
    sums: for each key how many features there are, and the most in one message.
    """
    text, bounds, keys = pointer(args[0]), pointer(args[1]), pointer(args[2])
    widths, allowed, heads = pointer(args[3]), pointer(args[4]), pointer(args[5])
    lists, sums, count = pointer(args[6]), pointer(args[7]), args[9]
    bad = 0
    for r in range(r0, r1):
        row = r * count * 3
        for k in range(count):
            lists[row + 3 * k], lists[row + 3 * k + 1], lists[row + 3 * k + 2] = -1, -1, 0
        begin, over = bounds[2 * r], bounds[2 * r + 1]
        inner, behind = contents(text, begin, over, FIRST)
        heads[2 * r], heads[2 * r + 1] = begin, begin
        if inner >= 0:
            heads[2 * r + 1] = behind
            if not has_contents(text, inner, behind):
                bad = 1
            begin = behind
        at, stop = begin, begin
        if begin < over:
            at, stop = contents(text, begin, over, SECOND)
            if at < 0 or stop != over:
                bad = 1
        while bad == 0 and at < stop:
            inside, end = contents(text, at, stop, FIRST)
            key, after = contents(text, inside, end, FIRST)
            value, last = contents(text, after, end, SECOND)
            if key < 0 or value < 0 or last != end:
                bad = 1
            else:
                k = number_of(text, key, after - key, keys, widths, count, -1)
                if k >= 0:
                    item, steps = row + 3 * k, steps_in(text, value, end)
                    if steps < 0 or lists[item] >= 0:
                        bad = 1
                    lists[item], lists[item + 1], lists[item + 2] = value, end, steps
                    sums[2 * k] += steps
                    sums[2 * k + 1] = max(sums[2 * k + 1], steps)
            at = end
        for k in range(count):
            if lists[row + 3 * k] < 0 and allowed[k] == 0:
                bad = 1
    if bad != 0:
        pointer(args[8])[0] = 1


def find_steps(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: text, lists, wanted, places, found, sums, problem; the number of keys.

    wanted: for each key the kind of the values, how many there are in each step exactly or -1, and
    what their number is divided by.
    places: the number of the next step of each key among those of all.
    found: for each step where values begin (-1: there are none) and end, and how many there are.
    sums: for each key how many values there are, and the most in one step.
    """
    text, lists, wanted = pointer(args[0]), pointer(args[1]), pointer(args[2])
    places, found, sums, count = pointer(args[3]), pointer(args[4]), pointer(args[5]), args[7]
    bad = 0
    for r in range(r0, r1):
        for k in range(count):
            item, kind = (r * count + k) * 3, wanted[4 * k]
            at, stop, place = lists[item], lists[item + 1], places[k]
            while at < stop:
                value, end = contents(text, at, stop, FIRST)
                first, finish, number = -1, end, 0
                if value < end:
                    start, finish = contents(text, value, end, FIRST + 8 * kind)
                    first, number = counted(text, start, finish, kind)
                    # Another kind, more behind it, or an unusual list.
                    if start < 0 or finish != end or number < 0:
                        bad, first, number = 1, -1, 0
                if is_wrong(number, wanted[4 * k + 1], wanted[4 * k + 2]):
                    bad = 1
                step = 3 * place
                found[step], found[step + 1], found[step + 2] = first, finish, number
                sums[2 * k] += number
                sums[2 * k + 1] = max(sums[2 * k + 1], number)
                place += 1
                at = end
            places[k] = place
    if bad != 0:
        pointer(args[6])[0] = 1


def gather_steps(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: text, wanted, bounds, found, places, floats as bytes, integers, texts, problem.

    bounds: which steps are those of each key, a row; the others are as in `find_steps` and in
    `gather` of jit/library/features_kernels.py.
    """
    wanted, bounds = pointer(args[1]), pointer(args[2])
    found, places, bad = pointer(args[3]), pointer(args[4]), 0
    for k in range(r0, r1):
        kind, place = wanted[4 * k], places[k]
        for step in range(bounds[k], bounds[k + 1]):
            at, end, number = found[3 * step], found[3 * step + 1], found[3 * step + 2]
            if at >= 0:
                if not put_values(args[0], args[5], args[6], args[7], kind, at, end, number, place):
                    bad = 1
                place += number
        places[k] = place
    if bad != 0:
        pointer(args[8])[0] = 1
