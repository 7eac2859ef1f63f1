# SPDX-License-Identifier: Apache-2.0
"""A net of many layers for test_recorded.py; `python programs.py FILE` with TensorFlow 1.15 writes
what it makes of it."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np


def net(tf: Any, x: Any, training: Any, updates: Any) -> Any:
    """The outputs of a net, in the scope "net"."""
    layers, framework = tf.contrib.layers, tf.contrib.framework
    init = layers.xavier_initializer(seed=2)
    with (
        tf.variable_scope("net"),
        framework.arg_scope(
            [layers.conv2d, layers.fully_connected],
            weights_regularizer=layers.l2_regularizer(1e-3),
            weights_initializer=layers.variance_scaling_initializer(seed=3),
            outputs_collections=["ends"],
        ),
        framework.arg_scope(
            [layers.batch_norm],
            is_training=training,
            decay=0.9,
            scale=True,
            updates_collections=updates,
        ),
    ):
        y = layers.conv2d(x, 4, [3, 3], normalizer_fn=layers.batch_norm, scope="c1")
        y = layers.max_pool2d(y, [2, 2])
        y = layers.repeat(y, 2, layers.conv2d, 4, [3, 3], scope="c2")
        y = layers.separable_conv2d(y, 6, [3, 3], depth_multiplier=1, weights_initializer=init)
        y = layers.conv2d_transpose(y, 4, [3, 3], stride=2, weights_initializer=init)
        y = layers.instance_norm(layers.layer_norm(y))
        y = layers.dropout(layers.flatten(y), 0.9, is_training=training, seed=4)
        return layers.fully_connected(y, 5, activation_fn=None, scope="logits")


def facts(tf: Any, is_delayed: bool) -> dict[str, Any]:
    """Nodes, collections, aliases and losses of three steps, of a new graph."""
    tf.set_random_seed(7)
    x, labels = tf.placeholder(tf.float32, [None, 8, 8, 3]), tf.placeholder(tf.int64, [None])
    training = tf.placeholder(tf.bool, [])
    logits = net(tf, x, training, tf.GraphKeys.UPDATE_OPS if is_delayed else None)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    loss += tf.add_n(tf.losses.get_regularization_losses())
    step = tf.train.get_or_create_global_step()
    train = tf.contrib.layers.optimize_loss(loss, step, 0.05, "Adam", clip_gradients=1.0)
    graph, kept = tf.get_default_graph(), tf.GraphKeys
    keys = (
        "UPDATE_OPS",
        "MODEL_VARIABLES",
        "REGULARIZATION_LOSSES",
        "GLOBAL_VARIABLES",
        "SUMMARIES",
    )
    draw = np.random.RandomState(0)
    feeds = {x: draw.rand(6, 8, 8, 3), labels: draw.randint(0, 5, 6), training: True}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [float(session.run(train, feeds)) for _ in range(3)]
    return {
        "nodes": [f"{op.name} {op.type}" for op in graph.get_operations()],
        "collections": {k: [v.name for v in graph.get_collection(getattr(kept, k))] for k in keys},
        "aliases": [alias for end in graph.get_collection("ends") for alias in end.aliases],
        "losses": losses,
    }


if __name__ == "__main__":
    import hashlib

    import tensorflow

    found = []
    for delays in (True, False):
        with tensorflow.Graph().as_default():
            found.append(facts(tensorflow, delays))
    for one in found:
        one["nodes"] = hashlib.sha256("\n".join(one["nodes"]).encode()).hexdigest()
    with open(sys.argv[1], "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
