# SPDX-License-Identifier: Apache-2.0
"""Linear operators do what their dense matrices do, and what follows from them is of their kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu
lin = tf.linalg
TRIANGLE = np.array([[2.0, 0, 0], [1, 3, 0], [-1, 0.5, 1]])
FULL = np.array([[2.0, 1, 0], [1, 3, 0.5], [0, 0.5, 1]])
OPERATORS: dict[str, Callable[[], Any]] = {
    "Diag": lambda: lin.LinearOperatorDiag([[1.0, 2, 3], [4.0, -5, 6]]),
    "LowerTriangular": lambda: lin.LinearOperatorLowerTriangular(TRIANGLE),
    "FullMatrix": lambda: lin.LinearOperatorFullMatrix(FULL),
    "PositiveDefinite": lambda: lin.LinearOperatorFullMatrix(
        FULL, is_self_adjoint=True, is_positive_definite=True
    ),
    "Identity": lambda: lin.LinearOperatorIdentity(3, batch_shape=[2], dtype=tf.float64),
    "ScaledIdentity": lambda: lin.LinearOperatorScaledIdentity(3, np.array([2.0, 3.0])),
    "Circulant": lambda: lin.LinearOperatorCirculant(
        tf.constant([4, 1 + 2j, 1 - 2j], tf.complex64)
    ),
    "Toeplitz": lambda: lin.LinearOperatorToeplitz(np.array([3.0, 1, 2]), np.array([3.0, -1, -2])),
    "Householder": lambda: lin.LinearOperatorHouseholder(np.array([1.0, -2, 2])),
    "LowRankUpdate": lambda: lin.LinearOperatorLowRankUpdate(
        lin.LinearOperatorDiag(np.array([1.0, 2, 3]), is_positive_definite=True),
        u=np.array([[1.0], [2], [-1]]),
        diag_update=np.array([0.5]),
    ),
    "BlockDiag": lambda: lin.LinearOperatorBlockDiag(
        [lin.LinearOperatorFullMatrix(FULL[:2, :2]), lin.LinearOperatorDiag(np.array([3.0]))]
    ),
    "Composition": lambda: lin.LinearOperatorComposition(
        [lin.LinearOperatorFullMatrix(FULL), lin.LinearOperatorLowerTriangular(TRIANGLE)]
    ),
    "Kronecker": lambda: lin.LinearOperatorKronecker(
        [lin.LinearOperatorDiag(np.array([2.0])), lin.LinearOperatorFullMatrix(FULL)]
    ),
    "Adjoint": lambda: lin.LinearOperatorAdjoint(lin.LinearOperatorLowerTriangular(TRIANGLE)),
    "Inversion": lambda: lin.LinearOperatorInversion(lin.LinearOperatorLowerTriangular(TRIANGLE)),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_does_what_its_matrix_does(name: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one = OPERATORS[name]()
        kind = one.dtype.as_numpy_dtype
        x = np.linspace(-1, 2, 6).reshape(3, 2).astype(kind)
        found = session.run(
            {
                "dense": one.to_dense(),
                "product": one.matmul(x),
                "adjoint": one.matmul(x, adjoint=True),
                "vector": one.matvec(x[:, 0]),
                "solution": one.solve(x),
                "determinant": one.determinant(),
                "logarithm": one.log_abs_determinant(),
                "trace": one.trace(),
                "diagonal": one.diag_part(),
                "inverse": one.inverse().to_dense(),
                "shape": one.shape_tensor(),
                "sum": one.add_to_tensor(tf.ones(one.shape, kind)),
            }
        )
    dense = found.pop("dense")
    assert one.shape.as_list() == list(dense.shape) == list(found.pop("shape"))
    expected = {
        "product": dense @ x,
        "adjoint": np.swapaxes(dense, -1, -2) @ x,
        "vector": dense @ x[:, 0],
        "solution": np.linalg.solve(dense, np.broadcast_to(x, (*dense.shape[:-2], 3, 2))),
        "determinant": np.linalg.det(dense),
        "logarithm": np.linalg.slogdet(dense)[1],
        "trace": np.trace(dense, axis1=-2, axis2=-1),
        "diagonal": np.diagonal(dense, axis1=-2, axis2=-1),
        "inverse": np.linalg.inv(dense),
        "sum": dense + 1,
    }
    tolerance = 1e-10 if kind == np.float64 else 1e-5
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=tolerance, atol=tolerance, err_msg=key)


def test_what_two_operators_give_is_of_their_kind() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        diag = lin.LinearOperatorDiag(np.array([1.0, 2, 3]), is_positive_definite=True)
        triangle = lin.LinearOperatorLowerTriangular(TRIANGLE)
        assert isinstance(diag.matmul(diag), lin.LinearOperatorDiag)
        assert isinstance(diag.matmul(triangle), lin.LinearOperatorLowerTriangular)
        assert isinstance(diag.cholesky(), lin.LinearOperatorDiag)
        assert isinstance(triangle.inverse(), lin.LinearOperatorInversion)
        assert triangle.inverse().inverse() is triangle and diag.H is diag
        composed = triangle.matmul(lin.LinearOperatorFullMatrix(FULL))
        assert isinstance(composed, lin.LinearOperatorComposition)
        np.testing.assert_allclose(session.run(composed.to_dense()), TRIANGLE @ FULL)
        zeros = lin.LinearOperatorZeros(3, dtype=tf.float64)
        assert zeros.matmul(diag) is zeros


def test_hints_that_contradict_each_other_are_refused() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="always self adjoint"):
            lin.LinearOperatorDiag([1.0], is_self_adjoint=False)
        with pytest.raises(ValueError, match="positive definite matrix is always non-singular"):
            lin.LinearOperatorFullMatrix([[1.0]], is_non_singular=False, is_positive_definite=True)
        with pytest.raises(ValueError, match="must have at least 2 dimensions"):
            lin.LinearOperatorFullMatrix([1.0])
        with pytest.raises(TypeError, match="to have dtype"):
            lin.LinearOperatorDiag([1.0]).matmul(np.eye(1))
