# SPDX-License-Identifier: Apache-2.0
"""The models of legacy_seq2seq, small, which this package and TensorFlow 1.15 run.

`python models.py recorded.json` in an environment with TensorFlow 1.15 writes what it made.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import numpy as np

SYMBOLS, SIZE, BATCH, TIME = 7, 5, 3, 2


def _cell(tf: Any) -> Any:
    return tf.nn.rnn_cell.GRUCell(6)


def _basic(tf: Any, read: list[Any], written: list[Any], fed: Any) -> Any:
    del fed
    rows = [tf.one_hot(x, SYMBOLS) for x in read], [tf.one_hot(x, SYMBOLS) for x in written]
    cell = tf.contrib.rnn.OutputProjectionWrapper(_cell(tf), SYMBOLS)
    return tf.contrib.legacy_seq2seq.basic_rnn_seq2seq(*rows, cell)


def _embedding(tf: Any, read: list[Any], written: list[Any], fed: Any) -> Any:
    return tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(
        read, written, _cell(tf), SYMBOLS, SYMBOLS, SIZE, feed_previous=fed
    )


def _projected(tf: Any, read: list[Any], written: list[Any], fed: Any) -> Any:
    projection = tf.get_variable("w", [6, SYMBOLS]), tf.get_variable("b", [SYMBOLS])
    outputs, state = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
        read, written, _cell(tf), SYMBOLS, SYMBOLS, SIZE, 1, projection, fed
    )
    return [tf.nn.xw_plus_b(output, *projection) for output in outputs], state


def _tied(tf: Any, read: list[Any], written: list[Any], fed: Any) -> Any:
    cell = tf.nn.rnn_cell.BasicLSTMCell(6)
    return tf.contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq(
        read, written, cell, SYMBOLS, SIZE, feed_previous=fed
    )


def _attention(tf: Any, read: list[Any], written: list[Any], fed: Any) -> Any:
    cell = tf.nn.rnn_cell.BasicLSTMCell(6)
    return tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
        *(read, written, cell, SYMBOLS, SYMBOLS, SIZE),
        num_heads=2,
        feed_previous=fed,
        initial_state_attention=True,
    )


def _many(tf: Any, read: list[Any], written: list[Any], fed: Any) -> Any:
    outputs, states = tf.contrib.legacy_seq2seq.one2many_rnn_seq2seq(
        *(read, {"one": written}, _cell(tf), {"one": _cell(tf)}, SYMBOLS, {"one": SYMBOLS}, SIZE),
        feed_previous=fed,
    )
    return outputs["one"], states["one"]


MODELS = {
    "basic": _basic,
    "embedding": _embedding,
    "projected": _projected,
    "tied": _tied,
    "attention": _attention,
    "many": _many,
}
FED = {"given": False, "itself": True, "tensor": None}
CASES = [f"{model} {fed}" for model in MODELS for fed in FED if model != "basic" or fed == "given"]


class Program:
    """A model's graph; `losses` trains it."""

    def __init__(self, tf: Any, case: str) -> None:
        model, fed = case.split()
        self.tf = tf
        self.read = [tf.placeholder(tf.int32, [None], name=f"read{t}") for t in range(TIME)]
        self.targets = [tf.placeholder(tf.int32, [None], name=f"said{t}") for t in range(TIME)]
        self.weights = [tf.ones_like(x, dtype=tf.float32) for x in self.targets]
        self.fed = tf.placeholder_with_default(False, [], name="fed")
        start = np.random.RandomState(5)

        def values(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            del dtype, partition_info
            return start.uniform(-0.5, 0.5, [int(size) for size in shape]).astype(np.float32)

        def decode(read: list[Any], said: list[Any]) -> Any:
            given = [tf.zeros_like(said[0]), *said[:-1]]
            chosen = FED[fed]
            feeding = self.fed if chosen is None else chosen
            return MODELS[model](tf, read, given, feeding)

        buckets = [(1, 1), (TIME, TIME)] if model == "embedding" else [(TIME, TIME)]
        with tf.variable_scope("model", initializer=values):
            _, self.losses_of_buckets = tf.contrib.legacy_seq2seq.model_with_buckets(
                *(self.read, self.targets, self.targets, self.weights, buckets, decode)
            )
        self.loss = tf.add_n(self.losses_of_buckets)
        self.train = tf.train.GradientDescentOptimizer(0.5).minimize(self.loss)

    def results(self, steps: int = 3) -> dict[str, Any]:
        """The variables, the losses of some steps, and a digest of all nodes."""
        random, losses = np.random.RandomState(1), []
        nodes = "\n".join(
            f"{op.name} {op.type} {[x.name for x in op.inputs]}"
            for op in self.tf.get_default_graph().get_operations()
        )
        with self.tf.Session() as session:
            session.run(self.tf.global_variables_initializer())
            for step in range(steps):
                symbols = random.randint(1, SYMBOLS, [TIME, BATCH])
                feed: dict[Any, Any] = dict(zip(self.read, symbols))
                feed.update(zip(self.targets, symbols[::-1]))
                feed[self.fed] = step == 1
                losses.append(float(session.run([self.loss, self.train], feed)[0]))
        return {
            "variables": [v.op.name for v in self.tf.trainable_variables()],
            "losses": losses,
            "nodes": hashlib.sha1(nodes.encode()).hexdigest(),
        }


def results(tf: Any, case: str) -> dict[str, Any]:
    """What a case makes in a graph of its own."""
    with tf.Graph().as_default():
        return Program(tf, case).results()


def main() -> None:
    """Writes what the installed TensorFlow makes."""
    import tensorflow as tf

    made = {case: results(tf, case) for case in CASES}
    with open(sys.argv[1], "w") as file:
        json.dump(made, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
