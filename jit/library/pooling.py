# SPDX-License-Identifier: Apache-2.0
"""Max and average pooling over height and width, and their gradients; loops run over channels.

The gradient of a maximum goes to the first largest element of its window, as in TensorFlow.
Averages count only elements inside of the input.  NCHW goes through a transpose on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..kernel.sizes import AnySize, maximum
from . import max_pool_argmax, plain_forms
from .geometry import Axis, Padding, axes, spatial
from .vectors import BYTES

if TYPE_CHECKING:
    import numpy as np

_WORK = 1 << 15  # elements read per tile


def max_pool(
    b: Any,
    x: Any,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Padding,
    data_format: str = "NHWC",
) -> Any:
    """The largest element of every window, or NotImplemented."""
    return _pool(b, "max", x, ksize, strides, padding, data_format)


def avg_pool(
    b: Any,
    x: Any,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Padding,
    data_format: str = "NHWC",
) -> Any:
    """The mean of every window, or NotImplemented."""
    return _pool(b, "mean", x, ksize, strides, padding, data_format)


def max_pool_gradient(
    b: Any,
    x: Any,
    y: Any,
    dy: Any,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Padding,
    data_format: str = "NHWC",
) -> Any:
    """The gradient of max_pool with respect to x.  The maxima are found again, so y is not read."""
    if _unfit(x.dtype, ksize, strides, data_format):
        return NotImplemented
    x, y, dy = (_channels_last(b, value, data_format) for value in (x, y, dy))
    both = _window_axes(x.shape, ksize, strides, padding, data_format)
    for value in (y, dy):
        b.require_shape(value, (x.shape[0], both[0].out, both[1].out, x.shape[3]))
    out = _gradient(b, "max", [x, dy], x.shape, both)
    return _channels_back(b, out, data_format)


def avg_pool_gradient(
    b: Any,
    input_shape: Sequence[AnySize],
    dy: Any,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Padding,
    data_format: str = "NHWC",
) -> Any:
    """The gradient of avg_pool with respect to an input of shape `input_shape`."""
    if _unfit(dy.dtype, ksize, strides, data_format):
        return NotImplemented
    b.require(len(input_shape) == 4)
    order = (0, 1, 2, 3) if data_format == "NHWC" else (0, 2, 3, 1)
    shape = [input_shape[i] for i in order]
    dy = _channels_last(b, dy, data_format)
    both = _window_axes(shape, ksize, strides, padding, data_format)
    b.require_shape(dy, (shape[0], both[0].out, both[1].out, shape[3]))
    out = _gradient(b, "mean", [dy], shape, both)
    return _channels_back(b, out, data_format)


def _unfit(
    dtype: str, ksize: Sequence[int], strides: Sequence[int], data_format: str = "NHWC"
) -> bool:
    """Other dtypes, and pooling over images or channels, have no kernel; nor has what is wrong."""
    channel = 3 if data_format == "NHWC" else 1
    if not {len(ksize), len(strides)} <= {2, 4}:
        return True
    outer = [v[i] for v in (ksize, strides) if len(v) == 4 for i in (0, channel)]
    return dtype not in BYTES or any(size != 1 for size in outer)


def _channels_last(b: Any, value: np.ndarray | np.generic, data_format: str) -> Any:
    return value if data_format == "NHWC" else b.transpose(value, (0, 2, 3, 1))


def _channels_back(b: Any, value: np.ndarray | np.generic, data_format: str) -> Any:
    return value if data_format == "NHWC" else b.transpose(value, (0, 3, 1, 2))


def _window_axes(
    shape: Sequence[AnySize],
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Padding,
    data_format: str,
) -> tuple[Axis, Axis]:
    return axes(shape[1:3], spatial(ksize, data_format), strides, padding, (1, 1), data_format)


def _pool(
    b: Any,
    kind: str,
    x: Any,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: Padding,
    data_format: str,
) -> Any:
    if _unfit(x.dtype, ksize, strides, data_format):
        return NotImplemented
    x = _channels_last(b, x, data_format)
    n, _, _, c = x.shape
    both = _window_axes(x.shape, ksize, strides, padding, data_format)
    high, wide = both
    if b.is_plain:
        return _channels_back(b, plain_forms.pool(b, kind, x, both), data_format)
    line = maximum(wide.out * c * high.window * wide.window, 1)
    has_places = kind == "max" and high.window * wide.window <= max_pool_argmax.MOST_PLACES
    (out,) = b.call(
        max_pool_argmax.pool_kernel(kind, x.dtype),
        [x],
        [((n, high.out, wide.out, c), x.dtype)],
        max_pool_argmax.extents(both, c),
        n * high.out,
        maximum(_WORK // line, 1),
        scratch=max_pool_argmax.lists(both),
        operations=n * high.out * line,
        role=max_pool_argmax.MaxPoolRole(both) if has_places else None,
    )
    return _channels_back(b, out, data_format)


def _gradient(
    b: Any, kind: str, inputs: list[Any], shape: Sequence[AnySize], both: tuple[Axis, Axis]
) -> Any:
    if b.is_plain:
        return plain_forms.pool_gradient(b, kind, inputs, both)
    n, h, w, c = shape
    dtype = inputs[0].dtype
    finds = kind == "max"
    # Where maxima are found again, they and their places are in memory.
    found = max_pool_argmax.CHANNELS * (1 + BYTES[dtype]) if finds else 0
    (out,) = b.call(
        max_pool_argmax.gradient_kernel(kind, dtype),
        inputs,
        [(tuple(shape), dtype)],
        max_pool_argmax.extents(both, c),
        n,
        maximum(_WORK // maximum(h * w * c, 1), 1),
        c,
        max_pool_argmax.CHANNELS,
        max_pool_argmax.lists(both) + found,
        operations=n * c * both[0].out * both[1].out * (both[0].window * both[1].window),
        role=max_pool_argmax.MaxPoolGradRole(both) if finds else None,
    )
    return out
