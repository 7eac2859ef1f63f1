# SPDX-License-Identifier: Apache-2.0
"""Least squares of matrices of any rank, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

KINDS = ("float32", "float64", "complex64", "complex128")


def matrices(kind: str, rows: int, columns: int, rank: int, *stack: int) -> Any:
    """Matrices of so many independent rows."""
    rng = np.random.default_rng(rows * 10 + columns)

    def drawn(*shape: int) -> Any:
        numbers = rng.normal(size=(*stack, *shape))
        return numbers + 1j * rng.normal(size=numbers.shape) if "complex" in kind else numbers

    return (drawn(rows, rank) @ drawn(rank, columns)).astype(kind), drawn(rows, 2).astype(kind)


def solved(a: Any, b: Any, l2: float = 0.0, fast: bool = True) -> Any:
    with tf.Session() as session:
        return session.run(tf.matrix_solve_ls(a, b, l2, fast))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(5, 3, 3), (3, 5, 3), (6, 4, 2), (4, 6, 2), (4, 4, 1)])
def test_the_shortest_solution_whatever_the_rank(kind: str, sizes: tuple[int, int, int]) -> None:
    a, b = matrices(kind, *sizes, 2, 3)
    want = np.linalg.pinv(a.astype("complex128"), rcond=1e-5) @ b
    np.testing.assert_allclose(solved(a, b, fast=False), want, rtol=2e-3, atol=2e-4)


# (TensorFlow has no regularizer for complex128.)
@pytest.mark.parametrize("kind", KINDS[:3])
@pytest.mark.parametrize("sizes", [(5, 3, 3), (3, 5, 3)])
def test_the_regularizer_counts_where_it_is_fast(kind: str, sizes: tuple[int, int, int]) -> None:
    a, b = matrices(kind, *sizes)
    np.testing.assert_array_equal(solved(a, b, 0.5, fast=False), solved(a, b, fast=False))
    gramian = np.conj(a.T) @ a + 0.5 * np.eye(a.shape[1])
    want = np.linalg.solve(gramian, np.conj(a.T) @ b)
    np.testing.assert_allclose(solved(a, b, 0.5), want, rtol=2e-3, atol=2e-4)


def test_one_op_for_many_small_matrices_needs_full_rank() -> None:
    a, b = (np.tile(x, (4000, 1, 1)) for x in matrices("float64", 6, 4, 4))
    assert "MatrixSolveLs" in tf.matrix_solve_ls(a, b).op.type
    np.testing.assert_allclose(solved(a, b)[7], np.linalg.lstsq(a[7], b[7])[0], rtol=1e-6)
    a[3, :, 0] = a[3, :, 1] = 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank deficient .* a larger l2"):
        solved(a, b)
    with pytest.raises(tf.errors.InvalidArgumentError, match="rank deficient .* an l2"):
        solved(np.swapaxes(a, 1, 2).copy(), b[:, :4])
    assert np.isfinite(solved(a, b, 0.5)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_has_a_solution_of_zeros(value: float) -> None:
    a, b = matrices("float32", 4, 3, 3, 2)
    a[1, 0, 0] = value
    found = solved(a, b, fast=False)
    assert found[0].all() and not found[1].any()


def test_nothing_has_no_solution_but_nothing() -> None:
    empty = np.zeros((0, 2), np.float32)
    for fast in (True, False):
        assert solved(
            np.ones((2, 0), np.float32), np.ones((2, 3), np.float32), 0.0, fast
        ).shape == (0, 3)
        assert solved(empty, np.zeros((0, 3), np.float32), 1.0, fast).tolist() == [[0.0] * 3] * 2


@pytest.mark.parametrize("l2", [0.0, 0.25])
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5)])
@pytest.mark.parametrize("is_known", [True, False])
def test_gradients_of_the_op(sizes: tuple[int, int], l2: float, is_known: bool) -> None:
    a, b = matrices("float64", *sizes, 3)
    op = tf.raw_ops.MatrixSolveLs
    x, y = (tf.placeholder(tf.float64, v.shape if is_known else None) for v in (a, b))
    number = tf.constant(l2, tf.float64)
    loss = tf.reduce_sum(tf.sin(op(matrix=x, rhs=y, l2_regularizer=number)))
    with tf.Session() as session:
        for tensor, value in ((x, a), (y, b)):
            slope = session.run(tf.gradients(loss, tensor)[0], {x: a, y: b})
            way = np.random.default_rng(1).normal(size=value.shape)
            ends = [
                session.run(loss, {x: a, y: b, tensor: value + step * way})
                for step in (1e-6, -1e-6)
            ]
            np.testing.assert_allclose((ends[0] - ends[1]) / 2e-6, np.sum(slope * way), rtol=1e-5)
    with pytest.raises(ValueError, match="Gradient not defined for fast=False"):
        tf.gradients(op(matrix=x, rhs=y, l2_regularizer=l2, fast=False), x)
