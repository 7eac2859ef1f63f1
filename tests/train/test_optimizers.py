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
from numbaflow.jit import settings

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


@pytest.mark.cpu
@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("name", programs.OPTIMIZERS)
def test_an_update_is_one_pass(name: str, resource: bool) -> None:
    """Gradient, slots and variable go through memory once, in one kernel."""
    with settings.override(jit="always"), tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable(tf.ones([64, 64]), name="w", use_resource=resource)
        step = tf.train.get_or_create_global_step()
        train = programs.OPTIMIZERS[name](tf).minimize(tf.reduce_sum(tf.square(w)), step)
        session.run(tf.global_variables_initializer())
        kernels = session.explain(train).kernels
    updates = [kernel for kernel in kernels if any("/update_w/" in op for op in kernel.ops)]
    assert len(updates) == 1 and updates[0].kind == "generated"
    # All the rest is about scalars: powers of betas and the step.
    assert {kernel.work for kernel in kernels if kernel is not updates[0]} == {"m1"}
