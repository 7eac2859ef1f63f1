# SPDX-License-Identifier: Apache-2.0
"""Convolutions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.nn.activation import relu
from ....ops.nn.bias import bias_add
from ....ops.nn.depthwise import depthwise_conv2d
from ....ops.public import tf
from ...layers import convolutional
from ..framework.arg_scope import add_arg_scope
from . import utils
from .initializers import xavier_initializer
from .model_variables import (
    WEIGHTS,
    add_to_collections,
    finished,
    normalized,
    parameter,
    variable_getter,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from .annotations import Collections, Function, Scope, Sizes, VariableCollections

_FORMATS = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
_BY_RANK = {3: convolutional.Conv1D, 4: convolutional.Conv2D, 5: convolutional.Conv3D}


@export("contrib.layers.convolution")
@add_arg_scope
def convolution(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Sizes,
    stride: Sizes = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Sizes = 1,
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
    conv_dims: int | None = None,
) -> Any:
    """A convolution over one, two or three axes, as the inputs have.

    Args:
        inputs: [batch, sizes of axes, channels], or as `data_format` says.
        num_outputs: the number of filters.
        kernel_size: the window's sizes, or one for all axes.
        stride: how far windows are apart, likewise.
        padding: "VALID" or "SAME".
        data_format: "NWC", "NCW", "NHWC", "NCHW", "NDHWC" or "NCDHW"; None is the last axis.
        rate: how far a window's points are apart; then `stride` is 1.
        activation_fn: the activation; None for none.
        normalizer_fn: a normalization in the place of biases, such as `batch_norm`.
        normalizer_params: its arguments.
        weights_initializer, biases_initializer: initializers; no biases if None.
        weights_regularizer, biases_regularizer: functions that make losses.
        reuse: whether variables are found instead of made.
        variables_collections: collections for all variables, or a dict by their names.
        outputs_collections: names of collections that get the result.
        trainable: whether the variables are to be trained.
        scope: the variable scope, "Conv" if None.
        conv_dims: how many axes there must be besides batch and channels; None for any.

    Returns:
        A tensor.

    Raises:
        ValueError: the format is unknown, or the rank is another.

    Example:
        >>> net = tf.contrib.layers.conv2d(tf.zeros([1, 8, 8, 3]), 16, [3, 3], stride=2)
        >>> print(net.op.name, net.shape)
        Conv/Relu (1, 4, 4, 16)
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    getter = variable_getter(WEIGHTS)
    with tf.variable_scope(scope, "Conv", [inputs], reuse=reuse, custom_getter=getter) as opened:
        inputs = tf.convert_to_tensor(inputs)
        layer = _layer_class(inputs.shape.ndims, conv_dims)(
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=_channels(data_format),
            dilation_rate=rate,
            activation=None,
            use_bias=bool(not normalizer_fn and biases_initializer),
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            activity_regularizer=None,
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
        return finished(outputs, activation_fn, outputs_collections, opened.name)


def _channels(data_format: str | None) -> str:
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


def _layer_class(rank: int | None, dims: int | None) -> Any:
    if dims is not None and dims + 2 != rank:
        raise ValueError(f"Convolution expects input with rank {dims + 2}, got {rank}")
    if rank not in _BY_RANK:
        raise ValueError("Convolution not supported for input with rank", rank)
    return _BY_RANK[rank]


@export("contrib.layers.convolution1d", "contrib.layers.conv1d")
@add_arg_scope
def convolution1d(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Sizes,
    stride: Sizes = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Sizes = 1,
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
    """A convolution over sequences: `convolution` of inputs of three axes.

    Args: as `convolution`.

    Returns:
        A tensor.

    Raises:
        ValueError: the format is unknown, or the rank is another.
    """
    return convolution(conv_dims=1, **locals())


@export("contrib.layers.convolution2d", "contrib.layers.conv2d")
@add_arg_scope
def convolution2d(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Sizes,
    stride: Sizes = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Sizes = 1,
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
    """A convolution over pictures: `convolution` of inputs of four axes.

    Args: as `convolution`.

    Returns:
        A tensor.

    Raises:
        ValueError: the format is unknown, or the rank is another.
    """
    return convolution(conv_dims=2, **locals())


@export("contrib.layers.convolution3d", "contrib.layers.conv3d")
@add_arg_scope
def convolution3d(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Sizes,
    stride: Sizes = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Sizes = 1,
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
    """A convolution over volumes: `convolution` of inputs of five axes.

    Args: as `convolution`.

    Returns:
        A tensor.

    Raises:
        ValueError: the format is unknown, or the rank is another.
    """
    return convolution(conv_dims=3, **locals())


@export("contrib.layers.convolution2d_in_plane", "contrib.layers.conv2d_in_plane")
@add_arg_scope
def convolution2d_in_plane(
    inputs: TensorLike,
    kernel_size: Sizes,
    stride: Sizes = 1,
    padding: str = "SAME",
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
    """One filter of one channel, applied to every channel of pictures.

    Args: as `convolution`.

    Returns:
        A tensor.

    Raises:
        ValueError: the inputs have other than four axes, or the number of channels is unknown.
    """
    with tf.variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as opened:
        inputs = tf.convert_to_tensor(inputs)
        common: Any = dict(dtype=inputs.dtype.base_dtype, trainable=trainable)
        channels = utils.last_dimension(inputs.shape, min_rank=4)
        weights = parameter(
            "weights",
            [*utils.two_element_tuple(kernel_size), 1, 1],
            variables_collections,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            **common,
        )
        filters = tf.tile(weights, [1, 1, channels, 1])
        strides = [1, *utils.two_element_tuple(stride), 1]
        outputs = depthwise_conv2d(inputs, filters, strides, padding)
        if normalizer_fn is not None:
            outputs = normalized(outputs, normalizer_fn, normalizer_params)
        elif biases_initializer is not None:
            biases = parameter(
                "biases",
                [channels],
                variables_collections,
                initializer=biases_initializer,
                regularizer=biases_regularizer,
                **common,
            )
            outputs = bias_add(outputs, biases)
        return finished(outputs, activation_fn, outputs_collections, opened.name)


conv1d, conv2d, conv3d = convolution1d, convolution2d, convolution3d
conv2d_in_plane = convolution2d_in_plane
