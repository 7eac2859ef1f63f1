# SPDX-License-Identifier: Apache-2.0
"""Metrics of heads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .....engine.interface import log
from .....engine.types import dtypes
from .....ops.metrics.auc import auc
from .....ops.metrics.means import accuracy, mean
from .....ops.metrics.thresholds import precision_at_thresholds, recall_at_thresholds
from .....ops.nn.weights import broadcast_weights
from .....ops.public import tf

if TYPE_CHECKING:
    from .....engine.graph.tensor import Tensor


def _floats(weights: Tensor | None) -> Any:
    if weights is None:
        return None
    with tf.name_scope(None, "float_weights", (weights,)) as name:
        return tf.cast(weights, dtypes.float32, name=name)


def _of_class(values: Tensor, weights: Tensor | None, class_id: int | None) -> tuple[Any, Any]:
    """Values and their weights, of one class if it is named."""
    weights = _floats(weights)
    if weights is not None:
        weights = broadcast_weights(weights, values)
    if class_id is None:
        return values, weights
    return values[:, class_id], None if weights is None else weights[:, class_id]


def mean_of(
    values: Tensor, weights: Tensor | None = None, class_id: int | None = None
) -> tuple[Any, Any]:
    """The mean of labels or predictions."""
    return mean(*_of_class(tf.cast(values, dtypes.float32), weights, class_id))


def frequency(values: Tensor, weights: Tensor | None, class_id: int) -> tuple[Any, Any]:
    """How often a class is the label or the prediction."""
    same = tf.equal(tf.cast(class_id, dtypes.int32), tf.cast(values, dtypes.int32))
    found = tf.where(same, tf.ones_like(values), tf.zeros_like(values))
    return mean(found, weights=weights)


def area(
    predictions: Tensor,
    labels: Tensor,
    weights: Tensor | None = None,
    class_id: int | None = None,
    curve: str = "ROC",
) -> tuple[Any, Any]:
    """The area under a curve."""
    predictions = tf.cast(predictions, dtypes.float32)
    if labels.dtype.base_dtype != dtypes.bool:
        log.warning("Casting %s labels to bool.", labels.dtype)
        labels = tf.cast(labels, dtypes.bool)
    predictions, weights = _of_class(predictions, weights, class_id)
    if class_id is not None:
        labels = labels[:, class_id]
    return auc(labels, predictions, weights, curve=curve)


def accuracy_at(
    predictions: Tensor, labels: Tensor, weights: Tensor | None, threshold: float
) -> tuple[Any, Any]:
    """The accuracy of predictions that are at least a threshold."""
    at = tf.cast(tf.greater_equal(predictions, threshold), dtypes.float32)
    return accuracy(labels, at, weights)


def _squeezed(
    metric: Any, predictions: Tensor, labels: Tensor, weights: Tensor | None, threshold: float
) -> tuple[Tensor, Tensor]:
    value, update = metric(labels, predictions, (threshold,), _floats(weights))
    return tf.squeeze(value), tf.squeeze(update)


def precision_at(
    predictions: Tensor, labels: Tensor, weights: Tensor | None, threshold: float
) -> tuple[Tensor, Tensor]:
    """The precision at a threshold."""
    metric = precision_at_thresholds
    return _squeezed(metric, predictions, labels, weights, threshold)


def recall_at(
    predictions: Tensor, labels: Tensor, weights: Tensor | None, threshold: float
) -> tuple[Tensor, Tensor]:
    """The recall at a threshold."""
    return _squeezed(recall_at_thresholds, predictions, labels, weights, threshold)
