# SPDX-License-Identifier: Apache-2.0
"""Loops that lowerings write: within branches and loops of a graph, and beside each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

_CELLS = 2


def _sequence(x: Any, scale: float = 1.0) -> Any:
    """The outputs of an LSTM over x [time, batch, 1], whose steps a lowering makes a loop of."""
    batch = tf.shape(x)[1]
    nothing = tf.zeros([batch, _CELLS])
    weights = tf.fill([1 + _CELLS, 4 * _CELLS], scale)
    diagonal, bias = tf.zeros([_CELLS]), tf.zeros([4 * _CELLS])
    return tf.raw_ops.BlockLSTM(
        seq_len_max=tf.cast(tf.shape(x)[0], tf.int64),
        x=x,
        cs_prev=nothing,
        h_prev=nothing,
        w=weights,
        wci=diagonal,
        wcf=diagonal,
        wco=diagonal,
        b=bias,
    ).h


def test_in_a_loop_of_the_graph_it_runs_in_each_turn() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, None, 1])

        def turn(i: Any, total: Any) -> tuple[Any, Any]:
            return i + 1, total + tf.reduce_sum(_sequence(x + total))

        _, looped = tf.while_loop(lambda i, total: i < 3, turn, [0, tf.constant(0.0)])
        total: Any = tf.constant(0.0)
        for _ in range(3):
            total += tf.reduce_sum(_sequence(x + total))
        for shape in ((4, 2, 1), (1, 3, 1)):
            feed = {x: np.linspace(-1, 1, np.prod(shape)).reshape(shape)}
            assert "on the host" not in str(session.explain(looped, feed))
            found, expected = session.run([looped, total], feed)
            np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_in_a_branch_it_runs_if_that_is_taken() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, None, 1])
        flag = tf.placeholder(tf.bool, [])
        either = tf.cond(flag, lambda: _sequence(x), lambda: tf.zeros_like(_sequence(x, 0.5)))
        always = _sequence(x)
        for value in (True, False, True):
            feed = {x: np.ones((3, 2, 1)), flag: value}
            found, expected = session.run([either, always], feed)
            np.testing.assert_allclose(found, expected * value, rtol=1e-6)


def test_variables_are_read_before_and_written_behind_it() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, None, 1])
        start = tf.get_variable("start", initializer=2.0)
        total = tf.reduce_sum(_sequence(x * start))
        with tf.control_dependencies([total]):
            after = tf.assign(start, start + 1.0)
        session.run(tf.global_variables_initializer())
        feed = {x: np.ones((4, 1, 1))}
        found = [session.run([total, after], feed)[0] for _ in range(2)]
        expected = [session.run(tf.reduce_sum(_sequence(x * scale)), feed) for scale in (2.0, 3.0)]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
