# SPDX-License-Identifier: Apache-2.0
"""Linear algebra against NumPy, with gradients against finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.checks import gradient_checker_v2 as checker

pytestmark = pytest.mark.programs

RANDOM = np.random.RandomState(3)
SQUARE = RANDOM.uniform(-1, 1, (2, 3, 3)) + 2 * np.eye(3)
POSITIVE = np.matmul(SQUARE, SQUARE.swapaxes(-1, -2))
TALL = RANDOM.uniform(-1, 1, (4, 3))
RIGHT = RANDOM.uniform(-1, 1, (2, 3, 1))


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[tf.Session]:
    monkeypatch.setenv("NUMBAFLOW_JIT", "never")
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def close(tensor: Any, expected: np.ndarray) -> None:
    np.testing.assert_allclose(tensor.eval(), expected, rtol=1e-9, atol=1e-9)


def test_systems_agree_with_numpy() -> None:
    close(tf.matrix_inverse(SQUARE), np.linalg.inv(SQUARE))
    close(tf.matrix_determinant(SQUARE), np.linalg.det(SQUARE))
    close(tf.matrix_solve(SQUARE, RIGHT), np.linalg.solve(SQUARE, RIGHT))
    close(tf.cholesky(POSITIVE), np.linalg.cholesky(POSITIVE))
    close(tf.linalg.logdet(POSITIVE), np.linalg.slogdet(POSITIVE)[1])
    lower = np.tril(SQUARE)
    solved = tf.matrix_triangular_solve(SQUARE, RIGHT, adjoint=True)
    close(solved, np.linalg.solve(lower.swapaxes(-1, -2), RIGHT))
    solution = np.linalg.lstsq(TALL, np.ones((4, 1)), rcond=None)[0]
    close(tf.matrix_solve_ls(TALL, np.ones((4, 1))), solution)


def test_decompositions_multiply_back() -> None:
    s, u, v = tf.svd(TALL)
    close(tf.matmul(u * s, v, adjoint_b=True), TALL)
    q, r = tf.qr(TALL)
    close(tf.matmul(q, r), TALL)
    values, vectors = tf.self_adjoint_eig(POSITIVE)
    close(tf.matmul(vectors * tf.expand_dims(values, -2), vectors, adjoint_b=True), POSITIVE)
    close(tf.matmul(*2 * [tf.matrix_square_root(POSITIVE)]), POSITIVE)
    factors, order = tf.linalg.lu(SQUARE[0])
    whole = factors.eval()
    product = (np.tril(whole, -1) + np.eye(3)) @ np.triu(whole)
    np.testing.assert_allclose(product, SQUARE[0][order.eval()])


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_triangles_of_each_matrix_multiply_to_its_rows_in_order(dtype: Any) -> None:
    many = np.random.default_rng(2).normal(size=(2, 3, 6, 6)).astype(dtype)
    factors, order = tf.Session().run(tf.linalg.lu(many, output_idx_type=tf.int64))
    assert factors.dtype == dtype and order.dtype == np.int64
    product = (np.tril(factors, -1) + np.eye(6)) @ np.triu(factors)
    np.testing.assert_allclose(product, np.take_along_axis(many, order[..., None], -2), atol=1e-5)
    none = tf.Session().run(tf.linalg.lu(np.zeros((0, 3, 3), dtype)))
    assert [each.shape for each in none] == [(0, 3, 3), (0, 3)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input is not invertible"):
        tf.Session().run(tf.linalg.lu(np.ones((2, 2), dtype)))


@pytest.mark.parametrize("ord", ["euclidean", 1, 2, np.inf, 3])
@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
def test_norms(ord: Any, axis: Any) -> None:
    if axis == (0, 1) and ord == 3:
        pytest.skip("no such matrix norm")
    plain = TALL.ravel() if axis is None else TALL
    name = {"euclidean": "fro" if axis == (0, 1) else 2}.get(ord, ord)
    expected = np.linalg.norm(plain, name, 0 if axis is None else axis)
    close(tf.norm(TALL, ord, axis), expected)


def test_failures_are_named() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input is not invertible"):
        tf.matrix_inverse(np.zeros((2, 2))).eval()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cholesky decomposition was not"):
        tf.cholesky(-np.eye(2)).eval()
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        tf.matrix_inverse(np.zeros((2, 3)))


def test_eye() -> None:
    assert tf.eye(2, 3).eval().tolist() == [[1, 0, 0], [0, 1, 0]]
    assert tf.eye(2, batch_shape=[3]).shape.as_list() == [3, 2, 2]


@pytest.mark.parametrize(
    ("function", "value"),
    [
        (tf.matrix_inverse, SQUARE),
        (tf.matrix_determinant, SQUARE),
        (lambda x: tf.cholesky(tf.matmul(x, x, adjoint_b=True)), SQUARE),
        (lambda x: tf.matrix_solve(x, RIGHT, adjoint=True), SQUARE),
        (lambda x: tf.matrix_triangular_solve(x, RIGHT), SQUARE),
        (lambda x: tf.svd(x, compute_uv=False), TALL),
        (tf.linalg.expm, SQUARE[0]),
        (tf.matrix_square_root, POSITIVE[:1]),
    ],
)
def test_gradients(function: Any, value: np.ndarray) -> None:
    by_gradient, by_differences = checker.compute_gradient(function, [value], delta=1e-5)
    assert checker.max_error(by_gradient, by_differences) < 1e-6
