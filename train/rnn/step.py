# SPDX-License-Identifier: Apache-2.0
"""What loops over cells share: dtypes, variables read once, steps beyond a sequence's end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.graph.constants import constant_value
from ...engine.graph.tensor import Tensor
from ...engine.hints import hinted
from ...engine.types import nest
from ...engine.types.shape import TensorShape, as_shape
from ...ops.flow.tensor_array import TensorArray
from ...ops.flow.util import GetContainingWhileContext
from ...ops.public import tf
from ..layers import base
from .cell import RNNCell, concat

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike
    from ...ops.state.scope_defaults import VariableScope


@contextmanager
def loop_scope(scope: VariableScope | str | None, default: str) -> Iterator[Any]:
    """A variable scope in which variables are read once, not in every step."""
    with tf.variable_scope(scope or default) as opened:
        context = tf.get_default_graph()._get_control_flow_context()
        # Not inside of a loop, which may hold whole training steps: a value read once would be the
        # same in all of them (TensorFlow 1.15, rnn.py, _should_cache).
        if GetContainingWhileContext(context) is None and opened.caching_device is None:
            opened.set_caching_device(lambda op: op.device)
        yield opened


def transpose_batch_time(x: Any) -> Any:
    """The tensor with its first two axes exchanged; vectors stay."""
    shape = x.get_shape()
    if shape.ndims is not None and shape.ndims < 2:
        return x
    order = tf.concat(([1, 0], tf.range(2, tf.rank(x))), axis=0)
    result = tf.transpose(x, order)
    sizes = shape.as_list() if shape.ndims is not None else None
    if sizes is None:
        raise ValueError(f"Expected a tensor of known rank: {x}")
    result.set_shape(TensorShape([sizes[1], sizes[0], *sizes[2:]]))
    return result


def best_effort_input_batch_size(flat_input: Sequence[Tensor]) -> Any:
    """The second size of the inputs: a number where one of them knows it, else a tensor."""
    for x in flat_input:
        shape = x.shape
        if shape.ndims is None:
            continue
        if shape.ndims < 2:
            raise hinted(ValueError, f"Expected input tensor {x} to have rank at least 2")
        batch_size = shape.as_list()[1]
        if batch_size is not None:
            return batch_size
    return tf.shape(flat_input[0])[1]


def state_dtype(explicit: DTypeLike | None, state: Any) -> Any:
    """The dtype as given, else that of all parts of the state; ValueError where they differ."""
    if explicit is not None:
        return explicit
    if not nest.is_sequence(state):
        return state.dtype
    found = [element.dtype for element in nest.flatten(state)]
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if any(dtype != found[0] for dtype in found):
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single "
            "representative dtype."
        )
    return found[0]


def static_size(size: int) -> int:
    """A size that may be a tensor, as a shape."""
    return as_shape(constant_value(size)) if isinstance(size, Tensor) else size


def initial_state_of(cell: RNNCell, batch_size: Any, dtype: DTypeLike) -> Any:
    """The state that a cell begins with where the caller gives none."""
    if getattr(cell, "get_initial_state", None) is not None:
        return cell.get_initial_state(inputs=None, batch_size=batch_size, dtype=dtype)
    return cell.zero_state(batch_size, dtype)


def zeros_for(batch_size: TensorLike, size: int, dtype: DTypeLike) -> Tensor:
    """Zeros of shape [batch_size, ...]."""
    return tf.zeros(tf.stack(concat(batch_size, size)), dtype)


def wants_list_of_states(cell: RNNCell) -> bool:
    """Whether it is a Keras cell, which takes and gives states as a list."""
    return (
        not isinstance(cell, RNNCell)
        and isinstance(cell, base.base_layer.Layer)
        and getattr(cell, "zero_state", None) is None
    )


def step_or_copy(
    time: Any,
    sequence_length: Any,
    shortest: Any,
    longest: Any,
    zero_output: TensorLike,
    state: object,
    call_cell: Callable[[], Any],
    skip_conditionals: bool = False,
) -> tuple[Any, Any]:
    """A step of the cell; sequences that ended give zeros and keep their state.

    Args:
        time: the number of the step.
        sequence_length: the lengths [batch], `shortest` and `longest` of them.
        zero_output: what ended sequences give.
        state: the state before the step.
        call_cell: makes the step.
        skip_conditionals: computes all steps, instead of none where every sequence ended.
    """
    flat_state, flat_zeros = nest.flatten(state), nest.flatten(zero_output)
    ended = time >= sequence_length

    def either(old: Any, new: TensorLike) -> Any:
        # Arrays and scalars have no row for each sequence to choose from.
        if isinstance(old, TensorArray) or old.shape.ndims == 0:
            return new
        with tf.colocate_with(new):
            return tf.where(ended, old, new)

    def chosen(flat: list[Any]) -> list[Any]:
        return [either(old, new) for old, new in zip(flat_zeros + flat_state, flat)]

    def stepped() -> list[Any]:
        output, new_state = call_cell()
        nest.assert_same_structure(zero_output, output)
        nest.assert_same_structure(state, new_state)
        return nest.flatten(output) + nest.flatten(new_state)

    def stepped_with_care() -> Any:
        flat = stepped()
        return tf.cond(time < shortest, lambda: flat, lambda: chosen(flat))

    if skip_conditionals:
        # Every sequence takes the step; those that ended then get what they had.
        results = chosen(stepped())
    else:
        results = tf.cond(time >= longest, lambda: flat_zeros + flat_state, stepped_with_care)
    for result, like in zip(results, flat_zeros + flat_state):
        if not isinstance(result, TensorArray):
            result.set_shape(like.get_shape())
    count = len(flat_zeros)
    return (
        nest.pack_sequence_as(structure=zero_output, flat_sequence=results[:count]),
        nest.pack_sequence_as(structure=state, flat_sequence=results[count:]),
    )
