# SPDX-License-Identifier: Apache-2.0
"""How alike two images are: peak signal to noise, and structural similarity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..nn.activation import relu
from ..nn.depthwise import depthwise_conv2d
from ..nn.pool_public import avg_pool
from ..nn.softmax import softmax
from ..public import tf
from .convert import convert_image_dtype

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation

# Z. Wang, E. P. Simoncelli, A. C. Bovik: Multiscale structural similarity (2003).
_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _verify_compatible_image_shapes(img1: Any, img2: Any) -> tuple[Tensor, Tensor, list[Operation]]:
    """The shapes of two images, and assertions that the images can be compared."""
    shape1, shape2 = (image.shape.with_rank_at_least(3) for image in (img1, img2))
    shape1[-3:].assert_is_compatible_with(shape2[-3:])
    if shape1.ndims is not None and shape2.ndims is not None:
        leads = (reversed(shape.dims[:-3]) for shape in (shape1, shape2))
        for one, other in zip(*leads):
            if not (one == 1 or other == 1 or one.is_compatible_with(other)):
                raise ValueError(f"Two images are not compatible: {shape1} and {shape2}")
    shape1, shape2 = tf.shape_n([img1, img2])
    checks = [
        tf.Assert(tf.greater_equal(tf.size(shape1), 3), [shape1, shape2], summarize=10),
        tf.Assert(
            tf.reduce_all(tf.equal(shape1[-3:], shape2[-3:])), [shape1, shape2], summarize=10
        ),
    ]
    return shape1, shape2, checks


@export("image.psnr")
def psnr(a: Tensor, b: Tensor, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio of two images, in decibels.

    Args:
        a: a Tensor of numbers, [..., height, width, channels].
        b: another one.
        max_val: the difference between the largest and the smallest value that pixels may have.
        name: the scope of the operations.

    Returns:
        A float32 for each image.

    Raises:
        ValueError: known shapes differ; a run raises InvalidArgumentError.

    Example:
        >>> a, b = tf.zeros([4, 4, 1]), tf.fill([4, 4, 1], 0.1)
        >>> round(tf.Session().run(tf.image.psnr(a, b, max_val=1.0)).item(), 3)
        20.0
    """
    with name_scope(name, "PSNR", [a, b]):
        largest = convert_image_dtype(tf.cast(max_val, a.dtype), dtypes.float32)
        a, b = (convert_image_dtype(image, dtypes.float32) for image in (a, b))
        error = tf.reduce_mean(tf.squared_difference(a, b), [-3, -2, -1])
        ratio = tf.subtract(
            20 * tf.log(largest) / tf.log(10.0),
            np.float32(10 / np.log(10)) * tf.log(error),
            name="psnr",
        )
        _, _, checks = _verify_compatible_image_shapes(a, b)
        with control_dependencies(checks):
            return tf.identity(ratio)


def _similarity(
    x: Any, y: Any, mean: Callable[[Any], Any], max_val: Any, k1: float, k2: float
) -> tuple[Any, Any]:
    """How alike brightness is, and contrast with structure, around each pixel."""
    c1, c2 = (k1 * max_val) ** 2, (k2 * max_val) ** 2
    mean_x, mean_y = mean(x), mean(y)
    product = mean_x * mean_y * 2.0
    squares = tf.square(mean_x) + tf.square(mean_y)
    luminance = (product + c1) / (squares + c1)
    mean_product = mean(x * y) * 2.0
    mean_squares = mean(tf.square(x) + tf.square(y))
    c2 *= 1.0  # (A node: what weights that do not add up to one would be made up for by.)
    return luminance, (mean_product - product + c2) / (mean_squares - squares + c2)


def _gaussian(size: Any, sigma: Any) -> Tensor:
    """A square of shares that fall off from its middle and add up to one."""
    size = convert_to_tensor(size, dtypes.int32)
    sigma = convert_to_tensor(sigma)
    places = tf.cast(tf.range(size), sigma.dtype)
    places -= tf.cast(size - 1, sigma.dtype) / 2.0
    powers = tf.square(places)
    powers *= -0.5 / tf.square(sigma)
    powers = tf.reshape(powers, shape=[1, -1]) + tf.reshape(powers, shape=[-1, 1])
    shares = softmax(tf.reshape(powers, shape=[1, -1]))
    return tf.reshape(shares, shape=[size, size, 1, 1])


def _ssim_per_channel(
    img1: Any, img2: Any, max_val: Any, filter_size: int, filter_sigma: float, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    size = tf.constant(filter_size, dtype=dtypes.int32)
    sigma = tf.constant(filter_sigma, dtype=img1.dtype)
    shape1, shape2 = tf.shape_n([img1, img2])
    checks = [
        tf.Assert(tf.reduce_all(tf.greater_equal(shape[-3:-1], size)), [shape, size], summarize=8)
        for shape in (shape1, shape2)
    ]
    with control_dependencies(checks):
        img1 = tf.identity(img1)
    kernel = tf.tile(_gaussian(size, sigma), multiples=[1, 1, shape1[-1], 1])

    def mean(x: Any) -> Tensor:
        shape = tf.shape(x)
        x = tf.reshape(x, shape=tf.concat([[-1], shape[-3:]], 0))
        y = depthwise_conv2d(x, kernel, strides=[1, 1, 1, 1], padding="VALID")
        return tf.reshape(y, tf.concat([shape[:-3], tf.shape(y)[1:]], 0))

    luminance, contrast = _similarity(img1, img2, mean, max_val, k1, k2)
    axes = tf.constant([-3, -2], dtype=dtypes.int32)
    similarity = tf.reduce_mean(luminance * contrast, axes)
    return similarity, tf.reduce_mean(contrast, axes)


@export("image.ssim")
def ssim(
    img1: Tensor,
    img2: Tensor,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity of two images, at most one.

    Args:
        img1: a Tensor of numbers, [..., height, width, channels].
        img2: another one.
        max_val: the difference between the largest and the smallest value that pixels may have.
        filter_size: how wide the square is within which pixels are compared.
        filter_sigma: how far weights within it reach, in pixels.
        k1: keeps what is dark stable.
        k2: keeps what is even stable.

    Returns:
        A float32 for each image.

    Raises:
        ValueError: known shapes differ; a run raises InvalidArgumentError.

    Example:
        >>> image = tf.fill([12, 12, 1], 0.5)
        >>> tf.Session().run(tf.image.ssim(image, image, max_val=1.0)).item()
        1.0
    """
    _, _, checks = _verify_compatible_image_shapes(img1, img2)
    with control_dependencies(checks):
        img1 = tf.identity(img1)
    max_val = convert_image_dtype(tf.cast(max_val, img1.dtype), dtypes.float32)
    img1, img2 = (convert_image_dtype(image, dtypes.float32) for image in (img1, img2))
    similarity, _ = _ssim_per_channel(img1, img2, max_val, filter_size, filter_sigma, k1, k2)
    return tf.reduce_mean(similarity, [-1])


@export("image.ssim_multiscale")
def ssim_multiscale(
    img1: Tensor,
    img2: Tensor,
    max_val: Any,
    power_factors: Sequence[float] = _WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity of two images on several scales, each half of the one before.

    Args:
        img1: a Tensor of numbers, [..., height, width, channels].
        img2: another one.
        max_val: the difference between the largest and the smallest value that pixels may have.
        power_factors: the weight of each scale, the finest first.
        filter_size: how wide the square is within which pixels are compared.
        filter_sigma: how far weights within it reach, in pixels.
        k1: keeps what is dark stable.
        k2: keeps what is even stable.

    Returns:
        A float32 for each image, in [0, 1].

    Raises:
        ValueError: known shapes differ; a run raises InvalidArgumentError.

    Example:
        >>> image = tf.fill([24, 24, 1], 0.5)
        >>> similarity = tf.image.ssim_multiscale(image, image, 1.0, power_factors=(0.5, 0.5))
        >>> tf.Session().run(similarity).item()
        1.0
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1 = convert_to_tensor(img1, name="img1")
        img2 = convert_to_tensor(img2, name="img2")
        shape1, shape2, checks = _verify_compatible_image_shapes(img1, img2)
        with control_dependencies(checks):
            img1 = tf.identity(img1)
        max_val = convert_image_dtype(tf.cast(max_val, img1.dtype), dtypes.float32)
        images = [convert_image_dtype(image, dtypes.float32) for image in (img1, img2)]
        heads = [shape[:-3] for shape in (shape1, shape2)]
        tails = [shape[-3:] for shape in (shape1, shape2)]
        halves = tf.constant([2, 2, 1], dtype=dtypes.int32)
        contrasts: list[Any] = []
        similarity: Any = None
        for scale in range(len(power_factors)):
            with name_scope(None, f"Scale{scale}", images):
                if scale:
                    images, tails = _halved(images, heads, tails, halves)
                similarity, contrast = _ssim_per_channel(
                    images[0], images[1], max_val, filter_size, filter_sigma, k1, k2
                )
                contrasts.append(relu(contrast))
        # Of the last scale brightness counts, too.
        stacked = tf.stack([*contrasts[:-1], relu(similarity)], axis=-1)
        product = tf.reduce_prod(tf.pow(stacked, power_factors), [-1])
        return tf.reduce_mean(product, [-1])


def _halved(
    images: list[Any], heads: list[Any], tails: list[Any], halves: Tensor
) -> tuple[list[Any], list[Any]]:
    """Images of half the size, and the ends of their shapes; odd sizes get their last row again."""
    flat = [
        tf.reshape(image, tf.concat([[-1], tail], 0))
        for image, tail in zip(images, tails, strict=True)
    ]
    remainder = tails[0] % halves
    is_odd = tf.reduce_any(tf.not_equal(remainder, 0))

    def padded() -> list[Any]:
        padding = tf.pad(tf.expand_dims(remainder, -1), [[1, 0], [1, 0]])
        return [tf.pad(image, padding, mode="SYMMETRIC") for image in flat]

    even = tf.cond(is_odd, padded, lambda: flat)
    window = [1, 2, 2, 1]
    smaller = [avg_pool(image, ksize=window, strides=window, padding="VALID") for image in even]
    tails = [shape[1:] for shape in tf.shape_n(smaller)]
    images = [
        tf.reshape(image, tf.concat([head, tail], 0))
        for image, head, tail in zip(smaller, heads, tails, strict=True)
    ]
    return images, tails
