# SPDX-License-Identifier: Apache-2.0
"""Arrays as PNG files, byte for byte as TensorFlow writes them: by zlib, told what libpng tells it.

libpng filters each row in the way that leaves the least, compresses what is known to be small with
a small window, and cuts what comes of it into chunks.  Long files that are not compressed (level
0) alone have other blocks: their lengths follow from how much memory zlib finds free at a time.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np

from ...engine import errors, settings
from .png_chunks import GRAY, GRAY_ALPHA, RGB, RGB_ALPHA, SIGNATURE, chunk, header_chunk

_COLOR_TYPES = {1: GRAY, 2: GRAY_ALPHA, 3: RGB, 4: RGB_ALPHA}
# libpng refuses to write longer sides.
_LONGEST_SIDE = 1_000_000
# How long its chunks of pixels are, and the memory that zlib may take (deflate's memLevel).
_LONGEST_CHUNK, _MEMORY = 8192, 9
# Up to so many bytes it chooses the window, so as to hold all of them and what zlib looks ahead.
_SMALL, _LOOK_AHEAD = 16384, 262
# Bytes of rows that are filtered at once.
_BAND = 1 << 18

# Numbers of filters.
_NONE, _SUB, _UP, _AVERAGE, _PAETH = range(5)


def _filters(height: int, width: int) -> tuple[int, ...]:
    """What is tried: nothing that looks at rows or columns of which there are none."""
    if height == 1:
        return (_NONE,) if width == 1 else (_NONE, _SUB)
    return (_NONE, _UP) if width == 1 else (_NONE, _SUB, _UP, _AVERAGE, _PAETH)


def _guess(number: int, left: np.ndarray, above: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """What a filter expects of bytes, by those of the pixels around theirs."""
    if number in (_SUB, _UP):
        return left if number == _SUB else above
    a, b = left.astype(np.int16), above.astype(np.int16)
    if number == _AVERAGE:
        return ((a + b) >> 1).astype(np.uint8)
    c = corner.astype(np.int16)
    to_a, to_b = abs(b - c), abs(a - c)
    to_c = abs(a + b - 2 * c)
    nearest = np.where(to_b <= to_c, above, corner)
    return np.where((to_a <= to_b) & (to_a <= to_c), left, nearest)


def _filtered(
    rows: np.ndarray, before: np.ndarray, distance: int, filters: tuple[int, ...]
) -> np.ndarray:
    """Rows of bytes, each behind the number of the first filter with the least sum of differences.

    before: the row before the first; distance: bytes from pixel to pixel.
    """
    if settings.get("jit") != "never":
        return _filtered_by_kernel(rows, before, distance, filters)
    above = np.concatenate([before[None], rows[:-1]])
    left, corner = np.zeros_like(rows), np.zeros_like(rows)
    left[:, distance:], corner[:, distance:] = rows[:, :-distance], above[:, :-distance]
    found = np.empty((len(rows), 1 + rows.shape[1]), np.uint8)
    least: np.ndarray | None = None
    for number in filters:
        tried = rows - _guess(number, left, above, corner) if number else rows
        # Differences are signed bytes: 255 is as small as 1.
        sums = np.abs(tried.view(np.int8)).view(np.uint8).sum(axis=1, dtype=np.int64)
        is_better = np.ones(len(rows), bool) if least is None else sums < least
        least = sums if least is None else np.minimum(least, sums)
        found[is_better, 0] = number
        found[is_better, 1:] = tried[is_better]
    return found


def _filtered_by_kernel(
    rows: np.ndarray, before: np.ndarray, distance: int, filters: tuple[int, ...]
) -> np.ndarray:
    from ...jit.library.png_rows import png_rows
    from ...jit.runtime.calling import call

    found = np.empty((len(rows), 1 + rows.shape[1]), np.uint8)
    tried = sum(1 << number for number in filters)
    numbers = [rows.shape[1], distance, tried]
    call(png_rows(), [np.concatenate([before[None], rows]), found], numbers, len(rows))
    return found


def _bands(rows: np.ndarray, distance: int, filters: tuple[int, ...]) -> Iterator[bytes]:
    step = max(1, _BAND // rows.shape[1])
    before = np.zeros(rows.shape[1], np.uint8)
    for start in range(0, len(rows), step):
        band = rows[start : start + step]
        yield _filtered(band, before, distance, filters).tobytes()
        before = band[-1]


def _with_smallest_window(data: bytes, size: int) -> bytes:
    """zlib's header with the smallest window that holds `size` bytes."""
    window = max(8, (size - 1).bit_length())
    method = min(data[0] >> 4, window - 8) << 4 | data[0] & 15
    level = data[1] & 0xE0
    level += 31 - (256 * method + level) % 31
    return bytes((method, level)) + data[2:]


def _compressed(parts: Iterator[bytes], size: int, level: int, has_filters: bool) -> bytes:
    is_small = size <= _SMALL
    window = max(9, (size + _LOOK_AHEAD - 1).bit_length()) if is_small else zlib.MAX_WBITS
    strategy = zlib.Z_FILTERED if has_filters else zlib.Z_DEFAULT_STRATEGY
    packer = zlib.compressobj(level, zlib.DEFLATED, min(window, 15), _MEMORY, strategy)
    packed = b"".join([*map(packer.compress, parts), packer.flush()])
    return _with_smallest_window(packed, size) if is_small else packed


def encode(pixels: np.ndarray, compression: int = -1) -> bytes:
    """uint8 or uint16 [height, width, 1 to 4 channels] as a PNG file.

    Raises:
        InternalError: there are no pixels, or a side is longer than PNG libraries write.
    """
    height, width, depth = pixels.shape
    if not height * width or max(height, width) > _LONGEST_SIDE:
        raise errors.internal("PNG encoding failed")
    width_of_sample = pixels.dtype.itemsize
    samples = np.ascontiguousarray(pixels, f">u{width_of_sample}")
    rows = samples.reshape(height, -1).view(np.uint8)
    filters = _filters(height, width)
    parts = _bands(rows, width_of_sample * depth, filters)
    packed = _compressed(parts, height * (1 + rows.shape[1]), compression, len(filters) > 1)
    cut = (packed[at : at + _LONGEST_CHUNK] for at in range(0, len(packed), _LONGEST_CHUNK))
    return b"".join(
        (
            SIGNATURE,
            header_chunk(width, height, 8 * width_of_sample, _COLOR_TYPES[depth]),
            *(chunk(b"IDAT", each) for each in cut),
            chunk(b"IEND", b""),
        )
    )
