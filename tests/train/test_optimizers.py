# SPDX-License-Identifier: Apache-2.0
"""Optimizers, decays and averages make TensorFlow 1.15's nodes and its numbers."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

HERE = Path(__file__).parent
RECORDED: dict[str, Any] = json.loads((HERE / "tensorflow_1_15.json").read_text())


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = load("programs")


def test_every_program_is_recorded() -> None:
    assert set(RECORDED) == set(programs.PROGRAMS)


# Averages of variables and some decays have conditionals in their graphs.
CONDITIONAL = {"averages", "averages_debiased"} | {f"decay_{n}" for n in programs.BRANCHING_DECAYS}


@pytest.mark.cpu
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_nodes_and_values_are_tensorflows(name: str) -> None:
    if name in CONDITIONAL and not hasattr(tf, "cond"):
        pytest.skip("tf.cond does not exist yet")
    ours, theirs = programs.run(tf, programs.PROGRAMS[name]), RECORDED[name]
    assert ours["nodes"] == theirs["nodes"]
    for our_step, their_step in zip(ours["values"], theirs["values"], strict=True):
        for our_value, their_value in zip(our_step, their_step, strict=True):
            np.testing.assert_allclose(our_value, their_value, rtol=2e-6, atol=1e-6)
