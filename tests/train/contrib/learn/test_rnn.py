# SPDX-License-Identifier: Apache-2.0
"""Recurrent estimators, models and runs of tf.contrib.learn give what TensorFlow 1.15.5 gives."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.alias.finder import resolve
from numbaflow.train.contrib.learn.utils import export

from .rnn_program import results

pytestmark = pytest.mark.cpu

RECORDED = json.loads((Path(__file__).parent / "rnn_1_15.json").read_text())
learn, layers = tf.contrib.learn, tf.contrib.layers


def test_variables_metrics_and_values_are_those_of_tensorflow() -> None:
    found = results(tf, resolve)
    assert set(found) == set(RECORDED)
    for name, parts in RECORDED.items():
        if isinstance(parts, dict):
            assert found[name] == pytest.approx(parts, rel=1e-4, abs=1e-5), name
        else:
            assert len(found[name]) == len(parts), name
            for mine, value in zip(found[name], parts):
                np.testing.assert_allclose(mine, value, 1e-4, 1e-5, err_msg=name)


def test_wrong_settings_are_refused() -> None:
    column = [layers.real_valued_column("x")]
    with pytest.raises(ValueError, match="num_classes must be specified"):
        learn.DynamicRnnEstimator(1, 1, column, num_units=2)
    with pytest.raises(ValueError, match="prediction_type must be one of"):
        learn.DynamicRnnEstimator(1, 3, column, num_units=2)
    with pytest.raises(ValueError, match="can only be set to True"):
        learn.DynamicRnnEstimator(2, 1, column, num_units=2, predict_probabilities=True)
    with pytest.raises(ValueError, match="Can not provide both steps and max_steps"):
        learn.train(tf.Graph(), "folder", 1, 1, steps=1, max_steps=2)
    with pytest.raises(ValueError, match="Missing loss_op"):
        learn.train(tf.Graph(), "folder", 1, None)


def test_parts_of_models_are_trained_apart() -> None:
    models = resolve("tensorflow.contrib.learn.python.learn.estimators.composable_model")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.create_global_step()
        features = {"x": tf.constant([[1.0], [2.0]])}
        columns = [layers.real_valued_column("x")]
        linear = models.LinearComposableModel(1)
        dense = models.DNNComposableModel(1, [3], optimizer="SGD", gradient_clip_norm=1.0)
        logits = linear.build_model(features, columns, True)
        logits += dense.build_model(features, columns, True)
        loss = tf.reduce_mean(tf.square(logits - [[3.0], [5.0]]))
        train = tf.group(linear.get_train_step(loss), dense.get_train_step(loss))
        session.run(tf.global_variables_initializer())
        first = session.run(loss)
        for _ in range(10):
            session.run(train)
        assert session.run(loss) < first
        assert {v.op.name.split("/")[0] for v in tf.trainable_variables()} == {"linear", "dnn"}


def test_exports_while_training(tmp_path: Path) -> None:
    x = np.random.RandomState(0).rand(20)
    folder = str(tmp_path / "export")
    monitor = learn.monitors.ExportMonitor(1, folder, signature_fn=export.generic_signature_fn)
    regressor = learn.LinearRegressor([layers.real_valued_column("", dimension=1)])
    regressor.fit(x, 2 * x, steps=3, monitors=[monitor])
    assert sorted(os.listdir(folder)) == ["00000000", "00000003"]
    assert monitor.last_export_dir == os.fsencode(os.path.join(folder, "00000003"))
