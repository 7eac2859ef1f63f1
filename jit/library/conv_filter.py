# SPDX-License-Identifier: Apache-2.0
"""The gradient of a convolution with respect to its filters.

Fixed chunks of images are summed, then the chunks in order.  A tile has rows of (tap, channel) and
vectors of features, and sums over the pixels of some lines; the gradient of a panel of features is
packed for them first, from the places of maxima if there is max pooling behind the convolution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..kernel.sizes import ceil_div
from . import conv_filter_kernels, conv_grad_pooled
from .conv_tiles import Line, Tile
from .geometry import Axis
from .library_kernel import LibraryKernel
from .max_pool_argmax import AcceptsPooledGrad, Windows
from .template import specialise
from .tiles import BLOCK, cut
from .vectors import BYTES, vectors

_CACHE = 32768  # two thirds of the first cache
_USES = 16  # of a gradient, for which it is worth packing
_FAR = 1024  # bytes between pixels that compete for the same places in the first cache


def gradient(b: Any, x: Any, shape: Sequence[int], dy: Any, both: tuple[Axis, Axis]) -> Any:
    """The gradient, of the given shape."""

    def instead(b: Any, dy: Any, places: Any, windows: Windows) -> Any:
        return from_maxima(b, x, shape, dy, places, both, windows)

    partial = _partial(b, x, shape, [dy], both, None, AcceptsPooledGrad(1, instead))
    return b.reduce("sum", partial, (0,))


def from_maxima(
    b: Any,
    x: Any,
    shape: Sequence[int],
    dy: Any,
    places: Any,
    both: tuple[Axis, Axis],
    windows: Windows,
) -> Any:
    """Partial gradients, [chunks, *shape], from the gradient behind max pooling."""
    partial = conv_grad_pooled.filter_gradient(b, x, shape, dy, places, both, windows)
    if partial is NotImplemented:
        partial = _partial(b, x, shape, [dy, places], both, windows, None)
    return partial


def _partial(
    b: Any,
    x: Any,
    shape: Sequence[int],
    dy: list[Any],
    both: tuple[Axis, Axis],
    windows: Windows | None,
    role: AcceptsPooledGrad | None,
) -> Any:
    """Partial gradients, [chunks, *shape]."""
    kh, kw, c, f = shape
    high, wide = both
    by_tap = wide.dilation != 1 or c >= vectors(x.dtype).lanes
    tile = Tile.choose(x.dtype, f, Line(c if by_tap else kw * c))
    size = BYTES[x.dtype]
    lines = _lines(both, c, tile.panel, size)
    down, across = windows or both
    n = x.shape[0]
    images = conv_grad_pooled.images_per_chunk(n, both, size * kh * kw * c * f)
    chunks = ceil_div(n, images)
    padded = 0 if by_tap else ((lines - 1) * high.stride + high.reach) * wide.padded * c
    packs = windows is not None or _should_pack(tile, shape, by_tap)
    heights = _heights(tile, c if by_tap else kw * c)
    (partial,) = b.call(
        _kernel(tile, f, heights, packs, windows is not None), [x, *dy],
        [((chunks, *shape), x.dtype)],
        [n, high.size, wide.size, high.out, wide.out, high.before, wide.before, images,
         down.out, across.out, down.before, across.before,
         down.window, across.window, down.stride, across.stride,
         c, f, tile.panel, kh, kw, high.stride, wide.stride, high.dilation, wide.dilation,
         lines, tile.panel if packs else f, int(packs), int(by_tap), *heights],
        chunks, 1, tile.panels(f), 1,
        BLOCK + size * (lines * wide.out * tile.panel + padded) + 128,
        operations=2 * n * high.out * wide.out * (kh * kw * c * f), role=role,
    )  # fmt: skip
    return partial


def _should_pack(tile: Tile, shape: Sequence[int], by_tap: bool) -> bool:
    """Is a gradient read so often, or so far apart, that it is worth packing?"""
    kh, kw, c, f = shape
    run = c if by_tap else kw * c
    uses = kh * -(-run // tile.pixels) * (kw if by_tap else 1)
    return uses >= _USES or f * BYTES[tile.dtype] >= _FAR


def _heights(tile: Tile, run: int) -> list[int]:
    """The rows of three tiles, which go one after the other as often as they fit into `run`."""
    found = sorted(set(cut(run, tile.pixels, tile.vectors, tile.dtype)), reverse=True)
    return found + found[-1:] * (3 - len(found))


def _kernel(
    tile: Tile, f: int, heights: Sequence[int], packs: bool, from_maxima: bool
) -> LibraryKernel:
    ragged = tile.masked(f) and not packs
    return _specialised(tile.dtype, from_maxima).calling(
        tile.kernel(f, height, ragged=ragged, adjacent=True) for height in heights
    )


def _specialised(dtype: str, from_maxima: bool) -> LibraryKernel:
    return specialise(
        "conv2d_filter_gradient",
        conv_filter_kernels.filter_gradient,
        DTYPE=dtype,
        ZERO=np.dtype(dtype).type(0),
        FROM_MAXIMA=from_maxima,
        PLACES_AT=2 if from_maxima else 1,
        OUT_AT=3 if from_maxima else 2,
        FIRST=4 if from_maxima else 3,
    )


def closed(dtype: str) -> Iterator[LibraryKernel]:
    """All kernels of filter gradients, but for the tiles that they call."""
    yield _specialised(dtype, False).over([dtype] * 3)
    yield _specialised(dtype, True).over([dtype, dtype, "uint8", dtype])


def _lines(both: tuple[Axis, Axis], c: int, panel: int, size: int) -> int:
    """Output lines whose input and gradient together fit the first cache."""
    high, wide = both
    if not isinstance(wide.out, int) or not isinstance(high.out, int):
        return 4
    halo = max(0, high.reach - high.stride) * int(wide.padded) * c * size
    line = high.stride * int(wide.padded) * c * size + wide.out * panel * size
    return max(1, min(high.out, max(4, (_CACHE - halo) // line)))
