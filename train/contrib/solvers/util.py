# SPDX-License-Identifier: Apache-2.0
"""Matrices as what they do to vectors, and lengths of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....ops.nn.loss import l2_loss
from ....ops.public import tf


class LinearOperator(NamedTuple):
    """A matrix by its products with columns."""

    shape: Any
    dtype: Any
    apply: Callable[[Tensor], Tensor]
    apply_adjoint: Callable[[Tensor], Tensor]


def _shape(matrix: Tensor) -> Any:
    return matrix.shape.as_list() if matrix.shape.is_fully_defined() else tf.shape(matrix)


@export("contrib.solvers.util.create_operator")
def create_operator(matrix: Tensor) -> LinearOperator:
    """The operator of a matrix.

    Args:
        matrix: a Tensor of rank 2.

    Returns:
        A LinearOperator with `shape`, `dtype`, `apply` and `apply_adjoint`.
    """
    return LinearOperator(
        shape=_shape(matrix),
        dtype=matrix.dtype,
        apply=lambda v: tf.matmul(matrix, v, adjoint_a=False),
        apply_adjoint=lambda v: tf.matmul(matrix, v, adjoint_a=True),
    )


@export("contrib.solvers.util.identity_operator")
def identity_operator(matrix: Tensor) -> LinearOperator:
    """The operator that changes nothing, of the shape and dtype of a matrix.

    Args:
        matrix: a Tensor of rank 2.

    Returns:
        A LinearOperator.
    """
    return LinearOperator(
        shape=_shape(matrix), dtype=matrix.dtype, apply=lambda v: v, apply_adjoint=lambda v: v
    )


@export("contrib.solvers.util.dot")
def dot(x: Tensor, y: Tensor) -> Tensor:
    """The sum of the products of conj(x) and y."""
    return tf.reduce_sum(tf.conj(x) * y)


@export("contrib.solvers.util.l2norm_squared")
def l2norm_squared(v: Tensor) -> Tensor:
    """The sum of squares."""
    return tf.constant(2, dtype=v.dtype.base_dtype) * l2_loss(v)


@export("contrib.solvers.util.l2norm")
def l2norm(v: Tensor) -> Tensor:
    """The root of the sum of squares."""
    return tf.sqrt(l2norm_squared(v))


@export("contrib.solvers.util.l2normalize")
def l2normalize(v: Tensor) -> tuple[Tensor, Tensor]:
    """A vector of length one, and how long it was."""
    norm = l2norm(v)
    return v / norm, norm
