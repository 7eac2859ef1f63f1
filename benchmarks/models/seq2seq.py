# SPDX-License-Identifier: Apache-2.0
"""Translation: a GRU reads, another writes and looks at all that was read at every step."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cells import GRU
from .parts import Model, batches, dense, feeds, training, weights, width, words


class AttentionCell:
    """A GRU whose output is mixed with what it attends to; both go into the next step."""

    def __init__(self, tf: Any, memory: Any, lengths: Any, inputs: int, units: int) -> None:
        self._tf, self._memory = tf, memory
        steps = int(memory.get_shape()[1])
        self._mask = (tf.sequence_mask(lengths, steps, tf.float32) - 1) * 1e9
        self._gru = GRU(tf, inputs + units, units, "decoder")
        self._keys = weights(tf, "keys", [units, width(memory)])
        self._mix = weights(tf, "mix", [units + width(memory), units])
        self.output_size, self.state_size = units, (units, units)

    def zero_state(self, batch: Any, dtype: Any) -> Any:
        """The state before a sequence."""
        return tuple(self._tf.zeros([batch, size], dtype) for size in self.state_size)

    def __call__(self, x: Any, state: Any, scope: Any = None) -> Any:
        """The mixed output, and the state after an input."""
        tf, (mixed, hidden) = self._tf, state
        hidden, _ = self._gru(tf.concat([x, mixed], 1), hidden)
        query = tf.expand_dims(tf.matmul(hidden, self._keys), 2)
        scores = tf.squeeze(tf.matmul(self._memory, query), 2) + self._mask
        weight = tf.expand_dims(tf.nn.softmax(scores), 1)
        context = tf.squeeze(tf.matmul(weight, self._memory), 1)
        mixed = tf.tanh(tf.matmul(tf.concat([hidden, context], 1), self._mix))
        return mixed, (mixed, hidden)


def translations(
    random: np.random.RandomState, batch: int, read: int, written: int, vocabulary: int
) -> tuple:
    """Sentences and their lengths, and likewise those that say the same, a word longer."""
    return (
        words(random, vocabulary, batch, read),
        random.randint(read // 2, read + 1, batch),
        words(random, vocabulary, batch, written + 1),
        random.randint(written // 2, written + 1, batch),
    )


def seq2seq(
    tf: Any,
    batch: int = 32,
    read: int = 20,
    written: int = 20,
    units: int = 128,
    vocabulary: int = 4000,
) -> Model:
    """A training step; the writer is told each word that it should have written."""
    source = tf.placeholder(tf.int32, [None, read])
    lengths = tf.placeholder(tf.int32, [None])
    target = tf.placeholder(tf.int32, [None, written + 1])
    target_lengths = tf.placeholder(tf.int32, [None])
    tables = [weights(tf, name, [vocabulary, units], 0.1) for name in ("source", "target")]
    memory, state = tf.nn.dynamic_rnn(
        GRU(tf, units, units, "encoder"),
        tf.nn.embedding_lookup(tables[0], source),
        sequence_length=lengths,
        dtype=tf.float32,
    )
    cell = AttentionCell(tf, memory, lengths, units, units)
    outputs, _ = tf.nn.dynamic_rnn(
        cell,
        tf.nn.embedding_lookup(tables[1], target[:, :-1]),
        sequence_length=target_lengths,
        initial_state=(tf.zeros_like(state), state),
    )
    logits = dense(tf, tf.reshape(outputs, [-1, units]), vocabulary, "logits")
    truth = tf.reshape(target[:, 1:], [-1])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=truth, logits=logits)
    there = tf.sequence_mask(target_lengths, written, tf.float32)
    loss = tf.reduce_sum(losses * tf.reshape(there, [-1])) / tf.reduce_sum(there)

    step = training(tf, tf.train.AdamOptimizer(1e-3), loss, clip=5.0)
    values = batches(4, translations, batch, read, written, vocabulary)
    return Model([[loss, step]], feeds((source, lengths, target, target_lengths), values))
