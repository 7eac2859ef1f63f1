# SPDX-License-Identifier: Apache-2.0
"""QR and LU factors, and eigenvectors: compiled, by reference kernels, and what they must be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu
DTYPES = ["float32", "float64"]
SQUARE = [(1,), (2,), (3,), (5,), (17,), (40,), (4, 7), (2, 3, 6), (0, 3), (3, 0)]
OBLONG = [(1, 1), (3, 2), (2, 3), (5, 5), (40, 17), (17, 40), (1, 4), (4, 1), (0, 3), (3, 0)]
TOLERANCE = {"float16": 3e-2, "float32": 5e-5, "float64": 1e-12}


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


def turned(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -1, -2)


def run(build: Any, x: np.ndarray, mode: str = "always", sizes: Any = None, **config: Any) -> Any:
    """The results for a matrix whose sizes no graph knows; nothing of it runs on the host."""
    with tf.Graph().as_default(), settings.override(jit=mode):
        fed = tf.placeholder(x.dtype, sizes or [None] * x.ndim)
        fetches = build(fed)
        with tf.Session(config=tf.ConfigProto(**config)) as session:
            if mode == "always":
                assert " host " not in str(session.explain(fetches, {fed: x}))
            return session.run(fetches, {fed: x})


def near(one: np.ndarray, other: np.ndarray, times: float = 1.0) -> None:
    tolerance = times * TOLERANCE[str(one.dtype)]
    np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_eigenvectors_are_those_of_the_reference(shape: tuple[int, ...], dtype: str) -> None:
    x = drawn(*shape, shape[-1]).astype(dtype)
    x = x + turned(x)
    values, vectors = run(tf.linalg.eigh, x)
    near(np.matmul(x, vectors), vectors * values[..., None, :], 10)
    near(np.matmul(turned(vectors), vectors), np.broadcast_to(np.eye(shape[-1]), x.shape), 10)
    assert np.all(np.diff(values) >= 0)
    by_reference, of_reference = run(tf.linalg.eigh, x, "never")
    near(values, by_reference, 10)
    # (Of large ones rounding decides now and then which sign a vector gets.)
    with_sign = np.abs if shape[-1] > 10 else np.asarray
    near(with_sign(vectors), with_sign(of_reference), 20)
    near(run(tf.linalg.eigvalsh, x), values, 10)


def test_signs_of_eigenvectors_are_tensorflows() -> None:
    x = np.array([[2.0, -1.0, 0.5], [-1.0, 3.0, 0.25], [0.5, 0.25, -1.0]])
    # As TensorFlow 1.15.5 gives them.
    wanted = np.array(
        [
            [-0.18990087718220425, -0.8276962181920007, 0.5280687713130644],
            [-0.10521708807609001, -0.5176017281014329, -0.8491276791173388],
            [0.9761490773556147, -0.2168119495255513, 0.011205236307732555],
        ]
    )
    for mode in ("always", "never"):
        near(run(tf.linalg.eigh, x, mode)[1], wanted)


@pytest.mark.parametrize(
    "x",
    [np.zeros((3, 3)), np.eye(4) * 2, np.ones((5, 5)), np.diag([3.0, 1.0, 2.0]), 1e30 * np.eye(2)],
    ids=["zero", "multiples", "ones", "diagonal", "large"],
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvectors_of_equal_values(x: np.ndarray, dtype: str) -> None:
    x = x.astype(dtype)
    values, vectors = run(tf.linalg.eigh, x)
    near(values / max(1, np.abs(x).max()), np.linalg.eigvalsh(x) / max(1, np.abs(x).max()), 5)
    near(turned(vectors) @ vectors, np.eye(len(x)), 5)


def test_only_the_lower_triangle_is_read() -> None:
    x = np.array([[2.0, np.nan], [1.0, 3.0]])
    near(run(tf.linalg.eigvalsh, x), np.linalg.eigvalsh(np.array([[2.0, 1.0], [1.0, 3.0]])))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("mode", ["always", "never"])
def test_matrices_without_eigenvalues_are_refused(bad: float, mode: str) -> None:
    x = np.stack([np.eye(3), np.eye(3)])
    x[1, 2, 0] = bad
    with pytest.raises(tf.errors.InvalidArgumentError, match="decomposition was not successful"):
        run(tf.linalg.eigh, x, mode)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("is_full", [False, True])
@pytest.mark.parametrize("sizes", OBLONG, ids=str)
def test_orthonormal_columns_are_lapacks(sizes: tuple[int, int], is_full: bool, dtype: str) -> None:
    x = drawn(2, *sizes).astype(dtype)
    build = lambda a: tf.linalg.qr(a, full_matrices=is_full)  # noqa: E731
    q, r = run(build, x)
    near(np.matmul(q, r), x, 10)
    near(np.matmul(turned(q), q), np.broadcast_to(np.eye(q.shape[-1]), r.shape[:-1] + q.shape[-1:]))
    assert np.all(np.tril(r, -1) == 0)
    for one, other in zip((q, r), run(build, x, "never"), strict=True):
        near(one, other, 10)


@pytest.mark.parametrize("x", [np.zeros((3, 2)), np.ones((4, 3)), np.eye(3)[::-1] * 1.0])
def test_matrices_of_less_rank_have_orthonormal_columns(x: np.ndarray) -> None:
    q, r = run(tf.linalg.qr, x)
    near(q @ r, x)
    near(q.T @ q, np.eye(q.shape[1]))


@pytest.mark.parametrize("kind", [tf.int32, tf.int64])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_triangles_are_lapacks(shape: tuple[int, ...], dtype: str, kind: Any) -> None:
    x = drawn(*shape, shape[-1]).astype(dtype)
    build = lambda a: tf.linalg.lu(a, output_idx_type=kind)  # noqa: E731
    factors, order = run(build, x)
    assert order.dtype == kind.as_numpy_dtype
    lower = np.tril(factors, -1) + np.eye(shape[-1], dtype=dtype)
    near(np.matmul(lower, np.triu(factors)), np.take_along_axis(x, order[..., None], -2), 10)
    by_reference, of_reference = run(build, x, "never")
    near(factors, by_reference, 50)
    np.testing.assert_array_equal(order, of_reference)


def test_singular_matrices_have_no_triangles() -> None:
    for mode in ("always", "never"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input is not invertible"):
            run(tf.linalg.lu, np.stack([np.eye(2), np.ones((2, 2))]), mode)


def test_threads_do_not_change_a_bit() -> None:
    x = drawn(300, 9, 9).astype(np.float32)
    x = x + turned(x)

    def build(a: Any) -> Any:
        return [*tf.linalg.eigh(a), *tf.linalg.qr(a), *tf.linalg.lu(a)]

    one, many = (run(build, x, intra_op_parallelism_threads=count) for count in (1, 2))
    for a, b in zip(one, many, strict=True):
        assert a.tobytes() == b.tobytes()


def test_gradients_go_through_compiled_factors() -> None:
    x = drawn(4, 5, 5)
    x = x + turned(x)

    def build(a: Any) -> Any:
        values, vectors = tf.linalg.eigh(a)
        q, r = tf.linalg.qr(a)
        seen = values**2 * vectors[..., 0, :] ** 2 + q[..., 0] * r[..., 0, :]
        return tf.gradients(tf.reduce_sum(seen), a)

    (one,), (other,) = (run(build, x, mode, x.shape) for mode in ("always", "never"))
    near(one, other, 1e4)
