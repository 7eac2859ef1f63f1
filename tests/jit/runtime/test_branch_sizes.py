# SPDX-License-Identifier: Apache-2.0
"""Sizes that a run learns within a branch, in loops and outside: one plan, and its gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.tests.jit.runtime.test_turn_sizes import both, rows, some

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _fed(x: Any, p: Any, sizes: list[tuple[int, float]]) -> list[dict[Any, Any]]:
    """Runs of other numbers of rows, with one branch and the other in turns."""
    return [{x: rows(n, 4), p: number} for n, number in sizes]


@pytest.fixture
def feeds() -> tuple[Any, Any, list[dict[Any, Any]]]:
    x, p = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [])
    return x, p, _fed(x, p, [(8, 1), (8, -1), (9, 1), (12, 0.2), (8, -1), (8, 1), (30, 1)])


def weights() -> Any:
    return tf.Variable(rows(4, 3))


def test_a_branch_chooses_rows(feeds: Any) -> None:
    x, p, fed = feeds
    w = weights()

    def chosen() -> Any:
        return tf.reduce_sum(tf.square(tf.matmul(some(x[:, 0] > 0, x), w)))

    y = tf.cond(p > 0, chosen, lambda: tf.reduce_sum(w * w))
    train = tf.train.GradientDescentOptimizer(1e-3).minimize(y)
    both([y, *tf.gradients(y, [w])], fed, train=train)


def test_what_one_branch_chose_is_used_behind_both(feeds: Any) -> None:
    x, p, fed = feeds
    w = weights()
    z = tf.cond(p > 0, lambda: some(x[:, 0] > 0, x), lambda: tf.zeros([2, 4]))
    y = tf.matmul(z, w)
    both([z, tf.shape(z), y, *tf.gradients(tf.square(y), [w])], fed)


def test_both_branches_choose(feeds: Any) -> None:
    x, p, fed = feeds
    w = weights()
    z = tf.cond(p > 0, lambda: some(x[:, 0] > 0, x), lambda: some(x[:, 1] < 0.1, 2 * x))
    y = tf.matmul(tf.nn.softmax(tf.matmul(z, w), 0), tf.matmul(z, w), transpose_a=True)
    both([z, y, *tf.gradients(y, [w])], fed)


def test_a_branch_of_a_branch_chooses_among_what_was_chosen(feeds: Any) -> None:
    x, p, fed = feeds

    def nested() -> Any:
        found = some(x[:, 0] > -0.5, x)
        few = tf.shape(found)[0] < 6
        return tf.cond(
            few,
            lambda: tf.reduce_sum(found, 0),
            lambda: tf.reduce_sum(some(found[:, 1] > 0, found), 0),
        )

    both([tf.cond(p > 0, nested, lambda: tf.reduce_max(x, 0))], fed)


def test_a_branch_of_a_branch_hands_on_what_it_chose(feeds: Any) -> None:
    x, p, fed = feeds
    w = weights()

    def nested() -> Any:
        first, second = some(x[:, 0] > 0, x), x[:, 1] > 0.3
        return tf.cond(p > 0.5, lambda: first, lambda: some(second, x))

    z = tf.cond(p > 0, nested, lambda: x[:3])
    both([z, *tf.gradients(tf.square(tf.matmul(z, w)), [w])], fed)


def test_as_many_as_are_known_outside_are_chosen(feeds: Any) -> None:
    """That two sizes are equal is looked at only where the branch runs that says so."""
    x, p, fed = feeds
    kept = some(x[:, 0] > 0, x)

    def product() -> Any:
        return tf.reduce_sum(kept * some(x[:, 0] > 0, tf.sin(x)), 0)

    both([kept, tf.cond(p > 0, product, lambda: tf.zeros([4]))], fed)


def test_a_size_learnt_in_a_branch_says_nothing_of_one_behind_it(feeds: Any) -> None:
    x, p, fed = feeds
    total = tf.cond(p > 0, lambda: tf.reduce_sum(some(x[:, 0] > 0, x), 0), lambda: tf.zeros([4]))
    again = some(x[:, 0] > 0, x + total)
    both([again, tf.reduce_mean(again, 0)], fed)


def test_turns_choose_or_do_not() -> None:
    """As in scheduled sampling: what was chosen and what was not is put together again."""
    x, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [])
    w = tf.Variable(rows(4, 3) / 4)

    def sampled(h: Any) -> Any:
        mask = h[:, 0] > tf.reduce_mean(h[:, 0])
        here, there = tf.where(mask), tf.where(tf.logical_not(mask))
        new = tf.tanh(tf.matmul(tf.matmul(tf.gather_nd(1.0 * h, here), w), w, transpose_b=True))
        shape = tf.shape(h, out_type=tf.int64)
        old = tf.scatter_nd(there, tf.gather_nd(1.0 * x, there) * tf.reduce_sum(w), shape)
        return tf.scatter_nd(here, new, shape) + old

    def body(i: Any, h: Any) -> Any:
        stays = tf.equal(tf.floormod(i, 3), 1)
        return i + 1, tf.cond(stays, lambda: 0.9 * h, lambda: sampled(h))

    _, h = tf.while_loop(lambda i, _: i < n, body, [0, tf.tanh(x)])
    loss = tf.reduce_mean(tf.square(h))
    train = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
    sizes = [(8, 5), (8, 7), (9, 5), (12, 6), (8, 1), (8, 9)]
    fed = [{x: rows(many, 4), n: turns} for many, turns in sizes]
    both([loss, *tf.gradients(loss, [w, x])], fed)
    both([loss], fed, train=train)


def test_turns_hand_on_what_a_branch_chose() -> None:
    x, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [])
    w = weights()

    def body(i: Any, h: Any, found: Any) -> Any:
        few = tf.cond(h[0, 0] > 0.1, lambda: some(h[:, 0] > 0.05, 1.0 * h), lambda: 2 * h[:2])
        return i + 1, -0.8 * h, found.write(i, tf.reduce_sum(tf.square(tf.matmul(few, w)), 0))

    begin = [0, tf.tanh(x), tf.TensorArray(tf.float32, n)]
    _, _, found = tf.while_loop(lambda i, *_: i < n, body, begin)
    y = found.stack()
    fed = [{x: rows(many, 4), n: turns} for many, turns in [(8, 5), (9, 4), (8, 6), (20, 5)]]
    both([y, *tf.gradients(y, [w])], fed)


def test_turns_collect_what_a_branch_chose() -> None:
    x, n = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.int32, [])

    def body(i: Any, found: Any) -> Any:
        mask = x[:, 0] > 0.1 * tf.cast(i, tf.float32)
        is_even = tf.equal(tf.floormod(i, 2), 0)
        more = tf.cond(is_even, lambda: some(mask, x), lambda: tf.zeros([0, 4]))
        return i + 1, tf.concat([found, more], 0)

    grows = [tf.TensorShape([]), tf.TensorShape([None, 4])]
    _, found = tf.while_loop(lambda i, _: i < n, body, [0, tf.zeros([0, 4])], grows)
    fed = [{x: rows(many, 4), n: turns} for many, turns in [(8, 5), (9, 4), (8, 6), (20, 5)]]
    both([found, tf.reduce_sum(found, 0)], fed)


def test_a_loop_in_a_branch_goes_over_what_was_chosen(feeds: Any) -> None:
    x, p, fed = feeds
    w = weights()

    def of_rows() -> Any:
        def body(row: Any) -> Any:
            return tf.reduce_sum(some(row > 0, tf.square(row))) * tf.reduce_sum(w)

        return tf.reduce_sum(tf.map_fn(body, some(x[:, 0] > 0, x)))

    y = tf.cond(p > 0, of_rows, lambda: tf.reduce_sum(w))
    both([y, *tf.gradients(y, [w])], fed)


def test_how_many_are_drawn_is_computed_in_a_branch(feeds: Any) -> None:
    x, p, fed = feeds

    def repeated() -> Any:
        count = tf.count_nonzero(x[:, 0] > 0, dtype=tf.int32)
        return tf.reduce_sum(tf.range(count)), tf.reduce_mean(tf.fill([count, 3], p), 0)

    both(tf.cond(p > 0, repeated, lambda: (0, tf.ones([3]))), fed)
