# SPDX-License-Identifier: Apache-2.0
"""Feature columns against recordings of TensorFlow 1.15, and what they refuse."""

from __future__ import annotations

import importlib.util
import json
import pathlib
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.feature_column import dense_features_v2
from numbaflow.train.feature_column.dense_features import DenseFeatures, SequenceFeatures
from numbaflow.train.feature_column.embedding import shared_embedding_columns_v2
from numbaflow.train.feature_column.linear_model import LinearModel
from numbaflow.train.feature_column.serialization import (
    deserialize_feature_columns,
    serialize_feature_columns,
)

pytestmark = pytest.mark.cpu

HERE = pathlib.Path(__file__).parent
RECORDED: dict[str, Any] = json.loads((HERE / "tensorflow_1_15.json").read_text())
fc = tf.feature_column


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = load("programs")


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_as_recorded(name: str) -> None:
    ours, theirs = programs.run(tf, programs.PROGRAMS[name]), RECORDED[name]
    assert ours["nodes"] == theirs["nodes"]
    assert ours["variables"] == theirs["variables"]
    for value, wanted in zip(ours["values"], theirs["values"], strict=True):
        if np.asarray(wanted).dtype.kind in "US":
            assert value == wanted
        else:
            np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=2e-5)


def values(outputs: Any) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(outputs)


def test_layers_of_today_share_variables_between_calls() -> None:
    with tf.Graph().as_default():
        made = programs.columns(fc)
        dense = DenseFeatures([made["size"], fc.embedding_column(made["listed"], 3)])
        first, second = dense(programs.features(tf)), dense(programs.features(tf))
        names = [variable.name for variable in tf.global_variables()]
        assert names == ["dense_features/color_embedding/embedding_weights:0"]
        a, b = values([first, second])
        np.testing.assert_array_equal(a, b)
        model = LinearModel([made["videos"], made["size"]], units=2)
        assert values(model(programs.features(tf))).shape == (3, 2)
        assert [v.name for v in model.variables] == [
            "linear_model/size/weights:0",
            "linear_model/videos/weights:0",
            "linear_model/bias_weights:0",
        ]


def test_columns_that_share_vectors_use_one_variable() -> None:
    with tf.Graph().as_default():
        keys = ("videos", "seen")
        made = shared_embedding_columns_v2(
            [fc.categorical_column_with_identity(key, 4) for key in keys], 2
        )
        given = {**programs.features(tf), "seen": tf.constant([[2], [3], [-1]])}
        assert values(DenseFeatures(made)(given)).shape == (3, 4)
        (variable,) = tf.global_variables()
        assert variable.name == "seen_videos_shared_embedding:0"
        with pytest.raises(ValueError, match="not supported in `linear_model`"):
            fc.input_layer(given, made)


def test_sequences() -> None:
    with tf.Graph().as_default():
        words = fc.sequence_categorical_column_with_identity("videos", 4)
        made = [
            fc.indicator_column(words),
            fc.sequence_numeric_column("weight"),
        ]
        given = programs.features(tf)
        old = tf.contrib.feature_column.sequence_input_layer(given, made)
        (tensor, lengths), (same, _) = values([SequenceFeatures(made)(given), old])
        np.testing.assert_array_equal(tensor, same)
        assert lengths.tolist() == [2, 0, 1]
        assert tensor[0, 0].tolist() == [0, 0, 0, 1, 0.5]
        assert tensor[2, 0].tolist() == [1, 0, 0, 0, 4.0]
        with pytest.raises(ValueError, match="must not be of type _SequenceCategoricalColumn"):
            fc.input_layer(given, made[0])


def test_serialized_columns_are_equal_again() -> None:
    made = programs.columns(fc)
    kept = [made[key] for key in ("buckets", "hashed", "listed", "videos", "weighted", "crossed")]
    kept.append(fc.indicator_column(made["listed"]))
    configs = json.loads(json.dumps(serialize_feature_columns(kept)))
    assert deserialize_feature_columns(configs) == kept
    with pytest.raises(ValueError, match="Unknown feature_column_v2: Nothing"):
        deserialize_feature_columns([{"class_name": "Nothing", "config": {}}])


def test_parse_example_spec() -> None:
    made = programs.columns(fc)
    spec = fc.make_parse_example_spec(made.values())
    assert spec == {
        "age": tf.FixedLenFeature((1,), tf.float32),
        "size": tf.FixedLenFeature((2,), tf.float32),
        "color": tf.VarLenFeature(tf.string),
        "videos": tf.VarLenFeature(tf.int64),
        "weight": tf.VarLenFeature(tf.float32),
    }
    other = fc.numeric_column("videos")
    with pytest.raises(ValueError, match="contain different parse_spec for key videos"):
        fc.make_parse_example_spec([made["videos"], other])


def test_identity_outside_is_an_error_of_the_run() -> None:
    with tf.Graph().as_default():
        column = fc.indicator_column(fc.categorical_column_with_identity("id", 3))
        row = tf.placeholder(tf.int64, [None])
        tensor = fc.input_layer({"id": row}, column)
        with tf.Session() as session:
            assert session.run(tensor, {row: [2]}).tolist() == [[0, 0, 1]]
            with pytest.raises(tf.errors.InvalidArgumentError, match="exceeds number of buckets"):
                session.run(tensor, {row: [3]})


@pytest.mark.pure
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fc.numeric_column("a", dtype=tf.string), "dtype must be convertible to float"),
        (lambda: fc.numeric_column("a", [0]), "must be greater than 0"),
        (lambda: fc.bucketized_column(fc.numeric_column("a"), [2, 1]), "must be a sorted list"),
        (lambda: fc.categorical_column_with_hash_bucket("a", 0), "must be at least 1"),
        (lambda: fc.categorical_column_with_vocabulary_list("a", "bb"), "Duplicate keys"),
        (lambda: fc.categorical_column_with_vocabulary_file("a", ""), "Missing vocabulary_file"),
        (lambda: fc.categorical_column_with_identity("a", 2, 2), "not in range"),
        (lambda: fc.crossed_column(["a"], 10), "length > 1"),
        (
            lambda: fc.embedding_column(fc.categorical_column_with_identity("a", 2), 0),
            "Invalid dimension 0",
        ),
        (
            lambda: fc.input_layer(
                {"a": [1]}, [fc.numeric_column("a"), fc.numeric_column("a", dtype=tf.int32)]
            ),
            "Duplicate feature column name",
        ),
        (
            lambda: fc.input_layer({"a": [1]}, [fc.categorical_column_with_identity("a", 2)]),
            "must be a _DenseColumn",
        ),
        (lambda: fc.input_layer({"b": [1]}, [fc.numeric_column("a")]), "not in features dict"),
    ],
)
def test_refused(make: Any, message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        make()


def test_dense_features_of_version_2_make_variables_themselves() -> None:
    words = tf.feature_column.categorical_column_with_identity("words", 3)
    column = tf.feature_column.embedding_column(words, 2, initializer=tf.ones_initializer())
    layer = dense_features_v2.DenseFeatures([column, tf.feature_column.numeric_column("price")])
    outputs = layer({"words": tf.constant([[1], [2]]), "price": tf.constant([[5.0], [6.0]])})
    assert [v.op.type for v in layer.variables] == ["VarHandleOp"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs).tolist() == [[5.0, 1.0, 1.0], [6.0, 1.0, 1.0]]
