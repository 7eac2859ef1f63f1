# SPDX-License-Identifier: Apache-2.0
"""A Transformer encoder that guesses masked words, with a tied embedding, dropout and Adam."""

from __future__ import annotations

from typing import Any

import numpy as np

from .attention import block, embedded
from .parts import Model, batches, cross_entropy, feeds, layer_norm, training, words, zeros


def sentences(
    random: np.random.RandomState, batch: int, length: int, vocabulary: int, masked: int
) -> tuple:
    """Sentences, their lengths, which of their words are masked, and what these are."""
    return (
        words(random, vocabulary, batch, length),
        random.randint(length // 2, length + 1, batch),
        random.randint(0, length // 2, (batch, masked)),
        words(random, vocabulary, batch, masked),
    )


def transformer_encoder(
    tf: Any,
    batch: int = 8,
    length: int = 64,
    units: int = 256,
    layers: int = 4,
    heads: int = 4,
    vocabulary: int = 8000,
    masked: int = 10,
) -> Model:
    """A training step; sentences are of different lengths."""
    tokens = tf.placeholder(tf.int32, [None, length])
    lengths = tf.placeholder(tf.int32, [None])
    places = tf.placeholder(tf.int32, [None, masked])
    truth = tf.placeholder(tf.int32, [None, masked])
    table, h = embedded(tf, tokens, vocabulary, length, units)
    there = tf.sequence_mask(lengths, length, tf.float32)
    mask = (tf.reshape(there, [-1, 1, 1, length]) - 1) * 1e9
    for layer in range(layers):
        h = block(tf, h, heads, mask, f"layer{layer}", dropped=0.1)
    h = tf.reshape(layer_norm(tf, h, "norm"), [-1, units])
    starts = tf.range(tf.shape(tokens)[0]) * length
    h = tf.gather(h, tf.reshape(places + tf.expand_dims(starts, 1), [-1]))
    logits = tf.matmul(h, table, transpose_b=True) + zeros(tf, "bias", [vocabulary])
    loss = cross_entropy(tf, tf.reshape(truth, [-1]), logits)

    step = training(tf, tf.train.AdamOptimizer(1e-4), loss)
    values = batches(4, sentences, batch, length, vocabulary, masked)
    return Model([[loss, step]], feeds((tokens, lengths, places, truth), values))
