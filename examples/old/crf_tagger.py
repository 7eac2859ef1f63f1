# SPDX-License-Identifier: Apache-2.0
"""Finding names in sentences: two-way LSTM cells below a conditional random field.

A made-up language, in which a title opens a name and the words behind it go on with it, as far as
they are rare.  Sentences differ in length.  Expected: over 97 % of tags right.

    numbaflow run examples/old/crf_tagger.py
"""

import argparse

import numpy as np
import tensorflow as tf

WORDS, OUTSIDE, BEGINS, INSIDE = 200, 0, 1, 2


def sentences(rng, count, longest=16):
    """Words, their tags and the lengths; a tenth of the words are titles, a third are rare."""
    lengths = rng.randint(6, longest + 1, count)
    words = rng.randint(1, WORDS, (count, longest))
    words[np.arange(longest) >= lengths[:, None]] = 0
    tags = np.zeros_like(words)
    for at in range(longest):
        within = tags[:, at - 1] != OUTSIDE if at else np.zeros(count, bool)
        tags[:, at][within & (words[:, at] > 2 * WORDS // 3)] = INSIDE
        tags[:, at][words[:, at] % 10 == 1] = BEGINS
    return words, tags, lengths


class Tagger:
    """Scores of tags, the loss, and what decoding needs."""

    def __init__(self, units=32, tags=3):
        self.words = tf.placeholder(tf.int32, [None, None])
        self.tags = tf.placeholder(tf.int32, [None, None])
        self.lengths = tf.placeholder(tf.int32, [None])
        self.keep = tf.placeholder_with_default(1.0, [])
        embedding = tf.get_variable("embedding", [WORDS, units])
        x = tf.nn.dropout(tf.nn.embedding_lookup(embedding, self.words), self.keep)
        cells = [tf.contrib.rnn.LSTMCell(units) for _ in range(2)]
        both, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, self.lengths, dtype=tf.float32)
        x = tf.nn.dropout(tf.concat(both, axis=-1), self.keep)
        scores = tf.layers.dense(x, tags)
        likelihood, transitions = tf.contrib.crf.crf_log_likelihood(scores, self.tags, self.lengths)
        self.loss = tf.reduce_mean(-likelihood)
        self.decoded, _ = tf.contrib.crf.crf_decode(scores, transitions, self.lengths)
        optimizer = tf.train.AdamOptimizer(1e-2)
        gradients, variables = zip(*optimizer.compute_gradients(self.loss))
        gradients, _ = tf.clip_by_global_norm(gradients, 5.0)
        self.train = optimizer.apply_gradients(zip(gradients, variables))

    def feed(self, data, rows=slice(None)):
        words, tags, lengths = data
        return {self.words: words[rows], self.tags: tags[rows], self.lengths: lengths[rows]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=50, help="steps between printed losses")
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()

    rng = np.random.RandomState(1)
    data, unseen = sentences(rng, 2000), sentences(rng, 200)
    tf.set_random_seed(1)
    tagger = Tagger()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, args.steps + 1):
            feed = tagger.feed(data, rng.randint(0, 2000, args.batch))
            feed[tagger.keep] = 0.9
            loss, _ = session.run([tagger.loss, tagger.train], feed)
            if step % args.every == 0:
                print(f"step {step}: loss {loss:.6f}")
        decoded = session.run(tagger.decoded, tagger.feed(unseen))
        words, tags, _ = unseen
        print(f"tags right: {100 * np.mean((decoded == tags)[words > 0]):.1f} %")


if __name__ == "__main__":
    main()
