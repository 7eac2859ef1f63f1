# SPDX-License-Identifier: Apache-2.0
"""Recurrent cells in plain ops: TensorFlow 2's compat.v1 has no `tf.nn.rnn_cell` of its own."""

from __future__ import annotations

import math
from typing import Any

from .parts import weights, zeros


class LSTM:
    """Long short-term memory; its state is a pair, the cell's and the output."""

    def __init__(self, tf: Any, inputs: int, units: int, name: str) -> None:
        self._tf, self.output_size, self.state_size = tf, units, (units, units)
        with tf.variable_scope(name):
            scale = math.sqrt(1 / (inputs + units))
            self._kernel = weights(tf, "kernel", [inputs + units, 4 * units], scale)
            self._bias = zeros(tf, "bias", [4 * units])

    def zero_state(self, batch: Any, dtype: Any) -> Any:
        """The state before a sequence."""
        return tuple(self._tf.zeros([batch, size], dtype) for size in self.state_size)

    def __call__(self, x: Any, state: Any, scope: Any = None) -> Any:
        """The output and the state after an input."""
        tf, (memory, hidden) = self._tf, state
        gates = tf.nn.bias_add(tf.matmul(tf.concat([x, hidden], 1), self._kernel), self._bias)
        i, j, f, o = tf.split(gates, 4, 1)
        memory = memory * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        hidden = tf.tanh(memory) * tf.sigmoid(o)
        return hidden, (memory, hidden)


class GRU:
    """A gated recurrent unit; its state is its output."""

    def __init__(self, tf: Any, inputs: int, units: int, name: str) -> None:
        self._tf, self.output_size, self.state_size = tf, units, units
        with tf.variable_scope(name):
            scale = math.sqrt(1 / (inputs + units))
            self._gates = weights(tf, "gates", [inputs + units, 2 * units], scale)
            self._gates_bias = tf.get_variable(
                "gates_bias", [2 * units], initializer=tf.ones_initializer()
            )
            self._kernel = weights(tf, "kernel", [inputs + units, units], scale)
            self._bias = zeros(tf, "bias", [units])

    def zero_state(self, batch: Any, dtype: Any) -> Any:
        """The state before a sequence."""
        return self._tf.zeros([batch, self.state_size], dtype)

    def __call__(self, x: Any, state: Any, scope: Any = None) -> Any:
        """The output and the state after an input."""
        tf = self._tf
        gates = tf.matmul(tf.concat([x, state], 1), self._gates)
        reset, keep = tf.split(tf.sigmoid(tf.nn.bias_add(gates, self._gates_bias)), 2, 1)
        new = tf.matmul(tf.concat([x, reset * state], 1), self._kernel)
        state = keep * state + (1 - keep) * tf.tanh(tf.nn.bias_add(new, self._bias))
        return state, state


class Stack:
    """Cells one above the other."""

    def __init__(self, *cells: Any) -> None:
        self._cells = cells
        self.output_size = cells[-1].output_size
        self.state_size = tuple(cell.state_size for cell in cells)

    def zero_state(self, batch: Any, dtype: Any) -> Any:
        """The states before a sequence."""
        return tuple(cell.zero_state(batch, dtype) for cell in self._cells)

    def __call__(self, x: Any, state: Any, scope: Any = None) -> Any:
        """The output of the last cell and the states of all."""
        states = []
        for cell, before in zip(self._cells, state):
            x, after = cell(x, before)
            states.append(after)
        return x, tuple(states)
