# SPDX-License-Identifier: Apache-2.0
"""Recurrent nets of cells, by `tf.contrib.recurrent`'s loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.annotations import DTypeLike, TensorLike
from ....engine.graph.convert import convert_to_tensor
from ....engine.types import nest
from ....ops.public import tf
from ..structures import Structure
from .recurrent import _Steps, scan

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor
    from ..layers.annotations import Scope


def _batch_major(tensor: Structure) -> Tensor:
    return tf.transpose(tensor, [1, 0, 2])


def _masked(lengths: Structure, outputs: Structure) -> Any:
    """Outputs [batch, steps, n], which are 0 after the end of sequences."""
    mask = tf.sequence_mask(lengths, tf.shape(outputs)[1], dtype=outputs.dtype)
    return tf.expand_dims(mask, -1) * outputs


def _at_ends(states: Structure, lengths: Structure) -> Any:
    """The state at the last step of each sequence, 0 for empty ones; states [steps, batch, n]."""

    def at_end(tensor: Structure) -> Any:
        ends = tf.one_hot(lengths - 1, tf.shape(tensor)[0], axis=0, dtype=tensor.dtype)
        found = tf.reduce_sum(tf.expand_dims(ends, -1) * tensor, 0)
        found.set_shape(tensor.shape[1:])
        return found

    return nest.map_structure(at_end, states)


@export("contrib.recurrent.functional_rnn")
def functional_rnn(
    cell: Any,
    inputs: Structure,
    sequence_length: TensorLike | None = None,
    initial_state: Structure = None,
    dtype: DTypeLike | None = None,
    time_major: bool = False,
    scope: Scope | None = None,
    use_tpu: bool = False,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """A recurrent net (tf.contrib.recurrent.functional_rnn); takes what `tf.nn.dynamic_rnn` takes.

    Args:
        cell: a cell.
        inputs: [batch, steps, n], or several such.
        sequence_length: int32 [batch], how many steps count; all do if None.
        initial_state: of the cell; zeros if None.
        dtype: of these zeros.
        time_major: whether inputs and outputs are [steps, batch, n].
        scope: of the variables, "rnn" if None.
        use_tpu: is not looked at.
        reverse: whether the steps are taken from the last one.

    Returns:
        Outputs [batch, steps, m], 0 after the end of sequences, and the last states.
    """
    del use_tpu
    with tf.variable_scope(scope or "rnn"):
        steps_first = nest.map_structure(convert_to_tensor, inputs)
        if not time_major:
            steps_first = nest.map_structure(_batch_major, steps_first)
        batch_size = tf.shape(nest.flatten(steps_first)[0])[1]
        if initial_state is None:
            initial_state = cell.zero_state(batch_size, dtype)
        state0 = nest.map_structure(convert_to_tensor, initial_state)
        lengths = None if sequence_length is None else convert_to_tensor(sequence_length)
        longest = None if lengths is None else tf.reduce_max(lengths)
        if reverse:
            steps_first = nest.map_structure(lambda t: tf.reverse(t, [0]), steps_first)
        steps = _Steps(steps_first, longest, reverse)

        def step(state: Structure, now: Any) -> tuple[Any, Any]:
            output, state1 = cell(now, state)
            return [output, state1], state1

        first = nest.flatten(state0)[0]
        output_like = tf.zeros(tf.concat([[batch_size], [cell.output_size]], 0), first.dtype)
        output_like.set_shape([first.shape[0] if first.shape.dims else None, cell.output_size])
        (outputs, states), last = scan(
            step,
            state0,
            nest.map_structure(steps.taken, steps_first),
            steps.count,
            [output_like, state0],
        )
        outputs = steps.filled(outputs)
        outputs.set_shape([steps.static, *outputs.shape[1:]])
        if lengths is not None and not reverse:
            last = _at_ends(nest.map_structure(steps.filled, states), lengths)
        if reverse:
            outputs = tf.reverse(outputs, [0])
        outputs = _batch_major(outputs)
        if lengths is not None:
            outputs = _masked(lengths, outputs)
        return _batch_major(outputs) if time_major else outputs, last


@export("contrib.recurrent.bidirectional_functional_rnn")
def bidirectional_functional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Structure,
    initial_state_fw: Structure = None,
    initial_state_bw: Structure = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: Scope | None = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Two recurrent nets over the same steps, one from the end.

    Args:
        cell_fw, cell_bw: the cells.
        inputs: [batch, steps, n].
        initial_state_fw, initial_state_bw: of the cells; zeros if None.
        dtype: of these zeros.
        sequence_length: int32 [batch], how many steps count; all do if None.
        time_major: whether inputs and outputs are [steps, batch, n].
        use_tpu: is not looked at.
        fast_reverse: whether the second net begins at the last of all steps, rather than at the
            last of each sequence.
        scope: of the variables, "bidirectional_rnn" if None.

    Returns:
        The outputs of both, and the last states of both.
    """
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)
    shared: dict[str, Any] = {
        "dtype": dtype,
        "sequence_length": sequence_length,
        "time_major": time_major,
        "use_tpu": use_tpu,
    }

    def reversed_steps(tensor: Structure) -> Tensor:
        if sequence_length is None:
            return tf.reverse(tensor, axis=[time_axis])
        return tf.reverse_sequence(
            tensor, sequence_length, seq_axis=time_axis, batch_axis=batch_axis
        )

    with tf.variable_scope(scope or "bidirectional_rnn"):
        with tf.variable_scope("fw") as inside:
            output_fw, state_fw = functional_rnn(
                cell_fw, inputs, initial_state=initial_state_fw, scope=inside, **shared
            )
        with tf.variable_scope("bw") as inside:
            if not fast_reverse:
                inputs = nest.map_structure(reversed_steps, inputs)
            output_bw, state_bw = functional_rnn(
                *(cell_bw, inputs),
                initial_state=initial_state_bw,
                scope=inside,
                reverse=fast_reverse,
                **shared,
            )
    if not fast_reverse:
        output_bw = reversed_steps(output_bw)
    return (output_fw, output_bw), (state_fw, state_bw)
