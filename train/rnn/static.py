# SPDX-License-Identifier: Apache-2.0
"""Steps of a cell one after the other, each with nodes of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes, nest
from ...engine.types.shape import TensorShape, dimension_at_index, dimension_value, unknown_shape
from ...ops.public import tf
from .cell import assert_like_rnncell, concat
from .step import (
    initial_state_of,
    loop_scope,
    state_dtype,
    step_or_copy,
    wants_list_of_states,
    zeros_for,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from ...ops.state.scope_defaults import VariableScope
    from .cell import RNNCell


def static_rnn(
    cell: Any,
    inputs: Any,
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: VariableScope | str | None = None,
) -> Any:
    """The steps of a cell along a list of inputs (tf.nn.static_rnn).

    Args:
        cell: an RNNCell.
        inputs: a list of [batch, ...], or of structures of such, one per step.
        initial_state: the state before the first step; zeros of `dtype` if None.
        dtype: of outputs and of that state.
        sequence_length: int [batch]; later outputs are zeros, and the state stays.
        scope: the variable scope, "rnn" if None.

    Returns:
        The list of outputs and the last state.

    Raises:
        TypeError: `cell` is no cell, or `inputs` no list.
        ValueError: the list is empty, sizes are unknown, or there is neither state nor dtype.

    Example:
        >>> steps = tf.unstack(tf.zeros([2, 5, 3]), axis=1)
        >>> outputs, state = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(4), steps, dtype=tf.float32)
        >>> len(outputs), outputs[-1].shape.as_list()
        (5, [2, 4])
    """
    assert_like_rnncell("cell", cell)
    _require_list(inputs)
    with loop_scope(scope, "rnn") as varscope:
        fixed_batch, batch_size = _batch_sizes(inputs)
        state = initial_state
        if state is None:
            if not dtype:
                raise ValueError("If no initial_state is provided, dtype must be specified")
            state = initial_state_of(cell, batch_size, dtype)
        lengths: Any = None
        if sequence_length is not None:
            lengths = _lengths(cell, sequence_length, batch_size, fixed_batch, dtype, state)
        as_list = wants_list_of_states(cell)
        if as_list and not nest.is_sequence(state):
            state = [state]
        outputs = []
        for time, x in enumerate(inputs):
            # Every step after the first uses the variables that the first one made.
            if time > 0:
                varscope.reuse_variables()
            if lengths is None:
                output, state = cell(x, state)
            else:
                length, shortest, longest, zeros = lengths
                # Called at once, with this step's input and state.
                call = lambda x=x, state=state: cell(x, state)  # noqa: E731
                output, state = step_or_copy(time, length, shortest, longest, zeros, state, call)
            outputs.append(output)
        return outputs, state[0] if as_list and len(state) == 1 else state


def _require_list(inputs: Sequence[Tensor]) -> None:
    if not nest.is_sequence(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def _batch_sizes(inputs: Any) -> tuple[Any, Any]:
    """The batch size as far as it is known, and as a number or a tensor."""
    first = inputs
    while nest.is_sequence(first):
        first = first[0]
    shape = first.get_shape()
    if shape.ndims == 1:
        fixed = shape[0]
    else:
        fixed = dimension_at_index(shape.with_rank_at_least(2), 0)
        for x in nest.flatten(inputs):
            x_shape = x.get_shape().with_rank_at_least(2)
            fixed.merge_with(dimension_at_index(x_shape, 0))
            for i, size in enumerate(x_shape.as_list()[1:]):
                if size is None:
                    raise ValueError(
                        f"Input size (dimension {i} of inputs) must be accessible via shape "
                        "inference, but saw value None."
                    )
    known = dimension_value(fixed)
    return known, known or tf.shape(first)[0]


def _lengths(
    cell: RNNCell,
    lengths: Tensor,
    batch_size: TensorLike,
    fixed_batch: int | None,
    dtype: DType,
    state: Tensor,
) -> tuple[Any, Any, Any, Any]:
    """The lengths of sequences, the shortest, the longest, and the output of those that ended."""
    lengths = tf.convert_to_tensor(lengths, name="sequence_length")
    if lengths.get_shape().ndims not in (None, 1):
        raise ValueError("sequence_length must be a vector of length batch_size")

    def zeros(size: int) -> Tensor:
        output = zeros_for(batch_size, size, state_dtype(dtype, state))
        output.set_shape(TensorShape(concat(fixed_batch, size, static=True)))
        return output

    zero_output = nest.map_structure(zeros, cell.output_size)
    lengths = tf.cast(lengths, dtypes.int32)
    return lengths, tf.reduce_min(lengths), tf.reduce_max(lengths), zero_output


def static_state_saving_rnn(
    cell: RNNCell,
    inputs: Sequence[Tensor],
    state_saver: Any,
    state_name: object,
    sequence_length: TensorLike | None = None,
    scope: VariableScope | str | None = None,
) -> tuple[Any, Any]:
    """`static_rnn` whose state a saver keeps between runs (tf.nn.static_state_saving_rnn).

    Args:
        cell, inputs, sequence_length, scope: as static_rnn.
        state_saver: has `state(name)` and `save_state(name, value)`.
        state_name: the name, or a structure of names as the cell's state_size is one.

    Returns:
        The list of outputs and the last state; the last output waits until states are saved.

    Raises:
        ValueError: names and states do not correspond.
    """
    sizes = cell.state_size
    if nest.is_sequence(sizes) != nest.is_sequence(state_name):
        raise ValueError(
            "state_name should be the same type as cell.state_size.  state_name: "
            f"{state_name}, cell.state_size: {sizes}"
        )
    names, count = nest.flatten(state_name), len(nest.flatten(sizes))
    if len(names) != count:
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {count}")
    initial = nest.pack_sequence_as(
        structure=sizes, flat_sequence=[state_saver.state(name) for name in names]
    )
    outputs, state = static_rnn(
        cell, inputs, initial_state=initial, sequence_length=sequence_length, scope=scope
    )
    saved = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state))]
    # Whoever runs the last output or the state saves it too.
    with tf.control_dependencies(saved):
        outputs[-1] = nest.map_structure(tf.identity, outputs[-1])
        state = nest.map_structure(tf.identity, state)
    return outputs, state


def _reverse(sequence: Sequence[Tensor], lengths: Tensor) -> list[Any]:
    """A list of tensors, or of structures, in opposite order, up to each sequence's length."""
    if lengths is None:
        return list(reversed(sequence))
    flat = [nest.flatten(x) for x in sequence]
    results: list[list[Any]] = [[] for _ in sequence]
    for column in zip(*flat):
        shape = unknown_shape(rank=column[0].get_shape().ndims)
        for x in column:
            shape.merge_with(x.get_shape())
            x.set_shape(shape)
        reversed_column = tf.unstack(tf.reverse_sequence(tf.stack(column), lengths, 0, 1))
        for x, result in zip(reversed_column, results):
            x.set_shape(shape)
            result.append(x)
    return [
        nest.pack_sequence_as(structure=like, flat_sequence=result)
        for like, result in zip(sequence, results)
    ]


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    sequence_length: Any = None,
    scope: VariableScope | str | None = None,
) -> tuple[Any, Any, Any]:
    """Two `static_rnn`, one of which goes backwards (tf.nn.static_bidirectional_rnn).

    Args: as static_rnn, with a cell and a state each.

    Returns:
        The list of outputs, both beside each other along the second axis, and the two last states.
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    _require_list(inputs)
    with tf.variable_scope(scope or "bidirectional_rnn"):
        with tf.variable_scope("fw") as fw:
            forward, state_fw = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=fw
            )
        with tf.variable_scope("bw") as bw:
            reversed_inputs = _reverse(inputs, sequence_length)
            backward, state_bw = static_rnn(
                cell_bw, reversed_inputs, initial_state_bw, dtype, sequence_length, scope=bw
            )
    backward = _reverse(backward, sequence_length)
    pairs = zip(nest.flatten(forward), nest.flatten(backward))
    joined = [tf.concat([fw, bw], 1) for fw, bw in pairs]
    outputs = nest.pack_sequence_as(structure=forward, flat_sequence=joined)
    return outputs, state_fw, state_bw
