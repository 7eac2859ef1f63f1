# SPDX-License-Identifier: Apache-2.0
"""Estimators made of exported models go on where these were, and plain ones of dense models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu
MODES = tf.estimator.ModeKeys


def _model_fn(features: Any, labels: Any, mode: str) -> Any:
    w = tf.get_variable("w", [], initializer=tf.ones_initializer())
    predictions = w * features["x"]
    if mode == MODES.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"scores": predictions})
    loss = tf.losses.mean_squared_error(labels, predictions)
    step = tf.train.get_global_step()
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    metrics = {"largest": tf.metrics.mean(tf.reduce_max(predictions))}
    return tf.estimator.EstimatorSpec(mode, {"y": predictions}, loss, train_op, metrics)


def _input() -> Any:
    return tf.data.Dataset.from_tensors(({"x": [1.0, 2.0]}, [3.0, 6.0])).repeat()


def _receiver() -> Any:
    return tf.contrib.estimator.build_raw_supervised_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None])}, tf.placeholder(tf.float32, [None])
    )()


def _serving() -> Any:
    x = {"x": tf.placeholder(tf.float32, [None])}
    return tf.estimator.export.ServingInputReceiver(x, x)


def _exported(folder: Path, modes: tuple[str, ...]) -> tuple[Any, str]:
    estimator = tf.estimator.Estimator(_model_fn, str(folder / "model"))
    estimator.train(_input, steps=3)
    receivers = {mode: _serving if mode == MODES.PREDICT else _receiver for mode in modes}
    path = estimator.experimental_export_all_saved_models(str(folder / "all"), receivers)
    return estimator, path.decode()


def test_all_modes_go_on_where_the_model_was(tmp_path: Path) -> None:
    first, path = _exported(tmp_path, (MODES.TRAIN, MODES.EVAL, MODES.PREDICT))
    second = tf.contrib.estimator.SavedModelEstimator(path, str(tmp_path / "second"))
    expected = first.evaluate(_input, steps=1)
    found = second.evaluate(_input, steps=1)
    assert found["metrics/largest"] == expected["largest"] and found["global_step"] == 3
    predicted = next(second.predict(lambda: {"x": tf.constant([2.0])}))
    assert predicted["scores"] == pytest.approx(expected["largest"])
    second.train(_input, steps=2)
    first.train(_input, steps=2)
    assert second.get_variable_value("w") == pytest.approx(first.get_variable_value("w"))
    assert second.get_variable_value("global_step") == 5


def test_what_was_not_exported_is_not_there(tmp_path: Path) -> None:
    estimator = tf.contrib.estimator.SavedModelEstimator(_exported(tmp_path, (MODES.EVAL,))[1])
    with pytest.raises(RuntimeError, match="train mode is not available"):
        estimator.train(_input, steps=1)
    with pytest.raises(ValueError, match='Key "x" not found'):
        estimator.evaluate(lambda: ({"z": tf.constant([1.0])}, tf.constant([1.0])), steps=1)
    with pytest.raises(ValueError, match="Expected dtype: .*float32"):
        estimator.evaluate(lambda: ({"x": tf.constant([1])}, tf.constant([1.0])), steps=1)


def test_dense_models_are_plain_estimators_here(tmp_path: Path) -> None:
    columns = [tf.feature_column.numeric_column("x")]
    contrib = tf.contrib.estimator
    folder = str(tmp_path)
    regressor = contrib.DNNRegressorWithLayerAnnotations([2], columns, folder)
    assert type(regressor) is tf.estimator.Estimator
    regressor.train(_input, steps=2)
    same = tf.estimator.DNNRegressor([2], columns, folder)
    first, second = (next(e.predict(_input_of_one))["predictions"] for e in (regressor, same))
    np.testing.assert_array_equal(first, second)
    classifier = contrib.DNNClassifierWithLayerAnnotations([2], columns, n_classes=3)
    assert len(next(classifier.predict(_input_of_one))["probabilities"]) == 3


def _input_of_one() -> Any:
    return {"x": tf.constant([1.5])}
