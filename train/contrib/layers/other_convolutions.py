# SPDX-License-Identifier: Apache-2.0
"""Transposed and separable convolutions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.nn.activation import relu
from ....ops.nn.bias import bias_add
from ....ops.nn.depthwise import depthwise_conv2d
from ....ops.public import tf
from ...layers import transposed_conv
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
from .pooling import channels_of

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor
    from .annotations import Collections, Function, Scope, Sizes, VariableCollections


@export("contrib.layers.convolution2d_transpose", "contrib.layers.conv2d_transpose")
@add_arg_scope
def convolution2d_transpose(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Sizes,
    stride: Sizes = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
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
    """The transpose of a convolution over pictures: sizes grow by the stride.

    Args: as `convolution`; `data_format` is "NHWC" or "NCHW".

    Returns:
        A tensor.

    Raises:
        ValueError: the format is another.
    """
    return _transposed(transposed_conv.Conv2DTranspose, "NCHW", "NHWC", **locals())


@export("contrib.layers.convolution3d_transpose", "contrib.layers.conv3d_transpose")
@add_arg_scope
def convolution3d_transpose(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Sizes,
    stride: Sizes = 1,
    padding: str = "SAME",
    data_format: str = "NDHWC",
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
    """The transpose of a convolution over volumes: sizes grow by the stride.

    Args: as `convolution`; `data_format` is "NDHWC" or "NCDHW".

    Returns:
        A tensor.

    Raises:
        ValueError: the format is another.
    """
    return _transposed(transposed_conv.Conv3DTranspose, "NCDHW", "NDHWC", **locals())


def _transposed(
    kind: Any,
    first: str,
    last: str,
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: Sizes,
    stride: Sizes,
    padding: str,
    data_format: str,
    activation_fn: Function | None,
    normalizer_fn: Function | None,
    normalizer_params: Mapping[str, Any] | None,
    weights_initializer: Function | None,
    weights_regularizer: Function | None,
    biases_initializer: Function | None,
    biases_regularizer: Function | None,
    reuse: bool | None,
    variables_collections: VariableCollections | None,
    outputs_collections: Collections | None,
    trainable: bool,
    scope: Scope | None,
) -> Any:
    name = f"Conv{len(first) - 2}d_transpose"
    getter = variable_getter(WEIGHTS)
    with tf.variable_scope(scope, name, [inputs], reuse=reuse, custom_getter=getter) as opened:
        channels = channels_of(data_format, first, last)
        inputs = tf.convert_to_tensor(inputs)
        layer = kind(
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=channels,
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
        if layer.bias is not None:
            add_to_collections(layer.bias, variables_collections, "biases")
        outputs = normalized(outputs, normalizer_fn, normalizer_params)
        return finished(outputs, activation_fn, outputs_collections, opened.name)


@export("contrib.layers.separable_convolution2d", "contrib.layers.separable_conv2d")
@add_arg_scope
def separable_convolution2d(
    inputs: TensorLike,
    num_outputs: int | None,
    kernel_size: Sizes,
    depth_multiplier: int = 1,
    stride: Sizes = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Sizes = 1,
    activation_fn: Function | None = relu,
    normalizer_fn: Function | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Function | None = xavier_initializer(),
    pointwise_initializer: Function | None = None,
    weights_regularizer: Function | None = None,
    biases_initializer: Function | None = tf.zeros_initializer(),
    biases_regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
) -> Any:
    """A convolution of each channel by itself, and then one of single points over all channels.

    Args:
        inputs: [batch, height, width, channels], or as `data_format` says.
        num_outputs: the number of filters of points; None leaves the second step out.
        depth_multiplier: how many filters each channel has.
        data_format: "NHWC" or "NCHW".
        pointwise_initializer: of the second step's weights; `weights_initializer` if None.
        kernel_size: as `convolution`, like the rest.

    Returns:
        A tensor.

    Raises:
        ValueError: the format is another.

    Example:
        >>> net = tf.contrib.layers.separable_conv2d(tf.zeros([1, 8, 8, 3]), 16, [3, 3])
        >>> print([v.op.name for v in tf.trainable_variables()])
        ['SeparableConv2d/depthwise_weights', 'SeparableConv2d/pointwise_weights', \
'SeparableConv2d/biases']
    """
    channels_of(data_format, "NCHW", "NHWC")
    getter = variable_getter(_SEPARABLE)
    with tf.variable_scope(
        scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=getter
    ) as opened:
        tensor = tf.convert_to_tensor(inputs)
        options: Any = dict(
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            data_format=data_format,
            rate=utils.two_element_tuple(rate),
            depth_multiplier=depth_multiplier,
            normalizer_fn=normalizer_fn,
            weights_initializer=weights_initializer,
            weights_regularizer=weights_regularizer,
            biases_initializer=biases_initializer,
            biases_regularizer=biases_regularizer,
            collections=variables_collections,
            trainable=trainable,
        )
        if num_outputs is None:
            outputs = _depthwise(tensor, normalizer_params=normalizer_params, **options)
        else:
            pointwise = pointwise_initializer or weights_initializer
            outputs = _separable(tensor, num_outputs, pointwise, opened, reuse, **options)
            outputs = normalized(outputs, normalizer_fn, normalizer_params)
        return finished(outputs, activation_fn, outputs_collections, opened.name)


_SEPARABLE = {
    "bias": "biases",
    "depthwise_kernel": "depthwise_weights",
    "pointwise_kernel": "pointwise_weights",
}


def _separable(
    inputs: Tensor,
    num_outputs: int,
    pointwise_initializer: Function | None,
    scope: Any,
    reuse: bool | None,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
    rate: tuple[int, int],
    depth_multiplier: int,
    normalizer_fn: Function | None,
    weights_initializer: Function | None,
    weights_regularizer: Function | None,
    biases_initializer: Function | None,
    biases_regularizer: Function | None,
    collections: VariableCollections | None,
    trainable: bool,
) -> Any:
    """Both steps."""
    layer = transposed_conv.SeparableConv2D(
        filters=num_outputs,
        kernel_size=kernel_size,
        strides=stride,
        padding=padding,
        data_format=channels_of(data_format),
        dilation_rate=rate,
        activation=None,
        depth_multiplier=depth_multiplier,
        use_bias=bool(not normalizer_fn and biases_initializer),
        depthwise_initializer=weights_initializer,
        pointwise_initializer=pointwise_initializer,
        bias_initializer=biases_initializer,
        depthwise_regularizer=weights_regularizer,
        pointwise_regularizer=weights_regularizer,
        bias_regularizer=biases_regularizer,
        activity_regularizer=None,
        trainable=trainable,
        name=scope.name,
        dtype=inputs.dtype.base_dtype,
        _scope=scope,
        _reuse=reuse,
    )
    outputs = layer.apply(inputs)
    add_to_collections(layer.depthwise_kernel, collections, "weights")
    add_to_collections(layer.pointwise_kernel, collections, "weights")
    if layer.bias is not None:
        add_to_collections(layer.bias, collections, "biases")
    return outputs


def _depthwise(
    inputs: Tensor,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
    rate: tuple[int, int],
    depth_multiplier: int,
    normalizer_fn: Function | None,
    normalizer_params: Mapping[str, Any] | None,
    weights_initializer: Function | None,
    weights_regularizer: Function | None,
    biases_initializer: Function | None,
    biases_regularizer: Function | None,
    collections: VariableCollections | None,
    trainable: bool,
) -> Any:
    """The first step alone."""
    common: Any = dict(dtype=inputs.dtype.base_dtype, trainable=trainable)
    channels = utils.channel_dimension(inputs.shape, channels_of(data_format), min_rank=4)
    weights_collections = utils.get_variable_collections(collections, "weights")
    weights = parameter(
        "depthwise_weights",
        [*utils.two_element_tuple(kernel_size), channels, depth_multiplier],
        weights_collections,
        initializer=weights_initializer,
        regularizer=weights_regularizer,
        **common,
    )
    apart = utils.two_element_tuple(stride)
    strides = [1, 1, *apart] if data_format.startswith("NC") else [1, *apart, 1]
    outputs = depthwise_conv2d(
        inputs, weights, strides, padding, rate=rate, data_format=data_format
    )
    if normalizer_fn is not None:
        return normalized(outputs, normalizer_fn, normalizer_params)
    if biases_initializer is None:
        return outputs
    biases = parameter(
        "biases",
        [depth_multiplier * channels],
        collections,
        initializer=biases_initializer,
        regularizer=biases_regularizer,
        **common,
    )
    return bias_add(outputs, biases, data_format=data_format)


conv2d_transpose, conv3d_transpose = convolution2d_transpose, convolution3d_transpose
separable_conv2d = separable_convolution2d
