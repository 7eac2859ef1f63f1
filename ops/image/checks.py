# SPDX-License-Identifier: Apache-2.0
"""What the functions of `tf.image` ask of an image's rank and sizes: now, or in a run."""

from __future__ import annotations

from typing import Any

from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ..control import with_dependencies
from ..public import tf

RANKS = "'image' must have either 3 or 4 dimensions."


def is_symbolic(value: object) -> bool:
    """Whether a size is a tensor or a variable, of which only a run knows the value."""
    return isinstance(value, (Tensor, tf.Variable))


def required(condition: Any, error: type[Exception], message: str) -> list[Operation]:
    """Raises `error` if a known condition does not hold; of a tensor the operation that asserts."""
    if is_symbolic(condition):
        return [tf.Assert(condition, [message])]
    if not condition:
        raise error(message)
    return []


def sizes_of(image: Any, rank: int) -> list[Any]:
    """The sizes of an image: integers as far as they are known, tensors for the others."""
    if image.shape.is_fully_defined():
        return image.shape.as_list()
    known = image.shape.with_rank(rank).as_list()
    unstacked = tf.unstack(tf.shape(image), rank)
    return [there if size is None else size for size, there in zip(known, unstacked, strict=True)]


def image_checks(image: Tensor) -> list[Operation]:
    """Assertions that an image has three dimensions or more, none of which is empty."""
    try:
        if image.shape.ndims is None:
            shape = image.shape.with_rank(3)
        else:
            shape = image.shape.with_rank_at_least(3)
    except ValueError:
        raise ValueError("'image' must be at least three-dimensional.") from None
    if any(size == 0 for size in shape.as_list()):
        raise ValueError(f"all dims of 'image.shape' must be > 0: {shape}")
    if shape.is_fully_defined():
        return []
    return [
        tf.assert_positive(tf.shape(image), ["all dims of 'image.shape' must be > 0."]),
        tf.assert_greater_equal(
            tf.rank(image), 3, message="'image' must be at least three-dimensional."
        ),
    ]


def checked_image(image: Tensor) -> Tensor:
    """The image, behind the assertions of `image_checks`."""
    return with_dependencies(image_checks(image), image)


def _grayscale_checks(image: Tensor) -> list[Operation]:
    try:
        if image.shape.ndims is None:
            shape = image.shape.with_rank(2)
        else:
            shape = image.shape.with_rank_at_least(2)
    except ValueError:
        raise ValueError("A grayscale image must be at least two-dimensional.") from None
    wrong_depth = "Last dimension of a grayscale image should be size 1."
    if shape.is_fully_defined():
        if shape.as_list()[-1] != 1:
            raise ValueError(wrong_depth)
        return []
    return [
        tf.assert_equal(tf.shape(image)[-1], 1, message=wrong_depth),
        tf.assert_greater_equal(
            tf.rank(image), 3, message="A grayscale image must be at least two-dimensional."
        ),
    ]


def checked_grayscale(image: Tensor) -> Tensor:
    """The image, behind assertions that it has one channel."""
    return with_dependencies(_grayscale_checks(image), image)


def as_batch(image: Tensor) -> tuple[Tensor, bool]:
    """An image, or images, as four dimensions; whether it has been a batch before."""
    rank = image.shape.ndims
    if rank == 4:
        return image, True
    if rank not in (None, 3):
        raise ValueError(RANKS)
    image = tf.expand_dims(image, 0)
    if rank is None:
        image.set_shape([None] * 4)
    return image, False
