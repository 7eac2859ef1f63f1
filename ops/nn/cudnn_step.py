# SPDX-License-Identifier: Apache-2.0
"""One layer of cudnn's recurrent nets in one direction: a loop of steps, of ordinary ops."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..public import tf
from .activation import relu

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor
    from .cudnn_layout import Net, Part, Weights

State = tuple[Any, ...]


class Layer:
    """The weights of one layer in one direction.

    Args:
        made: the net.
        params: the vector of all weights.
        weights: where those of the layer lie.
    """

    def __init__(self, made: Net, params: Any, weights: Weights) -> None:
        def part(where: Part) -> Tensor:
            flat = tf.slice(params, [where.start], [math.prod(where.shape)])
            return tf.reshape(flat, where.shape)

        self.net = made
        self.inputs = part(weights.inputs)
        self.outputs = part(weights.outputs)
        self.projection = None if weights.projection is None else part(weights.projection)
        self.input_biases = part(weights.input_biases)
        self.output_biases = part(weights.output_biases)

    def of_inputs(self, x: Any) -> Tensor:
        """What the gates get of all inputs [time, batch, size]: one product for all steps."""
        shape = tf.shape(x)
        gates = self.net.gates * self.net.units
        if self.inputs.shape[1].value == 0:
            added = tf.tile(x, [1, 1, self.net.gates])
        else:
            rows = tf.reshape(x, [-1, self.inputs.shape[1].value])
            product = tf.matmul(rows, self.inputs, transpose_b=True)
            added = tf.reshape(product, tf.stack([shape[0], shape[1], gates]))
        return added + self.input_biases

    def of_outputs(self, h: Any) -> Any:
        """What the gates get of the step before."""
        return tf.matmul(h, self.outputs, transpose_b=True) + self.output_biases


def _lstm(layer: Layer, x: Any, state: State) -> State:
    h, c = state
    i, f, j, o = tf.split(x + layer.of_outputs(h), 4, 1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(j)
    h = tf.sigmoid(o) * tf.tanh(c)
    if layer.projection is not None:
        h = tf.matmul(h, layer.projection, transpose_b=True)
    return h, c


def _gru(layer: Layer, x: Any, state: State) -> State:
    (h,) = state
    # The reset gate is applied behind the product, so that one product gives all gates.
    (r, u, n), (r_h, u_h, n_h) = tf.split(x, 3, 1), tf.split(layer.of_outputs(h), 3, 1)
    u = tf.sigmoid(u + u_h)
    candidate = tf.tanh(n + tf.sigmoid(r + r_h) * n_h)
    return ((1.0 - u) * candidate + u * h,)


def _tanh(layer: Layer, x: Any, state: State) -> State:
    return (tf.tanh(x + layer.of_outputs(state[0])),)


def _relu(layer: Layer, x: Any, state: State) -> State:
    return (relu(x + layer.of_outputs(state[0])),)


# rnn_mode -> step(layer, what the gates get of the inputs, state) -> state; the output comes first.
STEPS = {"lstm": _lstm, "gru": _gru, "rnn_tanh": _tanh, "rnn_relu": _relu}


def _turned(x: Any, lengths: Any) -> Tensor:
    """The steps in reverse order, sequence by sequence."""
    if lengths is None:
        return tf.reverse(x, [0])
    return tf.reverse_sequence(x, lengths, seq_axis=0, batch_axis=1)


def run_layer(
    layer: Layer, x: Any, state: State, lengths: Any, backwards: bool
) -> tuple[Any, State]:
    """The outputs of all steps, and the last state.

    Args:
        layer: the weights.
        x: the inputs [time, batch, size].
        state: what the first step begins with.
        lengths: how long each sequence is; None if all are as long as the inputs. Behind its end
            outputs are zero and the state stays.
        backwards: whether the last step is the first one.
    """
    gates = layer.of_inputs(_turned(x, lengths) if backwards else x)
    time = tf.shape(x)[0]
    step = STEPS[layer.net.mode]
    arrays = (
        tf.TensorArray(x.dtype, time, element_shape=gates.shape[1:]).unstack(gates),
        tf.TensorArray(x.dtype, time),
    )

    def body(t: Any, written: Any, *before: Any) -> tuple[Any, ...]:
        after = step(layer, arrays[0].read(t), before)
        output = after[0]
        if lengths is not None:
            alive = tf.expand_dims(tf.less(t, lengths), 1)
            keep = tf.cast(alive, x.dtype)
            output = output * keep
            after = tuple(a * keep + b * (1.0 - keep) for a, b in zip(after, before))
        for new, old in zip(after, before):
            new.set_shape(old.shape)
        return (t + 1, written.write(t, output), *after)

    start = (tf.constant(0), arrays[1], *state)
    _, written, *last = tf.while_loop(lambda t, *_: t < time, body, start)
    outputs = written.stack()
    outputs.set_shape([*x.shape[:2], layer.net.outputs])
    return (_turned(outputs, lengths) if backwards else outputs), tuple(last)
