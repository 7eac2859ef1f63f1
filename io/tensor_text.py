# SPDX-License-Identifier: Apache-2.0
"""String tensors in tensor bundles: lengths, a checksum of the lengths, then all bytes."""

from __future__ import annotations

import struct

import numpy as np

from ..engine import errors
from . import crc, varint

_LARGE = 1 << 32


def _checked_length(length: int) -> bytes:
    """A length as it enters the checksum: long ones in 64 bits."""
    return struct.pack("<I" if length < _LARGE else "<Q", length)


def text_tensor_pieces(array: np.ndarray) -> tuple[list[bytes], int]:
    """What is written for an array of bytes, and its checksum."""
    texts = [x.encode() if isinstance(x, str) else bytes(x) for x in array.reshape(-1).tolist()]
    lengths = b"".join(varint.put(len(text)) for text in texts)
    checksum = crc.value(b"".join(_checked_length(len(text)) for text in texts))
    stored = struct.pack("<I", crc.mask(checksum))
    # The checksum of the tensor goes on over that of the lengths, as it is stored, and the texts
    # (util/tensor_bundle/tensor_bundle.cc, WriteStringTensor).
    checksum = crc.extend(checksum, stored)
    for text in texts:
        checksum = crc.extend(checksum, text)
    return [lengths + stored, *texts], checksum


def read_text_tensor(data: bytes, count: int, big_endian: bool = False) -> tuple[np.ndarray, int]:
    """The texts in the bytes of a tensor, as a flat array, and their checksum."""
    order = ">" if big_endian else "<"
    lengths, position = [], 0
    try:
        for _ in range(count):
            length, position = varint.get(data, position)
            lengths.append(length)
        stored = struct.unpack(order + "I", data[position : position + 4])[0]
    except (IndexError, struct.error):
        raise errors.data_loss(f"String lengths longer than expected offset {len(data)}") from None
    checked = (struct.pack(order + ("I" if n < _LARGE else "Q"), n) for n in lengths)
    checksum = crc.value(b"".join(checked))
    if crc.unmask(stored) != checksum:
        raise errors.data_loss(
            f"The length checksum does not match: expected {crc.unmask(stored):08d} "
            f"but actual is {checksum:08d}"
        )
    position += 4
    checksum = crc.extend(checksum, data[position - 4 : position])
    checksum = crc.extend(checksum, data[position:])
    texts = np.empty(count, dtype=object)
    for i, length in enumerate(lengths):
        texts[i] = data[position : position + length]
        position += length
    if position != len(data):
        raise errors.data_loss("the texts do not end where the tensor ends")
    return texts, checksum
