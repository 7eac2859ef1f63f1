# SPDX-License-Identifier: Apache-2.0
"""The backend's convolutions and pooling."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ....ops.public import tf
from ...layers.utils import convert_data_format
from .elements import temporal_padding
from .networks import batch_dot
from .published import nn
from .settings import image_data_format

# Convolutions: channels are put last where they are first, as TensorFlow does on a processor.


def _last(x: Any, data_format: str | None) -> tuple[Any, bool]:
    """The tensor with channels last, and whether they were first."""
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    if data_format == "channels_last":
        return x, False
    rank = x.shape.ndims
    return tf.transpose(x, (0, *range(2, rank), 1)), True


def _first_again(x: Any, was_first: bool) -> Any:
    rank = x.shape.ndims
    return tf.transpose(x, (0, rank - 1, *range(1, rank - 1))) if was_first else x


def _padding(padding: str) -> str:
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding.upper()


def _convolution(
    x: Any, kernel: Any, strides: Any, padding: str, data_format: str | None, dilation_rate: Any
) -> Any:
    x, was_first = _last(x, data_format)
    made = nn.convolution(
        input=x,
        filter=kernel,
        dilation_rate=dilation_rate,
        strides=strides,
        padding=_padding(padding),
        data_format=convert_data_format("channels_last", x.shape.ndims),
    )
    return _first_again(made, was_first)


def conv1d(
    x: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: int = 1,
) -> Any:
    """The convolution of sequences; `padding` may be "causal", too."""
    if padding == "causal":
        x = temporal_padding(x, (dilation_rate * (kernel.shape.as_list()[0] - 1), 0))
        padding = "valid"
    steps = strides if isinstance(strides, (list, tuple)) else (strides,)
    return _convolution(x, kernel, steps, padding, data_format, (dilation_rate,))


def conv2d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """The convolution of pictures; ValueError for an unknown format or padding."""
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate)


def conv3d(
    x: Any,
    kernel: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1, 1),
) -> Any:
    """The convolution of volumes; ValueError for an unknown format or padding."""
    return _convolution(x, kernel, strides, padding, data_format, dilation_rate)


def _transposed(
    op: str, x: Any, kernel: Any, output_shape: Any, strides: Any, padding: str, data_format: Any
) -> Any:
    x, was_first = _last(x, data_format)
    if was_first:
        output_shape = (output_shape[0], *output_shape[2:], output_shape[1])
    if output_shape[0] is None:
        output_shape = (tf.shape(x)[0], *output_shape[1:])
    if isinstance(output_shape, (tuple, list)):
        output_shape = tf.stack(list(output_shape))
    made = getattr(nn, op)(x, kernel, output_shape, (1, *strides, 1), padding=_padding(padding))
    return _first_again(made, was_first)


def conv2d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """The transposed convolution of pictures, to a shape; ValueError for an unknown format."""
    if tuple(dilation_rate) == (1, 1):
        return _transposed(
            "conv2d_transpose", x, kernel, output_shape, strides, padding, data_format
        )
    x, was_first = _last(x, data_format)
    if was_first:
        output_shape = (output_shape[0], *output_shape[2:], output_shape[1])
    if output_shape[0] is None:
        output_shape = (tf.shape(x)[0], *output_shape[1:])
    made = nn.atrous_conv2d_transpose(
        x, kernel, tf.stack(list(output_shape)), rate=dilation_rate[0], padding=_padding(padding)
    )
    return _first_again(made, was_first)


def conv3d_transpose(
    x: Any,
    kernel: Any,
    output_shape: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
) -> Any:
    """The transposed convolution of volumes, to a shape; ValueError for an unknown format."""
    return _transposed("conv3d_transpose", x, kernel, output_shape, strides, padding, data_format)


def separable_conv2d(
    x: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of each channel and a product of the channels behind it."""
    x, was_first = _last(x, data_format)
    made = nn.separable_conv2d(
        x,
        depthwise_kernel,
        pointwise_kernel,
        strides=(1, *strides, 1),
        padding=_padding(padding),
        rate=dilation_rate,
    )
    return _first_again(made, was_first)


def depthwise_conv2d(
    x: Any,
    depthwise_kernel: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = (1, 1),
) -> Any:
    """A convolution of each channel by itself."""
    x, was_first = _last(x, data_format)
    made = nn.depthwise_conv2d(
        x,
        depthwise_kernel,
        strides=(1, *strides, 1),
        padding=_padding(padding),
        rate=dilation_rate,
    )
    return _first_again(made, was_first)


def _pooled(
    x: Any, rank: int, size: Any, strides: Any, padding: str, data_format: Any, pool_mode: str
) -> Any:
    if pool_mode not in ("max", "avg"):
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    x, was_first = _last(x, data_format)
    name = {"max": "max_pool", "avg": "avg_pool"}[pool_mode] + ("3d" if rank == 3 else "")
    made = getattr(nn, name)(x, (1, *size, 1), (1, *strides, 1), padding=_padding(padding))
    return _first_again(made, was_first)


def pool2d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Any:
    """The maximum or the mean ("avg") of windows of pictures."""
    return _pooled(x, 2, pool_size, strides, padding, data_format, pool_mode)


def pool3d(
    x: Any,
    pool_size: Any,
    strides: Any = (1, 1, 1),
    padding: str = "valid",
    data_format: str | None = None,
    pool_mode: str = "max",
) -> Any:
    """The maximum or the mean ("avg") of windows of volumes."""
    return _pooled(x, 3, pool_size, strides, padding, data_format, pool_mode)


def local_conv(
    inputs: Any,
    kernel: Any,
    kernel_size: Sequence[int],
    strides: Sequence[int],
    output_shape: Sequence[int],
    data_format: str | None = None,
) -> Any:
    """A convolution whose weights are others at each place.

    Args:
        inputs: with any number of axes of space.
        kernel: [places, size of a window, channels].
        kernel_size, strides, output_shape: of the axes of space.
    """
    data_format = data_format or image_data_format()
    first = data_format == "channels_first"
    depth, channels = kernel.shape.as_list()[1:]
    windows = []
    for place in itertools.product(*map(range, output_shape)):
        cut = [
            slice(at * step, at * step + size)
            for at, step, size in zip(place, strides, kernel_size)
        ]
        whole = slice(None)
        index = (whole, whole, *cut) if first else (whole, *cut, whole)
        windows.append(tf.reshape(inputs[index], (1, -1, depth)))
    found = batch_dot(tf.concat(windows, axis=0), kernel)
    found = tf.reshape(found, (*output_shape, -1, channels))
    axes = list(range(len(output_shape)))
    batch = len(axes)
    order = [batch, batch + 1, *axes] if first else [batch, *axes, batch + 1]
    return tf.transpose(found, order)


def local_conv1d(
    inputs: Any, kernel: Any, kernel_size: Any, strides: Any, data_format: str | None = None
) -> Any:
    """`local_conv` of sequences."""
    places = (kernel.shape.as_list()[0],)
    return local_conv(inputs, kernel, kernel_size, strides, places, data_format)


def local_conv2d(
    inputs: Any,
    kernel: Any,
    kernel_size: Any,
    strides: Any,
    output_shape: Any,
    data_format: str | None = None,
) -> Any:
    """`local_conv` of pictures."""
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)


def bias_add(x: Any, bias: Any, data_format: str | None = None) -> Any:
    """A bias of the channels, or of every place, added.

    Raises:
        ValueError: the format is unknown, or the bias has neither one axis nor one less than x.
    """
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    rank, sizes = x.shape.ndims, bias.shape.as_list()
    if len(sizes) not in (1, rank - 1):
        raise ValueError(
            f"Unexpected bias dimensions {len(sizes)}, expect to be 1 or {rank} dimensions"
        )
    if rank == 2 or (rank == 4 and len(sizes) == 1 and data_format == "channels_last"):
        return nn.bias_add(x, bias)
    if data_format == "channels_last":
        ones = [1] * (rank - len(sizes))
        return x + tf.reshape(bias, (*ones, *sizes))
    return x + tf.reshape(bias, (1, sizes[-1], *(sizes[:-1] or [1] * (rank - 2))))
