# SPDX-License-Identifier: Apache-2.0
"""Cells of `tf.contrib.rnn`: names, shapes and numbers of TensorFlow 1.15, and what compiles."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.engine import settings

from .cell_programs import CASES, WRAPPERS, steps, weights

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())


@pytest.mark.programs
@pytest.mark.parametrize("name", [*CASES, *WRAPPERS])
def test_a_cell_has_the_variables_and_numbers_of_tensorflow(name):
    with settings.override(jit="never"):
        found = steps(tf, name)
    wanted = RECORDED[name]
    assert found["variables"] == wanted["variables"]
    for key in ("results", "gradients"):
        np.testing.assert_allclose(found[key], wanted[key], rtol=2e-5, atol=2e-5)


def sequence(fused: bool, lengths: list[int] | None, time: int | None = 5):
    """Outputs, last state and the kernel's gradient of a sequence."""
    x = tf.placeholder(tf.float32, [time, 2, 3])
    if fused:
        cell = tf.contrib.rnn.LSTMBlockFusedCell(4, use_peephole=True)
        outputs, state = cell(x, dtype=tf.float32, sequence_length=lengths)
    else:
        cell = tf.contrib.rnn.LSTMBlockCell(4, use_peephole=True)
        outputs, state = tf.nn.dynamic_rnn(
            cell, x, sequence_length=lengths, dtype=tf.float32, time_major=True
        )
    variables = tf.trainable_variables()
    loss = tf.reduce_sum(tf.square(outputs)) + tf.reduce_sum(state.c * state.h)
    return x, variables, [outputs, state.c, state.h, *tf.gradients(loss, variables)]


def run(fused: bool, lengths: list[int] | None, time: int | None = 5):
    with tf.Graph().as_default(), tf.Session() as session:
        x, variables, fetches = sequence(fused, lengths, time)
        session.run(tf.global_variables_initializer())
        for number, variable in enumerate(variables):
            variable.load(weights(number, variable.shape.as_list()), session)
        feed = {x: weights(9, [5, 2, 3])}
        return session.run(fetches, feed), str(session.explain(fetches, feed))


@pytest.mark.cpu
@pytest.mark.parametrize("lengths", [None, [2, 4]])
def test_a_fused_sequence_is_its_steps_and_both_compile(lengths):
    one, plan = run(True, lengths)
    other, loop_plan = run(False, lengths)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    for text in (plan, loop_plan):
        assert "LSTM" not in "".join(line for line in text.splitlines() if "host" in line)


@pytest.mark.cpu
def test_a_sequence_of_unknown_length_runs_by_its_reference():
    one, _ = run(True, [2, 4], None)
    other, _ = run(False, [2, 4], None)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.programs
def test_wrong_sizes_are_refused_with_their_names():
    cell = tf.contrib.rnn.LSTMBlockCell(4)
    x = tf.placeholder(tf.float32, [None, 3])
    state = [tf.placeholder(tf.float32, [None, 4]) for _ in range(2)]
    output, _ = cell(x, state)
    with tf.Session() as session, settings.override(jit="never"):
        session.run(tf.global_variables_initializer())
        feed = {x: np.zeros([2, 3]), state[0]: np.zeros([3, 4]), state[1]: np.zeros([2, 4])}
        with pytest.raises(tf.errors.InvalidArgumentError, match="cs_prev.dims.0. != batch_size"):
            session.run(output, feed)
