# SPDX-License-Identifier: Apache-2.0
"""`Decoder`, what takes one step, and `dynamic_decode`, the loop around it."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import get_default_graph
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape
from ....ops.flow.tensor_array import TensorArray
from ....ops.public import tf
from ...rnn.cell import zero_state_tensors
from ...rnn.step import transpose_batch_time

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.tensor import Tensor
    from ....ops.state.scope_defaults import VariableScope
    from ..structures import Structure


class AnyDecoder:
    """What decoders have in common, those that are layers of Keras (decoder_layer.py), too."""

    @property
    def batch_size(self) -> Any:
        """How many sequences there are."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The sizes of an output of one step, without the batch: a structure."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """Their dtypes: a structure of that kind."""
        raise NotImplementedError

    def finalize(self, outputs: Structure, final_state: Structure, sequence_lengths: Tensor) -> Any:
        """(outputs, state) that dynamic_decode gives, made of those of the loop."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether what a step says of the end is all; else what is finished stays so."""
        return False


@export("contrib.seq2seq.Decoder")
class Decoder(AnyDecoder, metaclass=abc.ABCMeta):
    """What `dynamic_decode` calls step by step (tf.contrib.seq2seq.Decoder).

    Subclasses have `batch_size`, `output_size`, `output_dtype`, `initialize` and `step`, and may
    have `finalize`.
    """

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """(finished [batch], first inputs, first state)."""

    @abc.abstractmethod
    def step(
        self, time: Tensor, inputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """(outputs, next state, next inputs, finished), at a step of that number."""


def _element_shape(batch_size: TensorLike, shape: object) -> TensorShape | None:
    if not isinstance(shape, TensorShape) or shape.ndims == 0:
        return None
    known = constant_value(convert_to_tensor(batch_size, name="batch_size"))
    return TensorShape([known]).concatenate(shape)


def _copied(finished: Tensor, new: Structure, old: Structure) -> Any:
    """The new state where a sequence goes on, the old one where it is finished."""
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else tf.where(finished, old, new)


def _body(decoder: Any, impute_finished: bool, zero_outputs: Any) -> Callable[..., Any]:
    def body(
        time: Structure,
        arrays: Any,
        state: Structure,
        inputs: Structure,
        finished: Tensor,
        lengths: Tensor,
    ) -> tuple[Any, ...]:
        outputs, next_state, next_inputs, ended = decoder.step(time, inputs, state)
        over = ended if decoder.tracks_own_finished else tf.logical_or(ended, finished)
        going = tf.logical_not(finished)
        next_lengths = tf.where(going, tf.fill(tf.shape(lengths), time + 1), lengths)
        for old, new in ((state, next_state), (arrays, outputs), (inputs, next_inputs)):
            nest.assert_same_structure(old, new)
        emitted = outputs
        if impute_finished:
            emitted = nest.map_structure(
                lambda out, zero: tf.where(finished, zero, out), outputs, zero_outputs
            )
            next_state = nest.map_structure(
                lambda new, old: _copied(finished, new, old), next_state, state
            )
        arrays = nest.map_structure(lambda array, out: array.write(time, out), arrays, emitted)
        return time + 1, arrays, next_state, next_inputs, over, next_lengths

    return body


def _is_in_loop() -> bool:
    context = get_default_graph()._get_control_flow_context()
    while context is not None:
        if context.IsWhileContext():
            return True
        context = context.outer_context
    return False


def _initialized(decoder: Any, given: dict[str, Any]) -> Any:
    """(finished, first inputs, first state): layers have inputs only when they are called."""
    if isinstance(decoder, Decoder):
        return decoder.initialize()
    begin = given.get("decoder_init_kwargs", {})
    return decoder.initialize(given.get("decoder_init_input"), **begin)


def _most_steps(maximum_iterations: TensorLike) -> Tensor:
    most = convert_to_tensor(maximum_iterations, dtype=dtypes.int32, name="maximum_iterations")
    if most.get_shape().ndims != 0:
        raise ValueError("maximum_iterations must be a scalar")
    return most


def _output_arrays(decoder: AnyDecoder, sizes: Structure, kinds: Structure) -> Structure:
    """Arrays that grow with the steps, as outputs are structured."""

    def array(size: object, dtype: DTypeLike) -> TensorArray:
        shape = _element_shape(decoder.batch_size, size)
        return TensorArray(dtype=dtype, size=0, dynamic_size=True, element_shape=shape)

    return nest.map_structure(array, sizes, kinds)


@export("contrib.seq2seq.dynamic_decode")
def dynamic_decode(
    decoder: AnyDecoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: TensorLike | None = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: VariableScope | str | None = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """All steps of a decoder, until all sequences are finished (tf.contrib.seq2seq.dynamic_decode).

    Args:
        decoder: a Decoder.
        output_time_major: whether outputs are [time, batch, ...].
        impute_finished: whether outputs of what is finished are zeros, and its state stays.
        maximum_iterations: the most steps, an int32 scalar; None for no bound.
        parallel_iterations, swap_memory: as tf.while_loop.
        scope: the variable scope, "decoder" if None.
        **kwargs: `decoder_init_input` and `decoder_init_kwargs`, what a decoder that is a layer
            begins with.

    Returns:
        The outputs as `output_size` is structured, the last state, and the lengths [batch].

    Raises:
        TypeError: `decoder` is no Decoder.
        ValueError: maximum_iterations is no scalar.

    Example:
        >>> helper = tf.contrib.seq2seq.TrainingHelper(tf.zeros([2, 5, 3]), [5, 2])
        >>> cell = tf.nn.rnn_cell.GRUCell(4)
        >>> decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, cell.zero_state(2, tf.float32))
        >>> outputs, state, lengths = tf.contrib.seq2seq.dynamic_decode(decoder)
        >>> print(outputs.rnn_output.shape, state.shape)
        (2, ?, 4) (2, 4)
    """
    if not isinstance(decoder, AnyDecoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with tf.variable_scope(scope, "decoder") as opened:
        if not _is_in_loop() and opened.caching_device is None:
            opened.set_caching_device(lambda op: op.device)
        most = None if maximum_iterations is None else _most_steps(maximum_iterations)
        finished, inputs, state = _initialized(decoder, kwargs)
        sizes, kinds, batch = decoder.output_size, decoder.output_dtype, decoder.batch_size
        zero_outputs = nest.map_structure(
            lambda size, dtype: zero_state_tensors(size, batch, dtype), sizes, kinds
        )
        if most is not None:
            finished = tf.logical_or(finished, most <= 0)
        lengths = tf.zeros_like(finished, dtype=dtypes.int32)
        time = tf.constant(0, dtype=dtypes.int32)
        arrays = _output_arrays(decoder, sizes, kinds)
        result = tf.while_loop(
            lambda _time, _arrays, _state, _inputs, done, _lengths: tf.logical_not(
                tf.reduce_all(done)
            ),
            _body(decoder, impute_finished, zero_outputs),
            loop_vars=(time, arrays, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=most,
            swap_memory=swap_memory,
        )
        final_state, final_lengths = result[2], result[5]
        outputs = nest.map_structure(lambda made: made.stack(), result[1])
        try:
            outputs, final_state = decoder.finalize(outputs, final_state, final_lengths)
        except NotImplementedError:
            pass  # There is nothing to add to what the loop gives.
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, final_state, final_lengths
