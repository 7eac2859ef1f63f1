# SPDX-License-Identifier: Apache-2.0
"""Words as vectors, by skip-grams with noise-contrastive estimation.

Each topic of a made-up language has words of its own; those of a topic stand beside each other.
Expected: nearly all of a word's nearest neighbours are of its topic.

    numbaflow run examples/old/word2vec.py
"""

import argparse

import numpy as np
import tensorflow as tf

TOPICS, WORDS = 10, 20


def pairs(rng, sentences=4000, length=12, window=2):
    """(word, word nearby), drawn from sentences that each keep to one topic."""
    topics = rng.randint(0, TOPICS, (sentences, 1))
    text = topics * WORDS + rng.randint(0, WORDS, (sentences, length))
    words, nearby = [], []
    for offset in range(1, window + 1):
        words += [text[:, :-offset], text[:, offset:]]
        nearby += [text[:, offset:], text[:, :-offset]]
    words, nearby = (np.concatenate([w.ravel() for w in side]) for side in (words, nearby))
    order = rng.permutation(len(words))
    return words[order], nearby[order][:, None]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--every", type=int, default=500, help="steps between printed losses")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--size", type=int, default=32, help="length of the vectors")
    args = parser.parse_args()

    words, nearby = pairs(np.random.RandomState(1))
    vocabulary = TOPICS * WORDS
    tf.set_random_seed(1)
    inputs = tf.placeholder(tf.int32, [args.batch])
    labels = tf.placeholder(tf.int32, [args.batch, 1])
    with tf.device("/cpu:0"):
        embeddings = tf.Variable(tf.random_uniform([vocabulary, args.size], -1.0, 1.0))
        embedded = tf.nn.embedding_lookup(embeddings, inputs)
        deviation = 1.0 / args.size**0.5
        weights = tf.Variable(tf.truncated_normal([vocabulary, args.size], stddev=deviation))
        biases = tf.Variable(tf.zeros([vocabulary]))
    losses = tf.nn.nce_loss(
        weights, biases, labels, embedded, num_sampled=32, num_classes=vocabulary
    )
    loss = tf.reduce_mean(losses)
    rate = tf.train.exponential_decay(1.0, tf.train.get_or_create_global_step(), 1000, 0.5)
    train = tf.train.GradientDescentOptimizer(rate).minimize(loss, tf.train.get_global_step())

    normalized = tf.nn.l2_normalize(embeddings, 1)
    likeness = tf.matmul(normalized, normalized, transpose_b=True)
    nearest = tf.nn.top_k(likeness, 6).indices[:, 1:]

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, args.steps + 1):
            at = (step - 1) * args.batch % (len(words) - args.batch)
            batch = slice(at, at + args.batch)
            value, _ = session.run([loss, train], {inputs: words[batch], labels: nearby[batch]})
            if step % args.every == 0:
                print(f"step {step}: loss {value:.6f}")
        topics = session.run(nearest) // WORDS
        own = np.arange(vocabulary)[:, None] // WORDS
        print(f"neighbours of the same topic: {100 * np.mean(topics == own):.1f} %")


if __name__ == "__main__":
    main()
