# SPDX-License-Identifier: Apache-2.0
"""CuDNNLSTM and CuDNNGRU: the layers whose weights lie as NVIDIA's library has them.

They compute what the library does, wherever the program runs: a gate's kernel [inputs, units] is
read as a matrix [units, inputs] that stands before a vector, and there are two biases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....engine.types import nest
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from .. import initializers
from ..backend.elements import concatenate
from ..identifiers import Identifier
from .cells import _KERNELS, GRUCell, LSTMCell, _given
from .recurrent import _OfCell

_GRU = ("units", *_KERNELS)
_LSTM = ("units", *_KERNELS[:3], "unit_forget_bias", *_KERNELS[3:])


def _turned(kernel: Any, gates: int) -> Any:
    """A kernel as cells have it, each gate's turned by itself."""
    depth, width = kernel.shape.as_list()
    parts = tf.split(kernel, gates, axis=1)
    turned = [tf.transpose(tf.reshape(part, [width // gates, depth])) for part in parts]
    return tf.concat(turned, axis=1)


class _Weights:
    """The weights of a cell, made as the library has them and read as cells have them."""

    gates: int
    units: int
    _make: Any

    def build(self, input_shape: Any) -> None:
        """Makes the kernels and both biases in one vector."""
        depth: Any = TensorShape(input_shape).as_list()[-1]
        width = self.units * self.gates
        self.given_kernel = self._make("kernel", (depth, width))
        self.given_recurrent = self._make("recurrent_kernel", (self.units, width), "recurrent")
        self.given_bias = self._make("bias", (2 * width,))
        self.built = True

    def read(self) -> None:
        """Makes the kernels that steps use of the variables, outside of the loop of steps."""
        own = vars(self)
        own["kernel"] = _turned(self.given_kernel, self.gates)
        own["recurrent_kernel"] = _turned(self.given_recurrent, self.gates)
        own["bias"] = self._biases()

    def _biases(self) -> Any:
        return tf.reshape(self.given_bias, [2, self.units * self.gates])


class _LSTMCell(_Weights, LSTMCell):
    _arguments: tuple[str, ...] = _LSTM

    def __init__(
        self,
        units: int,
        kernel_initializer: Identifier,
        recurrent_initializer: Identifier,
        bias_initializer: Identifier,
        unit_forget_bias: bool,
        kernel_regularizer: Identifier,
        recurrent_regularizer: Identifier,
        bias_regularizer: Identifier,
        kernel_constraint: Identifier,
        recurrent_constraint: Identifier,
        bias_constraint: Identifier,
        **kwargs: Any,
    ) -> None:
        LSTMCell.__init__(
            self, **_given(locals()), recurrent_activation="sigmoid", implementation=2, **kwargs
        )

    def _make(
        self, name: str, shape: Sequence[int], kind: str = "", initializer: Identifier = None
    ) -> Any:
        if name == "bias" and self.unit_forget_bias:
            first, ones, units = self.bias_initializer, initializers.get("ones"), self.units

            def initializer(_: Any, *args: Any, **kwargs: Any) -> Any:
                # Of the second bias, the forget gate's begins at 1.
                return concatenate(
                    [
                        first((units * 5,), *args, **kwargs),
                        ones((units,), *args, **kwargs),
                        first((units * 2,), *args, **kwargs),
                    ]
                )

        return super(LSTMCell, self)._make(name, shape, kind, initializer)

    def _biases(self) -> Any:
        return tf.reduce_sum(super()._biases(), axis=0)


class _GRUCell(_Weights, GRUCell):
    _arguments: tuple[str, ...] = _GRU

    def __init__(
        self,
        units: int,
        kernel_initializer: Identifier,
        recurrent_initializer: Identifier,
        bias_initializer: Identifier,
        kernel_regularizer: Identifier,
        recurrent_regularizer: Identifier,
        bias_regularizer: Identifier,
        kernel_constraint: Identifier,
        recurrent_constraint: Identifier,
        bias_constraint: Identifier,
        **kwargs: Any,
    ) -> None:
        GRUCell.__init__(
            self,
            **_given(locals()),
            recurrent_activation="sigmoid",
            implementation=2,
            reset_after=True,
            **kwargs,
        )


class _CuDNN(_OfCell):
    def call(  # type: ignore[override]
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None
    ) -> Any:
        """The outputs, and the states if they are to be given; ValueError for masks."""
        if mask is not None and any(m is not None for m in nest.flatten(mask)):
            raise ValueError("Masking is not supported for CuDNN RNNs.")
        self.cell.read()
        return super().call(inputs, training=training, initial_state=initial_state)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        config = super().get_config()
        for name in ("unroll", "zero_output_for_mask"):
            config.pop(name, None)
        return config


class CuDNNLSTM(_CuDNN):
    """A Long Short-Term Memory whose weights lie as NVIDIA's library has them.

    Args:
        units: the size of output and states.
        unit_forget_bias, *_initializer, *_regularizer, *_constraint: as of LSTM.
        return_sequences, return_state, go_backwards, stateful: as of RNN.
    """

    cell_class, cell_arguments = _LSTMCell, _LSTM

    def __init__(
        self,
        units: int,
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
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        self._begin_layer(locals(), kwargs)


class CuDNNGRU(_CuDNN):
    """A Gated Recurrent Unit whose weights lie as NVIDIA's library has them.

    Args:
        units: the size of output and state.
        *_initializer, *_regularizer, *_constraint: as of GRU.
        return_sequences, return_state, go_backwards, stateful: as of RNN.
    """

    cell_class, cell_arguments = _GRUCell, _GRU

    def __init__(
        self,
        units: int,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        **kwargs: Any,
    ) -> None:
        self._begin_layer(locals(), kwargs)
