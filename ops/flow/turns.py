# SPDX-License-Identifier: Apache-2.0
"""Turns that do not depend on each other, stacked: a loop of them, or one after another.

A loop is small and fast, and does for nearly all functions of a turn's number.  It does not for
gradients of what stands outside: the gradient of a loop takes back, once, what the loop has put
away, and the gradients of a tensor array add up in one other array.  Such turns are made one after
another, each with nodes of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.operation import Operation
from ...engine.types.shape import TensorShape
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

_GRADIENT_ARRAYS = ("TensorArrayGrad", "TensorArrayGradV2", "TensorArrayGradV3")
_MOST_TURNS = (
    "its turns take gradients of a loop, or of a tensor array, outside, for which each needs nodes "
    "of its own, and only a run knows how many there are: give the tensors sizes"
)


def stacked_turns(
    turn: Callable[[Any], list[Any]], iters: TensorLike, parallel_iterations: int | None, name: str
) -> list[Any]:
    """What each turn gives, stacked.

    Args:
        turn: takes a number; returns a list of tensors, or None in the places of some.
        iters: how many turns.
        parallel_iterations: as of tf.while_loop, if there is a loop.
        name: who asks, for errors.

    Returns:
        A tensor for each of the list, or None.

    Raises:
        NotImplementedError: turns cannot be in a loop, and it is not known how many there are.
    """
    before = set(tf.get_default_graph().get_operations())
    first = turn(tf.constant(0))
    made = [op for op in tf.get_default_graph().get_operations() if op not in before]
    count = constant_value(convert_to_tensor(iters))
    if goes_on(made, before):
        if count is None:
            raise NotImplementedError(f"{name}: {_MOST_TURNS}")
        return _one_after_another(turn, first, int(count))
    from .parallel_for import for_loop

    kinds = [tf.int32 if x is None else convert_to_tensor(x).dtype for x in first]
    found: list[Any] = for_loop(turn, kinds, iters, parallel_iterations)
    for rows in found:
        if rows is not None and count is not None and rows.shape.ndims:
            rows.set_shape(TensorShape([int(count)]).concatenate(rows.shape[1:]))
    return found


def _one_after_another(turn: Callable[[Any], list[Any]], first: list[Any], count: int) -> list[Any]:
    turns = [first, *(turn(tf.constant(i)) for i in range(1, count))]
    # Without any turn there is still the shape of one.
    return [None if row[0] is None else tf.stack(row)[:count] for row in zip(*turns)]


def goes_on(made: Iterable[Operation], before: set[Operation]) -> bool:
    """Whether among new nodes there are gradients of loops, or of tensor arrays, from before."""
    return any(_is_of_loop(op, before) or _is_of_array(op, before) for op in made)


def _is_of_loop(op: Operation, before: set[Operation]) -> bool:
    context = op._get_control_flow_context()
    while context is not None:
        if context.IsWhileContext() and context.grad_state is not None:
            forward = context.grad_state.forward_context
            if forward.pivot is not None and forward.pivot.op in before:
                return True
        context = context.outer_context
    return False


def _is_of_array(op: Operation, before: set[Operation]) -> bool:
    return op.type in _GRADIENT_ARRAYS and op.inputs[0].op in before
