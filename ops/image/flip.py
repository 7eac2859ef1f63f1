# SPDX-License-Identifier: Apache-2.0
"""Images mirrored, turned by quarters and transposed, always or by chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ..public import tf
from .checks import RANKS, checked_image

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def _is_lone(image: Tensor) -> bool:
    """Whether it is one image; no rank counts as one.  ValueError for neither one nor a batch."""
    rank = image.shape.ndims
    if rank not in (None, 3, 4):
        raise ValueError(RANKS)
    return rank != 4


def _with_shape_of(image: Tensor, result: Tensor) -> Tensor:
    result.set_shape([None, None, None] if image.shape.ndims is None else image.shape)
    return result


def _flip(image: TensorLike, axis: int, scope: str) -> Tensor:
    with name_scope(None, scope, [image]):
        image = checked_image(convert_to_tensor(image, name="image"))
        if _is_lone(image):
            return _with_shape_of(image, tf.reverse(image, [axis]))
        return tf.reverse(image, [axis + 1])


@export("image.flip_left_right")
def flip_left_right(image: TensorLike) -> Tensor:
    """An image, or each of a batch, with left and right exchanged.

    Args:
        image: a tensor, [height, width, channels] or [batch, height, width, channels].

    Returns:
        A Tensor of the same dtype and shape.

    Raises:
        ValueError: the image has another rank.

    Example:
        >>> tf.Session().run(tf.image.flip_left_right([[[1], [2]]])).tolist()
        [[[2], [1]]]
    """
    return _flip(image, 1, "flip_left_right")


@export("image.flip_up_down")
def flip_up_down(image: TensorLike) -> Tensor:
    """An image, or each of a batch, upside down; as `tf.image.flip_left_right`."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image: TensorLike, axis: int, seed: int | None, scope_name: str) -> Tensor:
    with name_scope(None, scope_name, [image]) as scope:
        image = checked_image(convert_to_tensor(image, name="image"))
        if _is_lone(image):
            is_flipped = tf.less(tf.random_uniform([], 0, 1.0, seed=seed), 0.5)
            result = tf.cond(
                is_flipped, lambda: tf.reverse(image, [axis]), lambda: image, name=scope
            )
            return _with_shape_of(image, result)
        count = tf.shape(image)[0]
        draws = tf.random_uniform([count], 0, 1.0, seed=seed)
        flips = tf.cast(tf.round(tf.reshape(draws, [count, 1, 1, 1])), image.dtype)
        flipped = tf.reverse(image, [axis + 1])
        return flips * flipped + (1 - flips) * image


@export("image.random_flip_left_right")
def random_flip_left_right(image: TensorLike, seed: int | None = None) -> Tensor:
    """An image, or each of a batch, with left and right exchanged by a chance of one half.

    Args:
        image: a tensor, [height, width, channels] or [batch, height, width, channels].
        seed: an integer; with the graph's seed (tf.set_random_seed) it says which are.

    Returns:
        A Tensor of the same dtype and shape.

    Raises:
        ValueError: the image has another rank.

    Example:
        >>> image = tf.image.random_flip_left_right([[[1], [2]]], seed=1)
        >>> sorted(tf.Session().run(image).ravel().tolist())
        [1, 2]
    """
    return _random_flip(image, 1, seed, "random_flip_left_right")


@export("image.random_flip_up_down")
def random_flip_up_down(image: TensorLike, seed: int | None = None) -> Tensor:
    """An image, or each of a batch, upside down by chance: `tf.image.random_flip_left_right`."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


@export("image.rot90")
def rot90(image: TensorLike, k: TensorLike = 1, name: str | None = None) -> Tensor:
    """An image, or each of a batch, turned counter-clockwise by quarters.

    Args:
        image: a tensor, [height, width, channels] or [batch, height, width, channels].
        k: a number, how many quarters.
        name: the scope of the operations.

    Returns:
        A Tensor of the same dtype.

    Raises:
        ValueError: the image has another rank.

    Example:
        >>> tf.Session().run(tf.image.rot90([[[1], [2]]])).tolist()
        [[[2]], [[1]]]
    """
    with name_scope(name, "rot90", [image, k]) as scope:
        image = checked_image(convert_to_tensor(image, name="image"))
        k = convert_to_tensor(k, dtype=dtypes.int32, name="k")
        k.shape.assert_has_rank(0)
        k = tf.mod(k, 4)
        if _is_lone(image):
            result = _turned(image, k, [0, 1], [1, 0, 2], scope)
            result.set_shape([None, None, image.shape[2]])
            return result
        result = _turned(image, k, [1, 2], [0, 2, 1, 3], scope)
        shape = result.shape
        result.set_shape([shape[0], None, None, shape[3]])
        return result


def _turned(image: Tensor, k: Tensor, axes: list[int], swap: list[int], scope: str) -> Tensor:
    """The image turned by k quarters; axes: of height and width, swap: exchanges them."""
    turns: tuple[Callable[[], Any], ...] = (
        lambda: tf.transpose(tf.reverse(image, [axes[1]]), swap),
        lambda: tf.reverse(image, axes),
        lambda: tf.reverse(tf.transpose(image, swap), [axes[1]]),
    )
    cases = [(tf.equal(k, i), turn) for i, turn in enumerate(turns, 1)]
    return tf.case(cases, default=lambda: image, exclusive=True, name=scope)


@export("image.transpose", "image.transpose_image")
def transpose(image: TensorLike, name: str | None = None) -> Tensor:
    """An image, or each of a batch, with rows and columns exchanged.

    Args:
        image: a tensor, [height, width, channels] or [batch, height, width, channels].
        name: a name for the operation.

    Returns:
        A Tensor of the same dtype.

    Raises:
        ValueError: the image has another rank.

    Example:
        >>> tf.Session().run(tf.image.transpose([[[1], [2]]])).tolist()
        [[[1]], [[2]]]
    """
    with name_scope(name, "transpose", [image]):
        image = checked_image(convert_to_tensor(image, name="image"))
        return tf.transpose(image, [1, 0, 2] if _is_lone(image) else [0, 2, 1, 3], name=name)
