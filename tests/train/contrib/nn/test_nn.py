# SPDX-License-Identifier: Apache-2.0
"""Dropout that keeps moments, losses over sampled classes, and what else tf.contrib.nn has."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib.nn.fwd_gradients import fwd_gradients

pytestmark = pytest.mark.cpu

nn = tf.contrib.nn


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        yield


def run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


def test_dropout_keeps_mean_and_variance():
    dropped = run(nn.alpha_dropout(tf.random_normal([100, 100]), 0.7))
    assert abs(dropped.mean()) < 0.05 and abs(dropped.var() - 1) < 0.1
    least = run(nn.alpha_dropout(tf.zeros([1000]), 0.7))
    assert len(np.unique(least)) == 2 and 0.25 < (least < 0).mean() < 0.35
    with pytest.raises(ValueError, match=r"in the range \(0, 1\], got 0"):
        nn.alpha_dropout(tf.zeros([2]), 0)


def test_softplus_follows_its_slope():
    x = tf.constant(np.linspace(-2, 2, 9))
    alpha, clip = tf.constant(0.5, tf.float64), tf.constant(1.2, tf.float64)
    y = nn.scaled_softplus(x, alpha, clip)
    values, dx, dalpha, dclip = run([y, *tf.gradients(y, [x, alpha, clip])])
    points = np.linspace(-2, 2, 9)
    whole = 0.5 * np.log1p(np.exp(points / 0.5))
    below = whole < 1.2
    np.testing.assert_allclose(values, np.minimum(whole, 1.2), rtol=1e-12)
    np.testing.assert_allclose(dx, below / (1 + np.exp(-points / 0.5)), rtol=1e-6)
    step = 1e-6
    upper = (0.5 + step) * np.log1p(np.exp(points / (0.5 + step)))
    np.testing.assert_allclose(dalpha, ((upper - whole) / step)[below].sum(), rtol=1e-4)
    assert dclip == (~below).sum()


def test_arguments_come_in_the_old_order():
    logits, classes = tf.constant([[1.0, 2.0, 0.5]]), tf.constant([[0.2, 0.3, 0.5]])
    pairs = [
        (
            nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, classes),
            tf.nn.softmax_cross_entropy_with_logits(labels=classes, logits=logits),
        ),
        (
            nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [1]),
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1], logits=logits),
        ),
        (
            nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, classes),
            tf.nn.sigmoid_cross_entropy_with_logits(labels=classes, logits=logits),
        ),
    ]
    for old, new in run(pairs):
        np.testing.assert_array_equal(old, new)


def test_rows_are_asked_for_their_nth_values():
    rows = tf.constant([[5, 1, 3], [2, 9, 4]])
    assert run([nn.nth_element(rows, 1), nn.nth_element(rows, 0, reverse=True)])[0].tolist() == [
        3,
        4,
    ]
    assert run(nn.nth_element(rows, 0, reverse=True)).tolist() == [5, 9]


def test_losses_over_some_classes():
    rng = np.random.default_rng(1)
    weights = tf.constant(rng.normal(size=(20, 4)).astype(np.float32))
    biases = tf.constant(rng.normal(size=20).astype(np.float32))
    inputs = tf.constant(rng.normal(size=(3, 4)).astype(np.float32))
    labels = tf.constant([[2], [11], [5]], tf.int64)
    sampled = tf.constant([1, 7, 2, 9], tf.int64), tf.fill([3, 1], 0.5), tf.fill([4], 0.25)
    given = (weights, biases, labels, inputs)
    sparse = nn.sampled_sparse_softmax_loss(*given, 4, 20, sampled)
    dense = tf.nn.sampled_softmax_loss(*given, 4, 20, sampled_values=sampled)
    ranked = nn.rank_sampled_softmax_loss(*given, 4, 2, 20, 1, sampled, 0.7, True, "div")
    logits = tf.reduce_logsumexp(
        (
            tf.matmul(tf.gather(weights, sampled[0]), inputs, transpose_b=True)
            + tf.gather(biases, sampled[0])[:, None]
        )
        / 0.7,
        axis=1,
    )
    best = tf.nn.top_k(logits, 2).indices
    chosen = tf.gather(sampled[0], best), sampled[1], tf.gather(sampled[2], best)
    expected = tf.nn.sampled_softmax_loss(
        *given, 2, 20, sampled_values=chosen, partition_strategy="div"
    )
    a, b, c, d = run([sparse, dense, ranked, expected])
    np.testing.assert_allclose(a, b, rtol=1e-5)
    np.testing.assert_allclose(c, d, rtol=1e-5)
    with pytest.raises(ValueError, match=r"num_resampled \(4\) must be less than num_sampled"):
        nn.rank_sampled_softmax_loss(*given, 4, 4, 20, 1, sampled, 0.7, True, "div")


def test_derivatives_in_a_direction():
    x, direction = tf.constant([1.0, 2.0]), tf.constant([0.5, -1.0])
    y = tf.stack([x[0] * x[1], x[0] ** 3])
    (change,) = fwd_gradients([y], [x], [direction], assert_unused=True)
    np.testing.assert_allclose(run(change), [1.0 * -1.0 + 2.0 * 0.5, 3 * 0.5], rtol=1e-6)
