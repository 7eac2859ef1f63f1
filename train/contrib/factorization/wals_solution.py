# SPDX-License-Identifier: Apache-2.0
"""The factors of rows, or of columns, that are best when the others stay; and the loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.graph.tensor import SparseTensor
from ....ops.checks.asserts import assert_less_equal
from ....ops.linalg import factorization  # noqa: F401  defines the ops
from ....ops.nn.embedding import embedding_lookup
from ....ops.public import raw, tf
from .wals_variables import scatter_update

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor


class Side(NamedTuple):
    """What is solved for; "rows" below are those of A, or its columns."""

    name: str  # of the operation that stores the solution
    factors: list[Any]  # of the rows
    right: Any  # the factors of the columns
    row_weights: Any
    col_weights: Any
    gramian: Any  # of the columns
    total_rows: int
    total_cols: int
    sharding: Callable[[Any], tuple[Any, Any]]


class _Known(NamedTuple):
    """Known elements, whose rows and columns are numbered anew without gaps."""

    elements: SparseTensor
    rows: Tensor  # int64: which rows of A they are
    cols: Tensor  # and which columns
    size: Tensor  # int64: how many rows


def _known(given: SparseTensor, transposed: bool) -> _Known:
    row_ids, col_ids = tf.split(value=given.indices, num_or_size_splits=2, axis=1)
    first, first_places = tf.unique(row_ids[:, 0])
    second, second_places = tf.unique(col_ids[:, 0])
    col_ids = tf.expand_dims(tf.cast(second_places, tf.int64), 1)
    row_ids = tf.expand_dims(tf.cast(first_places, tf.int64), 1)
    rows, cols = (second, first) if transposed else (first, second)
    col_shape = [tf.cast(tf.shape(cols)[0], tf.int64)]
    count = tf.cast(tf.shape(rows)[0], tf.int64)
    indices = tf.concat([row_ids, col_ids], 1)
    parts = [col_shape, [count]] if transposed else [[count], col_shape]
    shape = tf.concat(parts, 0)
    elements = SparseTensor(indices=indices, values=given.values, dense_shape=shape)
    return _Known(elements, rows, cols, count)


def _row_weights(side: Side, known: _Known, given: Any) -> Tensor:
    if given is None:
        return embedding_lookup(side.row_weights, known.rows, partition_strategy="div")
    count = tf.shape(known.rows)[0]
    with tf.control_dependencies([assert_less_equal(tf.rank(given), 1)]):
        return tf.cond(
            tf.equal(tf.rank(given), 0),
            lambda: tf.ones([count]) * given,
            lambda: tf.cast(given, tf.float32),
        )


def solve(
    side: Side,
    sp_input: SparseTensor,
    transposed: bool,
    row_weights: Any,
    unobserved: float,
    regularization: float | None,
    regularization_matrix: Tensor | None,
) -> tuple[Tensor, Operation, Tensor, Tensor, Tensor]:
    """The solution for the rows of an input.

    Args:
        side: what is solved for.
        sp_input: all known elements of these rows.
        transposed: whether they are columns of the input.
        row_weights: a weight, or one for each row; those of the model if None.
        unobserved: how much elements count that are not known.
        regularization: what squares of factors cost, or None.
        regularization_matrix: the same as a matrix.

    Returns:
        The new factors, the operation that stores them, the loss, what squares cost, and the sum of
        all weights.
    """
    known = _known(sp_input, transposed)
    right = embedding_lookup(side.right, known.cols, partition_strategy="div")
    left_side: Any = unobserved * side.gramian
    if regularization_matrix is not None:
        left_side += regularization_matrix
    row_slice = col_slice = None
    if side.row_weights is None:
        right_side = unobserved * tf.sparse_tensor_dense_matmul(
            known.elements, right, adjoint_a=transposed
        )
        solution = tf.transpose(tf.matrix_solve(left_side, tf.transpose(right_side)))
    else:
        row_slice = _row_weights(side, known, row_weights)
        col_slice = embedding_lookup(side.col_weights, known.cols, partition_strategy="div")
        partial, right_side = raw.WALSComputePartialLhsAndRhs(
            *(right, col_slice, unobserved, row_slice),
            *(known.elements.indices, known.elements.values, [], known.size, transposed),
            name="wals_compute_partial_lhs_rhs",
        )
        left_side = tf.expand_dims(left_side, 0) + partial
        solution = tf.squeeze(tf.matrix_solve(left_side, tf.expand_dims(right_side, -1)), [2])
    update = scatter_update(side.factors, known.rows, solution, side.sharding, name=side.name)
    elements = tf.sparse_transpose(known.elements) if transposed else known.elements
    weights = row_slice, col_slice
    costs = _costs(side, known, elements, (solution, right), weights, unobserved, regularization)
    return (solution, update, *costs)


def _costs(
    side: Side,
    known: _Known,
    elements: SparseTensor,
    factors: tuple[Tensor, Tensor],
    weights: tuple[Any, Any],
    unobserved: float,
    regularization: float | None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss, what squares of factors cost, and the sum of weights; the rows stand for all."""
    left, right = factors
    values = raw.MaskedMatmul(left, right, elements.indices, transpose_a=False, transpose_b=True)
    near: Any = SparseTensor(elements.indices, values, elements.dense_shape)
    near_squares: Any = tf.square(near)
    squares: Any = tf.square(tf.sparse_add(elements, near * (-1)))
    rows, cols = (
        tf.constant(0.0) if one is None else tf.expand_dims(one, axis)
        for one, axis in zip(weights, (1, 0), strict=True)
    )
    products = tf.matmul(left, left, transpose_a=True)
    scale = side.total_rows / tf.cast(known.size, tf.float32)
    # The squares of all elements, as if none were known, by products of narrow matrices.
    all_squares = tf.trace(tf.matmul(products, side.gramian))
    unknown = tf.sparse_reduce_sum(squares) - tf.sparse_reduce_sum(near_squares) + all_squares
    loss = (unobserved * unknown + tf.sparse_reduce_sum(rows * (squares * cols))) * scale
    if regularization is None:
        costs = tf.constant(0.0)
    else:
        costs = regularization * (tf.trace(products) * scale + tf.trace(side.gramian))
    total = unobserved * tf.cast(side.total_rows * side.total_cols, tf.float32)
    if weights[0] is not None:
        ones: Any = SparseTensor(
            indices=elements.indices,
            values=tf.ones(tf.shape(elements.values)),
            dense_shape=elements.dense_shape,
        )
        weighted: Any = rows * (ones * cols)
        total += tf.sparse_reduce_sum(weighted) * scale
    return loss, costs, total
