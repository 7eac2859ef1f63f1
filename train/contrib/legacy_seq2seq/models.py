# SPDX-License-Identifier: Apache-2.0
"""Whole models: an encoder that is unrolled over a list of inputs, and a decoder behind it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes, nest
from ....ops.nn.embedding import embedding_lookup
from ....ops.public import tf
from ...rnn.cell import RNNCell
from ...rnn.static import static_rnn
from ..rnn.core_rnn_cell import EmbeddingWrapper, OutputProjectionWrapper
from .seq2seq import (
    Decoded,
    LoopFunction,
    Projection,
    _extract_argmax_and_embed,
    check_projection,
    embedding_attention_decoder,
    embedding_rnn_decoder,
    rnn_decoder,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ..structures import Structure

Inputs = Sequence[Tensor]


def _decoded(
    feed_previous: bool | Tensor,
    steps: int,
    decode: Callable[[bool, bool], Decoded],
    like: Callable[[], Structure],
) -> Decoded:
    """What a decoder gives, fed by itself or not; by a tensor, which says it at run time.

    Args:
        feed_previous: whether the decoder is fed by itself.
        steps: how many outputs there are.
        decode: decode(fed by itself, whether the models update embeddings of what they fed).
        like: gives the structure of the state.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def branch(fed: bool) -> list[Any]:
        # The branch that is built first makes the variables.
        with tf.variable_scope(tf.get_variable_scope(), reuse=None if fed else True):
            outputs, state = decode(fed, False)
        return outputs + (nest.flatten(state) if nest.is_sequence(state) else [state])

    both = tf.cond(feed_previous, lambda: branch(True), lambda: branch(False))
    flat, structure = both[steps:], like()
    state = nest.pack_sequence_as(structure, flat) if nest.is_sequence(structure) else flat[0]
    return both[:steps], state


def _embedded_cell(cell: RNNCell, symbols: int, size: int) -> EmbeddingWrapper:
    return EmbeddingWrapper(cell, embedding_classes=symbols, embedding_size=size)


@export("contrib.legacy_seq2seq.basic_rnn_seq2seq")
def basic_rnn_seq2seq(
    encoder_inputs: Inputs,
    decoder_inputs: Inputs,
    cell: RNNCell,
    dtype: DTypeLike = dtypes.float32,
    scope: object = None,
) -> Decoded:
    """An encoder and a decoder of vectors (tf.contrib.legacy_seq2seq.basic_rnn_seq2seq).

    Args:
        encoder_inputs, decoder_inputs: lists of matrices [batch, size], one per step.
        cell: the cell of the decoder; the encoder has a copy of it, with variables of its own.
        dtype: of the first state.
        scope: the variable scope; "basic_rnn_seq2seq" if None.

    Returns:
        The decoder's outputs, one per step, and its last state.

    Example:
        >>> outputs, state = tf.contrib.legacy_seq2seq.basic_rnn_seq2seq(
        ...     [tf.zeros([2, 3])] * 4, [tf.zeros([2, 3])] * 5, tf.nn.rnn_cell.GRUCell(7))
        >>> print(len(outputs), state.shape)
        5 (2, 7)
    """
    with tf.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


@export("contrib.legacy_seq2seq.tied_rnn_seq2seq")
def tied_rnn_seq2seq(
    encoder_inputs: Inputs,
    decoder_inputs: Inputs,
    cell: RNNCell,
    loop_function: LoopFunction | None = None,
    dtype: DTypeLike = dtypes.float32,
    scope: Any = None,
) -> Decoded:
    """`basic_rnn_seq2seq` whose encoder and decoder share variables (tied_rnn_seq2seq).

    Args:
        encoder_inputs, decoder_inputs, cell, dtype: as for `basic_rnn_seq2seq`.
        loop_function: as for `rnn_decoder`.
        scope: the variable scope; "tied_rnn_seq2seq" if None.

    Returns:
        The decoder's outputs, one per step, and its last state.
    """
    with tf.variable_scope("combined_tied_rnn_seq2seq"):
        inner = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=inner)
        tf.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=inner)


@export("contrib.legacy_seq2seq.embedding_rnn_seq2seq")
def embedding_rnn_seq2seq(
    encoder_inputs: Inputs,
    decoder_inputs: Inputs,
    cell: RNNCell,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Projection | None = None,
    feed_previous: bool | Tensor = False,
    dtype: DTypeLike | None = None,
    scope: object = None,
) -> Decoded:
    """An encoder and a decoder of symbols (tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq).

    Args:
        encoder_inputs, decoder_inputs: lists of int vectors [batch], one per step.
        cell: the cell of the decoder; the encoder has a copy of it.
        num_encoder_symbols, num_decoder_symbols: how many symbols there are.
        embedding_size: the size of what stands for one.
        output_projection: (weights, biases) that make scores of outputs; without it the outputs
            are scores.
        feed_previous: whether the decoder is fed by itself; a bool or a scalar tensor.
        dtype: of the variables; the scope's if None.
        scope: the variable scope; "embedding_rnn_seq2seq" if None.

    Returns:
        The decoder's outputs, one per step, and its last state.
    """
    with tf.variable_scope(scope or "embedding_rnn_seq2seq") as entered:
        if dtype is not None:
            entered.set_dtype(dtype)
        encoder = _embedded_cell(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, first = static_rnn(encoder, encoder_inputs, dtype=dtype or entered.dtype)
        decoder: RNNCell = cell
        if output_projection is None:
            decoder = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(fed: bool, update: bool) -> Decoded:
            return embedding_rnn_decoder(
                decoder_inputs,
                first,
                decoder,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=fed,
                update_embedding_for_previous=update,
            )

        return _decoded(feed_previous, len(decoder_inputs), decode, lambda: first)


@export("contrib.legacy_seq2seq.embedding_tied_rnn_seq2seq")
def embedding_tied_rnn_seq2seq(
    encoder_inputs: Inputs,
    decoder_inputs: Inputs,
    cell: RNNCell,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Projection | None = None,
    feed_previous: bool | Tensor = False,
    dtype: DTypeLike | None = None,
    scope: object = None,
) -> Decoded:
    """`embedding_rnn_seq2seq` whose encoder and decoder share all (embedding_tied_rnn_seq2seq).

    Args:
        encoder_inputs, decoder_inputs, cell, embedding_size, output_projection, feed_previous,
            dtype: as for `embedding_rnn_seq2seq`.
        num_symbols: how many symbols both have.
        num_decoder_symbols: how many scores the outputs have, if it is another number.
        scope: the variable scope; "embedding_tied_rnn_seq2seq" if None.

    Returns:
        The decoder's outputs, one per step, and its last state.

    Raises:
        ValueError: `output_projection` has another shape.
    """
    with tf.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as entered:
        kind = entered.dtype
        if output_projection is not None:
            check_projection(output_projection, num_symbols, kind)
        embedding = tf.get_variable("embedding", [num_symbols, embedding_size], dtype=kind)
        read = [embedding_lookup(embedding, symbols) for symbols in encoder_inputs]
        written = [embedding_lookup(embedding, symbols) for symbols in decoder_inputs]
        tied: RNNCell = cell
        if output_projection is None:
            scores = num_symbols if num_decoder_symbols is None else num_decoder_symbols
            tied = OutputProjectionWrapper(cell, scores)

        def decode(fed: bool, update: bool) -> Decoded:
            loop_function = None
            if fed:
                loop_function = _extract_argmax_and_embed(embedding, output_projection, update)
            return tied_rnn_seq2seq(read, written, tied, loop_function=loop_function, dtype=kind)

        def like() -> Structure:
            size = encoder_inputs[0].get_shape()[0]
            for one in encoder_inputs[1:]:
                size.merge_with(one.get_shape()[0])
            known = size.value
            return tied.zero_state(tf.shape(encoder_inputs[0])[0] if known is None else known, kind)

        return _decoded(feed_previous, len(decoder_inputs), decode, like)


@export("contrib.legacy_seq2seq.embedding_attention_seq2seq")
def embedding_attention_seq2seq(
    encoder_inputs: Inputs,
    decoder_inputs: Inputs,
    cell: RNNCell,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Projection | None = None,
    feed_previous: bool | Tensor = False,
    dtype: DTypeLike | None = None,
    scope: object = None,
    initial_state_attention: bool = False,
) -> Decoded:
    """`embedding_rnn_seq2seq` whose decoder attends to the encoder's outputs (legacy_seq2seq).

    Args:
        encoder_inputs, decoder_inputs, cell, num_encoder_symbols, num_decoder_symbols,
            embedding_size, output_projection, feed_previous, dtype: as for
            `embedding_rnn_seq2seq`.
        num_heads, initial_state_attention: as for `attention_decoder`.
        scope: the variable scope; "embedding_attention_seq2seq" if None.

    Returns:
        The decoder's outputs, one per step, and its last state.

    Example:
        >>> symbols = [tf.zeros([2], tf.int32)] * 3
        >>> outputs, state = tf.contrib.legacy_seq2seq.embedding_attention_seq2seq(
        ...     symbols, symbols, tf.nn.rnn_cell.GRUCell(7), 10, 11, embedding_size=5)
        >>> print(len(outputs), outputs[0].shape)
        3 (2, 11)
    """
    with tf.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as entered:
        encoder = _embedded_cell(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        read, first = static_rnn(encoder, encoder_inputs, dtype=entered.dtype)
        states = tf.concat([tf.reshape(one, [-1, 1, cell.output_size]) for one in read], 1)
        decoder, output_size = cell, None
        if output_projection is None:
            decoder = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(fed: bool, update: bool) -> Decoded:
            return embedding_attention_decoder(
                decoder_inputs,
                first,
                states,
                decoder,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=output_size,
                output_projection=output_projection,
                feed_previous=fed,
                update_embedding_for_previous=update,
                initial_state_attention=initial_state_attention,
            )

        return _decoded(feed_previous, len(decoder_inputs), decode, lambda: first)


def _check_cells(
    enc_cell: object, dec_cells: Mapping[str, object], decoder_inputs: Mapping[str, object]
) -> None:
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells) != set(decoder_inputs):
        raise ValueError(
            f"keys of dec_cells_dict != keys of decoder_inputs_dict: {sorted(dec_cells)} and "
            f"{sorted(decoder_inputs)}"
        )
    for one in dec_cells.values():
        if not isinstance(one, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(one)}")


def _one_of_many(
    inputs: Inputs,
    first: Structure,
    cell: RNNCell,
    symbols: int,
    size: int,
    feed_previous: bool | Tensor,
) -> Decoded:
    def decode(fed: bool, _: bool) -> Decoded:
        return embedding_rnn_decoder(inputs, first, cell, symbols, size, feed_previous=fed)

    return _decoded(feed_previous, len(inputs), decode, lambda: first)


@export("contrib.legacy_seq2seq.one2many_rnn_seq2seq")
def one2many_rnn_seq2seq(
    encoder_inputs: Inputs,
    decoder_inputs_dict: Mapping[str, Inputs],
    enc_cell: RNNCell,
    dec_cells_dict: Mapping[str, RNNCell],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: Mapping[str, int],
    embedding_size: int,
    feed_previous: bool | Tensor = False,
    dtype: DTypeLike | None = None,
    scope: object = None,
) -> tuple[dict[str, list[Tensor]], dict[str, Any]]:
    """An encoder of symbols with several decoders (legacy_seq2seq.one2many_rnn_seq2seq).

    Args:
        encoder_inputs: a list of int vectors [batch], one per step.
        decoder_inputs_dict: such a list per name of a decoder.
        enc_cell: the cell of the encoder.
        dec_cells_dict: the cells of the decoders, by name.
        num_encoder_symbols: how many symbols the encoder reads.
        num_decoder_symbols_dict: how many the decoders write, by name.
        embedding_size: the size of what stands for a symbol.
        feed_previous: whether decoders are fed by themselves; a bool or a scalar tensor.
        dtype: of the variables; the scope's if None.
        scope: the variable scope; "one2many_rnn_seq2seq" if None.

    Returns:
        The outputs and the last states of the decoders, by name.

    Raises:
        TypeError: a cell is no RNNCell.
        ValueError: the names of the dictionaries differ.
    """
    _check_cells(enc_cell, dec_cells_dict, decoder_inputs_dict)
    outputs: dict[str, list[Tensor]] = {}
    states: dict[str, Any] = {}
    with tf.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as entered:
        encoder = _embedded_cell(enc_cell, num_encoder_symbols, embedding_size)
        _, first = static_rnn(encoder, encoder_inputs, dtype=entered.dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with tf.variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)
                outputs[name], states[name] = _one_of_many(
                    inputs, first, cell, symbols, embedding_size, feed_previous
                )
    return outputs, states
