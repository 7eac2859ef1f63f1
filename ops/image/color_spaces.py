# SPDX-License-Identifier: Apache-2.0
"""Grey images, and colours as brightness and two differences: YIQ and YUV."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import tf
from .checks import checked_grayscale
from .convert import convert_image_dtype

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

# How bright the eye finds red, green and blue (ITU-R BT.601).
_BRIGHTNESS = [0.2989, 0.5870, 0.1140]
_RGB_TO_YIQ = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_YIQ_TO_RGB: list[list[float]] = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_RGB_TO_YUV = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_YUV_TO_RGB: list[list[float]] = [
    [1, 1, 1],
    [0, -0.394642334, 2.03206185],
    [1.13988303, -0.58062185, 0],
]


@export("image.rgb_to_grayscale")
def rgb_to_grayscale(images: TensorLike, name: str | None = None) -> Tensor:
    """Images of one channel: how bright red, green and blue are together.

    Args:
        images: a tensor of numbers, [..., 3].
        name: a name for the last operation.

    Returns:
        A Tensor of the same dtype, [..., 1].

    Example:
        >>> tf.Session().run(tf.image.rgb_to_grayscale([[[0.0, 0.5, 0.0]]])).tolist()
        [[[0.29350000619888306]]]
    """
    with name_scope(name, "rgb_to_grayscale", [images]) as name:
        images = convert_to_tensor(images, name="images")
        floats = convert_image_dtype(images, dtypes.float32)
        grey = tf.expand_dims(tf.tensordot(floats, _BRIGHTNESS, [-1, -1]), -1)
        return convert_image_dtype(grey, images.dtype, name=name)


@export("image.grayscale_to_rgb")
def grayscale_to_rgb(images: TensorLike, name: str | None = None) -> Tensor:
    """Images of three equal channels.

    Args:
        images: a tensor, [..., 1].
        name: a name for the last operation.

    Returns:
        A Tensor of the same dtype, [..., 3].

    Raises:
        ValueError: the last dimension is known not to be one.

    Example:
        >>> tf.Session().run(tf.image.grayscale_to_rgb([[[5]]])).tolist()
        [[[5, 5, 5]]]
    """
    with name_scope(name, "grayscale_to_rgb", [images]) as name:
        images = convert_to_tensor(images, name="images")
        images = checked_grayscale(images)
        ones = tf.ones(tf.expand_dims(tf.rank(images) - 1, 0), dtype=dtypes.int32)
        multiples = tf.concat([ones, tf.expand_dims(3, 0)], 0)
        result = tf.tile(images, multiples, name=name)
        result.set_shape(images.shape[:-1].concatenate([3]))
        return result


def _combined(images: TensorLike, shares: Sequence[Sequence[float]]) -> Tensor:
    """Each channel a sum of shares of the three channels of images."""
    images = convert_to_tensor(images, name="images")
    kernel = convert_to_tensor(shares, dtype=images.dtype, name="kernel")
    rank: Any = images.shape.ndims
    return tf.tensordot(images, kernel, axes=[[rank - 1], [0]])


@export("image.rgb_to_yiq")
def rgb_to_yiq(images: TensorLike) -> Tensor:
    """Red, green and blue as brightness, in phase and in quadrature.

    Args:
        images: a tensor of floats in [0, 1], [..., 3], of known rank.

    Returns:
        A Tensor of the same dtype and shape.

    Example:
        >>> tf.Session().run(tf.image.rgb_to_yiq([[1.0, 1.0, 1.0]])).round(4).tolist()
        [[1.0, 0.0, 0.0]]
    """
    return _combined(images, _RGB_TO_YIQ)


@export("image.yiq_to_rgb")
def yiq_to_rgb(images: TensorLike) -> Tensor:
    """The inverse of `tf.image.rgb_to_yiq`."""
    return _combined(images, _YIQ_TO_RGB)


@export("image.rgb_to_yuv")
def rgb_to_yuv(images: TensorLike) -> Tensor:
    """Red, green and blue as brightness and how far blue and red are from it.

    Args:
        images: a tensor of floats in [0, 1], [..., 3], of known rank.

    Returns:
        A Tensor of the same dtype and shape.

    Example:
        >>> tf.Session().run(tf.image.rgb_to_yuv([[1.0, 1.0, 1.0]])).round(4).tolist()
        [[1.0, 0.0, 0.0]]
    """
    return _combined(images, _RGB_TO_YUV)


@export("image.yuv_to_rgb")
def yuv_to_rgb(images: TensorLike) -> Tensor:
    """The inverse of `tf.image.rgb_to_yuv`."""
    return _combined(images, _YUV_TO_RGB)
