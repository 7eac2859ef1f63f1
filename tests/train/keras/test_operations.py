# SPDX-License-Identifier: Apache-2.0
"""Layers and metrics make the operations that TensorFlow 1.15 makes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import numbaflow as tf

from ...workers import answer, loaded

WORKER = Path(__file__).with_name("operation_programs.py")
# What TensorFlow 1.15 makes: how many for each case.
COUNTS = {
    "dropout": 24,
    "spatial_dropout": 35,
    "gaussian_noise": 14,
    "gaussian_dropout": 14,
    "alpha_dropout": 28,
    "alpha_dropout_shape": 27,
    "masked_mean": 9,
    "conv_lstm": 350,
    "lstm": 494,
    "gru": 436,
    "both_ways": 613,
    "distributed": 24,
    "batch_norm": 66,
    "attention": 10,
    "auc": 328,
    "precision": 380,
    "counts": 341,
    "sensitivity": 329,
}


@pytest.mark.cpu
def test_there_are_as_many_operations_as_in_tensorflow() -> None:
    found = {name: len(operations) for name, operations in loaded(WORKER).cases(tf).items()}
    assert found == COUNTS


@pytest.mark.tf
def test_they_are_the_same_operations(tmp_path: Path) -> None:
    file = tmp_path / "operations.json"
    answer("NUMBAFLOW_TF115_PYTHON", WORKER, "tensorflow", file)
    found = json.loads(json.dumps(loaded(WORKER).cases(tf)))
    for name, operations in json.loads(file.read_text()).items():
        # (In which order metrics are reset is not stated.)
        assert sorted(found[name]) == sorted(operations), name
