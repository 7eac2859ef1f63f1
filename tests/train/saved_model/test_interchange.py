# SPDX-License-Identifier: Apache-2.0
"""SavedModels between implementations: what one writes, the other loads with equal outputs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

from ...workers import loaded

WORKER = Path(__file__).with_name("models.py")
# Variable that names a Python -> the module to import there.
PEERS = {
    "NUMBAFLOW_TF115_PYTHON": "tensorflow",
    "NUMBAFLOW_TF_PYTHON": "tensorflow.compat.v1",
}
peers = pytest.mark.parametrize("peer", PEERS)


models = loaded(WORKER)


def run_peer(peer: str, action: str, folder: Path) -> str:
    """What the worker prints under another implementation."""
    python = os.environ.get(peer)
    if not python:
        pytest.skip(f"{peer} names no Python that has TensorFlow")
    done = subprocess.run(
        [python, str(WORKER), action, PEERS[peer], str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.cpu
@pytest.mark.parametrize("model", models.MODELS, ids=lambda model: model.__name__)
def test_what_is_written_here_is_read_here(model: Any, tmp_path: Path) -> None:
    models.write_model(tf, model, str(tmp_path))
    assert not models.read_model(tf, model, str(tmp_path))


@pytest.mark.tf
@peers
def test_tensorflow_reads_what_is_written_here(peer: str, tmp_path: Path) -> None:
    for model in models.MODELS:
        models.write_model(tf, model, str(tmp_path))
    assert "WRONG" not in run_peer(peer, "read", tmp_path)


@pytest.mark.tf
@peers
def test_what_tensorflow_writes_is_read_here(peer: str, tmp_path: Path) -> None:
    run_peer(peer, "write", tmp_path)
    wrong = [
        line for model in models.MODELS for line in models.read_model(tf, model, str(tmp_path))
    ]
    assert not wrong
