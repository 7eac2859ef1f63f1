# SPDX-License-Identifier: Apache-2.0
"""Integers in TensorFlow's tables: varints, and numbers and texts that sort as bytes do."""

from __future__ import annotations

import re

# Bytes that ordered texts escape, each by its complement.
_SPECIAL = re.compile(rb"[\x00\xff]")
# C++'s uint64: what ten groups of seven bits have beyond it is dropped.
_MOST = (1 << 64) - 1


def put(number: int) -> bytes:
    """A non-negative number in groups of seven bits, the lowest first."""
    if number < 0x80:
        return bytes((number,))
    result = bytearray()
    while number > 0x7F:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    result.append(number)
    return bytes(result)


def get(data: bytes, position: int) -> tuple[int, int]:
    """The number of 64 bits at a position, and the position after it.

    IndexError at the end of the data, and for what has more groups than such a number.
    """
    byte = data[position]
    if byte < 0x80:
        return byte, position + 1
    result, shift = byte & 0x7F, 7
    while True:
        position += 1
        byte = data[position]
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & _MOST, position + 1
        shift += 7
        if shift > 63:
            raise IndexError("the number does not end")


def ordered_text(text: bytes) -> bytes:
    """Text with an end mark, such that encoded texts sort as the texts do."""
    # The end mark 00 01 is before any escaped byte, 00 FF or FF 00, so that a text sorts before its
    # continuations (core/lib/strings/ordered_code.h).
    return _SPECIAL.sub(lambda m: m[0] + bytes((255 - m[0][0],)), text) + b"\x00\x01"


def ordered_unsigned(number: int) -> bytes:
    """A non-negative number: how many bytes it has, then those, the highest first."""
    size = (number.bit_length() + 7) // 8
    return bytes((size,)) + number.to_bytes(size, "big")


def ordered_signed(number: int) -> bytes:
    """A number of 64 bits with sign; small ones take one byte."""
    bits = (~number if number < 0 else number).bit_length()
    size = bits // 7 + 1
    # As many leading ones as there are bytes, all flipped for a negative number.
    header = ((1 << size) - 1) << (7 * size)
    return (header ^ number & (1 << 8 * size) - 1).to_bytes(size, "big")
