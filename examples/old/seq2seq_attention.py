# SPDX-License-Identifier: Apache-2.0
"""Writing rows of numbers backwards: an encoder, a decoder with attention, and beam search.

Expected: nearly all of the rows that it has not seen are written without a fault.

    numbaflow run examples/old/seq2seq_attention.py
"""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow.contrib import seq2seq

SYMBOLS, START, END = 14, 0, 1


def rows(rng, count, longest=8):
    """Rows of symbols, and how long they are; what is behind a row is END."""
    lengths = rng.randint(3, longest + 1, count)
    sources = rng.randint(2, SYMBOLS, (count, longest))
    sources[np.arange(longest) >= lengths[:, None]] = END
    targets = np.full((count, longest + 1), END)
    for row, length in enumerate(lengths):
        targets[row, :length] = sources[row, :length][::-1]
    return sources, lengths, targets


class Model:
    """Training by given rows, and writing rows by beam search, with the same variables."""

    def __init__(self, units=64, width=3):
        self._units = units
        self.sources = tf.placeholder(tf.int32, [None, None])
        self.lengths = tf.placeholder(tf.int32, [None])
        self.targets = tf.placeholder(tf.int32, [None, None])
        self._embedding = tf.get_variable("embedding", [SYMBOLS, units])
        self._output = tf.layers.Dense(SYMBOLS, use_bias=False, name="output")
        cell = tf.nn.rnn_cell.GRUCell(units)
        embedded = tf.nn.embedding_lookup(self._embedding, self.sources)
        self._memory, self._state = tf.nn.dynamic_rnn(
            cell, embedded, self.lengths, dtype=tf.float32, scope="encoder"
        )
        self._cell = tf.nn.rnn_cell.GRUCell(units)
        self.loss = self._loss()
        self.train = tf.train.AdamOptimizer(5e-3).minimize(self.loss)
        self.written = self._beams(width)

    def _attentive(self, memory, lengths):
        mechanism = seq2seq.BahdanauAttention(self._units, memory, lengths)
        return seq2seq.AttentionWrapper(self._cell, mechanism, self._units)

    def _loss(self):
        count = tf.shape(self.targets)[0]
        inputs = tf.concat([tf.fill([count, 1], START), self.targets[:, :-1]], 1)
        embedded = tf.nn.embedding_lookup(self._embedding, inputs)
        with tf.variable_scope("decoder"):
            helper = seq2seq.TrainingHelper(embedded, self.lengths + 1)
            cell = self._attentive(self._memory, self.lengths)
            state = cell.zero_state(count, tf.float32).clone(cell_state=self._state)
            decoder = seq2seq.BasicDecoder(cell, helper, state, self._output)
            logits = seq2seq.dynamic_decode(decoder)[0].rnn_output
        weights = tf.sequence_mask(self.lengths + 1, dtype=tf.float32)
        return seq2seq.sequence_loss(logits, self.targets[:, : tf.shape(logits)[1]], weights)

    def _beams(self, width):
        memory, state, lengths = (
            seq2seq.tile_batch(x, width) for x in (self._memory, self._state, self.lengths)
        )
        count = tf.shape(self.sources)[0]
        with tf.variable_scope("decoder", reuse=True):
            cell = self._attentive(memory, lengths)
            start = cell.zero_state(count * width, tf.float32).clone(cell_state=state)
            decoder = seq2seq.BeamSearchDecoder(
                cell, self._embedding, tf.fill([count], START), END, start, width, self._output
            )
            result, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=9)
        return result.predicted_ids[:, :, 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--every", type=int, default=100, help="steps between printed losses")
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()

    rng = np.random.RandomState(1)
    tf.set_random_seed(1)
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, args.steps + 1):
            sources, lengths, targets = rows(rng, args.batch)
            feed = {model.sources: sources, model.lengths: lengths, model.targets: targets}
            loss, _ = session.run([model.loss, model.train], feed)
            if step % args.every == 0:
                print(f"step {step}: loss {loss:.6f}")
        sources, lengths, targets = rows(rng, 200)
        feed = {model.sources: sources, model.lengths: lengths}
        written = session.run(model.written, feed)
        right = [
            list(row[: length + 1]) == list(target[: length + 1])
            for row, target, length in zip(written, targets, lengths)
        ]
        print(f"rows without a fault: {100 * np.mean(right):.1f} %")


if __name__ == "__main__":
    main()
