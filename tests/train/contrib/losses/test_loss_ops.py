# SPDX-License-Identifier: Apache-2.0
"""Losses that take predictions first, and those of distances."""

from __future__ import annotations

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.programs
losses = tf.contrib.losses


@pytest.mark.cpu
def test_weights_of_zero_do_not_count() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant([[1.0, 2.0], [5.0, 5.0]]), tf.constant([[0.0, 0.0], [0.0, 0.0]])
        loss = losses.mean_squared_error(x, y, weights=[2.0, 0.0])
        assert session.run(loss) == pytest.approx(2.0 * (1.0 + 4.0) / 2)
        assert tf.get_collection(tf.GraphKeys.LOSSES) == [loss]
        with pytest.raises(ValueError, match="incompatible"):
            losses.absolute_difference(x, tf.constant([1.0]))


@pytest.mark.cpu
def test_embeddings_that_lie_apart_have_no_triplet_loss() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        labels = tf.constant([0, 0, 1, 1])
        near = np.float32([[0.0], [0.1], [9.0], [9.1]])
        learn = losses.metric_learning
        assert session.run(learn.triplet_semihard_loss(labels, tf.constant(near))) == 0.0
        mixed = session.run(learn.triplet_semihard_loss(labels, tf.constant(near[[0, 2, 1, 3]])))
        assert mixed > 1.0
