# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks: classifiers of rows and of texts, and one that writes letter by letter."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cells import GRU, LSTM, Stack
from .parts import (
    Model,
    batches,
    cross_entropy,
    dense,
    feeds,
    pictures,
    texts,
    training,
    weights,
    words,
)


def lines(random: np.random.RandomState, batch: int, steps: int, inputs: int) -> tuple:
    """Rows of images, how many of them count, and the images' classes."""
    lengths = random.randint(steps // 2, steps + 1, batch)
    return pictures(random, batch, steps, inputs), lengths, random.randint(0, 10, batch)


def lstm_classifier(
    tf: Any, batch: int = 64, steps: int = 28, inputs: int = 28, units: int = 128
) -> Model:
    """An LSTM reads an image row by row; sequences of different lengths, and Adam."""
    rows = tf.placeholder(tf.float32, [None, steps, inputs])
    lengths = tf.placeholder(tf.int32, [None])
    labels = tf.placeholder(tf.int64, [None])
    cell = LSTM(tf, inputs, units, "lstm")
    _, (_, last) = tf.nn.dynamic_rnn(cell, rows, sequence_length=lengths, dtype=tf.float32)
    loss = cross_entropy(tf, labels, dense(tf, last, 10, "logits"))

    fed = feeds((rows, lengths, labels), batches(4, lines, batch, steps, inputs))
    return Model([[loss, training(tf, tf.train.AdamOptimizer(1e-3), loss)]], fed)


def reviews(random: np.random.RandomState, batch: int, steps: int, vocabulary: int) -> tuple:
    """Texts, their lengths, and which of two classes each is in."""
    text = words(random, vocabulary, batch, steps)
    return text, random.randint(steps // 3, steps + 1, batch), random.randint(0, 2, batch)


def bidirectional_gru(
    tf: Any,
    batch: int = 32,
    steps: int = 60,
    units: int = 64,
    vocabulary: int = 10000,
    embedding: int = 64,
) -> Model:
    """Two GRUs read a text in both directions; Adam on rows of the embedding."""
    tokens = tf.placeholder(tf.int32, [None, steps])
    lengths = tf.placeholder(tf.int32, [None])
    labels = tf.placeholder(tf.int64, [None])
    table = weights(tf, "table", [vocabulary, embedding], 0.1)
    cells = [GRU(tf, embedding, units, name) for name in ("forward", "backward")]
    _, states = tf.nn.bidirectional_dynamic_rnn(
        *cells, tf.nn.embedding_lookup(table, tokens), sequence_length=lengths, dtype=tf.float32
    )
    loss = cross_entropy(tf, labels, dense(tf, tf.concat(states, 1), 2, "logits"))

    fed = feeds((tokens, lengths, labels), batches(4, reviews, batch, steps, vocabulary))
    return Model([[loss, training(tf, tf.train.AdamOptimizer(1e-3), loss)]], fed)


def char_rnn(
    tf: Any, batch: int = 32, steps: int = 50, units: int = 256, letters: int = 65
) -> Model:
    """Two LSTMs guess the next letter; their states go on from one step to the next."""
    text = tf.placeholder(tf.int32, [batch, steps + 1])
    table = weights(tf, "table", [letters, units], 0.1)
    cell = Stack(*(LSTM(tf, units, units, f"lstm{layer}") for layer in range(2)))
    kept = [
        tf.get_variable(
            f"state{number}", [batch, units], initializer=tf.zeros_initializer(), trainable=False
        )
        for number in range(4)
    ]
    start = ((kept[0], kept[1]), (kept[2], kept[3]))
    inputs = tf.nn.embedding_lookup(table, text[:, :-1])
    outputs, end = tf.nn.dynamic_rnn(cell, inputs, initial_state=start)
    logits = dense(tf, tf.reshape(outputs, [-1, units]), letters, "logits")
    loss = cross_entropy(tf, tf.reshape(text[:, 1:], [-1]), logits)
    with tf.control_dependencies([training(tf, tf.train.AdamOptimizer(2e-3), loss, clip=5.0)]):
        keep = [tf.assign(variable, state) for variable, state in zip(kept, [*end[0], *end[1]])]

    fed = feeds((text,), batches(4, texts, letters, batch, steps))
    return Model([[loss, tf.group(*keep)]], fed)
