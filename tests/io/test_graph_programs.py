# SPDX-License-Identifier: Apache-2.0
"""Many programs give TensorFlow 1.15's graphs: nodes in order, inputs, devices, attributes."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import numbaflow as tf

from ..workers import loaded

pytestmark = pytest.mark.programs

HERE = Path(__file__).parent
WORKER = HERE / "graph_programs.py"
RECORDED = HERE / "graph_programs_1_15.json"
TENSORFLOW = os.environ.get("NUMBAFLOW_TF115_PYTHON")


worker = loaded(WORKER)
PROGRAMS = worker.programs()


@pytest.fixture(scope="module")
def recorded() -> Any:
    return json.loads(RECORDED.read_text())


def test_every_program_is_recorded(recorded: Any) -> None:
    assert set(recorded) == set(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_graph_is_that_of_tensorflow(name: str, recorded: Any) -> None:
    graph_def = worker.run(tf, PROGRAMS[name])
    theirs = recorded[name]["nodes"]
    for i, node in enumerate(graph_def.node):
        assert worker.letters(node) == theirs[3 * i : 3 * i + 3], (i, worker.described(node))
    assert 3 * len(graph_def.node) == len(theirs)
    assert worker.library(graph_def) == recorded[name]["functions"]


@pytest.mark.tf
@pytest.mark.skipif(not TENSORFLOW, reason="NUMBAFLOW_TF115_PYTHON names no Python with it")
def test_the_records_are_what_tensorflow_makes(tmp_path: Path, recorded: Any) -> None:
    subprocess.run(
        [TENSORFLOW, str(WORKER), str(tmp_path / "new")], check=True, capture_output=True
    )
    assert json.loads((tmp_path / "new").read_text()) == recorded
