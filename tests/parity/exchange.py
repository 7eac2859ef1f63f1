# SPDX-License-Identifier: Apache-2.0
"""Training that goes on in another program: from its checkpoint and its meta graph alone.

`python exchange.py MODULE MODEL FIRST LAST FOLDER VERSION` runs the steps FIRST up to LAST.  From
step 0 it builds the graph and a saver for checkpoints of format VERSION, otherwise it imports what
the last program left in FOLDER.  The loss of each step and a sum over the variables that are not
trained are written to FOLDER/losses-FIRST.json.  In Python that 3.7 reads, for TensorFlow 1.15.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

import numpy as np

BATCH = 16
STEPS = 60


def batches() -> Any:
    """Images, sequences and word numbers whose labels depend on them, for every step."""
    random = np.random.RandomState(5)
    labels = random.randint(0, 4, size=(STEPS, BATCH))
    patterns = random.normal(size=(4, 10, 10))
    images = patterns[labels] + random.normal(size=(STEPS, BATCH, 10, 10))
    words = random.randint(0, 60, size=(STEPS, BATCH, 6))
    for place in range(4):
        words[:, :, place] = labels * 15 + random.randint(0, 15, size=labels.shape)
    return images.astype(np.float32), words, labels


def variable(tf: Any, name: str, shape: Any, scale: float = 0.1, resource: bool = False) -> Any:
    """A variable with small random values."""
    start = tf.random_normal_initializer(stddev=scale, seed=len(name) + int(np.prod(shape)))
    return tf.get_variable(name, shape, initializer=start, use_resource=resource)


def normalized(tf: Any, x: Any, name: str) -> Any:
    """Batch normalization; moving averages of its statistics are updated with every step."""
    with tf.variable_scope(name):
        size = [int(x.get_shape()[-1])]
        scale = tf.get_variable("gamma", size, initializer=tf.ones_initializer())
        offset = tf.get_variable("beta", size, initializer=tf.zeros_initializer())
        y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset)
        for moving, value in (("moving_mean", mean), ("moving_variance", variance)):
            average = tf.get_variable(
                moving, size, initializer=tf.ones_initializer(), trainable=False
            )
            update = tf.assign_sub(average, (average - value) * 0.1)
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, update)
        return y


def cnn(tf: Any, images: Any, words: Any) -> Any:
    """Two convolutions with batch normalization."""
    x = tf.reshape(images, [-1, 10, 10, 1])
    for layer, channels in enumerate((6, 8)):
        with tf.variable_scope(f"conv{layer}"):
            kernel = variable(tf, "kernel", [3, 3, int(x.get_shape()[-1]), channels], 0.3)
            x = tf.nn.conv2d(x, kernel, strides=[1, 1, 1, 1], padding="SAME")
            x = tf.nn.relu(normalized(tf, x, "norm"))
            x = tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    x = tf.reshape(x, [-1, 3 * 3 * 8])
    return tf.matmul(x, variable(tf, "out", [72, 4]))


def lstm(tf: Any, images: Any, words: Any) -> Any:
    """An LSTM over the rows of an image, unrolled."""
    kernel = variable(tf, "kernel", [10 + 12, 48], 0.2, resource=True)
    bias = tf.get_variable("bias", [48], initializer=tf.zeros_initializer())
    batch = tf.shape(images)[0]
    state = output = tf.zeros(tf.stack([batch, 12]))
    for row in tf.unstack(images, axis=1):
        gates = tf.matmul(tf.concat([row, output], 1), kernel) + bias
        i, j, f, o = tf.split(gates, 4, axis=1)
        state = tf.sigmoid(f + 1.0) * state + tf.sigmoid(i) * tf.tanh(j)
        output = tf.sigmoid(o) * tf.tanh(state)
    return tf.matmul(output, variable(tf, "out", [12, 4], resource=True))


def embedding(tf: Any, images: Any, words: Any) -> Any:
    """The mean of embeddings from a table in three parts."""
    with tf.variable_scope("words", partitioner=tf.fixed_size_partitioner(3)):
        table = variable(tf, "table", [60, 8], 0.5)
    x = tf.reduce_mean(tf.nn.embedding_lookup(table, words), axis=1)
    return tf.matmul(x, variable(tf, "out", [8, 4], 0.5))


MODELS = {
    "cnn": (cnn, lambda tf: tf.train.MomentumOptimizer(0.02, 0.9)),
    "lstm": (lstm, lambda tf: tf.train.AdamOptimizer(5e-3)),
    "embedding": (embedding, lambda tf: tf.train.AdagradOptimizer(0.3)),
}


def build(tf: Any, name: str, version: int) -> Any:
    """The graph; what a program needs of it goes into collections.  Returns the saver.

    version: 1 or 2, the format of checkpoints.
    """
    tf.set_random_seed(7)
    network, optimizer = MODELS[name]
    images = tf.placeholder(tf.float32, [None, 10, 10], name="images")
    words = tf.placeholder(tf.int32, [None, 6], name="words")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    logits = network(tf, images, words)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses, name="loss")
    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = optimizer(tf).minimize(loss, global_step=step)
    # What no loss sees: averages, and slots of the optimizer.
    others = [v for v in tf.global_variables() if v not in tf.trainable_variables()]
    others = [tf.reduce_sum(tf.abs(tf.cast(v.value(), tf.float32))) for v in others]
    for thing in (images, words, labels, loss, train, tf.add_n(others)):
        tf.add_to_collection("exchange", thing)
    return tf.train.Saver(write_version=version)


def run(tf: Any, name: str, first: int, last: int, folder: str, version: int) -> None:
    """Some steps of the training, from what is in the folder to what will be."""
    images, words, labels = batches()
    with tf.Graph().as_default(), tf.Session() as session:
        if first:
            prefix = tf.train.latest_checkpoint(folder)
            assert prefix.endswith(f"-{first}"), prefix
            saver = tf.train.import_meta_graph(prefix + ".meta")
            saver.restore(session, prefix)
        else:
            saver = build(tf, name, version)
            session.run(tf.global_variables_initializer())
        *feeds, loss, train, others = tf.get_collection("exchange")
        found = []
        for i in range(first, last):
            feed = dict(zip(feeds, (images[i], words[i], labels[i])))
            found.append(float(session.run([loss, train], feed)[0]))
            found.append(float(session.run(others)))
        saver.save(session, os.path.join(folder, "model"), global_step=last)
    with open(os.path.join(folder, f"losses-{first}.json"), "w") as file:
        json.dump(found, file)


def main() -> None:
    """The command line."""
    tf = importlib.import_module(sys.argv[1])
    if sys.argv[1].startswith("tensorflow") and hasattr(tf, "disable_v2_behavior"):
        tf.disable_v2_behavior()
    run(tf, sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5], int(sys.argv[6]))


if __name__ == "__main__":
    main()
