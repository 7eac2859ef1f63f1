# SPDX-License-Identifier: Apache-2.0
"""A function over steps: states, gradients, parts of sequences, and nets of cells."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _new_graph():
    with tf.Graph().as_default():
        yield


recurrent = tf.contrib.recurrent
State = collections.namedtuple("State", ["value", "power"])
X, H, W = (
    np.random.RandomState(i).rand(*s) - 0.5 for i, s in enumerate([(4, 2, 3), (2, 3), (6, 3)])
)


def polynomial(theta, state, inputs):
    """Adds a coefficient times a power of theta."""
    return State(state.value + inputs * state.power, state.power * theta), []


def test_a_polynomial_and_its_gradients():
    theta, inputs = tf.constant(2.0), tf.constant([1.0, 2.0, 3.0])
    states, last = recurrent.Recurrent(
        theta, State(tf.constant(0.0), tf.constant(1.0)), inputs, polynomial
    )
    gradients = tf.gradients(last.value, [theta, inputs])
    with tf.Session() as session:
        values, d_theta, d_inputs = session.run([states.value, *gradients])
    assert values.tolist() == [1.0, 5.0, 17.0]
    assert d_theta == 14.0 and d_inputs.tolist() == [1.0, 2.0, 4.0]


def elman(theta, state, inputs):
    state1 = tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), theta))
    return state1, state1


def elman_gradient(theta, state, inputs, extras, d_state):
    d = d_state * extras * (1.0 - extras)
    joined = tf.matmul(d, theta, transpose_b=True)
    d_theta = tf.matmul(tf.concat([inputs, state], 1), d, transpose_a=True)
    return d_theta, joined[:, 3:], joined[:, :3]


@pytest.mark.parametrize("settings", [{}, {"max_input_length": 3}, {"aligned_end": True}])
def test_given_gradients_are_those_that_are_found(settings):
    settings = {"max_input_length": 2, **settings} if "aligned_end" in settings else settings
    found = []
    for given in (None, elman_gradient):
        parameters = [tf.constant(W), tf.constant(H), tf.constant(X)]
        states, last = recurrent.Recurrent(*parameters, elman, cell_grad=given, **settings)
        loss = tf.reduce_sum(states * np.arange(3.0)) + tf.reduce_sum(last**2)
        with tf.Session() as session:
            found.append(session.run([states, last, *tf.gradients(loss, parameters)]))
    for mine, other in zip(*found):
        np.testing.assert_allclose(mine, other, rtol=1e-9)
    count = settings.get("max_input_length", 4)
    zeros = found[0][0][: 4 - count] if "aligned_end" in settings else found[0][0][count:]
    assert not zeros.any()
    h = H
    steps = X[4 - count :] if "aligned_end" in settings else X[:count]
    for x in steps:
        h = 1.0 / (1.0 + np.exp(-np.concatenate([x, h], 1) @ W))
    np.testing.assert_allclose(found[0][1], h)


@pytest.mark.parametrize("time_major", [False, True])
def test_nets_are_those_of_dynamic_rnn(time_major):
    lengths = [3, 1]
    inputs = tf.constant(X if time_major else X.transpose(1, 0, 2), tf.float32)
    settings = {"sequence_length": lengths, "dtype": tf.float32, "time_major": time_major}
    cells = [tf.nn.rnn_cell.LSTMCell(5, name="cell") for _ in range(4)]
    with tf.variable_scope("net"):
        mine = recurrent.functional_rnn(cells[0], inputs, **settings)
    with tf.variable_scope("net", reuse=True):
        other = tf.nn.dynamic_rnn(cells[1], inputs, **settings)
    both = [recurrent.bidirectional_functional_rnn(*cells[2:], inputs, **settings)]
    with tf.variable_scope("bidirectional_rnn", reuse=True) as scope:
        both.append(tf.nn.bidirectional_dynamic_rnn(*cells[2:], inputs, scope=scope, **settings))
    variables = tf.trainable_variables("net")
    assert [v.op.name for v in variables] == ["net/rnn/cell/kernel", "net/rnn/cell/bias"]
    gradients = [tf.gradients(outputs, variables) for outputs, _ in (mine, other)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for one, two in ([mine, other], gradients, both):
            for a, b in zip(
                tf.contrib.framework.nest.flatten(session.run(one)),
                tf.contrib.framework.nest.flatten(session.run(two)),
            ):
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)
