# SPDX-License-Identifier: Apache-2.0
"""Branches that give other shapes: what comes behind is compiled within each of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

from .test_collecting import loop, same, some

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph():
    tf.reset_default_graph()


def x_and_p() -> tuple[Any, Any]:
    return tf.placeholder(tf.float64, [None, 3], name="x"), tf.placeholder(tf.bool, [], name="p")


def feeds(x: Any, p: Any) -> list[Any]:
    return [{x: some(rows, 3), p: flag} for rows in (2, 5, 1) for flag in (True, False)]


def test_what_comes_behind_has_one_shape_again():
    x, p = x_and_p()
    y = tf.cond(p, lambda: x[:1] * 2.0, lambda: tf.concat([x, x], 0))
    z = tf.reduce_sum(y * y + 1.0, 0)
    same([z, tf.shape(y)[0] + 1], feeds(x, p))


def test_ranks_may_differ():
    x, p = x_and_p()
    y = tf.cond(p, lambda: tf.reduce_sum(x, 0), lambda: x)
    same([tf.reduce_max(y * 3.0)], feeds(x, p), compiled=False)

    def body(i: Any, total: Any) -> Any:
        y = tf.cond(tf.equal(i % 2, 0), lambda: tf.reduce_sum(x, 0), lambda: x)
        return i + 1, total * 0.5 + tf.cast(tf.size(y * 3.0), tf.float64)

    start = [0, tf.zeros([], tf.float64)]
    same(tf.while_loop(lambda i, _: i < 5, body, start), feeds(x, p)[:1])


def test_gradients_come_back_through_both_sides():
    x, p = x_and_p()
    y = tf.cond(p, lambda: x[:1] * 2.0, lambda: tf.concat([x, x * x], 0))
    same(tf.gradients(tf.reduce_sum(y * 2.0 + 1.0), x), feeds(x, p))


def test_what_is_fetched_with_a_shape_of_its_branch_is_right():
    x, p = x_and_p()
    y = tf.cond(p, lambda: x[:1] * 2.0, lambda: tf.concat([x, x], 0))
    same([y, tf.reduce_sum(y)], feeds(x, p))


def test_two_tensors_of_one_branch_and_others_meet():
    x, p = x_and_p()
    y, z = tf.cond(p, lambda: (x[:1], x[:1] + 1.0), lambda: (tf.concat([x, x], 0),) * 2)
    same([tf.reduce_sum(y * z + tf.reduce_sum(x, 0))], feeds(x, p))


def test_a_loop_collects_pieces_of_several_sizes():
    x = tf.placeholder(tf.float64, [None, 3], name="x")
    n = tf.placeholder(tf.int32, [], name="n")

    def body(i: Any, rows: Any) -> Any:
        piece = tf.cond(tf.equal(i % 3, 0), lambda: x, lambda: x[:1] * tf.cast(i, tf.float64))
        return i + 1, tf.concat([rows, piece * 2.0], 0)

    _, rows = loop(n, body, [tf.zeros([1, 3], tf.float64)])
    every = [{x: some(k, 3), n: turns} for k, turns in ((2, 4), (3, 40), (1, 1), (2, 0), (50, 7))]
    same([rows, tf.reduce_sum(rows, 0)], every)


def test_slices_of_a_table_in_a_branch_of_a_loop():
    """The gradient of a lookup in one branch has its rows, that of the other all of the table's."""
    words = tf.placeholder(tf.int32, [None], name="words")
    table = tf.get_variable("table", initializer=some(7, 4))
    matrix = tf.get_variable("matrix", initializer=some(4, 4))

    def body(i: Any, h: Any) -> Any:
        step = tf.cond(
            words[i] >= 0,
            lambda: tf.expand_dims(tf.gather(table, words[i]), 0),
            lambda: tf.reverse(h, [1]) * matrix[:1],
        )
        return i + 1, h + step

    _, h = tf.while_loop(lambda i, _: i < tf.size(words), body, [0, tf.ones([1, 4], tf.float64)])
    loss = tf.reduce_sum(h * h)
    slices, dense = tf.gradients(loss, [table, matrix])
    fetches = [loss, slices.values, slices.indices, dense, tf.convert_to_tensor(slices)]
    same(fetches, [{words: w} for w in ([1, -1, 3], [2], [-1, -1, 6, 6, 0], [1] * 20)])


def test_variables_are_written_once_by_what_follows():
    x, p = x_and_p()
    v = tf.get_variable("v", initializer=np.zeros(3))
    y = tf.cond(p, lambda: x[:1] * 2.0, lambda: tf.concat([x, x], 0))
    same([tf.assign_add(v, tf.reduce_sum(y, 0))], feeds(x, p))


def test_branches_within_branches_give_several_ranks():
    x, p = x_and_p()
    q = tf.placeholder(tf.bool, [], name="q")

    def inner(two: Any) -> Any:
        return tf.cond(q, lambda: tf.reduce_sum(two, 0), lambda: tf.stack([two, two]))

    ways = [{**feed, q: flag} for feed in feeds(x, p) for flag in (True, False)]
    outer = tf.cond(p, lambda: x * 2.0, lambda: inner(x))
    same([tf.reduce_max(outer * 3.0)], ways, compiled=False)
    first = tf.cond(p, lambda: inner(x + 1.0), lambda: x[:1])
    same([tf.size(first * 3.0), tf.reduce_sum(first) + 1.0], ways, compiled=False)
    known = tf.cond(tf.constant(True), lambda: inner(x), lambda: x)
    same([tf.reduce_sum(known - 1.0)], ways, compiled=False)


def test_pictures_of_any_format_are_one_function_of_a_dataset():
    with tf.Session() as session:
        pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
        png, jpeg = session.run([tf.image.encode_png(pixels), tf.image.encode_jpeg(pixels)])

    def scaled(text: Any) -> Any:
        return tf.cast(tf.image.decode_image(text), tf.float32) * (2.0 / 255) - 1.0

    pictures = tf.data.Dataset.from_tensor_slices([png, jpeg, png, png])
    element = pictures.map(scaled).make_one_shot_iterator().get_next()
    with tf.Session() as session, warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = [session.run(element) for _ in range(4)]
    np.testing.assert_array_equal(rows[0], pixels * np.float32(2.0 / 255) - np.float32(1.0))
    assert [row.shape for row in rows] == [(2, 4, 3)] * 4 and (rows[2] == rows[0]).all()


def of_turn(i: Any, x: Any) -> Any:
    """A vector in even turns, a matrix in the others."""
    return tf.cond(tf.equal(i % 2, 0), lambda: tf.reduce_sum(x, 0), lambda: x)


def branched_again(i: Any, x: Any, n: Any) -> Any:
    y = of_turn(i, x)
    return tf.reduce_sum(tf.cond(i > 1, lambda: y * 2.0, lambda: y + 1.0))


def around_a_loop(i: Any, x: Any, n: Any) -> Any:
    y = of_turn(i, x)
    body = lambda j, total: (j + 1, total * 0.5 + tf.reduce_sum(y))  # noqa: E731
    return tf.while_loop(lambda j, _: j < n, body, [0, tf.zeros([], x.dtype)])[1]


def carried_by_a_loop(i: Any, x: Any, n: Any) -> Any:
    start, shapes = [0, of_turn(i, x)], [tf.TensorShape([]), tf.TensorShape(None)]
    body = lambda j, y: (j + 1, y * 0.5)  # noqa: E731
    return tf.reduce_sum(tf.while_loop(lambda j, _: j < n, body, start, shape_invariants=shapes)[1])


def kept_for_gradients(i: Any, x: Any, n: Any) -> Any:
    return tf.reduce_sum(tf.sin(of_turn(i, x) * of_turn(i + 1, x)))


def branches_in_a_branch(i: Any, x: Any, n: Any) -> Any:
    return tf.reduce_sum(tf.cond(i > 2, lambda: of_turn(i, x), lambda: tf.stack([x, x])) * 3.0)


@pytest.mark.parametrize("flow", ["v1", "v2"])
@pytest.mark.parametrize(
    "in_turn",
    [branched_again, around_a_loop, carried_by_a_loop, kept_for_gradients, branches_in_a_branch],
)
def test_whatever_takes_several_shapes_in_a_loop_is_right(in_turn: Any, flow: str) -> None:
    if flow == "v2":
        tf.enable_control_flow_v2()
    try:
        x, n = tf.placeholder(tf.float64, [None, 3]), tf.placeholder(tf.int32, [])
        body = lambda i, total: (i + 1, total * 0.5 + in_turn(i, x, n))  # noqa: E731
        fetches = [tf.while_loop(lambda i, _: i < n, body, [0, tf.zeros([], x.dtype)])[1]]
        if in_turn is kept_for_gradients:
            fetches += tf.gradients(fetches, x)
    finally:
        tf.disable_control_flow_v2()
    whole = in_turn is branches_in_a_branch and flow == "v1"
    same(fetches, [{x: some(k, 3), n: turns} for k in (1, 4) for turns in (5, 0)], compiled=whole)
