# SPDX-License-Identifier: Apache-2.0
"""Parts of JPEG files, as libjpeg-turbo decodes them where it decodes a part alone.

Colours that have half as many columns as the picture are interpolated between columns.  At its
left and right end a part has none to interpolate with, unless it begins within a coded unit, all of
which is decoded.  So its outermost columns differ from those of the whole picture.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...engine.record_class import record
from .jpeg_header import Header

Window = tuple[int, int, int, int]

# Shares of the differences of blue and red in the channels, in 65536ths, as libjpeg rounds them.
_HALF = 1 << 15
_RED, _GREEN_OF_RED, _GREEN_OF_BLUE, _BLUE = 91881, 46802, 22554, 116130
# How colours are rounded in the first and the last column; _PLAIN: there is nothing to round.
_FIRST, _LAST, _PLAIN = 8, 7, 0
# Parts whose colours have no more columns than that are not interpolated at all; and pictures.
_FEWEST_OF_PART, _FEWEST_OF_PICTURE = 1, 2


@record(frozen=True)
class Plane:
    """How the samples of a component lie to the picture's pixels."""

    # Pixels per sample, across and down.
    across: int
    down: int


def planes(header: Header, ratio: int) -> list[Plane]:
    """Those of a picture decoded at 1 / ratio: libjpeg decodes small components larger."""
    widest = max(h for h, _ in header.factors)
    highest = max(v for _, v in header.factors)
    least = 8 // ratio
    found = []
    for h, v in header.factors:
        size = least
        while (
            size < 8
            and not widest * least % (2 * h * size)
            and not highest * least % (2 * v * size)
        ):
            size *= 2
        found.append(Plane(widest * least // (h * size), highest * least // (v * size)))
    return found


def window_of(
    whole: np.ndarray, header: Header, ratio: int, crop: Window, samples: Callable[[], np.ndarray]
) -> np.ndarray:
    """A part of a colour picture, whose colours were interpolated.

    samples: what the file has of each pixel, its components; those that stand for several pixels
    stand at each of them.  It is asked for where it is needed.
    """
    y, x, height, width = crop
    part = np.ascontiguousarray(whole[y : y + height, x : x + width])
    columns = _outermost(whole.shape[1], header, ratio, x, x + width)
    if columns:
        raw = samples()
        for column, rounding in columns:
            part[:, column - x] = _column(raw, header, ratio, column, rounding)[y : y + height]
    return part


def _outermost(size: int, header: Header, ratio: int, x: int, end: int) -> list[tuple[int, int]]:
    """Columns of a part that are not the whole's, and how each is rounded."""
    is_halved = any(plane.across == 2 and plane.down < 3 for plane in planes(header, ratio))
    if len(header.factors) != 3 or ratio == 8 or not is_halved:
        return []
    if -(-size // 2) <= _FEWEST_OF_PICTURE:
        return []
    unit = max(h for h, _ in header.factors) * 8 // ratio
    if end - x // unit * unit <= 2 * _FEWEST_OF_PART:
        return [(column, _PLAIN) for column in range(x, end)]
    columns = [(x, _FIRST)] if x and x % unit == 0 else []
    return [*columns, (end - 1, _LAST)] if end < size and end % 2 == 0 else columns


def _column(raw: np.ndarray, header: Header, ratio: int, column: int, rounding: int) -> np.ndarray:
    """A column of pixels whose colours are interpolated downwards alone, or not at all."""
    parts = []
    for i, plane in enumerate(planes(header, ratio)):
        own = raw[:, column, i].astype(np.int32)
        if plane.across == 2 and plane.down == 2 and rounding != _PLAIN:
            own = (4 * _downwards(own) + rounding) >> 4
        parts.append(own)
    if header.is_rgb:
        return np.stack(parts, 1).astype(np.uint8)
    light, blue, red = parts[0], parts[1] - 128, parts[2] - 128
    green = (_HALF - _GREEN_OF_BLUE * blue - _GREEN_OF_RED * red) >> 16
    colours = (_RED * red + _HALF) >> 16, green, (_BLUE * blue + _HALF) >> 16
    return np.clip(np.stack([light + each for each in colours], 1), 0, 255).astype(np.uint8)


def _downwards(doubled: np.ndarray) -> np.ndarray:
    """Three times what stands twice each, and once what is nearest above or below."""
    samples = doubled[::2]
    above, below = np.append(samples[:1], samples[:-1]), np.append(samples[1:], samples[-1:])
    found = np.stack([3 * samples + above, 3 * samples + below], 1).reshape(-1)
    return found[: len(doubled)]
