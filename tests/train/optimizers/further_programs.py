# SPDX-License-Identifier: Apache-2.0
"""Optimizers under all kinds of arguments and variables, for both sides of a comparison.

`python further_programs.py MODULE OUT.json` runs them in a module with TensorFlow's API: nodes with
their attributes, slots, collections, and what 20 steps do.  In Python that 3.7 reads.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

from programs import OPTIMIZERS

STEPS = 20
TABLE = [[0.5, 1.0], [-1.0, 2.0], [3.0, -0.5], [0.25, 0.75], [9.0, 9.0]]
# These cast no hyperparameter to the type of a variable in TensorFlow, which then refuses.
UNCAST = ("proximal_sgd", "proximal_adagrad")


def variable(tf: Any, value: Any, name: str, dtype: str, resource: bool) -> Any:
    return tf.Variable(tf.constant(value, dtype), name=name, use_resource=resource)


def dense(tf: Any, dtype: str, resource: bool) -> Any:
    """A matrix, a vector, a scalar and a variable without elements."""
    w = variable(tf, [[1.0, -2.0], [0.5, 3.0]], "w", dtype, resource)
    b = variable(tf, [0.25, -0.75], "b", dtype, resource)
    scale = variable(tf, 0.3, "scale", dtype, resource)
    empty = tf.Variable(tf.zeros([0, 3], dtype), name="empty", use_resource=resource)
    x = tf.constant([[0.5, -1.0], [1.5, 2.0], [-0.25, 0.75]], dtype)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b) * 0.2 * tf.exp(scale))
    return loss + tf.reduce_sum(tf.square(empty)) + tf.square(scale - 1)


def sparse(tf: Any, dtype: str, resource: bool) -> Any:
    """Rows of a table and elements of a vector, some of them several times."""
    table = variable(tf, TABLE, "table", dtype, resource)
    flat = variable(tf, [0.5, 1.0, 2.0, -1.0], "flat", dtype, resource)
    rows = tf.gather(table, [2, 0, 2, 1, 2])
    items = tf.gather(flat, tf.constant([3, 3, 0], tf.int64))
    return tf.reduce_sum(tf.square(rows)) * 0.2 + tf.reduce_sum(tf.square(items)) * 0.3


def mixed(tf: Any, dtype: str, resource: bool) -> Any:
    """Rows of a table, and all of it."""
    table = variable(tf, TABLE, "table", dtype, resource)
    rows = tf.gather(table, [2, 0, 2])
    return tf.reduce_sum(tf.square(rows)) * 0.2 + tf.reduce_sum(table * table) * 0.1


def partitioned(tf: Any, dtype: str, resource: bool) -> Any:
    """A table and a matrix in two parts each."""
    cut = tf.fixed_size_partitioner(2)
    with tf.variable_scope("cut", partitioner=cut, use_resource=resource):
        ones, zeros = tf.ones_initializer(dtype), tf.zeros_initializer(dtype)
        table = tf.get_variable("table", [5, 2], dtype, initializer=ones)
        matrix = tf.get_variable("matrix", [3, 2], dtype, initializer=zeros)
    rows = tf.nn.embedding_lookup(table, [2, 0, 2, 4])
    whole = tf.convert_to_tensor(matrix)
    return tf.reduce_sum(tf.square(rows - 0.5)) * 0.2 + tf.reduce_sum(tf.square(whole - 1))


LOSSES = {"dense": dense, "sparse": sparse, "mixed": mixed, "partitioned": partitioned}
DTYPES = ("float16", "float32", "float64")
CASES = [
    (optimizer, loss, dtype, resource)
    for optimizer in OPTIMIZERS
    for loss in LOSSES
    for dtype in DTYPES
    for resource in (False, True)
    if dtype == "float32" or (optimizer not in UNCAST and optimizer != "adagrad_da")
]


def attributes(op: Any) -> Any:
    """Those that are numbers, truth values, types or lists of names."""
    found = {}
    for key, value in sorted(op.node_def.attr.items()):
        if key != "value":
            found[key] = str(value).replace("\n", " ")
    return found


def run(tf: Any, case: Any) -> Any:
    """One case: the graph and the numbers."""
    optimizer_name, loss_name, dtype, resource = case
    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(1)
        loss = LOSSES[loss_name](tf, dtype, resource)
        trained = tf.trainable_variables()
        step = tf.train.get_or_create_global_step()
        optimizer = OPTIMIZERS[optimizer_name](tf)
        train = optimizer.minimize(loss, step)
        slots = [
            [name, slot.name, str(slot.shape), slot.trainable, slot.initial_value.name]
            for name in optimizer.get_slot_names()
            for slot in (optimizer.get_slot(v, name) for v in trained)
        ]
        nodes = [
            [op.name, op.type, list(op.node_def.input), attributes(op)]
            for op in graph.get_operations()
        ]
        own = [v.name for v in optimizer.variables()]
        keys = ("variables", "trainable_variables", "train_op")
        collections = [[item.name for item in tf.get_collection(key)] for key in keys]
        shown = [v.value() for v in tf.global_variables()]
        losses = []
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(STEPS):
                losses.append(float(session.run([train, loss])[1]))
            values = [value.tolist() for value in session.run(shown)]
    described = {"slots": slots, "own": own, "collections": collections, "nodes": nodes}
    return {**described, "losses": losses, "values": values}


def main() -> None:
    """The command line."""
    tf = importlib.import_module(sys.argv[1])
    found = {"/".join(map(str, case)): run(tf, case) for case in CASES}
    with open(sys.argv[2], "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
