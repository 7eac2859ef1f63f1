# SPDX-License-Identifier: Apache-2.0
"""A variational autoencoder of digits, and Adam."""

from __future__ import annotations

from typing import Any

import numpy as np

from .parts import Model, batches, dense, feeds, pictures, training


def digits(random: np.random.RandomState, batch: int, inputs: int) -> tuple:
    """Images as rows of pixels."""
    return (pictures(random, batch, inputs),)


def vae(tf: Any, batch: int = 100, inputs: int = 784, units: int = 500, codes: int = 20) -> Model:
    """A training step; the code is drawn anew in each."""
    x = tf.placeholder(tf.float32, [None, inputs])
    h = dense(tf, dense(tf, x, units, "read1", tf.nn.relu), units, "read2", tf.nn.relu)
    mean, spread = dense(tf, h, codes, "mean"), dense(tf, h, codes, "log_variance")
    code = mean + tf.exp(0.5 * spread) * tf.random_normal(tf.shape(mean), seed=5)
    h = dense(tf, dense(tf, code, units, "write1", tf.nn.relu), units, "write2", tf.nn.relu)
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=dense(tf, h, inputs, "out"))
    surprise = -0.5 * tf.reduce_sum(1 + spread - tf.square(mean) - tf.exp(spread), 1)
    loss = tf.reduce_mean(tf.reduce_sum(losses, 1) + surprise)
    fed = feeds((x,), batches(4, digits, batch, inputs))
    return Model([[loss, training(tf, tf.train.AdamOptimizer(1e-3), loss)]], fed)
