# SPDX-License-Identifier: Apache-2.0
"""Depthwise convolutions by filters of so many taps that one expression would be too long.

The kernels know filters without gaps, one a channel, that move by one pixel.  Others are made of
those: channels are repeated for each of their filters, gaps within a filter and between windows are
zeros, and of what lies between two windows nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..kernel.sizes import AnySize, ceil_div, maximum, one_of
from ..program.tensor_ir import Axis as At
from . import wide_window_kernels
from .channel_windows import repeated
from .geometry import Axis
from .library_kernel import LibraryKernel
from .template import specialise

_WORK = 1 << 18  # products per tile
_DEPTHS = (1, 3)


def wide_depthwise(b: Any, x: Any, w: Any, high: Axis, wide: Axis) -> Any:
    """Padded images, every channel convolved with its filters, or NotImplemented."""
    many = w.shape[3]
    lines, pixels = ((axis.out - 1) * axis.stride + 1 for axis in (high, wide))
    total = _convolve(b, repeated(b, x, many), _single(b, w, high, wide), lines, pixels)
    if total is NotImplemented or high.stride == wide.stride == 1:
        return total
    places = (At(0), At(1, high.stride), At(2, wide.stride), At(3))
    return b.view(total, places, (x.shape[0], high.out, wide.out, total.shape[3]))


def wide_input_gradient(b: Any, spread: Any, w: Any, high: Axis, wide: Axis) -> Any:
    """The gradient of the images, from that of the results, spread as far apart as windows are with
    zeros between and around; or NotImplemented.
    """
    depth, many = w.shape[2:]
    single = _single(b, w, high, wide)
    turned = (At(0, -1, high.reach - 1), At(1, -1, wide.reach - 1), At(2), At(3))
    filters = b.view(single, turned, single.shape)
    total = _convolve(b, spread, filters, high.size, wide.size)
    if total is NotImplemented or many == 1:
        return total
    apart = b.reshape(total, (*total.shape[:3], depth, many))
    return b.reduce("sum", apart, (4,))


def wide_filter_gradient(b: Any, x: Any, dy: Any, many: int, high: Axis, wide: Axis) -> Any:
    """The gradient of the filters, from padded images and the gradient of the results, or
    NotImplemented.
    """
    count, depth = x.shape[0], x.shape[3]
    lines, pixels = ((axis.out - 1) * axis.stride + 1 for axis in (high, wide))
    if not high.stride == wide.stride == 1:
        part = (dy, [0, 0, 0, 0], [1, high.stride, wide.stride, 1])
        dy = b.assemble((count, lines, pixels, depth * many), dy.dtype, [part], 0)
    total = _correlate(b, repeated(b, x, many), dy, high.reach, wide.reach)
    if total is NotImplemented:
        return total
    places = (At(0, high.dilation), At(1, wide.dilation), At(2))
    taps = b.view(total, places, (high.window, wide.window, depth * many))
    return b.reshape(taps, (high.window, wide.window, depth, many))


def _single(b: Any, w: Any, high: Axis, wide: Axis) -> Any:
    """Filters as those of as many channels, without gaps."""
    tall, broad, depth, many = w.shape
    flat = b.reshape(w, (tall, broad, depth * many, 1))
    if high.dilation == wide.dilation == 1:
        return flat
    part = (flat, [0, 0, 0, 0], [high.dilation, wide.dilation, 1, 1])
    return b.assemble((high.reach, wide.reach, depth * many, 1), w.dtype, [part], 0)


def _convolve(b: Any, x: Any, w: Any, rows: AnySize, columns: AnySize) -> Any:
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


def _correlate(b: Any, x: Any, dy: Any, tall: int, wide: int) -> Any:
    """The sums of products of every channel of images, [batch, rows + tall - 1, columns + wide - 1,
    channels], with results' gradient, [batch, rows, columns, channels], at each tap: [tall, wide,
    channels].  NotImplemented but for float32.
    """
    if x.dtype != "float32":
        return NotImplemented
    count, rows, columns, depth = dy.shape
    (out,) = b.call(
        specialise("wide_window_taps", wide_window_kernels.wide_window_taps),
        [x, dy],
        [((tall, wide, depth), "float32")],
        [count, *x.shape[1:3], rows, columns, depth, wide],
        tall,
        1,
        scratch=4 * wide * wide_window_kernels.PIXELS * depth,
        operations=2 * count * rows * columns * depth * tall * wide,
    )
    return out


def _kernel(depth: AnySize) -> LibraryKernel:
    known = one_of(depth, _DEPTHS)
    return specialise("wide_window", wide_window_kernels.wide_window, DEPTH=known)


def closed(dtypes: Sequence[str]) -> Iterator[LibraryKernel]:
    """The kernels, which are of single precision only."""
    del dtypes
    for depth in (0, *_DEPTHS):
        yield _kernel(depth).over(("float32",) * 3)
    taps = specialise("wide_window_taps", wide_window_kernels.wide_window_taps)
    yield taps.over(("float32",) * 3)
