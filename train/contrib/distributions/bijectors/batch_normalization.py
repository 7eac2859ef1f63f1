# SPDX-License-Identifier: Apache-2.0
"""Batch normalization as a bijector: its inverse normalizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .....engine.api import export
from .....engine.graph.graph import name_scope
from .....engine.graph.tensor import Tensor
from .....ops.distributions.bijector import Bijector
from .....ops.nn.activation import relu
from .....ops.nn.norm import moments
from .....ops.public import tf
from ....layers.normalization import BatchNormalization as BatchNormalizationLayer


def _undo_batch_normalization(
    x: Tensor,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: float,
    name: str | None = None,
) -> Tensor:
    """What batch normalization with these numbers makes x of."""
    with name_scope(name, "undo_batchnorm", [x, mean, variance, scale, offset]):
        rescale = tf.sqrt(variance + variance_epsilon)
        rescale = rescale if scale is None else rescale / scale
        return x * rescale + (mean if offset is None else mean - offset * rescale)


@export("contrib.distributions.bijectors.BatchNormalization")
class BatchNormalization(Bijector):
    """The inverse is a layer of batch normalization: by the batch's own moments in training.

    batchnorm_layer: a tf.layers.BatchNormalization; one with positive scales if None.
    """

    def __init__(
        self,
        batchnorm_layer: Any = None,
        training: bool = True,
        validate_args: bool = False,
        name: str = "batch_normalization",
    ) -> None:
        self.batchnorm = batchnorm_layer or BatchNormalizationLayer(
            gamma_constraint=lambda x: relu(x) + 1e-6
        )
        if not isinstance(self.batchnorm, BatchNormalizationLayer):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if self.batchnorm.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if self.batchnorm.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self._training = training
        axis = self.batchnorm.axis
        super().__init__(
            forward_min_event_ndims=1 if isinstance(axis, int) else len(axis),
            validate_args=validate_args,
            name=name,
        )

    def _broadcaster(self, x: Tensor) -> Callable[[Any], Any]:
        """What brings the layer's variables into a shape that broadcasts to that of x."""
        sizes = _known_sizes(x)
        axes = self.batchnorm.axis
        others = [i for i in range(len(sizes)) if i not in axes]
        shape = [1] * len(sizes)
        shape[axes[0]] = sizes[axes[0]]

        def broadcast(v: Any) -> Any:
            is_other = v is not None and len(v.shape) != len(sizes)
            if is_other and others != list(range(len(sizes) - 1)):
                return tf.reshape(v, shape)
            return v

        return broadcast

    def _forward(self, x: Tensor) -> Tensor:
        layer = self.batchnorm
        if not layer.built:
            layer.build(x.shape)
        broadcast = self._broadcaster(x)
        return _undo_batch_normalization(
            x,
            broadcast(layer.moving_mean),
            broadcast(layer.moving_variance),
            broadcast(layer.beta) if layer.center else None,
            broadcast(layer.gamma) if layer.scale else None,
            layer.epsilon,
        )

    def _inverse(self, y: Tensor) -> Tensor:
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x: Tensor) -> Tensor:
        # Forwards there is no batch to normalize by.
        return -self._inverse_log_det_jacobian(x, use_saved_statistics=True)

    def _inverse_log_det_jacobian(self, y: Tensor, use_saved_statistics: bool = False) -> Tensor:
        layer = self.batchnorm
        sizes = _known_sizes(y)
        if not layer.built:
            layer.build(y.shape)
        others = [i for i in range(len(sizes)) if i not in layer.axis]
        if use_saved_statistics or not self._training:
            variance = layer.moving_variance
        else:
            _, variance = moments(y, axes=others, keepdims=True)
        logs = tf.reduce_sum(tf.log(variance + layer.epsilon))
        return tf.reduce_sum(tf.log(layer.gamma)) - 0.5 * logs


def _known_sizes(x: Tensor) -> Any:
    if not x.shape.is_fully_defined():
        raise ValueError("Input must have shape known at graph construction.")
    sizes: Any = x.shape.as_list()
    return np.int32(sizes)
