# SPDX-License-Identifier: Apache-2.0
"""Max and average pooling over height and width, and their gradients; loops run over channels.

The gradient of a maximum goes to the first largest element of its window, as in TensorFlow.
Averages count only elements inside of the input.  NCHW goes through a transpose on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..kernel.sizes import AnySize, maximum
from . import max_pool_argmax
from .geometry import Axis, Padding, axes, spatial
from .library_kernel import specialise
from .vectors import BYTES

if TYPE_CHECKING:
    import numpy as np

_WORK = 1 << 15  # elements read per tile
_CHANNELS = 512  # channels handled together: scratch for them stays in the first cache

_FORWARD = """
@helper
def whole(x, out, source, target, line, c):
    # A window without an edge: all its elements of a channel are combined in a register.
    for f in range(c):
        value = first(x[source + f])
        for y in range(KH):
            for i in range(KW):
                if y + i > 0:
                    value = combine(value, x[source + y * line + i * c + f])
        out[target + f] = value


@helper
def part(x, out, source, target, line, c, rows, cols):
    for f in range(c):
        out[target + f] = first(x[source + f])
    for y in range(rows):
        for i in range(cols):
            if y + i > 0:
                for f in range(c):
                    out[target + f] = combine(out[target + f], x[source + y * line + i * c + f])


def kernel(args, r0, r1, c0, c1, worker):
    x, out = pointer(args[0]), pointer(args[1])
    h, w, oh, ow, c, top, left = args[2], args[3], args[4], args[5], args[6], args[7], args[8]
    for row in range(r0, r1):
        image = row // oh
        y0, y1 = window(row - image * oh, SH, top, KH, h)
        for col in range(ow):
            x0, x1 = window(col, SW, left, KW, w)
            source, target = ((image * h + y0) * w + x0) * c, (row * ow + col) * c
            if y1 - y0 == KH and x1 - x0 == KW:
                whole(x, out, source, target, w * c, c)
            else:
                part(x, out, source, target, w * c, c, y1 - y0, x1 - x0)
            if AVERAGE:
                scale = ONE / ((y1 - y0) * (x1 - x0))
                for f in range(c):
                    out[target + f] = out[target + f] * scale
"""

_MAXIMUM = """
@helper
def first(x):
    # Of NaN and minus infinity alone the maximum is the least finite number, as in TensorFlow.
    return x if x > LOWEST else LOWEST


@helper
def combine(old, new):
    return new if new > old else old
"""

_SUM = """
@helper
def first(x):
    return x


@helper
def combine(old, new):
    return old + new
"""

# Rows are images, columns are channels: windows of one image may overlap.
_MAX_GRADIENT = """
def kernel(args, r0, r1, c0, c1, worker):
    x, dy, out = pointer(args[0]), pointer(args[1]), pointer(args[2])
    h, w, oh, ow, c, top, left = args[3], args[4], args[5], args[6], args[7], args[8], args[9]
    memory = region(args[10] + worker * args[11], DTYPE)
    best, left_over = pointer(memory), pointer(memory + CHANNELS)
    count = c1 - c0
    for image in range(r0, r1):
        for pixel in range(image * h * w, (image + 1) * h * w):
            zero(args[2] + (pixel * c + c0), count)
        for row in range(oh):
            y0, y1 = window(row, SH, top, KH, h)
            for col in range(ow):
                x0, x1 = window(col, SW, left, KW, w)
                source = ((image * h + y0) * w + x0) * c + c0
                for f in range(count):
                    best[f] = x[source + f]
                for y in range(y0, y1):
                    for i in range(x0, x1):
                        source = ((image * h + y) * w + i) * c + c0
                        for f in range(count):
                            best[f] = x[source + f] if x[source + f] > best[f] else best[f]
                gradient = ((image * oh + row) * ow + col) * c + c0
                for f in range(count):
                    left_over[f] = dy[gradient + f]
                for y in range(y0, y1):
                    for i in range(x0, x1):
                        source = ((image * h + y) * w + i) * c + c0
                        for f in range(count):
                            # Once given away, nothing is left for later elements.  NaN is the
                            # best only where it comes first.
                            hit = (x[source + f] == best[f]) | (best[f] != best[f])
                            given = left_over[f] if hit else ZERO
                            left_over[f] = ZERO if hit else left_over[f]
                            out[source + f] += given
"""

_AVERAGE_GRADIENT = """
def kernel(args, r0, r1, c0, c1, worker):
    dy, out = pointer(args[0]), pointer(args[1])
    h, w, oh, ow, c, top, left = args[2], args[3], args[4], args[5], args[6], args[7], args[8]
    count = c1 - c0
    for image in range(r0, r1):
        for pixel in range(image * h * w, (image + 1) * h * w):
            zero(args[1] + (pixel * c + c0), count)
        for row in range(oh):
            y0, y1 = window(row, SH, top, KH, h)
            for col in range(ow):
                x0, x1 = window(col, SW, left, KW, w)
                scale = ONE / ((y1 - y0) * (x1 - x0))
                gradient = ((image * oh + row) * ow + col) * c + c0
                for y in range(y0, y1):
                    for i in range(x0, x1):
                        source = ((image * h + y) * w + i) * c + c0
                        for f in range(count):
                            out[source + f] += dy[gradient + f] * scale
"""


def max_pool(
    b: Any, x: Any, ksize: Sequence[int], strides: Sequence[int], padding: Padding,
    data_format: str = "NHWC",
) -> Any:  # fmt: skip
    """The largest element of every window, or NotImplemented."""
    return _pool(b, "max_pool", _MAXIMUM, x, ksize, strides, padding, data_format)


def avg_pool(
    b: Any, x: Any, ksize: Sequence[int], strides: Sequence[int], padding: Padding,
    data_format: str = "NHWC",
) -> Any:  # fmt: skip
    """The mean of every window, or NotImplemented."""
    return _pool(b, "avg_pool", _SUM, x, ksize, strides, padding, data_format)


def max_pool_gradient(
    b: Any, x: Any, y: Any, dy: Any, ksize: Sequence[int], strides: Sequence[int], padding: Padding,
    data_format: str = "NHWC",
) -> Any:  # fmt: skip
    """The gradient of max_pool with respect to x.  The maxima are found again, so y is not read."""
    if _unfit(x.dtype, ksize, strides, data_format):
        return NotImplemented
    x, y, dy = (_channels_last(b, value, data_format) for value in (x, y, dy))
    both = _window_axes(x.shape, ksize, strides, padding, data_format)
    for value in (y, dy):
        b.require_shape(value, (x.shape[0], both[0].out, both[1].out, x.shape[3]))
    out = _gradient(b, "max_pool_gradient", _MAX_GRADIENT, [x, dy], x.shape, both)
    return _channels_back(b, out, data_format)


def avg_pool_gradient(
    b: Any, input_shape: Sequence[AnySize], dy: Any, ksize: Sequence[int], strides: Sequence[int],
    padding: Padding, data_format: str = "NHWC",
) -> Any:  # fmt: skip
    """The gradient of avg_pool with respect to an input of shape `input_shape`."""
    if _unfit(dy.dtype, ksize, strides, data_format):
        return NotImplemented
    b.require(len(input_shape) == 4)
    order = (0, 1, 2, 3) if data_format == "NHWC" else (0, 2, 3, 1)
    shape = [input_shape[i] for i in order]
    dy = _channels_last(b, dy, data_format)
    both = _window_axes(shape, ksize, strides, padding, data_format)
    b.require_shape(dy, (shape[0], both[0].out, both[1].out, shape[3]))
    out = _gradient(b, "avg_pool_gradient", _AVERAGE_GRADIENT, [dy], shape, both)
    return _channels_back(b, out, data_format)


def _unfit(
    dtype: str, ksize: Sequence[int], strides: Sequence[int], data_format: str = "NHWC"
) -> bool:
    """Other dtypes, and pooling over images or channels, have no kernel."""
    channel = 3 if data_format == "NHWC" else 1
    outer = [v[i] for v in (ksize, strides) if len(v) == 4 for i in (0, channel)]
    return dtype not in BYTES or any(size != 1 for size in outer)


def _channels_last(b: Any, value: np.ndarray | np.generic, data_format: str) -> Any:
    return value if data_format == "NHWC" else b.transpose(value, (0, 2, 3, 1))


def _channels_back(b: Any, value: np.ndarray | np.generic, data_format: str) -> Any:
    return value if data_format == "NHWC" else b.transpose(value, (0, 3, 1, 2))


def _window_axes(
    shape: Sequence[AnySize], ksize: Sequence[int], strides: Sequence[int], padding: Padding,
    data_format: str,
) -> tuple[Axis, Axis]:  # fmt: skip
    return axes(shape[1:3], spatial(ksize, data_format), strides, padding, (1, 1), data_format)


def _pool(
    b: Any, name: str, combine: str, x: Any, ksize: Sequence[int], strides: Sequence[int],
    padding: Padding, data_format: str,
) -> Any:  # fmt: skip
    if _unfit(x.dtype, ksize, strides, data_format):
        return NotImplemented
    x = _channels_last(b, x, data_format)
    n, _, _, c = x.shape
    both = _window_axes(x.shape, ksize, strides, padding, data_format)
    high, wide = both
    text = max_pool_argmax.numbers(x.dtype, max_pool_argmax.WINDOW + combine + _FORWARD)
    kernel = specialise(name, text, AVERAGE=combine is _SUM, **max_pool_argmax.facts(x.dtype, both))
    line = maximum(wide.out * c * high.window * wide.window, 1)
    has_places = combine is _MAXIMUM and high.window * wide.window <= max_pool_argmax.MOST_PLACES
    (out,) = b.call(
        kernel, [x], [((n, high.out, wide.out, c), x.dtype)],
        max_pool_argmax.extents(both, c), n * high.out,
        maximum(_WORK // line, 1), operations=n * high.out * line,
        role=max_pool_argmax.Pools(both) if has_places else None,
    )  # fmt: skip
    return _channels_back(b, out, data_format)


def _gradient(
    b: Any,
    name: str,
    text: str,
    inputs: list[Any],
    shape: Sequence[AnySize],
    both: tuple[Axis, Axis],
) -> Any:
    n, h, w, c = shape
    dtype = inputs[0].dtype
    numbered = max_pool_argmax.numbers(dtype, max_pool_argmax.WINDOW + text)
    kernel = specialise(name, numbered, CHANNELS=_CHANNELS, **max_pool_argmax.facts(dtype, both))
    finds = text is _MAX_GRADIENT
    scratch = 2 * BYTES[dtype] * _CHANNELS if finds else 0
    (out,) = b.call(
        kernel, inputs, [(tuple(shape), dtype)], max_pool_argmax.extents(both, c), n,
        maximum(_WORK // maximum(h * w * c, 1), 1), c, _CHANNELS, scratch,
        operations=n * c * both[0].out * both[1].out * (both[0].window * both[1].window),
        role=max_pool_argmax.Unpools(both) if finds else None,
    )  # fmt: skip
    return out
