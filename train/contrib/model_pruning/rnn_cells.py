# SPDX-License-Identifier: Apache-2.0
"""LSTM cells with a mask on the kernel of their gates."""

from __future__ import annotations

from typing import Any

from ....engine.api import export
from ...rnn.cells import BasicLSTMCell, LSTMCell
from .core_layers import masked


@export("contrib.model_pruning.MaskedBasicLSTMCell")
class MaskedBasicLSTMCell(BasicLSTMCell):
    """tf.nn.rnn_cell.BasicLSTMCell with a mask on its kernel; arguments as there.

    Example:
        >>> cell = tf.contrib.model_pruning.MaskedBasicLSTMCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print([mask.shape.as_list() for mask in tf.contrib.model_pruning.get_masks()])
        [[7, 16]]
    """

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables, those of the mask too."""
        super().build(inputs_shape)
        self.built = False  # Or variables would be looked for, not made.
        # (The gates are of what stands for the kernel.)
        self._mask, self._threshold, self._kernel = masked(self._kernel, self.add_variable)
        self.built = True


@export("contrib.model_pruning.MaskedLSTMCell")
class MaskedLSTMCell(LSTMCell):
    """tf.nn.rnn_cell.LSTMCell with a mask on its kernel, not on its projection; arguments as there.

    Example:
        >>> cell = tf.contrib.model_pruning.MaskedLSTMCell(4, num_proj=2)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print([mask.shape.as_list() for mask in tf.contrib.model_pruning.get_masks()])
        [[5, 16]]
    """

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables, those of the mask too."""
        super().build(inputs_shape)
        self.built = False  # Or variables would be looked for, not made.
        # (The gates are of what stands for the kernel.)
        self._mask, self._threshold, self._kernel = masked(self._kernel, self.add_variable)
        self.built = True
