# SPDX-License-Identifier: Apache-2.0
"""Brightness, contrast, hue, saturation, gamma and JPEG quality of images, given or by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..control import with_dependencies
from ..math.reduce_public import reduce_std
from ..public import raw, tf
from .checks import checked_image, is_symbolic, required
from .convert import as_floats, convert_image_dtype

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


@export("image.adjust_brightness")
def adjust_brightness(image: TensorLike, delta: TensorLike) -> Tensor:
    """Images with a number added to all pixels, as floats in [0, 1].

    Args:
        image: a tensor of numbers; integers go up to the dtype's largest.
        delta: a number, usually in (-1, 1).

    Returns:
        A Tensor of the same dtype and shape.

    Example:
        >>> tf.Session().run(tf.image.adjust_brightness([[[0.25]]], 0.5)).ravel().tolist()
        [0.75]
    """
    with name_scope(None, "adjust_brightness", [image, delta]) as name:
        image = convert_to_tensor(image, name="image")
        floats = as_floats(image)
        adjusted = tf.add(floats, tf.cast(delta, floats.dtype), name=name)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


@export("image.random_brightness")
def random_brightness(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """`tf.image.adjust_brightness` by a random number in [-max_delta, max_delta).

    Args:
        image: a tensor of numbers.
        max_delta: a float, not negative.
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which number.

    Returns:
        A Tensor of the same dtype and shape.

    Raises:
        ValueError: `max_delta` is negative.

    Example:
        >>> image = tf.image.random_brightness([[[0.5]]], 0.25, seed=1)
        >>> 0.25 <= tf.Session().run(image).item() < 0.75
        True
    """
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, tf.random_uniform([], -max_delta, max_delta, seed=seed))


def _require_range(lower: float, upper: float) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


@export("image.random_contrast")
def random_contrast(
    image: TensorLike, lower: float, upper: float, seed: int | None = None
) -> Tensor:
    """`tf.image.adjust_contrast` by a random factor in [lower, upper).

    Args:
        image: a tensor of numbers, of three dimensions or more.
        lower: the least factor, not negative.
        upper: a larger number.
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which factor.

    Returns:
        A Tensor of the same dtype and shape.

    Raises:
        ValueError: the factors are not in order, or negative.
    """
    _require_range(lower, upper)
    return adjust_contrast(image, tf.random_uniform([], lower, upper, seed=seed))


@export("image.adjust_contrast")
def adjust_contrast(images: TensorLike, contrast_factor: TensorLike) -> Tensor:
    """Images whose channels differ by a factor more from their means over height and width.

    Args:
        images: a tensor of numbers, [..., height, width, channels].
        contrast_factor: a float.

    Returns:
        A Tensor of the same dtype and shape.

    Example:
        >>> tf.Session().run(tf.image.adjust_contrast([[[0.0], [1.0]]], 0.5)).ravel().tolist()
        [0.25, 0.75]
    """
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as name:
        images = convert_to_tensor(images, name="images")
        floats = as_floats(images)
        adjusted = raw.AdjustContrastv2(floats, contrast_factor=contrast_factor, name=name)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


@export("image.adjust_gamma")
def adjust_gamma(image: TensorLike, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """gain * image ** gamma, of pixels as floats in [0, 1].

    Args:
        image: a tensor of numbers.
        gamma: a number, not negative; less than one makes images lighter.
        gain: a number.

    Returns:
        A Tensor of the same dtype and shape.

    Raises:
        ValueError: `gamma` is negative; of a tensor a run raises InvalidArgumentError.

    Example:
        >>> tf.Session().run(tf.image.adjust_gamma([[[0.25]]], gamma=0.5)).item()
        0.5
    """
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        floats = as_floats(image)
        checks = required(gamma >= 0, ValueError, "Gamma should be a non-negative real number.")
        if checks:
            gamma = with_dependencies(checks, gamma)
        return convert_image_dtype(gain * floats**gamma, image.dtype, saturate=True)


@export("image.random_hue")
def random_hue(image: TensorLike, max_delta: float, seed: int | None = None) -> Tensor:
    """`tf.image.adjust_hue` by a random share in [-max_delta, max_delta).

    Args:
        image: a tensor of numbers, [..., height, width, 3].
        max_delta: a float in [0, 0.5].
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which share.

    Returns:
        A Tensor of the same dtype and shape.

    Raises:
        ValueError: `max_delta` is out of range.
    """
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, tf.random_uniform([], -max_delta, max_delta, seed=seed))


@export("image.adjust_hue")
def adjust_hue(image: TensorLike, delta: TensorLike, name: str | None = None) -> Tensor:
    """Coloured images whose hue is moved by a share of the circle of colours.

    Args:
        image: a tensor of numbers, [..., height, width, 3].
        delta: a float, usually in [-1, 1].
        name: the scope of the operations.

    Returns:
        A Tensor of the same dtype and shape.

    Example:
        >>> image = tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5)
        >>> tf.Session().run(image).ravel().tolist()
        [0.0, 1.0, 1.0]
    """
    with name_scope(name, "adjust_hue", [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(raw.AdjustHue(as_floats(image), delta), image.dtype)


@export("image.random_saturation")
def random_saturation(
    image: TensorLike, lower: float, upper: float, seed: int | None = None
) -> Tensor:
    """`tf.image.adjust_saturation` by a random factor in [lower, upper).

    Args:
        image: a tensor of numbers, [..., height, width, 3].
        lower: the least factor, not negative.
        upper: a larger number.
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which factor.

    Returns:
        A Tensor of the same dtype and shape.

    Raises:
        ValueError: the factors are not in order, or negative.
    """
    _require_range(lower, upper)
    return adjust_saturation(image, tf.random_uniform([], lower, upper, seed=seed))


@export("image.adjust_saturation")
def adjust_saturation(
    image: TensorLike, saturation_factor: TensorLike, name: str | None = None
) -> Tensor:
    """Coloured images whose saturation is multiplied, and stays in [0, 1].

    Args:
        image: a tensor of numbers, [..., height, width, 3].
        saturation_factor: a float.
        name: the scope of the operations.

    Returns:
        A Tensor of the same dtype and shape.

    Example:
        >>> image = tf.image.adjust_saturation([[[1.0, 0.5, 0.0]]], 0.0)
        >>> tf.Session().run(image).ravel().tolist()
        [1.0, 1.0, 1.0]
    """
    with name_scope(name, "adjust_saturation", [image]):
        image = convert_to_tensor(image, name="image")
        adjusted = raw.AdjustSaturation(as_floats(image), saturation_factor)
        return convert_image_dtype(adjusted, image.dtype)


@export("image.random_jpeg_quality")
def random_jpeg_quality(
    image: TensorLike, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """`tf.image.adjust_jpeg_quality` by a random number in [min, max).

    Args:
        image: a tensor of numbers, [height, width, 1 or 3].
        min_jpeg_quality: an integer in [0, 100].
        max_jpeg_quality: a larger one.
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which number.

    Returns:
        A Tensor of the same dtype.

    Raises:
        ValueError: the numbers are out of range or not in order.
    """
    if not (0 <= min_jpeg_quality <= 100 and 0 <= max_jpeg_quality <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = tf.random_uniform(
        [], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32
    )
    return adjust_jpeg_quality(image, quality)


@export("image.adjust_jpeg_quality")
def adjust_jpeg_quality(
    image: TensorLike, jpeg_quality: TensorLike, name: str | None = None
) -> Tensor:
    """An image as a JPEG file of a quality would show it.

    Args:
        image: a tensor of numbers, [height, width, 1 or 3].
        jpeg_quality: an integer in [0, 100].
        name: the scope of the operations.

    Returns:
        A Tensor of the same dtype.
    """
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        pixels = convert_image_dtype(image, dtypes.uint8)
        if not is_symbolic(jpeg_quality):
            jpeg_quality = convert_to_tensor(jpeg_quality, dtype=dtypes.int32)
        contents = raw.EncodeJpegVariableQuality(pixels, jpeg_quality)
        return convert_image_dtype(raw.DecodeJpeg(contents), image.dtype)


@export("image.per_image_standardization")
def per_image_standardization(image: TensorLike) -> Tensor:
    """An image, or each of a batch, less its mean and divided by its standard deviation.

    Args:
        image: a tensor of numbers, [..., height, width, channels].

    Returns:
        A Tensor of the same dtype and shape.  An image of one colour is zero.

    Raises:
        ValueError: there are fewer than three dimensions, or an empty one.

    Example:
        >>> image = tf.image.per_image_standardization([[[1.0], [3.0]]])
        >>> tf.Session().run(image).ravel().tolist()
        [-1.0, 1.0]
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = checked_image(convert_to_tensor(image, name="image"))
        wanted = image.dtype
        image = as_floats(image)
        count = tf.reduce_prod(tf.shape(image)[-3:])
        axes: Any = [-1, -2, -3]
        mean = tf.reduce_mean(image, axis=axes, keepdims=True)
        deviation = reduce_std(image, axis=axes, keepdims=True)
        least = tf.rsqrt(tf.cast(count, image.dtype))
        deviation = tf.maximum(deviation, least)
        standard = tf.div(image - mean, deviation, name=scope)
        return convert_image_dtype(standard, wanted, saturate=True)
