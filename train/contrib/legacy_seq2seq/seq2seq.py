# SPDX-License-Identifier: Apache-2.0
"""Decoders over lists of inputs: a plain one, one of symbols, and both with attention."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes, nest
from ....ops.nn.bias import xw_plus_b
from ....ops.nn.conv_public import conv2d
from ....ops.nn.embedding import embedding_lookup
from ....ops.nn.softmax import softmax
from ....ops.public import tf
from ..rnn.parts import Linear

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ...rnn.cell import RNNCell
    from ..structures import Structure

# What makes the next input of a decoder of its last output and the number of the step.
LoopFunction = Callable[[Any, int], Any]
# Weights and biases of what makes scores of symbols of a decoder's output.
Projection = tuple[Any, Any]
Decoded = tuple[list[Tensor], Any]


def _extract_argmax_and_embed(
    embedding: Any, output_projection: Projection | None = None, update_embedding: bool = True
) -> LoopFunction:
    """A loop function: the embedding of the symbol that has the greatest score."""

    def loop_function(prev: Any, _: int) -> Any:
        if output_projection is not None:
            prev = xw_plus_b(prev, output_projection[0], output_projection[1])
        embedded = embedding_lookup(embedding, tf.argmax(prev, 1))
        return embedded if update_embedding else tf.stop_gradient(embedded)

    return loop_function


def check_projection(
    projection: Projection, num_symbols: int, dtype: DTypeLike | None, weights: bool = True
) -> None:
    """Raises ValueError unless a projection has as many columns as there are symbols."""
    if weights:
        matrix = tf.convert_to_tensor(projection[0], dtype=dtype)
        matrix.get_shape().assert_is_compatible_with([None, num_symbols])
    biases = tf.convert_to_tensor(projection[1], dtype=dtype)
    biases.get_shape().assert_is_compatible_with([num_symbols])


def _next_input(loop_function: LoopFunction | None, prev: object, step: int, given: object) -> Any:
    if loop_function is None or prev is None:
        return given
    with tf.variable_scope("loop_function", reuse=True):
        return loop_function(prev, step)


@export("contrib.legacy_seq2seq.rnn_decoder")
def rnn_decoder(
    decoder_inputs: Iterable[Tensor],
    initial_state: Structure,
    cell: RNNCell,
    loop_function: LoopFunction | None = None,
    scope: object = None,
) -> Decoded:
    """Unrolls a cell from a state on (tf.contrib.legacy_seq2seq.rnn_decoder).

    Args:
        decoder_inputs: matrices [batch, size], one per step.
        initial_state: where the cell begins.
        cell: the cell.
        loop_function: a function(previous output, step) that gives the inputs behind the first;
            `decoder_inputs` then says only how many steps there are.
        scope: the variable scope; "rnn_decoder" if None.

    Returns:
        The outputs of the steps and the last state.

    Example:
        >>> cell = tf.nn.rnn_cell.GRUCell(4)
        >>> outputs, state = tf.contrib.legacy_seq2seq.rnn_decoder(
        ...     [tf.zeros([2, 3])] * 5, cell.zero_state(2, tf.float32), cell)
        >>> print(len(outputs), state.shape)
        5 (2, 4)
    """
    with tf.variable_scope(scope or "rnn_decoder"):
        state, outputs, prev = initial_state, [], None
        for i, given in enumerate(decoder_inputs):
            fed = _next_input(loop_function, prev, i, given)
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(fed, state)
            outputs.append(output)
            prev = output
    return outputs, state


@export("contrib.legacy_seq2seq.embedding_rnn_decoder")
def embedding_rnn_decoder(
    decoder_inputs: Sequence[Tensor],
    initial_state: Structure,
    cell: RNNCell,
    num_symbols: int,
    embedding_size: int,
    output_projection: Projection | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: object = None,
) -> Decoded:
    """`rnn_decoder` of embedded symbols (tf.contrib.legacy_seq2seq.embedding_rnn_decoder).

    Args:
        decoder_inputs: int vectors [batch] of symbols, one per step.
        initial_state: where the cell begins.
        cell: the cell.
        num_symbols: how many symbols there are.
        embedding_size: the size of what stands for one.
        output_projection: (weights, biases) that make scores of outputs, if outputs are no scores.
        feed_previous: whether each step gets the best symbol of the step before it.
        update_embedding_for_previous: whether gradients flow to the embeddings of those.
        scope: the variable scope; "embedding_rnn_decoder" if None.

    Returns:
        The outputs of the steps and the last state.

    Raises:
        ValueError: `output_projection` has another shape.
    """
    with tf.variable_scope(scope or "embedding_rnn_decoder") as entered:
        if output_projection is not None:
            check_projection(output_projection, num_symbols, entered.dtype)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = _extract_argmax_and_embed(
                embedding, output_projection, update_embedding_for_previous
            )
        # Each is looked up when its step is built, as in TensorFlow.
        embedded = (embedding_lookup(embedding, symbols) for symbols in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)


class _Attention:
    """What the heads know of the states that are attended to, and what they read of them."""

    def __init__(self, states: Tensor, num_heads: int, dtype: dtypes.DType) -> None:
        self._dtype = dtype
        self._length = states.get_shape()[1].value
        if self._length is None:
            self._length = tf.shape(states)[1]
        size = self.size = states.get_shape()[2].value
        self._hidden = tf.reshape(states, [-1, self._length, 1, size])
        self._features, self._v = [], []
        for a in range(num_heads):
            # A product by a matrix, state by state, that TensorFlow wrote as a convolution.
            k = tf.get_variable(f"AttnW_{a}", [1, 1, size, size], dtype=dtype)
            self._features.append(conv2d(self._hidden, k, [1, 1, 1, 1], "SAME"))
            self._v.append(tf.get_variable(f"AttnV_{a}", [size], dtype=dtype))

    def nothing(self, batch_size: Tensor) -> list[Tensor]:
        """Zeros for what has not been read yet."""
        shape = tf.stack([batch_size, self.size])
        read = [tf.zeros(shape, dtype=self._dtype) for _ in self._v]
        for one in read:
            one.set_shape([None, self.size])
        return read

    def read(self, query: Structure) -> list[Tensor]:
        """What each head reads for a state of the cell."""
        if nest.is_sequence(query):
            parts = nest.flatten(query)
            assert all(part.get_shape().ndims in (None, 2) for part in parts)
            query = tf.concat(parts, 1)
        return [self._read_by(a, query) for a in range(len(self._v))]

    def _read_by(self, head: int, query: Tensor) -> Tensor:
        with tf.variable_scope(f"Attention_{head}"):
            y = Linear(query, self.size, True)(query)
            y = tf.cast(tf.reshape(y, [-1, 1, 1, self.size]), self._dtype)
            scores = tf.reduce_sum(self._v[head] * tf.tanh(self._features[head] + y), [2, 3])
            weights = softmax(tf.cast(scores, dtype=dtypes.float32))
            weights = tf.reshape(tf.cast(weights, self._dtype), [-1, self._length, 1, 1])
            return tf.reshape(tf.reduce_sum(weights * self._hidden, [1, 2]), [-1, self.size])


def _joined(parts: Sequence[Tensor], size: int, dtype: dtypes.DType) -> Tensor:
    cast = [tf.cast(part, dtype) for part in parts]
    product: Tensor = Linear(cast, size, True)(cast)
    return product


def _check_attention(inputs: Sequence[Tensor], heads: int, states: Tensor) -> None:
    if not inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    if states.get_shape()[2].value is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {states.get_shape()}")


@export("contrib.legacy_seq2seq.attention_decoder")
def attention_decoder(
    decoder_inputs: Sequence[Tensor],
    initial_state: Structure,
    attention_states: Tensor,
    cell: RNNCell,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: LoopFunction | None = None,
    dtype: DTypeLike | None = None,
    scope: object = None,
    initial_state_attention: bool = False,
) -> Decoded:
    """`rnn_decoder` that attends to states (tf.contrib.legacy_seq2seq.attention_decoder).

    Args:
        decoder_inputs: matrices [batch, size], one per step.
        initial_state: where the cell begins.
        attention_states: [batch, length, size], what is attended to.
        cell: the cell.
        output_size: the size of outputs; the cell's if None.
        num_heads: how many attentions there are.
        loop_function: as for `rnn_decoder`.
        dtype: of the variables; the scope's if None.
        scope: the variable scope; "attention_decoder" if None.
        initial_state_attention: whether the first step reads by the first state; else it gets
            zeros.

    Returns:
        The outputs of the steps and the last state.

    Raises:
        ValueError: there are no inputs or heads, or the size of the states is unknown.
    """
    _check_attention(decoder_inputs, num_heads, attention_states)
    output_size = cell.output_size if output_size is None else output_size
    with tf.variable_scope(scope or "attention_decoder", dtype=dtype) as entered:
        kind = entered.dtype
        batch_size = tf.shape(decoder_inputs[0])[0]
        attention = _Attention(attention_states, num_heads, kind)
        state, outputs, prev = initial_state, [], None
        read = attention.nothing(batch_size)
        if initial_state_attention:
            read = attention.read(initial_state)
        for i, given in enumerate(decoder_inputs):
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            fed = _next_input(loop_function, prev, i, given)
            size = fed.get_shape().with_rank(2)[1].value
            if size is None:
                raise ValueError(f"Could not infer input size from input: {fed.name}")
            cell_output, state = cell(_joined([fed, *read], size, kind), state)
            if i == 0 and initial_state_attention:
                # The first state was read with these variables already.
                with tf.variable_scope(tf.get_variable_scope(), reuse=True):
                    read = attention.read(state)
            else:
                read = attention.read(state)
            with tf.variable_scope("AttnOutputProjection"):
                output = _joined([cell_output, *read], output_size, kind)
            prev = output
            outputs.append(output)
    return outputs, state


@export("contrib.legacy_seq2seq.embedding_attention_decoder")
def embedding_attention_decoder(
    decoder_inputs: Sequence[Tensor],
    initial_state: Structure,
    attention_states: Tensor,
    cell: RNNCell,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Projection | None = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: DTypeLike | None = None,
    scope: object = None,
    initial_state_attention: bool = False,
) -> Decoded:
    """`attention_decoder` of embedded symbols (legacy_seq2seq.embedding_attention_decoder).

    Args:
        decoder_inputs: int vectors [batch] of symbols, one per step.
        initial_state, attention_states, cell, num_heads, output_size, dtype,
            initial_state_attention: as for `attention_decoder`.
        num_symbols, embedding_size, output_projection, feed_previous,
            update_embedding_for_previous: as for `embedding_rnn_decoder`.
        scope: the variable scope; "embedding_attention_decoder" if None.

    Returns:
        The outputs of the steps and the last state.

    Raises:
        ValueError: the biases of `output_projection` have another shape.
    """
    output_size = cell.output_size if output_size is None else output_size
    if output_projection is not None:
        check_projection(output_projection, num_symbols, dtype, weights=False)
    with tf.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = _extract_argmax_and_embed(
                embedding, output_projection, update_embedding_for_previous
            )
        embedded = [embedding_lookup(embedding, symbols) for symbols in decoder_inputs]
        return attention_decoder(
            embedded,
            initial_state,
            attention_states,
            cell,
            output_size=output_size,
            num_heads=num_heads,
            loop_function=loop_function,
            initial_state_attention=initial_state_attention,
        )
