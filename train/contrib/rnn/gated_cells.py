# SPDX-License-Identifier: Apache-2.0
"""Cells of few gates: UGRNN, Intersection RNN, NAS, SRU, Minimal RNN, Chaos Free Network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types.shape import TensorShape, dimension_value
from ....ops.nn.activation import relu
from ....ops.nn.bias import bias_add
from ....ops.public import tf
from ...layers import named
from ...layers.input_spec import InputSpec
from ...rnn.cell import BIAS_NAME, WEIGHTS_NAME, LayerRNNCell
from ...rnn.cells import LSTMStateTuple
from .parts import Linear, SizedCell, known_depth, lstm_sizes

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


def depth_of(inputs_shape: Any) -> Any:
    """The size of the last axis; ValueError where it is unknown."""
    depth = dimension_value(inputs_shape[-1])
    if depth is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
    return depth


class UnitsCell(LayerRNNCell):
    """What the cells have in common whose state and output are one vector of units."""

    def __init__(self, num_units: int, activation: Any, **kwargs: Any) -> None:
        LayerRNNCell.__init__(self, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or tf.tanh

    @property
    def state_size(self) -> Any:
        """The size of the state."""
        return self._num_units

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._num_units


@export("contrib.rnn.NASCell")
class NASCell(LayerRNNCell):
    """The cell that a search among cells found (tf.contrib.rnn.NASCell), of arXiv 1611.01578.

    Args:
        num_units: the size of the memory.
        num_proj: the size of the output, that a matrix projects to; None for no projection.
        use_bias: whether the gates have a bias.
        reuse: True takes variables that exist.

    Example:
        >>> cell = tf.contrib.rnn.NASCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, cell.variables[1].shape)
        (2, 4) (3, 32)
    """

    # The products that a step adds up: two for each of these gates.
    _GATES = 8

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias
        self._state_size, self._output_size = lstm_sizes(num_units, num_proj)

    @property
    def state_size(self) -> Any:
        """The sizes of memory and output."""
        return self._state_size

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self._output_size

    def build(self, inputs_shape: Any) -> None:
        """Makes the kernels of state and inputs, the bias and the projection."""
        depth = dimension_value(TensorShape(inputs_shape).with_rank(2)[1])
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        columns = self._GATES * self._num_units
        rows = self._num_units if self._num_proj is None else self._num_proj
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [rows, columns])
        self.kernel = self.add_variable("kernel", [depth, columns])
        if self._use_bias:
            self.bias = self.add_variable("bias", shape=[columns], initializer=tf.zeros_initializer)
        if self._num_proj is not None:
            self.projection_weights = self.add_variable(
                "projection_weights", [self._num_units, self._num_proj]
            )
        self.built = True

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        memory, output = state
        from_state = tf.matmul(output, self.recurrent_kernel)
        from_inputs = tf.matmul(inputs, self.kernel)
        if self._use_bias:
            from_state = bias_add(from_state, self.bias)
        m = tf.split(axis=1, num_or_size_splits=self._GATES, value=from_state)
        x = tf.split(axis=1, num_or_size_splits=self._GATES, value=from_inputs)
        # The tree that the search found: eight leaves, joined in pairs.
        leaves = [
            tf.sigmoid(x[0] + m[0]),
            relu(x[1] + m[1]),
            tf.sigmoid(x[2] + m[2]),
            relu(x[3] * m[3]),
            tf.tanh(x[4] + m[4]),
            tf.sigmoid(x[5] + m[5]),
            tf.tanh(x[6] + m[6]),
            tf.sigmoid(x[7] + m[7]),
        ]
        first = tf.tanh(leaves[0] * leaves[1])
        second = tf.tanh(leaves[2] + leaves[3])
        third = tf.tanh(leaves[4] * leaves[5])
        fourth = tf.sigmoid(leaves[6] + leaves[7])
        first = tf.tanh(first + memory)
        new_memory = first * second
        new_output = tf.tanh(new_memory * tf.tanh(third + fourth))
        if self._num_proj is not None:
            new_output = tf.matmul(new_output, self.projection_weights)
        return new_output, LSTMStateTuple(new_memory, new_output)


@export("contrib.rnn.UGRNNCell")
class UGRNNCell(SizedCell):
    """A cell with an update gate alone (tf.contrib.rnn.UGRNNCell), of arXiv 1611.09913.

    Args:
        num_units: the size of output and state.
        initializer: of the kernel.
        forget_bias: is added to the gate.
        activation: a function.
        reuse: True takes variables that exist.

    Example:
        >>> cell = tf.contrib.rnn.UGRNNCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, cell.variables[0].shape)
        (2, 4) (7, 8)
    """

    def __init__(
        self,
        num_units: int,
        initializer: object = None,
        forget_bias: float = 1.0,
        activation: Callable[..., Any] | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(num_units, num_units, reuse)
        self._num_units = num_units
        self._initializer: Any = initializer
        self._forget_bias = forget_bias
        self._activation = activation or tf.tanh
        self._linear: Linear | None = None

    def call(self, inputs: Tensor, state: Structure) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        known_depth(inputs)
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            joined = tf.concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 2 * self._num_units, True)
            matrix = self._linear(joined)
            gate, candidate = tf.split(axis=1, num_or_size_splits=2, value=matrix)
            c = self._activation(candidate)
            g = tf.sigmoid(gate + self._forget_bias)
            new = g * state + (1.0 - g) * c
        return new, new


@export("contrib.rnn.IntersectionRNNCell")
class IntersectionRNNCell(SizedCell):
    """A cell with gates along time and along depth (tf.contrib.rnn.IntersectionRNNCell).

    Of arXiv 1611.09913.

    Args:
        num_units: the size of output and state.
        num_in_proj: whether inputs of another size are projected, if not None or 0.
        initializer: of the kernels.
        forget_bias: is added to both gates.
        y_activation: of the output.
        reuse: True takes variables that exist.

    Example:
        >>> cell = tf.contrib.rnn.IntersectionRNNCell(4)
        >>> output, state = cell(tf.zeros([2, 4]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, state.shape)
        (2, 4) (2, 4)
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: object = None,
        forget_bias: float = 1.0,
        y_activation: Callable[..., Any] | None = None,
        reuse: bool | None = None,
    ) -> None:
        super().__init__(num_units, num_units, reuse)
        self._num_units = num_units
        self._initializer: Any = initializer
        self._forget_bias = forget_bias
        self._num_input_proj = num_in_proj
        self._y_activation = y_activation or relu
        self._projection: Linear | None = None
        self._linear: Linear | None = None

    def _projected(self, inputs: Structure) -> Any:
        if known_depth(inputs) == self._num_units:
            return inputs
        if not self._num_input_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, num_in_proj "
                "should be set to num_units at cell init."
            )
        with tf.variable_scope("in_projection"):
            if self._projection is None:
                self._projection = Linear(inputs, self._num_units, True)
            return self._projection(inputs)

    def call(self, inputs: Tensor, state: Structure) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        known_depth(inputs)
        size = self._num_units
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            inputs = self._projected(inputs)
            joined = tf.concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 4 * size, True)
            matrix = self._linear(joined)
            gh, h, gy, y = (matrix[:, i * size : (i + 1) * size] for i in range(4))
            h, y = tf.tanh(h), self._y_activation(y)
            gh = tf.sigmoid(gh + self._forget_bias)
            gy = tf.sigmoid(gy + self._forget_bias)
            return gy * inputs + (1.0 - gy) * y, gh * state + (1.0 - gh) * h


@export("contrib.rnn.SRUCell")
class SRUCell(UnitsCell):
    """A Simple Recurrent Unit, whose products need no state (tf.contrib.rnn.SRUCell).

    Of arXiv 1709.02755.

    Args:
        num_units: the size of output and state.
        activation: a function; tanh if None.
        reuse: True takes variables that exist.
        name: of the layer.

    Example:
        >>> cell = tf.contrib.rnn.SRUCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, cell.variables[0].shape)
        (2, 4) (3, 16)
    """

    def __init__(
        self,
        num_units: int,
        activation: Callable[..., Any] | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, _reuse=reuse, name=name, **kwargs)

    def build(self, inputs_shape: Any) -> None:
        """Makes the kernel and the bias of both gates."""
        depth, units = depth_of(inputs_shape), self._num_units
        self._kernel = self.add_variable(WEIGHTS_NAME, shape=[depth, 4 * units])
        self._bias = self.add_variable(
            BIAS_NAME, shape=[2 * units], initializer=tf.zeros_initializer
        )
        self.built = True

    def call(self, inputs: Tensor, state: Structure) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        matrix = tf.matmul(inputs, self._kernel)
        x_bar, f, r, x_tx = tf.split(value=matrix, num_or_size_splits=4, axis=1)
        gates = tf.sigmoid(bias_add(tf.concat([f, r], 1), self._bias))
        f, r = tf.split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * x_bar
        return r * self._activation(c) + (1.0 - r) * x_tx, c


class _NamedCell(LayerRNNCell):
    """What the cells have in common whose activation and initializers may be names."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "ones",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self.units = units
        self.activation: Any = named.activation(activation)
        self.kernel_initializer = named.initializer(kernel_initializer)
        self.bias_initializer = named.initializer(bias_initializer)

    @property
    def state_size(self) -> Any:
        """The size of the state."""
        return self.units

    @property
    def output_size(self) -> int:
        """The size of the output."""
        return self.units

    def _matrix(self, name: str, shape: list[Any]) -> Any:
        return self.add_weight(name=name, shape=shape, initializer=self.kernel_initializer)


class MinimalRNNCell(_NamedCell):
    """A cell with one gate between an input and the state (Minimal RNN, arXiv 1711.06788).

    Args:
        units: the size of output and state.
        activation: a function or its name.
        kernel_initializer, bias_initializer: initializers or names.
        name, dtype: as tf.layers.Layer.
    """

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel and bias."""
        depth = depth_of(inputs_shape)
        self.kernel = self._matrix(WEIGHTS_NAME, [depth + 2 * self.units, self.units])
        self.bias = self.add_weight(
            name=BIAS_NAME, shape=[self.units], initializer=self.bias_initializer
        )
        self.built = True

    def call(self, inputs: Tensor, state: Structure) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        sizes = [known_depth(inputs), 2 * self.units]
        of_inputs, of_gate = tf.split(value=self.kernel, num_or_size_splits=sizes, axis=0)
        candidate = self.activation(tf.matmul(inputs, of_inputs))
        gate = bias_add(tf.matmul(tf.concat([candidate, state], 1), of_gate), self.bias)
        u = tf.sigmoid(gate)
        new = u * state + (1 - u) * candidate
        return new, new


class CFNCell(_NamedCell):
    """A Chaos Free Network cell (arXiv 1612.06212).

    Args:
        units: the size of output and state.
        activation: a function or its name.
        kernel_initializer, bias_initializer: initializers or names.
        name, dtype: as tf.layers.Layer.
    """

    def build(self, inputs_shape: Any) -> None:
        """Makes the kernels of inputs and state, and the bias of both gates."""
        depth, units = depth_of(inputs_shape), self.units
        self.kernel = self._matrix(WEIGHTS_NAME, [depth, 3 * units])
        self.recurrent_kernel = self._matrix(f"recurrent_{WEIGHTS_NAME}", [units, 2 * units])
        self.bias = self.add_weight(
            name=BIAS_NAME, shape=[2 * units], initializer=self.bias_initializer
        )
        self.built = True

    def call(self, inputs: Tensor, state: Structure) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        known_depth(inputs)
        sizes = [2 * self.units, self.units]
        of_gates, of_inputs = tf.split(value=self.kernel, num_or_size_splits=sizes, axis=1)
        gates = tf.matmul(state, self.recurrent_kernel) + tf.matmul(inputs, of_gates)
        gates = tf.sigmoid(bias_add(gates, self.bias))
        theta, eta = tf.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = tf.matmul(inputs, of_inputs)
        new = theta * self.activation(state) + (1 - eta) * self.activation(candidate)
        return new, new
