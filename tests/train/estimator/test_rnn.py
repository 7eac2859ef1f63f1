# SPDX-License-Identifier: Apache-2.0
"""Estimators of recurrent layers: the losses, names and metrics of TensorFlow 1.15."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.estimator.heads import RegressionHead

from . import rnn_program

RECORDED = json.loads(Path(__file__).with_name("rnn_1_15.json").read_text())
WORDS = tf.contrib.feature_column.sequence_categorical_column_with_identity("words", 5)
COLUMN = tf.feature_column.indicator_column(WORDS)


@pytest.mark.cpu
@pytest.mark.parametrize("kind", rnn_program.KINDS)
def test_losses_are_those_of_tensorflow(kind: str) -> None:
    found, recorded = rnn_program.results(tf, kind), RECORDED[kind]
    assert found["variables"] == recorded["variables"]
    np.testing.assert_allclose(found["losses"], recorded["losses"], rtol=1e-4)
    assert found["metrics"] == pytest.approx(recorded["metrics"], rel=1e-3)


@pytest.mark.cpu
def test_a_head_and_a_cell_of_ones_own(tmp_path: Path) -> None:
    modes: list[str] = []

    def make_cell(mode: str) -> Any:
        modes.append(mode)
        return tf.nn.rnn_cell.GRUCell(3)

    estimator = tf.contrib.estimator.RNNEstimator(
        RegressionHead(), [COLUMN], rnn_cell_fn=make_cell, model_dir=str(tmp_path), optimizer="SGD"
    )

    def inputs() -> Any:
        features, labels = rnn_program.inputs(tf)
        return features, tf.cast(labels, tf.float32)

    estimator.train(inputs, steps=2)
    found = next(estimator.predict(inputs))
    assert found["predictions"].shape == (1,) and modes == ["train", "infer"]
    assert estimator.get_variable_value("rnn/rnn/gru_cell/gates/kernel").shape == (8, 6)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(rnn_cell_fn=str, num_units=[2]), "must not be specified when using rnn_cell_fn"),
        (dict(rnn_cell_fn=str, cell_type="basic_rnn"), "must not be specified when"),
        (dict(num_units=[2], return_sequences=True), "must be a `_SequentialHead` object"),
    ],
)
def test_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.contrib.estimator.RNNEstimator(RegressionHead(), [COLUMN], **arguments)


@pytest.mark.pure
def test_no_such_cell(tmp_path: Path) -> None:
    estimator = tf.contrib.estimator.RNNClassifier(
        [COLUMN], num_units=[2], cell_type="elman", model_dir=str(tmp_path)
    )
    with pytest.raises((ValueError, TypeError)):
        estimator.train(lambda: rnn_program.inputs(tf), steps=1)
