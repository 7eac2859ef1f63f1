# SPDX-License-Identifier: Apache-2.0
"""Loops over cells that are nodes of the graph: `dynamic_rnn` and those made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes, nest
from ...engine.types.shape import TensorShape
from ...ops.public import tf
from .cell import assert_like_rnncell, concat
from .step import (
    best_effort_input_batch_size,
    initial_state_of,
    loop_scope,
    state_dtype,
    static_size,
    step_or_copy,
    transpose_batch_time,
    wants_list_of_states,
    zeros_for,
)

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...engine.graph.tensor import Tensor
    from ...engine.types.dtypes import DType
    from ...ops.flow.tensor_array import TensorArray
    from ...ops.state.scope_defaults import VariableScope
    from .cell import RNNCell


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: TensorLike | None = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: VariableScope | str | None = None,
) -> tuple[Any, Any]:
    """All steps of a cell along the inputs, as a loop (tf.nn.dynamic_rnn).

    Args:
        cell: an RNNCell.
        inputs: [batch, time, ...], or a structure of such.
        sequence_length: int [batch]; later outputs are zeros, and the state stays.
        initial_state: the state before the first step; zeros of `dtype` if None.
        dtype: of outputs and of that state.
        parallel_iterations, swap_memory: as tf.while_loop.
        time_major: whether inputs and outputs are [time, batch, ...].
        scope: the variable scope, "rnn" if None.

    Returns:
        The outputs [batch, time, ...], as the cell's output_size is structured, and the last state.

    Raises:
        TypeError: `cell` is no cell.
        ValueError: sizes of inputs are unknown or differ, or there is neither state nor dtype.

    Example:
        >>> cell = tf.nn.rnn_cell.BasicLSTMCell(4)
        >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.zeros([2, 5, 3]), dtype=tf.float32)
        >>> print(outputs.shape, state.h.shape)
        (2, 5, 4) (2, 4)
    """
    assert_like_rnncell("cell", cell)
    with loop_scope(scope, "rnn"):
        flat_input = nest.flatten(inputs)
        if not time_major:
            flat_input = [tf.convert_to_tensor(x) for x in flat_input]
            flat_input = [transpose_batch_time(x) for x in flat_input]
        if sequence_length is not None:
            sequence_length = tf.cast(sequence_length, dtypes.int32)
            _require_vector(sequence_length, "must be a vector of length batch_size, but saw shape")
            sequence_length = tf.identity(sequence_length, name="sequence_length")
        batch_size = best_effort_input_batch_size(flat_input)
        state = initial_state
        if state is None:
            if not dtype:
                raise ValueError("If there is no initial_state, you must give a dtype.")
            state = initial_state_of(cell, batch_size, dtype)
        if sequence_length is not None:
            # The batch may be known only when it runs: then the check runs too.
            with tf.control_dependencies([_assert_has_shape(sequence_length, [batch_size])]):
                sequence_length = tf.identity(sequence_length, name="CheckSeqLen")
        inputs = nest.pack_sequence_as(structure=inputs, flat_sequence=flat_input)
        options = dict(parallel_iterations=parallel_iterations or 32, swap_memory=swap_memory)
        outputs, state = _loop(cell, inputs, state, sequence_length, dtype, options)
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, state


def _require_vector(sequence_length: Tensor, wanted: str) -> None:
    shape = sequence_length.get_shape()
    if shape.ndims not in (None, 1):
        raise ValueError(f"sequence_length {wanted}: {shape}")


def _assert_has_shape(x: Tensor, shape: list[Any]) -> Any:
    found, wanted = tf.shape(x), tf.stack(shape)
    return tf.Assert(
        tf.reduce_all(tf.equal(found, wanted)),
        [f"Expected shape for Tensor {x.name} is ", wanted, " but saw shape: ", found],
    )


def _input_shapes(flat_input: list[Any]) -> list[TensorShape]:
    """The shapes of the inputs, which must agree about time and batch."""
    shapes = [x.get_shape().with_rank_at_least(3) for x in flat_input]
    first = shapes[0].as_list()
    for shape in shapes:
        sizes = shape.as_list()
        if None in sizes[2:]:
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw "
                "value None."
            )
        if sizes[0] != first[0]:
            raise ValueError(
                "Time steps is not the same for all the elements in the input in a batch."
            )
        if sizes[1] != first[1]:
            raise ValueError("Batch_size is not the same for all the elements in the input.")
    return shapes


def _loop(
    cell: RNNCell,
    inputs: Tensor,
    state: Any,
    sequence_length: Tensor | None,
    dtype: DType | None,
    options: dict[str, Any],
) -> tuple[Any, Any]:
    """The loop over inputs [time, batch, ...]: the outputs and the last state.

    It makes one step at least, if there is any, from which the arrays learn their elements' shape.
    It ends with the longest sequence, so that a branch around all steps would save nothing; what
    is behind are the zeros of elements never written.
    """
    flat_input = nest.flatten(inputs)
    sizes = nest.flatten(cell.output_size)
    time_steps = tf.shape(flat_input[0])[0]
    batch_size = best_effort_input_batch_size(flat_input)
    shapes = _input_shapes(flat_input)
    const_time, const_batch = shapes[0].as_list()[:2]
    of = state_dtype(dtype, state)
    zeros = [zeros_for(batch_size, size, of) for size in sizes]
    zero_output = nest.pack_sequence_as(structure=cell.output_size, flat_sequence=zeros)
    lengths, longest = None, time_steps
    if sequence_length is not None:
        shortest, longest = tf.reduce_min(sequence_length), tf.reduce_max(sequence_length)
        lengths = sequence_length, shortest, longest, zero_output
    time = tf.constant(0, dtype=dtypes.int32, name="time")
    batch = TensorShape([const_batch])
    made = [(batch.concatenate(static_size(size)), of) for size in sizes]
    taken = [(x.shape[1:], x.dtype) for x in flat_input]
    output_arrays, input_arrays = _arrays(time_steps, made, taken)
    input_arrays = [a.unstack(x) for a, x in zip(input_arrays, flat_input)]

    def body(time: Any, arrays: Sequence[Any], state: Any) -> Any:
        present = [a.read(time) for a in input_arrays]
        for x, shape in zip(present, shapes):
            x.set_shape(shape[1:])
        x = nest.pack_sequence_as(structure=inputs, flat_sequence=present)
        output, new_state = _step(cell, x, state, time, lengths)
        written = tuple(a.write(time, y) for a, y in zip(arrays, nest.flatten(output)))
        return time + 1, written, new_state

    bound = tf.minimum(time_steps, tf.maximum(1, longest))
    _, output_arrays, state = tf.while_loop(
        cond=lambda time, *_: time < bound,
        body=body,
        loop_vars=(time, tuple(output_arrays), state),
        maximum_iterations=time_steps,
        **options,
    )
    outputs = [a.stack() for a in output_arrays]
    for output, size in zip(outputs, sizes):
        output.set_shape(concat([const_time, const_batch], size, static=True))
    return nest.pack_sequence_as(structure=cell.output_size, flat_sequence=outputs), state


def _arrays(time_steps: Tensor, *kinds: list[tuple[TensorShape, DType]]) -> tuple[list[Any], ...]:
    """Arrays of outputs and of inputs, by the shapes and dtypes of their elements."""
    # Only for the name of the arrays, which is TensorFlow's.
    with tf.name_scope("dynamic_rnn") as base_name:
        pass

    def array(name: str, shape: TensorShape, of: DType) -> TensorArray:
        return tf.TensorArray(
            dtype=of, size=time_steps, element_shape=shape, tensor_array_name=base_name + name
        )

    return tuple(
        [array(f"{name}_{i}", *kind) for i, kind in enumerate(each)]
        for name, each in zip(("output", "input"), kinds, strict=True)
    )


def _step(
    cell: RNNCell, x: Any, state: Any, time: Any, lengths: tuple[Any, ...] | None
) -> tuple[Any, Any]:
    """One step of a cell, which sequences that have ended leave out; its state as the loop has it.

    lengths: of all sequences, of the shortest and of the longest, and what is put out behind them.
    """
    as_list = wants_list_of_states(cell)
    if as_list and not nest.is_sequence(state):
        state = [state]
    if lengths is None:
        output, new_state = cell(x, state)
    else:
        own, shortest, longest, zero_output = lengths
        output, new_state = step_or_copy(
            time,
            own,
            shortest,
            longest,
            zero_output,
            state,
            lambda: cell(x, state),
            skip_conditionals=True,
        )
    return output, new_state[0] if as_list and len(new_state) == 1 else new_state


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: TensorLike,
    sequence_length: TensorLike | None = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: VariableScope | str | None = None,
) -> Any:
    """Two `dynamic_rnn`, one of which goes backwards (tf.nn.bidirectional_dynamic_rnn).

    Args:
        cell_fw, cell_bw: the cells, which are not the same object.
        inputs: [batch, time, ...], or a structure of such.
        sequence_length: int [batch]: each sequence is turned round within its own length.
        initial_state_fw, initial_state_bw: the states at the start; zeros of `dtype` if None.
        dtype: of outputs and of those states.
        parallel_iterations, swap_memory: as tf.while_loop.
        time_major: whether inputs and outputs are [time, batch, ...].
        scope: the variable scope, "bidirectional_rnn" if None.

    Returns:
        The pair of outputs [batch, time, size] and the pair of last states; forward first.

    Raises:
        TypeError: a cell is none.
        ValueError: there is neither state nor dtype.

    Example:
        >>> cells = tf.nn.rnn_cell.GRUCell(4), tf.nn.rnn_cell.GRUCell(4)
        >>> outputs, states = tf.nn.bidirectional_dynamic_rnn(
        ...     *cells, inputs=tf.zeros([2, 5, 3]), dtype=tf.float32
        ... )
        >>> print(tf.concat(outputs, axis=2).shape)
        (2, 5, 8)
    """
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reverse(x: TensorLike) -> Tensor:
        if sequence_length is None:
            return tf.reverse(x, axis=[time_axis])
        return tf.reverse_sequence(
            input=x, seq_lengths=sequence_length, seq_axis=time_axis, batch_axis=batch_axis
        )

    options: Any = dict(
        sequence_length=sequence_length,
        dtype=dtype,
        parallel_iterations=parallel_iterations,
        swap_memory=swap_memory,
        time_major=time_major,
    )
    with tf.variable_scope(scope or "bidirectional_rnn"):
        with tf.variable_scope("fw") as fw:
            forward, state_fw = dynamic_rnn(
                cell_fw, inputs, initial_state=initial_state_fw, scope=fw, **options
            )
        with tf.variable_scope("bw") as bw:
            reversed_inputs = nest.map_structure(reverse, inputs)
            backward, state_bw = dynamic_rnn(
                cell_bw, reversed_inputs, initial_state=initial_state_bw, scope=bw, **options
            )
    return (forward, nest.map_structure(reverse, backward)), (state_fw, state_bw)
