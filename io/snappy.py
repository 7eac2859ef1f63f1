# SPDX-License-Identifier: Apache-2.0
"""Snappy's decompression, for tables of old checkpoints; nothing here writes the format."""

from __future__ import annotations

from ..engine import errors
from . import varint


def decompress(data: bytes) -> bytes:
    """The uncompressed bytes; DataLossError when `data` is not a whole Snappy block."""
    try:
        size, position = varint.get(data, 0)
        result = bytearray()
        # The two low bits of a tag say what follows: 0 a literal, 1 to 3 copies with an offset of
        # 11, 16 or 32 bits.
        while position < len(data):
            if data[position] & 3:
                position = _copy(data, position, result)
            else:
                position = _literal(data, position, result)
    except IndexError:
        size, result = 0, bytearray(1)
    if len(result) != size:
        raise errors.data_loss("corrupted compressed block contents")
    return bytes(result)


def _literal(data: bytes, position: int, result: bytearray) -> int:
    """Takes bytes over as they are."""
    length = (data[position] >> 2) + 1
    position += 1
    # Up to 60 is said by the tag; beyond that it says in how many bytes the length follows.
    if length > 60:
        extra = length - 60
        length = int.from_bytes(data[position : position + extra], "little") + 1
        position += extra
    result += data[position : position + length]
    return position + length


def _copy(data: bytes, position: int, result: bytearray) -> int:
    """Repeats earlier bytes."""
    tag = data[position]
    if tag & 3 == 1:
        # A copy of less than four bytes would not be worth its tag and offset.
        length = (tag >> 2 & 7) + 4
        offset = (tag >> 5) << 8 | data[position + 1]
        position += 2
    else:
        length = (tag >> 2) + 1
        width = 2 if tag & 3 == 2 else 4
        offset = int.from_bytes(data[position + 1 : position + 1 + width], "little")
        position += 1 + width
    start = len(result) - offset
    if not offset or start < 0 or position > len(data):
        raise IndexError("copy from nowhere")
    # The copy may reach into what it writes.
    while length > 0:
        piece = result[start : start + length]
        result += piece
        length -= len(piece)
    return position
