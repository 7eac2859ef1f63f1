# SPDX-License-Identifier: Apache-2.0
"""ConvLSTM2D: a Long Short-Term Memory over sequences of pictures, whose products are windows."""

from __future__ import annotations

from typing import Any

from ....engine.types import nest
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers.input_spec import InputSpec
from ...layers.nodes import int_shape
from ...layers.utils import (
    conv_output_length,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
)
from ..backend.convolutions import bias_add, conv2d
from ..backend.elements import sum as total
from ..backend.settings import image_data_format
from ..identifiers import Identifier
from .cells import LSTM, LSTMCell, _given, is_multiple
from .recurrent import _OfCell

_WINDOW = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate")
CONV_LSTM = (*_WINDOW, *(name for name in LSTM if name not in ("units", "implementation")))


class ConvLSTM2DCell(LSTMCell):
    """One step of ConvLSTM2D, whose states are pictures."""

    _arguments: tuple[str, ...] = CONV_LSTM
    filters: int

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        self._begin_cell(kwargs, units=filters, **_given(locals()))
        self.kernel_size = normalize_tuple(kernel_size, 2, "kernel_size")
        self.strides = normalize_tuple(strides, 2, "strides")
        self.padding = normalize_padding(padding)
        self.data_format = normalize_data_format(data_format or image_data_format())
        self.dilation_rate = normalize_tuple(dilation_rate, 2, "dilation_rate")
        vars(self)["state_size"] = (filters, filters)

    @property
    def is_first(self) -> bool:
        """Whether channels come before height and width."""
        return self.data_format == "channels_first"

    def build(self, input_shape: Any) -> None:
        """Makes the windows and the bias; ValueError where channels are not known."""
        depth: Any = TensorShape(input_shape).as_list()[1 if self.is_first else -1]
        if depth is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        width = self.filters * self.gates
        self.kernel_shape = (*self.kernel_size, depth, width)
        self.kernel = self._make("kernel", self.kernel_shape)
        shape = (*self.kernel_size, self.filters, width)
        self.recurrent_kernel = self._make("recurrent_kernel", shape, "recurrent")
        self.bias = self._make("bias", (width,)) if self.use_bias else None
        self.built = True

    def input_conv(self, x: Any, w: Any, b: Any = None, padding: str = "valid") -> Any:
        """What a gate is given by the inputs."""
        found = conv2d(
            x,
            w,
            strides=self.strides,
            padding=padding,
            data_format=self.data_format,
            dilation_rate=self.dilation_rate,
        )
        return found if b is None else bias_add(found, b, data_format=self.data_format)

    def recurrent_conv(self, x: Any, w: Any) -> Any:
        """What a gate is given by the state."""
        return conv2d(x, w, strides=(1, 1), padding="same", data_format=self.data_format)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:  # type: ignore[override]
        """One step."""
        state, memory = states[0], states[1]
        of_inputs, of_state = self._masks(inputs, state, training)
        xs = self._parted(inputs, of_inputs, self.dropout)
        hs = self._parted(state, of_state, self.recurrent_dropout)
        kernels = tf.split(self.kernel, 4, axis=3)
        recurrent = tf.split(self.recurrent_kernel, 4, axis=3)
        biases = tf.split(self.bias, 4) if self.use_bias else [None] * 4
        x = [self.input_conv(*each, padding=self.padding) for each in zip(xs, kernels, biases)]
        h = [self.recurrent_conv(*each) for each in zip(hs, recurrent)]
        entered = self.recurrent_activation(x[0] + h[0])
        kept = self.recurrent_activation(x[1] + h[1])
        memory = kept * memory + entered * self.activation(x[2] + h[2])
        output = self.recurrent_activation(x[3] + h[3]) * self.activation(memory)
        return output, [output, memory]


class _ConvRNN(_OfCell):
    """A cell of windows along sequences of pictures."""

    # (The states' shapes are the outputs', which those of `RNN` do not know.)

    def _picture(self, sizes: list[Any], filters: int) -> list[Any]:
        """The shape of an output without batch and time, for that of an input."""
        cell = self.cell
        space = sizes[1:] if cell.is_first else sizes[:-1]
        axes = zip(space, cell.kernel_size, cell.strides, cell.dilation_rate, strict=True)
        found = [conv_output_length(n, k, cell.padding, s, d) for n, k, s, d in axes]
        return [filters, *found] if cell.is_first else [*found, filters]

    def _state_shape(self, batch: int | None, size: Any) -> list[Any]:
        spec = self.input_spec[0] if isinstance(self.input_spec, list) else self.input_spec
        shape = [batch, *self._picture(list(spec.shape)[2:], size)]
        if None in shape:
            raise ValueError(
                "If a RNN is stateful, it needs to know the sizes of its inputs: give the first "
                "layer a `batch_input_shape`, or `Input` a `batch_shape`, without None in the "
                f"axes of pictures; a state would have the shape {shape}"
            )
        return shape

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output, and of the states if they are given."""
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        batch, time, *rest = TensorShape(shape).as_list()
        picture = self._picture(rest, self.cell.filters)
        output = TensorShape([batch, *([time] if self.return_sequences else []), *picture])
        if not self.return_state:
            return output
        return [output, *(TensorShape([batch, *picture]) for _ in range(2))]

    def _most_steps(self, inputs: Any) -> int | None:
        return int_shape(nest.flatten(inputs)[0])[1]  # type: ignore[no-any-return]

    def get_initial_state(self, inputs: Any) -> list[Any]:
        """Zeros in the shape of an output, whatever the pictures' size turns out to be."""
        cell = self.cell
        empty = total(tf.zeros_like(inputs), axis=1)
        shape = (*cell.kernel_shape[:-1], cell.filters)
        state = cell.input_conv(empty, tf.zeros(shape), padding=cell.padding)
        return [state for _ in range(len(cell.state_size) if is_multiple(cell.state_size) else 1)]


class ConvLSTM2D(_ConvRNN):
    """A Long Short-Term Memory over sequences [batch, time, height, width, channels].

    Args:
        filters: the channels of output and states.
        kernel_size, strides, padding, data_format, dilation_rate: of the inputs' windows, as of
            Conv2D; those of states have the same size.
        activation, recurrent_activation, use_bias, unit_forget_bias, *_initializer, *_regularizer,
            *_constraint, dropout, recurrent_dropout: as of LSTM.
        return_sequences, return_state, go_backwards, stateful: as of RNN.

    Raises:
        TypeError: steps are to be written out, which windows cannot be.
    """

    cell_class, cell_arguments = ConvLSTM2DCell, CONV_LSTM

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        if kwargs.get("unroll"):
            raise TypeError("Unrolling isn't possible with convolutional RNNs.")
        self._begin_layer(locals(), kwargs)
        self.input_spec = [InputSpec(ndim=5)]


__all__ = ["ConvLSTM2D", "ConvLSTM2DCell"]
