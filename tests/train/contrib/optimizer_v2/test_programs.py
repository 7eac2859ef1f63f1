# SPDX-License-Identifier: Apache-2.0
"""Optimizers with a state per graph make TensorFlow 1.15's variables, updates and numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from .programs import CASES, run

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())
v2 = tf.contrib.optimizer_v2

pytestmark = pytest.mark.pure


@pytest.mark.programs
@pytest.mark.parametrize("case", CASES)
def test_updates_and_values_are_tensorflows(case: str) -> None:
    with settings.override(jit="never"):
        found, wanted = run(tf, case), RECORDED[case]
    for key in ("variables", "own", "updates"):
        assert found[key] == wanted[key]
    for ours, theirs in zip(found["values"], wanted["values"], strict=True):
        for our_value, their_value in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(our_value, their_value, rtol=1e-5, atol=2e-6)


def test_what_is_no_such_optimizer_is_refused() -> None:
    class Old(v2.OptimizerV2):
        def _create_slots(self, var_list: list[object]) -> None:
            del var_list

    with pytest.raises(RuntimeError, match="Override _create_vars instead of _create_slots"):
        Old(False, "old")
    with pytest.raises(ValueError, match="No variables provided"):
        v2.AdamOptimizer().apply_gradients([])
    with pytest.raises(ValueError, match="must be positive"):
        v2.AdagradOptimizer(0.1, initial_accumulator_value=0.0)


def test_states_are_of_their_graphs() -> None:
    optimizer = v2.AdamOptimizer()
    names = []
    for _ in range(2):
        with tf.Graph().as_default():
            x = tf.Variable(1.0, name="x")
            assert optimizer.get_slot(x, "m") is None
            optimizer.minimize(x * x, stop_gradients=[tf.constant(1.0)])
            names.append([v.op.name for v in optimizer.variables()])
            assert optimizer.get_slot(x, "m").op.name == "x/Adam"
    assert names[0] == names[1] == ["beta1_power", "beta2_power", "x/Adam", "x/Adam_1"]


@pytest.mark.programs
@pytest.mark.parametrize("is_made", [True, False])
def test_all_variables_come_back_from_checkpoints(tmp_path: Path, is_made: bool) -> None:
    """Whether they were made before they are restored or behind it."""

    def step(checkpoint: tf.train.Checkpoint) -> tf.Operation:
        return checkpoint.optimizer.minimize(lambda: checkpoint.variable * 2.0)

    def new_checkpoint() -> tf.train.Checkpoint:
        variable = tf.get_variable("v", initializer=1.0, use_resource=True)
        return tf.train.Checkpoint(optimizer=v2.AdamOptimizer(0.1), variable=variable)

    with settings.override(jit="never"):
        with tf.Graph().as_default(), tf.Session() as session:
            saved = new_checkpoint()
            train = step(saved)
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(train)
            path = saved.save(str(tmp_path / "saved"))
            wanted = session.run(saved.optimizer.variables())
        with tf.Graph().as_default(), tf.Session():
            restored = new_checkpoint()
            if is_made:
                step(restored)
            status = restored.restore(path)
            if not is_made:
                step(restored)
            status.assert_consumed().run_restore_ops()
            found = restored.optimizer.variables()
            assert len(found) == 4  # two slots, two powers
            np.testing.assert_array_equal([v.eval() for v in found], wanted)
