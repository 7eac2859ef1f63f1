# SPDX-License-Identifier: Apache-2.0
"""Cells whose units see their own state alone: IndRNN, IndyGRU, IndyLSTM."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.nn.bias import bias_add
from ....ops.public import tf
from ...rnn.cell import BIAS_NAME, WEIGHTS_NAME
from ...rnn.cells import LSTMStateTuple
from .gated_cells import UnitsCell, depth_of

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


class _IndependentCell(UnitsCell):
    """Makes the variables: the state's kernel is one row, which multiplies unit by unit."""

    _kernel_initializer: object = None
    _bias_initializer: object = None

    def _kernels(self, inputs: str, state: str, depth: int, size: int) -> tuple[Any, Any]:
        dtype: Any = self.dtype
        of_inputs = self.add_variable(
            inputs, shape=[depth, size], initializer=self._kernel_initializer
        )
        uniform = tf.random_uniform_initializer(minval=-1, maxval=1, dtype=dtype)
        return of_inputs, self.add_variable(state, shape=[1, size], initializer=uniform)

    def _bias_variable(self, name: str, size: int, start: float = 0.0) -> Any:
        initializer, dtype = self._bias_initializer, self.dtype
        if initializer is None:
            zeros: Any = tf.zeros_initializer(dtype=dtype)  # type: ignore[arg-type]
            initializer = tf.constant_initializer(start, dtype=dtype) if start else zeros  # type: ignore[arg-type]
        return self.add_variable(name, shape=[size], initializer=initializer)


@export("contrib.rnn.IndRNNCell")
class IndRNNCell(_IndependentCell):
    """activation(inputs @ w + state * u + bias) (tf.contrib.rnn.IndRNNCell), of arXiv 1803.04831.

    Args:
        num_units: the size of output and state.
        activation: a function; tanh if None.
        reuse: True takes variables that exist.
        name, dtype: as tf.layers.Layer.

    Example:
        >>> cell = tf.contrib.rnn.IndRNNCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print([v.shape.as_list() for v in cell.variables])
        [[3, 4], [1, 4], [4]]
    """

    def __init__(
        self,
        num_units: int,
        activation: Callable[..., Any] | None = None,
        reuse: bool | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(num_units, activation, _reuse=reuse, name=name, dtype=dtype)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        depth, units = depth_of(inputs_shape), self._num_units
        names = f"{WEIGHTS_NAME}_w", f"{WEIGHTS_NAME}_u"
        self._kernel_w, self._kernel_u = self._kernels(*names, depth, units)
        self._bias = self._bias_variable(BIAS_NAME, units)
        self.built = True

    def call(self, inputs: Tensor, state: Structure) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        gate = tf.matmul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(bias_add(gate, self._bias))
        return output, output


@export("contrib.rnn.IndyGRUCell")
class IndyGRUCell(_IndependentCell):
    """A GRU whose units see their own state alone (tf.contrib.rnn.IndyGRUCell).

    Args:
        num_units: the size of output and state.
        activation: a function; tanh if None.
        reuse: True takes variables that exist.
        kernel_initializer: of the inputs' kernels.
        bias_initializer: of the biases; those of the gates begin as 1 if None.
        name, dtype: as tf.layers.Layer.

    Example:
        >>> cell = tf.contrib.rnn.IndyGRUCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, cell.variables[0].shape)
        (2, 4) (3, 8)
    """

    def __init__(
        self,
        num_units: int,
        activation: Callable[..., Any] | None = None,
        reuse: bool | None = None,
        kernel_initializer: object = None,
        bias_initializer: object = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(num_units, activation, _reuse=reuse, name=name, dtype=dtype)
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables of the gates and of the candidate."""
        depth, units = depth_of(inputs_shape), self._num_units
        names = f"gates/{WEIGHTS_NAME}_w", f"gates/{WEIGHTS_NAME}_u"
        self._gate_kernel_w, self._gate_kernel_u = self._kernels(*names, depth, 2 * units)
        self._gate_bias = self._bias_variable(f"gates/{BIAS_NAME}", 2 * units, 1.0)
        # TensorFlow's name: the candidate's kernel has no _w.
        names = f"candidate/{WEIGHTS_NAME}", f"candidate/{WEIGHTS_NAME}_u"
        self._candidate_kernel_w, self._candidate_kernel_u = self._kernels(*names, depth, units)
        self._candidate_bias = self._bias_variable(f"candidate/{BIAS_NAME}", units)
        self.built = True

    def call(self, inputs: Tensor, state: Structure) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        gates = tf.matmul(inputs, self._gate_kernel_w) + (
            tf.tile(state, [1, 2]) * self._gate_kernel_u
        )
        gates = tf.sigmoid(bias_add(gates, self._gate_bias))
        r, u = tf.split(value=gates, num_or_size_splits=2, axis=1)
        kept = r * state
        candidate = tf.matmul(inputs, self._candidate_kernel_w) + kept * self._candidate_kernel_u
        c = self._activation(bias_add(candidate, self._candidate_bias))
        new = u * state + (1 - u) * c
        return new, new


@export("contrib.rnn.IndyLSTMCell")
class IndyLSTMCell(_IndependentCell):
    """An LSTM whose units see their own state alone (tf.contrib.rnn.IndyLSTMCell).

    Args:
        num_units: the size of output and memory.
        forget_bias: is added to the forget gate.
        activation: a function; tanh if None.
        reuse: True takes variables that exist.
        kernel_initializer: of the inputs' kernel.
        bias_initializer: of the bias; zeros if None.
        name, dtype: as tf.layers.Layer.

    Example:
        >>> cell = tf.contrib.rnn.IndyLSTMCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, [v.shape.as_list() for v in cell.variables])
        (2, 4) [[3, 16], [1, 16], [16]]
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Callable[..., Any] | None = None,
        reuse: bool | None = None,
        kernel_initializer: object = None,
        bias_initializer: object = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(num_units, activation, _reuse=reuse, name=name, dtype=dtype)
        self._forget_bias = forget_bias
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self) -> Any:
        """The sizes of memory and output."""
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, inputs_shape: Any) -> None:
        """Makes the variables."""
        depth, units = depth_of(inputs_shape), self._num_units
        names = f"{WEIGHTS_NAME}_w", f"{WEIGHTS_NAME}_u"
        self._kernel_w, self._kernel_u = self._kernels(*names, depth, 4 * units)
        self._bias = self._bias_variable(BIAS_NAME, 4 * units)
        self.built = True

    def call(self, inputs: Tensor, state: Structure) -> Any:  # type: ignore[override]
        """One step."""
        one = tf.constant(1, dtype=dtypes.int32)
        c, h = state
        gates = tf.matmul(inputs, self._kernel_w)
        gates += tf.tile(h, [1, 4]) * self._kernel_u
        gates = bias_add(gates, self._bias)
        i, j, f, o = tf.split(value=gates, num_or_size_splits=4, axis=one)
        forget = tf.sigmoid(tf.add(f, tf.constant(self._forget_bias, dtype=f.dtype)))
        kept = tf.multiply(c, forget)
        new_c = tf.add(kept, tf.multiply(tf.sigmoid(i), self._activation(j)))
        new_h = tf.multiply(self._activation(new_c), tf.sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h)
