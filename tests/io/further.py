# SPDX-License-Identifier: Apache-2.0
"""Models that one implementation writes and another trains further, without the model's code.

    python further.py {write,train} MODULE FOLDER

`write` saves a meta graph and a checkpoint of each model; `train` imports the meta graph under a
scope, adds an optimizer to its loss and prints the losses of some steps.
"""

from __future__ import annotations

import importlib
import os
import sys

import numpy as np


def loop(tf):
    """A loop whose gradients need what each round computed, with a branch within."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.float32([[0.5, -0.2, 0.1]] * 3))
    b = tf.get_variable("b", initializer=np.float32([0.1, 0.2, 0.3]), use_resource=True)

    def body(i, h):
        h = tf.tanh(tf.matmul(h, w) + b)
        return i + 1, tf.cond(tf.reduce_sum(h) > 0.0, lambda: h * 1.1, lambda: h - w[0])

    _, h = tf.while_loop(lambda i, _: i < 4, body, [tf.constant(0), x])
    return tf.reduce_mean(tf.square(h - 0.5), name="loss")


def nested(tf):
    """A loop in a loop, an array, and a branch around a variable."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.float32([0.3, -0.7, 0.2]))

    def inner(total, row):
        return tf.while_loop(lambda v: tf.reduce_sum(v) < 1.0, lambda v: v + w * w, [total * row])

    rows = tf.scan(inner, tf.abs(x) + 0.1, initializer=tf.ones([3]))
    scaled = tf.cond(tf.size(rows) > 6, lambda: rows * w, lambda: rows)
    return tf.reduce_sum(scaled * scaled, name="loss")


def pieces(tf):
    """Partitions, a moving average, collections, and an optimizer with slots of its own."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    table = tf.get_variable(
        "table",
        [6, 3],
        initializer=tf.constant_initializer(0.3),
        partitioner=tf.fixed_size_partitioner(2),
    )
    ids = tf.cast(tf.abs(x) * 5.0, tf.int32)[:, 0] % 6
    loss = tf.reduce_mean(tf.square(tf.nn.embedding_lookup(table, ids) - x), name="loss")
    tf.train.AdamOptimizer(0.01).minimize(loss, name="train")
    tf.add_to_collection("train", tf.get_default_graph().get_operation_by_name("train"))
    return loss


MODELS = (loop, nested, pieces)


def feed():
    """What all runs are fed."""
    return np.random.RandomState(3).uniform(-1, 1, (4, 3)).astype(np.float32)


def write_model(tf, model, folder):
    """Saves a model."""
    with tf.Graph().as_default(), tf.Session() as session:
        model(tf)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, os.path.join(folder, model.__name__))


def train_model(tf, model, folder):
    """The losses of a model that is trained further."""
    path = os.path.join(folder, model.__name__)
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(path + ".meta", import_scope="model")
        graph = tf.get_default_graph()
        loss = graph.get_tensor_by_name("model/loss:0")
        known = tf.get_collection("train")
        train = known[0] if known else tf.train.GradientDescentOptimizer(0.05).minimize(loss)
        saver.restore(session, path)
        losses = []
        for _ in range(5):
            value, _ = session.run([loss, train], {"model/x:0": feed()})
            losses.append(float(value))
        return losses


def main(action, module, folder):
    """Writes or trains all models."""
    tf = importlib.import_module(module)
    if module.endswith("v1"):
        tf.disable_v2_behavior()
    for model in MODELS:
        if action == "write":
            write_model(tf, model, folder)
        else:
            print("LOSSES", *train_model(tf, model, folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
