# SPDX-License-Identifier: Apache-2.0
"""Roots of matrices by iteration, for `ShampooOptimizer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.types import dtypes
from ....ops.linalg.norm import eye
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor


def matrix_square_root(
    mat_a: Any, mat_a_size: Any, iter_count: int = 100, ridge_epsilon: float = 1e-4
) -> Any:
    """The square root of a positive definite matrix, by Denman and Beavers' iteration.

    Args:
        mat_a: the matrix.
        mat_a_size: how many rows it has.
        iter_count: at most so many steps.
        ridge_epsilon: is added to its diagonal.

    Returns:
        The root as it was before it ceased to become better.
    """
    identity = eye(tf.cast(mat_a_size, dtypes.int32))
    damped = mat_a + ridge_epsilon * identity
    norm = tf.sqrt(tf.reduce_sum(damped * damped))

    def goes_on(i: Any, y: Any, old_y: Any, z: Any, old_z: Any, err: Any, old_err: Any) -> Tensor:
        del y, old_y, z, old_z
        return tf.logical_and(i < iter_count, err < old_err)

    def step(i: Any, y: Any, _: Any, z: Any, __: Any, err: Any, ___: Any) -> tuple[Any, ...]:
        factor = 0.5 * (3.0 * identity - tf.matmul(z, y))
        next_y, next_z = tf.matmul(y, factor), tf.matmul(factor, z)
        root = next_y * tf.sqrt(norm)
        residual = damped - tf.matmul(root, root)
        next_err = tf.sqrt(tf.reduce_sum(residual * residual)) / norm
        return i + 1, next_y, y, next_z, z, next_err, err

    start = damped / norm
    first = [0, start, start, identity, identity, norm, norm + 1.0]
    found = tf.while_loop(goes_on, step, first)
    return found[2] * tf.sqrt(norm)


def _power(matrix: Any, exponent: float) -> Any:
    """A whole positive power of a matrix, by squaring."""
    assert exponent == int(exponent) and exponent > 0
    left, power = int(exponent), None
    while left:
        if left % 2:
            power = matrix if power is None else tf.matmul(matrix, power)
        left //= 2
        matrix = tf.matmul(matrix, matrix)
    return power


def matrix_inverse_pth_root(
    mat_g: Any,
    mat_g_size: Any,
    alpha: float,
    iter_count: int = 100,
    epsilon: float = 1e-6,
    ridge_epsilon: float = 1e-6,
) -> Any:
    """mat_g ** alpha for alpha = -1 / p, by Newton's coupled iteration.

    Args:
        mat_g: a positive definite matrix.
        mat_g_size: how many rows it has.
        alpha: the exponent; -1 / alpha is a whole number.
        iter_count: at most so many steps.
        epsilon: how near to the identity the iteration has to come.
        ridge_epsilon: is added to the diagonal.
    """
    identity = eye(tf.cast(mat_g_size, dtypes.int32))
    if mat_g_size == 1:
        return tf.pow(mat_g + ridge_epsilon, alpha)

    def goes_on(i: Any, m: Any, _: Any) -> Tensor:
        return tf.logical_and(i < iter_count, tf.reduce_max(tf.abs(m - identity)) > epsilon)

    def step(i: Any, m: Any, x: Any) -> tuple[Any, ...]:
        factor = (1 - alpha) * identity + alpha * m
        return i + 1, tf.matmul(_power(factor, -1.0 / alpha), m), tf.matmul(x, factor)

    damped = mat_g + ridge_epsilon * identity
    z = (1 - 1 / alpha) / (2 * tf.norm(damped))
    _, _, root = tf.while_loop(goes_on, step, [0, damped * z, identity * tf.pow(z, -alpha)])
    return root
