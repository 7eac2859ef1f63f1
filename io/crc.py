# SPDX-License-Identifier: Apache-2.0
"""CRC-32C checksums as TensorFlow stores them: in records, tables and tensor bundles.

A stored checksum is "masked", since the checksum of data that contains its own is not good.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import google_crc32c
import numpy as np

# The constant of TensorFlow's core/lib/hash/crc32c.h, and LevelDB's before it.
_DELTA = 0xA282EAD8
_BITS = 0xFFFFFFFF
# The generator's bits, the lowest power of x first in value, as checksums have them.
# Castagnoli's polynomial, 0x1EDC6F41 where the highest power comes first.
_POLYNOMIAL = 0x82F63B78


# The checksum of some bytes.
value: Callable[[bytes], int] = google_crc32c.value


if google_crc32c.implementation == "c":
    # Takes arrays of bytes as they are.
    def extend(crc: int, data: object) -> int:
        """The checksum of what `crc` is the checksum of, followed by `data`."""
        return google_crc32c.extend(crc, data)
else:

    def extend(crc: int, data: object) -> int:
        """The checksum of what `crc` is the checksum of, followed by `data`."""
        return google_crc32c.extend(crc, bytes(data))  # type: ignore[call-overload]


def mask(crc: int) -> int:
    """A checksum as it is stored."""
    return ((crc >> 15 | crc << 17) + _DELTA) & _BITS


def unmask(masked: int) -> int:
    """The checksum that was stored as `masked`."""
    rotated = (masked - _DELTA) & _BITS
    return (rotated >> 17 | rotated << 15) & _BITS


def masked(data: bytes) -> int:
    """The checksum of some bytes as it is stored."""
    crc = value(data)  # as in `mask`: readers of records do this twice for each
    return ((crc >> 15 | crc << 17) + _DELTA) & _BITS


@cache
def tables() -> np.ndarray:
    """For each byte and for none to seven zeros behind it what it adds to a checksum, as int64."""
    crc = np.arange(256, dtype=np.int64)
    for _ in range(8):
        crc = np.where(crc & 1, (crc >> 1) ^ _POLYNOMIAL, crc >> 1)
    found = [crc]
    for _ in range(7):
        found.append(crc[found[-1] & 255] ^ (found[-1] >> 8))
    return np.concatenate(found)


@cache
def _native() -> Any:
    """The library's own function, which lets other threads run; None where it is hidden."""
    if google_crc32c.implementation != "c":
        return None
    import ctypes

    from google_crc32c import _crc32c

    try:
        function = ctypes.CDLL(_crc32c.__file__).crc32c_extend
    except (OSError, AttributeError):
        return None
    function.argtypes = (ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t)
    function.restype = ctypes.c_uint32
    return function


def of_array(data: np.ndarray) -> int:
    """The checksum of a contiguous array of bytes; other threads run meanwhile."""
    native = _native()
    return extend(0, data) if native is None else native(0, data.ctypes.data, data.nbytes)


def shifted(checksums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """What checksums (uint32) become when so many bytes follow, but for those bytes' own.

    The checksum of A and B is shifted(checksum of A, size of B) ^ checksum of B.
    """
    result, counts = checksums.copy(), counts.astype(np.int64)
    # Zero bytes act on a checksum as a linear map over GF(2), and n of them as its n-th power: one
    # table for each bit of n, as for powers by repeated squaring. Tables are by byte, since a map
    # of bits is the sum of its images of the four bytes.
    for bit in range(int(counts.max(initial=0)).bit_length()):
        chosen = np.flatnonzero(counts >> bit & 1)
        part = result[chosen]
        table = _table(bit)
        result[chosen] = (
            table[0][part & 255]
            ^ table[1][part >> 8 & 255]
            ^ table[2][part >> 16 & 255]
            ^ table[3][part >> 24]
        )
    return result


@cache
def _table(power: int) -> np.ndarray:
    """What 2 ** power zero bytes make of each value of each byte of a checksum."""
    images = _images(power)
    table = np.zeros((4, 256), np.uint32)
    for i, image in enumerate(images):
        row, bit = table[i // 8], 1 << i % 8
        row[np.flatnonzero(np.arange(256) & bit)] ^= np.uint32(image)
    return table


@cache
def _images(power: int) -> tuple[int, ...]:
    """What 2 ** power zero bytes make of each bit of a checksum."""
    if power:
        half = _images(power - 1)
        return tuple(_apply(half, image) for image in half)
    images = []
    for i in range(32):
        value = 1 << i
        # The shift register of the checksum, eight bits on, with no data coming in.
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        images.append(value)
    return tuple(images)


def _apply(images: tuple[int, ...], value: int) -> int:
    result = 0
    for i, image in enumerate(images):
        if value >> i & 1:
            result ^= image
    return result
