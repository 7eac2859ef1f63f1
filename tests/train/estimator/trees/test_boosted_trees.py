# SPDX-License-Identifier: Apache-2.0
"""Estimators of boosted trees: trees, predictions and files of TensorFlow 1.15."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.io import protos
from numbaflow.train.estimator.heads import RegressionHead

from . import programs

RECORDED = json.loads(Path(__file__).with_name("trees_1_15.json").read_text())


@pytest.mark.cpu
@pytest.mark.parametrize("name", programs.RUNS)
def test_trees_are_those_of_tensorflow(name: str, tmp_path: Path) -> None:
    found, recorded = programs.results(tf, name, str(tmp_path)), RECORDED[name]
    assert found["variables"] == recorded["variables"]
    assert list(found["gained"]) == list(recorded["gained"])
    for key in ("added", "predicted"):
        np.testing.assert_allclose(found[key], recorded[key], rtol=1e-5, atol=1e-6)
    for key in ("metrics", "gained"):
        assert found[key] == pytest.approx(recorded[key], rel=1e-4, abs=1e-6)


@pytest.mark.cpu
def test_explanations(tmp_path: Path) -> None:
    estimator = programs.make(tf, "centered", str(tmp_path))
    estimator.train(lambda: (programs.features(tf), tf.constant(programs.Y)), steps=50)
    for (bias, parts), (wanted, columns) in zip(
        programs.explanations(tf, str(tmp_path)), RECORDED["explained"], strict=True
    ):
        assert bias == pytest.approx(wanted, rel=1e-5)
        assert parts == pytest.approx(columns, rel=1e-4, abs=1e-6) and list(parts) == list(columns)
    shares = estimator.experimental_feature_importances(normalize=True)
    assert sum(shares.values()) == pytest.approx(1)


@pytest.mark.cpu
def test_a_second_training_goes_on(tmp_path: Path) -> None:
    whole = programs.make(tf, "centered", str(tmp_path / "whole"))
    halves = programs.make(tf, "centered", str(tmp_path / "halves"))

    def input_fn() -> Any:
        return programs.features(tf), tf.constant(programs.Y)

    whole.train(input_fn, steps=10)
    halves.train(input_fn, steps=5)
    halves.train(input_fn, steps=5)
    ensembles = [
        protos.TreeEnsemble.FromString(one.get_variable_value("boosted_trees:0_serialized"))
        for one in (whole, halves)
    ]
    assert ensembles[0].trees == ensembles[1].trees and len(ensembles[0].trees) == 2


@pytest.mark.cpu
def test_training_in_memory_of_contrib(tmp_path: Path) -> None:
    tf.reset_default_graph()
    columns = [tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [0.0])]
    features = {"x": np.float32([-1, -2, 1, 2])}
    estimator = tf.contrib.estimator.boosted_trees_regressor_train_in_memory(
        lambda: ({key: tf.constant(x) for key, x in features.items()}, tf.constant([1.0, 1, 3, 3])),
        columns,
        model_dir=str(tmp_path),
        n_trees=2,
        max_depth=1,
        learning_rate=1.0,
    )
    found = estimator.predict(lambda: tf.data.Dataset.from_tensors(features))
    assert [one["predictions"][0] for one in found] == pytest.approx([1, 1, 3, 3])


@pytest.mark.pure
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(label_dimension=2), "not supported with multi-dimension"),
        (dict(label_dimension=2, pruning_mode=None), "only 1 dimension regression"),
        (dict(feature_columns=["c"]), "must be wrapped by IndicatorColumn"),
    ],
)
def test_refused(arguments: dict[str, Any], message: str) -> None:
    words = tf.feature_column.categorical_column_with_identity("c", 3)
    if "feature_columns" in arguments:
        arguments = {"feature_columns": [words]}
    with pytest.raises(ValueError, match=message):
        tf.estimator.BoostedTreesRegressor(
            **{"feature_columns": [], **arguments}, n_batches_per_layer=1
        )


@pytest.mark.pure
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(tree_complexity=0.1), "have no effect unless pruning"),
        (dict(pruning_mode="pre"), "tree_complexity must be positive"),
        (dict(pruning_mode="most"), "must be one of: none, post, pre"),
    ],
)
def test_pruning_that_fits_nothing(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    estimator = tf.estimator.BoostedTreesEstimator(
        [tf.feature_column.numeric_column("x")],
        1,
        RegressionHead(),
        model_dir=str(tmp_path),
        **arguments,
    )
    with pytest.raises(ValueError, match=message):
        estimator.train(lambda: ({"x": tf.ones([2])}, tf.ones([2])), steps=1)
    with pytest.raises(ValueError, match="center_bias must be enabled"):
        next(estimator.experimental_predict_with_explanations(lambda: None))
