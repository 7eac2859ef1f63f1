# SPDX-License-Identifier: Apache-2.0
"""Models of feature columns, held against what TensorFlow 1.15.5 made of them, and what is said of
columns that are wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

from . import columns

RECORDED = json.loads((Path(__file__).parent / "columns_1_15.json").read_text())
layers = tf.contrib.layers


@pytest.mark.cpu
@pytest.mark.parametrize("name", columns.MODELS)
def test_models_of_columns_are_as_recorded(name: str) -> None:
    with tf.Graph().as_default():
        found = columns.facts(tf, name)
    recorded = RECORDED[name]
    assert found["variables"] == recorded["variables"]
    assert found["collections"] == recorded["collections"]
    assert len(found["values"]) == len(recorded["values"])
    for ours, theirs in zip(found["values"], recorded["values"]):
        assert np.allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.pure
@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: layers.real_valued_column("x", dimension=2.0), TypeError, "must be an integer"),
        (lambda: layers.real_valued_column("x", dimension=0), ValueError, "greater than 0"),
        (lambda: layers.real_valued_column("x", default_value="a"), TypeError, "compatible"),
        (lambda: layers.real_valued_column("x", 3, default_value=[1]), ValueError, "length"),
        (lambda: layers.real_valued_column("x", dtype=tf.string), ValueError, "convertible"),
        (
            lambda: layers.bucketized_column(layers.real_valued_column("x"), [3, 1]),
            ValueError,
            "sorted",
        ),
        (lambda: layers.bucketized_column("x", [1]), TypeError, "_RealValuedColumn"),
        (
            lambda: layers.sparse_column_with_hash_bucket("x", 0),
            ValueError,
            "bucket_size must be at least 1",
        ),
        (
            lambda: layers.sparse_column_with_hash_bucket("x", 5, hash_keys=[[1]]),
            ValueError,
            "pair of integers",
        ),
        (
            lambda: layers.sparse_column_with_vocabulary_file("x", "words.txt"),
            ValueError,
            "vocab_size should be defined",
        ),
        (lambda: layers.scattered_embedding_column("x", 0, 1, 3), ValueError, "greater than 0"),
        (lambda: layers.shared_embedding_columns([], 2), ValueError, "at least one"),
        (lambda: layers.multi_class_target(1), ValueError, "n_classes must be > 1"),
    ],
)
def test_wrong_columns_are_refused(
    make: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.pure
def test_columns_that_are_there_twice_or_not_for_networks_are_named() -> None:
    town = layers.sparse_column_with_hash_bucket("town", 10)
    with pytest.raises(ValueError, match="Duplicate feature column key found for column: town"):
        layers.check_feature_columns([town, layers.sparse_column_with_hash_bucket("town", 10)])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="column: town"):
        layers.input_from_feature_columns({"town": tf.constant([["Rome"]])}, [town])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="doesn't contain key"):
        layers.transform_features({}, [town])


@pytest.mark.pure
def test_columns_of_contrib_are_columns_of_today() -> None:
    with tf.Graph().as_default():
        known = columns.columns(tf)
        deep = [known[name] for name in ("age", "years", "one_hot", "embedding")]
        net = tf.feature_column.input_layer(columns.features(tf), deep)
        assert net.shape.as_list() == [3, 1 + 3 + 3 + 3]
        spec = tf.feature_column.make_parse_example_spec(deep)
    assert spec == layers.create_feature_spec_for_parsing(deep)


@pytest.mark.pure
def test_placeholders_and_sequences_are_made_of_specs() -> None:
    with tf.Graph().as_default():
        known = columns.columns(tf)
        found = layers.make_place_holder_tensors_for_base_features([known["cross"], known["sizes"]])
    assert {type(t).__name__ for t in found.values()} == {"Tensor", "SparseTensor"}
    assert found["sizes"].shape.as_list() == [None, 2]
    from numbaflow.train.contrib.layers import feature_column as fc

    spec = fc._create_sequence_feature_spec_for_parsing([known["sizes"], known["town"]])
    assert isinstance(spec["sizes"], tf.FixedLenSequenceFeature) and spec["sizes"].allow_missing
    assert isinstance(spec["town"], tf.VarLenFeature)


@pytest.mark.cpu
def test_examples_are_parsed_and_transformed() -> None:
    town = layers.sparse_column_with_keys("town", ["Rome", "Oslo"])
    age = layers.real_valued_column("age")
    feature = {
        "town": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"Oslo"])),
        "age": tf.train.Feature(float_list=tf.train.FloatList(value=[30.0])),
    }
    example = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    with tf.Graph().as_default(), tf.Session() as session:
        parsed = layers.parse_feature_columns_from_examples([example], [town, age])
        session.run(tf.tables_initializer())
        ids, years = session.run([parsed[town], parsed[age]])
    assert ids.values.tolist() == [1] and years.tolist() == [[30.0]]


@pytest.mark.cpu
def test_crosses_of_nothing_have_no_values_and_modules_are_found_by_their_names() -> None:
    from numbaflow.train.contrib.layers import sparse_feature_cross_op as cross_op

    slim = tf.contrib.slim
    assert slim.sparse_feature_cross_op is cross_op and slim.fc is layers.feature_column
    with tf.Graph().as_default(), tf.Session() as session:
        crossed = cross_op.sparse_feature_cross(
            [tf.constant([["a", "b"]]), columns.sparse(tf, [["x"]], tf.string)]
        )
        assert session.run(crossed.values).tolist() == [b"x_X_a", b"x_X_b"]
        empty = tf.SparseTensor(tf.zeros([0, 2], tf.int64), tf.constant([], tf.string), [1, 1])
        nothing = cross_op.sparse_feature_cross([empty, tf.constant([[3]])], hashed_output=True)
        assert session.run(nothing.dense_shape).tolist() == [1, 0]
