# SPDX-License-Identifier: Apache-2.0
"""Functions of cudnn's ops, and cells that compute what they compute, step by step."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.seed import get_seed
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.nn.bias import bias_add
from ....ops.nn.cudnn_layout import GATES
from ....ops.public import raw, tf
from ...rnn.cells import GRUCell
from ..rnn.lstm_ops import LSTMBlockCell

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike

CUDNN_RNN_UNIDIRECTION = "unidirectional"
CUDNN_RNN_BIDIRECTION = "bidirectional"
CUDNN_LSTM = "lstm"
CUDNN_GRU = "gru"
CUDNN_RNN_RELU = "rnn_relu"
CUDNN_RNN_TANH = "rnn_tanh"
CUDNN_INPUT_LINEAR_MODE = "linear_input"
CUDNN_INPUT_SKIP_MODE = "skip_input"
CUDNN_INPUT_AUTO_MODE = "auto_select"
# Matrices of a layer, and biases: one of the inputs and one of the step before per gate.
PARAMS_PER_LAYER = {mode: 2 * gates for mode, gates in GATES.items()}
CUDNN_LSTM_PARAMS_PER_LAYER = PARAMS_PER_LAYER[CUDNN_LSTM]
CUDNN_GRU_PARAMS_PER_LAYER = PARAMS_PER_LAYER[CUDNN_GRU]
CUDNN_RNN_TANH_PARAMS_PER_LAYER = PARAMS_PER_LAYER[CUDNN_RNN_TANH]
CUDNN_RNN_RELU_PARAMS_PER_LAYER = PARAMS_PER_LAYER[CUDNN_RNN_RELU]


@export("contrib.cudnn_rnn.CudnnCompatibleLSTMCell")
class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The cell of a step of `CudnnLSTM` (tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell).

    In the scopes of a multi-layer net it takes the variables that `CudnnLSTM` writes to
    checkpoints.

    Args:
        num_units: the size of output and memory.
        reuse: True takes variables that exist.

    Example:
        >>> cell = tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4)
        >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.zeros([2, 5, 3]), dtype=tf.float32)
        >>> print([v.op.name for v in tf.trainable_variables()])
        ['rnn/cudnn_compatible_lstm_cell/kernel', 'rnn/cudnn_compatible_lstm_cell/bias']
    """

    def __init__(self, num_units: int, reuse: bool | None = None) -> None:
        super().__init__(
            num_units,
            forget_bias=0.0,
            cell_clip=None,
            use_peephole=False,
            reuse=reuse,
            name="cudnn_compatible_lstm_cell",
        )


@export("contrib.cudnn_rnn.CudnnCompatibleGRUCell")
class CudnnCompatibleGRUCell(GRUCell):
    """The cell of a step of `CudnnGRU` (tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell).

    Its reset gate is applied behind the product of the state, other than that of
    `tf.nn.rnn_cell.GRUCell`: the candidate is tanh(W x + b + r * (R h + c)).

    Args:
        num_units: the size of the state.
        reuse: True takes variables that exist.
        kernel_initializer: of the matrices.

    Example:
        >>> cell = tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(4)
        >>> output, state = cell(tf.zeros([2, 3]), cell.zero_state(2, tf.float32))
        >>> print(output.shape, len(cell.trainable_weights))
        (2, 4) 6
    """

    def __init__(
        self, num_units: int, reuse: bool | None = None, kernel_initializer: Any = None
    ) -> None:
        super().__init__(
            num_units, activation=None, reuse=reuse, kernel_initializer=kernel_initializer
        )

    def build(self, inputs_shape: Any) -> None:
        """Makes kernels and biases of the gates, and of both parts of the candidate."""
        depth, units = inputs_shape[1].value, self._num_units
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        self._gate_kernel, self._gate_bias = self._pair("gates", depth, 2 * units)
        parts = (("input_projection", depth), ("hidden_projection", units))
        self._kernels = [
            self.add_variable(
                f"candidate/{name}/kernel",
                shape=[rows, units],
                initializer=self._kernel_initializer,
            )
            for name, rows in parts
        ]
        self._biases = [
            self.add_variable(
                f"candidate/{name}/bias",
                shape=[units],
                initializer=self._bias_initializer or self._zeros(),
            )
            for name, _ in parts
        ]

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """One step."""
        gates = tf.sigmoid(self._product(inputs, state, self._gate_kernel, self._gate_bias))
        r, u = tf.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = bias_add(tf.matmul(inputs, self._kernels[0]), self._biases[0])
        candidate += r * bias_add(tf.matmul(state, self._kernels[1]), self._biases[1])
        new = (1 - u) * self._activation(candidate) + u * state
        return new, new


def _require(what: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"Invalid {what}: {value}, expecting {' or '.join(allowed)}")


def check_direction(direction: str) -> None:
    """Raises ValueError unless it is a direction."""
    _require("direction", direction, (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION))


def check_input_mode(input_mode: str) -> None:
    """Raises ValueError unless it is a mode of inputs."""
    modes = (CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE)
    _require("input_mode", input_mode, modes)


def _options(
    rnn_mode: str, input_mode: str, direction: str, dropout: float, seed: int | None
) -> dict[str, Any]:
    """The attributes that all ops have."""
    _require("rnn_mode", rnn_mode, (CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_TANH, CUDNN_RNN_RELU))
    check_direction(direction)
    check_input_mode(input_mode)
    first, second = get_seed(seed)
    options = {"rnn_mode": rnn_mode, "input_mode": input_mode, "direction": direction}
    return {**options, "dropout": dropout, "seed": first or 0, "seed2": second or 0}


def _cudnn_rnn(
    inputs: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    is_training: bool,
    rnn_mode: str,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """The outputs of all steps, and the last outputs and memories of all layers.

    Args:
        inputs: [time, batch, size], or [batch, time, size] without `time_major`.
        input_h, input_c: [layers, batch, units], what the first step begins with.
        params: the vector of all weights.
        is_training: whether there is to be a gradient, and dropout.
        rnn_mode: "lstm", "gru", "rnn_tanh" or "rnn_relu".
        sequence_lengths: how long each sequence is; as long as the inputs if None.
        time_major: which axes of the inputs and states are which.
        input_mode: "linear_input", "skip_input" or "auto_select".
        direction: "unidirectional" or "bidirectional".
        dropout: the share that is dropped between layers.
        seed: of dropout.
        num_proj: the size that outputs of LSTMs are projected to.
        name: of the operation.
    """
    options = _options(rnn_mode, input_mode, direction, dropout, seed)
    options |= {"is_training": is_training, "name": name}
    given = {"input": inputs, "input_h": input_h, "input_c": input_c, "params": params}
    if sequence_lengths is None and (time_major is False or num_proj):
        batch, time = (1, 0) if time_major else (0, 1)
        size, steps = tf.shape(inputs)[batch], tf.shape(inputs)[time]
        sequence_lengths = tf.fill([size], steps)
    made: Any
    if sequence_lengths is not None:
        made = raw.CudnnRNNV3(
            **given,
            sequence_lengths=sequence_lengths,
            time_major=time_major,
            num_proj=num_proj or 0,
            **options,
        )
    elif os.environ.get("TF_CUDNN_RNN_USE_V2", "0") == "1":
        made = raw.CudnnRNNV2(**given, **options)
    else:
        made = raw.CudnnRNN(**given, **options)
    outputs, output_h, output_c, *_ = made
    return outputs, output_h, output_c


def cudnn_lstm(
    inputs: Tensor,
    input_h: Tensor,
    input_c: Tensor,
    params: object,
    is_training: bool,
    sequence_lengths: object = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: int = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """LSTMs: outputs, last outputs and last memories; arguments as of `_cudnn_rnn`."""
    rest = (sequence_lengths, time_major, input_mode, direction, dropout, seed, num_proj, name)
    return _cudnn_rnn(inputs, input_h, input_c, params, is_training, CUDNN_LSTM, *rest)


def _without_memory(mode: str, name: str) -> Callable[..., tuple[Any, Any]]:
    def function(
        inputs: Tensor,
        input_h: Tensor,
        params: object,
        is_training: bool,
        sequence_lengths: object = None,
        time_major: bool = True,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        dropout: float = 0.0,
        seed: int = 0,
        name: str | None = None,
    ) -> tuple[Any, Any]:
        """Outputs and last outputs of a net without memories; arguments as of `_cudnn_rnn`."""
        none = tf.constant([], dtype=input_h.dtype)
        rest = (sequence_lengths, time_major, input_mode, direction, dropout, seed, None, name)
        outputs, last, _ = _cudnn_rnn(inputs, input_h, none, params, is_training, mode, *rest)
        return outputs, last

    function.__name__ = function.__qualname__ = name
    return function


cudnn_gru = _without_memory(CUDNN_GRU, "cudnn_gru")
cudnn_rnn_relu = _without_memory(CUDNN_RNN_RELU, "cudnn_rnn_relu")
cudnn_rnn_tanh = _without_memory(CUDNN_RNN_TANH, "cudnn_rnn_tanh")


def cudnn_rnn_opaque_params_to_canonical(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    params: Any,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """The matrices and biases in a vector of weights, gate by gate.

    Args:
        rnn_mode, input_mode, direction, dropout, seed, num_proj, name: as of `_cudnn_rnn`.
        num_layers, num_units, input_size: the sizes of the net.
        params: the vector.
    """
    options = _options(rnn_mode, input_mode, direction, dropout, seed)
    ways = 1 if direction == CUDNN_RNN_UNIDIRECTION else 2
    count = PARAMS_PER_LAYER[rnn_mode] * num_layers * ways
    sizes = (num_layers, num_units, input_size)
    made: Any
    if not num_proj:
        made = raw.CudnnRNNParamsToCanonical(*sizes, params, num_params=count, **options, name=name)
    else:
        options |= {"num_params_weights": count + num_layers * ways, "num_params_biases": count}
        made = raw.CudnnRNNParamsToCanonicalV2(
            *sizes, params, num_proj=num_proj, **options, name=name
        )
    return made[0], made[1]


def cudnn_rnn_canonical_to_opaque_params(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    weights: list[Any],
    biases: list[Any],
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The vector of weights of matrices and biases, gate by gate.

    Args:
        rnn_mode, input_mode, direction, dropout, seed, num_proj, name: as of `_cudnn_rnn`.
        num_layers, num_units, input_size: the sizes of the net.
        weights, biases: as `cudnn_rnn_opaque_params_to_canonical` gives them.
    """
    options = _options(rnn_mode, input_mode, direction, dropout, seed)
    given = (num_layers, num_units, input_size, weights, biases)
    if not num_proj:
        return raw.CudnnRNNCanonicalToParams(*given, **options, name=name)
    return raw.CudnnRNNCanonicalToParamsV2(*given, num_proj=num_proj, **options, name=name)


def cudnn_rnn_opaque_params_size(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dtype: DTypeLike = dtypes.float32,
    dropout: float = 0,
    seed: int | None = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The number of weights of a net, as a tensor; arguments as of the functions above."""
    options = _options(rnn_mode, input_mode, direction, dropout, seed)
    size = raw.CudnnRNNParamsSize(
        *(num_layers, num_units, input_size),
        T=dtype,
        S=dtypes.int32,
        num_proj=num_proj or 0,
        **options,
        name=name,
    )
    return size[0]
