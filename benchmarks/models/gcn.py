# SPDX-License-Identifier: Apache-2.0
"""A graph convolutional network over all nodes at once: sparse matrices times dense ones, Adam."""

from __future__ import annotations

from typing import Any

import numpy as np

from .parts import Model, batches, feeds, training, weights


def sparse(random: np.random.RandomState, rows: int, columns: int, each: int) -> tuple:
    """A sparse matrix with about as many values in each row; they add up to one."""
    places = np.unique(
        np.repeat(np.arange(rows), each) * columns + random.randint(0, columns, rows * each)
    )
    indices = np.stack([places // columns, places % columns], 1)
    counts = np.bincount(indices[:, 0], minlength=rows)
    return indices, (1 / counts[indices[:, 0]]).astype(np.float32), (rows, columns)


def citations(
    random: np.random.RandomState, nodes: int, features: int, classes: int, links: int, words: int
) -> tuple:
    """Who cites whom, the words of each, the classes, and which of these are known."""
    return (
        sparse(random, nodes, nodes, links),
        sparse(random, nodes, features, words),
        np.eye(classes, dtype=np.float32)[random.randint(0, classes, nodes)],
        (random.random_sample(nodes) < 0.05) | (np.arange(nodes) == 0),
    )


def gcn(
    tf: Any,
    nodes: int = 2708,
    features: int = 1433,
    units: int = 16,
    classes: int = 7,
    links: int = 5,
    words: int = 18,
) -> Model:
    """A training step, of the size of the citations of Cora."""
    links_in, features_in = tf.sparse_placeholder(tf.float32), tf.sparse_placeholder(tf.float32)
    labels = tf.placeholder(tf.float32, [None, classes])
    known = tf.placeholder(tf.float32, [None])
    first = weights(tf, "first", [features, units])
    h = tf.sparse_tensor_dense_matmul(features_in, first)
    h = tf.nn.relu(tf.sparse_tensor_dense_matmul(links_in, h))
    h = tf.nn.dropout(h, rate=0.5, seed=3)
    h = tf.matmul(h, weights(tf, "second", [units, classes]))
    logits = tf.sparse_tensor_dense_matmul(links_in, h)
    losses = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    loss = tf.reduce_sum(losses * known) / tf.reduce_sum(known) + 5e-4 * tf.nn.l2_loss(first)

    values = batches(1, citations, nodes, features, classes, links, words)
    fed = feeds((links_in, features_in, labels, known), values)
    return Model([[loss, training(tf, tf.train.AdamOptimizer(0.01), loss)]], fed)
