# SPDX-License-Identifier: Apache-2.0
"""Programs of feature columns, for either package: what they build, and what comes out.

`python tests/train/feature_column/programs.py`, with a Python 3.7 that has TensorFlow 1.15, writes
tensorflow_1_15.json beside this file.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import numpy as np

PLACES = [[0, 0], [0, 1], [2, 0]]
WORDS = ["red", "green", "blue"]


def features(tf: Any) -> Any:
    """Features of three examples: numbers, words and numbers of varying count."""
    return {
        "age": tf.constant([[23.0], [35.5], [61.0]]),
        "size": tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        "color": tf.constant([["red"], ["pink"], ["blue"]]),
        "videos": tf.SparseTensor(
            [[0, 0], [0, 1], [2, 0]], tf.constant([3, 1, 0], tf.int64), [3, 2]
        ),
        "weight": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [0.5, 2.0, 4.0], [3, 2]),
    }


def columns(fc: Any) -> Any:
    """A column of each kind."""
    age = fc.numeric_column("age")
    videos = fc.categorical_column_with_identity("videos", 4)
    buckets = fc.bucketized_column(age, [30.0, 40.0])
    return {
        "size": fc.numeric_column("size", shape=2, normalizer_fn=lambda x: x / 2.0),
        "buckets": buckets,
        "hashed": fc.categorical_column_with_hash_bucket("color", 10),
        "listed": fc.categorical_column_with_vocabulary_list("color", WORDS, num_oov_buckets=2),
        "videos": videos,
        "weighted": fc.weighted_categorical_column(videos, "weight"),
        "crossed": fc.crossed_column([buckets, "color"], 50),
    }


def input_layer(tf: Any) -> Any:
    """Dense columns side by side."""
    fc, made = tf.feature_column, columns(tf.feature_column)
    initializer = tf.constant_initializer(np.arange(15.0) / 10)
    dense = [
        made["size"],
        made["buckets"],
        fc.indicator_column(made["listed"]),
        fc.embedding_column(made["listed"], 3, initializer=initializer),
    ]
    return [fc.input_layer(features(tf), dense)]


def sparse_indicators(tf: Any) -> Any:
    """How often categories occur, by weight and by cross."""
    fc, made = tf.feature_column, columns(tf.feature_column)
    dense = [fc.indicator_column(made[name]) for name in ("weighted", "crossed")]
    return [fc.input_layer(features(tf), dense)]


def linear_model(tf: Any) -> Any:
    """Weighted sums, twice: the second has variables of its own."""
    made = columns(tf.feature_column)
    used = [made[name] for name in ("size", "buckets", "hashed", "weighted", "crossed")]
    with tf.variable_scope("linear"):
        first = tf.feature_column.linear_model(features(tf), used)
    second = tf.feature_column.linear_model(
        features(tf), [made["listed"]], units=2, sparse_combiner="mean"
    )
    return [first, second]


def shared(tf: Any) -> Any:
    """Columns that share their vectors."""
    fc = tf.feature_column
    made = fc.shared_embedding_columns(
        [fc.categorical_column_with_identity(key, 4) for key in ("videos", "seen")],
        2,
        initializer=tf.constant_initializer(np.arange(8.0)),
        combiner="sum",
    )
    given = features(tf)
    given["seen"] = tf.constant([[2], [3], [-1]], tf.int64)
    return [fc.input_layer(given, made)]


def partitioned(tf: Any) -> Any:
    """Weights in parts."""
    made = columns(tf.feature_column)
    with tf.variable_scope("linear", partitioner=tf.fixed_size_partitioner(2)):
        return [tf.feature_column.linear_model(features(tf), [made["videos"], made["crossed"]])]


def crosses(tf: Any) -> Any:
    """Fingerprints of crosses, and their texts."""
    given = features(tf)
    inputs = [given["color"], given["videos"], tf.constant([[1, -2], [3, 4], [5, 6]], tf.int64)]
    hashed = tf.sparse.cross_hashed(inputs)
    seven = tf.sparse.cross_hashed(inputs, 100, 7)
    return [hashed.values, seven.values, hashed.dense_shape, tf.sparse.cross(inputs).values]


PROGRAMS = {
    f.__name__: f
    for f in (input_layer, sparse_indicators, linear_model, shared, partitioned, crosses)
}


def run(tf: Any, program: Any) -> Any:
    """The nodes that a program builds, its variables, and what its outputs are."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        outputs = program(tf)
        variables = tf.global_variables()
        trained = tf.trainable_variables()
        floats = [y for y in outputs if y.dtype.is_floating]
        slopes = tf.gradients(floats, trained) if trained else []
        with tf.Session(graph=graph) as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            values = session.run(outputs)
            dense = [tf.convert_to_tensor(slope) for slope in slopes]
            values += session.run(dense)
    return {
        "nodes": digest(graph),
        "variables": [f"{v.name} {v.shape.as_list()}" for v in variables],
        "values": [plain(value) for value in values],
    }


def digest(graph: Any) -> Any:
    """The number of nodes, and a hash of their names and types.

    A shape that TensorFlow knows beforehand is a constant there: that is no difference.
    """
    nodes = graph.as_graph_def().node
    lines = [f"{node.name} {'Const' if node.op == 'Shape' else node.op}" for node in nodes]
    return [len(lines), hashlib.sha1("\n".join(lines).encode()).hexdigest()]


def plain(value: Any) -> Any:
    """An array as JSON holds it."""
    if value.dtype == object:
        return [text.decode() for text in value.tolist()]
    if value.dtype.kind in "iu":
        return [str(number) for number in value.ravel().tolist()]
    return np.round(value.astype(np.float64), 5).tolist()


def main() -> None:
    """Records TensorFlow."""
    import tensorflow as tf

    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "tensorflow_1_15.json"), "w") as file:
        json.dump({name: run(tf, PROGRAMS[name]) for name in sorted(PROGRAMS)}, file)
        file.write("\n")


if __name__ == "__main__":
    main()
