# SPDX-License-Identifier: Apache-2.0
"""Sound sample by sample, as WaveNet makes it: gated convolutions that reach ever further back."""

from __future__ import annotations

from typing import Any

import numpy as np

from .parts import Model, batches, conv, cross_entropy, feeds, training, weights, width


def sounds(random: np.random.RandomState, batch: int, samples: int, levels: int) -> tuple:
    """Sound as numbers of levels, a sample longer than what is guessed."""
    return (random.randint(0, levels, (batch, samples + 1)),)


def causal(tf: Any, x: Any, channels: int, dilation: int, name: str) -> Any:
    """A convolution of a sample with the one `dilation` samples before it."""
    kernel = weights(tf, name, [2, width(x), channels])
    padded = tf.pad(x, [[0, 0], [dilation, 0], [0, 0]])
    return tf.nn.convolution(padded, kernel, padding="VALID", dilation_rate=[dilation])


def wavenet(
    tf: Any,
    batch: int = 2,
    samples: int = 2048,
    channels: int = 32,
    skipped: int = 128,
    cycles: int = 2,
    dilations: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 128),
    levels: int = 256,
) -> Model:
    """A training step that guesses each next sample."""
    sound = tf.placeholder(tf.int32, [None, samples + 1])

    def across(x: Any, depth: int, name: str) -> Any:
        return tf.squeeze(conv(tf, tf.expand_dims(x, 1), depth, 1, name), 1)

    h = causal(tf, tf.one_hot(sound[:, :-1], levels), channels, 1, "first")
    total = 0.0
    for cycle in range(cycles):
        for dilation in dilations:
            with tf.variable_scope(f"cycle{cycle}_{dilation}"):
                both = causal(tf, h, 2 * channels, dilation, "dilated")
                values, gate = tf.split(both, 2, 2)
                gated = tf.tanh(values) * tf.sigmoid(gate)
                total += across(gated, skipped, "skipped")
                h += across(gated, channels, "residual")
    h = across(tf.nn.relu(total), skipped, "mixed")
    logits = across(tf.nn.relu(h), levels, "logits")
    loss = cross_entropy(tf, sound[:, 1:], logits)

    fed = feeds((sound,), batches(4, sounds, batch, samples, levels))
    return Model([[loss, training(tf, tf.train.AdamOptimizer(1e-3), loss)]], fed)
