# SPDX-License-Identifier: Apache-2.0
"""Small models to train with strategies: `tensorflow.python.distribute.single_loss_example`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ops.data.dataset_v1 import DatasetV1 as Dataset
from ...ops.public import tf
from ...train.keras.optimizers.base import Optimizer as OptimizerV2
from ...train.layers.core import Dense
from ...train.layers.normalization import BatchNormalization
from .training_steps import StandardSingleLossStep


def _ones() -> Any:
    return Dataset.from_tensors([[1.0]]).repeat()


def _squared_distance(layer: Any, x: Any) -> Any:
    """How far a layer's only output is from one."""
    return tf.square(tf.reshape(layer(x), []) - tf.constant(1.0))


def _minimized(optimizer: Any, loss: Any, layer: Any) -> Any:
    """A step of training; optimizers of Keras are told the variables."""
    if isinstance(optimizer, OptimizerV2):
        return optimizer.minimize(loss, lambda: layer.trainable_variables)
    return optimizer.minimize(loss)


def single_loss_example(
    optimizer_fn: Callable[[], Any],
    distribution: Any,
    use_bias: bool = False,
    iterations_per_step: int = 1,
) -> tuple[StandardSingleLossStep, Any]:
    """(A step that brings a layer's output nearer to one, the layer)."""
    optimizer, layer = optimizer_fn(), Dense(1, use_bias=use_bias)

    def loss_fn(context: Any, x: Any) -> Any:
        del context
        return _squared_distance(layer, x)

    step = StandardSingleLossStep(_ones, loss_fn, optimizer, distribution, iterations_per_step)
    return step, layer


def minimize_loss_example(
    optimizer: Any, use_bias: bool = False, use_callable_loss: bool = True
) -> tuple[Callable[..., Any], Callable[[], Any], Any]:
    """(What trains with an element, what gives a dataset, the layer that is trained)."""
    layer = Dense(1, use_bias=use_bias)

    def model_fn(x: Any) -> Any:
        def loss_fn() -> Any:
            return _squared_distance(layer, x)

        is_called = use_callable_loss or isinstance(optimizer, OptimizerV2)
        return _minimized(optimizer, loss_fn if is_called else loss_fn(), layer)

    return model_fn, lambda: _ones().batch(1, drop_remainder=True), layer


def batchnorm_example(
    optimizer_fn: Callable[[], Any],
    batch_per_epoch: int = 1,
    momentum: float = 0.9,
    renorm: bool = False,
    update_ops_in_replica_mode: bool = False,
) -> tuple[Callable[..., Any], Callable[[], Any], Any]:
    """The same of batch normalization, for batches of 16 rows whose numbers rise."""
    optimizer = optimizer_fn()
    normalization = BatchNormalization(renorm=renorm, momentum=momentum, fused=False)
    layer = Dense(1, use_bias=False)

    def dataset_fn() -> Any:
        first = tf.reshape(tf.range(128.0), [16, 8])
        batches = [first + 100.0 * number for number in range(batch_per_epoch)]
        return Dataset.from_tensor_slices(tf.stack(batches)).repeat()

    def model_fn(x: Any) -> Any:
        def loss_fn() -> Any:
            y = normalization(x, training=True)
            updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
            with tf.control_dependencies(updates if update_ops_in_replica_mode else []):
                return tf.reduce_mean(tf.reduce_sum(layer(y)) - tf.constant(1.0))

        return _minimized(optimizer, loss_fn, layer)

    return model_fn, dataset_fn, normalization
