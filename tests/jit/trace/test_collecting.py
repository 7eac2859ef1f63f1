# SPDX-License-Identifier: Apache-2.0
"""Loops that collect in a tensor which grows are compiled as they are, and give the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()


def same(fetches: Any, feeds: list[Any], compiled: bool = True) -> None:
    """Runs give the same bits by reference kernels and compiled; as one plan where they can."""
    with tf.control_dependencies(None):
        prepare = tf.global_variables_initializer()
    found = []
    for mode in ("never", "always"):
        with settings.override(jit=mode), tf.Session() as session:
            session.run(prepare)
            found.append([session.run(fetches, feed) for feed in feeds])
            if mode == "always":
                text = str(session.explain(fetches, feeds[0]))
                assert ("piece by piece" not in text) == compiled, text
    for one, other in zip(*found, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(b, a)


def x_and_n() -> tuple[Any, Any]:
    x = tf.placeholder(tf.float64, [None, None], name="x")
    return x, tf.placeholder(tf.int32, [], name="n")


def some(rows: int, columns: int) -> np.ndarray:
    return np.round(np.random.RandomState(rows).standard_normal((rows, columns)) * 8) / 8


def loop(n: Any, body: Any, start: list[Any]) -> Any:
    shapes = [tf.TensorShape([None] * value.shape.rank) for value in start]
    shapes = [tf.TensorShape([]), *shapes]
    return tf.while_loop(lambda i, *_: i < n, body, [0, *start], shape_invariants=shapes)


PIECES = (
    (0, lambda y: y[:1] * 0.5),
    (0, lambda y: y),
    (1, lambda y: tf.reduce_sum(y, 1, keepdims=True)),
    (1, lambda y: tf.concat([y, y[:, :1]], 1)),
    (0, lambda y: tf.zeros_like(y)[:1]),
    (0, lambda y: tf.ones([1, 1], tf.float64) * y[:1] - 1.0),
)


@hypothesis_settings(
    max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(
    st.lists(st.integers(0, len(PIECES) - 1), min_size=1, max_size=3),
    st.lists(st.integers(0, 40), min_size=2, max_size=3),
    st.booleans(),
)
def test_whatever_is_put_behind_what_there_is(choices, turns, begins_empty):
    with tf.Graph().as_default():
        x, n = x_and_n()

        def body(i: Any, y: Any, *collected: Any) -> Any:
            grown = [
                tf.concat([one, PIECES[c][1](y)], PIECES[c][0])
                for c, one in zip(choices, collected)
            ]
            return (i + 1, y * 0.5 + 1.0, *grown)

        starts = [
            (x[:0] if PIECES[c][0] == 0 else x[:, :0]) if begins_empty else x * 2.0 for c in choices
        ]
        _, y, *collected = loop(n, body, [x, *starts])
        same([y, *collected], [{x: some(4, 3), n: k} for k in turns])


def test_what_is_looked_at_is_not_only_collected():
    x, n = x_and_n()

    def by_shape(i: Any, y: Any) -> Any:
        return i + 1, tf.concat([y, y[:1] * tf.cast(tf.shape(y)[0], tf.float64)], 0)

    def by_test(i: Any, y: Any) -> Any:
        return i + 1, tf.concat([y, x[:1]], 0)

    shapes = [tf.TensorShape([]), tf.TensorShape([None, None])]
    going = tf.while_loop(lambda i, y: tf.size(y) < 7 * n, by_test, [0, x], shapes)
    feeds = [{x: some(2, 3), n: k} for k in (3, 5)]
    same([loop(n, by_shape, [x])[1]], feeds)
    same([going[1]], feeds)


def test_what_is_put_in_front_is_no_collection():
    x, n = x_and_n()
    same(
        [loop(n, lambda i, y: (i + 1, tf.concat([x[:1], y], 0)), [x])[1]],
        [{x: some(2, 3), n: k} for k in (3, 5)],
    )


def test_what_is_collected_may_be_of_no_turn_or_of_another_loop():
    x, n = x_and_n()

    def body(i: Any, y: Any) -> Any:
        inner = tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * 0.5), [0, x[:1]])[1]
        return i + 1, tf.concat([y, inner], 0)

    y = loop(n, body, [x])[1]
    again = loop(n, lambda i, z: (i + 1, tf.concat([z, y[:1]], 0)), [y])[1]
    same([y, again], [{x: some(2, 3), n: k} for k in (3, 0, 5, 3)])


def test_a_variable_collects_what_it_held_before_it_changes():
    x, n = x_and_n()
    v = tf.Variable(np.arange(3.0).reshape(1, 3), use_resource=True)

    def body(i: Any, y: Any) -> Any:
        with tf.control_dependencies([y]):
            with tf.control_dependencies([v.assign_add(tf.ones([1, 3], tf.float64))]):
                return i + 1, tf.concat([y, v.read_value()], 0)

    y = loop(n, body, [v.read_value()])[1]
    with tf.control_dependencies([y]):
        same([y, v.read_value()], [{x: some(2, 3), n: k} for k in (3, 1, 4)])


def test_gradients_as_slices_are_collected():
    """Each turn adds rows, with their numbers, to what the gradient of a table is."""
    table = tf.get_variable("table", initializer=some(6, 4))
    ids = tf.placeholder(tf.int32, [None, None], name="ids")
    h = tf.zeros([tf.shape(ids)[1], 4], tf.float64)
    _, h = tf.while_loop(
        lambda t, _: t < tf.shape(ids)[0],
        lambda t, h: (t + 1, h * 0.5 + tf.nn.embedding_lookup(table, ids[t])),
        [0, h],
    )
    gradient = tf.gradients(tf.reduce_sum(h * h), table)[0]
    rows = np.array([[0, 1], [2, 2], [5, 0]])
    same([h, gradient.values, gradient.indices], [{ids: rows}, {ids: rows[:2]}, {ids: rows[:, :1]}])
