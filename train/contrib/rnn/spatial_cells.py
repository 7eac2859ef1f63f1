# SPDX-License-Identifier: Apache-2.0
"""LSTMs whose products are convolutions, and the LSTM that opens at times of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.nn.conv_public import conv1d, conv2d, conv3d
from ....ops.public import tf
from ...rnn.cells import LSTMStateTuple
from .parts import Linear, SizedCell

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


def _conv(
    args: list[Any], filter_size: list[int], num_features: int, bias: bool, bias_start: float = 0.0
) -> Any:
    """A convolution of tensors joined along their channels, over one to three axes."""
    shapes = [arg.get_shape().as_list() for arg in args]
    rank = len(shapes[0])
    for shape in shapes:
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {shapes}")
        if len(shape) != rank:
            raise ValueError(f"Conv Linear expects all args to be of same Dimension: {shapes}")
    depth, dtype = sum(shape[-1] for shape in shapes), args[0].dtype
    convolve: Any = {3: conv1d, 4: conv2d, 5: conv3d}[rank]
    strides: Any = 1 if rank == 3 else [1] * rank
    kernel = tf.get_variable("kernel", [*filter_size, depth, num_features], dtype=dtype)
    joined = args[0] if len(args) == 1 else tf.concat(axis=rank - 1, values=args)
    result = convolve(joined, kernel, strides, padding="SAME")
    if not bias:
        return result
    start = tf.constant_initializer(bias_start, dtype=dtype)
    return result + tf.get_variable("biases", [num_features], dtype=dtype, initializer=start)


@export("contrib.rnn.ConvLSTMCell")
class ConvLSTMCell(SizedCell):
    """An LSTM whose products are convolutions (tf.contrib.rnn.ConvLSTMCell), arXiv 1506.04214.

    Args:
        conv_ndims: over how many axes: 1, 2 or 3.
        input_shape: the sizes of an input without the batch, channels last.
        output_channels: the channels of the memory.
        kernel_shape: the sizes of the kernel.
        use_bias: whether there is a bias.
        skip_connection: whether outputs have the inputs beside them.
        forget_bias: is added to the forget gate.
        initializers: is ignored.
        name: of the layer.

    Raises:
        ValueError: the input's shape has another number of axes.

    Example:
        >>> cell = tf.contrib.rnn.ConvLSTMCell(2, [8, 8, 3], 4, [3, 3])
        >>> output, state = cell(tf.zeros([2, 8, 8, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape)
        (2, 8, 8, 4)
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: list[int],
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: object = None,
        name: str | None = "conv_lstm_cell",
    ) -> None:
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        extent = list(input_shape[:-1])
        memory = TensorShape([*extent, output_channels])
        channels = output_channels + (input_shape[-1] if skip_connection else 0)
        output = TensorShape([*extent, channels])
        super().__init__(LSTMStateTuple(memory, memory), output, None, name=name)
        self._conv_ndims = conv_ndims
        self._output_channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection

    def call(self, inputs: Tensor, state: Structure, scope: object = None) -> Any:  # type: ignore[override]
        """One step."""
        cell, hidden = state
        gates = _conv(
            [inputs, hidden], self._kernel_shape, 4 * self._output_channels, self._use_bias
        )
        axis = self._conv_ndims + 1
        i, new, f, o = tf.split(value=gates, num_or_size_splits=4, axis=axis)
        new_cell = tf.sigmoid(f + self._forget_bias) * cell
        new_cell += tf.sigmoid(i) * tf.tanh(new)
        output = tf.tanh(new_cell) * tf.sigmoid(o)
        if self._skip_connection:
            output = tf.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(new_cell, output)


@export("contrib.rnn.Conv1DLSTMCell")
class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over one axis (tf.contrib.rnn.Conv1DLSTMCell).

    Args:
        name: of the layer.
        **kwargs: as ConvLSTMCell.
    """

    def __init__(self, name: str | None = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


@export("contrib.rnn.Conv2DLSTMCell")
class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over two axes (tf.contrib.rnn.Conv2DLSTMCell).

    Args:
        name: of the layer.
        **kwargs: as ConvLSTMCell.
    """

    def __init__(self, name: str | None = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


@export("contrib.rnn.Conv3DLSTMCell")
class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over three axes (tf.contrib.rnn.Conv3DLSTMCell).

    Args:
        name: of the layer.
        **kwargs: as ConvLSTMCell.
    """

    def __init__(self, name: str | None = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)


def _random_exp_initializer(
    minval: float, maxval: float, seed: int | None = None, dtype: DTypeLike = dtypes.float32
) -> Callable[..., Any]:
    """Numbers whose logarithms are uniform."""

    def initializer(shape: Any, dtype: DTypeLike = dtype, partition_info: object = None) -> Tensor:
        low: Any = tf.log(minval)
        high: Any = tf.log(maxval)
        return tf.exp(tf.random_uniform(shape, low, high, dtype, seed=seed))

    return initializer


@export("contrib.rnn.PhasedLSTMCell")
class PhasedLSTMCell(SizedCell):
    """An LSTM whose units open for a part of a period (tf.contrib.rnn.PhasedLSTMCell).

    Of arXiv 1610.09513.  Its inputs are (time [batch, 1], inputs [batch, depth]).

    Args:
        num_units: the size of output and memory.
        use_peepholes: whether gates see the memory.
        leak: how much gets through a closed unit.
        ratio_on: the part of the period at which a unit is open, to begin with.
        trainable_ratio_on: whether that part is trained.
        period_init_min, period_init_max: between which periods begin.
        reuse: True takes variables that exist.

    Example:
        >>> cell = tf.contrib.rnn.PhasedLSTMCell(4)
        >>> inputs = tf.zeros([2, 1]), tf.zeros([2, 3])
        >>> output, state = cell(inputs, cell.zero_state(2, tf.float32))
        >>> print(output.shape)
        (2, 4)
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(LSTMStateTuple(num_units, num_units), num_units, reuse, autocast=False)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_init_min = period_init_min
        self._period_init_max = period_init_max
        self._linears: dict[str, Linear] = {}

    def _mod(self, x: Structure, y: Any) -> Any:
        """x modulo y, with the slope 1."""
        return tf.stop_gradient(tf.mod(x, y) - x) + x

    def _get_cycle_ratio(self, time: Structure, phase: Any, period: Any) -> Any:
        """Where in its period each unit is, from 0 to 1."""
        phase, period = tf.cast(phase, dtype=time.dtype), tf.cast(period, dtype=time.dtype)
        ratio = self._mod(time - phase, period) / period
        return tf.cast(ratio, dtype=dtypes.float32)

    def _gates(self, scope: str, args: list[Any], activation: Any, number: int = 1) -> list[Any]:
        """As many gates of one product."""
        with tf.variable_scope(scope):
            if scope not in self._linears:
                self._linears[scope] = Linear(args, number * self._num_units, True)
            gates = activation(self._linears[scope](args))
            if number == 1:
                return [gates]
            return list(tf.split(axis=1, num_or_size_splits=number, value=gates))

    def _openness(self, time: Tensor) -> Tensor:
        """How far each unit is open at a time."""
        units = self._num_units
        start = _random_exp_initializer(self._period_init_min, self._period_init_max)
        period = tf.get_variable("period", [units], initializer=start)
        # A tensor, so that both begin together.
        first = tf.random_uniform_initializer(0.0, period.initial_value)
        phase = tf.get_variable("phase", [units], initializer=first)
        ratio_on = tf.get_variable(
            "ratio_on",
            [units],
            initializer=tf.constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        ratio = self._get_cycle_ratio(time, phase, period)
        up = 2 * ratio / ratio_on
        down = 2 - up
        closed = self._leak * ratio
        k = tf.where(ratio < ratio_on, down, closed)
        return tf.where(ratio < 0.5 * ratio_on, up, k)

    def call(self, inputs: Structure, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        c_prev, h_prev = state
        time, x = inputs
        args = [x, h_prev]
        peep = [c_prev] if self._use_peepholes else []
        i, f = self._gates("mask_gates", args + peep, tf.sigmoid, number=2)
        (new_input,) = self._gates("new_input", args, tf.tanh)
        new_c = c_prev * f + i * new_input
        peep = [new_c] if self._use_peepholes else []
        (o,) = self._gates("output_gate", args + peep, tf.sigmoid)
        new_h = tf.tanh(new_c) * o
        k = self._openness(time)
        new_c = k * new_c + (1 - k) * c_prev
        new_h = k * new_h + (1 - k) * h_prev
        return new_h, LSTMStateTuple(new_c, new_h)
