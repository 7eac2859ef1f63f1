# SPDX-License-Identifier: Apache-2.0
"""Pixels of another dtype: integers go up to their largest, floats from 0 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.types.dtypes import DType

FLOATS = (dtypes.float16, dtypes.float32)


@export("image.convert_image_dtype")
def convert_image_dtype(
    image: TensorLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> Tensor:
    """An image in another dtype, its values scaled from one range to the other.

    Args:
        image: a tensor of integers, which go up to the dtype's largest, or of floats in [0, 1).
        dtype: of the result, integers or floating point.
        saturate: whether what lies outside of the result's range is clipped to it.
        name: a name for the last operation.

    Returns:
        A Tensor of the same shape.

    Raises:
        AttributeError: the dtype is neither integer nor floating point.

    Example:
        >>> image = tf.image.convert_image_dtype(np.uint8([0, 255]), tf.float32)
        >>> tf.Session().run(image)
        array([0., 1.], dtype=float32)
    """
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating and not dtype.is_integer:
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return tf.identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as name:
        if image.dtype.is_integer and dtype.is_integer:
            return _between_integers(image, dtype, saturate, name)
        if image.dtype.is_floating and dtype.is_floating:
            return tf.cast(image, dtype, name=name)
        if image.dtype.is_integer:
            return tf.multiply(tf.cast(image, dtype), 1.0 / image.dtype.max, name=name)
        # Half a step more, so that 1 does not come out as one less than the largest.
        scaled = tf.multiply(image, dtype.max + 0.5)
        return (tf.saturate_cast if saturate else tf.cast)(scaled, dtype, name=name)


def _between_integers(image: Tensor, dtype: DType, saturate: bool, name: str) -> Tensor:
    cast = tf.saturate_cast if saturate else tf.cast
    largest, wanted = image.dtype.max + 1, dtype.max + 1
    if largest > wanted:
        return cast(tf.div(image, largest // wanted), dtype, name=name)
    return tf.multiply(cast(image, dtype), wanted // largest, name=name)


def as_floats(image: Tensor) -> Tensor:
    """The image as floats: itself if it is of float16 or float32."""
    return image if image.dtype in FLOATS else convert_image_dtype(image, dtypes.float32)
