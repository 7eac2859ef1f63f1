# SPDX-License-Identifier: Apache-2.0
"""Polyharmonic splines through points: a sum of functions of distances, and a linear one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.scope_functions import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types.shape import dimension_value
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

# What squared distances are at least, for logarithms and the slopes of roots.
EPSILON = 0.0000000001


def _distances_between(x: Any, y: Any) -> Any:
    """Squared distances [batch, n, m] of the rows of x and y."""
    x_norms = tf.reduce_sum(tf.square(x), 2)
    y_norms = tf.reduce_sum(tf.square(y), 2)
    rows, columns = tf.expand_dims(x_norms, 2), tf.expand_dims(y_norms, 1)
    return rows - 2 * tf.matmul(x, y, adjoint_b=True) + columns


def _distances_among(x: Any) -> Any:
    """Squared distances [batch, n, n] of the rows of x."""
    products = tf.matmul(x, x, adjoint_b=True)
    norms = tf.expand_dims(tf.matrix_diag_part(products), 2)
    return norms - 2 * products + tf.transpose(norms, [0, 2, 1])


def _known_size(x: Tensor, problem: str) -> Any:
    size = x.shape[-1]
    if dimension_value(size) is None:
        raise ValueError(problem)
    return size


def _solve(points: Any, values: Any, order: int, smoothness: float) -> tuple[Any, Any]:
    """The weights of the distances from points, and those of the linear function."""
    batch, count, _ = tf.unstack(tf.shape(points), num=3)
    size = _known_size(
        points, "The dimensionality of the input points (d) must be statically-inferrable."
    )
    depth = _known_size(
        values, "The dimensionality of the output values (k) must be statically-inferrable."
    )
    with name_scope("construct_linear_system"):
        among = _phi(_distances_among(points), order)
        if smoothness > 0:
            among += smoothness * tf.expand_dims(tf.eye(count, dtype=points.dtype), 0)
        linear = tf.concat([points, tf.ones_like(points[..., :1], dtype=points.dtype)], 2)
        left = tf.concat([among, tf.transpose(linear, [0, 2, 1])], 1)
        columns = linear.shape[2]
        corner = tf.zeros([batch, columns, columns], points.dtype)
        lhs = tf.concat([left, tf.concat([linear, corner], 1)], 2)
        rhs = tf.concat([values, tf.zeros([batch, size + 1, depth], points.dtype)], 1)
    with name_scope("solve_linear_system"):
        weights = tf.matrix_solve(lhs, rhs)
        return weights[:, :count, :], weights[:, count:, :]


def _predict(queries: Any, points: Any, weights: Any, linear: Any, order: int) -> Any:
    """What the spline is at other points."""
    near = tf.matmul(_phi(_distances_between(queries, points), order), weights)
    ones = tf.ones_like(queries[..., :1], points.dtype)
    return near + tf.matmul(tf.concat([queries, ones], 2), linear)


def _phi(r: Any, order: int) -> Any:
    """The function of a squared distance."""
    with name_scope("phi"):
        if order == 1:
            return tf.sqrt(tf.maximum(r, EPSILON))
        if order == 2:
            return 0.5 * r * tf.log(tf.maximum(r, EPSILON))
        if order == 4:
            return 0.5 * tf.square(r) * tf.log(tf.maximum(r, EPSILON))
        r = tf.maximum(r, EPSILON)
        if order % 2 == 0:
            return 0.5 * tf.pow(r, 0.5 * order) * tf.log(r)
        return tf.pow(r, 0.5 * order)


@export("contrib.image.interpolate_spline")
def interpolate_spline(
    train_points: TensorLike,
    train_values: TensorLike,
    query_points: TensorLike,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Tensor:
    """Values between points by a polyharmonic spline (tf.contrib.image.interpolate_spline).

    Args:
        train_points: floats [batch, n, d], where the values are known; d is known.
        train_values: floats [batch, n, k]; k is known.
        query_points: floats [batch, m, d].
        order: of the spline: 1 linear in distances, 2 thin plates, 3 cubic.
        regularization_weight: how much smoothness counts against hitting the values; 0: not.
        name: of the scope.

    Returns:
        Floats [batch, m, k].

    Raises:
        ValueError: d or k is not known.

    Example:
        >>> known, values = [[[0.0], [1.0], [2.0]]], [[[0.0], [2.0], [4.0]]]
        >>> found = tf.contrib.image.interpolate_spline(known, values, [[[0.5]]], 1)
        >>> print(tf.Session().run(found).round(3))
        [[[1.]]]
    """
    with name_scope(name):
        points = convert_to_tensor(train_points)
        values = convert_to_tensor(train_values)
        queries = convert_to_tensor(query_points)
        with name_scope("solve"):
            weights, linear = _solve(points, values, order, regularization_weight)
        with name_scope("predict"):
            return _predict(queries, points, weights, linear, order)
