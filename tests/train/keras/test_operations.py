# SPDX-License-Identifier: Apache-2.0
"""Layers and metrics make the operations that TensorFlow 1.15 makes."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

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


def _worker() -> Any:
    spec = importlib.util.spec_from_file_location(WORKER.stem, WORKER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.cpu
def test_there_are_as_many_operations_as_in_tensorflow() -> None:
    found = {name: len(operations) for name, operations in _worker().cases(tf).items()}
    assert found == COUNTS


@pytest.mark.tf
def test_they_are_the_same_operations(tmp_path: Path) -> None:
    python = os.environ.get("NUMBAFLOW_TF115_PYTHON")
    if not python:
        pytest.skip("NUMBAFLOW_TF115_PYTHON names no Python that has TensorFlow")
    file = tmp_path / "operations.json"
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}
    subprocess.run(
        [python, str(WORKER), "tensorflow", str(file)],
        capture_output=True,
        timeout=300,
        check=True,
        env=environment,
    )
    found = json.loads(json.dumps(_worker().cases(tf)))
    for name, operations in json.loads(file.read_text()).items():
        # (In which order metrics are reset is not stated.)
        assert sorted(found[name]) == sorted(operations), name
