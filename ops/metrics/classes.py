# SPDX-License-Identifier: Apache-2.0
"""Metrics that keep something per class: the mean of accuracies, intersection over union."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.types import dtypes
from ..public import tf
from ..state.merging import merged
from .state import collected, metric_variable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor
    from ..state.variables import Variable

Metric = tuple[Any, Any]


def _flat(tensor: Tensor) -> Tensor:
    ndims = tensor.get_shape().ndims
    return tf.reshape(tensor, [-1]) if ndims is None or ndims > 1 else tensor


def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The mean of the classes' accuracies; the update gives them class by class."""
    with tf.variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = _flat(tf.cast(labels, dtypes.int64))
        predictions = _flat(predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        # TensorFlow's names, in which "total" counts the labels and "count" those that were
        # predicted.
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = tf.ones([tf.size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = tf.cast(predictions, labels.dtype)
        is_correct = tf.cast(tf.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = tf.cast(_flat(weights), dtypes.float32)
            is_correct *= weights
            ones *= weights
        update_total = tf.scatter_add(total, labels, ones)
        update_count = tf.scatter_add(count, labels, is_correct)
        value = merged(_mean_accuracy, count, total)
        update = tf.div_no_nan(update_count, tf.maximum(update_total, 0), name="update_op")
        return collected(value, update, metrics_collections, updates_collections)


def _mean_accuracy(count: Any, total: Any) -> Any:
    accuracies = tf.div_no_nan(count, tf.maximum(total, 0))
    return tf.reduce_mean(accuracies, name="mean_accuracy")


def _confusion(
    labels: Tensor, predictions: Tensor, num_classes: TensorLike, weights: Tensor | None
) -> Metric:
    """The confusion matrix of all batches and its update."""
    # Counts in float64, which are exact up to 2^53; in float32 adding one stops at 2^24.
    matrix = metric_variable(
        [num_classes, num_classes], dtypes.float64, name="total_confusion_matrix"
    )
    predictions = tf.cast(predictions, dtypes.int64)
    labels = tf.cast(labels, dtypes.int64)
    num_classes = tf.cast(num_classes, dtypes.int64)
    predictions, labels = _flat(predictions), _flat(labels)
    if weights is not None:
        weights = _flat(weights)
    current = tf.confusion_matrix(
        labels, predictions, num_classes, weights=weights, dtype=dtypes.float64
    )
    return matrix, tf.assign_add(matrix, current)


def _mean_iou(matrix: Variable) -> Tensor:
    rows = tf.cast(tf.reduce_sum(matrix, 0), dtypes.float32)
    columns = tf.cast(tf.reduce_sum(matrix, 1), dtypes.float32)
    both = tf.cast(tf.diag_part(matrix), dtypes.float32)
    union = rows + columns - both
    # Classes that never occur do not count.
    num_valid = tf.reduce_sum(tf.cast(tf.not_equal(union, 0), dtype=dtypes.float32))
    union = tf.where(tf.greater(union, 0), union, tf.ones_like(union))
    iou = tf.div(both, union)
    return tf.where(tf.greater(num_valid, 0), tf.reduce_sum(iou, name="mean_iou") / num_valid, 0)


def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: Any,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The mean intersection over union of the classes; the update gives the confusion matrix."""
    with tf.variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        matrix, update = _confusion(labels, predictions, num_classes, weights)
        value = merged(_mean_iou, matrix)
        return collected(value, update, metrics_collections, updates_collections)
