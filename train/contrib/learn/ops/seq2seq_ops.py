# SPDX-License-Identifier: Apache-2.0
"""Decoders that read what they should write, or what they wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .....engine.api import export
from .....engine.types import dtypes
from .....ops.nn.loss import softmax_cross_entropy_with_logits
from .....ops.nn.softmax import softmax
from .....ops.public import tf
from ....rnn.static import static_rnn
from ...structures import Structure

if TYPE_CHECKING:
    from ...layers.annotations import Scope


@export("contrib.learn.ops.sequence_classifier")
def sequence_classifier(
    decoding: Sequence[Any],
    labels: Sequence[Any],
    sampling_decoding: Sequence[Any] | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Probabilities of classes at each step, and the sum of the steps' cross entropies.

    Args:
        decoding: logits [batch, classes] for each step.
        labels: one-hot rows [batch, classes] for each step.
        sampling_decoding: the logits that are predicted, if they are others.
        name: of the scope.

    Returns:
        Probabilities [batch, steps, classes], and a scalar.
    """
    with tf.name_scope(name, "sequence_classifier", [decoding, labels]):
        predictions, losses = [], []
        for i, logits in enumerate(decoding):
            losses.append(
                softmax_cross_entropy_with_logits(
                    labels=labels[i], logits=logits, name=f"sequence_loss/xent_raw{i}"
                )
            )
            predictions.append(softmax(sampling_decoding[i] if sampling_decoding else logits))
        total = tf.add_n(losses, name="sequence_loss/xent")
        loss = tf.reduce_sum(total, name="sequence_loss")
        return tf.stack(predictions, axis=1), loss


@export("contrib.learn.ops.seq2seq_inputs")
def seq2seq_inputs(
    x: Structure,
    y: Structure,
    input_length: int,
    output_length: int,
    sentinel: Any = None,
    name: str | None = None,
) -> tuple[list[Any], list[Any], list[Any]]:
    """The steps of an encoder's input, of a decoder's input and of its output.

    Args:
        x: [batch, input_length, n].
        y: [batch, output_length, m].
        input_length, output_length: how many steps there are.
        sentinel: what begins the decoder's input and ends its output, [batch, m]; zeros if None.
        name: of the scope.
    """
    del input_length, output_length
    with tf.name_scope(name, "seq2seq_inputs", [x, y]):
        steps_x, steps_y = tf.unstack(x, axis=1), tf.unstack(y, axis=1)
        if not sentinel:
            sentinel = tf.zeros(tf.stack([tf.shape(x)[0], steps_y[0].shape[1]]))
            sentinel.set_shape(steps_y[0].shape)
        return steps_x, [sentinel, *steps_y], [*steps_y, sentinel]


@export("contrib.learn.ops.rnn_decoder")
def rnn_decoder(
    decoder_inputs: Sequence[Any], initial_state: Structure, cell: Any, scope: Scope | None = None
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """A cell over given inputs, and once more over its own outputs.

    Args:
        decoder_inputs: [batch, n] for each step.
        initial_state: of the cell.
        cell: a cell whose outputs have the size of its inputs.
        scope: of the variables.

    Returns:
        Outputs and states for given inputs, and outputs and states for its own.
    """
    with tf.variable_scope(scope or "dnn_decoder"):
        states, sampling_states = [initial_state], [initial_state]
        outputs: list[Any] = []
        sampling_outputs: list[Any] = []
        with tf.name_scope("training", values=[decoder_inputs, initial_state]):
            for i, given in enumerate(decoder_inputs):
                if i > 0:
                    tf.get_variable_scope().reuse_variables()
                output, state = cell(given, states[-1])
                outputs.append(output)
                states.append(state)
        with tf.name_scope("sampling", values=[initial_state]):
            for i in range(len(decoder_inputs)):
                if i == 0:  # There is no output of its own yet.
                    output, state = outputs[0], states[0]
                else:
                    output, state = cell(sampling_outputs[-1], sampling_states[-1])
                sampling_outputs.append(output)
                sampling_states.append(state)
    return outputs, states, sampling_outputs, sampling_states


@export("contrib.learn.ops.rnn_seq2seq")
def rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    encoder_cell: Any,
    decoder_cell: Any = None,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """An encoder's last state, decoded; arguments and results as of `rnn_decoder`."""
    with tf.variable_scope(scope or "rnn_seq2seq"):
        _, state = static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, decoder_cell or encoder_cell)
