# SPDX-License-Identifier: Apache-2.0
"""Layers of cells in both directions, one above the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.public import tf
from ...rnn.dynamic import bidirectional_dynamic_rnn
from ...rnn.static import static_bidirectional_rnn

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.tensor import Tensor
    from ....ops.state.scope_defaults import VariableScope
    from ..structures import Structure

# What makes one layer: (its number, forward cell, backward cell, inputs, states) -> (inputs of the
# next one, forward state, backward state).
_Layer = Callable[..., Any]


def _check_cells(cells_fw: object, cells_bw: object) -> None:
    for cells, short in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not cells:
            raise ValueError(f"Must specify at least one {short} cell for BidirectionalRNN.")
    for cells, short in ((cells_fw, "fw"), (cells_bw, "bw")):
        if not isinstance(cells, list):
            raise ValueError(f"cells_{short} must be a list of RNNCells (one per layer).")
    assert isinstance(cells_fw, list) and isinstance(cells_bw, list), "lists, as checked"
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")


def _check_states(states: object, short: str, number: int) -> None:
    if states is None or (isinstance(states, list) and len(states) == number):
        return
    raise ValueError(f"initial_states_{short} must be a list of state tensors (one per layer).")


def _stacked(
    cells: tuple[Any, Any], inputs: Structure, states: tuple[Any, Any], scope: Any, layer: _Layer
) -> Any:
    _check_cells(*cells)
    number = len(cells[0])
    for given, short in zip(states, ("fw", "bw")):
        _check_states(given, short, number)
    last: tuple[list[Any], list[Any]] = ([], [])
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for i in range(number):
            first = {
                f"initial_state_{short}": given[i] if given else None
                for given, short in zip(states, ("fw", "bw"))
            }
            with tf.variable_scope(f"cell_{i}") as cell_scope:
                inputs, forward, backward = layer(
                    cells[0][i], cells[1][i], inputs, cell_scope, first
                )
            last[0].append(forward)
            last[1].append(backward)
    return inputs, tuple(last[0]), tuple(last[1])


@export("contrib.rnn.stack_bidirectional_rnn")
def stack_bidirectional_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: list[Any],
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: VariableScope | str | None = None,
) -> Any:
    """Layers in both directions, each of which takes both outputs of the former (tf.contrib.rnn).

    Args:
        cells_fw, cells_bw: a cell for each layer and direction.
        inputs: a list of [batch, inputs], one per step.
        initial_states_fw, initial_states_bw: a state for each layer; zeros of `dtype` if None.
        dtype: of these zeros.
        sequence_length: int [batch].
        scope: the variable scope, "stack_bidirectional_rnn" if None.

    Returns:
        The last layer's outputs, a list; the forward states and the backward ones, tuples.

    Raises:
        ValueError: what must be lists of one length is not.

    Example:
        >>> cells = [[tf.nn.rnn_cell.GRUCell(4) for _ in range(2)] for _ in range(2)]
        >>> outputs, fw, bw = tf.contrib.rnn.stack_bidirectional_rnn(
        ...     *cells, [tf.zeros([2, 3])] * 5, dtype=tf.float32)
        >>> print(len(outputs), outputs[0].shape, len(fw))
        5 (2, 8) 2
    """

    def layer(
        forward: Any, backward: Any, steps: Any, cell_scope: Any, first: Any
    ) -> tuple[Any, Any, Any]:
        return static_bidirectional_rnn(
            forward,
            backward,
            steps,
            sequence_length=sequence_length,
            dtype=dtype,
            scope=cell_scope,
            **first,
        )

    states = initial_states_fw, initial_states_bw
    return _stacked((cells_fw, cells_bw), inputs, states, scope, layer)


@export("contrib.rnn.stack_bidirectional_dynamic_rnn")
def stack_bidirectional_dynamic_rnn(
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: TensorLike,
    initial_states_fw: list[Any] | None = None,
    initial_states_bw: list[Any] | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: VariableScope | str | None = None,
    swap_memory: bool = False,
) -> Any:
    """The same as loops (tf.contrib.rnn.stack_bidirectional_dynamic_rnn).

    Args:
        cells_fw, cells_bw, initial_states_fw, initial_states_bw, dtype, sequence_length, scope: as
            stack_bidirectional_rnn.
        inputs: [batch, time, inputs].
        parallel_iterations, swap_memory: as tf.while_loop.
        time_major: whether inputs and outputs are [time, batch, ...].

    Returns:
        The last layer's outputs [batch, time, both]; the forward states and the backward ones.

    Raises:
        ValueError: what must be lists of one length is not.

    Example:
        >>> cells = [[tf.nn.rnn_cell.GRUCell(4) for _ in range(2)] for _ in range(2)]
        >>> outputs, fw, bw = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
        ...     *cells, tf.zeros([2, 5, 3]), dtype=tf.float32)
        >>> print(outputs.shape, len(fw))
        (2, 5, 8) 2
    """

    def layer(
        forward: Any, backward: Any, steps: Any, _: Any, first: Any
    ) -> tuple[Tensor, Any, Any]:
        outputs, (state_fw, state_bw) = bidirectional_dynamic_rnn(
            forward,
            backward,
            steps,
            sequence_length=sequence_length,
            parallel_iterations=parallel_iterations,
            dtype=dtype,
            swap_memory=swap_memory,
            time_major=time_major,
            **first,
        )
        return tf.concat(outputs, 2), state_fw, state_bw

    states = initial_states_fw, initial_states_bw
    return _stacked((cells_fw, cells_bw), inputs, states, scope, layer)
