# SPDX-License-Identifier: Apache-2.0
"""Programs with layers, and what is written down of each: the graph, collections and values.

record.py runs them in TensorFlow 1.15, test_recorded.py here; in Python that 3.7 reads.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

COLLECTIONS = (
    "variables trainable_variables local_variables update_ops regularization_losses".split()
)


def run(tf: Any, program: Any) -> Any:
    """What a program builds, and what its outputs and their gradients are after `set_seed(11)`."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(11)
        outputs = program(tf)
        trained = tf.trainable_variables()
        floats = [y for y in outputs if y.dtype.is_floating]
        gradients = tf.gradients(floats, trained) if trained and floats else []
        updates = graph.get_collection("update_ops")
        with tf.Session(graph=graph) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            initial = session.run(trained)
            values = session.run([*outputs, *(g for g in gradients if g is not None)])
            session.run(updates)
            state = session.run(graph.get_collection("variables"))
        collections = {
            name: [element.name for element in graph.get_collection(name)] for name in COLLECTIONS
        }
        nodes = [node_text(node) for node in graph.as_graph_def().node]
    return {
        "nodes": nodes,
        "collections": collections,
        "values": [rounded(v) for v in [*initial, *values, *state]],
    }


def node_text(node: Any) -> str:
    """A node's name and type, and a hash of all that it is."""
    parts = [*node.input, node.device]
    for key in sorted(node.attr):
        parts.append(key + node.attr[key].SerializeToString(deterministic=True).hex())
    digest = hashlib.sha1("\n".join(parts).encode()).hexdigest()[:6]
    return f"{node.name} {node.op} {digest}"


def rounded(value: Any) -> Any:
    """An array as JSON holds it: its shape, and some of its elements."""
    value = np.asarray(value)
    if value.dtype.kind in "SO":
        return [list(value.shape), [str(v) for v in value.ravel()[:20]]]
    flat = value.astype(np.float64).ravel()
    chosen = flat if flat.size <= 24 else flat[:: flat.size // 20]
    return [list(value.shape), [float(f"{v:.6g}") for v in chosen]]


def numbers(tf: Any, *shape: int) -> Any:
    """A placeholder with a default: fixed numbers, and an unknown first size."""
    # Fractions that are exact, whatever computes them.
    values = (np.arange(np.prod(shape)) * 7 % 19 - 9).astype(np.float32) / 8
    return tf.placeholder_with_default(values.reshape(shape), (None, *shape[1:]))


def dense(tf: Any) -> Any:
    x = numbers(tf, 3, 4)
    y = tf.layers.dense(x, 5, activation=tf.nn.relu, kernel_regularizer=tf.nn.l2_loss)
    y = tf.layers.dense(y, 3, use_bias=False, activation="tanh", name="named")
    y = tf.layers.dense(y, 2, activity_regularizer=lambda t: 0.1 * tf.reduce_sum(t))
    return [y, *tf.get_collection("regularization_losses")]


def dense_of_ranks(tf: Any) -> Any:
    y = tf.layers.dense(numbers(tf, 2, 3, 4), 5, "sigmoid", True, tf.zeros_initializer)
    with tf.variable_scope("outer", initializer=tf.random_normal_initializer(stddev=0.3)):
        y = tf.layers.dense(y, 2, bias_initializer="ones")
        z = tf.layers.dense(numbers(tf, 2, 3).op.inputs[0], 2)
    return [y, z]


def dense_shared(tf: Any) -> Any:
    x = numbers(tf, 3, 4)
    first = tf.layers.dense(x, 4, name="d", kernel_regularizer=tf.nn.l2_loss)
    again = tf.layers.dense(first, 4, name="d", reuse=True, kernel_regularizer=tf.nn.l2_loss)
    with tf.variable_scope("s"):
        layer = tf.layers.Dense(3)
        one = layer(x)
    two = layer.apply(x)
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        three = tf.layers.dense(x, 3, name="dense")
        four = tf.layers.dense(x, 3, name="other")
    return [again, one, two, three, four]


def dense_in_scopes(tf: Any) -> Any:
    x = numbers(tf, 3, 4)
    with tf.name_scope("names"):
        a = tf.layers.dense(x, 2)
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        b = tf.layers.dense(x, 2, kernel_regularizer=tf.nn.l2_loss)
    with tf.variable_scope("resources", use_resource=True):
        c = tf.layers.dense(x, 2, kernel_constraint=tf.abs)
    d = tf.layers.Dense(2, trainable=False, dtype="float64", _scope="given")
    return [a, b, c, d(tf.cast(x, tf.float64))]


def sparse_dense(tf: Any) -> Any:
    x = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    x = tf.sparse.reset_shape(x, [2, 3])
    return [tf.layers.dense(x, 2)]


def dropout(tf: Any) -> Any:
    x = numbers(tf, 4, 3)
    switch = tf.placeholder_with_default(True, [])
    return [
        tf.layers.dropout(x, 0.4, training=True),
        tf.layers.dropout(x, rate=0.4, noise_shape=[None, 1], seed=3, training=switch),
        tf.layers.dropout(x, name="idle"),
        tf.layers.Dropout(0.5)(x, training=tf.constant(True)),
    ]


def flatten(tf: Any) -> Any:
    x = numbers(tf, 2, 3, 4)
    unknown = tf.placeholder_with_default(np.ones([2, 3, 4], np.float32), [2, None, 4])
    return [
        tf.layers.flatten(x),
        tf.layers.flatten(x, name="f", data_format="channels_first"),
        tf.layers.Flatten()(unknown),
        tf.layers.flatten(tf.constant([1.0, 2.0])),
    ]


def own_layer(tf: Any) -> Any:
    class Scale(tf.layers.Layer):
        def build(self, shape: Any) -> None:
            self.scale = self.add_variable("scale", shape[1:].as_list(), tf.float32)
            self.count = self.add_weight("count", [], tf.int32, trainable=False)
            super().build(shape)

        def call(self, inputs: Any, training: Any = None) -> Any:
            self.add_loss(tf.reduce_sum(inputs), inputs=inputs)
            self.add_update(self.count.assign_add(1))
            self.add_update(lambda: self.count.assign_add(tf.cast(inputs[0, 0], tf.int32)))
            return tf.layers.Dropout(0.3)(inputs * self.scale)

    layer = Scale()
    y = layer(numbers(tf, 3, 4), training=True)
    with tf.variable_scope("again"):
        z = layer(y)
    w = Scale(name="scaled")(z)
    return [y, z, w, *layer.losses, *layer.get_losses_for(None)]


PROGRAMS = {
    f.__name__: f
    for f in (
        dense,
        dense_of_ranks,
        dense_shared,
        dense_in_scopes,
        sparse_dense,
        dropout,
        flatten,
        own_layer,
    )
}
