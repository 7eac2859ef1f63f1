# SPDX-License-Identifier: Apache-2.0
"""Dense layers with the losses of what they predict."""

from __future__ import annotations

from typing import Any

from .....engine.api import export
from .....engine.graph.tensor import Tensor
from .....ops.nn import losses
from .....ops.nn.bias import xw_plus_b
from .....ops.nn.softmax import softmax
from .....ops.public import tf
from ...structures import Structure


@export("contrib.learn.ops.mean_squared_error_regressor")
def mean_squared_error_regressor(
    tensor_in: Structure,
    labels: Structure,
    weights: Structure,
    biases: Structure,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Predictions x w + b and their mean squared error (tf.contrib.learn.ops).

    Args:
        tensor_in: [batch, n].
        labels: [batch] or [batch, m].
        weights: [n, m].
        biases: [m].
        name: of the scope.

    Returns:
        Predictions of the shape of labels, and a scalar.
    """
    with tf.name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = xw_plus_b(tensor_in, weights, biases)
        if len(labels.shape) == 1 and len(predictions.shape) == 2:
            predictions = tf.squeeze(predictions, axis=[1])
        return predictions, losses.mean_squared_error(labels, predictions)


@export("contrib.learn.ops.softmax_classifier")
def softmax_classifier(
    tensor_in: Structure,
    labels: Structure,
    weights: Structure,
    biases: Structure,
    class_weight: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Probabilities of classes and their cross entropy (tf.contrib.learn.ops).

    Args:
        tensor_in: [batch, n].
        labels: one-hot rows [batch, classes].
        weights: [n, classes].
        biases: [classes].
        class_weight: [classes], what logits are multiplied by.
        name: of the scope.

    Returns:
        Probabilities [batch, classes], and a scalar.
    """
    with tf.name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = tf.multiply(logits, class_weight)
        return softmax(logits), losses.softmax_cross_entropy(labels, logits)
