# SPDX-License-Identifier: Apache-2.0
"""Convolutions of single channels, as sums of products of views that are shifted by one tap each.

There is no matrix product in them, so they need no kernel of their own: the views fuse into one
loop nest that reads every neighbour from where it lies.  Arrays are NHWC; a filter has the shape
[height, width, channels, multiplier], and output channel c * multiplier + m is that of channel c
and filter m.  Imports jit's IR.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..kernel import scalar
from ..kernel.sizes import AnySize, Size, maximum
from ..program.tensor_ir import Axis as At
from . import channel_windows
from .geometry import Axis, Padding, axes
from .wide_window import wide_depthwise, wide_filter_gradient, wide_input_gradient

# Filters of more taps, or more outputs of a channel, would make nests of thousands of loads.
_MOST_TAPS = 64
_MOST_OUTPUTS = 8

Taps = Iterator[tuple[int, int]]


def depthwise(
    b: Any, x: Any, w: Any, strides: Sequence[int], padding: Padding, dilations: Sequence[int]
) -> Any:
    """Every channel convolved with its filters, or NotImplemented."""
    height, width, channels, many = w.shape
    if not _is_known(w.shape):
        return NotImplemented
    high, wide = axes(x.shape[1:3], (height, width), strides, padding, dilations)
    if channel_windows.serves(b, x.dtype, w.shape, high, wide):
        b.require(b.equal(x.shape[3], channels))
        return channel_windows.convolve(b, x, w, high, wide)
    padded = padded_input(b, x, high, wide)
    if not _is_small(w.shape):
        return wide_depthwise(b, padded, w, high, wide)
    shape = _split((x.shape[0], high.out, wide.out, channels * many), channels, many)
    terms = []
    for i, j in _taps(height, width):
        pixel = b.view(padded, tap_of_pixels(high, wide, i, j), shape)
        terms.append(b.map(scalar.mul, pixel, _weights(b, w, i, j, shape)))
    total = b.fold(scalar.add, terms)
    return b.reshape(total, (x.shape[0], high.out, wide.out, channels * many))


def depthwise_input_gradient(
    b: Any,
    sizes: Sequence[AnySize],
    w: Any,
    dy: Any,
    strides: Sequence[int],
    padding: Padding,
    dilations: Sequence[int],
) -> Any:
    """The gradient with respect to the input, whose sizes are given, or NotImplemented."""
    if not _is_known(w.shape):
        return NotImplemented
    height, width, channels, many = w.shape
    high, wide = axes(sizes[1:3], (height, width), strides, padding, dilations)
    b.require_shape(dy, (sizes[0], high.out, wide.out, channels * many))
    b.require(b.equal(sizes[3], channels))
    if channel_windows.serves(b, dy.dtype, w.shape, high, wide):
        return channel_windows.input_gradient(b, sizes[0], w, dy, high, wide)
    # What a window gave lies as far apart as the windows did, with zeros between and around.
    low = [axis.reach - 1 - axis.before for axis in (high, wide)]
    room = [axis.size + axis.reach - 1 for axis in (high, wide)]
    for axis, before, whole in zip((high, wide), low, room):
        # Where padding is larger than a filter, windows lie outside of the input altogether.
        b.require(before >= 0 and before + (axis.out - 1) * axis.stride < whole)
    spread = b.assemble(
        (sizes[0], *room, channels * many),
        dy.dtype,
        [(dy, [0, *low, 0], [1, high.stride, wide.stride, 1])],
        0,
    )
    if not _is_small(w.shape):
        return wide_input_gradient(b, spread, w, high, wide)
    shape = (sizes[0], high.size, wide.size, channels)
    terms = []
    for i, j in _taps(height, width):
        down, across = (height - 1 - i) * high.dilation, (width - 1 - j) * wide.dilation
        for m in range(many):
            place = (At(0), At(1, 1, down), At(2, 1, across), At(3, many, m))
            weight = (At(None, 1, i), At(None, 1, j), At(3), At(None, 1, m))
            terms.append(b.map(scalar.mul, b.view(spread, place, shape), b.view(w, weight, shape)))
    return b.fold(scalar.add, terms)


def depthwise_filter_gradient(
    b: Any,
    x: Any,
    sizes: Sequence[int],
    dy: Any,
    strides: Sequence[int],
    padding: Padding,
    dilations: Sequence[int],
) -> Any:
    """The gradient with respect to the filters, whose sizes are given, or NotImplemented."""
    if not _is_known(sizes):
        return NotImplemented
    height, width, channels, many = sizes
    high, wide = axes(x.shape[1:3], (height, width), strides, padding, dilations)
    b.require_shape(dy, (x.shape[0], high.out, wide.out, channels * many))
    b.require(b.equal(x.shape[3], channels))
    if channel_windows.serves(b, x.dtype, sizes, high, wide):
        return channel_windows.filter_gradient(b, x, many, dy, high, wide)
    padded = padded_input(b, x, high, wide)
    if not _is_small(sizes):
        return wide_filter_gradient(b, padded, dy, many, high, wide)
    shape = _split(dy.shape, channels, many)
    grad = b.reshape(dy, shape)
    parts = []
    for i, j in _taps(height, width):
        pixel = b.view(padded, tap_of_pixels(high, wide, i, j), shape)
        total = b.reduce("sum", b.map(scalar.mul, pixel, grad), (0, 1, 2))
        parts.append((b.reshape(total, (1, 1, channels, many)), [i, j, 0, 0], None))
    return b.assemble((height, width, channels, many), dy.dtype, parts, None)


def _is_known(filter_sizes: Sequence[AnySize]) -> bool:
    """Whether how many taps and filters there are is a number, and not none."""
    height, width, _, many = filter_sizes
    return all(not isinstance(size, Size) and size > 0 for size in (height, width, many))


def _is_small(filter_sizes: Sequence[Any]) -> bool:
    height, width, _, many = filter_sizes
    return height * width * many <= _MOST_TAPS and many <= _MOST_OUTPUTS


def _taps(height: int, width: int) -> Taps:
    return ((i, j) for i in range(height) for j in range(width))


def padded_input(b: Any, x: Any, high: Axis, wide: Axis) -> Any:
    """The input with zeros around it wherever a window reaches beyond."""
    pads = [
        (axis.before, maximum(axis.padded - axis.size - axis.before, 0)) for axis in (high, wide)
    ]
    return b.pad(x, [(0, 0), *pads, (0, 0)])


def _split(shape: Sequence[AnySize], channels: AnySize, many: int) -> tuple[AnySize, ...]:
    """Of an output with its channels as input channel and multiplier, where that is not 1."""
    return (*shape[:3], channels) if many == 1 else (*shape[:3], channels, many)


def tap_of_pixels(high: Axis, wide: Axis, i: int, j: int) -> tuple[At, ...]:
    """Where the output's positions find the pixel of one tap."""
    down, across = At(1, high.stride, i * high.dilation), At(2, wide.stride, j * wide.dilation)
    return (At(0), down, across, At(3))


def _weights(b: Any, w: Any, i: int, j: int, shape: Sequence[AnySize]) -> Any:
    """The weights of one tap at every position of an output."""
    many = At(None) if len(shape) == 4 else At(4)
    return b.view(w, (At(None, 1, i), At(None, 1, j), At(3), many), tuple(shape))
