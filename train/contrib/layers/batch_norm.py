# SPDX-License-Identifier: Apache-2.0
"""Batch normalization."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ....engine.api import export
from ....engine.record_class import record
from ....engine.types import dtypes
from ....ops.nn.fused_norm import fused_batch_norm
from ....ops.nn.norm import batch_normalization, moments, weighted_moments
from ....ops.public import tf
from ...layers.normalization import BatchNormalization
from ...variables.moving_averages import assign_moving_average
from ..framework.arg_scope import add_arg_scope
from . import utils
from .model_variables import add_to_collections, finished, parameter, variable_getter

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.tensor import Tensor
    from ....engine.types.shape import TensorShape
    from ....ops.state.variable_scope import VariableScope
    from .annotations import Collections, Function, Scope, VariableCollections

_UPDATE_OPS = tf.GraphKeys.UPDATE_OPS
_PARAMETERS = ("beta", "gamma", "moving_mean", "moving_variance")


@export("contrib.layers.batch_norm")
@add_arg_scope
def batch_norm(
    inputs: TensorLike,
    decay: TensorLike = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Function | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    param_regularizers: Mapping[str, Any] | None = None,
    updates_collections: Collections | None = _UPDATE_OPS,
    is_training: TensorLike = True,
    reuse: bool | None = None,
    variables_collections: VariableCollections | None = None,
    outputs_collections: Collections | None = None,
    trainable: bool = True,
    batch_weights: TensorLike | None = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Scope | None = None,
    renorm: bool = False,
    renorm_clipping: Mapping[str, Any] | None = None,
    renorm_decay: float = 0.99,
    adjustment: Callable[[Any], Any] | None = None,
) -> Tensor:
    """Normalizes each channel by the mean and variance of the batch, or by their averages.

    Training updates the averages by operations in `updates_collections`, which the training
    operation is to depend on; if that is None, the result depends on them itself.

    Args:
        inputs: a tensor of known rank, with a known number of channels.
        decay: how much of an average an update keeps.
        center, scale: whether there is a `beta` to add and a `gamma` to multiply by.
        epsilon: what is added to variances.
        activation_fn: what is applied afterwards.
        param_initializers: initializers by names: beta, gamma, moving_mean, moving_variance.
        param_regularizers: regularizers of beta and gamma, by their names.
        updates_collections: names of collections that get the updates, or None.
        is_training: whether the batch counts, or the averages; a bool or a scalar tensor.
        reuse: whether variables are found instead of made.
        variables_collections: collections for all variables, or a dict by their names.
        outputs_collections: names of collections that get the result.
        trainable: whether beta and gamma are to be trained.
        batch_weights: weights of the batch's elements, or None.
        fused: whether the fused op is used where it can be; it is if None.
        data_format: "NHWC" or "NCHW".
        zero_debias_moving_mean: whether the mean's average is freed of its bias to zero, by two
            more variables.
        scope: the variable scope, "BatchNorm" if None.
        renorm, renorm_clipping, renorm_decay: batch renormalization, as tf.layers has it.
        adjustment: a function of the shape that gives a scale and a bias for training.

    Returns:
        A tensor of the inputs' shape.

    Raises:
        ValueError: the format or the shape is another, or `renorm` is asked for with weights,
            other collections of updates or without bias.

    Example:
        >>> net = tf.contrib.layers.batch_norm(tf.zeros([2, 4, 4, 3]), is_training=True)
        >>> print([v.op.name for v in tf.contrib.framework.get_model_variables()])
        ['BatchNorm/beta', 'BatchNorm/moving_mean', 'BatchNorm/moving_variance']
        >>> print(len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)))
        2
    """
    tensor = tf.convert_to_tensor(inputs)
    settings = _Settings(
        decay=decay,
        center=center,
        scale=scale,
        epsilon=epsilon,
        initializers=param_initializers or {},
        regularizers=param_regularizers or {},
        updates=updates_collections,
        is_training=is_training,
        collections=variables_collections,
        trainable=trainable,
        data_format=data_format,
        zero_debias=zero_debias_moving_mean,
    )
    by_layer = _ByLayer(
        reuse=reuse,
        renorm=renorm,
        renorm_clipping=renorm_clipping,
        renorm_decay=renorm_decay,
        adjustment=adjustment,
        fused=fused is None or fused,
    )
    compute = _way(tensor.shape.ndims, settings, by_layer, batch_weights)
    getter = None if compute is _fused else variable_getter()
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with tf.variable_scope(
        scope, "BatchNorm", [tensor], reuse=reuse, custom_getter=getter
    ) as opened:
        outputs = compute(tensor, settings, opened)
        return finished(outputs, activation_fn, outputs_collections, opened.name)


class _Settings(NamedTuple):
    """The arguments that all ways share."""

    decay: Any
    center: bool
    scale: bool
    epsilon: float
    initializers: Mapping[str, Any]
    regularizers: Mapping[str, Any]
    updates: Any
    is_training: Any
    collections: VariableCollections | None
    trainable: bool
    data_format: str
    zero_debias: bool

    def initializer(self, name: str) -> Any:
        """That of a parameter: zeros of offsets and means, ones of factors and variances."""
        is_offset = name in ("beta", "moving_mean")
        default = tf.zeros_initializer() if is_offset else tf.ones_initializer()
        return self.initializers.get(name, default)

    def parameter(self, name: str, shape: Any, dtype: DTypeLike) -> Any:
        """A model variable."""
        is_average = name.startswith("moving")
        return parameter(
            name,
            shape,
            self.collections,
            dtype=dtype,
            initializer=self.initializer(name),
            regularizer=None if is_average else self.regularizers.get(name),
            trainable=self.trainable and not is_average,
        )

    def averages(self, shape: Any, dtype: DTypeLike) -> tuple[Any, Any]:
        """The averages of mean and variance, which stay whole, whatever the scope cuts."""
        with tf.variable_scope(tf.get_variable_scope()) as local:
            local.set_partitioner(None)
            mean = self.parameter("moving_mean", shape, dtype)
            return mean, self.parameter("moving_variance", shape, dtype)

    def updated(self, averages: tuple[Any, Any], mean: Any, variance: Any) -> tuple[Any, Any]:
        """The operations that update the averages."""
        return (
            assign_moving_average(averages[0], mean, self.decay, zero_debias=self.zero_debias),
            assign_moving_average(averages[1], variance, self.decay, zero_debias=False),
        )

    def add_updates(self, averages: tuple[Any, Any], mean: Any, variance: Any) -> None:
        """Puts the updates into their collections."""
        updates = utils.smart_cond(
            self.is_training, lambda: self.updated(averages, mean, variance), lambda: averages
        )
        for update in updates:
            tf.add_to_collections(self.updates, update)

    def may_train(self) -> bool:
        """Whether training is not known to be off."""
        known = utils.constant_value(self.is_training)
        return known is None or bool(known)


_Way = Callable[["Tensor", "_Settings", "VariableScope"], "Tensor"]


def _way(
    rank: int | None, of: _Settings, by_layer: _ByLayer, batch_weights: TensorLike | None
) -> _Way:
    """How TensorFlow normalizes such inputs; each way has its own variables' order and ops."""
    is_layer = of.updates is _UPDATE_OPS and not of.zero_debias
    is_plain = batch_weights is None and not by_layer.renorm and by_layer.adjustment is None
    if by_layer.fused and is_plain and (rank == 2 or (rank == 4 and not is_layer)):
        return _fused
    if batch_weights is None and is_layer:
        return by_layer
    return functools.partial(_plain, renorm=by_layer.renorm, batch_weights=batch_weights)


@record(frozen=True)
class _ByLayer:
    """The way by the layer of `tf.layers`, with the arguments that it alone has."""

    reuse: bool | None
    renorm: bool
    renorm_clipping: Mapping[str, Any] | None
    renorm_decay: float
    adjustment: Callable[[Any], Any] | None
    fused: bool

    def __call__(self, inputs: Tensor, of: _Settings, scope: VariableScope) -> Tensor:
        names = [f"{name}_initializer" for name in _PARAMETERS]
        layer = BatchNormalization(
            axis=1 if of.data_format == "NCHW" else -1,
            momentum=of.decay,
            epsilon=of.epsilon,
            center=of.center,
            scale=of.scale,
            **{key: of.initializer(name) for key, name in zip(names, _PARAMETERS)},
            beta_regularizer=of.regularizers.get("beta"),
            gamma_regularizer=of.regularizers.get("gamma"),
            trainable=of.trainable,
            name=scope.name,
            _scope=scope,
            _reuse=self.reuse,
            renorm=self.renorm,
            renorm_clipping=None if self.renorm_clipping is None else dict(self.renorm_clipping),
            renorm_momentum=self.renorm_decay,
            adjustment=self.adjustment,
            fused=self.fused,
        )
        outputs = layer.apply(inputs, training=of.is_training)
        for name in ("moving_mean", "moving_variance", "beta", "gamma"):
            if getattr(layer, name) is not None:
                add_to_collections(getattr(layer, name), of.collections, name)
        return outputs


def _as_images(inputs: Tensor, is_first: bool) -> tuple[Tensor, TensorShape]:
    """Rows as images of one pixel, and others as they are; with the shape [channels]."""
    if inputs.shape.ndims == 2:
        channels = inputs.shape.as_list()[-1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        inputs = tf.reshape(inputs, [-1, channels, 1, 1] if is_first else [-1, 1, 1, channels])
    shape = inputs.shape[1:2] if is_first else inputs.shape[-1:]
    if not shape.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {shape}.")
    return inputs, shape


def _fused(inputs: Tensor, of: _Settings, scope: VariableScope) -> Tensor:
    """By the fused op, of pictures or of rows that are pictures of one point."""
    del scope
    original = inputs
    inputs, shape = _as_images(original, of.data_format == "NCHW")
    dtype = dtypes.float32

    def of_kind(name: str, wanted: bool, otherwise: float) -> Any:
        if wanted:
            return of.parameter(name, shape, dtype)
        return tf.constant(otherwise, dtype=dtype, shape=shape)

    beta = of_kind("beta", of.center, 0.0)
    gamma = of_kind("gamma", of.scale, 1.0)
    averages = of.averages(shape, dtype)
    common: Any = dict(epsilon=of.epsilon, data_format=of.data_format)
    outputs, mean, variance = utils.smart_cond(
        of.is_training,
        lambda: fused_batch_norm(inputs, gamma, beta, **common),
        lambda: fused_batch_norm(
            *(inputs, gamma, beta),
            mean=averages[0],
            variance=averages[1],
            is_training=False,
            **common,
        ),
    )
    if of.may_train():
        if of.updates is None:

            def update_first() -> Tensor:
                with tf.control_dependencies(of.updated(averages, mean, variance)):
                    return tf.identity(outputs)

            plain = outputs
            outputs = utils.smart_cond(of.is_training, update_first, lambda: plain)
        else:
            of.add_updates(averages, mean, variance)
    outputs.set_shape(inputs.shape)
    if original.shape.ndims == 2:
        outputs = tf.reshape(outputs, tf.shape(original))
    return outputs


def _plain(
    inputs: Tensor,
    of: _Settings,
    scope: VariableScope,
    *,
    renorm: bool,
    batch_weights: TensorLike | None,
) -> Tensor:
    """By ops for each step: what the others cannot."""
    del scope
    if renorm:
        raise ValueError(
            "renorm is not supported with batch_weights, updates_collections or "
            "zero_debias_moving_mean"
        )
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    weights = None
    if batch_weights is not None:
        weights = tf.convert_to_tensor(batch_weights)
        inputs.shape[0:1].assert_is_compatible_with(weights.shape)
        weights = tf.reshape(weights, [-1, *[1] * (rank - 1)])
    is_first = of.data_format == "NCHW"
    shape = inputs.shape[1:2] if is_first else inputs.shape[-1:]
    if not shape.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {shape}.")
    dtype = inputs.dtype.base_dtype
    beta = of.parameter("beta", shape, dtype) if of.center else None
    gamma = of.parameter("gamma", shape, dtype) if of.scale else None
    mean, variance = averages = of.averages(shape, dtype)
    if of.may_train():
        mean, variance = _updating(of, averages, *_moments(inputs, is_first, weights))
    if is_first:
        sizes = [1, inputs.shape.as_list()[1], *[1] * (rank - 2)]
        mean, variance, beta, gamma = (
            None if v is None else tf.reshape(v, sizes) for v in (mean, variance, beta, gamma)
        )
    outputs = batch_normalization(inputs, mean, variance, beta, gamma, of.epsilon)
    outputs.set_shape(inputs.shape)
    return outputs


def _moments(inputs: Tensor, is_first: bool, weights: Any) -> tuple[Any, Any]:
    """Mean and variance of each channel of the batch."""
    rank = inputs.shape.ndims or 0
    axes = [0, *range(2, rank)] if is_first else list(range(rank - 1))
    if weights is None:
        found = moments(inputs, axes, keep_dims=True) if is_first else moments(inputs, axes)
    elif is_first:
        found = weighted_moments(inputs, axes, weights, keepdims=True)
    else:
        found = weighted_moments(inputs, axes, weights)
    mean, variance = found
    return (tf.reshape(mean, [-1]), tf.reshape(variance, [-1])) if is_first else (mean, variance)


def _updating(of: _Settings, averages: tuple[Any, Any], mean: Any, variance: Any) -> Any:
    """What to normalize by, with the updates on the way or in their collections."""
    if of.updates is None:

        def update_first() -> tuple[Tensor, Tensor]:
            with tf.control_dependencies(of.updated(averages, mean, variance)):
                return tf.identity(mean), tf.identity(variance)

        return utils.smart_cond(of.is_training, update_first, lambda: averages)
    of.add_updates(averages, mean, variance)
    return utils.smart_cond(of.is_training, lambda: (mean, variance), lambda: averages)
