# SPDX-License-Identifier: Apache-2.0
"""Trains two small networks in the module named on the command line and saves what happened.

`python training.py MODULE OUT.npz`: run by test_training.py here and under a real TensorFlow.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

STEPS = 100
BATCH = 32


def batches() -> tuple[np.ndarray, np.ndarray]:
    """Images of 12 by 12 with a class-dependent pattern under noise, and their labels."""
    random = np.random.RandomState(7)
    patterns = random.normal(size=(10, 12, 12))
    labels = random.randint(0, 10, size=(STEPS, BATCH))
    noise = random.normal(scale=1.5, size=(STEPS, BATCH, 12, 12))
    return (patterns[labels] + noise).astype(np.float32), labels


def dense(tf: Any, x: Any, units: int, initializer: Any, name: str) -> Any:
    with tf.variable_scope(name):
        inputs = x.get_shape()[-1]
        weights = tf.get_variable("w", [inputs, units], initializer=initializer)
        return tf.matmul(x, weights) + tf.get_variable(
            "b", [units], initializer=tf.zeros_initializer()
        )


def mlp(tf: Any, images: Any) -> Any:
    x = tf.reshape(images, [-1, 144])
    uniform = tf.random_uniform_initializer(-0.1, 0.1, seed=11)
    x = tf.nn.relu(dense(tf, x, 64, uniform, "hidden"))
    x = tf.nn.dropout(x, rate=0.3, seed=12)
    return dense(tf, x, 10, tf.glorot_uniform_initializer(seed=13), "logits")


def cnn(tf: Any, images: Any) -> Any:
    x = tf.reshape(images, [-1, 12, 12, 1])
    for layer, channels in enumerate((8, 16)):
        with tf.variable_scope(f"conv{layer}"):
            shape = [3, 3, int(x.get_shape()[-1]), channels]
            normal = tf.truncated_normal_initializer(stddev=0.2, seed=21 + layer)
            kernel = tf.get_variable("k", shape, initializer=normal)
            bias = tf.get_variable("b", [channels], initializer=tf.zeros_initializer())
            x = tf.nn.conv2d(x, kernel, strides=[1, 1, 1, 1], padding="SAME")
            x = tf.nn.relu(tf.nn.bias_add(x, bias))
            x = tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    x = tf.nn.dropout(tf.reshape(x, [-1, 144]), rate=0.25, seed=25)
    normal = tf.random_normal_initializer(stddev=0.1, seed=26)
    return dense(tf, x, 10, normal, "logits")


OPTIMIZERS = {
    "mlp": lambda tf: tf.train.AdamOptimizer(2e-3),
    "cnn": lambda tf: tf.train.MomentumOptimizer(0.02, 0.9),
}


def train(tf: Any, name: str, network: Any) -> dict[str, np.ndarray]:
    """Initial weights by name and the losses of all steps."""
    pictures, classes = batches()
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        images = tf.placeholder(tf.float32, [None, 12, 12])
        labels = tf.placeholder(tf.int64, [None])
        logits = network(tf, images)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.reduce_mean(losses)
        variables = tf.trainable_variables()
        step = OPTIMIZERS[name](tf).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = {f"{name}/{v.op.name}": session.run(v) for v in variables}
            values = [
                session.run([loss, step], {images: pictures[i], labels: classes[i]})[0]
                for i in range(STEPS)
            ]
    found[f"{name}/losses"] = np.array(values)
    return found


def main() -> None:
    """Trains both networks and saves the arrays."""
    tf = importlib.import_module(sys.argv[1])
    if hasattr(tf, "disable_v2_behavior"):
        tf.disable_v2_behavior()
    np.savez(sys.argv[2], **train(tf, "mlp", mlp), **train(tf, "cnn", cnn))


if __name__ == "__main__":
    main()
