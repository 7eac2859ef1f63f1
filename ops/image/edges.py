# SPDX-License-Identifier: Apache-2.0
"""How images change from pixel to pixel: differences, Sobel's edges, their total."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.api import export
from ...engine.graph.scope_functions import name_scope
from ...engine.graph.tensor import Tensor
from ..nn.depthwise import depthwise_conv2d
from ..public import tf

# Differences of neighbours, down and to the right, the nearer ones counting twice.
_SOBEL = [
    [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
    [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
]


@export("image.image_gradients")
def image_gradients(image: Tensor) -> tuple[Tensor, Tensor]:
    """How much the next row, and the next column, differs from each; zero at the ends.

    Args:
        image: a Tensor, [batch, height, width, channels].

    Returns:
        (dy, dx), Tensors of the same dtype and shape.

    Raises:
        ValueError: the image has another rank.

    Example:
        >>> dy, dx = tf.image.image_gradients(tf.constant([[[[1], [4]]]]))
        >>> tf.Session().run(dx).ravel().tolist()
        [3, 0]
    """
    if image.shape.ndims != 4:
        raise ValueError(
            "image_gradients expects a 4D tensor [batch_size, h, w, d], not %s.", image.shape
        )
    shape = tf.shape(image)
    count, height, width, depth = tf.unstack(shape)
    down = image[:, 1:, :, :] - image[:, :-1, :, :]
    right = image[:, :, 1:, :] - image[:, :, :-1, :]

    def completed(part: Tensor, sizes: list[Any], axis: int) -> Tensor:
        end = tf.zeros(tf.stack(sizes), image.dtype)
        return tf.reshape(tf.concat([part, end], axis), shape)

    dy = completed(down, [count, 1, width, depth], 1)
    return dy, completed(right, [count, height, 1, depth], 2)


@export("image.sobel_edges")
def sobel_edges(image: Tensor) -> Tensor:
    """How steep images are at each pixel, by Sobel's two filters.

    Args:
        image: a Tensor of floats, [batch, height, width, channels].

    Returns:
        A Tensor, [batch, height, width, channels, 2]: downwards and to the right.

    Example:
        >>> edges = tf.image.sobel_edges(tf.constant(np.float32(np.eye(3)[None, ..., None])))
        >>> tf.Session().run(edges)[0, 0, 1, 0].tolist()
        [0.0, -2.0]
    """
    known = image.shape
    shape = tf.shape(image)
    kernels = np.expand_dims(np.transpose(np.asarray(_SOBEL), (1, 2, 0)), -2)
    filters = tf.constant(kernels, dtype=image.dtype)
    filters = tf.tile(filters, [1, 1, shape[-1], 1], name="sobel_filters")
    padded = tf.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    edges = tf.reshape(edges, shape=tf.concat([shape, [len(_SOBEL)]], 0))
    edges.set_shape(known.concatenate([len(_SOBEL)]))
    return edges


@export("image.total_variation")
def total_variation(images: Tensor, name: str | None = None) -> Tensor:
    """The sum of how much neighbouring pixels differ, of an image or of each of a batch.

    Args:
        images: a Tensor, [height, width, channels] or [batch, height, width, channels].
        name: the scope of the operations.

    Returns:
        A number, or a vector of them.

    Raises:
        ValueError: the images have another rank.

    Example:
        >>> tf.Session().run(tf.image.total_variation(tf.constant([[[1.0], [4.0]]]))).item()
        3.0
    """
    with name_scope(name, "total_variation"):
        rank = images.shape.ndims
        if rank == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            right = images[:, 1:, :] - images[:, :-1, :]
            axes: list[int] | None = None
        elif rank == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            right = images[:, :, 1:, :] - images[:, :, :-1, :]
            axes = [1, 2, 3]
        else:
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        return tf.reduce_sum(tf.abs(down), axis=axes) + tf.reduce_sum(tf.abs(right), axis=axes)
