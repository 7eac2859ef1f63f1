# SPDX-License-Identifier: Apache-2.0
"""Pipelines give TensorFlow's elements in TensorFlow's order, by the same seeds."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import numbaflow as tf
from numbaflow.engine import settings

from .pipelines import elements, orders_of_1_15, pipelines

HERE = Path(__file__).parent
RECORDED = json.loads((HERE / "elements_1_15.json").read_text())
MAKERS = {**pipelines(tf), **orders_of_1_15(tf)}


@pytest.mark.programs
@pytest.mark.parametrize("name", MAKERS)
def test_elements_are_those_of_tensorflow_1_15(name):
    with settings.override(jit="never"):
        assert elements(tf, MAKERS[name]) == RECORDED[name]


@pytest.mark.cpu
@pytest.mark.parametrize("name", ["shuffle", "filtered", "repeat_other", "drawn"])
def test_compiled_functions_give_the_same_elements(name):
    with settings.override(jit="always"):
        assert elements(tf, MAKERS[name]) == RECORDED[name]


@pytest.mark.tf
@pytest.mark.slow
@pytest.mark.parametrize("variable", ["NUMBAFLOW_TF_PYTHON", "NUMBAFLOW_TF115_PYTHON"])
def test_elements_are_those_of_a_tensorflow_that_is_there(variable):
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} names no Python")
    output = subprocess.run(
        [python, HERE / "pipelines.py"], check=True, capture_output=True, text=True
    )
    theirs = json.loads(output.stdout)
    assert theirs == {name: elements(tf, MAKERS[name]) for name in theirs}
