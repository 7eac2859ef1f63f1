# SPDX-License-Identifier: Apache-2.0
"""Cells in a grid: names of variables, sharing of weights, and a step done by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

grid = tf.contrib.grid_rnn


def run(cell: Any, inputs: Any, states: Any) -> tuple[list[str], Any, Any]:
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        output, state = cell(tf.constant(inputs), states)
    names = [variable.op.name for variable in tf.trainable_variables()]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return names, *session.run([output, state])


@pytest.mark.cpu
def test_two_dimensions_by_hand() -> None:
    with tf.Graph().as_default():
        cell = grid.Grid2BasicRNNCell(2)
        assert cell.output_size == (2,) and cell.state_size == (2, 2)
        before = np.float32([[0.1, 0.2]]), np.float32([[0.3, 0.4]])
        inputs = np.float32([[1.0, -2.0, 3.0]])
        names, (output,), states = run(cell, inputs, tuple(map(tf.constant, before)))
    scope = "root/Grid2BasicRNNCell"
    assert names == [
        f"{scope}/project_m_0",
        *(
            f"{scope}/recurrent/cell_{i}/basic_rnn_cell/{n}"
            for i in (1, 0)
            for n in ("kernel", "bias")
        ),
    ]
    projected = inputs @ np.full((3, 2), 0.5)
    # The second dimension sees the inputs; then the first sees what the second gave.
    second = np.tanh(np.concatenate([projected, before[1]], 1) @ np.full((4, 2), 0.5))
    first = np.tanh(np.concatenate([projected, second], 1) @ np.full((4, 2), 0.5))
    np.testing.assert_allclose(states, [first, second], rtol=1e-6)
    np.testing.assert_allclose(output, first, rtol=1e-6)


@pytest.mark.cpu
@pytest.mark.parametrize(
    ("make", "count"),
    [
        (lambda: grid.Grid2LSTMCell(2, tied=True, use_peepholes=True), 7),
        (lambda: grid.Grid2LSTMCell(2), 6),
        (lambda: grid.Grid3LSTMCell(2, tied=True), 4),
        (lambda: grid.Grid2BasicLSTMCell(2, non_recurrent_fn=tf.nn.relu), 6),
        (lambda: grid.Grid2GRUCell(2), 9),
        (lambda: grid.Grid1LSTMCell(2, use_peepholes=True), 7),
        (lambda: grid.Grid1BasicLSTMCell(2), 4),
        (lambda: grid.Grid1BasicRNNCell(2), 3),
    ],
)
def test_weights(make: Any, count: int) -> None:
    with tf.Graph().as_default():
        cell = make()
        state = cell.zero_state(3, tf.float32)
        names, (output,), states = run(cell, np.ones((3, 2), np.float32), state)
    assert len(names) == count and output.shape == (3, 2) and len(states) == len(cell.state_size)


@pytest.mark.cpu
def test_states_side_by_side() -> None:
    with tf.Graph().as_default():
        cell = grid.Grid2BasicLSTMCell(2, state_is_tuple=False, output_is_tuple=False)
        assert cell.state_size == 8 and cell.output_size == 2
        found = run(cell, np.ones((1, 2), np.float32), tf.zeros([1, 8]))
        assert found[1].shape == (1, 2) and found[2].shape == (1, 8)


@pytest.mark.pure
def test_refused() -> None:
    with pytest.raises(ValueError, match="Invalid dims"):
        grid.GridRNNCell(2, num_dims=2, input_dims=2)
    with pytest.raises(ValueError, match="dims must be >= 1"):
        grid.GridRNNCell(2, num_dims=0)
    with pytest.raises(TypeError, match="must return an RNNCell"):
        grid.GridRNNCell(2, cell_fn=lambda n: n)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="a tuple of 2"):
        grid.Grid2BasicRNNCell(2)(tf.zeros([1, 2]), (tf.zeros([1, 2]),))
