# SPDX-License-Identifier: Apache-2.0
"""The reference kernels of array ops against a real TensorFlow, on the cases of array_worker.py."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import numbaflow as tf

PYTHON = os.environ.get("NUMBAFLOW_TF115_PYTHON")
WORKER = Path(__file__).with_name("array_worker.py")

pytestmark = [pytest.mark.tf, pytest.mark.slow]


def _worker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("array_worker", WORKER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(
    not PYTHON, reason="NUMBAFLOW_TF115_PYTHON names no Python that has TensorFlow 1.15"
)
@pytest.mark.filterwarnings("ignore")
def test_reference_kernels_agree_with_tensorflow(tmp_path: Path, monkeypatch) -> None:
    out = tmp_path / "out.npz"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [PYTHON, str(WORKER), "tensorflow", str(out)]
    subprocess.run(command, check=True, env=environment, capture_output=True)
    monkeypatch.setenv("NUMBAFLOW_JIT", "never")
    ours = _worker().compute(tf)
    with np.load(out) as file:
        theirs = dict(file)
    assert sorted(ours) == sorted(theirs)
    wrong = [
        f"{name}: {theirs[name]} expected, got {value}"
        for name, value in ours.items()
        if theirs[name].dtype != value.dtype or not np.array_equal(theirs[name], value)
    ]
    assert not wrong, "\n".join(wrong)
