# SPDX-License-Identifier: Apache-2.0
"""Images warped by a vector for each pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.scope_functions import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

# Flat indices of pixels are int32.
_MOST_PIXELS = np.iinfo(np.int32).max / 8


def _cells(queries: Tensor, size: Any, kind: dtypes.DType) -> tuple[Tensor, Tensor, Tensor]:
    """The pixels before and after places along one axis, and the shares of those after."""
    last = tf.cast(size - 2, queries.dtype)
    first = tf.constant(0.0, dtype=queries.dtype)
    floor = tf.minimum(tf.maximum(first, tf.floor(queries)), last)
    before = tf.cast(floor, dtypes.int32)
    after = before + 1
    share = tf.cast(queries - floor, kind)
    none, whole = tf.constant(0.0, dtype=kind), tf.constant(1.0, dtype=kind)
    share = tf.minimum(tf.maximum(none, share), whole)
    return before, after, tf.expand_dims(share, 2)


def _interpolate_bilinear(
    grid: TensorLike,
    query_points: TensorLike,
    name: str = "interpolate_bilinear",
    indexing: str = "ij",
) -> Tensor:
    """The values of grids [batch, height, width, channels] at points [batch, n, 2].

    Raises:
        ValueError: `indexing` is neither "ij" nor "xy", or the grid has another rank.
    """
    if indexing not in ("ij", "xy"):
        raise ValueError("Indexing mode must be 'ij' or 'xy'")
    with name_scope(name):
        grid, points = convert_to_tensor(grid), convert_to_tensor(query_points)
        if len(grid.shape.as_list()) != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {grid.shape}")
        shape: list[Any] = [tf.shape(grid)[axis] for axis in range(4)]
        batch, height, width, channels = shape
        count, parts = _coordinates(points, height, width)
        order = [0, 1] if indexing == "ij" else [1, 0]
        found = []
        for axis in order:
            with name_scope(f"dim-{axis}"):
                found.append(_cells(parts[axis], shape[axis + 1], grid.dtype))
        (tops, bottoms, down), (lefts, rights, right) = found
        pixels = tf.cast(batch * height * width, dtype=dtypes.float32)
        too_large = (
            "The image size or batch size is sufficiently large that the linearized addresses used "
            "by tf.gather may exceed the int32 limit."
        )
        with control_dependencies([tf.assert_less_equal(pixels, _MOST_PIXELS, message=too_large)]):
            flat = tf.reshape(grid, [batch * height * width, channels])
            firsts = tf.reshape(tf.range(batch) * height * width, [batch, 1])

        def gather(rows: object, columns: object, name: str) -> Tensor:
            with name_scope(f"gather-{name}"):
                values = tf.gather(flat, firsts + rows * width + columns)
                return tf.reshape(values, [batch, count, channels])

        top_left = gather(tops, lefts, "top_left")
        top_right = gather(tops, rights, "top_right")
        bottom_left = gather(bottoms, lefts, "bottom_left")
        bottom_right = gather(bottoms, rights, "bottom_right")
        with name_scope("interpolate"):
            above = right * (top_right - top_left) + top_left
            below = right * (bottom_right - bottom_left) + bottom_left
            return down * (below - above) + above


def _coordinates(points: Tensor, height: Tensor, width: Tensor) -> tuple[Tensor, list[Tensor]]:
    """How many points there are, and their two coordinates, once they and the grid were checked."""
    rank = tf.assert_equal(points.shape.ndims, 3, message="Query points must be 3 dimensional.")
    pairs = tf.assert_equal(tf.shape(points)[2], 2, message="Query points must be size 2 in dim 2.")
    with control_dependencies([rank, pairs]):
        count = tf.shape(points)[1]
    with control_dependencies(
        [
            tf.assert_greater_equal(height, 2, message="Grid height must be at least 2."),
            tf.assert_greater_equal(width, 2, message="Grid width must be at least 2."),
        ]
    ):
        return count, tf.unstack(points, axis=2)


@export("contrib.image.dense_image_warp")
def dense_image_warp(image: Tensor, flow: Tensor, name: str = "dense_image_warp") -> Tensor:
    """Images warped by a vector for each pixel (tf.contrib.image.dense_image_warp).

    The pixel (j, i) of the result is what the image has at (j - flow[j, i, 0], i - flow[j, i, 1]),
    between pixels if need be; beyond its edges the image goes on as there.

    Args:
        image: floats [batch, height, width, channels], at least 2 high and wide.
        flow: floats [batch, height, width, 2].
        name: of the scope.

    Returns:
        Floats of the shape and dtype of the image.

    Example:
        >>> image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
        >>> moved = tf.contrib.image.dense_image_warp(image, tf.ones([1, 2, 2, 2]) * [0.0, 0.5])
        >>> print(tf.Session().run(moved)[0, :, :, 0])
        [[0.  0.5]
         [2.  2.5]]
    """
    with name_scope(name):
        batch, height, width, channels = (tf.shape(image)[axis] for axis in range(4))
        columns, rows = tf.meshgrid(tf.range(width), tf.range(height))
        places = tf.cast(tf.stack([rows, columns], axis=2), flow.dtype)
        points: Any = tf.expand_dims(places, axis=0) - flow
        flat = tf.reshape(points, [batch, height * width, 2])
        found = _interpolate_bilinear(image, flat)
        return tf.reshape(found, [batch, height, width, channels])
