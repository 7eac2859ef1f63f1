# SPDX-License-Identifier: Apache-2.0
"""Files that tests import here and run in TensorFlow, to compare what they give."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

PEERS = {
    "NUMBAFLOW_TF115_PYTHON": "TensorFlow 1.15",
    "NUMBAFLOW_TF_PYTHON": "TensorFlow",
}
peers = pytest.mark.parametrize("peer", PEERS)


def loaded(path: Path) -> Any:
    """The module of a file that is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(peer: str, path: Path, *arguments: object) -> str:
    """What a file prints under the Python that a variable of the environment names."""
    python = os.environ.get(peer)
    if not python:
        pytest.skip(f"{peer} names no Python that has {PEERS[peer]}")
    done = subprocess.run(
        [python, str(path), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
