# SPDX-License-Identifier: Apache-2.0
"""Sampled classes, random pooling regions, losses and sets: numbers that TensorFlow 1.15 gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu


@pytest.fixture(autouse=True)
def _fresh_graph():
    with tf.Graph().as_default(), settings.override(jit="never"):
        yield


def _run(fetches):
    with tf.Session() as session:
        return session.run(fetches)


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("uniform", [6, 1, 5, 0, 8]),
        ("log_uniform", [1, 0, 2, 8, 12]),
        ("learned_unigram", [11, 6, 0, 5, 1]),
    ],
)
def test_sampled_classes_are_those_of_tensorflow(name, classes):
    tf.set_random_seed(11)
    sampler = getattr(tf.nn, f"{name}_candidate_sampler")
    sampled, _, _ = sampler(np.int64([[1], [7]]), 1, 5, True, 13, seed=4)
    assert _run(sampled).tolist() == classes


def test_pooling_regions_are_those_of_tensorflow():
    image = tf.reshape(tf.range(49.0), [1, 7, 7, 1])
    ratio = [1, 1.5, 1.4, 1]
    pooled = tf.nn.fractional_max_pool(image, ratio, deterministic=True, seed=3, seed2=4)
    largest, rows, columns = _run(pooled)
    assert rows.tolist() == [0, 2, 4, 5, 7]
    assert columns.tolist() == [0, 1, 3, 4, 6, 7]
    assert largest[0, -1, -1, 0] == 48


def test_gamma_numbers_are_those_of_tensorflow():
    tf.set_random_seed(11)
    numbers = _run(tf.random_gamma([4], 0.5, seed=2))
    np.testing.assert_allclose(numbers, [0.824703, 0.1257625, 0.8463252, 0.0344933], rtol=1e-5)


def test_weights_of_zero_do_not_count():
    labels, predictions = tf.constant([1.0, 2.0, 3.0]), tf.constant([2.0, 4.0, 9.0])
    loss = tf.losses.mean_squared_error(labels, predictions, weights=tf.constant([1.0, 1.0, 0.0]))
    assert _run(loss) == 2.5
    assert tf.losses.get_losses() == [loss]


@pytest.mark.pure
def test_weights_that_do_not_broadcast_are_refused():
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        tf.losses.absolute_difference(tf.zeros([2, 3]), tf.ones([2, 3]), weights=tf.ones([2, 2]))


def test_sets_row_by_row():
    left, right = tf.constant([[1, 5, 2], [3, 3, 3]]), tf.constant([[5, 9], [4, 3]])
    difference = _run(tf.sets.difference(left, right))
    assert difference.indices.tolist() == [[0, 0], [0, 1]]
    assert difference.values.tolist() == [1, 2]
    assert difference.dense_shape.tolist() == [2, 2]


@pytest.mark.parametrize("is_unique", [False, True])
@pytest.mark.parametrize("size", [2, 64, 700, 100_000])
@pytest.mark.parametrize(
    "sample", [tf.random.uniform_candidate_sampler, tf.random.log_uniform_candidate_sampler]
)
def test_compiled_draws_are_those_of_the_reference(sample: Any, size: int, is_unique: bool) -> None:
    count = min(size, 90)
    with tf.Graph().as_default():
        true = tf.placeholder(tf.int64, [None, 2])
        drawn = sample(true, 2, count, is_unique, size, seed=4)
        feed, results = {true: np.arange(6).reshape(3, 2) % size}, []
        for mode in ("never", "always"):
            with settings.override(jit=mode), tf.Session() as session:
                results.append([session.run(drawn, feed) for _ in range(3)])
    for (wanted, *counts), (found, *others) in zip(*results, strict=True):
        np.testing.assert_array_equal(found, wanted)
        for one, other in zip(counts, others, strict=True):
            np.testing.assert_allclose(other, one, rtol=2e-6)
