# SPDX-License-Identifier: Apache-2.0
"""The gradient of a convolution with respect to its filters.

Fixed chunks of images are summed, then the chunks in order.  A tile has rows of (tap, channel) and
vectors of features, and sums over the pixels of some lines; the gradient of a panel of features is
packed for them first, from the places of maxima if there is max pooling behind the convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernel.sizes import AnySize, ceil_div
from . import conv_filter_kernels, conv_grad_pooled
from .conv_tiles import Line, Tile
from .geometry import Axis
from .library_kernel import LibraryKernel
from .max_pool_argmax import TakesUnpooled, Windows
from .template import specialise
from .vectors import BYTES, vectors

_CACHE = 32768  # two thirds of the first cache
_USES = 16  # of a gradient, for which it is worth packing
_FAR = 1024  # bytes between pixels that compete for the same places in the first cache


def gradient(b: Any, x: Any, shape: Sequence[int], dy: Any, both: tuple[Axis, Axis]) -> Any:
    """The gradient, of the given shape."""

    def instead(b: Any, dy: Any, places: Any, windows: Windows) -> Any:
        return from_maxima(b, x, shape, dy, places, both, windows)

    partial = _partial(b, x, shape, [dy], both, None, TakesUnpooled(1, instead))
    return b.reduce("sum", partial, (0,))


def from_maxima(
    b: Any, x: Any, shape: Sequence[int], dy: Any, places: Any, both: tuple[Axis, Axis],
    windows: Windows,
) -> Any:  # fmt: skip
    """Partial gradients, [chunks, *shape], from the gradient behind max pooling."""
    partial = conv_grad_pooled.filter_gradient(b, x, shape, dy, places, both, windows)
    if partial is NotImplemented:
        partial = _partial(b, x, shape, [dy, places], both, windows, None)
    return partial


def _partial(
    b: Any, x: Any, shape: Sequence[int], dy: list[Any], both: tuple[Axis, Axis],
    windows: Windows | None, role: TakesUnpooled | None,
) -> Any:  # fmt: skip
    """Partial gradients, [chunks, *shape]."""
    kh, kw, c, f = shape
    high, wide = both
    by_tap = wide.dilation != 1 or c >= vectors(x.dtype).lanes
    tile = Tile.choose(x.dtype, f, Line(c if by_tap else kw * c))
    size = BYTES[x.dtype]
    lines = _lines(both, c, tile.panel, size)
    kernel = _kernel(tile, shape, both, by_tap, lines, windows)
    down, across = windows or both
    n = x.shape[0]
    images = conv_grad_pooled.images_per_chunk(n, both, size * kh * kw * c * f)
    chunks = ceil_div(n, images)
    padded = 0 if by_tap else ((lines - 1) * high.stride + high.reach) * wide.padded * c
    (partial,) = b.call(
        kernel, [x, *dy], [((chunks, *shape), x.dtype)],
        [n, high.size, wide.size, high.out, wide.out, high.before, wide.before, images,
         down.out, across.out, down.before, across.before],
        chunks, 1, tile.panels(f), 1, size * (lines * wide.out * tile.panel + padded) + 128,
        operations=2 * n * high.out * wide.out * (kh * kw * c * f), role=role,
    )  # fmt: skip
    return partial


def _kernel(
    tile: Tile, shape: Sequence[int], both: tuple[Axis, Axis], by_tap: bool, lines: int,
    windows: Windows | None,
) -> LibraryKernel:  # fmt: skip
    kh, kw, c, f = shape
    high, wide = both
    run = c if by_tap else kw * c
    packs = windows is not None or kh * -(-run // tile.pixels) * (kw if by_tap else 1) >= _USES
    packs = packs or f * BYTES[tile.dtype] >= _FAR
    row: AnySize = wide.size * c if by_tap else wide.padded * c
    edge = tile.edge(f)
    pool = {}
    if windows:
        down, across = windows
        pool = {"PH": down.window, "PW": across.window, "PSH": down.stride, "PSW": across.stride}
    return specialise(
        "conv2d_filter_gradient", conv_filter_kernels.filter_gradient, BY_TAP=by_tap,
        LINE=_known(row), OUT_LINE=_known(wide.out), EDGE=edge, RAGGED=int(edge == 0 and not packs),
        ZERO=np.dtype(tile.dtype).type(0), C=c, F=f, KH=kh, KW=kw, SH=high.stride, SW=wide.stride,
        DH=high.dilation, DW=wide.dilation, REST=run % tile.pixels, RUN=run, LINES=lines,
        FROM_MAXIMA=windows is not None, PLACES_AT=2 if windows else 1,
        OUT_AT=3 if windows else 2, PACKS=packs,
        ROW=tile.panel if packs else f, **pool, **tile.facts(),
    )  # fmt: skip


def _known(stride: AnySize) -> int:
    """A stride that is part of addresses, or 0 where it is not known."""
    return stride if isinstance(stride, int) else 0


def _lines(both: tuple[Axis, Axis], c: int, panel: int, size: int) -> int:
    """Output lines whose input and gradient together fit the first cache."""
    high, wide = both
    if not isinstance(wide.out, int) or not isinstance(high.out, int):
        return 4
    halo = max(0, high.reach - high.stride) * int(wide.padded) * c * size
    line = high.stride * int(wide.padded) * c * size + wide.out * panel * size
    return max(1, min(high.out, max(4, (_CACHE - halo) // line)))
