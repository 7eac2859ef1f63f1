# SPDX-License-Identifier: Apache-2.0
"""Variables and scopes against recordings of TensorFlow 1.15: all that a program can see."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

import numbaflow as tf
from numbaflow.engine import settings

pytestmark = pytest.mark.cpu

HERE = pathlib.Path(__file__).parent / "variables"
PYTHON = os.environ.get("NUMBAFLOW_TF115_PYTHON")


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def recording(path: pathlib.Path) -> dict[str, Any]:
    return json.loads(gzip.decompress(path.read_bytes()))


facts, record = load("facts"), load("record")
PROGRAMS = {
    name: program
    for module in record.MODULES
    for name, program in facts.programs_of(load(module)).items()
}
RECORDED = recording(HERE / "recorded_1_15.json.gz")


def test_every_program_is_recorded() -> None:
    assert set(RECORDED) == set(PROGRAMS)


@pytest.mark.parametrize("jit", ["never", "always"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_recorded(name: str, jit: str) -> None:
    with settings.override(jit=jit):
        ours = json.loads(json.dumps(facts.run(tf, PROGRAMS[name])))
    for i, (mine, theirs) in enumerate(zip(ours, RECORDED[name])):
        assert facts.close(mine, theirs), f"fact {i}: {mine}\n1.15: {theirs}"
    assert len(ours) == len(RECORDED[name])


@pytest.mark.tf
@pytest.mark.slow
@pytest.mark.skipif(not PYTHON, reason="NUMBAFLOW_TF115_PYTHON names no Python")
def test_the_recording_is_what_tensorflow_does(tmp_path: pathlib.Path) -> None:
    target = tmp_path / "now.json.gz"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    environment.pop("PYTHONPATH", None)
    subprocess.run(
        [PYTHON or sys.executable, HERE / "record.py", target], env=environment, check=True
    )
    now = recording(target)
    assert [name for name in RECORDED if not facts.close(now.get(name), RECORDED[name])] == []
