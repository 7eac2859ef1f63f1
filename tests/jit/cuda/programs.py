# SPDX-License-Identifier: Apache-2.0
"""Programs that run on a device and without one; what they give is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import numbaflow as tf

Steps = Iterator[Any]


def perceptron(session: Any, rng: np.random.Generator) -> Steps:
    """Two dense layers and Adam; a variable is read, assigned and read again."""
    x, y = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.int64, [None])
    logits = tf.layers.dense(tf.layers.dense(x, 16, tf.nn.relu), 4)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    step = tf.train.AdamOptimizer(0.05).minimize(loss)
    kernel = tf.trainable_variables()[0]
    session.run(tf.global_variables_initializer())
    feeds = {x: rng.standard_normal((32, 8), np.float32), y: rng.integers(0, 4, 32)}
    for _ in range(3):
        yield session.run([loss, step], feeds)[0]
    yield session.run(kernel)
    session.run(kernel.assign(kernel * 0.5))
    yield session.run(kernel)
    yield session.run(loss, {x: feeds[x][:7], y: feeds[y][:7]})


def pictures(session: Any, rng: np.random.Generator) -> Steps:
    """Convolutions of both kinds of padding, strides, pooling, dropout."""
    x, y = tf.placeholder(tf.float32, [None, 9, 9, 2]), tf.placeholder(tf.int64, [None])
    h = tf.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(h, 3, 2, padding="same")
    h = tf.layers.conv2d(h, 6, 2, strides=2, activation=tf.nn.tanh)
    h = tf.layers.average_pooling2d(h, 2, 1, padding="same")
    h = tf.layers.dropout(tf.layers.flatten(h), 0.5, training=True)
    loss = tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(h, 3))
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    session.run(tf.global_variables_initializer())
    feeds = {x: rng.standard_normal((5, 9, 9, 2), np.float32), y: rng.integers(0, 3, 5)}
    for _ in range(3):
        yield session.run([loss, step], feeds)[0]


def sequences(session: Any, rng: np.random.Generator) -> Steps:
    """A loop with its gradient, whose turns the host counts."""
    x, n = tf.placeholder(tf.float32, [None, 5, 3]), tf.placeholder(tf.int32, [None])
    cell = tf.nn.rnn_cell.LSTMCell(4)
    outputs, state = tf.nn.dynamic_rnn(cell, x, sequence_length=n, dtype=tf.float32)
    loss = tf.reduce_sum(tf.square(state.h)) + tf.reduce_mean(outputs)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    session.run(tf.global_variables_initializer())
    feeds = {x: rng.standard_normal((3, 5, 3), np.float32), n: [5, 0, 2]}
    for _ in range(2):
        yield session.run([loss, step], feeds)[0]


def stacks(session: Any, rng: np.random.Generator) -> Steps:
    """Loops of more turns than a stack has room for at first, the last one longer; what they kept
    comes back in their gradients, and is collected."""
    x = tf.placeholder(tf.float32, [None, 3])
    kept = tf.scan(lambda a, b: tf.tanh(a * 0.9 + b), x)
    powers = tf.while_loop(lambda i, a: i < tf.shape(x)[0], lambda i, a: (i + 1, a * 1.01), [0, x])
    loss = tf.reduce_sum(kept * kept) + tf.reduce_mean(powers[1])
    gradient = tf.gradients(loss, x)[0]
    for turns in (3, 40, 90):
        yield session.run([loss, gradient], {x: rng.standard_normal((turns, 3), np.float32)})


def branches(session: Any, rng: np.random.Generator) -> Steps:
    """Conditions, loops over numbers, and operations that only the host has."""
    x, flag = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [])
    count = tf.Variable(0)
    chosen = tf.cond(flag, lambda: tf.reduce_sum(x) + 1.0, lambda: tf.reduce_max(x))
    turns = tf.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s * 1.5), [0, chosen])
    doubled = tf.py_func(lambda a: a * np.float32(2), [x], tf.float32)
    kept = tf.boolean_mask(x, x > 0)
    later = tf.assign_add(count, 1)
    session.run(tf.global_variables_initializer())
    values = rng.standard_normal(12).astype(np.float32)
    for is_set in (True, False):
        yield session.run([turns, tf.reduce_mean(doubled), kept, later], {x: values, flag: is_set})


def rows(session: Any, rng: np.random.Generator) -> Steps:
    """Rows that are looked up and updated, sorted, summed by segment, and drawn at random."""
    table = tf.Variable(tf.random_uniform([20, 4], seed=5))
    ids = tf.placeholder(tf.int32, [None])
    found = tf.nn.embedding_lookup(table, ids)
    loss = tf.reduce_sum(found * found)
    step = tf.train.AdagradOptimizer(0.1).minimize(loss)
    best = tf.nn.top_k(tf.reshape(table, [-1]), 3)
    sums = tf.unsorted_segment_sum(found, ids % 3, 3)
    drawn = tf.random_normal([3], seed=4)
    session.run(tf.global_variables_initializer())
    for _ in range(2):
        yield session.run([loss, best, sums, drawn, step], {ids: [1, 2, 2, 5, 19]})[:-1]


PROGRAMS: dict[str, Callable[..., Steps]] = {
    f.__name__: f for f in (perceptron, pictures, sequences, stacks, branches, rows)
}


def results(name: str) -> tuple[list[Any], Any]:
    """What a program gives in a session of the settings, and the session's GPU."""
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        with tf.Session() as session:
            found = list(PROGRAMS[name](session, np.random.default_rng(0)))
            return found, session.gpu


def assert_alike(found: Any, wanted: Any) -> None:
    """Whether results agree: numbers nearly, of which sums may be taken in another order."""
    mine, theirs = tf.nest.flatten(found), tf.nest.flatten(wanted)
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs):
        if np.asarray(other).dtype.kind == "f":
            np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(one, other)
