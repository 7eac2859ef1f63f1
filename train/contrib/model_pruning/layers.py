# SPDX-License-Identifier: Apache-2.0
"""Layers of tf.contrib.layers with a mask on their weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import constant, export
from ....ops.nn.activation import relu
from ....ops.public import tf
from ..framework.arg_scope import add_arg_scope
from ..layers.initializers import xavier_initializer
from ..layers.model_variables import (
    WEIGHTS,
    add_to_collections,
    finished,
    normalized,
    variable_getter,
)
from .core_layers import MaskedConv2D, MaskedFullyConnected

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ..layers.annotations import Collections, Function, Scope, VariableCollections

_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
_CHANNELS = {None: "channels_last", "NHWC": "channels_last", "NCHW": "channels_first"}


@export("contrib.model_pruning.masked_convolution")
@add_arg_scope
def masked_convolution(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
    activation_fn: Function | None = relu,
    normalizer_fn: Function | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Function | None = xavier_initializer(),
    weights_regularizer: Function | None = None,
    biases_initializer: Function | None = tf.zeros_initializer(),
    biases_regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> Any:
    """tf.contrib.layers.conv2d, of weights times a mask.

    Args: as of tf.contrib.layers.conv2d; inputs have four axes.

    Returns:
        A tensor.

    Raises:
        ValueError: the format is unknown, or inputs have not four axes.

    Example:
        >>> net = tf.contrib.model_pruning.masked_conv2d(tf.zeros([1, 8, 8, 3]), 4, 3, scope="c")
        >>> print([v.op.name for v in tf.global_variables()])
        ['c/weights', 'c/biases', 'c/mask', 'c/threshold']
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    getter = variable_getter(WEIGHTS)
    with tf.variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=getter) as opened:
        inputs = tf.convert_to_tensor(inputs)
        if inputs.shape.ndims != 4:
            raise ValueError(
                "Sparse Convolution not supported for input with rank", inputs.shape.ndims
            )
        if data_format not in _CHANNELS:
            raise ValueError("Unsupported data format", data_format)
        layer = MaskedConv2D(
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=_CHANNELS[data_format],
            dilation_rate=rate,
            use_bias=bool(not normalizer_fn and biases_initializer),
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        add_to_collections(layer.kernel, variables_collections, "weights")
        if layer.use_bias:
            add_to_collections(layer.bias, variables_collections, "biases")
        outputs = normalized(outputs, normalizer_fn, normalizer_params)
        return finished(outputs, activation_fn, outputs_collections, opened.original_name_scope)


constant("contrib.model_pruning.masked_conv2d", masked_convolution)
masked_conv2d = masked_convolution


@export("contrib.model_pruning.masked_fully_connected")
@add_arg_scope
def masked_fully_connected(
    inputs: TensorLike,
    num_outputs: int,
    activation_fn: Function | None = relu,
    normalizer_fn: Function | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Function | None = xavier_initializer(),
    weights_regularizer: Function | None = None,
    biases_initializer: Function | None = tf.zeros_initializer(),
    biases_regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> Any:
    """tf.contrib.layers.fully_connected, of weights times a mask.

    Args: as of tf.contrib.layers.fully_connected.

    Returns:
        A tensor.

    Raises:
        ValueError: `num_outputs` is no integer, or the inputs are of one axis or none.

    Example:
        >>> net = tf.contrib.model_pruning.masked_fully_connected(tf.zeros([2, 3]), 4, scope="fc")
        >>> print(tf.contrib.model_pruning.get_masked_weights()[0].op.name)
        fc/weights/masked_weight
    """
    if not isinstance(num_outputs, (int, np.integer)):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    getter = variable_getter(WEIGHTS)
    with tf.variable_scope(
        scope, "fully_connected", [inputs], reuse=reuse, custom_getter=getter
    ) as opened:
        inputs = tf.convert_to_tensor(inputs)
        layer = MaskedFullyConnected(
            units=num_outputs,
            use_bias=bool(not normalizer_fn and biases_initializer),
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=inputs.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer.apply(inputs)
        add_to_collections(layer.kernel, variables_collections, "weights")
        if layer.bias is not None:
            add_to_collections(layer.bias, variables_collections, "biases")
        outputs = normalized(outputs, normalizer_fn, normalizer_params)
        return finished(outputs, activation_fn, outputs_collections, opened.original_name_scope)
