# SPDX-License-Identifier: Apache-2.0
"""`numbaflow.testing.enrol` and the pytest plugin: a right op passes, each wrong promise fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from numbaflow import testing

PLUGIN = "numbaflow.engine.testing.pytest_plugin"

pytestmark = pytest.mark.cpu

TestRight = testing.enrol("Softsign", leave_out=["threads", "graph_def", "special_values"])

WRONG = """
import numpy as np
import pytest
import numbaflow as tf
from numbaflow import testing
from numbaflow.engine.graph.build import define
from numbaflow.engine.graph.registry import NoGradient

def shaped(c, x):
    return np.asarray(x.sum())

def in_place(c, x):
    np.add(x, 1, out=x)
    return x

define("WrongShape", "x: T -> y: T", "T: floattype", shape=lambda c: c.inputs[0], kernel=shaped,
       gradient=NoGradient("a test"), doc="Wrong.")
define("WrongGradient", "x: T -> y: T", "T: floattype", shape=lambda c: c.inputs[0],
       kernel=lambda c, x: np.asarray(x * x), gradient=lambda op, g: g * op.inputs[0], doc="Wrong.")
TestWrong = testing.enrol(["WrongShape", "WrongGradient"], leave_out=["threads", "special_values"])

@pytest.mark.numbaflow_seed(3)
def test_fixtures(graph, session):
    assert tf.get_default_graph() is graph and graph.seed == 3
    assert tf.get_default_session() is session
    assert session.run(tf.constant(2.0)) == 2.0
"""


def test_wrong_promises_fail_by_name(tmp_path: Path) -> None:
    file = tmp_path / "test_wrong.py"
    file.write_text(WRONG)
    command = [sys.executable, "-m", "pytest", "-p", PLUGIN, "-p", "no:cacheprovider", "-q"]
    command += ["--numbaflow-order=1", "--numbaflow-budget=5", "--strict-markers", "-rf", str(file)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=environment
    )
    failed = set(re.findall(r"^FAILED \S*::(test_\w+\[\w+\])", done.stdout, re.M))
    assert "test_declared_shape[WrongShape]" in failed, done.stdout
    assert {name for name in failed if "WrongGradient" in name} == {
        "test_gradients[WrongGradient]"
    }, done.stdout
    assert "it is 2 times too small" in done.stdout
    assert "test_fixtures" not in str(failed)


def test_wrong_arguments() -> None:
    with pytest.raises(KeyError, match="NoSuchOp"):
        testing.enrol("NoSuchOp")
    with pytest.raises(ValueError, match="no properties"):
        testing.enrol("Tanh", leave_out=["speed"])
    with pytest.raises(ValueError, match="defines no op"):
        testing.enrol(testing)


def test_a_module_stands_for_its_ops() -> None:
    from numbaflow.ops.math import trigonometry

    assert "Tanh" in (testing.enrol(trigonometry).__doc__ or "")
