# SPDX-License-Identifier: Apache-2.0
"""The filter gradient of many channels, on small images or of pixels, as one matrix product.

Tiles of jit/library/conv_filter.py are read and written once per image; with few pixels to sum over
between that takes longer than the sums.  And it reads pixels where they are, a few channels of each
for a tile, which a product copies first: apart by a large power of two they compete for the same
places in the cache.  Here the pixels of all images that a tap meets lie in one
matrix, [pixels, taps * channels], zero outside of the input, so that tiles stay in registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .geometry import Axis, are_pixels
from .matmul import matmul
from .shifted_views import padded_input, tap_of_pixels

_FAR = 2048  # bytes of whose multiples pixels apart compete for the same places in the first cache
_FEW = 36  # pixels of an image that are too few, with a window of several taps
_FEW_OF_ONE = 144  # and with a window of one, which has no zeros to multiply
_MANY = 1 << 15  # pairs of channels that make enough tiles for threads to share


def is_worthwhile(shape: Sequence[int], size: int, both: tuple[Axis, Axis]) -> bool:
    """Are images that small, or pixels that far apart, and channels that many?"""
    kh, kw, c, f = shape
    high, wide = both
    if c * f < _MANY:
        return False
    if are_pixels(both) and wide.stride * c * size % _FAR == 0:
        return True
    if not isinstance(high.out, int) or not isinstance(wide.out, int):
        return False
    return 0 < high.out * wide.out <= (_FEW_OF_ONE if kh * kw == 1 else _FEW)


def gradient(b: Any, x: Any, shape: Sequence[int], dy: Any, both: tuple[Axis, Axis]) -> Any:
    """The gradient, of the given shape."""
    kh, kw, c, f = shape
    high, wide = both
    n, out = x.shape[0], (high.out, wide.out)
    padded = x if are_pixels(both) else padded_input(b, x, high, wide)
    taps = [
        b.view(padded, tap_of_pixels(high, wide, i, j), (n, *out, c))
        for i in range(kh)
        for j in range(kw)
    ]
    pixels = n * out[0] * out[1]
    rows = b.reshape(b.concat(taps, 3), (pixels, kh * kw * c))
    return b.reshape(matmul(b, rows, b.reshape(dy, (pixels, f)), True), tuple(shape))
