# SPDX-License-Identifier: Apache-2.0
"""Mean losses of linear models, as graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.nn.activation import relu
from ...ops.nn.loss import log_poisson_loss, sigmoid_cross_entropy_with_logits
from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor


def mean_loss(loss: str, predictions: Tensor, labels: Tensor, weights: Tensor) -> Tensor:
    """The loss by the weight of examples.

    Args:
        loss: its name, of those of the op SdcaOptimizer.
        predictions: products of weights and features, float64 [examples].
        labels: 0 or 1, or numbers, float64 [examples].
        weights: of the examples, float64 [examples].
    """
    if loss == "logistic_loss":
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=predictions)
        return tf.reduce_sum(tf.multiply(losses, weights)) / tf.reduce_sum(weights)
    if loss == "poisson_loss":
        losses = log_poisson_loss(targets=labels, log_input=predictions)
        return tf.reduce_sum(tf.multiply(losses, weights)) / tf.reduce_sum(weights)
    if loss in ("hinge_loss", "smooth_hinge_loss"):
        ones = tf.ones_like(predictions)
        signs = tf.subtract(2 * labels, ones)
        lacking = relu(tf.subtract(ones, tf.multiply(signs, predictions)))
        return tf.reduce_sum(tf.multiply(lacking, weights)) / tf.reduce_sum(weights)
    errors = tf.subtract(labels, predictions)
    squares = tf.multiply(tf.square(errors), weights)
    return tf.reduce_sum(squares) / (2.0 * tf.reduce_sum(weights))
