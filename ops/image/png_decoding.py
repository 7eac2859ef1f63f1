# SPDX-License-Identifier: Apache-2.0
"""PNG files as arrays with TensorFlow's choice of channels and bits.

A kernel takes the filters out of the rows of whole bytes that are as they should be.  Of others
Pillow does it, on files that are made of a file's own compressed pixels so that Pillow changes no
sample: it would cut those of 16 bits.  Filters work byte by byte at a distance of a pixel, so 16
bits are twice as many channels of 8, or two pictures if those are more than four.
"""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np

from ...engine import settings
from .png_chunks import (
    GRAY,
    GRAY_ALPHA,
    PALETTE,
    RGB,
    RGB_ALPHA,
    SAMPLES,
    SIGNATURE,
    BadPixels,
    Header,
    chunk,
    header_chunk,
    read_pixels,
)
from .png_transforms import converted

# Rows of fewer bytes in all are restored without letting other threads run meanwhile.
_SMALL = 1 << 17
_OF_LANES = {1: GRAY, 2: GRAY_ALPHA, 3: RGB, 4: RGB_ALPHA}


def _lanes(header: Header, parts: list[bytes], bits: int, color_type: int) -> np.ndarray:
    """Bytes [height, width, lanes] of a file whose header is replaced."""
    from PIL.PngImagePlugin import PngImageFile

    form = header.width, header.height, bits, color_type, int(header.is_interlaced)
    body = b"".join(chunk(b"IDAT", part) for part in parts)
    file = SIGNATURE + header_chunk(*form) + body + chunk(b"IEND", b"")
    try:
        picture = PngImageFile(io.BytesIO(file))
        picture.load()
        pixels = np.frombuffer(picture.tobytes("raw", picture.mode), np.uint8)
        return pixels.reshape(header.height, header.width, -1)
    except (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error) as error:
        raise BadPixels(str(error)) from None


def _inflated(header: Header, parts: list[bytes]) -> np.ndarray:
    try:
        raw = zlib.decompressobj().decompress(b"".join(parts), header.raw_size)
    except zlib.error as error:
        raise BadPixels(str(error)) from None
    if len(raw) < header.raw_size:
        raise BadPixels("too few rows")
    return np.frombuffer(raw, np.uint8)


def _restored(header: Header, parts: list[bytes]) -> np.ndarray | None:
    """The bytes [height, width, bytes of a pixel] of rows of whole bytes.

    None for a closer look: at passes, short samples, and where anything is not as it should be.
    """
    if header.is_interlaced or header.bits < 8 or settings.get("jit") == "never":
        return None
    from ...jit.library.png_rows import restored_png_rows
    from ...jit.runtime.calling import call

    inflater = zlib.decompressobj()
    try:
        raw = inflater.decompress(b"".join(parts), header.raw_size + 1)
    except zlib.error:
        return None
    if not inflater.eof or len(raw) != header.raw_size:
        return None
    distance = header.bits_per_pixel // 8
    size = header.width * distance
    rows, problem = np.empty((header.height + 1, size), np.uint8), np.zeros(1, np.int64)
    rows[0] = 0
    arrays: list[np.ndarray | int] = [np.frombuffer(raw, np.uint8), rows, problem]
    numbers = [header.height, size, distance]
    call(restored_png_rows(), arrays, numbers, 1, keeps_lock=len(raw) < _SMALL)
    return None if problem[0] else rows[1:].reshape(header.height, header.width, distance)


def _half(header: Header, raw: np.ndarray, lanes: int, first: int) -> list[bytes]:
    """The rows with `lanes` of each pixel's bytes, from `first` on."""
    at, kept = 0, []
    for rows, size in header.rows():
        end = at + rows * (size + 1)
        lines = raw[at:end].reshape(rows, size + 1)
        pixels = lines[:, 1:].reshape(rows, -1, 2 * lanes)[:, :, first : first + lanes]
        kept.append(np.concatenate([lines[:, :1], pixels.reshape(rows, -1)], 1).tobytes())
        at = end
    return [zlib.compress(b"".join(kept), 0)]


def _samples(header: Header, parts: list[bytes]) -> np.ndarray:
    """The samples as they stand in the file, uint8 or uint16 [height, width, samples]."""
    restored = _restored(header, parts)
    if restored is not None:
        return restored if header.bits == 8 else restored.view(">u2").astype(np.uint16)
    count = SAMPLES[header.color_type]
    if header.bits < 8:
        # As indices, since Pillow makes 0 and 255 of grays of one bit.
        return _lanes(header, parts, header.bits, PALETTE)
    if header.bits == 8:
        return _lanes(header, parts, 8, header.color_type)
    if count < 3:
        found = _lanes(header, parts, 8, _OF_LANES[2 * count])
    else:
        raw = _inflated(header, parts)
        halves = (
            _lanes(header, _half(header, raw, count, first), 8, _OF_LANES[count])
            for first in (0, count)
        )
        found = np.concatenate(list(halves), axis=2)
    return np.ascontiguousarray(found).view(">u2").astype(np.uint16)


def decode(data: bytes, header: Header, channels: int, bits: int) -> np.ndarray:
    """A PNG file as uint8 or uint16 [height, width, channels]; 0 channels: as many as it has.

    Raises:
        BadPixels: libpng would refuse the file behind its header.
    """
    parts = read_pixels(data, header)
    return converted(_samples(header, parts), header, channels, bits)
