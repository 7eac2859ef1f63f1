# SPDX-License-Identifier: Apache-2.0
"""A training goes from here to a real TensorFlow and back, by checkpoints and meta graphs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf

WORKER = Path(__file__).with_name("exchange.py")
PEERS = [("NUMBAFLOW_TF115_PYTHON", "tensorflow"), ("NUMBAFLOW_TF_PYTHON", "tensorflow.compat.v1")]

pytestmark = pytest.mark.process


def run(
    python: str, module: str, model: str, steps: tuple[int, int], folder: Path, version: int = 2
) -> list[float]:
    """Runs some steps in a process of their own; the losses."""
    place = folder.parent / "path"
    if not place.exists():
        place.mkdir()
        (place / "numbaflow").symlink_to(Path(tf.__file__).parent)
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    environment.pop("PYTHONPATH", None)
    if module == "numbaflow":
        environment["PYTHONPATH"] = str(place)
    folder.mkdir(exist_ok=True)
    first, last = steps
    arguments = [python, str(WORKER), module, model, str(first), str(last), str(folder)]
    arguments.append(str(version))
    done = subprocess.run(
        arguments, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / f"losses-{first}.json").read_text())


@pytest.mark.tf
@pytest.mark.slow
@pytest.mark.parametrize("model", ["cnn", "lstm", "embedding"])
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(("variable", "module"), PEERS)
def test_training_goes_there_and_back(
    tmp_path: Path, variable: str, module: str, model: str, version: int
) -> None:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python that has TensorFlow")
    here = (sys.executable, "numbaflow", model)
    unbroken = run(*here, (0, 60), tmp_path / "unbroken")
    folder = tmp_path / "exchanged"
    losses = run(*here, (0, 20), folder, version)
    losses += run(python, module, model, (20, 40), folder)
    losses += run(*here, (40, 60), folder)
    assert (folder / "model-60.index").exists() == (version == 2)
    assert np.mean(unbroken[-20::2]) < 0.8 * np.mean(unbroken[:20:2])
    np.testing.assert_allclose(losses, unbroken, rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["cnn", "lstm", "embedding"])
def test_training_goes_on_in_another_process(
    tmp_path: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first run of a process must not differ from the others.
    monkeypatch.setenv("NUMBAFLOW_JIT", "always")
    here = (sys.executable, "numbaflow", model)
    unbroken = run(*here, (0, 20), tmp_path / "unbroken")
    losses = run(*here, (0, 10), tmp_path / "parts")
    losses += run(*here, (10, 20), tmp_path / "parts")
    np.testing.assert_array_equal(losses, unbroken)
