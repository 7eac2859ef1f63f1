# SPDX-License-Identifier: Apache-2.0
"""Arrays as PNG files: by Pillow, and by zlib alone where samples have 16 bits."""

from __future__ import annotations

import io
import zlib

import numpy as np

from ...engine import errors
from .png_chunks import GRAY, GRAY_ALPHA, RGB, RGB_ALPHA, SIGNATURE, chunk, header_chunk

_COLOR_TYPES = {1: GRAY, 2: GRAY_ALPHA, 3: RGB, 4: RGB_ALPHA}
# libpng refuses to write longer sides.
_LONGEST_SIDE = 1_000_000


def _filtered(rows: np.ndarray, distance: int) -> np.ndarray:
    """Rows of bytes, each with the filter that leaves the smallest sum of differences."""
    left, above = np.zeros_like(rows), np.zeros_like(rows)
    left[:, distance:] = rows[:, :-distance]
    above[1:] = rows[:-1]
    corner = np.zeros_like(rows)
    corner[1:, distance:] = rows[:-1, :-distance]
    a, b, c = (x.astype(np.int16) for x in (left, above, corner))
    to_a, to_b, to_c = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    nearest = np.where((to_a <= to_b) & (to_a <= to_c), left, np.where(to_b <= to_c, above, corner))
    average = ((a + b) >> 1).astype(np.uint8)
    guesses = (np.uint8(0), left, above, average, nearest)
    tried = np.stack([rows - guess for guess in guesses])
    # Differences are signed bytes: 255 is as small as 1.
    sums = np.minimum(tried, -tried.astype(np.int16) & 255).sum(axis=2, dtype=np.int64)
    best = sums.argmin(axis=0)
    chosen = tried[best, np.arange(len(rows))]
    return np.concatenate([best.astype(np.uint8)[:, None], chosen], axis=1)


def _encode_16(pixels: np.ndarray, compression: int) -> bytes:
    height, width, depth = pixels.shape
    rows = pixels.astype(">u2").view(np.uint8).reshape(height, -1)
    body = zlib.compress(_filtered(rows, 2 * depth).tobytes(), compression)
    first = header_chunk(width, height, 16, _COLOR_TYPES[depth])
    return SIGNATURE + first + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def encode(pixels: np.ndarray, compression: int = -1) -> bytes:
    """uint8 or uint16 [height, width, 1 to 4 channels] as a PNG file.

    Raises:
        InternalError: there are no pixels, or a side is longer than PNG libraries write.
    """
    from PIL import Image

    height, width, depth = pixels.shape
    if not height * width or max(height, width) > _LONGEST_SIDE:
        raise errors.internal("PNG encoding failed")
    if pixels.dtype == np.uint16:
        return _encode_16(pixels, compression)
    picture = Image.fromarray(np.ascontiguousarray(pixels[:, :, 0] if depth == 1 else pixels))
    stream = io.BytesIO()
    picture.save(stream, "PNG", compress_level=compression)
    return stream.getvalue()
