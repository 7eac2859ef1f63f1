# SPDX-License-Identifier: Apache-2.0
"""BMP files as arrays: uncompressed ones, of 8, 24 or 32 bits, as TensorFlow reads them."""

from __future__ import annotations

import struct

import numpy as np

from ...engine import errors

# Bytes up to the number of bits per pixel and what follows it.
_HEADER = 32
_MOST_PIXELS = ((1 << 31) - 1) // 8


def _check(channels: int, width: int, height: int, offset: int) -> None:
    if channels not in (1, 3, 4):
        raise errors.invalid(f"Number of channels must be 1, 3 or 4, was {channels}")
    if width <= 0:
        raise errors.invalid("Width must be positive")
    if not height:
        raise errors.invalid("Height must be nonzero")
    if offset < 0:
        raise errors.invalid("header size must be nonnegative")
    if width * abs(height) >= _MOST_PIXELS:
        raise errors.invalid("Total possible pixel bytes must be less than 2^30")


def decode(data: bytes, wanted: int) -> np.ndarray:
    """A BMP file as uint8 [height, width, channels]; `wanted`: as many as it must have, or 0.

    Raises:
        InvalidArgumentError: the file is cut, or of a form that TensorFlow does not read.
    """
    if len(data) < _HEADER:
        raise errors.invalid(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, "
            f"height, and bpp, got {len(data)} bytes"
        )
    (offset,) = struct.unpack_from("<i", data, 10)
    width, height = struct.unpack_from("<ii", data, 18)
    (bits,) = struct.unpack_from("<i", data, 28)
    # Towards zero, as C divides.
    channels = abs(bits) // 8 * (-1 if bits < 0 else 1)
    if wanted and wanted != channels:
        raise errors.invalid(
            f"channels attribute {wanted} does not match bits per pixel from file {channels}"
        )
    _check(channels, width, height, offset)
    rows, row_size = abs(height), -(-channels * width // 4) * 4
    needed = offset + (rows - 1) * row_size + width * channels
    if needed > len(data):
        raise errors.invalid(
            f"Incomplete bmp content, requires at least {needed} bytes, got {len(data)} bytes"
        )
    strides = (row_size, channels, 1)
    pixels: np.ndarray = np.ndarray((rows, width, channels), np.uint8, data, offset, strides)
    if height > 0:
        pixels = pixels[::-1]
    order = [0] if channels == 1 else [2, 1, 0, 3][:channels]
    return np.ascontiguousarray(pixels[..., order])
