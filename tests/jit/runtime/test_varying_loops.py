# SPDX-License-Identifier: Apache-2.0
"""Loops whose variables have another size in each turn: one plan, and its gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.tests.jit.runtime.test_turn_sizes import both, rows, some

pytestmark = pytest.mark.cpu

ANY, ROWS = tf.TensorShape([]), tf.TensorShape([None, 4])


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def fed(x: Any, n: Any, *pairs: tuple[int, int]) -> list[dict[Any, Any]]:
    return [{x: rows(many, 4), n: turns} for many, turns in pairs]


def test_each_turn_looks_at_all_that_was_made_so_far() -> None:
    x, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [])
    w = tf.Variable(rows(4, 4) / 2)

    def body(i: Any, past: Any) -> Any:
        weights = tf.nn.softmax(tf.matmul(tf.matmul(past[-1:], w), past, transpose_b=True))
        return i + 1, tf.concat([past, tf.tanh(tf.matmul(tf.matmul(weights, past), w))], 0)

    _, past = tf.while_loop(lambda i, _: i < n, body, [0, x], [ANY, ROWS])
    loss = tf.reduce_mean(tf.square(past))
    feeds = fed(x, n, (3, 5), (3, 5), (2, 7), (5, 0), (3, 30), (1, 4))
    both([past, *tf.gradients(loss, [w, x])], feeds)
    both([loss], feeds, train=tf.train.AdamOptimizer(1e-3).minimize(loss))


def test_two_axes_grow() -> None:
    n = tf.placeholder(tf.int32, [])
    x = tf.placeholder(tf.float32, [None, 4])

    def body(i: Any, square: Any) -> Any:
        wide = tf.concat([square, tf.reduce_sum(square, 1, keepdims=True)], 1)
        return i + 1, tf.concat([wide, tf.reduce_mean(wide, 0, keepdims=True) + x[0, 0]], 0)

    shapes = [ANY, tf.TensorShape([None, None])]
    _, square = tf.while_loop(lambda i, _: i < n, body, [0, x], shapes)
    both([square, *tf.gradients(square, x)], fed(x, n, (3, 4), (2, 4), (2, 6), (3, 1)))


def test_a_turn_keeps_what_the_next_one_goes_on_with() -> None:
    """Until nothing is left; how many turns that takes is known when it is over."""
    x, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [])

    def body(left: Any, total: Any) -> Any:
        most = tf.reduce_max(left[:, 0])
        total = total + tf.reduce_sum(left) * tf.cast(n, tf.float32)
        return some(left[:, 0] < most, 0.5 * left), total

    begin = [x, tf.zeros([])]
    left, total = tf.while_loop(lambda r, _: tf.shape(r)[0] > 0, body, begin, [ROWS, ANY])
    both([left, total, *tf.gradients(total, x)], fed(x, n, (6, 1), (9, 1), (1, 2), (7, 1), (6, 3)))


def test_numbers_of_other_kinds_and_a_frontier() -> None:
    """A breadth-first search: what is new in each turn is where the next one begins."""
    edges, start = tf.placeholder(tf.bool, [12, 12]), tf.placeholder(tf.int64, [None])

    def body(front: Any, seen: Any, depth: Any) -> Any:
        reached = tf.reduce_any(tf.gather(edges, front), 0)
        new = tf.logical_and(reached, tf.logical_not(seen))
        return tf.where(new)[:, 0], tf.logical_or(seen, new), depth + tf.cast(new, tf.int32)

    seen = tf.reduce_any(tf.one_hot(start, 12, True, False, dtype=tf.bool), 0)
    shapes = [tf.TensorShape([None]), tf.TensorShape([12]), tf.TensorShape([12])]
    begin = [start, seen, tf.zeros([12], tf.int32)]
    found = tf.while_loop(lambda front, *_: tf.shape(front)[0] > 0, body, begin, shapes)
    draws = np.random.default_rng(2)
    feeds = [
        {edges: draws.random((12, 12)) < share, start: np.arange(many)}
        for share, many in [(0.1, 1), (0.2, 2), (0.05, 3), (0.0, 2), (0.3, 1)]
    ]
    both(list(found), feeds)


def test_what_varies_goes_round_within_what_varies() -> None:
    x, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [])
    w = tf.Variable(rows(4, 4) / 3)

    def outer(i: Any, past: Any) -> Any:
        def inner(j: Any, made: Any) -> Any:
            return j + 1, tf.concat([made, tf.tanh(tf.matmul(made[-1:], w)) + past[:1]], 0)

        _, made = tf.while_loop(lambda j, _: j <= i, inner, [0, past[-1:]], [ANY, ROWS])
        return i + 1, tf.concat([past, tf.reduce_mean(made, 0, keepdims=True)], 0)

    _, past = tf.while_loop(lambda i, _: i < n, outer, [0, x], [ANY, ROWS])
    both([past, *tf.gradients(past, [w, x])], fed(x, n, (3, 4), (2, 5), (3, 1), (4, 4)))


def test_a_branch_of_a_turn_cuts_off_what_varies() -> None:
    x, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [])

    def body(i: Any, past: Any) -> Any:
        longer = tf.concat([past, past[-1:] * 0.7 + 0.1], 0)
        is_long = tf.shape(longer)[0] > 5
        return i + 1, tf.cond(is_long, lambda: longer[2:], lambda: longer)

    _, past = tf.while_loop(lambda i, _: i < n, body, [0, x], [ANY, ROWS])
    both([past, *tf.gradients(past, x)], fed(x, n, (3, 4), (2, 9), (5, 1), (3, 11)))


def test_a_loop_in_a_branch_has_variables_that_grow() -> None:
    x, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [])

    def grown() -> Any:
        def body(i: Any, past: Any) -> Any:
            return i + 1, tf.concat([tf.sin(past), past[:1]], 0)

        return tf.while_loop(lambda i, _: i < n, body, [0, x], [ANY, ROWS])[1]

    y = tf.cond(x[0, 0] > 0, grown, lambda: 2 * x)
    feeds = fed(x, n, (3, 4), (2, 5), (3, 1), (4, 4), (3, 4), (6, 2))
    both([y, *tf.gradients(tf.square(y), x)], feeds)


def test_words_are_sampled_with_what_was_kept_of_those_before() -> None:
    """As language models do it: keys and values of all words so far go round."""
    start = tf.placeholder(tf.int32, [None])
    table, kernel = tf.Variable(rows(20, 8)), tf.Variable(rows(8, 24) / 3)

    def step(words: Any, past: Any) -> Any:
        q, k, v = tf.split(tf.matmul(tf.gather(table, words), kernel)[:, None], 3, -1)
        present = tf.stack([k, v], 1)
        if past is not None:
            k, v = (tf.concat([old, new], 1) for old, new in zip(tf.unstack(past, axis=1), (k, v)))
        found = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True)), v)[:, 0]
        scores = tf.matmul(found, table, transpose_b=True)
        return tf.argmax(scores, -1, output_type=tf.int32), present

    def body(past: Any, last: Any, words: Any) -> Any:
        found, present = step(last, past)
        return [tf.concat([past, present], 2), found, tf.concat([words, found[:, None]], 1)]

    first, present = step(start, None)
    shapes = [tf.TensorShape(s) for s in ([None, 2, None, 8], [None], [None, None])]
    found = tf.while_loop(
        lambda *_: True,
        body,
        [present, first, first[:, None]],
        shapes,
        maximum_iterations=9,
        back_prop=False,
    )
    both([found[2], found[0]], [{start: np.arange(many)} for many in (3, 3, 5)])
