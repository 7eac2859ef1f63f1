# SPDX-License-Identifier: Apache-2.0
"""Systems of equations by products with a matrix, and its bidiagonal form."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu
TALL = np.random.RandomState(0).normal(size=(6, 4))
POSITIVE = TALL.T @ TALL + np.eye(4)


def test_conjugate_gradients() -> None:
    solvers, rhs = tf.contrib.solvers, np.arange(4.0)
    with tf.Graph().as_default(), tf.Session() as session:
        operator = solvers.util.create_operator(tf.constant(POSITIVE))
        solve = solvers.linear_equations.conjugate_gradient
        plain = solve(operator, tf.constant(rhs), tol=1e-10, max_iter=40)
        inverse = solvers.util.create_operator(tf.constant(np.linalg.inv(POSITIVE)))
        guided = solve(operator, tf.constant(rhs), inverse, tol=1e-10)
        found, steps, quick = session.run([plain.x, guided.i, guided.x])
        np.testing.assert_allclose(found, np.linalg.solve(POSITIVE, rhs), rtol=1e-7)
        np.testing.assert_allclose(quick, found, rtol=1e-7)
        assert steps == 1


def test_least_squares() -> None:
    rhs = np.arange(6.0)
    with tf.Graph().as_default(), tf.Session() as session:
        operator = tf.contrib.solvers.util.create_operator(tf.constant(TALL))
        found = tf.contrib.solvers.least_squares.cgls(operator, tf.constant(rhs), tol=1e-10)
        expected = np.linalg.lstsq(TALL, rhs, rcond=None)[0]
        np.testing.assert_allclose(session.run(found.x), expected, rtol=1e-7)


def test_bidiagonal_form() -> None:
    lanczos = tf.contrib.solvers.lanczos
    with tf.Graph().as_default(), tf.Session() as session:
        operator = tf.contrib.solvers.util.create_operator(tf.constant(TALL))
        form = lanczos.lanczos_bidiag(operator, 3, starting_vector=tf.constant(np.ones(6)))
        product = lanczos.bidiag_matmul(form.u, form.alpha, form.beta)
        u, v, found = session.run([form.u, form.v, product])
        np.testing.assert_allclose(u.T @ u, np.eye(4), atol=1e-9)
        np.testing.assert_allclose(TALL @ v, found, atol=1e-9)
