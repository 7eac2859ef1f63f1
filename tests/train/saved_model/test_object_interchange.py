# SPDX-License-Identifier: Apache-2.0
"""SavedModels of objects between implementations: what one writes, the other loads and runs."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

WORKER = Path(__file__).with_name("object_models.py")
peers = pytest.mark.parametrize("peer", ["NUMBAFLOW_TF115_PYTHON", "NUMBAFLOW_TF_PYTHON"])


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


models = _load(WORKER)


@pytest.fixture(autouse=True)
def _session() -> Iterator[None]:
    with tf.Graph().as_default(), tf.Session():
        yield


def run_peer(peer: str, action: str, folder: Path) -> str:
    """What the worker prints under TensorFlow."""
    python = os.environ.get(peer)
    if not python:
        pytest.skip(f"{peer} names no Python that has TensorFlow")
    done = subprocess.run(
        [python, str(WORKER), action, "tensorflow", str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.cpu
def test_what_is_written_here_is_read_here(tmp_path: Path) -> None:
    models.write(tf, str(tmp_path))
    with tf.Graph().as_default(), tf.Session():
        assert not models.read(tf, str(tmp_path))


@pytest.mark.tf
@peers
def test_tensorflow_reads_what_is_written_here(peer: str, tmp_path: Path) -> None:
    models.write(tf, str(tmp_path))
    assert not run_peer(peer, "read", tmp_path).strip()


@pytest.mark.tf
@peers
def test_what_tensorflow_writes_is_read_here(peer: str, tmp_path: Path) -> None:
    run_peer(peer, "write", tmp_path)
    assert not models.read(tf, str(tmp_path))
