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
from numbaflow.engine import settings

HERE = Path(__file__).parent
RECORDED: dict[str, Any] = json.loads((HERE / "tensorflow_1_15.json").read_text())

pytestmark = pytest.mark.pure


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


programs = load("programs")


def test_every_program_is_recorded() -> None:
    assert set(RECORDED) == set(programs.PROGRAMS)


@pytest.mark.cpu
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_nodes_and_values_are_tensorflows(name: str) -> None:
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


# Adam has no sparse op: all of its averages decay.
SPARSE = [name for name in programs.OPTIMIZERS if name != "adam"]


@pytest.mark.cpu
@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("name", SPARSE)
def test_a_sparse_update_goes_over_its_rows(name: str, resource: bool) -> None:
    """One kernel for variable and slots, which moves no more than the rows that are named."""
    rows, width = 3, 8
    with settings.override(jit="always"), tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable(tf.ones([1000, width]), name="w", use_resource=resource)
        indices = tf.placeholder(tf.int32, [None])
        values = tf.placeholder(tf.float32, [None, width])
        optimizer = programs.OPTIMIZERS[name](tf)
        optimizer._create_slots([w])
        optimizer._prepare()
        # Past the addition of rows of equal index.
        suffix = "_duplicate_indices" if name == "sgd" else ""
        if resource:
            method = getattr(optimizer, "_resource_apply_sparse" + suffix)
            update = method(values, w, indices)
        else:
            method = getattr(optimizer, "_apply_sparse" + suffix)
            update = method(tf.IndexedSlices(values, indices), w)
        session.run(tf.global_variables_initializer())
        feed = {indices: [5, 900, 7], values: np.ones([rows, width])}
        kernels = session.explain(update, feed).kernels
        before = session.run(w.value())
        session.run(update, feed)
        changed = np.flatnonzero((session.run(w.value()) != before).any(axis=1))
    updates = [kernel for kernel in kernels if kernel.work == f"m{rows} m{width}"]
    updates = [
        kernel for kernel in updates if any("Apply" in op or "Sca" in op for op in kernel.ops)
    ]
    held = 1 + len(optimizer.get_slot_names())
    assert len(updates) == 1 and updates[0].kind == "generated"
    # The gradient once, variable and slots twice, and a few scalars.
    assert updates[0].bytes <= (1 + 2 * held) * rows * width * 4 + 100
    assert all(kernel.kind != "host" for kernel in kernels)
    assert changed.tolist() == [5, 7, 900]


@pytest.mark.parametrize(
    "name",
    "Adadelta AdagradDA Adagrad Adam Ftrl GradientDescent Momentum ProximalAdagrad "
    "ProximalGradientDescent RMSProp SyncReplicas".split(),
)
def test_optimizers_derive_from_the_public_one(name):
    kind = getattr(tf.train, f"{name}Optimizer")
    assert kind.__base__ is tf.train.Optimizer
    assert [base.__name__ for base in kind.__mro__[1:]] == ["Optimizer", "Trackable", "object"]
