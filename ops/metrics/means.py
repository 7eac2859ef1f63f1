# SPDX-License-Identifier: Apache-2.0
"""Means over batches, and the errors, distances and accuracies that are means of something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.graph import control_dependencies
from ...engine.types import dtypes
from ..nn.weights import broadcast_weights
from ..public import tf
from ..sparse.arithmetic import remove_squeezable_dimensions
from .state import collected, computed, matched, metric_variable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

Metric = tuple[Any, Any]


def _ratio(total: TensorLike, count: TensorLike, name: str | None) -> Tensor:
    return tf.div_no_nan(total, tf.maximum(count, 0), name=name)


def _weighted(values: Tensor, weights: Tensor) -> tuple[Any, Any]:
    """The values times their weights, and the weights as they broadcast."""
    values, _, weights = matched(values, None, weights)
    weights = broadcast_weights(tf.cast(weights, dtypes.float32), values)
    return tf.multiply(values, weights), weights


def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of all values that were ever taken in; 0 before the first.

    Args:
        values: a tensor of numbers.
        weights: how much each counts: a tensor that broadcasts; all alike by default.
        metrics_collections, updates_collections: keys that the two are added to; none by default.
        name: the scope of the operations and variables.

    Returns:
        Two float32 scalars: the value so far, and an operation's that takes in what a run has and
        gives the value then.  The counts are local variables.

    Raises:
        ValueError: shapes do not fit.

    Example:
        >>> value, update = tf.metrics.mean([1.0, 5.0])
        >>> sess = tf.Session()
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update), sess.run(value)
        (np.float32(3.0), np.float32(3.0))
    """
    with tf.variable_scope(name, "mean", (values, weights)):
        values = tf.cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            num_values = tf.cast(tf.size(values), dtypes.float32)
        else:
            values, weights = _weighted(values, weights)
            num_values = tf.reduce_sum(weights)
        update_total = tf.assign_add(total, tf.reduce_sum(values))
        with control_dependencies([values]):
            update_count = tf.assign_add(count, num_values)
        updates = (update_total, update_count)
        return computed(_ratio, (total, count), updates, metrics_collections, updates_collections)


def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean element by element, in the static shape of the values."""
    with tf.variable_scope(name, "mean", (values, weights)):
        values = tf.cast(values, dtypes.float32)
        total = metric_variable(values.get_shape(), dtypes.float32, name="total_tensor")
        count = metric_variable(values.get_shape(), dtypes.float32, name="count_tensor")
        num_values = tf.ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            num_values = tf.multiply(num_values, weights)
        update_total = tf.assign_add(total, values)
        with control_dependencies([values]):
            update_count = tf.assign_add(count, num_values)
        updates = (update_total, update_count)
        return computed(_ratio, (total, count), updates, metrics_collections, updates_collections)


def accuracy(
    labels: Any,
    predictions: Any,
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """How often predictions were equal to labels.

    Args:
        labels: the truth, of any shape.
        predictions: a tensor of the same shape.
        weights: how much each counts: a tensor that broadcasts; all alike by default.
        metrics_collections, updates_collections: keys that the two are added to; none by default.
        name: the scope of the operations and variables.

    Returns:
        Two float32 scalars: the value so far, and an operation's that takes in what a run has and
        gives the value then.  The counts are local variables.

    Raises:
        ValueError: shapes do not fit.

    Example:
        >>> value, update = tf.metrics.accuracy([1, 2, 3, 4], [1, 2, 3, 0])
        >>> sess = tf.Session()
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update), sess.run(value)
        (np.float32(0.75), np.float32(0.75))
    """
    predictions, labels, weights = matched(predictions, labels, weights)
    if labels.dtype != predictions.dtype:
        predictions = tf.cast(predictions, labels.dtype)
    is_correct = tf.cast(tf.equal(predictions, labels), dtypes.float32)
    return mean(is_correct, weights, metrics_collections, updates_collections, name or "accuracy")


def mean_absolute_error(
    labels: Any,
    predictions: Any,
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The mean of |predictions - labels|."""
    predictions, labels, weights = matched(predictions, labels, weights)
    errors, name = tf.abs(predictions - labels), name or "mean_absolute_error"
    return mean(errors, weights, metrics_collections, updates_collections, name)


def mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The mean of (labels - predictions)**2."""
    predictions, labels, weights = matched(predictions, labels, weights)
    errors, name = tf.squared_difference(labels, predictions), name or "mean_squared_error"
    return mean(errors, weights, metrics_collections, updates_collections, name)


def root_mean_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The square root of the mean of (labels - predictions)**2."""
    predictions, labels, weights = matched(predictions, labels, weights)
    name = name or "root_mean_squared_error"
    value, update = mean_squared_error(labels, predictions, weights, None, None, name)
    # The root of the mean over all batches, not the mean of the batches' roots.
    value, update = tf.sqrt(value), tf.sqrt(update)
    return collected(value, update, metrics_collections, updates_collections)


def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The mean of |labels - predictions| / normalizer, 0 where the normalizer is 0."""
    predictions, labels, weights = matched(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.get_shape().assert_is_compatible_with(normalizer.get_shape())
    errors = tf.where(
        tf.equal(normalizer, 0.0),
        tf.zeros_like(labels),
        tf.div(tf.abs(labels - predictions), normalizer),
    )
    name = name or "mean_relative_error"
    return mean(errors, weights, metrics_collections, updates_collections, name)


def mean_cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    dim: int,
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """One minus the mean cosine of vectors along `dim`, which must have length one."""
    predictions, labels, weights = matched(predictions, labels, weights)
    cosines = tf.reduce_sum(tf.multiply(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(cosines, weights, None, None, name or "mean_cosine_distance")
    value, update = tf.subtract(1.0, value), tf.subtract(1.0, update)
    return collected(value, update, metrics_collections, updates_collections)


def percentage_below(
    values: TensorLike,
    threshold: float,
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of values below a threshold."""
    is_below = tf.cast(tf.less(values, threshold), dtypes.float32)
    name = name or "percentage_below_threshold"
    return mean(is_below, weights, metrics_collections, updates_collections, name)
