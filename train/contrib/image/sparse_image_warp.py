# SPDX-License-Identifier: Apache-2.0
"""Images warped so that some points come where they are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.scope_functions import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types.shape import dimension_value
from ....ops.public import tf
from ....ops.shape_inference import known_sizes
from .dense_image_warp import dense_image_warp
from .interpolate_spline import interpolate_spline

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


def _get_grid_locations(image_height: int, image_width: int) -> np.ndarray:
    """The (row, column) of each pixel, [height, width, 2]."""
    rows = np.linspace(0, image_height - 1, image_height)
    columns = np.linspace(0, image_width - 1, image_width)
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), -1)


def _expand_to_minibatch(array: np.ndarray, batch_size: Any) -> np.ndarray:
    return np.tile(np.expand_dims(array, 0), [batch_size] + [1] * array.ndim)


def _get_boundary_locations(
    image_height: int, image_width: int, num_points_per_edge: int
) -> np.ndarray:
    """Corners, and so many points between them along each edge, [n, 2]."""
    rows = np.linspace(0, image_height - 1, num_points_per_edge + 2)
    columns = np.linspace(0, image_width - 1, num_points_per_edge + 2)
    ys, xs = np.meshgrid(rows, columns, indexing="ij")
    is_edge = (xs == 0) | (xs == image_width - 1) | (ys == 0) | (ys == image_height - 1)
    return np.stack([ys[is_edge], xs[is_edge]], axis=-1)


def _add_zero_flow_controls_at_boundary(
    control_point_locations: Tensor,
    control_point_flows: Tensor,
    image_height: int,
    image_width: int,
    boundary_points_per_edge: int,
) -> tuple[Tensor, Tensor]:
    """Points and how they move, with points along the edges that stay."""
    batch, kind = dimension_value(control_point_locations.shape[0]), control_point_locations.dtype
    edge = _get_boundary_locations(image_height, image_width, boundary_points_per_edge)
    at = tf.constant(_expand_to_minibatch(edge, batch), dtype=kind)
    flows = np.zeros([edge.shape[0], 2])
    still = tf.constant(_expand_to_minibatch(flows, batch), dtype=kind)
    merged = tf.concat([control_point_locations, at], 1)
    return merged, tf.concat([control_point_flows, still], 1)


@export("contrib.image.sparse_image_warp")
def sparse_image_warp(
    image: TensorLike,
    source_control_point_locations: TensorLike,
    dest_control_point_locations: TensorLike,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Tensor, Tensor]:
    """Images warped so that points come to others (tf.contrib.image.sparse_image_warp).

    A spline through the points says how all others move.

    Args:
        image: floats [batch, height, width, channels], of known shape.
        source_control_point_locations: floats [batch, n, 2], (row, column) in the image.
        dest_control_point_locations: where they come to in the result.
        interpolation_order: of the spline, see `tf.contrib.image.interpolate_spline`.
        regularization_weight: how much smoothness counts.
        num_boundary_points: how many points of each edge stay: 0 none, 1 corners, n corners and
            n - 1 between.
        name: of the scope.

    Returns:
        The warped images, and the vectors [batch, height, width, 2] by which they are warped.
    """
    given = convert_to_tensor(image)
    sources = convert_to_tensor(source_control_point_locations)
    targets: Any = convert_to_tensor(dest_control_point_locations)
    flows = targets - sources
    with name_scope(name):
        batch, height, width, _ = known_sizes(given.shape)
        grid = np.reshape(_get_grid_locations(height, width), [height * width, 2])
        places = tf.constant(_expand_to_minibatch(grid, batch), given.dtype)
        if num_boundary_points > 0:
            targets, flows = _add_zero_flow_controls_at_boundary(
                targets, flows, height, width, num_boundary_points - 1
            )
        flat = interpolate_spline(
            targets, flows, places, interpolation_order, regularization_weight
        )
        dense = tf.reshape(flat, [batch, height, width, 2])
        return dense_image_warp(given, dense), dense
