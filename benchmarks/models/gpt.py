# SPDX-License-Identifier: Apache-2.0
"""A decoder as GPT is: each word follows from those before it; tied embedding, clipped Adam."""

from __future__ import annotations

from typing import Any

from .attention import block, embedded
from .parts import Model, batches, cross_entropy, feeds, layer_norm, texts, training


def gpt(
    tf: Any,
    batch: int = 4,
    length: int = 128,
    units: int = 256,
    layers: int = 4,
    heads: int = 8,
    vocabulary: int = 4000,
) -> Model:
    """A training step with a learning rate that falls."""
    text = tf.placeholder(tf.int32, [None, length + 1])
    table, h = embedded(tf, text[:, :-1], vocabulary, length, units)
    mask = (tf.matrix_band_part(tf.ones([length, length]), -1, 0) - 1) * 1e9
    for layer in range(layers):
        h = block(tf, h, heads, mask, f"layer{layer}")
    h = tf.reshape(layer_norm(tf, h, "norm"), [-1, units])
    logits = tf.matmul(h, table, transpose_b=True)
    loss = cross_entropy(tf, tf.reshape(text[:, 1:], [-1]), logits)
    step = tf.get_variable("step", [], initializer=tf.zeros_initializer(), trainable=False)
    rate = tf.train.exponential_decay(3e-4, step, 1000, 0.9)
    with tf.control_dependencies([training(tf, tf.train.AdamOptimizer(rate), loss, clip=1.0)]):
        train = tf.assign_add(step, 1.0)

    fed = feeds((text,), batches(4, texts, vocabulary, batch, length))
    return Model([[loss, train.op]], fed)
