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
@pytest.mark.parametrize("variable", ["NUMBAFLOW_TF_PYTHON", "NUMBAFLOW_TF115_PYTHON"])
def test_what_tensorflow_writes_runs_here(variable, tmp_path):
    path = tmp_path / "graph.pb"
    _program(variable, "write", path)
    assert json.loads(_program(variable, "read", path)) == read(tf, path)


@pytest.mark.cpu
def test_attributes_of_tensorflow_2_that_change_nothing_are_left_out(tmp_path):
    write(tf, tmp_path / "graph.pb")
    graph_def = tf.GraphDef.FromString((tmp_path / "graph.pb").read_bytes())
    names = set()
    for node in graph_def.node:
        if node.op.endswith("Dataset") or node.op.endswith("DatasetV2"):
            node.attr["metadata"].s = b"\n\tmade by 2"
            names.add(node.name)
    assert len(names) > 2
    expected = read(tf, tmp_path / "graph.pb")
    (tmp_path / "graph.pb").write_bytes(graph_def.SerializeToString())
    assert read(tf, tmp_path / "graph.pb") == expected
