# SPDX-License-Identifier: Apache-2.0
"""`Recurrent`: a function of state and input over the steps of sequences.

TensorFlow makes functions of it that are called in a loop; here it is a loop of nodes, which the
compiler takes as it is. A gradient that is given for the function is used by a loop backwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes, nest
from ....ops.flow.custom_gradient import custom_gradient
from ....ops.public import tf
from ..structures import Structure

if TYPE_CHECKING:
    from ....ops.flow.tensor_array import TensorArray

# A function of theta, state and the input of a step, which gives the next state and extras.
CellFn = Callable[[Any, Any, Any], tuple[Any, Any]]


def _array(tensor: Structure) -> TensorArray:
    """A tensor as an array that loops read, one row at a time."""
    return tf.TensorArray(tensor.dtype, size=tf.shape(tensor)[0]).unstack(tensor)


def _rows(arrays: list[Any], like: list[Any]) -> list[Any]:
    """Arrays that loops have written as tensors, each row like a given tensor."""
    stacked = [array.stack() for array in arrays]
    for tensor, row in zip(stacked, like):
        tensor.set_shape([None, *row.shape] if row.shape.dims is not None else None)
    return stacked


class _Steps:
    """Which steps of sequences are taken.

    Args:
        inputs: sequences [steps, ...].
        count: how many steps are taken; all if None.
        from_end: whether the last ones are taken.
    """

    def __init__(self, inputs: Structure, count: Any, from_end: bool) -> None:
        first = nest.flatten(inputs)[0]
        self.total = tf.shape(first)[0]
        self.static = first.shape[0].value if first.shape.dims else None
        self.all = count is None
        self.count = self.total if count is None else tf.cast(count, dtypes.int32)
        self.start = self.total - self.count if from_end and not self.all else 0

    def taken(self, tensor: Structure) -> Any:
        """The rows of these steps."""
        return tensor if self.all else tensor[self.start : self.start + self.count]

    def filled(self, tensor: Structure) -> Any:
        """These steps' rows among all, of which the others are 0."""
        if not self.all:
            shape = tf.shape(tensor)[1:]
            after = self.total - self.start - self.count
            zeros = [
                tf.zeros(tf.concat([[n], shape], 0), tensor.dtype) for n in (self.start, after)
            ]
            static = tensor.shape[1:]
            tensor = tf.concat([zeros[0], tensor, zeros[1]], 0)
            tensor.set_shape([self.static, *static])
        return tensor


def scan(
    step: Callable[[Any, Any], tuple[Any, Any]],
    state0: Structure,
    inputs: Structure,
    count: Any,
    like: Any,
) -> tuple[Any, Any]:
    """What a function gives at every step, and the last state.

    Args:
        step: a function of the state and a step's input; gives results and the next state.
        state0: the first state.
        inputs: tensors [count, ...].
        count: how many steps there are.
        like: tensors of the results' types and shapes.

    Returns:
        Results [count, ...] and the last state.
    """
    sources = [_array(tensor) for tensor in nest.flatten(inputs)]
    kinds = nest.flatten(like)
    arrays = [tf.TensorArray(kind.dtype, size=count) for kind in kinds]
    shapes = [tensor.shape for tensor in nest.flatten(state0)]

    def body(t: Any, state: list[Any], found: list[Any]) -> Any:
        for tensor, shape in zip(state, shapes):
            tensor.set_shape(shape)
        now = [source.read(t) for source in sources]
        for row, tensor in zip(now, nest.flatten(inputs)):
            row.set_shape(tensor.shape[1:])
        packed = nest.pack_sequence_as(state0, state)
        results, state1 = step(packed, nest.pack_sequence_as(inputs, now))
        written = [array.write(t, value) for array, value in zip(found, nest.flatten(results))]
        after = nest.flatten(state1)
        for tensor, shape in zip(after, shapes):
            tensor.set_shape(shape)  # Functions in functions do not know the shapes.
        return t + 1, after, written

    first = [tf.identity(tensor) for tensor in nest.flatten(state0)]
    _, last, found = tf.while_loop(
        lambda t, *unused: t < count,
        body,
        (tf.constant(0), first, arrays),
    )
    rows = _rows(found, kinds)
    return nest.pack_sequence_as(like, rows), nest.pack_sequence_as(state0, last)


def _forward(
    cell_fn: CellFn,
    theta: Structure,
    state0: Structure,
    inputs: Structure,
    extras: Structure,
    steps: _Steps,
) -> tuple[Any, Any, Any]:
    """All states and extras of the steps that are taken, and the last state."""

    def step(state: Structure, now: Any) -> tuple[Any, Any]:
        state1, more = cell_fn(theta, state, now)
        return [state1, more], state1

    taken = nest.map_structure(steps.taken, inputs)
    (states, more), last = scan(step, state0, taken, steps.count, [state0, extras])
    return states, more, last


def _zeros_for_none(gradients: Any, like: Any) -> list[Any]:
    found = nest.flatten(gradients)
    return [tf.zeros_like(x) if g is None else g for g, x in zip(found, nest.flatten(like))]


def _backward(
    cell_grad: Callable[..., Any],
    given: Structure,
    states: Structure,
    extras: Structure,
    upstream: tuple[Any, Any],
    steps: _Steps,
) -> list[Any]:
    """The gradients of theta, state0 and inputs, by a loop over the steps from the last one."""
    theta, state0, inputs = given
    d_states, d_last = upstream

    def before(first: Any, later: Any) -> Tensor:
        return tf.concat([tf.expand_dims(first, 0), later[:-1]], 0)

    previous = nest.map_structure(before, state0, states)
    taken = nest.map_structure(steps.taken, inputs)
    backwards = nest.map_structure(
        lambda tensor: tf.reverse(tensor, [0]), [previous, taken, extras, d_states]
    )

    def step(carried: Any, now: Any) -> tuple[Any, Any]:
        (d_theta, d_state), (state, step_inputs, more, d_here) = carried, now
        d_state = nest.map_structure(tf.add, d_here, d_state)
        parts = cell_grad(theta, state, step_inputs, more, d_state)
        d_theta_now, d_before, d_inputs = (
            nest.pack_sequence_as(like, _zeros_for_none(part, like))
            for part, like in zip(parts, (theta, state, step_inputs))
        )
        d_theta = nest.map_structure(tf.add, d_theta, d_theta_now)
        return d_inputs, (d_theta, d_before)

    start = (nest.map_structure(tf.zeros_like, theta), d_last)
    rows = nest.map_structure(lambda tensor: tensor[0], inputs)
    d_inputs, (d_theta, d_state0) = scan(step, start, backwards, steps.count, rows)

    def placed(tensor: Structure) -> Any:
        return steps.filled(tf.reverse(tensor, [0]))

    return nest.flatten([d_theta, d_state0, nest.map_structure(placed, d_inputs)])


def _is_single_step(inputs: Structure, max_input_length: Any) -> bool:
    if max_input_length is not None and not isinstance(max_input_length, Tensor):
        return bool(max_input_length == 1)
    return all(
        tensor.shape.dims is not None and tensor.shape[0].value == 1
        for tensor in nest.flatten(inputs)
    )


@export("contrib.recurrent.Recurrent")
def Recurrent(
    theta: Structure,
    state0: Structure,
    inputs: Structure,
    cell_fn: CellFn,
    cell_grad: Callable[..., Any] | None = None,
    extras: Structure = None,
    max_input_length: Any = None,
    use_tpu: bool = False,
    aligned_end: bool = False,
) -> tuple[Any, Any]:
    """A function of state and input over the steps of sequences (tf.contrib.recurrent.Recurrent).

    Args:
        theta: the parameters, a tensor or tensors in tuples, lists or dicts.
        state0: the first state.
        inputs: sequences, [steps, ...].
        cell_fn: a function of theta, a state and the input of a step; gives the next state and
            extras, which `cell_grad` gets.
        cell_grad: its gradient: a function of theta, state, input, extras and the gradient of the
            next state; gives those of theta, state and input. Found if None.
        extras: tensors like the extras of a step; found if None.
        max_input_length: how many steps are taken; all if None.
        use_tpu: is not looked at.
        aligned_end: whether the last steps are taken, rather than the first.

    Returns:
        The states after every step, [steps, ...], which are 0 for those that are not taken, and
        the last state.

    Example:
        >>> total, last = tf.contrib.recurrent.Recurrent(
        ...     [], tf.constant(0.0), tf.constant([1.0, 2.0, 3.0]),
        ...     lambda theta, state, x: (state + x, []))
        >>> print(tf.Session().run(total))
        [1. 3. 6.]
    """
    del use_tpu
    given = nest.map_structure(convert_to_tensor, [theta, state0, inputs])
    theta, state0, inputs = given
    if cell_grad is None and _is_single_step(inputs, max_input_length):
        now = nest.map_structure(lambda tensor: tf.squeeze(tensor, axis=0), inputs)
        state1, _ = cell_fn(theta, state0, now)
        return nest.map_structure(lambda tensor: tf.expand_dims(tensor, axis=0), state1), state1
    if extras is None:
        _, found = cell_fn(theta, state0, nest.map_structure(lambda tensor: tensor[0], inputs))
        extras = nest.map_structure(tf.zeros_like, found)
    steps = _Steps(inputs, max_input_length, aligned_end)
    if cell_grad is None:
        states, _, last = _forward(cell_fn, theta, state0, inputs, extras, steps)
        return nest.map_structure(steps.filled, states), last
    gradient = cell_grad

    @custom_gradient
    def run(*flat: Any) -> Any:
        inside: list[Any] = nest.pack_sequence_as(given, flat)
        states, more, last = _forward(cell_fn, inside[0], inside[1], inside[2], extras, steps)
        result = [nest.map_structure(steps.filled, states), last]

        def grad(*upstream: Any) -> list[Any]:
            d_states, d_last = nest.pack_sequence_as(result, upstream)
            d_states = nest.map_structure(steps.taken, d_states)
            return _backward(gradient, inside, states, more, (d_states, d_last), steps)

        return nest.flatten(result), grad

    return tuple(nest.pack_sequence_as([state0, state0], run(*nest.flatten(given))))
