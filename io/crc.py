# SPDX-License-Identifier: Apache-2.0
"""CRC-32C checksums as TensorFlow stores them: in records, tables and tensor bundles.

A stored checksum is "masked", since the checksum of data that contains its own is not good.
"""

from __future__ import annotations

from typing import Any

import google_crc32c

_DELTA = 0xA282EAD8
_BITS = 0xFFFFFFFF


def value(data: bytes) -> int:
    """The checksum of some bytes."""
    return google_crc32c.value(data)


if google_crc32c.implementation == "c":
    # Takes arrays of bytes as they are.
    def extend(crc: int, data: Any) -> int:
        """The checksum of what `crc` is the checksum of, followed by `data`."""
        return google_crc32c.extend(crc, data)
else:

    def extend(crc: int, data: Any) -> int:
        """The checksum of what `crc` is the checksum of, followed by `data`."""
        return google_crc32c.extend(crc, bytes(data))


def mask(crc: int) -> int:
    """A checksum as it is stored."""
    return ((crc >> 15 | crc << 17) + _DELTA) & _BITS


def unmask(masked: int) -> int:
    """The checksum that was stored as `masked`."""
    rotated = (masked - _DELTA) & _BITS
    return (rotated >> 17 | rotated << 15) & _BITS


def masked(data: bytes) -> int:
    """The checksum of some bytes as it is stored."""
    return mask(value(data))
