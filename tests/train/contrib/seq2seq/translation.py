# SPDX-License-Identifier: Apache-2.0
"""A translator of digits: an encoder, a decoder with attention, trained, and a beam search.

Runs with this package and with TensorFlow 1.15, whose losses and sequences `recorded.json` keeps:
`python translation.py recorded.json` in an environment with it writes them again.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

VOCABULARY, UNITS, BATCH, TIME = 12, 16, 8, 6
END, START = 0, 1
MECHANISMS = {
    "luong": ("LuongAttention", {"scale": True}),
    "bahdanau": ("BahdanauAttention", {"normalize": True}),
    "monotonic": ("LuongMonotonicAttention", {}),
}


def batch(number: int) -> dict[str, np.ndarray]:
    """Sequences and the same the other way round."""
    random = np.random.RandomState(number)
    lengths = random.randint(2, TIME, BATCH).astype(np.int32)
    source = np.full((BATCH, TIME), END, np.int32)
    target = np.full((BATCH, TIME), END, np.int32)
    for row, length in enumerate(lengths):
        source[row, :length] = random.randint(2, VOCABULARY, length)
        target[row, :length] = source[row, :length][::-1]
    return {"source": source, "target": target, "lengths": lengths}


class Translator:
    """The graph: `loss` and `train` for batches, `beams` for a beam search."""

    def __init__(self, tf: Any, kind: str, width: int = 3) -> None:
        self.tf, self.kind, self.width = tf, kind, width
        self.source = tf.placeholder(tf.int32, [BATCH, None], name="source")
        self.target = tf.placeholder(tf.int32, [BATCH, None], name="target")
        self.lengths = tf.placeholder(tf.int32, [BATCH], name="lengths")
        self.embedding = tf.get_variable("embedding", [VOCABULARY, UNITS])
        cell = tf.nn.rnn_cell.GRUCell(UNITS)
        inputs = tf.nn.embedding_lookup(self.embedding, self.source)
        self.memory, self.state = tf.nn.dynamic_rnn(
            cell, inputs, sequence_length=self.lengths, dtype=tf.float32
        )
        self.cell = tf.contrib.rnn.LSTMBlockCell(UNITS)
        self.layer = tf.layers.Dense(VOCABULARY, name="words")
        self.loss = self._loss()
        self.train = tf.train.AdamOptimizer(0.02).minimize(self.loss)
        self.beams = self._beams()

    def _attending(self, memory: Any, lengths: Any) -> Any:
        seq2seq = self.tf.contrib.seq2seq
        name, arguments = MECHANISMS[self.kind]
        mechanism = getattr(seq2seq, name)(UNITS, memory, lengths, **arguments)
        return seq2seq.AttentionWrapper(self.cell, mechanism, attention_layer_size=UNITS)

    def _loss(self) -> Any:
        tf, seq2seq = self.tf, self.tf.contrib.seq2seq
        with tf.variable_scope("decoding"):
            cell = self._attending(self.memory, self.lengths)
            start = tf.fill([BATCH, 1], START)
            shifted = tf.concat([start, self.target[:, :-1]], 1)
            inputs = tf.nn.embedding_lookup(self.embedding, shifted)
            helper = seq2seq.TrainingHelper(inputs, self.lengths + 1)
            state = cell.zero_state(BATCH, tf.float32)
            decoder = seq2seq.BasicDecoder(cell, helper, state, self.layer)
            outputs, _, lengths = seq2seq.dynamic_decode(decoder, impute_finished=True)
            logits = outputs.rnn_output
            time = tf.shape(logits)[1]
            weights = tf.sequence_mask(lengths, time, dtype=tf.float32)
            return seq2seq.sequence_loss(logits, self.target[:, :time], weights)

    def _beams(self) -> Any:
        tf, seq2seq = self.tf, self.tf.contrib.seq2seq
        with tf.variable_scope("decoding", reuse=True):
            memory = seq2seq.tile_batch(self.memory, self.width)
            lengths = seq2seq.tile_batch(self.lengths, self.width)
            cell = self._attending(memory, lengths)
            state = cell.zero_state(BATCH * self.width, tf.float32)
            starts = tf.fill([BATCH], START)
            decoder = seq2seq.BeamSearchDecoder(
                cell, self.embedding, starts, END, state, self.width, self.layer
            )
            outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=TIME)
            return outputs.predicted_ids

    def feed(self, number: int) -> dict[Any, np.ndarray]:
        """The feed of a batch."""
        return {getattr(self, key): value for key, value in batch(number).items()}


def begin(tf: Any, session: Any) -> None:
    """Gives all variables their first values, drawn by number."""
    session.run(tf.global_variables_initializer())
    for number, variable in enumerate(tf.trainable_variables()):
        shape = variable.shape.as_list()
        drawn = np.random.RandomState(number).uniform(-0.3, 0.3, shape)
        variable.load(np.asarray(drawn, np.float32), session)


def results(tf: Any, kind: str, steps: int) -> dict[str, Any]:
    """Losses step by step, and the sequences that the search finds then."""
    with tf.Graph().as_default(), tf.Session() as session:
        model = Translator(tf, kind)
        begin(tf, session)
        losses = []
        for step in range(steps):
            loss, _ = session.run([model.loss, model.train], model.feed(step % 4))
            losses.append(float(loss))
        ids = session.run(model.beams, model.feed(1))
        names = [variable.op.name for variable in tf.trainable_variables()]
        return {"variables": names, "losses": losses, "beams": ids[:3, :, 0].tolist()}


if __name__ == "__main__":
    import tensorflow

    kept = {kind: results(tensorflow, kind, 50) for kind in MECHANISMS}
    with open(sys.argv[1], "w") as file:
        json.dump(kept, file, indent=None)
        file.write("\n")
