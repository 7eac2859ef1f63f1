# SPDX-License-Identifier: Apache-2.0
"""Normalization within the elements of a batch: of layers, of instances and of groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.nn.fused_norm import fused_batch_norm
from ....ops.nn.norm import (
    batch_normalization,
    moments,
    normalize_moments,
    sufficient_statistics,
)
from ....ops.public import tf
from ..framework.arg_scope import add_arg_scope
from .model_variables import finished, parameter
from .pooling import channels_of

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor
    from .annotations import Collections, Function, Scope, VariableCollections


def _parameters(
    shape: Any,
    broadcast: list[int] | None,
    wanted: Mapping[str, bool],
    initializers: Mapping[str, Any] | None,
    collections: VariableCollections | None,
    **options: Any,
) -> tuple[Any, Any]:
    """beta and gamma, each None if it is not wanted, in the shape that broadcasts."""
    found = []
    for name, default in (("beta", tf.zeros_initializer()), ("gamma", tf.ones_initializer())):
        value = None
        if wanted[name]:
            initializer = (initializers or {}).get(name, default)
            value = parameter(name, shape, collections, initializer=initializer, **options)
            value = tf.reshape(value, broadcast) if broadcast else value
        found.append(value)
    return found[0], found[1]


@export("contrib.layers.layer_norm")
@add_arg_scope
def layer_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    activation_fn: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Scope | None = None,
    use_fused_batch_norm: bool | None = None,
) -> Any:
    """Normalizes each element of the batch by its own mean and variance.

    Args:
        inputs: a tensor of known rank.
        center, scale: whether there is a `beta` to add and a `gamma` to multiply by.
        activation_fn: what is applied afterwards.
        reuse: whether variables are found instead of made.
        variables_collections: collections for all variables, or a dict by their names.
        outputs_collections: names of collections that get the result.
        trainable: whether the variables are to be trained.
        begin_norm_axis: the first of the axes of which the mean is.
        begin_params_axis: the first of the axes that beta and gamma have.
        scope: the variable scope, "LayerNorm" if None.
        use_fused_batch_norm: whether the fused op of batch normalization computes it.

    Returns:
        A tensor of the inputs' shape.

    Raises:
        ValueError: the rank or the sizes of the parameters are unknown, or an axis is none.

    Example:
        >>> net = tf.contrib.layers.layer_norm(tf.zeros([2, 5]))
        >>> print([v.op.name for v in tf.trainable_variables()])
        ['LayerNorm/beta', 'LayerNorm/gamma']
    """
    with tf.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as opened:
        inputs = tf.convert_to_tensor(inputs)
        rank, dtype = inputs.shape.ndims, inputs.dtype.base_dtype
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        first = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or first >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({first}) must be < "
                f"rank(inputs) ({rank})"
            )
        shape = inputs.shape[begin_params_axis:]
        if not shape.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: "
                f"{inputs.shape}"
            )
        wanted = {"beta": center, "gamma": scale}
        options: Any = dict(dtype=dtype, trainable=trainable)
        beta, gamma = _parameters(shape, None, wanted, None, variables_collections, **options)
        epsilon = 1e-3 if dtype == dtypes.float16 else 1e-12
        if use_fused_batch_norm is not None:
            outputs = _fused(inputs, math.prod(shape.as_list()), beta, gamma, epsilon)
        else:
            mean, variance = moments(inputs, list(range(first, rank)), keep_dims=True)
            outputs = batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
            outputs.set_shape(inputs.shape)
        return finished(outputs, activation_fn, outputs_collections, opened.name)


def _fused(inputs: Tensor, size: int, beta: Any, gamma: Any, epsilon: float) -> Any:
    """Each row as a channel of the fused op of batch normalization."""
    shape = inputs.shape if inputs.shape.is_fully_defined() else tf.shape(inputs)
    rows = tf.reshape(inputs, [1, -1, 1, size])
    count = rows.shape[1] if rows.shape.is_fully_defined() else tf.shape(rows)[1]
    ones = tf.ones(count, dtype=dtypes.float32)
    zeros = tf.zeros(count, dtype=dtypes.float32)
    outputs, _, _ = fused_batch_norm(rows, ones, zeros, epsilon=epsilon, data_format="NCHW")
    outputs = tf.reshape(outputs, shape)
    outputs = outputs if gamma is None else outputs * gamma
    return outputs if beta is None else outputs + beta


@export("contrib.layers.instance_norm")
@add_arg_scope
def instance_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Function | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Scope | None = None,
) -> Any:
    """Normalizes each channel of each element by its own mean and variance.

    Args:
        inputs: a tensor of known rank, with a known number of channels.
        center, scale: whether there is a `beta` to add and a `gamma` to multiply by.
        epsilon: what is added to variances.
        activation_fn: what is applied afterwards.
        param_initializers: initializers of beta and gamma, by their names.
        reuse: whether variables are found instead of made.
        variables_collections: collections for all variables, or a dict by their names.
        outputs_collections: names of collections that get the result.
        trainable: whether the variables are to be trained.
        data_format: "NHWC" or "NCHW".
        scope: the variable scope, "InstanceNorm" if None.

    Returns:
        A tensor of the inputs' shape.

    Raises:
        ValueError: the rank, the channels or the format is not as said.
    """
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    is_first = channels_of(data_format, "NCHW", "NHWC") == "channels_first"
    with tf.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as opened:
        axis = 1 if is_first else rank - 1
        shape = inputs.shape[axis : axis + 1]
        if not shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {shape}.")
        broadcast = [1, *shape.as_list(), *[1] * (rank - 2)] if is_first else None
        wanted = {"beta": center, "gamma": scale}
        options: Any = dict(dtype=inputs.dtype.base_dtype, trainable=trainable)
        beta, gamma = _parameters(
            *(shape, broadcast, wanted, param_initializers, variables_collections), **options
        )
        axes = [i for i in range(1, rank) if i != axis]
        mean, variance = moments(inputs, axes, keep_dims=True)
        outputs = batch_normalization(
            inputs, mean, variance, beta, gamma, epsilon, name="instancenorm"
        )
        return finished(outputs, activation_fn, outputs_collections, opened.name)


@export("contrib.layers.group_norm")
@add_arg_scope
def group_norm(
    inputs: TensorLike,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Function | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    scope: Scope | None = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Normalizes each group of channels of each element by its own mean and variance.

    Args:
        inputs: a tensor of known rank, with a known number of channels.
        groups: the number of groups, which divides that of channels.
        channels_axis: the axis of the channels.
        reduction_axes: the axes of which the mean is, besides that of a group's channels.
        mean_close_to_zero: whether variances are of sums of squares, which is less exact where
            means are large.
        center: as `instance_norm`, like the rest.
        scope: the variable scope, "GroupNorm" if None.

    Returns:
        A tensor of the inputs' shape.

    Raises:
        ValueError: an axis is none or two are the same, or the groups do not divide the channels.
    """
    inputs = tf.convert_to_tensor(inputs)
    axis, axes, channels = _group_axes(inputs, groups, channels_axis, reduction_axes)
    dynamic = tf.shape(inputs)
    known = inputs.shape.as_list()
    sizes = [dynamic[i] if size is None else size for i, size in enumerate(known)]
    parts = [groups, channels // groups]
    after = len(known) - axis - 1
    inputs = tf.reshape(inputs, [*sizes[:axis], *parts, *sizes[axis + 1 :]])
    with tf.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as opened:
        broadcast = [*[1] * axis, *parts, *[1] * after]
        wanted = {"beta": center, "gamma": scale}
        options: Any = dict(dtype=inputs.dtype.base_dtype, trainable=trainable)
        beta, gamma = _parameters(
            *([channels], broadcast, wanted, param_initializers, variables_collections), **options
        )
        # The axis of a group's channels is behind that of the groups.
        reduced = [axis + 1, *(a + 1 if a > axis else a for a in axes)]
        if mean_close_to_zero:
            count, total, squares, _ = sufficient_statistics(inputs, reduced, keep_dims=True)
            mean, variance = normalize_moments(count, total, squares, shift=None)  # type: ignore[arg-type]
        else:
            mean, variance = moments(inputs, reduced, keep_dims=True)
        gain = tf.rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain, offset = gain * gamma, offset * gamma
        offset = offset if beta is None else offset + beta
        outputs = tf.reshape(inputs * gain + offset, sizes)
        return finished(outputs, activation_fn, outputs_collections, opened.name)


def _group_axes(
    inputs: Tensor, groups: int, channels_axis: int, reduction_axes: Sequence[int]
) -> tuple[int, list[int], int]:
    """The axis of channels, those of means, and the number of channels."""
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    axis = channels_axis + rank if channels_axis < 0 else channels_axis
    sizes = inputs.shape.as_list()
    channels = sizes[axis]
    if channels is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channel dimension: {axis}.")
    axes = [a + rank if a < 0 else a for a in reduction_axes]
    for a in axes:
        if a > rank:
            raise ValueError("Axis is out of bounds.")
        if sizes[a] is None:
            raise ValueError(f"Inputs {inputs.name} has undefined dimensions {a}.")
        if a == axis:
            raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    return axis, axes, channels
