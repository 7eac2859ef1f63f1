# SPDX-License-Identifier: Apache-2.0
"""Differential equations whose solutions are known."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu
TIMES = np.linspace(0.0, 2.0, 5)


def test_adaptive_steps_keep_to_the_tolerance() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y, facts = tf.contrib.integrate.odeint(
            lambda y, t: -y, tf.constant(1.0, tf.float64), TIMES, full_output=True
        )
        found, count = session.run([y, facts["num_func_evals"]])
        np.testing.assert_allclose(found, np.exp(-TIMES), rtol=1e-5)
        assert (count - 1) % 6 == 0 and count < 200


@pytest.mark.parametrize(("method", "tolerance"), [("rk4", 1e-6), ("midpoint", 1e-3)])
def test_steps_of_a_size(method: str, tolerance: float) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.contrib.integrate.odeint_fixed(
            lambda y, t: tf.stack([y[1], -y[0]]),
            tf.constant([0.0, 1.0], tf.float64),
            TIMES,
            dt=0.05,
            method=method,
        )
        expected = np.stack([np.sin(TIMES), np.cos(TIMES)], 1)
        np.testing.assert_allclose(session.run(y), expected, atol=tolerance)


def test_times_and_methods_are_checked() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        falling = tf.contrib.integrate.odeint(
            lambda y, t: y, 1.0, tf.placeholder_with_default(np.array([1.0, 0.0]), [2])
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match="monotonic increasing"):
            session.run(falling)
        with pytest.raises(ValueError, match="method not supported: euler"):
            tf.contrib.integrate.odeint_fixed(lambda y, t: y, 1.0, TIMES, method="euler")
        with pytest.raises(ValueError, match="invalid method"):
            tf.contrib.integrate.odeint(lambda y, t: y, 1.0, TIMES, method="euler")
