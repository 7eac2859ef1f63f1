# SPDX-License-Identifier: Apache-2.0
"""What a worker's cases give by reference kernels, and in TensorFlow 1.15 in a process beside."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

PYTHON = os.environ.get("NUMBAFLOW_TF115_PYTHON")
needed = pytest.mark.skipif(
    not PYTHON, reason="NUMBAFLOW_TF115_PYTHON names no Python that has TensorFlow 1.15"
)
Arrays = dict[str, np.ndarray]


def computed(worker: Path, folder: Path) -> tuple[Arrays, Arrays]:
    """(ours, TensorFlow's) results by case, of a worker whose `compute(tf)` gives them."""
    out = folder / "out.npz"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [str(PYTHON), str(worker), "tensorflow", str(out)]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    spec = importlib.util.spec_from_file_location(worker.stem, worker)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with settings.override(jit="never"):
        ours = module.compute(tf)
    with np.load(out) as file:
        return ours, dict(file)
