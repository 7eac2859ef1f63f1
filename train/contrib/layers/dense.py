# SPDX-License-Identifier: Apache-2.0
"""Fully connected layers and biases."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import constant, export
from ....ops.nn.activation import elu as elu_of
from ....ops.nn.activation import relu as relu_of
from ....ops.nn.activation import relu6 as relu6_of
from ....ops.nn.bias import bias_add as add_bias
from ....ops.public import tf
from ...layers import core
from ..framework.arg_scope import add_arg_scope
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
    from .annotations import Collections, Function, Scope, VariableCollections

_KEYS = tf.GraphKeys


@export("contrib.layers.fully_connected")
@add_arg_scope
def fully_connected(
    inputs: TensorLike,
    num_outputs: int,
    activation_fn: Function | None = relu_of,
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
    """activation(inputs @ weights + biases), of the inputs' last axis.

    Args:
        inputs: a tensor of two axes or more, whose last size is known.
        num_outputs: the size of the outputs' last axis.
        activation_fn: the activation; None for none.
        normalizer_fn: a normalization in the place of biases, such as `batch_norm`.
        normalizer_params: its arguments.
        weights_initializer, biases_initializer: initializers; no biases if None.
        weights_regularizer, biases_regularizer: functions that make losses.
        reuse: whether variables are found instead of made.
        variables_collections: collections for all variables, or a dict by their names.
        outputs_collections: names of collections that get the result.
        trainable: whether the variables are to be trained.
        scope: the variable scope, "fully_connected" if None.

    Returns:
        A tensor.

    Raises:
        ValueError: `num_outputs` is no integer, or the inputs are of one axis or none.

    Example:
        >>> net = tf.contrib.layers.fully_connected(tf.zeros([2, 3]), 4, scope="fc")
        >>> print(net.op.name, [v.op.name for v in tf.trainable_variables()])
        fc/Relu ['fc/weights', 'fc/biases']
    """
    if not isinstance(num_outputs, (int, np.integer)):
        raise ValueError(f"num_outputs type should be one of {[int]}, got {type(num_outputs)}.")
    getter = variable_getter(WEIGHTS)
    with tf.variable_scope(
        scope, "fully_connected", [inputs], reuse=reuse, custom_getter=getter
    ) as opened:
        inputs = tf.convert_to_tensor(inputs)
        layer = core.Dense(
            units=num_outputs,
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


@export("contrib.layers.bias_add")
@add_arg_scope
def bias_add(
    inputs: TensorLike,
    activation_fn: Function | None = None,
    initializer: Function | None = tf.zeros_initializer(),
    regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Scope | None = None,
) -> Any:
    """Adds a bias for each channel.

    Args:
        inputs: a tensor of known rank, with a known number of channels.
        initializer, regularizer: of the biases.
        activation_fn: what is applied afterwards.
        data_format: "NHWC" or "NCHW"; the latter for four axes only.
        reuse: as `fully_connected`, like the rest.

    Raises:
        ValueError: the format or the shape is another.
    """
    channels_of(data_format, "NCHW", "NHWC")
    with tf.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as opened:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError("Dims of shape must be known but is None")
        if rank != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = inputs.shape.as_list()[1 if data_format == "NCHW" else -1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = parameter(
            "biases",
            [channels],
            variables_collections,
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        outputs = add_bias(inputs, biases, data_format=data_format)
        return finished(outputs, activation_fn, outputs_collections, opened.name)


@export("contrib.layers.legacy_fully_connected")
def legacy_fully_connected(
    x: TensorLike,
    num_output_units: int,
    activation_fn: Function | None = None,
    weight_init: Function | None = xavier_initializer(),
    bias_init: Function | None = tf.zeros_initializer(),
    name: Scope | None = None,
    weight_collections: Collections | None = (_KEYS.WEIGHTS,),
    bias_collections: Collections | None = (_KEYS.BIASES,),
    output_collections: Collections | None = (_KEYS.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Function | None = None,
    bias_regularizer: Function | None = None,
) -> Any:
    """activation(x @ weights + bias), with variables in collections of their kinds.

    Args:
        x: a tensor of two axes or more, whose last size is known.
        num_output_units: the size of the outputs' last axis.
        activation_fn: the activation; None for none.
        weight_init, bias_init: initializers; no bias if None.
        name: the variable scope.
        weight_collections, bias_collections, output_collections: names of collections.
        trainable: whether the variables are to be trained.
        weight_regularizer, bias_regularizer: functions that make losses.

    Raises:
        ValueError: the shape is another.
    """
    with tf.variable_scope(name, "fully_connected", [x]):
        x = tf.convert_to_tensor(x)
        rank = x.shape.ndims
        if rank is None:
            raise ValueError("dims of x must be known but is None")
        if rank < 2:
            raise ValueError(f"rank of x must be at least 2 not: {rank}")
        sizes = x.shape.as_list()
        if sizes[-1] is None:
            raise ValueError("last dimension of x must be known but is None")
        common: Any = dict(dtype=x.dtype.base_dtype, trainable=trainable)
        shape = [sizes[-1], num_output_units]
        weights = tf.get_variable(
            "weights",
            shape=shape,
            collections=_with_global(weight_collections),
            initializer=weight_init,
            regularizer=weight_regularizer,
            **common,
        )
        y = tf.matmul(x if rank == 2 else tf.reshape(x, [-1, sizes[-1]]), weights)
        if bias_init is not None:
            bias = tf.get_variable(
                "bias",
                shape=[num_output_units],
                collections=_with_global(bias_collections),
                initializer=bias_init,
                regularizer=bias_regularizer,
                **common,
            )
            y = add_bias(y, bias)
        if rank > 2:
            dynamic = tf.unstack(tf.shape(x))
            y = tf.reshape(y, tf.stack([*dynamic[:-1], num_output_units]))
            y.set_shape([*sizes[:-1], num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        tf.add_to_collections([*(output_collections or ()), _KEYS.ACTIVATIONS], y)
        return y


def _with_global(collections: Any) -> list[str]:
    return list(dict.fromkeys([*(collections or ()), _KEYS.GLOBAL_VARIABLES]))


elu = functools.partial(fully_connected, activation_fn=elu_of)
relu = functools.partial(fully_connected, activation_fn=relu_of)
relu6 = functools.partial(fully_connected, activation_fn=relu6_of)
linear = functools.partial(fully_connected, activation_fn=None)
legacy_relu = functools.partial(legacy_fully_connected, activation_fn=relu_of)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
constant("contrib.layers.elu", elu)
constant("contrib.layers.relu", relu)
constant("contrib.layers.relu6", relu6)
constant("contrib.layers.linear", linear)
constant("contrib.layers.legacy_relu", legacy_relu)
constant("contrib.layers.legacy_linear", legacy_linear)
