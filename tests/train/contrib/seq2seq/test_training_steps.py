# SPDX-License-Identifier: Apache-2.0
"""Steps that train decoders run by plans, whatever the lengths of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.jit.runtime.runner import Runner

pytestmark = pytest.mark.cpu


def decoder_loss(inputs: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Of outputs that are transposed behind the loop, by an order that another segment made."""
    attention = tf.contrib.seq2seq.LuongAttention(3, inputs, lengths)
    cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.BasicRNNCell(3), attention, 3)
    helper = tf.contrib.seq2seq.TrainingHelper(inputs, lengths)
    state = cell.zero_state(tf.shape(inputs)[0], tf.float32)
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, state)
    return tf.reduce_sum(tf.contrib.seq2seq.dynamic_decode(decoder)[0].rnn_output ** 2)


def test_a_decoder_that_is_trained_is_not_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(runner: Runner, error: Exception, *rest: Any) -> None:
        raise AssertionError("a plan was refused") from error

    monkeypatch.setattr(Runner, "_refused", refused)
    inputs, lengths = tf.placeholder(tf.float32, [None, None, 2]), tf.placeholder(tf.int32, [None])
    tf.set_random_seed(1)
    loss = decoder_loss(inputs, lengths)
    train = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
    losses = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feed = {inputs: np.ones([2, 4, 2]), lengths: [4, 3]}
        for _ in range(3):
            losses.append(session.run([loss, train], feed)[0])
    assert losses[2] < losses[1] < losses[0]


def test_a_permutation_of_sizes_is_undone() -> None:
    rows, x = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None, None, None])
    order = tf.stack([1, tf.shape(rows)[0], 0])
    undone = tf.transpose(tf.transpose(x, order), tf.math.invert_permutation(order))
    value = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
    with tf.Session() as session:
        for _ in range(2):
            assert (session.run(undone, {x: value, rows: [1, 1]}) == value).all()
