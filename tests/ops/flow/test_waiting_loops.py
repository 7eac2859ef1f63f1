# SPDX-License-Identifier: Apache-2.0
"""Loops whose gradients wait for their results, and assertions within compiled plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.mark.parametrize("mode", ["never", "always"])
@pytest.mark.parametrize("turns", [5, 40])
def test_gradients_of_a_loop_may_wait_for_its_loss(mode: str, turns: int) -> None:
    with settings.override(jit=mode), tf.Session() as session:
        x = tf.Variable(np.full(4, 0.9, np.float32))
        loop = tf.while_loop(lambda i, _: i < turns, lambda i, v: (i + 1, v * x), [0, tf.ones([4])])
        loss = tf.reduce_sum(loop[1])
        with tf.control_dependencies([loss]):
            (slope,) = tf.gradients(loss, x)
        session.run(x.initializer)
        found, given = session.run([loss, slope])
    np.testing.assert_allclose(found, 4 * 0.9**turns, rtol=1e-5)
    np.testing.assert_allclose(given, np.full(4, turns * 0.9 ** (turns - 1)), rtol=1e-5)


def nested(turns: int) -> tuple[Any, Any]:
    x = tf.Variable(0.9)

    def turn(i: Any, v: Any) -> Any:
        return i + 1, tf.while_loop(lambda j, _: j < 2, lambda j, u: (j + 1, u * x), [0, v])[1]

    loss = tf.while_loop(lambda i, _: i < turns, turn, [0, tf.constant(1.0)])[1]
    with tf.control_dependencies([loss]):
        return x, tf.gradients(loss, x)[0]


def test_gradients_of_nested_loops_may_wait_too() -> None:
    with settings.override(jit="always"), tf.Session() as session:
        x, slope = nested(3)
        session.run(x.initializer)
        np.testing.assert_allclose(session.run(slope), 6 * 0.9**5, rtol=1e-5)


def asserted(x: Any, n: Any) -> Sequence[Any]:
    with tf.control_dependencies([tf.Assert(tf.reduce_sum(x) > 0, ["not positive:", x, n])]):
        y = x * 2.0
    with tf.control_dependencies([tf.assert_equal(tf.shape(x)[0], n, message="another length")]):
        z = y + 1.0

    def turn(i: Any, a: Any) -> Any:
        with tf.control_dependencies([tf.assert_less(a, 100.0)]):
            return i + 1, a * 2.0

    return [z, tf.while_loop(lambda i, _: i < n, turn, [0, x[0]])[1]]


def test_assertions_are_steps_of_plans() -> None:
    with settings.override(jit="always"), tf.Session() as session:
        x, n = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
        fetches = asserted(x, n)
        z, w = session.run(fetches, {x: [1.0, 2, 3], n: 3})
        np.testing.assert_array_equal(z, [3, 5, 7])
        assert w == 8
        assert " host " not in str(session.explain(fetches, {x: [1.0, 2, 3], n: 3}))
        for fed, count, words in (
            ([-1.0, -2, 0], 3, r"\[not positive:\] \[-1 -2 0\] \[3\]"),
            ([1.0, 2], 3, "another length"),
            ([60.0, 1], 2, r"\[120\]"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(fetches, {x: fed, n: count})


def test_an_assertion_comes_before_what_it_guards() -> None:
    with settings.override(jit="always"), tf.Session() as session:
        x, v = tf.placeholder(tf.float32, [2]), tf.Variable(0.0)
        with tf.control_dependencies([tf.assert_positive(x)]):
            add = v.assign_add(1.0)
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold"):
            session.run(add, {x: [1, -1]})
        assert session.run(v) == 0
        assert session.run(add, {x: [1, 1]}) == 1


def test_a_python_function_of_a_shape_that_is_said_is_a_step_of_the_loop() -> None:
    with settings.override(jit="always"), tf.Session() as session:

        def turn(i: Any, x: Any) -> Any:
            y = tf.py_func(lambda v: v * np.float32(0.5), [x], tf.float32)
            y.set_shape([4])
            return i + 1, y + 1.0

        loop = tf.while_loop(lambda i, _: i < 20, turn, [0, tf.zeros([4])])
        found = session.run(loop[1])
        text = str(session.explain(loop[1]))
    np.testing.assert_allclose(found, np.full(4, 2 - 0.5**19), rtol=1e-6)
    assert "piece by piece" not in text
