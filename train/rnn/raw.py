# SPDX-License-Identifier: Apache-2.0
"""`raw_rnn`: a loop over a cell in which a function chooses inputs, states and outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes, nest
from ...engine.types.shape import TensorShape, dimension_at_index, dimension_value
from ...ops.flow.tensor_array import TensorArray
from ...ops.public import tf
from .cell import assert_like_rnncell, concat
from .step import loop_scope, static_size

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from ...ops.state.scope_defaults import VariableScope
    from .cell import RNNCell


def raw_rnn(
    cell: RNNCell,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: VariableScope | str | None = None,
) -> Any:
    """A loop over a cell, governed by a function (tf.nn.raw_rnn).

    Args:
        cell: an RNNCell.
        loop_fn: a function of time, the cell's output, its state and a state of its own, all but
            the first None before the first step.  It gives: which sequences ended (bool [batch]),
            the next input, the next state, what to emit (at first a structure of zeros like it,
            or None for the cell's output) and its own state.
        parallel_iterations, swap_memory: as tf.while_loop.
        scope: the variable scope, "rnn" if None.

    Returns:
        A TensorArray of what was emitted (or a structure), the last state, loop_fn's last state.

    Raises:
        TypeError: `cell` is no cell, or `loop_fn` no function.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with loop_scope(scope, "rnn"):
        time = tf.constant(0, dtype=dtypes.int32)
        first = loop_fn(time, None, None, None)
        finished, next_input, state, emit_structure, own_state = first
        # A loop variable must be something, even when the function has no use for one.
        loop_state = own_state if own_state is not None else tf.constant(0, dtype=dtypes.int32)
        const_batch, batch_size = _batch_sizes(nest.flatten(next_input))
        nest.assert_same_structure(state, cell.state_size)
        flat_state = [tf.convert_to_tensor(s) for s in nest.flatten(state)]
        state = nest.pack_sequence_as(structure=state, flat_sequence=flat_state)
        structure, sizes, kinds = _emitted(cell, emit_structure, flat_state)
        arrays = [
            tf.TensorArray(
                dtype=kind,
                dynamic_size=True,
                element_shape=TensorShape([const_batch]).concatenate(static_size(size)),
                size=0,
                name=f"rnn_output_{i}",
            )
            for i, (kind, size) in enumerate(zip(kinds, sizes))
        ]
        emit_array = nest.pack_sequence_as(structure=structure, flat_sequence=arrays)
        zeros = [tf.zeros(concat(batch_size, size), kind) for size, kind in zip(sizes, kinds)]
        zero_emit = nest.pack_sequence_as(structure=structure, flat_sequence=zeros)
        returned = tf.while_loop(
            lambda time, finished, *_: tf.logical_not(tf.reduce_all(finished)),
            _body(cell, loop_fn, zero_emit),
            loop_vars=[time, finished, next_input, emit_array, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        emit_array, state, loop_state = returned[-3:]
        return emit_array, state, None if own_state is None else loop_state


def _batch_sizes(flat_input: list[Any]) -> tuple[Any, Any]:
    """The batch size as far as it is known, and as a number or a tensor."""
    shapes = [x.get_shape() for x in flat_input]
    static = dimension_at_index(shapes[0], 0)
    for shape in shapes:
        static.merge_with(dimension_at_index(shape, 0))
    known = dimension_value(static)
    return known, tf.shape(flat_input[0])[0] if known is None else known


def _emitted(
    cell: RNNCell, structure: object, flat_state: list[Any]
) -> tuple[Any, list[Any], list[Any]]:
    """The structure, the sizes and the dtypes of what is emitted."""
    if structure is None:
        sizes = nest.flatten(cell.output_size)
        return cell.output_size, sizes, [flat_state[0].dtype] * len(sizes)
    flat = nest.flatten(structure)
    # What loop_fn gives in its first call is without the batch: a pattern for one row.
    sizes = [x.shape if x.shape.is_fully_defined() else tf.shape(x) for x in flat]
    return structure, sizes, [x.dtype for x in flat]


def _body(cell: RNNCell, loop_fn: Callable[..., Any], zero_emit: Tensor) -> Any:
    def body(
        time: Tensor,
        finished: Tensor,
        current: Any,
        arrays: object,
        state: Any,
        loop_state: Tensor,
    ) -> Any:
        output, cell_state = cell(current, state)
        nest.assert_same_structure(state, cell_state)
        nest.assert_same_structure(cell.output_size, output)
        next_time = time + 1
        next_finished, next_input, next_state, emitted, own_state = loop_fn(
            next_time, output, cell_state, loop_state
        )
        nest.assert_same_structure(state, next_state)
        nest.assert_same_structure(current, next_input)
        nest.assert_same_structure(arrays, emitted)

        def either(old: Tensor, new: Tensor) -> Tensor:
            # Arrays and scalars have no row for each sequence to choose from.
            if isinstance(old, TensorArray) or old.shape.ndims == 0:
                return new
            with tf.colocate_with(new):
                return tf.where(finished, old, new)

        emitted = nest.map_structure(either, zero_emit, emitted)
        next_state = nest.map_structure(either, state, next_state)
        arrays = nest.map_structure(lambda array, x: array.write(time, x), arrays, emitted)
        now_finished = tf.logical_or(finished, next_finished)
        loop_state = loop_state if own_state is None else own_state
        return next_time, now_finished, next_input, arrays, next_state, loop_state

    return body
