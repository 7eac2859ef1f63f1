# SPDX-License-Identifier: Apache-2.0
"""Graphs with branches: what is around them is compiled, and gives what the reference gives."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.jit import settings

pytestmark = pytest.mark.cpu


def both(build, feeds):
    """Results of a program by reference kernels and compiled."""
    results = []
    for mode in ("never", "always"):
        with tf.Graph().as_default(), settings.override(jit=mode), tf.Session() as session:
            tf.set_random_seed(1)
            fetches = build()
            session.run(tf.global_variables_initializer())
            results.append([session.run(fetches, feed) for feed in feeds])
    for want, got in zip(*results, strict=True):
        for a, b in zip(want, got, strict=True):
            if a is not None:
                np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
    return results[1]


def test_a_branch_between_compiled_stretches():
    def build():
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.exp(x) * 2.0
        z = tf.cond(tf.reduce_sum(x) > 0, lambda: y + 1.0, lambda: y - 1.0)
        return [z * 3.0, y]

    both(build, [{"x:0": [1.0, 2.0]}, {"x:0": [-1.0, -2.0, 0.5]}])


def test_training_with_a_stepwise_rate():
    def build():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        w = tf.Variable([[1.0], [2.0], [3.0]])
        step = tf.train.get_or_create_global_step()
        rate = tf.train.piecewise_constant(step, [1, 3], [0.1, 0.01, 0.001])
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
        train = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=step)
        return [train, loss, rate]

    feed = {"x:0": np.random.default_rng(0).standard_normal((5, 3))}
    both(build, [feed] * 6)


def test_assignments_within_branches():
    def build():
        x = tf.placeholder(tf.float32, [], name="x")
        v = tf.Variable(1.0)
        grow = tf.cond(x > 0, lambda: tf.assign_add(v, x) + 0.0, lambda: tf.identity(v) * 1.0)
        with tf.control_dependencies([grow]):
            return [grow, v.read_value() * 2.0]

    both(build, [{"x:0": 2.0}, {"x:0": -1.0}, {"x:0": 3.0}])


def test_a_loop_without_a_gradient():
    def build():
        x = tf.placeholder(tf.float32, [None], name="x")
        start = x * 2.0
        _, last = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * 1.5), [0, start])
        return [tf.reduce_sum(last + 1.0)]

    both(build, [{"x:0": [1.0, 2.0]}, {"x:0": [3.0]}])


def test_gradients_of_branches_and_of_loops():
    def build():
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: x * x, lambda: x * 3.0)
        _, z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a), [0, x])
        return [*tf.gradients(tf.reduce_sum(tf.sin(y)), x), *tf.gradients(tf.reduce_sum(z), x)]

    both(build, [{"x:0": [0.5, 0.25]}, {"x:0": [-0.5]}])


def test_explain_says_where_the_plan_ends():
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 0, lambda: tf.fill([2], x), lambda: tf.fill([1], x))[0] * 2.0
    with settings.override(jit="always"), tf.Session() as session:
        assert session.run(y, {x: 3.0}) == 6.0
        assert "branches or loops" in str(session.explain(y, {x: 3.0}))
