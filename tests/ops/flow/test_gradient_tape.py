# SPDX-License-Identifier: Apache-2.0
"""Gradient tapes in a graph: what they record, and what gradients flow through."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_gradients_of_what_is_watched():
    x, w = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * w
    found = tape.gradient(y, {"x": x, "w": [w]})
    assert found["w"] == [None]
    np.testing.assert_array_equal(run(found["x"]), [6, 16])


def test_only_recorded_ops_count():
    x = tf.constant(3.0)
    doubled = 2.0 * x
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, doubled])
        inside = x * doubled
        with tape.stop_recording():
            hidden = x * x
        later = x + hidden
    outside = inside * 5.0
    assert run(tape.gradient(inside, x)) == 6
    assert run(tape.gradient(inside, doubled)) == 3
    assert run(tape.gradient(later, x)) == 1
    assert tape.gradient(outside, x) is None
    assert run(tape.gradient(outside, x, unconnected_gradients="zero")) == 0


def test_what_depends_on_a_source_outside_is_a_source_of_its_own():
    x = tf.constant(2.0)
    square = x * x
    with tf.GradientTape() as tape:
        tape.watch([x, square])
        y = square * x
    assert run(tape.gradient(y, [x, square])) == [4, 2]


def test_recomputed_functions_count_what_they_make_alone():
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    x = v * 3.0
    y = tf.recompute_grad(lambda a: a * a * v)(x)
    # 9 v^3, by way of the argument and by the variable within.
    np.testing.assert_array_equal(run(tf.gradients(y, v)[0]), [27, 108])
    with tf.variable_scope("resources", use_resource=True):
        z = tf.recompute_grad(lambda a, b: a * b)(x, x * x)
    np.testing.assert_array_equal(run(tf.gradients(z, x)[0]), [27, 108])


def test_ops_before_the_watch_do_not_count():
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        before = x * x
        tape.watch(x)
        y = before + x
    assert run(tape.gradient(y, x)) == 1


@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_are_watched_when_they_are_read(use_resource):
    v = tf.Variable(3.0, use_resource=use_resource)
    fixed = tf.Variable(5.0, use_resource=use_resource, trainable=False)
    tf.Variable(7.0, use_resource=use_resource)
    with tf.GradientTape() as tape:
        y = v * v * fixed
    assert tape.watched_variables() == (v,)
    found = tape.gradient(y, [v, fixed])
    assert found[1] is None
    assert run(found[0]) == 30
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(fixed)
        y = v * fixed
    assert tape.watched_variables() == (fixed,)
    found = tape.gradient(y, [v, fixed])
    assert found[0] is None
    assert run(found[1]) == 3


def test_tapes_within_tapes():
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        slope = inner.gradient(y, x)
    assert run([slope, outer.gradient(slope, x)]) == [27, 18]


def test_through_conditionals_and_loops():
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        chosen = tf.cond(x > 1.0, lambda: x * x, lambda: x)
        _, power = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * x), (0, 1.0))
    assert run([tape.gradient(chosen, x), tape.gradient(power, x)]) == [4, 12]


def test_gradients_of_targets_are_given():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    found = tape.gradient([y], x, output_gradients=[tf.constant([10.0, 1.0])])
    np.testing.assert_array_equal(run(found), [20, 4])


def test_a_tape_is_used_once():
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        z = x + y
        with pytest.raises(ValueError, match="already recording"):
            tape.__enter__()
    assert run(tape.gradient(z, x)) == 1
    with pytest.raises(RuntimeError, match="only be called once"):
        tape.gradient(z, x)
    with pytest.raises(ValueError, match="not tf.Tensor"), tape:
        tape.watch(3.0)


def test_jacobians():
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    w = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.matmul(x * x, w)
    whole, missing = tape.jacobian(y, [x, tf.constant(1.0)])
    rows = tape.batch_jacobian(y, x)
    assert missing is None
    assert whole.shape.as_list() == [2, 2, 2, 3]
    assert rows.shape.as_list() == [2, 2, 3]
    expected = 2 * np.array([[1, 2, 3], [4, 5, 6]])[:, None, :] * w.T[None]
    np.testing.assert_allclose(run(rows), expected)
    full = np.zeros((2, 2, 2, 3))
    full[0, :, 0], full[1, :, 1] = expected
    np.testing.assert_allclose(run(whole), full)
    with pytest.raises(ValueError, match="to match"):
        tape.batch_jacobian(y, tf.zeros([3, 3]))
