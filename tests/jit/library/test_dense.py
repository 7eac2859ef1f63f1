# SPDX-License-Identifier: Apache-2.0
"""Factors of matrices and systems of equations: compiled, and what LAPACK gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu
SHAPES = [(1,), (2,), (3,), (5,), (17,), (40,), (73,), (4, 7), (2, 3, 6), (2, 50), (0, 3)]


def well_behaved(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    *batch, n = shape
    a = np.random.default_rng(n).normal(size=(*batch, n, n)).astype(dtype)
    return (a @ np.swapaxes(a, -1, -2) / n + np.eye(n)).astype(dtype)


def turned(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -1, -2)


def results(a: Any, rhs: Any) -> list[Any]:
    kinds = [(lower, adjoint) for lower in (False, True) for adjoint in (False, True)]
    return [
        tf.cholesky(a),
        tf.matrix_inverse(a),
        tf.matrix_inverse(a, adjoint=True),
        tf.matrix_determinant(a),
        *tf.linalg.slogdet(a),
        tf.matrix_solve(a, rhs),
        tf.matrix_solve(a, rhs, adjoint=True),
        *(tf.matrix_triangular_solve(a, rhs, lower=low, adjoint=turn) for low, turn in kinds),
    ]


def expected(a: np.ndarray, rhs: np.ndarray) -> list[np.ndarray]:
    upper, lower = np.triu(a), np.tril(a)
    inverse, solve = np.linalg.inv(a), np.linalg.solve
    return [
        np.linalg.cholesky(a),
        inverse,
        turned(inverse),
        np.linalg.det(a),
        *np.linalg.slogdet(a),
        solve(a, rhs),
        solve(turned(a), rhs),
        *(solve(m, rhs) for m in (upper, turned(upper), lower, turned(lower))),
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_factors_and_systems_are_lapacks(dtype: str) -> None:
    places = {}
    with settings.override(jit="always"), tf.Session() as session:
        for shape in SHAPES:
            a = well_behaved(shape, dtype)
            for width in (1, 3, 6, 71):
                rank = len(a.shape)
                if rank not in places:
                    fed = [tf.placeholder(dtype, [None] * rank) for _ in range(2)]
                    places[rank] = fed, results(*fed)
                fed, fetches = places[rank]
                rhs = np.ones((*a.shape[:-1], width), dtype)
                feeds = dict(zip(fed, (a, rhs)))
                tolerance = 1e-4 if dtype == "float32" else 1e-10
                for one, other in zip(session.run(fetches, feeds), expected(a, rhs), strict=True):
                    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
        assert " host " not in str(session.explain(fetches, feeds))


def test_rows_are_exchanged() -> None:
    a = np.array([[0.0, 2, 1], [1, 0, 0], [4, 1, 0]])
    with settings.override(jit="always"), tf.Session() as session:
        fed = tf.placeholder(tf.float64, [None, None])
        inverse, det = session.run([tf.matrix_inverse(fed), tf.matrix_determinant(fed)], {fed: a})
    np.testing.assert_allclose(inverse @ a, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(det, np.linalg.det(a))


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (tf.cholesky, "Cholesky decomposition was not successful"),
        (tf.matrix_inverse, "Input is not invertible"),
        (lambda a: tf.matrix_solve(a, tf.ones([2, 2, 1])), "Input matrix is not invertible"),
        (
            lambda a: tf.matrix_triangular_solve(a, tf.ones([2, 2, 1])),
            "Input matrix is not invertible",
        ),
    ],
)
def test_what_has_no_result_is_refused(build: Callable[..., Any], words: str) -> None:
    stack = np.stack([np.eye(2), np.diag([1.0, 0.0])]).astype(np.float32)
    with settings.override(jit="always"), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [None, 2, 2])
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(build(fed), {fed: stack})
        assert session.run(build(fed), {fed: stack[[0, 0]]}).shape[0] == 2


def test_singular_matrices_have_determinants() -> None:
    with settings.override(jit="always"), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [2, 2])
        found = session.run(
            [tf.matrix_determinant(fed), *tf.linalg.slogdet(fed)], {fed: [[1, 2], [2, 4]]}
        )
    assert found == [0, 0, -np.inf]


def test_a_loop_of_systems_is_one_plan_with_its_gradient() -> None:
    found = []
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            a = tf.placeholder(tf.float64, [3, 3])

            def turn(i: Any, x: Any, a: Any = a) -> Any:
                return i + 1, tf.matrix_solve(a, tf.cholesky(tf.matmul(x, x, adjoint_b=True) + a))

            last = tf.while_loop(lambda i, _: i < 3, turn, [0, a])[1]
            fetches = [last, *tf.gradients(tf.reduce_sum(last), a)]
            feeds = {a: well_behaved((3,), "float64")}
            found.append(session.run(fetches, feeds))
            if mode == "always":
                text = str(session.explain(fetches, feeds))
    assert " host " not in text and "piece by piece" not in text
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-9)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-9)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_complex_systems_are_real_ones(shape: tuple[int, ...], dtype: str) -> None:
    a = well_behaved(shape, "float64")
    a = (a + 0.3j * np.roll(a, 1, -1)).astype(dtype)
    rhs = (np.arange(3) + 1j * np.ones((*a.shape[:-1], 3))).astype(dtype)
    adjoint = np.conj(turned(a))
    inverse, solve = np.linalg.inv, np.linalg.solve
    want = [inverse(a), inverse(adjoint), solve(a, rhs), solve(adjoint, rhs)]
    with tf.Graph().as_default(), settings.override(jit="always"), tf.Session() as session:
        x, y = (tf.placeholder(dtype, [None] * a.ndim) for _ in range(2))
        flags = (False, True)
        fetches = [tf.matrix_inverse(x, adjoint=flag) for flag in flags]
        fetches += [tf.matrix_solve(x, y, adjoint=flag) for flag in flags]
        got = session.run(fetches, {x: a, y: rhs})
        assert " host " not in str(session.explain(fetches, {x: a, y: rhs}))
        tolerance = 1e-3 if dtype == "complex64" else 1e-10
        for one, other in zip(got, want, strict=True):
            assert one.dtype == dtype
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)
        if a.size:
            with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
                session.run(fetches[0], {x: np.zeros_like(a), y: rhs})
