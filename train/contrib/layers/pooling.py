# SPDX-License-Identifier: Apache-2.0
"""Pooling over windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.nn import atrous
from ....ops.public import tf
from ...layers import pooling
from ..framework.arg_scope import add_arg_scope
from . import utils

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from .annotations import Collections, Sizes


def channels_of(data_format: str | None, *allowed: str) -> str:
    """Where channels lie, as layers of `tf.layers` say it; ValueError for other formats."""
    if allowed and data_format not in allowed:
        first, second = allowed
        raise ValueError(f"data_format has to be either {first} or {second}.")
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


def _pooled(
    kind: Any,
    name: str,
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes,
    padding: str,
    channels: str,
    outputs_collections: Collections | None,
    scope: str | None,
) -> Any:
    with tf.name_scope(scope, name, [inputs]) as opened:
        layer = kind(
            pool_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=channels,
            _scope=opened,
        )
        outputs = layer.apply(tf.convert_to_tensor(inputs))
        return utils.collect_named_outputs(outputs_collections, opened, outputs)


@export("contrib.layers.avg_pool2d")
@add_arg_scope
def avg_pool2d(
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> Any:
    """The means of windows of pictures.

    Args:
        inputs: [batch, height, width, channels], or as `data_format` says.
        kernel_size: the window's height and width, or one number.
        stride: how far windows are apart, likewise.
        padding: "VALID" or "SAME".
        data_format: "NHWC" or "NCHW".
        outputs_collections: names of collections that get the result.
        scope: the name scope.

    Returns:
        A tensor.

    Raises:
        ValueError: the format is another.
    """
    channels = channels_of(data_format, "NCHW", "NHWC")
    return _pooled(
        *(pooling.AveragePooling2D, "AvgPool2D", inputs, kernel_size, stride, padding, channels),
        *(outputs_collections, scope),
    )


@export("contrib.layers.avg_pool3d")
@add_arg_scope
def avg_pool3d(
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> Any:
    """The means of windows of volumes.

    Args: as `avg_pool2d`, with a depth; `data_format` is "NDHWC" or "NCDHW".

    Raises:
        ValueError: the format is another.
    """
    channels = channels_of(data_format, "NCDHW", "NDHWC")
    return _pooled(
        *(pooling.AveragePooling3D, "AvgPool3D", inputs, kernel_size, stride, padding, channels),
        *(outputs_collections, scope),
    )


@export("contrib.layers.max_pool2d")
@add_arg_scope
def max_pool2d(
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> Any:
    """The maxima of windows of pictures.

    Args: as `avg_pool2d`.

    Raises:
        ValueError: the format is another.

    Example:
        >>> print(tf.contrib.layers.max_pool2d(tf.zeros([1, 8, 8, 3]), [2, 2]).shape)
        (1, 4, 4, 3)
    """
    channels = channels_of(data_format, "NCHW", "NHWC")
    return _pooled(
        *(pooling.MaxPooling2D, "MaxPool2D", inputs, kernel_size, stride, padding, channels),
        *(outputs_collections, scope),
    )


@export("contrib.layers.max_pool3d")
@add_arg_scope
def max_pool3d(
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> Any:
    """The maxima of windows of volumes.

    Args: as `avg_pool3d`.

    Raises:
        ValueError: the format is another.
    """
    channels = channels_of(data_format, "NCDHW", "NDHWC")
    return _pooled(
        *(pooling.MaxPooling3D, "MaxPool3D", inputs, kernel_size, stride, padding, channels),
        *(outputs_collections, scope),
    )


@add_arg_scope
def pool(
    inputs: TensorLike,
    kernel_size: Sizes,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: Sizes = 1,
    stride: Sizes = 1,
    outputs_collections: Collections | None = None,
    scope: str | None = None,
) -> Any:
    """`tf.nn.pool`, in collections.

    Args:
        inputs: a tensor of known rank, at least 3.
        kernel_size, dilation_rate, stride: numbers for each axis of the window, or one for all.
        pooling_type: "AVG" or "MAX".
        padding: "VALID" or "SAME".
        data_format: where the channels are; None is the last axis.
        outputs_collections: names of collections that get the result.
        scope: the name scope.

    Raises:
        ValueError: the rank is unknown or too small.
    """
    with tf.name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as opened:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        outputs = atrous.pool(
            input=inputs,
            window_shape=utils.n_positive_integers(rank - 2, kernel_size),
            pooling_type=pooling_type,
            padding=padding,
            data_format=data_format,
            dilation_rate=utils.n_positive_integers(rank - 2, dilation_rate),
            strides=utils.n_positive_integers(rank - 2, stride),
            name=opened,
        )
        return utils.collect_named_outputs(outputs_collections, opened, outputs)
