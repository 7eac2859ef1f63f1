# SPDX-License-Identifier: Apache-2.0
"""Functions of matrices take linear operators in their place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

MATRIX = np.float64([[4.0, 1.0], [1.0, 3.0]])
TENSOR = np.float64([[1.0, 2.0], [3.0, 5.0]])


def operator() -> Any:
    return tf.linalg.LinearOperatorFullMatrix(
        MATRIX, is_self_adjoint=True, is_positive_definite=True
    )


def run(make: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        found = make(operator())
        dense = found.to_dense() if isinstance(found, tf.linalg.LinearOperator) else found
        return session.run(dense)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda a: tf.matmul(a, TENSOR), MATRIX @ TENSOR),
        (lambda a: tf.matmul(TENSOR, a), TENSOR @ MATRIX),
        (lambda a: tf.matmul(TENSOR, a, adjoint_a=True), TENSOR.T @ MATRIX),
        (lambda a: tf.matmul(a, b=TENSOR, adjoint_b=True), MATRIX @ TENSOR.T),
        (lambda a: tf.matmul(a, a), MATRIX @ MATRIX),
        (tf.linalg.adjoint, MATRIX),
        (tf.cholesky, np.linalg.cholesky(MATRIX)),
        (tf.linalg.diag_part, [4.0, 3.0]),
        (tf.linalg.det, 11.0),
        (tf.linalg.inv, np.linalg.inv(MATRIX)),
        (lambda a: tf.matrix_inverse(input=a, adjoint=True), np.linalg.inv(MATRIX)),
        (tf.linalg.logdet, np.log(11.0)),
        (lambda a: tf.linalg.solve(a, TENSOR), np.linalg.solve(MATRIX, TENSOR)),
        (lambda a: tf.trace(x=a, name="sum"), 7.0),
    ],
)
def test_values(make: Any, expected: Any) -> None:
    np.testing.assert_allclose(run(make), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda a: tf.matmul(a, TENSOR, transpose_a=True), "Transposing not supported"),
        (lambda a: tf.matmul(a, TENSOR, a_is_sparse=True), "Sparse methods not supported"),
        (lambda a: tf.linalg.solve(TENSOR, a), "`rhs` as a LinearOperator is not supported"),
        (
            lambda a: tf.linalg.logdet(tf.linalg.LinearOperatorFullMatrix(MATRIX)),
            "self-adjoint positive definite",
        ),
    ],
)
def test_refusals(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        run(make)


def test_others_still_refuse() -> None:
    with tf.Graph().as_default(), pytest.raises((TypeError, ValueError)):
        tf.svd(operator())
