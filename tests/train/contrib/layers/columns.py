# SPDX-License-Identifier: Apache-2.0
"""Models of feature columns for test_columns.py; `python columns.py FILE` with TensorFlow 1.15
writes what it makes of them."""

from __future__ import annotations

import json
import sys
from typing import Any


def sparse(tf: Any, rows: list[list[Any]], dtype: Any) -> Any:
    """A sparse tensor of rows of different lengths."""
    indices = [[i, j] for i, row in enumerate(rows) for j in range(len(row))]
    values = [value for row in rows for value in row]
    shape = [len(rows), max(map(len, rows))]
    return tf.SparseTensor(indices, tf.constant(values, dtype), shape)


def features(tf: Any) -> dict[str, Any]:
    """The features of three examples."""
    return {
        "age": tf.constant([[20.0], [64.5], [70.0]]),
        "sizes": tf.constant([[1, 2], [3, 4], [5, 6]]),
        "town": sparse(tf, [["Rome"], ["Oslo", "Bonn"], []], tf.string),
        "number": sparse(tf, [[7, 12], [-3], [4]], tf.int64),
        "color": tf.constant([["red", ""], ["blue", "red"], ["pink", "green"]]),
        "weight": sparse(tf, [[0.5], [2.0, 1.5], []], tf.float32),
    }


def columns(tf: Any) -> dict[str, Any]:
    """A column of every kind."""
    layers = tf.contrib.layers
    ramp = tf.random_uniform_initializer(seed=3)
    age = layers.real_valued_column("age", normalizer=lambda x: x / 10.0)
    years = layers.bucketized_column(age, [2.5, 6.5, 6.5])
    sizes = layers.real_valued_column("sizes", dimension=2, dtype=tf.int64, default_value=1)
    ranges = layers.bucketized_column(layers.real_valued_column("sizes", 2), [2.0, 5.0])
    town = layers.sparse_column_with_hash_bucket("town", 11)
    number = layers.sparse_column_with_integerized_feature("number", 10, combiner="sqrtn")
    keyed = layers.sparse_column_with_hash_bucket(
        "number", 5, dtype=tf.int64, hash_keys=[[1, 2], [3, 4]]
    )
    color = layers.sparse_column_with_keys("color", ["red", "green", "blue"])
    weighted = layers.weighted_sparse_column(town, "weight")
    return {
        "age": age,
        "years": years,
        "sizes": sizes,
        "ranges": ranges,
        "town": town,
        "number": number,
        "keyed": keyed,
        "color": color,
        "weighted": weighted,
        "cross": layers.crossed_column([town, years], 13),
        "cross2": layers.crossed_column([color, ranges, town], 17, hash_key=99),
        "one_hot": layers.one_hot_column(color),
        "weighted_one_hot": layers.one_hot_column(weighted),
        "embedding": layers.embedding_column(weighted, 3, initializer=ramp),
        "shared": layers.shared_embedding_columns([number, number], 2, initializer=ramp)[0],
        "scattered": layers.scattered_embedding_column("town", 20, 3, 77, initializer=ramp),
    }


DEEP = "age years sizes ranges one_hot weighted_one_hot embedding scattered".split()
WIDE = "age years ranges town number keyed color weighted cross cross2".split()
JOINT = "town keyed color cross cross2".split()


def _input(tf: Any) -> Any:
    known = columns(tf)
    return tf.contrib.layers.input_from_feature_columns(
        features(tf), [known[name] for name in DEEP], weight_collections=["ours"]
    )


def _wide(tf: Any) -> Any:
    known, layers = columns(tf), tf.contrib.layers
    sums, by_column, _ = layers.weighted_sum_from_feature_columns(
        features(tf), [known[name] for name in WIDE], num_outputs=2, weight_collections=["ours"]
    )
    return _filled(tf, sums, [v for found in by_column.values() for v in found])


def _joint(tf: Any) -> Any:
    known, layers = columns(tf), tf.contrib.layers
    sums, parts, _ = layers.joint_weighted_sum_from_feature_columns(
        features(tf), [known[name] for name in JOINT], num_outputs=1
    )
    return _filled(tf, sums, parts)


def _filled(tf: Any, sums: Any, variables: list[Any]) -> Any:
    """The sums' gradients: which weights each example meets, and how."""
    loss = tf.reduce_sum(sums * tf.constant([[1.0], [10.0], [100.0]]))
    ordered = sorted(variables, key=lambda v: v.op.name)
    return [
        tf.convert_to_tensor(grad) if hasattr(grad, "values") else grad
        for grad in tf.gradients(loss, ordered)
    ]


def _sequence(tf: Any) -> Any:
    layers = tf.contrib.layers
    sizes = layers.real_valued_column("sizes", dimension=2)
    color = layers.sparse_column_with_keys("color", ["red", "green", "blue"])
    embedded = layers.embedding_column(color, 2, initializer=tf.ones_initializer())
    given = {
        "sizes": tf.reshape(tf.range(12.0), [2, 3, 2]),
        "color": sparse(tf, [["red", "blue", "red"], ["green"]], tf.string),
    }
    return layers.sequence_input_from_feature_columns(given, [sizes, embedded])


def _transformed(tf: Any) -> Any:
    known = columns(tf)
    chosen = [known[name] for name in ("age", "years", "number", "keyed", "cross", "cross2")]
    found = tf.contrib.layers.transform_features(features(tf), chosen)
    return [found[c].values if isinstance(found[c], tf.SparseTensor) else found[c] for c in chosen]


def _targets(tf: Any) -> Any:
    layers = tf.contrib.layers
    logits, weights = tf.constant([[0.5], [-2.0], [3.0]]), tf.constant([[2.0], [5.0], [0.5]])
    labels, wide = tf.constant([1, 0, 0]), tf.constant([[0.1, 2.0, 1.0]] * 3)
    weighted = {"weight_column_name": "w"}
    two = layers.multi_class_target(2, **weighted)
    three = layers.multi_class_target(3, **weighted)
    number = layers.regression_target(**weighted)
    given = {"w": weights}
    measured = two.get_eval_ops(given, logits, labels)
    return [
        two.loss(logits, labels, given),
        two.training_loss(logits, labels, given),
        three.loss(wide, labels, given),
        three.logits_to_predictions(wide, proba=True),
        number.loss(logits, labels, given),
        *[measured[name][1] for name in sorted(measured)],
    ]


def _reversible(tf: Any) -> Any:
    layers = tf.contrib.layers
    x1, x2 = tf.constant([[1.0, 2.0]]), tf.constant([[0.5, -1.0]])

    def residual(x: Any) -> Any:
        ones = tf.constant_initializer(0.3)
        return layers.fully_connected(x, 2, weights_initializer=ones, activation_fn=tf.tanh)

    with tf.variable_scope("net", use_resource=True):
        y1, y2 = layers.rev_block(x1, x2, residual, residual, num_layers=2)
    loss = tf.reduce_sum(y1 * y2)
    return [y1, y2, *tf.gradients(loss, [x1, x2, *tf.trainable_variables()])]


def _recomputed(tf: Any) -> Any:
    @tf.contrib.layers.recompute_grad
    def double_layer(x: Any) -> Any:
        w = tf.get_variable("w", initializer=[[0.5, 1.0], [2.0, -1.0]])
        return tf.tanh(tf.matmul(x, w)) * 3.0

    x = tf.constant([[1.0, 2.0]])
    with tf.variable_scope("net", use_resource=True):
        y = double_layer(x)
    return [y, *tf.gradients(y, [x, *tf.trainable_variables()])]


MODELS = {
    "input": _input,
    "wide": _wide,
    "joint": _joint,
    "sequence": _sequence,
    "transformed": _transformed,
    "targets": _targets,
    "reversible": _reversible,
    "recomputed": _recomputed,
}


def facts(tf: Any, name: str) -> dict[str, Any]:
    """A model's variables, collections and numbers, of a new graph."""
    tf.set_random_seed(7)
    fetches = MODELS[name](tf)
    graph = tf.get_default_graph()
    with tf.Session() as session:
        local = tf.local_variables_initializer()
        session.run([tf.global_variables_initializer(), local, tf.tables_initializer()])
        found = session.run(fetches)
    return {
        "variables": [[v.op.name, v.shape.as_list()] for v in tf.global_variables()],
        "collections": {
            key: [v.op.name for v in graph.get_collection(key)]
            for key in (tf.GraphKeys.MODEL_VARIABLES, tf.GraphKeys.TRAINABLE_VARIABLES, "ours")
        },
        "values": [v.tolist() for v in (found if isinstance(found, list) else [found])],
    }


if __name__ == "__main__":
    import tensorflow

    recorded = {}
    for each in MODELS:
        with tensorflow.Graph().as_default():
            recorded[each] = facts(tensorflow, each)
    with open(sys.argv[1], "w") as file:
        json.dump(recorded, file, separators=(",", ":"))
        file.write("\n")
