# SPDX-License-Identifier: Apache-2.0
"""Cells that take all steps of a sequence at once, and other cells as such."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.public import tf
from ...rnn.dynamic import dynamic_rnn
from ...rnn.static import static_rnn

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.tensor import Tensor
    from ....ops.state.scope_defaults import VariableScope
    from ..structures import Structure


@export("contrib.rnn.FusedRNNCell")
class FusedRNNCell(metaclass=abc.ABCMeta):
    """A function of a whole sequence, time first (tf.contrib.rnn.FusedRNNCell)."""

    @abc.abstractmethod
    def __call__(
        self,
        inputs: Structure,
        initial_state: Structure = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: VariableScope | str | None = None,
    ) -> Any:
        """All steps: (outputs, last state).

        Args:
            inputs: [time, batch, inputs], or a list of [batch, inputs].
            initial_state: the state before the first step.
            dtype: of a state that is zero, where there is no initial state.
            sequence_length: int [batch], or None where all sequences are whole.
            scope: a variable scope.
        """


@export("contrib.rnn.FusedRNNCellAdaptor")
class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell that takes one step at a time, as a fused one (tf.contrib.rnn.FusedRNNCellAdaptor).

    Args:
        cell: an RNNCell.
        use_dynamic_rnn: whether the steps are a loop; else each has nodes of its own.

    Example:
        >>> fused = tf.contrib.rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.GRUCell(4), True)
        >>> outputs, state = fused(tf.zeros([5, 2, 3]), dtype=tf.float32)
        >>> print(outputs.shape, state.shape)
        (5, 2, 4) (2, 4)
    """

    def __init__(self, cell: object, use_dynamic_rnn: bool = False) -> None:
        self._cell = cell
        self._use_dynamic_rnn = use_dynamic_rnn

    def __call__(
        self,
        inputs: Structure,
        initial_state: Structure = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: VariableScope | str | None = None,
    ) -> Any:
        """All steps; see FusedRNNCell."""
        is_list = isinstance(inputs, list)
        given: dict[str, Any] = {"initial_state": initial_state, "dtype": dtype, "scope": scope}
        given["sequence_length"] = sequence_length
        if self._use_dynamic_rnn:
            stacked = tf.stack(inputs) if is_list else inputs
            outputs, state = dynamic_rnn(self._cell, stacked, time_major=True, **given)
            return (tf.unstack(outputs) if is_list else outputs), state
        steps = inputs if is_list else tf.unstack(inputs)
        outputs, state = static_rnn(self._cell, steps, **given)
        return (outputs if is_list else tf.stack(outputs)), state


@export("contrib.rnn.TimeReversedFusedRNN")
class TimeReversedFusedRNN(FusedRNNCell):
    """A fused cell that begins at the end (tf.contrib.rnn.TimeReversedFusedRNN).

    Args:
        cell: a FusedRNNCell.

    Example:
        >>> forward = tf.contrib.rnn.FusedRNNCellAdaptor(tf.nn.rnn_cell.GRUCell(4))
        >>> backward = tf.contrib.rnn.TimeReversedFusedRNN(forward)
        >>> outputs, state = backward(tf.zeros([5, 2, 3]), dtype=tf.float32)
        >>> print(outputs.shape)
        (5, 2, 4)
    """

    def __init__(self, cell: FusedRNNCell) -> None:
        self._cell = cell

    def _reverse(self, t: list[Tensor] | Tensor, lengths: TensorLike | None) -> Any:
        """The steps the other way round, those of each sequence if there are lengths."""
        if isinstance(t, list):
            return t[::-1]
        return tf.reverse(t, [0]) if lengths is None else tf.reverse_sequence(t, lengths, 0, 1)

    def __call__(
        self,
        inputs: Structure,
        initial_state: Structure = None,
        dtype: DTypeLike | None = None,
        sequence_length: TensorLike | None = None,
        scope: VariableScope | str | None = None,
    ) -> tuple[Any, Any]:
        """All steps; see FusedRNNCell."""
        outputs, state = self._cell(
            self._reverse(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return self._reverse(outputs, sequence_length), state
