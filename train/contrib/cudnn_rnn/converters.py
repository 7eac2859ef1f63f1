# SPDX-License-Identifier: Apache-2.0
"""Weights as cells have them, from cudnn's and back: what checkpoints hold is the cells' form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.public import tf
from . import cudnn_rnn_ops as ops

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

Tensors = list[Any]


class CudnnParamsFormatConverter:
    """Converts between the vector of all weights and the variables of cells.

    Args:
        num_layers, num_units, input_size: the sizes of the net.
        num_proj: the size that outputs of LSTMs are projected to, or None.
        input_mode, direction: as of the layers.
    """

    _rnn_mode = ""
    _num_params_per_layer = 0

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        num_proj: int | None = None,
        input_mode: str = ops.CUDNN_INPUT_LINEAR_MODE,
        direction: str = ops.CUDNN_RNN_UNIDIRECTION,
    ) -> None:
        self._num_layers = num_layers
        self._input_size = input_size
        self._num_units = num_units
        self._input_mode = input_mode
        self._num_proj = num_proj
        self._direction = direction
        self._num_dirs = 1 if direction == ops.CUDNN_RNN_UNIDIRECTION else 2
        self._num_params = self._num_params_per_layer * num_layers * self._num_dirs

    def tf_canonical_to_opaque(
        self, tf_canonicals: Sequence[Any], weights_proj: Sequence[Any] | None = None
    ) -> Tensor:
        """The vector of all weights.

        Args:
            tf_canonicals: the cells' kernels, then their biases, as `opaque_to_tf_canonical`
                gives them.
            weights_proj: the projections.
        """
        weights, biases = self._to_cudnn(list(tf_canonicals), weights_proj)
        flat = [tf.reshape(weight, [-1]) for weight in weights]
        return ops.cudnn_rnn_canonical_to_opaque_params(
            *(self._rnn_mode, self._num_layers, self._num_units, self._input_size),
            *(flat, biases, self._input_mode, self._direction),
            num_proj=self._num_proj,
        )

    def opaque_to_tf_canonical(self, opaque_param: object) -> tuple[Tensors, ...]:
        """The cells' kernels and biases, and their projections if there are any."""
        weights, biases = ops.cudnn_rnn_opaque_params_to_canonical(
            *(self._rnn_mode, self._num_layers, self._num_units, self._input_size),
            *(opaque_param, self._input_mode, self._direction),
            num_proj=self._num_proj,
        )
        kernels: Tensors = []
        shifts: Tensors = []
        projections: Tensors = []
        places = self._num_layers * self._num_dirs
        for of_weights, of_biases in zip(_cut(weights, places), _cut(biases, places)):
            if self._num_proj:
                projections.append(tf.transpose(of_weights.pop()))
            kernels += self._cudnn_to_tf_weights(*of_weights)
            shifts += self._cudnn_to_tf_biases(*of_biases)
        return (kernels, shifts, projections) if self._num_proj else (kernels, shifts)

    def _to_cudnn(
        self, canonicals: Tensors, projections: Sequence[Any] | None
    ) -> tuple[Tensors, Tensors]:
        middle, places = len(canonicals) // 2, self._num_layers * self._num_dirs
        weights: Tensors = []
        biases: Tensors = []
        parts = zip(_cut(canonicals[:middle], places), _cut(canonicals[middle:], places))
        for place, (of_weights, of_biases) in enumerate(parts):
            weights += self._tf_to_cudnn_weights(place // self._num_dirs, *of_weights)
            if projections is not None:
                weights.append(tf.transpose(projections[place]))
            biases += self._tf_to_cudnn_biases(*of_biases)
        return weights, biases

    def _widths(self, layer: int) -> list[int]:
        """The columns of a matrix that are for the inputs, and those for the step before."""
        outputs = self._num_proj or self._num_units
        return [outputs * self._num_dirs if layer else self._input_size, outputs]

    def _cudnn_to_tf_weights(self, *cu_weights: Any) -> Tensors:
        raise NotImplementedError("Abstract method")

    def _tf_to_cudnn_weights(self, layer: int, *tf_weights: Any) -> Tensors:
        raise NotImplementedError("Abstract method")

    def _cudnn_to_tf_biases(self, *cu_biases: Any) -> Tensors:
        raise NotImplementedError("Abstract method")

    def _tf_to_cudnn_biases(self, *tf_biases: Any) -> Tensors:
        raise NotImplementedError("Abstract method")


def _cut(values: Sequence[Any], count: int) -> list[list[Any]]:
    """As many lists of the same length."""
    size = len(values) // count
    return [list(values[i * size : (i + 1) * size]) for i in range(count)]


class _OneKernel(CudnnParamsFormatConverter):
    """A cell with one kernel and one bias for all gates, in an order of its own."""

    # The place of each of the cell's gates among cudnn's.
    _order: tuple[int, ...] = (0,)

    def _cudnn_to_tf_weights(self, *cu_weights: Any) -> Tensors:
        gates = len(self._order)
        joined = [tf.concat([cu_weights[i], cu_weights[gates + i]], axis=1) for i in range(gates)]
        return [tf.transpose(self._joined(joined))]

    def _tf_to_cudnn_weights(self, layer: int, *tf_weights: Any) -> Tensors:
        (kernel,) = tf_weights
        gates = self._gates(tf.transpose(kernel))
        halves = self._by_cudnn([tf.split(gate, self._widths(layer), axis=1) for gate in gates])
        return [half[0] for half in halves] + [half[1] for half in halves]

    def _cudnn_to_tf_biases(self, *cu_biases: Any) -> Tensors:
        gates = len(self._order)
        return [self._joined([cu_biases[i] + cu_biases[gates + i] for i in range(gates)])]

    def _tf_to_cudnn_biases(self, *tf_biases: Any) -> Tensors:
        (bias,) = tf_biases
        # cudnn has two biases per gate, of which only the sum matters.
        if len(self._order) == 1:
            return [bias * 0.5, bias * 0.5]
        halves = [gate * 0.5 for gate in self._by_cudnn(self._gates(bias))]
        return halves + halves

    # The nodes are those that TensorFlow makes: one gate is neither split nor joined.

    def _joined(self, gates: Sequence[Any]) -> Any:
        return tf.concat([gates[i] for i in self._order], axis=0) if len(gates) > 1 else gates[0]

    def _gates(self, value: Any) -> list[Any]:
        count = len(self._order)
        return list(tf.split(value, count, axis=0)) if count > 1 else [value]

    def _by_cudnn(self, gates: Sequence[Any]) -> list[Any]:
        return [gates[self._order.index(i)] for i in range(len(gates))]


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM")
class CudnnParamsFormatConverterLSTM(_OneKernel):
    """Converts weights of LSTMs (tf.contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM).

    Args:
        num_layers, num_units, input_size, num_proj, input_mode, direction: of the net.
    """

    _rnn_mode = ops.CUDNN_LSTM
    _num_params_per_layer = ops.CUDNN_LSTM_PARAMS_PER_LAYER
    # Input, cell, forget, output; cudnn has the forget gate before the cell.
    _order = (0, 2, 1, 3)


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterTanh")
class CudnnParamsFormatConverterTanh(_OneKernel):
    """Converts weights of nets with tanh (tf.contrib.cudnn_rnn.CudnnParamsFormatConverterTanh).

    Args:
        num_layers, num_units, input_size, num_proj, input_mode, direction: of the net.
    """

    _rnn_mode = ops.CUDNN_RNN_TANH
    _num_params_per_layer = ops.CUDNN_RNN_TANH_PARAMS_PER_LAYER


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterRelu")
class CudnnParamsFormatConverterRelu(_OneKernel):
    """Converts weights of nets with relu (tf.contrib.cudnn_rnn.CudnnParamsFormatConverterRelu).

    Args:
        num_layers, num_units, input_size, num_proj, input_mode, direction: of the net.
    """

    _rnn_mode = ops.CUDNN_RNN_RELU
    _num_params_per_layer = ops.CUDNN_RNN_RELU_PARAMS_PER_LAYER


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterGRU")
class CudnnParamsFormatConverterGRU(CudnnParamsFormatConverter):
    """Converts weights of GRUs (tf.contrib.cudnn_rnn.CudnnParamsFormatConverterGRU).

    Args:
        num_layers, num_units, input_size, num_proj, input_mode, direction: of the net.
    """

    _rnn_mode = ops.CUDNN_GRU
    _num_params_per_layer = ops.CUDNN_GRU_PARAMS_PER_LAYER

    def _cudnn_to_tf_weights(self, *cu_weights: Any) -> Tensors:
        w_r, w_u, w_h, r_r, r_u, r_h = cu_weights
        gates = [tf.concat([w_r, r_r], axis=1), tf.concat([w_u, r_u], axis=1)]
        joined = tf.transpose(tf.concat(gates, axis=0))
        return [joined, tf.transpose(w_h), tf.transpose(r_h)]

    def _tf_to_cudnn_weights(self, layer: int, *tf_weights: Any) -> Tensors:
        joined, w_h, r_h = (tf.transpose(weight) for weight in tf_weights)
        reset, update = tf.split(joined, 2, axis=0)
        w_r, r_r = tf.split(reset, self._widths(layer), axis=1)
        w_u, r_u = tf.split(update, self._widths(layer), axis=1)
        return [w_r, w_u, w_h, r_r, r_u, r_h]

    def _cudnn_to_tf_biases(self, *cu_biases: Any) -> Tensors:
        w_r, w_u, w_h, r_r, r_u, r_h = cu_biases
        return [tf.concat([w_r, w_u], axis=0) + tf.concat([r_r, r_u], axis=0), w_h, r_h]

    def _tf_to_cudnn_biases(self, *tf_biases: Any) -> Tensors:
        joined, w_h, r_h = tf_biases
        of_inputs, of_outputs = joined * 0.5, joined * 0.5
        w_r, w_u = tf.split(of_inputs, 2, axis=0)
        r_r, r_u = tf.split(of_outputs, 2, axis=0)
        return [w_r, w_u, w_h, r_r, r_u, r_h]
