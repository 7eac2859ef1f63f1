# SPDX-License-Identifier: Apache-2.0
"""Layers: nets of several recurrent layers, in one direction or both, as one op."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ....engine.api import export
from ....engine.interface import log
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...layers.base import Layer
from ...layers.input_spec import InputSpec
from . import cudnn_rnn_ops as ops
from .saveables import (
    CudnnGRUSaveable,
    CudnnLSTMSaveable,
    CudnnOpaqueParamsSaveable,
    CudnnRNNReluSaveable,
    CudnnRNNTanhSaveable,
)

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

Shapes = list[tuple[int, ...]]


class _CudnnRNN(Layer):
    """A net of several recurrent layers, whose weights are one variable, "opaque_kernel".

    Args:
        num_layers: how many layers lie one above the other.
        num_units: the size of a state.
        input_mode: "linear_input"; "skip_input" gives inputs to the first layer's gates as they
            are; "auto_select" does so where the sizes are equal.
        direction: "unidirectional" or "bidirectional".
        dropout: the share that is dropped between layers in training.
        seed: of dropout and of the first weights.
        dtype: float16, float32 or float64.
        kernel_initializer, bias_initializer: of the single matrices (Glorot's if None) and biases
            (zeros if None).
        name: of the layer.

    Raises:
        ValueError: a mode, direction or dtype is none.
    """

    _rnn_mode: ClassVar[str]
    _saveable_cls: ClassVar[type[CudnnOpaqueParamsSaveable]]

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = ops.CUDNN_INPUT_LINEAR_MODE,
        direction: str = ops.CUDNN_RNN_UNIDIRECTION,
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        ops.check_direction(direction)
        ops.check_input_mode(input_mode)
        if dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._plain_dtype = dtype
        self._num_layers = num_layers
        self._num_units = num_units
        self._input_mode = input_mode
        self._direction = direction
        self._dropout = dropout
        self._seed = seed
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer
        self._input_size: int | None = None
        self._saveable: CudnnOpaqueParamsSaveable | None = None

    @property
    def num_layers(self) -> int:
        """How many layers there are."""
        return self._num_layers

    @property
    def num_units(self) -> int:
        """The size of a state."""
        return self._num_units

    @property
    def input_mode(self) -> str:
        """How inputs come into the first layer."""
        return self._input_mode

    @property
    def input_size(self) -> int:
        """The size of an input; ValueError before the layer is built."""
        if not self._input_size:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def rnn_mode(self) -> str:
        """The kind of net."""
        return self._rnn_mode

    @property
    def direction(self) -> str:
        """Where it goes."""
        return self._direction

    @property
    def num_dirs(self) -> int:
        """The number of directions."""
        return 1 if self._direction == ops.CUDNN_RNN_UNIDIRECTION else 2

    @property
    def saveable(self) -> CudnnOpaqueParamsSaveable | None:
        """What checkpoints hold of the layer."""
        return self._saveable

    @property
    def canonical_weight_shapes(self) -> Shapes:
        """The shapes of the single matrices; RuntimeError before the layer is built."""
        if not self._input_size:
            raise RuntimeError(
                f"{type(self).__name__}.canonical_weight_shapes invoked before input shape is known"
            )
        shapes: Shapes = []
        units, gates = self._num_units, ops.PARAMS_PER_LAYER[self._rnn_mode] // 2
        for layer in range(self._num_layers):
            width = self.num_dirs * units if layer else self._input_size
            of_one_way = [(units, width)] * gates + [(units, units)] * gates
            shapes += of_one_way * self.num_dirs
        return shapes

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """The shapes of the single biases."""
        count = self.num_dirs * ops.PARAMS_PER_LAYER[self._rnn_mode] * self._num_layers
        return [[self._num_units]] * count

    def build(self, input_shape: Any) -> None:
        """Makes the variable.

        Raises:
            ValueError: inputs are no [time, batch, size] of a known size.
        """
        if self.built:
            return
        shape = TensorShape(input_shape)
        if shape.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.ndims}")
        self._input_size = shape[-1].value
        if self._input_size is None:
            raise ValueError(
                "The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(ndim=3, axes={-1: self._input_size})
        self._set_scope(None)
        with tf.variable_scope(self._scope, reuse=self.built, custom_getter=self._tracked):
            first = self._first_params()
            scope = tf.get_variable_scope()
            if scope.partitioner is not None:
                log.warn(
                    "Partitioner is not supported for Cudnn RNN layer variables, using it will "
                    "create forward-compatibility issues with future CUDA/CuDNN generations."
                )
            self.kernel = tf.get_variable(
                "opaque_kernel", dtype=self._plain_dtype, initializer=first, validate_shape=False
            )
        if tf.get_variable_scope().reuse is not True:
            self._create_saveable()
        self.built = True

    def _tracked(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        """The variable, which becomes one of the layer's."""
        variable = getter(*args, **kwargs)
        trained = kwargs.get("trainable", True)
        weights = self._trainable_weights if trained else self._non_trainable_weights
        if not any(known is variable for known in weights):
            weights.append(variable)
        return variable

    def _first_params(self) -> Tensor:
        dtype = self._plain_dtype
        if self._kernel_initializer is None:
            self._kernel_initializer = tf.glorot_uniform_initializer(seed=self._seed, dtype=dtype)
        if self._bias_initializer is None:
            self._bias_initializer = tf.constant_initializer(0.0, dtype=dtype)
        weights = [self._kernel_initializer(s, dtype=dtype) for s in self.canonical_weight_shapes]
        biases = [self._bias_initializer(s, dtype=dtype) for s in self.canonical_bias_shapes]
        return ops.cudnn_rnn_canonical_to_opaque_params(
            *(self._rnn_mode, self._num_layers, self._num_units, self.input_size),
            *(weights, biases, self._input_mode, self._direction),
            dropout=self._dropout,
            seed=self._seed,
        )

    def _gather_saveables_for_checkpoint(self) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} does not support object-based saving (tf.train.Checkpoint): "
            "tf.train.Saver saves it."
        )

    def call(  # type: ignore[override]
        self,
        inputs: object,
        initial_state: tuple[Any, ...] | None = None,
        sequence_lengths: object = None,
        time_major: bool = True,
        training: bool = True,
    ) -> tuple[Tensor, tuple[Any, ...]]:
        """The outputs of all steps, and the last state.

        Args:
            inputs: [time, batch, size].
            initial_state: what the first step begins with, as the state that is returned; zeros
                if None.
            sequence_lengths: how long each sequence is; as long as the inputs if None.
            time_major: False takes inputs [batch, time, size], and states likewise.
            training: whether there may be a gradient, and is dropout.

        Raises:
            TypeError: `initial_state` is no tuple.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        dtype: Any = self.dtype
        inputs = tf.convert_to_tensor(inputs, dtype=dtype)
        batch_size = tf.shape(inputs)[1]
        state = self._zero_state(batch_size) if initial_state is None else initial_state
        h, *memory = (tf.convert_to_tensor(part, dtype=dtype) for part in state)
        c = memory[0] if memory else tf.constant([], dtype=dtype)
        outputs, output_h, output_c = ops._cudnn_rnn(
            *(inputs, h, c, self.kernel, training, self._rnn_mode, sequence_lengths, time_major),
            *(self._input_mode, self._direction, self._dropout, self._seed),
        )
        return outputs, ((output_h, output_c) if memory else (output_h,))

    def state_shape(self, batch_size: object) -> tuple[list[Any], ...]:
        """The shapes of a state: of the outputs of all layers."""
        return ([self.num_layers * self.num_dirs, batch_size, self.num_units],)

    def _zero_state(self, batch_size: Any) -> tuple[Any, ...]:
        return tuple(
            tf.zeros(shape, dtype=self._plain_dtype) for shape in self.state_shape(batch_size)
        )

    def _create_saveable(self) -> None:
        if self._saveable is not None:
            raise RuntimeError("Cudnn saveable already created.")
        kernel = self.trainable_variables[0]
        self._saveable = self._saveable_cls(
            opaque_params=kernel,
            num_layers=self.num_layers,
            num_units=self.num_units,
            input_size=self.input_size,
            input_mode=self.input_mode,
            direction=self.direction,
            scope=tf.get_variable_scope(),
            name=f"{kernel.name.split(':')[0]}_saveable",
        )
        # TensorFlow asks an element for its device: seeds of later operations count its nodes.
        _ = kernel[0].device
        tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, self._saveable)


@export("contrib.cudnn_rnn.CudnnLSTM")
class CudnnLSTM(_CudnnRNN):
    """LSTMs in several layers (tf.contrib.cudnn_rnn.CudnnLSTM).

    Args:
        num_layers, num_units, input_mode, direction, dropout, seed, dtype, kernel_initializer,
            bias_initializer, name: how many layers of which size, how they are fed and where they
            go, what is dropped between them, and how weights begin.

    Raises:
        ValueError: a mode, direction or dtype is none.

    Example:
        >>> lstm = tf.contrib.cudnn_rnn.CudnnLSTM(num_layers=2, num_units=4)
        >>> outputs, (h, c) = lstm(tf.zeros([5, 3, 7]))
        >>> print(outputs.shape, h.shape)
        (5, 3, 4) (2, 3, 4)
    """

    _rnn_mode = ops.CUDNN_LSTM
    _saveable_cls = CudnnLSTMSaveable

    def state_shape(self, batch_size: object) -> tuple[list[Any], ...]:
        """The shapes of a state: of the outputs and of the memories of all layers."""
        return super().state_shape(batch_size) * 2


@export("contrib.cudnn_rnn.CudnnGRU")
class CudnnGRU(_CudnnRNN):
    """GRUs in several layers (tf.contrib.cudnn_rnn.CudnnGRU).

    Args:
        num_layers, num_units, input_mode, direction, dropout, seed, dtype, kernel_initializer,
            bias_initializer, name: as of `CudnnLSTM`.

    Raises:
        ValueError: a mode, direction or dtype is none.

    Example:
        >>> gru = tf.contrib.cudnn_rnn.CudnnGRU(1, 4, direction="bidirectional")
        >>> outputs, (h,) = gru(tf.zeros([5, 3, 7]))
        >>> print(outputs.shape, h.shape)
        (5, 3, 8) (2, 3, 4)
    """

    _rnn_mode = ops.CUDNN_GRU
    _saveable_cls = CudnnGRUSaveable


@export("contrib.cudnn_rnn.CudnnRNNTanh")
class CudnnRNNTanh(_CudnnRNN):
    """Plain recurrent nets with tanh (tf.contrib.cudnn_rnn.CudnnRNNTanh).

    Args:
        num_layers, num_units, input_mode, direction, dropout, seed, dtype, kernel_initializer,
            bias_initializer, name: as of `CudnnLSTM`.

    Raises:
        ValueError: a mode, direction or dtype is none.
    """

    _rnn_mode = ops.CUDNN_RNN_TANH
    _saveable_cls = CudnnRNNTanhSaveable


@export("contrib.cudnn_rnn.CudnnRNNRelu")
class CudnnRNNRelu(_CudnnRNN):
    """Plain recurrent nets with relu (tf.contrib.cudnn_rnn.CudnnRNNRelu).

    Args:
        num_layers, num_units, input_mode, direction, dropout, seed, dtype, kernel_initializer,
            bias_initializer, name: as of `CudnnLSTM`.

    Raises:
        ValueError: a mode, direction or dtype is none.
    """

    _rnn_mode = ops.CUDNN_RNN_RELU
    _saveable_cls = CudnnRNNReluSaveable
