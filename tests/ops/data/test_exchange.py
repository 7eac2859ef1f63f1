# SPDX-License-Identifier: Apache-2.0
"""Pipelines in GraphDefs: written here they run in TensorFlow, and the other way round."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import numbaflow as tf

from .exchanged import read, write

PROGRAM = Path(__file__).with_name("exchanged.py")


def _program(variable, *arguments):
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python")
    command = [python, str(PROGRAM), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.cpu
def test_a_graph_that_is_read_again_gives_the_same_elements(tmp_path):
    write(tf, tmp_path / "graph.pb")
    found = read(tf, tmp_path / "graph.pb")
    assert found[-1] == 10 and len(found) > 10


@pytest.mark.tf
@pytest.mark.slow
@pytest.mark.parametrize("variable", ["NUMBAFLOW_TF_PYTHON", "NUMBAFLOW_TF115_PYTHON"])
def test_tensorflow_runs_what_is_written_here(variable, tmp_path):
    path = tmp_path / "graph.pb"
    write(tf, path)
    assert json.loads(_program(variable, "read", path)) == read(tf, path)


@pytest.mark.tf
@pytest.mark.slow
def test_what_tensorflow_1_15_writes_runs_here(tmp_path):
    path = tmp_path / "graph.pb"
    _program("NUMBAFLOW_TF115_PYTHON", "write", path)
    assert json.loads(_program("NUMBAFLOW_TF115_PYTHON", "read", path)) == read(tf, path)
