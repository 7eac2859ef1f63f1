# SPDX-License-Identifier: Apache-2.0
"""Layers with weights of their own at each place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....engine.types.shape import TensorShape
from ....ops.public import raw, tf
from ...layers.input_spec import InputSpec
from ...layers.utils import conv_output_length, normalize_data_format, normalize_tuple
from ..backend import convolutions
from ..backend.settings import image_data_format
from ..identifiers import Identifier, PerAxis
from .connections import connected_entries, conv_kernel_mask
from .style import KerasLayer, resolved


class _Local(KerasLayer):
    """A convolution whose weights are others at each place.

    Args:
        filters: the number of channels of the outputs.
        kernel_size, strides: an integer, or one per axis.
        padding: "valid", or "same" if the implementation is not 1.
        data_format: "channels_last" or "channels_first"; that of settings if None.
        activation, *_initializer, *_regularizer, *_constraint: objects or their names.
        use_bias: whether there is a bias at each place.
        implementation: how weights are kept: 1: as a kernel for each place; 2: as those from any
            input to any output, of which the ones between places that are apart count nothing; 3:
            as one row of those that count.
        name, trainable, dtype, input_shape: as of all layers.

    Raises:
        ValueError: an argument is none of these, or sizes of the inputs are unknown.
    """

    rank = 0
    _arguments = (
        *("filters", "kernel_size", "strides", "padding", "data_format", "activation"),
        *("use_bias", "kernel_initializer", "bias_initializer", "kernel_regularizer"),
        *("bias_regularizer", "activity_regularizer", "kernel_constraint", "bias_constraint"),
        "implementation",
    )

    def __init__(
        self,
        filters: int,
        kernel_size: PerAxis,
        strides: PerAxis = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        given = resolved(
            activation=activation,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
        )
        super().__init__(**kwargs)
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, self.rank, "kernel_size")
        self.strides = normalize_tuple(strides, self.rank, "strides")
        self.padding = padding.lower()
        if self.padding != "valid" and implementation == 1:
            raise ValueError(
                f'Invalid border mode for {type(self).__name__} (only "valid" is supported if '
                f"implementation is 1): {padding}"
            )
        default = None if self.rank == 1 else image_data_format()
        self.data_format = normalize_data_format(data_format or default)
        for name, value in given.items():
            setattr(self, name, value)
        self.use_bias = use_bias
        self.implementation = implementation
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _first(self) -> bool:
        return self.data_format == "channels_first"

    def _places(self, sizes: list[Any]) -> list[Any]:
        space = sizes[2:] if self._first else sizes[1:-1]
        axes = zip(space, self.kernel_size, self.strides)
        return [conv_output_length(n, k, self.padding, stride) for n, k, stride in axes]

    def build(self, input_shape: Any) -> None:
        """Makes the kernel [places, window, filters] and the bias."""
        sizes = TensorShape(input_shape).as_list()
        channels: Any = sizes[1] if self._first else sizes[-1]
        if None in sizes[1:]:
            raise ValueError(
                f"The spatial dimensions of the inputs to {type(self).__name__} should be fully-"
                f"defined, but layer received the inputs shape {sizes}"
            )
        places = self._places(sizes)
        self.kernel = self.add_weight(
            shape=self._kernel_shape(sizes, channels, places),
            initializer=self.kernel_initializer,
            name="kernel",
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                shape=(*places, self.filters),
                initializer=self.bias_initializer,
                name="bias",
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        axis = 1 if self._first else -1
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        self.built = True

    def _kernel_shape(self, sizes: list[Any], channels: int, places: list[int]) -> tuple[int, ...]:
        """The kernel's sizes; keeps which weights count, where not all do."""
        if self.implementation == 1:
            window = math.prod(self.kernel_size) * channels
            self.kernel_shape: tuple[int, ...] = (math.prod(places), window, self.filters)
            return self.kernel_shape
        if self.implementation not in (2, 3):
            raise ValueError(f"Unrecognized implementation mode: {self.implementation}.")
        space = sizes[2:] if self._first else sizes[1:-1]
        mask = conv_kernel_mask(tuple(space), self.kernel_size, self.strides, self.padding)
        if self.implementation == 3:
            self.kernel_shape = (
                math.prod(places) * self.filters,
                math.prod(space) * channels,
            )
            self.kernel_idxs = connected_entries(mask, channels, self.filters, self.data_format)
            return (len(self.kernel_idxs),)
        self.kernel_shape = (
            (channels, *space, self.filters, *places)
            if self._first
            else (*space, channels, *places, self.filters)
        )
        axes = (0, self.rank + 1) if self._first else (self.rank, 2 * self.rank + 1)
        self.kernel_mask = np.expand_dims(mask, axes).astype("float32")
        return self.kernel_shape

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The products at each place, the bias and the activation."""
        if self.implementation == 1:
            places = self._places(inputs.shape.as_list())
            outputs = convolutions.local_conv(
                inputs, self.kernel, self.kernel_size, self.strides, places, self.data_format
            )
            outputs.set_shape(self.compute_output_shape(inputs.shape))
        else:
            outputs = self._product(inputs)
        if self.use_bias:
            outputs = convolutions.bias_add(outputs, self.bias, data_format=self.data_format)
        return self.activation(outputs)

    def _product(self, inputs: Any) -> Any:
        """All weights as one matrix, with zeros where none connects, times rows of inputs."""
        flat = tf.reshape(inputs, (tf.shape(inputs)[0], -1))
        if self.implementation == 2:
            kernel = make_2d(self.kernel_mask * self.kernel, self.kernel.shape.ndims // 2)
            rows = tf.matmul(flat, kernel, b_is_sparse=True)
        else:
            columns = raw.SparseTensorDenseMatMul(
                a_indices=self.kernel_idxs,
                a_values=self.kernel,
                a_shape=self.kernel_shape,
                b=flat,
                adjoint_b=True,
            )
            rows = tf.transpose(columns)
        shape = self.compute_output_shape(inputs.shape).as_list()[1:]
        return tf.reshape(rows, [tf.shape(rows)[0], *shape])

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of the output for a shape of the input."""
        sizes = TensorShape(input_shape).as_list()
        places = self._places(sizes)
        rest = [self.filters, *places] if self._first else [*places, self.filters]
        return TensorShape([sizes[0], *rest])


class LocallyConnected1D(_Local):
    __doc__ = _Local.__doc__
    rank = 1


class LocallyConnected2D(_Local):
    __doc__ = _Local.__doc__
    rank = 2


def make_2d(tensor: Any, split_dim: int) -> Any:
    """A tensor as a matrix: axes before `split_dim` are those of rows, the others of columns."""
    shape = tf.shape(tensor)
    before, behind = shape[:split_dim], shape[split_dim:]
    return tf.reshape(tensor, (tf.reduce_prod(before), tf.reduce_prod(behind)))
