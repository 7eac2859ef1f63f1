# SPDX-License-Identifier: Apache-2.0
"""Builds graphs with TensorFlow 1.15 and writes them, and the signatures of all ops.

    python graphs.py FOLDER

Each function below makes one graph; the same program runs under TensorFlow 1.15 and here.
"""

from __future__ import annotations

import os
import sys

import numpy as np


def constants(tf):
    """All forms in which a constant is written."""
    tf.constant([[1.0, 2.0], [3.0, 4.0]])
    tf.constant(0.9, name="s")
    tf.constant(["a", "b\0"])
    tf.constant(2, shape=[2, 3])
    tf.constant([1, 2], shape=[5])
    tf.constant(np.zeros((3, 3)))
    tf.constant(1, dtype=tf.bfloat16)
    tf.constant([1.5, 2], dtype=tf.float16)
    tf.constant([True])
    tf.constant([1 + 2j])
    tf.constant(2**40)
    tf.zeros([3])
    tf.ones([2, 0])
    tf.zeros([2000])


def scopes(tf):
    """Names, devices, control dependencies and colocation."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    a = tf.constant(1.0)
    with tf.name_scope("n"), tf.device("/cpu:0"):
        y = x + 1.0
        y = tf.tanh(y * y - 2.0)
        with tf.device("/job:ps/task:1"):
            tf.identity(y)
    with tf.control_dependencies([y, a]):
        z = tf.identity(y)
    with tf.get_default_graph().colocate_with(z):
        tf.exp(z)
    tf.group(y, z)


def shapes(tf):
    """Ops with shape, list and type attributes."""
    x = tf.placeholder(tf.float32, [None, 3])
    tf.placeholder(tf.int32)
    tf.reshape(x, [-1])
    tf.expand_dims(x, 0)
    tf.concat([x, x], 1)
    tf.transpose(x)
    x[0, 1:]
    tf.stack([x, x])
    tf.unstack(x, axis=1)
    tf.split(x, 3, 1)
    tf.shape(x)
    tf.one_hot([1, 2], 3)
    tf.cast(x, tf.int32)
    tf.reduce_sum(x, 1, keepdims=True)
    tf.gather(x, [0, 1])
    tf.tile(x, [1, 2])
    tf.pad(x, [[0, 1], [1, 0]])


def perceptron(tf):
    """Two layers with their gradients and an update."""
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.variable_scope("hidden"):
        w = tf.get_variable("w", [4, 8])
        b = tf.get_variable("b", [8], initializer=tf.zeros_initializer())
        h = tf.nn.relu(tf.matmul(x, w) + b)
    w2 = tf.Variable(tf.truncated_normal([8, 3], stddev=0.1), name="w2")
    logits = tf.nn.dropout(h, 0.5) @ w2
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    tf.global_variables_initializer()


def convolutions(tf):
    """A small convolutional network with batch normalisation's pieces."""
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    k = tf.get_variable("k", [3, 3, 1, 4])
    h = tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME")
    h = tf.nn.bias_add(h, tf.get_variable("b", [4], initializer=tf.zeros_initializer()))
    h = tf.nn.max_pool(tf.nn.relu(h), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    mean, variance = tf.nn.moments(h, [0, 1, 2])
    h = tf.nn.batch_normalization(h, mean, variance, None, None, 1e-3)
    y = tf.reduce_sum(tf.reshape(h, [-1, 64]))
    tf.gradients(y, [k])


GRAPHS = (constants, scopes, shapes, perceptron, convolutions)


def main(folder):
    """Writes a meta graph for each function, and the op table."""
    import tensorflow as tf
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.framework import meta_graph, op_def_registry

    for build in GRAPHS:
        graph = tf.Graph()
        with graph.as_default():
            build(tf)
        meta_graph.export_scoped_meta_graph(
            os.path.join(folder, build.__name__ + ".meta"), graph=graph
        )
    with open(os.path.join(folder, "ops.pb"), "wb") as file:
        table = op_def_registry.get_registered_ops().values()
        file.write(op_def_pb2.OpList(op=table).SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1])
