# SPDX-License-Identifier: Apache-2.0
"""Images cut and surrounded by zeros: to a box, to the middle, to a size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..control import with_dependencies
from ..public import tf
from .checks import as_batch, checked_image, image_checks, is_symbolic, required, sizes_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def set_known_shape(image: Tensor, sizes: Sequence[Any]) -> None:
    """Notes the sizes that are known."""
    image.set_shape([None if is_symbolic(size) else size for size in sizes])


def either(function: Callable[..., Tensor], plain: Callable[..., Any], *values: Any) -> Any:
    """`plain` of numbers, or the function that makes a node if a tensor is among them."""
    return (function if any(map(is_symbolic, values)) else plain)(*values)


@export("image.central_crop")
def central_crop(image: TensorLike, central_fraction: float) -> Tensor:
    """The middle of an image, or of each of a batch.

    Args:
        image: a tensor, [height, width, channels] or [batch, height, width, channels].
        central_fraction: which share of height and width remains, in (0, 1].

    Returns:
        A Tensor of the same dtype.

    Raises:
        ValueError: the fraction is out of range, or the image has another rank.

    Example:
        >>> image = np.arange(16).reshape(4, 4, 1)
        >>> tf.Session().run(tf.image.central_crop(image, 0.5))[..., 0].tolist()
        [[5, 6], [9, 10]]
    """
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if central_fraction <= 0.0 or central_fraction > 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        checked_image(image)  # As TensorFlow: the checks are in the graph, and nothing waits.
        rank = image.shape.ndims
        if rank not in (3, 4):
            raise ValueError(
                f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {rank}."
            )
        sides = [_side(image, axis) for axis in (rank - 3, rank - 2)]
        starts = [_start_of_middle(size, central_fraction) for size in sides]
        kept = [size - start * 2 for size, start in zip(sides, starts, strict=True)]
        lead = [0] * (rank - 3)
        begin = tf.stack([*lead, *starts, 0])
        size = tf.stack([*(-1 for _ in lead), *kept, -1])
        result = tf.slice(image, begin, size)
        set_known_shape(result, [*image.shape.as_list()[: rank - 3], *kept, image.shape[-1]])
        return result


def _side(image: Tensor, axis: int) -> Any:
    size = image.shape.as_list()[axis]
    return tf.shape(image)[axis] if size is None else size


def _start_of_middle(size: Any, fraction: float) -> Any:
    if is_symbolic(size):
        exact = tf.cast(size, dtypes.float64)
        return tf.cast((exact - exact * fraction) / 2, dtypes.int32)
    return int((float(size) - float(size) * fraction) / 2)


@export("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: TensorLike,
    offset_height: Any,
    offset_width: Any,
    target_height: Any,
    target_width: Any,
) -> Tensor:
    """An image, or each of a batch, surrounded by zeros.

    Args:
        image: a tensor, [height, width, channels] or [batch, height, width, channels].
        offset_height: how many rows of zeros stand above.
        offset_width: how many columns of zeros stand on the left.
        target_height: the height of the result.
        target_width: the width of the result.

    Returns:
        A Tensor of the same dtype.

    Raises:
        ValueError: the image has another rank or does not fit, as far as sizes are known;
            a run raises InvalidArgumentError for the others.

    Example:
        >>> image = tf.image.pad_to_bounding_box([[[5]]], 0, 1, 1, 3)
        >>> tf.Session().run(image)[..., 0].tolist()
        [[0, 5, 0]]
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = image_checks(image)
        batch, height, width, depth = sizes_of(image, rank=4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        checks += required(offset_height >= 0, ValueError, "offset_height must be >= 0")
        checks += required(offset_width >= 0, ValueError, "offset_width must be >= 0")
        checks += required(right >= 0, ValueError, "width must be <= target - offset")
        checks += required(below >= 0, ValueError, "height must be <= target - offset")
        image = with_dependencies(checks, image)
        around = tf.stack([0, 0, offset_height, below, offset_width, right, 0, 0])
        padded = tf.pad(image, tf.reshape(around, [4, 2]))
        set_known_shape(padded, [batch, target_height, target_width, depth])
        return padded if is_batch else tf.squeeze(padded, axis=[0])


@export("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: TensorLike,
    offset_height: Any,
    offset_width: Any,
    target_height: Any,
    target_width: Any,
) -> Tensor:
    """A box of an image, or of each of a batch.

    Args:
        image: a tensor, [height, width, channels] or [batch, height, width, channels].
        offset_height: how many rows are above the box.
        offset_width: how many columns are on the left of it.
        target_height: the height of the box.
        target_width: the width of the box.

    Returns:
        A Tensor of the same dtype.

    Raises:
        ValueError: the image has another rank or the box does not lie in it, as far as sizes are
            known; a run raises InvalidArgumentError for the others.

    Example:
        >>> image = np.arange(9).reshape(3, 3, 1)
        >>> tf.Session().run(tf.image.crop_to_bounding_box(image, 1, 0, 2, 1)).ravel().tolist()
        [3, 6]
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = image_checks(image)
        batch, height, width, depth = sizes_of(image, rank=4)
        checks += required(offset_width >= 0, ValueError, "offset_width must be >= 0.")
        checks += required(offset_height >= 0, ValueError, "offset_height must be >= 0.")
        checks += required(target_width > 0, ValueError, "target_width must be > 0.")
        checks += required(target_height > 0, ValueError, "target_height must be > 0.")
        checks += required(
            width >= (target_width + offset_width), ValueError, "width must be >= target + offset."
        )
        checks += required(
            height >= (target_height + offset_height),
            ValueError,
            "height must be >= target + offset.",
        )
        image = with_dependencies(checks, image)
        begin = tf.stack([0, offset_height, offset_width, 0])
        cropped = tf.slice(image, begin, tf.stack([-1, target_height, target_width, -1]))
        set_known_shape(cropped, [batch, target_height, target_width, depth])
        return cropped if is_batch else tf.squeeze(cropped, axis=[0])


@export("image.resize_image_with_crop_or_pad", "image.resize_with_crop_or_pad")
def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """An image, or each of a batch, cut around its middle or surrounded by zeros to a size.

    Args:
        image: a tensor, [height, width, channels] or [batch, height, width, channels].
        target_height: the height of the result.
        target_width: the width of the result.

    Returns:
        A Tensor of the same dtype.

    Raises:
        ValueError: the image has another rank, or a size is not above zero.

    Example:
        >>> image = tf.image.resize_image_with_crop_or_pad([[[1], [2], [3]]], 2, 1)
        >>> tf.Session().run(image).ravel().tolist()
        [2, 0]
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = as_batch(convert_to_tensor(image, name="image"))
        checks = image_checks(image)
        checks += required(target_width > 0, ValueError, "target_width must be > 0.")
        checks += required(target_height > 0, ValueError, "target_height must be > 0.")
        image = with_dependencies(checks, image)
        if is_symbolic(target_height):
            target_height = with_dependencies(checks, target_height)
        if is_symbolic(target_width):
            target_width = with_dependencies(checks, target_width)
        _, height, width, _ = sizes_of(image, rank=4)
        cut_width, pad_width = _cut_and_pad(target_width - width)
        cut_height, pad_height = _cut_and_pad(target_height - height)
        cropped = crop_to_bounding_box(
            image,
            cut_height,
            cut_width,
            either(tf.minimum, min, target_height, height),
            either(tf.minimum, min, target_width, width),
        )
        resized = pad_to_bounding_box(cropped, pad_height, pad_width, target_height, target_width)
        if resized.shape.ndims is None:
            raise ValueError("resized contains no shape.")
        _, tall, wide, _ = sizes_of(resized, rank=4)
        checks = [
            *required(_equal(tall, target_height), ValueError, "resized height is not correct."),
            *required(_equal(wide, target_width), ValueError, "resized width is not correct."),
        ]
        resized = with_dependencies(checks, resized)
        return resized if is_batch else tf.squeeze(resized, axis=[0])


def _equal(x: Any, y: Any) -> Any:
    return either(tf.equal, lambda a, b: a == b, x, y)


def _cut_and_pad(difference: Any) -> tuple[Any, Any]:
    """How much is cut off, and how much is added, before the image."""
    cut = either(tf.maximum, max, -difference // 2, 0)
    return cut, either(tf.maximum, max, difference // 2, 0)
