# SPDX-License-Identifier: Apache-2.0
"""Models of large tables of which a step reads and writes few rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .parts import Model, batches, training, weights, words, zeros


def word2vec(
    tf: Any, batch: int = 128, vocabulary: int = 50000, units: int = 128, sampled: int = 64
) -> Model:
    """Words that stand together, by noise-contrastive estimation and gradient descent."""
    centre = tf.placeholder(tf.int32, [None])
    context = tf.placeholder(tf.int64, [None, 1])
    table = weights(tf, "table", [vocabulary, units], 0.1)
    sampler = tf.nn.log_uniform_candidate_sampler(
        context, 1, sampled, unique=True, range_max=vocabulary, seed=7
    )
    losses = tf.nn.nce_loss(
        weights=weights(tf, "nce", [vocabulary, units], 0.1),
        biases=zeros(tf, "nce_bias", [vocabulary]),
        labels=context,
        inputs=tf.nn.embedding_lookup(table, centre),
        num_sampled=sampled,
        num_classes=vocabulary,
        sampled_values=sampler,
    )
    loss = tf.reduce_mean(losses)

    def feed(random: np.random.RandomState) -> dict[Any, Any]:
        return {
            centre: words(random, vocabulary, batch),
            context: words(random, vocabulary, batch, 1),
        }

    descent = tf.train.GradientDescentOptimizer(1.0)
    return Model([[loss, training(tf, descent, loss)]], batches(8, feed))


def factorization_machine(
    tf: Any, batch: int = 256, features: int = 1000000, units: int = 16, fields: int = 39
) -> Model:
    """Clicks from pairs of features, each a row of a table, and Adagrad."""
    ids = tf.placeholder(tf.int64, [None, fields])
    values = tf.placeholder(tf.float32, [None, fields])
    clicked = tf.placeholder(tf.float32, [None])
    rows = tf.nn.embedding_lookup(weights(tf, "table", [features, units], 0.01), ids)
    rows *= tf.expand_dims(values, 2)
    single = tf.nn.embedding_lookup(zeros(tf, "linear", [features]), ids) * values
    pairs = tf.square(tf.reduce_sum(rows, 1)) - tf.reduce_sum(tf.square(rows), 1)
    logits = tf.reduce_sum(single, 1) + 0.5 * tf.reduce_sum(pairs, 1) + zeros(tf, "bias", [])
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=clicked, logits=logits)
    loss = tf.reduce_mean(losses)

    def feed(random: np.random.RandomState) -> dict[Any, Any]:
        return {
            ids: words(random, features, batch, fields),
            values: random.random_sample((batch, fields)),
            clicked: random.randint(0, 2, batch),
        }

    return Model([[loss, training(tf, tf.train.AdagradOptimizer(0.05), loss)]], batches(8, feed))


def matrix_factorization(
    tf: Any, batch: int = 512, users: int = 60000, items: int = 10000, units: int = 32
) -> Model:
    """Ratings as products of a user's row and an item's, and Adam."""
    user, item = (tf.placeholder(tf.int32, [None]) for _ in range(2))
    rating = tf.placeholder(tf.float32, [None])
    pairs = ((user, users, "user"), (item, items, "item"))
    rows, biases = [], []
    for ids, count, name in pairs:
        rows.append(tf.nn.embedding_lookup(weights(tf, name, [count, units], 0.1), ids))
        biases.append(tf.nn.embedding_lookup(zeros(tf, f"{name}_bias", [count]), ids))
    guess = tf.reduce_sum(rows[0] * rows[1], 1) + biases[0] + biases[1] + zeros(tf, "mean", [])
    shrink = sum(tf.reduce_sum(tf.square(row)) for row in rows) * 1e-4
    loss = tf.reduce_mean(tf.square(guess - rating)) + shrink

    def feed(random: np.random.RandomState) -> dict[Any, Any]:
        return {
            user: random.randint(0, users, batch),
            item: words(random, items, batch),
            rating: random.randint(1, 6, batch),
        }

    return Model([[loss, training(tf, tf.train.AdamOptimizer(1e-3), loss)]], batches(8, feed))


def sparse_linear(tf: Any, batch: int = 256, features: int = 100000, most: int = 60) -> Model:
    """A logistic regression over few of many features, as a sparse tensor, and FTRL."""
    ids, values = tf.sparse_placeholder(tf.int64), tf.sparse_placeholder(tf.float32)
    labels = tf.placeholder(tf.float32, [None])
    table = zeros(tf, "table", [features, 1])
    logits = tf.nn.embedding_lookup_sparse(table, ids, values, combiner="sum")
    logits = tf.squeeze(logits, 1) + zeros(tf, "bias", [])
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
    ftrl = tf.train.FtrlOptimizer(0.1, l1_regularization_strength=1e-3)

    def feed(random: np.random.RandomState) -> dict[Any, Any]:
        counts = random.randint(1, most + 1, batch)
        places = [(row, column) for row in range(batch) for column in range(counts[row])]
        indices, shape = np.array(places, np.int64), (batch, most)
        return {
            ids: (indices, words(random, features, len(places)), shape),
            values: (indices, random.random_sample(len(places)).astype(np.float32), shape),
            labels: random.randint(0, 2, batch),
        }

    return Model([[loss, training(tf, ftrl, loss)]], batches(8, feed))
