# SPDX-License-Identifier: Apache-2.0
"""The reference kernels of math ops against a real TensorFlow, on the cases of math_worker.py."""

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
WORKER = Path(__file__).with_name("math_worker.py")
TOLERANCE = {"float16": 2e-3, "float32": 2e-5, "complex64": 2e-5}
# Where TensorFlow's own answer depends on its version, its vector width or its graph optimizer.
EXCEPT = {
    "rsqrt/float32",
    "rsqrt/float64",
    "rsqrt/float16",
    "sinh/float16",
    "cosh/float16",
    "asinh/float16",
    "lgamma/float32",
    "lgamma/float64",
    "lgamma/float16",
    "digamma/float32",
    "digamma/float64",
    "digamma/float16",
    "truncatediv/error",
}
LOOSE = {"reduce_sum/float16/2/0", "reduce_sum/float16/2/1"}

pytestmark = [pytest.mark.tf, pytest.mark.slow]


def _worker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("math_worker", WORKER)
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
    wrong = [
        f"{name}: {theirs[name]} expected, got {value}"
        for name, value in ours.items()
        if name not in EXCEPT and not _agree(name, theirs[name], value)
    ]
    assert not wrong, "\n".join(wrong)


def _agree(name: str, expected: np.ndarray, actual: np.ndarray) -> bool:
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return False
    if expected.dtype.kind not in "fc":
        return bool(np.all(expected == actual))
    limit = 2e-2 if name in LOOSE else TOLERANCE.get(expected.dtype.name, 1e-6)
    return np.allclose(expected, actual, rtol=limit, atol=limit, equal_nan=True)
