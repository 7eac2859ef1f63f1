# SPDX-License-Identifier: Apache-2.0
"""tf.image.resize_images and resize_image_with_pad, of version 1 and of version 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.constants import constant_value_as_shape
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..control import with_dependencies
from ..public import raw, tf
from .bounds import either, pad_to_bounding_box
from .checks import RANKS, as_batch, image_checks, required, sizes_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

Resizer = Callable[[Tensor, Any], Tensor]


@export("image.ResizeMethod")
class ResizeMethodV1:
    """The methods of `tf.image.resize_images`."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


class ResizeMethod:
    """The methods of the second version of `tf.image.resize`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_SPANS = (
    ResizeMethod.LANCZOS3,
    ResizeMethod.LANCZOS5,
    ResizeMethod.GAUSSIAN,
    ResizeMethod.MITCHELLCUBIC,
)


def _wanted_size(size: TensorLike) -> Tensor:
    try:
        size = convert_to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if not size.shape.is_compatible_with([2]):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return size


def _fitting_size(images: Tensor, height: int | None, width: int | None) -> Tensor:
    """The largest size within a given one whose sides have the ratio of the images'."""
    _, present_height, present_width, _ = sizes_of(images, rank=4)
    presents = (present_height, present_width)
    scales = [
        tf.cast(wanted, dtypes.float32) / tf.cast(present, dtypes.float32)
        for wanted, present in zip((height, width), presents, strict=True)
    ]
    scale = tf.minimum(*scales)
    scaled = [
        tf.cast(tf.round(scale * tf.cast(present, dtypes.float32)), dtypes.int32)
        for present in presents
    ]
    return convert_to_tensor(scaled, dtypes.int32, name="size")


def _resize(
    images: TensorLike,
    resizer: Resizer,
    size: TensorLike,
    keeps_ratio: bool,
    name: str | None,
    skips_same: bool,
) -> Tensor:
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        if images.shape.ndims is None:
            raise ValueError("'images' contains no shape.")
        if images.shape.ndims not in (3, 4):
            raise ValueError(RANKS.replace("image", "images"))
        images, is_batch = as_batch(images)
        present = images.shape.as_list()[1:3]
        size = _wanted_size(size)
        wanted = constant_value_as_shape(size).as_list()
        if keeps_ratio:
            size = _fitting_size(images, *wanted)
            wanted = constant_value_as_shape(size).as_list()
        if not (skips_same and None not in present and present == wanted):
            images = resizer(images, size)
            images.set_shape([None, *wanted, None])
        return images if is_batch else tf.squeeze(images, axis=[0])


@export("image.resize_images", "image.resize")
def resize_images(
    images: TensorLike,
    size: TensorLike,
    method: Any = ResizeMethodV1.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images of another size.

    Args:
        images: a tensor, [height, width, channels] or [batch, height, width, channels].
        size: two integers, the new height and width.
        method: of `tf.image.ResizeMethod`: bilinear, nearest neighbour, bicubic or area.
        align_corners: whether the centres of the corners' pixels stay where they are.
        preserve_aspect_ratio: whether the result is as large as fits within `size` without
            changing the ratio of its sides.
        name: the scope of the operations.

    Returns:
        A Tensor of float32, or of the images' dtype: if the method is nearest neighbour, or the
        images have this size already.

    Raises:
        ValueError: the rank of the images is neither 3 nor 4, the size is not two integers, or
            there is no such method.

    Example:
        >>> image = tf.image.resize_images([[[1.0], [3.0]]], [1, 4])
        >>> tf.Session().run(image).ravel().tolist()
        [1.0, 2.0, 3.0, 3.0]
    """

    def resizer(batch: Tensor, new_size: Tensor) -> Tensor:
        for number, word, op in (
            (ResizeMethodV1.BILINEAR, ResizeMethod.BILINEAR, "ResizeBilinear"),
            (ResizeMethodV1.NEAREST_NEIGHBOR, ResizeMethod.NEAREST_NEIGHBOR, _NEAREST),
            (ResizeMethodV1.BICUBIC, ResizeMethod.BICUBIC, "ResizeBicubic"),
            (ResizeMethodV1.AREA, ResizeMethod.AREA, "ResizeArea"),
        ):
            if method in (number, word):
                return getattr(raw, op)(batch, new_size, align_corners=align_corners)
        raise ValueError("Resize method is not implemented.")

    return _resize(images, resizer, size, preserve_aspect_ratio, name, skips_same=True)


_NEAREST = "ResizeNearestNeighbor"


def resize_images_v2(
    images: TensorLike,
    size: TensorLike,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images of another size, their pixels being squares around half numbers.

    Args:
        images: a tensor, [height, width, channels] or [batch, height, width, channels].
        size: two integers, the new height and width.
        method: of `ResizeMethod`.
        preserve_aspect_ratio: whether the ratio of the images' sides is kept, within `size`.
        antialias: whether what becomes smaller is smoothed first.
        name: the scope of the operations.

    Returns:
        A Tensor of float32, or of the images' dtype if the method is "nearest".
    """

    def spans(batch: Tensor, new_size: Tensor, kernel: str) -> Tensor:
        wanted = tf.cast(new_size, dtype=dtypes.float32)
        scale = wanted / tf.cast(tf.shape(batch)[1:3], dtype=dtypes.float32)
        return raw.ScaleAndTranslate(
            batch, new_size, scale, tf.zeros([2]), kernel_type=kernel, antialias=antialias
        )

    def resizer(batch: Tensor, new_size: Tensor) -> Tensor:
        if method in _SPANS:
            return spans(batch, new_size, method)
        if method == ResizeMethod.BILINEAR:
            if antialias:
                return spans(batch, new_size, "triangle")
            return raw.ResizeBilinear(batch, new_size, half_pixel_centers=True)
        if method == ResizeMethod.NEAREST_NEIGHBOR:
            return raw.ResizeNearestNeighbor(batch, new_size, half_pixel_centers=True)
        if method == ResizeMethod.BICUBIC:
            if antialias:
                return spans(batch, new_size, "keyscubic")
            return raw.ResizeBicubic(batch, new_size, half_pixel_centers=True)
        if method == ResizeMethod.AREA:
            return raw.ResizeArea(batch, new_size)
        raise ValueError("Resize method is not implemented.")

    return _resize(images, resizer, size, preserve_aspect_ratio, name, skips_same=False)


def _resize_with_pad(image: Any, target_height: Any, target_width: Any, resizer: Resizer) -> Tensor:
    with name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = image_checks(image)
        checks += required(target_width > 0, ValueError, "target_width must be > 0.")
        checks += required(target_height > 0, ValueError, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        _, height, width, _ = sizes_of(image, rank=4)
        sizes, margins = _fitted(height, width, target_height, target_width)
        resized = resizer(image, sizes)
        padded = pad_to_bounding_box(resized, margins[0], margins[1], target_height, target_width)
        if padded.shape.ndims is None:
            raise ValueError("padded contains no shape.")
        sizes_of(padded, rank=4)
        return padded if is_batch else tf.squeeze(padded, axis=[0])


def _fitted(
    height: Any, width: Any, target_height: Any, target_width: Any
) -> tuple[list[Any], list[Any]]:
    """The size to which an image is resized, and the rows above and columns before it."""
    tall, wide, target_tall, target_wide = (
        tf.cast(size, dtype=dtypes.float64) for size in (height, width, target_height, target_width)
    )
    ratio = either(tf.maximum, max, wide / target_wide, tall / target_tall)
    exact = [tall / ratio, wide / ratio]
    sizes = [tf.cast(tf.floor(side), dtype=dtypes.int32) for side in exact]
    margins = [
        (target - side) / 2 for target, side in zip((target_tall, target_wide), exact, strict=True)
    ]
    floors = [tf.floor(margin) for margin in margins]
    return sizes, [
        either(tf.maximum, max, 0, tf.cast(floor, dtype=dtypes.int32)) for floor in floors
    ]


@export("image.resize_image_with_pad")
def resize_image_with_pad(
    image: TensorLike,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethodV1.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """An image, or each of a batch, resized to fit within a size, and surrounded by zeros.

    Args:
        image: a tensor, [height, width, channels] or [batch, height, width, channels].
        target_height: the height of the result.
        target_width: the width of the result.
        method: of `tf.image.ResizeMethod`.
        align_corners: whether the centres of the corners' pixels stay where they are.

    Returns:
        A Tensor of the dtype that `tf.image.resize_images` gives.

    Raises:
        ValueError: the image has another rank, or a size is not above zero.

    Example:
        >>> image = tf.image.resize_image_with_pad([[[1.0], [3.0]]], 3, 2)
        >>> tf.Session().run(image)[..., 0].tolist()
        [[0.0, 0.0], [1.0, 3.0], [0.0, 0.0]]
    """

    def resizer(batch: Tensor, size: Tensor) -> Tensor:
        return resize_images(batch, size, method, align_corners=align_corners)

    return _resize_with_pad(image, target_height, target_width, resizer)


def resize_image_with_pad_v2(
    image: TensorLike,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """`tf.image.resize_image_with_pad` by the methods of `resize_images_v2`."""

    def resizer(batch: Tensor, size: Tensor) -> Tensor:
        return resize_images_v2(batch, size, method, antialias=antialias)

    return _resize_with_pad(image, target_height, target_width, resizer)


# The names that TensorFlow's own modules call them by.
resize_image_with_pad_v1 = resize_image_with_pad
