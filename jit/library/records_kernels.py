# SPDX-License-Identifier: Apache-2.0
"""The kernel that finds whole records in the bytes of a file; see jit/library/records.py."""

from __future__ import annotations

from .plain_vocabulary import GIVEN, Arguments, Scalar, crc_of_word, helper, pointer

HARDWARE: bool = GIVEN  # the processor has an instruction for checksums

ONES = 4294967295
DELTA = 2726488792  # 0xA282EAD8: what is added to checksums that are stored


@helper
def word(text: Scalar, at: int) -> int:
    """The four bytes at a place, the lowest first."""
    return text[at] | (text[at + 1] << 8) | (text[at + 2] << 16) | (text[at + 3] << 24)


@helper
def stored(text: Scalar, at: int, count: int, tables: Scalar) -> int:
    """The checksum of some bytes as it is stored: eight of them at a time."""
    crc, stop = ONES, at + count
    while at + 8 <= stop:
        if HARDWARE:
            crc = crc_of_word(crc, word(text, at) | (word(text, at + 4) << 32))
        else:
            low, high = crc ^ word(text, at), word(text, at + 4)
            crc = (
                tables[1792 + (low & 255)]
                ^ tables[1536 + ((low >> 8) & 255)]
                ^ tables[1280 + ((low >> 16) & 255)]
                ^ tables[1024 + (low >> 24)]
                ^ tables[768 + (high & 255)]
                ^ tables[512 + ((high >> 8) & 255)]
                ^ tables[256 + ((high >> 16) & 255)]
                ^ tables[high >> 24]
            )
        at += 8
    while at < stop:
        crc = tables[(crc ^ text[at]) & 255] ^ (crc >> 8)
        at += 1
    crc = crc ^ ONES
    return ((((crc >> 15) | (crc << 17)) & ONES) + DELTA) & ONES


def records(args: Arguments, r0: int, r1: int, c0: int, c1: int, worker: int) -> None:
    """Args: text, tables of checksums, ends, found; bytes of the text, most records, longest one.

    ends: where each record begins and ends; found: how many there are, and the place behind them.
    """
    text, tables, ends, found = (
        pointer(args[0]),
        pointer(args[1]),
        pointer(args[2]),
        pointer(args[3]),
    )
    size, most, longest = args[4], args[5], args[6]
    place, number, sound = 0, 0, True
    while sound and number < most and place + 16 <= size:
        length, above = word(text, place), word(text, place + 4)
        start = place + 12
        sound = above == 0 and length <= longest and length <= size - place - 16
        if sound:
            sound = stored(text, place, 8, tables) == word(text, place + 8)
        if sound:
            sound = stored(text, start, length, tables) == word(text, start + length)
        if sound:
            ends[2 * number], ends[2 * number + 1] = start, start + length
            number += 1
            place = start + length + 4
    found[0], found[1] = number, place
