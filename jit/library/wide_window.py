# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions by filters of so many taps that one expression would be too long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..kernel.sizes import AnySize, ceil_div, maximum
from . import wide_window_kernels
from .library_kernel import LibraryKernel
from .template import specialise

_WORK = 1 << 18  # products per tile
_DEPTHS = (1, 3)


def wide_window(b: Any, x: Any, w: Any, rows: AnySize, columns: AnySize) -> Any:
    """Every channel of images, [batch, rows + height - 1, columns + width - 1, channels], convolved
    with its filter, [height, width, channels, 1].  NotImplemented but for float32.
    """
    if x.dtype != "float32":
        return NotImplemented
    tall, wide, depth, _ = w.shape
    taps = tall * wide
    lines = x.shape[0] * rows
    per_line = maximum(columns * depth * taps, 1)
    (out,) = b.call(
        _kernel(depth),
        [x, w],
        [((x.shape[0], rows, columns, depth), "float32")],
        [*x.shape[1:3], rows, columns, depth, tall, wide],
        lines,
        maximum(_WORK // per_line, ceil_div(lines, 256)),
        scratch=4 * taps * wide_window_kernels.PIXELS * depth,
        operations=2 * lines * columns * depth * taps,
    )
    return out


def _kernel(depth: AnySize) -> LibraryKernel:
    known = depth if depth in _DEPTHS else 0
    return specialise("wide_window", wide_window_kernels.wide_window, DEPTH=known)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The kernels, which are of single precision only."""
    del dtypes
    for depth in (0, *_DEPTHS):
        yield _kernel(depth).over(("float32",) * 3)
