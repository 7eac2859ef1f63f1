# SPDX-License-Identifier: Apache-2.0
"""Wrappers of cells that are cells of Keras themselves: `tf.compat.v2.nn.RNNCellDropoutWrapper` …

What they do is that of `tf.nn.rnn_cell`'s; they wrap cells of both kinds.
"""

from __future__ import annotations

from typing import Any

from ...rnn.wrappers import Adding, Dropping, OnDevice
from .cells import AbstractRNNCell


class _Wrapper(AbstractRNNCell):
    def __init__(self, cell: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cell = cell

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """One step of the cell, which is built already: (output, new state)."""
        own: Any = self
        return own._call_wrapped_cell(inputs, state, cell_call_fn=self.cell.call, **kwargs)

    def build(self, inputs_shape: Any) -> None:
        """Makes the cell's variables."""
        self.cell.build(inputs_shape)
        self.built = True

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """A wrapper of the cell that `config["cell"]` describes."""
        from .table import deserialize

        config = dict(config)
        cell = deserialize(config.pop("cell"), custom_objects=custom_objects)
        return cls(cell, **config)


class DropoutWrapper(Dropping, _Wrapper):
    """Drops elements of a cell's inputs, states and outputs.

    Args:
        cell: of Keras or of `tf.nn.rnn_cell`.
        input_keep_prob, …: as of tf.nn.rnn_cell.DropoutWrapper.

    Raises:
        TypeError, ValueError: as there.

    Example:
        >>> cell = DropoutWrapper(tf.keras.layers.SimpleRNNCell(4), output_keep_prob=0.5)
        >>> print(tf.keras.layers.RNN(cell)(tf.ones([2, 5, 3])).shape)
        (2, 4)
    """


class ResidualWrapper(Adding, _Wrapper):
    """Adds a cell's inputs to its outputs.

    Args:
        cell: of Keras or of `tf.nn.rnn_cell`.
        residual_fn: a function of inputs and outputs, instead of the sum of equal structures.
    """


class DeviceWrapper(OnDevice, _Wrapper):
    """A cell on a device.

    Args:
        cell: of Keras or of `tf.nn.rnn_cell`.
        device: as tf.device.
    """
