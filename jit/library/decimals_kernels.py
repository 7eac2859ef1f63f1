# SPDX-License-Identifier: Apache-2.0
"""The kernels that read many decimal numbers of a text; see jit/library/decimals.py."""

from __future__ import annotations

from .plain_vocabulary import Arguments, Scalar, float64, helper, pointer

COMMA, MINUS, PLUS, POINT, ZERO, NINE, LETTER = 44, 45, 43, 46, 48, 57, 101
LONGEST = 31  # longer texts are no numbers
MOST_DIGITS = 18  # so many fit into 64 bits whatever they are
EXACT = 1 << 53  # up to here whole numbers are float64
LAST_POWER = 22  # powers of ten up to here are, too
FEWEST = 5  # digits of an exponent that are too many


@helper
def digit(text: Scalar, at: int, stop: int) -> int:
    """The digit at a place; -1 where there is none."""
    found = -1
    if at < stop:
        code = text[at]
        if code >= ZERO and code <= NINE:
            found = code - ZERO
    return found


@helper
def is_at(text: Scalar, at: int, stop: int, code: int) -> bool:
    """Whether a character is at a place."""
    same = False
    if at < stop:
        same = text[at] == code
    return same


@helper
def exponent(text: Scalar, at: int, stop: int) -> tuple[int, int]:
    """The exponent that begins at a place and the place behind it, -1 where there is no number."""
    sign, value, count = 1, 0, 0
    if is_at(text, at, stop, MINUS):
        sign = -1
        at += 1
    elif is_at(text, at, stop, PLUS):
        at += 1
    d = digit(text, at, stop)
    while d >= 0 and count < FEWEST:
        value = value * 10 + d
        count += 1
        at += 1
        d = digit(text, at, stop)
    return sign * value, at if count > 0 and count < FEWEST else -1


def reals(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: text, powers of ten, numbers, unread, found; bytes of the text, how many numbers.

    The numbers have a comma between them.  unread: 1 for each that is left to be read in another
    way, as its digits, or their power, are too many to be sure of the nearest float64.
    found: how many are left, and 1 if the text is not made of so many plain numbers.
    """
    text, powers, numbers = pointer(args[0]), pointer(args[1]), pointer(args[2])
    unread, found = pointer(args[3]), pointer(args[4])
    size, most = args[5], args[6]
    at, number, left, sound = 0, 0, 0, True
    while sound and number < most:
        start, sign = at, 1
        if is_at(text, at, size, MINUS):
            sign = -1
            at += 1
        elif is_at(text, at, size, PLUS):
            at += 1
        whole, digits, behind, seen, going = 0, 0, 0, 0, True
        while going:
            d = digit(text, at, size)
            if d >= 0:
                if digits < MOST_DIGITS:
                    whole = whole * 10 + d
                digits += 1
                behind += seen
                at += 1
            elif seen == 0 and is_at(text, at, size, POINT):
                seen = 1
                at += 1
            else:
                going = False
        power = -behind
        if at < size and digits > 0:
            if text[at] | 32 == LETTER:
                more, at = exponent(text, at + 1, size)
                power += more
        is_last = number == most - 1
        ends = at == size if is_last else is_at(text, at, size, COMMA)
        sound = digits > 0 and at >= 0 and ends and at - start <= LONGEST
        if sound:
            is_sure = digits <= MOST_DIGITS and whole <= EXACT
            if is_sure and power >= 0 and power <= LAST_POWER:
                numbers[number] = float64(whole) * powers[power] * float64(sign)
            elif is_sure and power < 0 and power >= -LAST_POWER:
                numbers[number] = float64(whole) / powers[-power] * float64(sign)
            else:
                unread[number] = 1
                left += 1
        number += 1
        at += 1
    found[0], found[1] = left, 0 if sound else 1


def integers(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: text, numbers, found; bytes of the text, how many numbers.

    The numbers have a comma between them.  found: 1 if the text is not made of so many whole
    numbers of no more digits than surely fit.
    """
    text, numbers, found = pointer(args[0]), pointer(args[1]), pointer(args[2])
    size, most = args[3], args[4]
    at, number, sound = 0, 0, True
    while sound and number < most:
        sign, whole, digits = 1, 0, 0
        if is_at(text, at, size, MINUS):
            sign = -1
            at += 1
        d = digit(text, at, size)
        while d >= 0 and digits <= MOST_DIGITS:
            whole = whole * 10 + d
            digits += 1
            at += 1
            d = digit(text, at, size)
        is_last = number == most - 1
        ends = at == size if is_last else is_at(text, at, size, COMMA)
        sound = digits > 0 and digits <= MOST_DIGITS and ends
        if sound:
            numbers[number] = sign * whole
        number += 1
        at += 1
    found[0] = 0 if sound else 1
