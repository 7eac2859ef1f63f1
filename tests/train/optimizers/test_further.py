# SPDX-License-Identifier: Apache-2.0
"""Every optimizer on dense, sparse, mixed and partitioned variables, beside TensorFlow 1.15."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

PROGRAM = Path(__file__).with_name("further_programs.py")
TENSORFLOW = os.environ.get("NUMBAFLOW_TF115_PYTHON")
# Steps of half precision round differently where sums are taken in another order.
TOLERANCES = {"float16": 0.05, "float32": 2e-5, "float64": 1e-9}

pytestmark = [
    pytest.mark.tf,
    pytest.mark.slow,
    pytest.mark.skipif(
        not TENSORFLOW, reason="NUMBAFLOW_TF115_PYTHON names no Python that has TensorFlow 1.15"
    ),
]


def run(python: str, module: str, folder: Path) -> dict[str, Any]:
    """All cases in a process of their own."""
    place = folder / "path"
    if not place.exists():
        place.mkdir()
        (place / "numbaflow").symlink_to(Path(tf.__file__).parent)
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    environment.pop("PYTHONPATH", None)
    if module == "numbaflow":
        environment["PYTHONPATH"] = str(place)
    out = folder / f"{module}.json"
    command = [python, str(PROGRAM), module, str(out)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=900
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(out.read_text())


def test_graphs_and_numbers_are_tensorflows(tmp_path: Path) -> None:
    assert TENSORFLOW is not None
    theirs = run(TENSORFLOW, "tensorflow", tmp_path)
    ours = run(sys.executable, "numbaflow", tmp_path)
    assert len(theirs) == len(ours) > 200
    for name, expected in theirs.items():
        found = ours[name]
        for part in ("slots", "own", "collections", "nodes"):
            assert found[part] == expected[part], f"{name}: {part}"
        tolerance = TOLERANCES[name.split("/")[2]]
        for part in ("losses", "values"):
            for mine, wanted in zip(found[part], expected[part], strict=True):
                np.testing.assert_allclose(
                    mine, wanted, rtol=tolerance, atol=0.1 * tolerance, err_msg=f"{name}: {part}"
                )
