# SPDX-License-Identifier: Apache-2.0
"""Losses that take predictions first, and those of distances."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.programs
losses = tf.contrib.losses


def test_weights_of_zero_do_not_count() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.constant([[1.0, 2.0], [5.0, 5.0]]), tf.constant([[0.0, 0.0], [0.0, 0.0]])
        loss = losses.mean_squared_error(x, y, weights=[2.0, 0.0])
        assert session.run(loss) == pytest.approx(2.0 * (1.0 + 4.0) / 2)
        assert tf.get_collection(tf.GraphKeys.LOSSES) == [loss]
        with pytest.raises(ValueError, match="incompatible"):
            losses.absolute_difference(x, tf.constant([1.0]))


def test_embeddings_that_lie_apart_have_no_triplet_loss() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        labels = tf.constant([0, 0, 1, 1])
        near = np.float32([[0.0], [0.1], [9.0], [9.1]])
        learn = losses.metric_learning
        assert session.run(learn.triplet_semihard_loss(labels, tf.constant(near))) == 0.0
        mixed = session.run(learn.triplet_semihard_loss(labels, tf.constant(near[[0, 2, 1, 3]])))
        assert mixed > 1.0


def test_losses_of_distances_have_as_many_nodes_as_in_1_15() -> None:
    """Seeds of what a program makes behind them follow from that."""
    learn = losses.metric_learning

    def nodes(make: Callable[[tf.Tensor, tf.Tensor], object]) -> list[str]:
        with tf.Graph().as_default() as graph:
            rows, labels = tf.placeholder(tf.float32, [32, 8]), tf.placeholder(tf.int32, [32])
            make(rows, labels)
            return [op.type for op in graph.get_operations()[2:]]

    assert len(nodes(lambda e, y: learn.triplet_semihard_loss(y, e))) == 115
    assert len(nodes(lambda e, y: learn.lifted_struct_loss(y, e))) == 113
    assert len(nodes(lambda e, y: learn.npairs_loss(tf.range(16), e[:16], e[16:]))) == 76
    halves = nodes(lambda e, y: learn.contrastive_loss(tf.equal(y[:16], y[16:]), e[:16], e[16:]))
    assert len(halves) == 36
    assert halves.index("Mul") < halves.index("Maximum")
