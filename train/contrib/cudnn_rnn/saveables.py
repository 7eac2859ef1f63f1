# SPDX-License-Identifier: Apache-2.0
"""What checkpoints hold of a vector of weights: the variables of cells that compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ....engine.api import export
from ....ops.public import tf
from ....ops.state.variable_scope import VariableScope
from ...checkpoints.saveable import SaveableObject, SaveSpec
from . import converters
from . import cudnn_rnn_ops as ops


class CudnnOpaqueParamsSaveable(SaveableObject):
    """Saves a vector of weights as the kernels and biases of cells, and restores it from these.

    Args:
        opaque_params: the variable.
        num_layers, num_units, input_size, input_mode, direction: of the net.
        scope: the variable scope, or its name, that names in checkpoints begin with.
        name: of the object.
    """

    _format_converter_cls: ClassVar[type[converters.CudnnParamsFormatConverter]]
    _rnn_cell_name: ClassVar[str]
    # What a cell's kernels and biases are called.
    _names: ClassVar[tuple[tuple[str, ...], tuple[str, ...]]] = (("kernel",), ("bias",))

    def __init__(
        self,
        opaque_params: Any,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = ops.CUDNN_INPUT_LINEAR_MODE,
        direction: str = ops.CUDNN_RNN_UNIDIRECTION,
        scope: Any = None,
        name: str = "cudnn_rnn_saveable",
    ) -> None:
        self._num_layers = num_layers
        self._direction = direction
        scope_name = scope.name if isinstance(scope, VariableScope) else scope
        self._variables = opaque_params
        self._converter = self._format_converter_cls(
            num_layers, num_units, input_size, input_mode=input_mode, direction=direction
        )
        weights, biases = self._converter.opaque_to_tf_canonical(opaque_params)
        self._weight_names, self._bias_names = (
            self._canonical_names(names) for names in self._names
        )
        self._param_names = self._weight_names + self._bias_names
        prefix = f"{scope_name}/" if scope_name else ""
        specs = [
            SaveSpec(param, "", prefix + param_name)
            for param, param_name in zip(weights + biases, self._param_names)
        ]
        super().__init__(tf.identity(opaque_params), specs, name)

    @property
    def format_converter(self) -> converters.CudnnParamsFormatConverter:
        """What converts the weights."""
        return self._converter

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: object) -> Any:
        """The assignment of restored kernels and biases."""
        del restored_shapes
        params = self.format_converter.tf_canonical_to_opaque(restored_tensors)
        return tf.assign(self._variables, params, validate_shape=False)

    def _canonical_names(self, names: tuple[str, ...]) -> list[str]:
        return [
            f"{prefix}/{self._rnn_cell_name}/{name}"
            for layer in range(self._num_layers)
            for prefix in self._prefixes(layer)
            for name in names
        ]

    def _prefixes(self, layer: int) -> list[str]:
        """Where the functions that unroll cells of several layers put their variables."""
        if self._direction == ops.CUDNN_RNN_UNIDIRECTION:
            return [f"rnn/multi_rnn_cell/cell_{layer}"]
        both = f"stack_bidirectional_rnn/cell_{layer}/bidirectional_rnn"
        return [f"{both}/fw", f"{both}/bw"]


@export("contrib.cudnn_rnn.CudnnLSTMSaveable")
class CudnnLSTMSaveable(CudnnOpaqueParamsSaveable):
    """Saves LSTMs as `CudnnCompatibleLSTMCell`s (tf.contrib.cudnn_rnn.CudnnLSTMSaveable).

    Args:
        opaque_params, num_layers, num_units, input_size, input_mode, direction, scope, name: the
            variable, the net's sizes and modes, and what names begin with.
    """

    _format_converter_cls = converters.CudnnParamsFormatConverterLSTM
    _rnn_cell_name = "cudnn_compatible_lstm_cell"


@export("contrib.cudnn_rnn.CudnnGRUSaveable")
class CudnnGRUSaveable(CudnnOpaqueParamsSaveable):
    """Saves GRUs as `CudnnCompatibleGRUCell`s (tf.contrib.cudnn_rnn.CudnnGRUSaveable).

    Args:
        opaque_params, num_layers, num_units, input_size, input_mode, direction, scope, name: the
            variable, the net's sizes and modes, and what names begin with.
    """

    _format_converter_cls = converters.CudnnParamsFormatConverterGRU
    _rnn_cell_name = "cudnn_compatible_gru_cell"
    _parts = ("gates", "candidate/input_projection", "candidate/hidden_projection")
    _names = (
        tuple(f"{part}/kernel" for part in _parts),
        tuple(f"{part}/bias" for part in _parts),
    )


@export("contrib.cudnn_rnn.CudnnRNNTanhSaveable")
class CudnnRNNTanhSaveable(CudnnOpaqueParamsSaveable):
    """Saves nets with tanh as `BasicRNNCell`s (tf.contrib.cudnn_rnn.CudnnRNNTanhSaveable).

    Args:
        opaque_params, num_layers, num_units, input_size, input_mode, direction, scope, name: the
            variable, the net's sizes and modes, and what names begin with.
    """

    _format_converter_cls = converters.CudnnParamsFormatConverterTanh
    _rnn_cell_name = "basic_rnn_cell"


@export("contrib.cudnn_rnn.CudnnRNNReluSaveable")
class CudnnRNNReluSaveable(CudnnOpaqueParamsSaveable):
    """Saves nets with relu as `BasicRNNCell`s (tf.contrib.cudnn_rnn.CudnnRNNReluSaveable).

    Args:
        opaque_params, num_layers, num_units, input_size, input_mode, direction, scope, name: the
            variable, the net's sizes and modes, and what names begin with.
    """

    _format_converter_cls = converters.CudnnParamsFormatConverterRelu
    _rnn_cell_name = "basic_rnn_cell"
