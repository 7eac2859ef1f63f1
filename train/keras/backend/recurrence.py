# SPDX-License-Identifier: Apache-2.0
"""`K.rnn`: a step function along the time axis, as a loop or written out, with masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.graph.tensor import Tensor
from ....engine.types import nest
from ....ops.public import tf

if TYPE_CHECKING:
    from ....ops.flow.tensor_array import TensorArray


def rnn(
    step_function: Callable[..., Any],
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Sequence[Any] | None = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, Any]:
    """Applies a function to each step of sequences.

    Args:
        step_function: (input of a step, states and constants) -> (output, new states).
        inputs: tensors [batch, time, …].
        initial_states: the states before the first step.
        go_backwards: whether the last step comes first.
        mask: [batch, time], or with one more axis: where it is false, outputs and states stay.
        constants: passed on behind the states.
        unroll: whether the steps are written out, for a known number of them.
        input_length: a bound on the number of steps.
        time_major: whether the time is the first axis.
        zero_output_for_mask: whether outputs are zero where the mask is false.

    Returns:
        The last output, all outputs and the last states.

    Raises:
        ValueError: steps of unknown number are to be written out, or a mask comes without states.
    """
    if not time_major:
        inputs = nest.map_structure(_time_first, inputs)
    flat = nest.flatten(inputs)
    steps, batch = flat[0].shape[0].value, flat[0].shape[1]
    count = tf.shape(flat[0])[0]
    if mask is not None:
        mask = tf.cast(mask, tf.bool) if mask.dtype != tf.bool else mask
        mask = tf.expand_dims(mask, -1) if mask.shape.ndims == 2 else mask
        mask = mask if time_major else _time_first(mask)
    if unroll and not steps:
        raise ValueError("Unrolling requires a fixed number of timesteps.")
    run = _Run(step_function, inputs, initial_states, tuple(constants or ()), zero_output_for_mask)
    if unroll:
        last, outputs, states = run.written_out(steps, mask, go_backwards)
    else:
        last, outputs, states = run.loop(count, mask, go_backwards, input_length)

    def sized(x: Any) -> Any:
        x.set_shape([steps, batch, *x.shape.as_list()[2:]])
        return x if time_major else _time_first(x)

    return last, nest.map_structure(sized, outputs), states


def _time_first(x: Any) -> Any:
    """The tensor with its first two axes in turn."""
    return tf.transpose(x, [1, 0, *range(2, x.shape.ndims)])


def _mask_like(mask: Any, x: Any, fixed: int = 1) -> Any:
    """A mask in the shape of a tensor: `tf.where` takes no other."""
    for _ in range(x.shape.ndims - mask.shape.ndims):
        mask = tf.expand_dims(mask, -1)
    return tf.tile(mask, [1] * fixed + x.shape.as_list()[fixed:])


class _Run:
    """One application of a step function to sequences whose first axis is the time."""

    def __init__(
        self, step: Any, inputs: Any, states: Any, constants: tuple[Any, ...], zeroes: bool
    ) -> None:
        self.step = step
        self.inputs = inputs
        self.states = tuple(states)
        self.structure = states
        self.constants = constants
        self.zeroes = zeroes

    def _step(self, flat_inputs: Sequence[Any], states: Any) -> tuple[Any, Any]:
        one = nest.pack_sequence_as(self.inputs, list(flat_inputs))
        return self.step(one, (*states, *self.constants))  # type: ignore[no-any-return]

    def written_out(self, steps: int, mask: Any, backwards: bool) -> tuple[Any, Any, Any]:
        parts = [tf.unstack(x) for x in nest.flatten(self.inputs)]
        masks = None if mask is None else tf.unstack(mask)
        order = range(steps)
        if backwards:
            parts = [part[::-1] for part in parts]
            masks = masks and masks[::-1]
        states: Any = self.states
        outputs: list[Any] = []
        for time in order:
            output, new = self._step([part[time] for part in parts], states)
            if masks is not None:
                before = outputs[-1] if outputs else tf.zeros_like(output)
                output = tf.where(_mask_like(masks[time], output), output, before)
                new = [tf.where(_mask_like(masks[time], x), x, old) for old, x in zip(states, new)]
            states = new
            outputs.append(output)
        last, whole = outputs[-1], tf.stack(outputs)
        if masks is not None and self.zeroes:
            last = tf.where(_mask_like(masks[-1], last), last, tf.zeros_like(last))
            whole = tf.where(_mask_like(mask, whole, 2), whole, tf.zeros_like(whole))
        return last, whole, states

    def _require_states(self) -> None:
        if not self.states:
            raise ValueError(
                "No initial states provided! When using masking in an RNN, you should provide "
                "initial states (and your step function should return as its first state at "
                "time `t` the output at time `t-1`)."
            )

    def loop(self, count: Any, mask: Any, backwards: bool, bound: Any) -> tuple[Any, Any, Any]:
        flat = nest.flatten(self.inputs)
        arrays = _arrays_of(flat, count, backwards)
        # The first step, whose results are not used, tells dtypes and shapes of outputs.
        first, _ = self._step([x[0] for x in flat], self.states)
        results = _arrays_for(nest.flatten(first), count)
        time = tf.constant(0, dtype="int32", name="time")
        zeros: tuple[Any, ...] = ()
        masks = None
        if mask is not None:
            self._require_states()
            mask = tf.reverse(mask, [0]) if backwards else mask
            masks = tf.TensorArray(dtype=tf.bool, size=count, tensor_array_name="mask_ta")
            masks = masks.unstack(mask)
            zeros = tuple(tf.zeros_like(x) for x in nest.flatten(first))

        def body(time: Any, written: Any, before: Any, *states: Any) -> Any:
            current = [array.read(time) for array in arrays]
            at = None if masks is None else masks.read(time)
            output, new = self._step(current, states)
            made = nest.flatten(output)
            flat_new = _in_shape(nest.flatten(states), nest.flatten(new))
            if at is not None:
                made = _chosen(at, made, zeros if self.zeroes else before)
                flat_new = _chosen(at, flat_new, nest.flatten(states))
            written = tuple(array.write(time, x) for array, x in zip(written, made))
            packed = nest.pack_sequence_as(self.structure, flat_new)
            return (time + 1, written, tuple(made) if at is not None else (), *packed)

        final = tf.while_loop(
            cond=lambda time, *_: time < count,
            body=body,
            loop_vars=(time, results, zeros, *self.states),
            maximum_iterations=bound,
            parallel_iterations=32,
            swap_memory=True,
        )
        outputs = [array.stack() for array in final[1]]
        last = nest.pack_sequence_as(first, [x[-1] for x in outputs])
        return last, nest.pack_sequence_as(first, outputs), final[3:]


def _arrays_of(inputs: Sequence[Tensor], count: Tensor, backwards: bool) -> list[TensorArray]:
    """The steps of the inputs; all arrays are made before the first is filled, as in TensorFlow."""
    arrays = [
        tf.TensorArray(dtype=x.dtype, size=count, tensor_array_name=f"input_ta_{i}")
        for i, x in enumerate(inputs)
    ]
    return [
        array.unstack(tf.reverse(x, [0]) if backwards else x) for array, x in zip(arrays, inputs)
    ]


def _arrays_for(outputs: Sequence[Tensor], count: Tensor) -> tuple[TensorArray, ...]:
    """Arrays for the outputs of all steps, which are as those of one."""
    return tuple(
        tf.TensorArray(
            dtype=x.dtype, size=count, element_shape=x.shape, tensor_array_name=f"output_ta_{i}"
        )
        for i, x in enumerate(outputs)
    )


def _in_shape(states: Sequence[Any], new: list[Any]) -> list[Any]:
    for state, x in zip(states, new):
        if isinstance(x, Tensor):
            x.set_shape(state.shape)
    return new


def _chosen(mask: Any, new: Sequence[Any], old: Sequence[Any]) -> list[Any]:
    masks = [_mask_like(mask, x) for x in old]
    return [tf.where(m, x, y) for m, x, y in zip(masks, new, old)]
