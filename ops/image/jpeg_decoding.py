# SPDX-License-Identifier: Apache-2.0
"""JPEG files as arrays, by libjpeg-turbo (simplejpeg), which is what TensorFlow decodes with.

Python's lock is released while a picture is decoded, and pixels are written where they stay.  Where
simplejpeg is not installed Pillow decodes: slower, always with the accurate transform.
"""

from __future__ import annotations

import io
from dataclasses import replace
from types import ModuleType

import numpy as np

from ...engine.memory import recycled_empty
from ...engine.record_class import record
from .jpeg_header import END, BadJpeg, Header, as_samples, read_header
from .jpeg_window import Window, window_of

# TensorFlow decodes nothing with as many samples or more (core/lib/jpeg/jpeg_mem.cc).
_MOST_SAMPLES = 1 << 29
# A coded block of 8 x 8 samples takes a bit for its mean and one for its end at the least.
_LEAST_BITS_PER_BLOCK = 2
# Bits that stand for those that are missing at the end of a file.
_NOISE = b"\x5a\xc3" * 64

# How messages begin after which libjpeg goes on (jerror.h, JWRN_…), as TensorFlow does.
_WARNINGS = (
    *("Corrupt JPEG data", "Premature end", "Inconsistent progression", "Warning:"),
    *("Invalid SOS parameters", "Adobe: Unknown"),
)
# Files with an unusual choice of samples, which libjpeg's simpler interface refuses.
_NO_SUBSAMPLING = "tjDecompressHeader3(): Could not determine subsampling"


@record(frozen=True)
class Options:
    """How JPEG files are decoded, in TensorFlow's words."""

    channels: int = 0
    ratio: int = 1
    fancy_upscaling: bool = True
    try_recover_truncated: bool = False
    acceptable_fraction: float = 1.0
    # What TensorFlow decodes with unless told otherwise: the faster of the integer transforms.
    dct_method: str = "INTEGER_FAST"


def _library() -> ModuleType | None:
    try:
        import simplejpeg
    except ImportError:
        return None
    return simplejpeg


def _turbo(
    library: ModuleType, data: bytes, header: Header, options: Options, colors: str
) -> np.ndarray:
    height, width = header.scaled(options.ratio)
    is_scaled = options.ratio > 1
    shape = height, width, {"GRAY": 1, "RGB": 3, "CMYK": 4}[colors]
    pixels = recycled_empty(shape, np.dtype(np.uint8))
    try:
        library.decode_jpeg(
            data,
            colors,
            fastdct=options.dct_method != "INTEGER_ACCURATE",
            fastupsample=not options.fancy_upscaling,
            min_height=height if is_scaled else 0,
            min_width=width if is_scaled else 0,
            buffer=pixels,
        )
    except (ValueError, RuntimeError) as error:
        text = str(error)
        if not text.startswith((*_WARNINGS, _NO_SUBSAMPLING)):
            raise BadJpeg(text) from None
        # All pixels are there in spite of a warning, unless it was about the header.
        if text.startswith(_NO_SUBSAMPLING) or _warns_of_header(library, data):
            return _pillow(data, header, options, colors)
    return pixels


def _warns_of_header(library: ModuleType, data: bytes) -> bool:
    try:
        library.decode_jpeg_header(data)
    except ValueError:
        return True
    return False


def _pillow(data: bytes, header: Header, options: Options, colors: str) -> np.ndarray:
    """What Pillow makes of a file: without the fast transform, and without plain upsampling."""
    from PIL.JpegImagePlugin import JpegImageFile

    height, width = header.scaled(options.ratio)
    try:
        picture = JpegImageFile(io.BytesIO(data))
        if options.ratio > 1:
            size = max(1, header.width // options.ratio), max(1, header.height // options.ratio)
            picture.draft("L" if colors == "GRAY" and picture.mode != "CMYK" else None, size)
        found = picture.convert({"GRAY": "L"}.get(colors, colors))
    except (OSError, SyntaxError, ValueError, IndexError, KeyError, TypeError) as error:
        raise BadJpeg(str(error)) from None
    if found.size != (width, height):
        found = found.resize((width, height))
    pixels = np.array(found).reshape(height, width, -1)
    # Pillow inverts what Adobe's programs wrote inverted.
    return 255 - pixels if colors == "CMYK" and header.has_adobe_marker else pixels


def _decoded(data: bytes, header: Header, options: Options, colors: str) -> np.ndarray:
    library = _library()
    if library is None:
        return _pillow(data, header, options, colors)
    return _turbo(library, data, header, options, colors)


def _rgb_of_cmyk(inks: np.ndarray, header: Header) -> np.ndarray:
    wide = inks.astype(np.int32)
    if not header.has_adobe_marker:
        wide = 255 - wide
    return (wide[..., :3] * wide[..., 3:] // 255).astype(np.uint8)


def _pixels(data: bytes, header: Header, options: Options) -> np.ndarray:
    """All pixels of a complete file."""
    channels = options.channels or min(header.components, 3)
    if channels not in (1, 3) or header.components not in (1, 3, 4):
        raise BadJpeg("a number of channels that is not supported")
    if header.components < 4:
        return _decoded(data, header, options, "GRAY" if channels == 1 else "RGB")
    if channels == 1:
        raise BadJpeg("libjpeg makes no grays of inks")
    return _rgb_of_cmyk(_decoded(data, header, options, "CMYK"), header)


def _whole_rows(data: bytes, header: Header, options: Options) -> int:
    """How many rows of a cut file TensorFlow would decode.

    They are those that do not change with what might have followed.  Where chroma is interpolated
    between rows, libjpeg holds back a row of samples until it has seen the next unit.
    """
    if header.is_progressive:
        return 0
    one, other = (_pixels(data + tail + END, header, options) for tail in (b"", _NOISE))
    differs = (one != other).any(axis=(1, 2))
    height, unit = header.scaled(options.ratio)[0], header.unit_height // options.ratio
    # The last unit is never whole: the decoder asks for more bits than it takes.
    units = (height - 1) // unit
    if differs.any():
        units = min(units, (int(differs.argmax()) + 1) // unit)
    is_interpolated = options.fancy_upscaling and header.unit_height > 8 and options.ratio == 1
    held_back = header.unit_height // 8 if is_interpolated else 0
    return max(0, units * unit - held_back)


def _check_size(data: bytes, header: Header, options: Options) -> None:
    height, width = header.scaled(options.ratio)
    if height * width * header.components >= _MOST_SAMPLES:
        raise BadJpeg("too large")
    wants_all = not options.try_recover_truncated and options.acceptable_fraction >= 1
    blocks = -(-header.height // 8) * -(-header.width // 8)
    bits = 8 * (len(data) - header.scan)
    if wants_all and not header.is_progressive and bits < _LEAST_BITS_PER_BLOCK * blocks:
        raise BadJpeg("too short for its size")


def _part(data: bytes, header: Header, options: Options, crop: Window | None) -> np.ndarray:
    """The pixels of a window of a complete file, or all."""
    pixels = _pixels(data, header, options)
    if crop is None:
        return pixels
    y, x, height, width = crop
    library = _library()
    if library is None or pixels.shape[2] == 1 or not options.fancy_upscaling:
        return np.ascontiguousarray(pixels[y : y + height, x : x + width])

    def samples() -> np.ndarray:
        plain = replace(options, fancy_upscaling=False)
        return _turbo(library, as_samples(data), header, plain, "RGB")

    return window_of(pixels, header, options.ratio, crop, samples)


def _check_window(header: Header, options: Options, crop: Window) -> None:
    y, x, height, width = crop
    rows, columns = header.scaled(options.ratio)
    if min(y, x) < 0 or min(height, width) <= 0 or y + height > rows or x + width > columns:
        raise BadJpeg("a window that is not in the picture")


def decode(data: bytes, options: Options, crop: Window | None = None) -> np.ndarray:
    """A JPEG file as uint8 [height, width, channels]; `crop` is (y, x, height, width) of it.

    Raises:
        BadJpeg: libjpeg would refuse the file, or the window is not in the picture.
    """
    header = read_header(data)
    if header.cleaned is not None:
        data = header.cleaned
    _check_size(data, header, options)
    if crop is not None:
        _check_window(header, options, crop)
    if data.endswith(END) or data.find(END, header.scan) >= 0:
        return _part(data, header, options, crop)
    if options.try_recover_truncated:
        return _part(data + END, header, options, crop)
    if options.acceptable_fraction >= 1:
        raise BadJpeg("the file ends within its scan")
    pixels = _part(data + END, header, options, crop)
    whole = max(0, _whole_rows(data, header, options) - (crop[0] if crop else 0))
    if whole < len(pixels) * options.acceptable_fraction:
        raise BadJpeg("too few rows")
    pixels[whole:] = 0
    return pixels


def shape_of(data: bytes) -> tuple[int, int, int]:
    """Height, width and number of components that a JPEG file is decoded to."""
    header = read_header(data)
    library = _library()
    if library is not None:
        try:
            library.decode_jpeg_header(header.cleaned or data, strict=False)
        except (ValueError, RuntimeError) as error:
            if not str(error).startswith(_NO_SUBSAMPLING):
                raise BadJpeg(str(error)) from None
    return header.height, header.width, header.components
