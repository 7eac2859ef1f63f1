# SPDX-License-Identifier: Apache-2.0
"""Losses of heads: of labels, logits and weights, the one to train with and the one to show."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .....engine.interface import log
from .....engine.types import dtypes
from .....ops.nn.loss import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from .....ops.nn.losses import hinge_loss
from .....ops.nn.losses_reduction import Reduction
from .....ops.nn.weights import broadcast_weights
from .....ops.public import tf
from .inputs import arguments

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor


def weight_tensor(features: dict[str, Any], name: str | None) -> Any:
    """The feature with examples' weights, as a column; None if there is none."""
    if not name:
        return None
    if name not in features:
        raise ValueError(f"Weights {name} missing from features.")
    with tf.name_scope(None, "weight_tensor", tuple(features.values())):
        weights = tf.cast(features[name], dtypes.float32)
        shape = weights.get_shape()
        if shape.ndims != 1:
            return weights
        log.warning("Weights %s has shape %s, expanding to make it 2d.", name, shape)
        return tf.reshape(weights, (-1, 1))


def weighted(losses: Tensor, weights: Tensor | None, name: str = "loss") -> tuple[Any, Any]:
    """The mean of weighted losses, and their weighted mean."""
    with tf.name_scope(name, values=(losses, weights)) as scope:
        if weights is None:
            loss = tf.reduce_mean(losses, name=scope)
            return loss, loss
        weights = broadcast_weights(weights, losses)
        with tf.name_scope(None, "weighted_loss", (losses, weights)) as inner:
            products = tf.multiply(losses, weights, name=inner)
        mean = tf.reduce_mean(products, name=scope)
        total = tf.cast(tf.reduce_sum(weights), dtypes.float32)
        return mean, tf.div(tf.reduce_sum(products), total, name="weighted_average_loss")


def _columns(labels: Tensor, logits: Tensor) -> tuple[Any, Any]:
    pair = [tf.convert_to_tensor(logits), tf.convert_to_tensor(labels)]
    wide = [x if len(x.get_shape()) != 1 else tf.expand_dims(x, axis=1) for x in reversed(pair)]
    wide[1].get_shape().assert_is_compatible_with(wide[0].get_shape())
    return wide[0], wide[1]


def mean_squared(labels: Tensor, logits: Tensor, weights: Tensor | None = None) -> tuple[Any, Any]:
    """The squared error."""
    with tf.name_scope(None, "mean_squared_loss", (logits, labels)) as name:
        labels, logits = _columns(labels, logits)
        cast = tf.cast(labels, dtypes.float32)
        return weighted(tf.squared_difference(logits, cast, name=name), weights)


def poisson(labels: Tensor, logits: Tensor, weights: Tensor | None = None) -> tuple[Any, Any]:
    """The loss of counts."""
    with tf.name_scope(None, "_poisson_loss", (logits, labels)) as name:
        labels, logits = _columns(labels, logits)
        losses = log_poisson_loss(labels, logits, compute_full_loss=True, name=name)
        return weighted(losses, weights)


def two_classes(labels: Tensor, logits: Tensor, weights: Tensor | None = None) -> tuple[Any, Any]:
    """The cross entropy with the sigmoid of one logit."""
    with tf.name_scope(None, "log_loss_with_two_classes", (logits, labels)) as name:
        logits = tf.convert_to_tensor(logits)
        labels = tf.cast(labels, dtypes.float32)
        if len(labels.get_shape()) == 1:
            labels = tf.expand_dims(labels, axis=1)
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
        return weighted(losses, weights)


def many_classes(labels: Tensor, logits: Tensor, weights: Tensor | None = None) -> tuple[Any, Any]:
    """The cross entropy with the softmax."""
    with tf.name_scope(None, "softmax_cross_entropy_loss", (logits, labels)) as name:
        labels = tf.convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
        is_column = len(labels.get_shape()) == 2
        if is_column:
            labels = tf.squeeze(labels, axis=(1,))
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)
        return weighted(tf.expand_dims(losses, axis=1) if is_column else losses, weights)


def many_labels(labels: Tensor, logits: Tensor, weights: Tensor | None = None) -> tuple[Any, Any]:
    """The cross entropy with the sigmoid of each logit."""
    with tf.name_scope(None, "sigmoid_cross_entropy_loss", (logits, labels)) as name:
        losses = sigmoid_cross_entropy_with_logits(
            labels=tf.cast(labels, dtypes.float32), logits=logits, name=name
        )
        return weighted(losses, weights)


def hinge(labels: Tensor, logits: Tensor, weights: Tensor | None = None) -> tuple[Any, Any]:
    """The loss of support vector machines."""
    with tf.name_scope(None, "hinge_loss", (logits, labels)) as name:
        message = "labels shape should be either [batch_size, 1] or [batch_size]"
        check = tf.Assert(tf.less_equal(tf.rank(labels), 2), (message,))
        with tf.control_dependencies([check]):
            labels = tf.reshape(labels, shape=(-1, 1))
        losses = hinge_loss(labels=labels, logits=logits, scope=name, reduction=Reduction.NONE)
        return weighted(losses, weights)


def custom(loss_fn: Callable[..., Any] | None) -> Callable[..., Any] | None:
    """A program's loss in this form; ValueError if it takes other arguments."""
    if loss_fn is None:
        return None
    for name in ("labels", "logits", "weights"):
        if name not in arguments(loss_fn):
            raise ValueError(f"Argument {name} not found in loss_fn.")

    def called(labels: Tensor, logits: Tensor, weights: Tensor | None = None) -> tuple[Any, Any]:
        loss = loss_fn(labels, logits, *(() if weights is None else (weights,)))
        return loss, loss

    return called
