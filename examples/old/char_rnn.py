# SPDX-License-Identifier: Apache-2.0
"""A network that writes like what it has read, letter by letter.

Two layers of LSTM cells unrolled by dynamic_rnn; the state goes on from batch to batch, gradients
are clipped by their global norm.  Expected: a loss below 0.6, and rows that count up.

    numbaflow run examples/old/char_rnn.py
"""

import argparse

import numpy as np
import tensorflow as tf

ALPHABET = "0123456789 +=\n"


def text(rng, rows=2000):
    """Sums of two digits, a row each."""
    pairs = rng.randint(0, 10, (rows, 2))
    return "".join(f"{a} + {b} = {a + b}\n" for a, b in pairs)


class Model:
    """Logits of the next letter, for so many rows of so many letters."""

    def __init__(self, batch, length, units=64, layers=2):
        cells = [tf.nn.rnn_cell.BasicLSTMCell(units) for _ in range(layers)]
        cell = tf.nn.rnn_cell.MultiRNNCell(cells)
        self.inputs = tf.placeholder(tf.int32, [batch, length])
        self.targets = tf.placeholder(tf.int32, [batch, length])
        self.start = cell.zero_state(batch, tf.float32)
        embedding = tf.get_variable("embedding", [len(ALPHABET), units])
        embedded = tf.nn.embedding_lookup(embedding, self.inputs)
        outputs, self.end = tf.nn.dynamic_rnn(cell, embedded, initial_state=self.start)
        logits = tf.layers.dense(outputs, len(ALPHABET), name="logits")
        self.probabilities = tf.nn.softmax(logits[:, -1])
        weights = tf.ones([batch, length])
        self.loss = tf.contrib.seq2seq.sequence_loss(logits, self.targets, weights)


def training_step(loss, rate=5e-3, norm=5.0):
    """Adam behind clipped gradients."""
    variables = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), norm)
    return tf.train.AdamOptimizer(rate).apply_gradients(zip(gradients, variables))


def write(session, model, length, first="\n"):
    """The letters that the network holds most likely, one after another."""
    state, letters = session.run(model.start), [ALPHABET.index(first)]
    for _ in range(length):
        feed = {model.inputs: [letters[-1:]], model.start: state}
        probabilities, state = session.run([model.probabilities, model.end], feed)
        letters.append(int(np.argmax(probabilities[0])))
    return "".join(ALPHABET[letter] for letter in letters[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--every", type=int, default=100, help="steps between printed losses")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--length", type=int, default=20)
    args = parser.parse_args()

    letters = np.array([ALPHABET.index(c) for c in text(np.random.RandomState(1))])
    whole = (len(letters) - 1) // (args.batch * args.length) * args.batch * args.length
    inputs = letters[:whole].reshape(args.batch, -1)
    targets = letters[1 : whole + 1].reshape(args.batch, -1)

    tf.set_random_seed(1)
    with tf.variable_scope("network"):
        model = Model(args.batch, args.length)
    train = training_step(model.loss)
    with tf.variable_scope("network", reuse=True):
        writer = Model(1, 1)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        state = session.run(model.start)
        for step in range(1, args.steps + 1):
            at = (step - 1) * args.length % inputs.shape[1]
            feed = {
                model.inputs: inputs[:, at : at + args.length],
                model.targets: targets[:, at : at + args.length],
                model.start: state,
            }
            loss, state, _ = session.run([model.loss, model.end, train], feed)
            if step % args.every == 0:
                print(f"step {step}: loss {loss:.6f}")
        print(write(session, writer, 60))


if __name__ == "__main__":
    main()
