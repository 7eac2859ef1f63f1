# SPDX-License-Identifier: Apache-2.0
"""Counts, covariance, correlation, cosine distance, agreement, and metrics at the best k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.metrics import at_k
from ....ops.metrics.at_k import _average_precision_at_top_k
from ....ops.metrics.state import collected, computed, matched, metric_variable
from ....ops.metrics.top_k_counts import at_k_name
from ....ops.nn.top_k import in_top_k
from ....ops.nn.weights import broadcast_weights
from ....ops.public import tf
from .streaming import streaming_mean

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike
    from ....engine.graph.tensor import Tensor

Metric = tuple[Any, Any]


@export("contrib.metrics.accuracy")
def accuracy(
    predictions: Tensor, labels: Tensor, weights: TensorLike | None = None, name: str | None = None
) -> Any:
    """The share of predictions that are the labels, of this run alone.

    Args:
        predictions, labels: tensors of one shape and dtype: integers, bools or strings.
        weights: how much each counts; all alike if None.
        name: the name scope.

    Returns:
        A scalar.

    Raises:
        ValueError: the dtypes differ, or are others.

    Example:
        >>> share = tf.contrib.metrics.accuracy(tf.constant([1, 2]), tf.constant([1, 3]))
        >>> print(tf.Session().run(share))
        0.5
    """
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool, dtypes.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(
            "Dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype!r}) and labels ({labels.dtype!r})"
        )
    with tf.name_scope(name, "accuracy", values=[predictions, labels]):
        correct = tf.cast(tf.equal(predictions, labels), dtypes.float32)
        if weights is None:
            return tf.reduce_mean(correct)
        correct = tf.multiply(correct, weights)
        total = tf.multiply(weights, tf.ones_like(correct))
        return tf.div(tf.reduce_sum(correct), tf.reduce_sum(total))


@export("contrib.metrics.aggregate_metrics")
def aggregate_metrics(*value_update_tuples: Metric) -> tuple[list[Any], list[Any]]:
    """The values and the updates of metrics, in two lists.

    Raises:
        ValueError: there are no metrics.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


@export("contrib.metrics.aggregate_metric_map")
def aggregate_metric_map(
    names_to_tuples: Mapping[str, Metric],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values and the updates of metrics, in two dicts by the metrics' names.

    Example:
        >>> values, updates = tf.contrib.metrics.aggregate_metric_map({
        ...     "accuracy": tf.metrics.accuracy([1, 2], [1, 3])
        ... })
        >>> print(list(values), list(updates))
        ['accuracy'] ['accuracy']
    """
    values = {name: value for name, (value, _) in names_to_tuples.items()}
    return values, {name: update for name, (_, update) in names_to_tuples.items()}


@export("contrib.metrics.count")
def count(
    values: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """How many values there were, or the sum of their weights.

    Args: as tf.metrics.mean.

    Returns:
        The value so far, and an operation's that takes in what a run has.
    """
    with tf.variable_scope(name, "count", (values, weights)):
        total = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = tf.cast(tf.size(values), dtypes.float32)
        else:
            values = tf.cast(values, dtypes.float32)
            values, _, weights = matched(values, None, weights)
            weights = broadcast_weights(tf.cast(weights, dtypes.float32), values)
            number = tf.reduce_sum(weights)
        with tf.control_dependencies([values]):
            update = tf.assign_add(total, number)
        return collected(tf.identity(total), update, metrics_collections, updates_collections)


def _step(mean: Any, weighted: Any, batch: Any, total: Any) -> tuple[Any, Any]:
    """The batch's mean, and how far it moves the mean of all."""
    of_batch = tf.div_no_nan(tf.reduce_sum(weighted), batch)
    return of_batch, tf.div_no_nan((of_batch - mean) * batch, total)


@export("contrib.metrics.streaming_covariance")
def streaming_covariance(
    predictions: Tensor,
    labels: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The covariance of two variables, NaN before there are two values.

    Args: as tf.metrics.mean_squared_error, the predictions first.

    Returns:
        The value so far, and an operation's that takes in what a run has.
    """
    with tf.variable_scope(name, "covariance", (predictions, labels, weights)):
        x, y, weights = matched(predictions, labels, weights)
        x.shape.assert_is_compatible_with(y.shape)
        names = ("count", "mean_prediction", "mean_label", "comoment")
        total, mean_x, mean_y, comoment = (
            metric_variable([], dtypes.float32, name=name) for name in names
        )
        if weights is None:
            batch = tf.cast(tf.size(y), dtypes.float32)
            weighted_x, weighted_y = x, y
        else:
            weights = broadcast_weights(weights, y)
            batch = tf.reduce_sum(weights)
            weighted_x, weighted_y = tf.multiply(x, weights), tf.multiply(y, weights)
        update_total = tf.assign_add(total, batch)
        before = update_total - batch
        batch_x, delta_x = _step(mean_x, weighted_x, batch, update_total)
        before_x = tf.assign_add(mean_x, delta_x) - delta_x
        batch_y, delta_y = _step(mean_y, weighted_y, batch, update_total)
        before_y = tf.assign_add(mean_y, delta_y) - delta_y
        products = (x - batch_x) * (y - batch_y)
        of_batch = tf.reduce_sum(products if weights is None else products * weights)
        apart = (before_x - batch_x) * (before_y - batch_y) * (before * batch / update_total)
        update_comoment = tf.assign_add(comoment, of_batch + apart)

        def covariance(name: str) -> Tensor:
            is_few = tf.less_equal(total, 1.0)
            return tf.where(is_few, float("nan"), tf.truediv(comoment, total - 1), name=name)

        value = covariance("covariance")
        with tf.control_dependencies([update_comoment]):
            update = covariance("update_op")
    return collected(value, update, metrics_collections, updates_collections)


@export("contrib.metrics.streaming_pearson_correlation")
def streaming_pearson_correlation(
    predictions: Tensor,
    labels: Tensor,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Pearson's coefficient of correlation of two variables.

    Args: as `streaming_covariance`.

    Returns:
        The value so far, and an operation's that takes in what a run has.
    """
    with tf.variable_scope(name, "pearson_r", (predictions, labels, weights)):
        x, y, weights = matched(predictions, labels, weights)
        x.shape.assert_is_compatible_with(y.shape)
        if weights is not None:
            weights = broadcast_weights(weights, y)
        rows = ((x, y, "covariance"), (x, x, "variance_predictions"), (y, y, "variance_labels"))
        found = [streaming_covariance(a, b, weights=weights, name=name) for a, b, name in rows]

        def correlation(both: Any, of_x: Any, of_y: Any, name: str) -> Tensor:
            return tf.truediv(both, tf.multiply(tf.sqrt(of_x), tf.sqrt(of_y)), name=name)

        (both, update_both), (of_x, update_x), (of_y, update_y) = found
        value = correlation(both, of_x, of_y, "pearson_r")
        update = correlation(update_both, update_x, update_y, "update_op")
    return collected(value, update, metrics_collections, updates_collections)


@export("contrib.metrics.streaming_mean_cosine_distance")
def streaming_mean_cosine_distance(
    predictions: Tensor,
    labels: Tensor,
    dim: int,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The mean of one minus products of vectors, which are to have the norm one.

    Args:
        dim: the vectors' axis.
        predictions: as `streaming_covariance`, like the rest.

    Returns:
        The value so far, and an operation's that takes in what a run has.
    """
    x, y, weights = matched(predictions, labels, weights)
    x.shape.assert_is_compatible_with(y.shape)
    products = tf.reduce_sum(tf.multiply(x, y), axis=[dim], keepdims=True)
    scope = name or "mean_cosine_distance"
    value, update = streaming_mean(products, weights, None, None, scope)
    value, update = tf.subtract(1.0, value), tf.subtract(1.0, update)
    return collected(value, update, metrics_collections, updates_collections)


def _kappa(po: Any, pe_row: Any, pe_col: Any, name: str) -> Tensor:
    agreed, total = tf.reduce_sum(po), tf.reduce_sum(pe_row)
    products = tf.cast(pe_row * pe_col, dtypes.float64)
    by_chance = tf.reduce_sum(tf.div_no_nan(products, tf.cast(total, dtypes.float64)))
    agreed, by_chance, total = (tf.cast(x, dtypes.float64) for x in (agreed, by_chance, total))
    return tf.div_no_nan(agreed - by_chance, total - by_chance, name=name)


@export("contrib.metrics.cohen_kappa")
def cohen_kappa(
    labels: Tensor,
    predictions_idx: Tensor,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """Cohen's kappa: how far two that choose classes agree more than by chance.

    Args:
        labels, predictions_idx: numbers of classes.
        num_classes: how many classes there are.
        weights: how much each counts; all alike if None.
        metrics_collections, updates_collections: keys that the two are added to.
        name: the variable scope.

    Returns:
        The value so far, and an operation's that takes in what a run has.

    Raises:
        ValueError: there are less than two classes.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with tf.variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels.shape.with_rank_at_most(2)
        if labels.shape.ndims == 2:
            labels = tf.squeeze(labels, axis=[-1])
        given, labels, weights = matched(predictions_idx, labels, weights)
        given.shape.assert_is_compatible_with(labels.shape)
        is_integer = weights is None or weights.dtype.is_integer
        dtype = dtypes.int64 if is_integer else dtypes.float32
        kept = [metric_variable((num_classes,), dtype, name=n) for n in ("po", "pe_row", "pe_col")]
        table = tf.confusion_matrix(
            labels,
            given,
            num_classes=num_classes,
            weights=weights,
            dtype=dtype,
            name="counts_in_table",
        )
        parts = [tf.diag_part(table), tf.reduce_sum(table, axis=0), tf.reduce_sum(table, axis=1)]
        updates = [tf.assign_add(v, part) for v, part in zip(kept, parts)]
        return computed(_kappa, kept, updates, metrics_collections, updates_collections)


@export("contrib.metrics.streaming_recall_at_k")
def streaming_recall_at_k(
    predictions: TensorLike,
    labels: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of labels that are among the k best predictions.

    Args:
        predictions: scores, [batch, classes].
        labels: numbers of classes, [batch].
        k: how many predictions count.
        weights: as tf.metrics.mean, like the rest.
    """
    found = tf.cast(in_top_k(predictions, labels, k), dtypes.float32)
    rest = metrics_collections, updates_collections, name or at_k_name("recall", k)
    result: Metric = streaming_mean(found, weights, *rest)
    return result


@export("contrib.metrics.streaming_sparse_precision_at_top_k")
def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: TensorLike,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """tf.metrics.precision_at_top_k, with the predictions first."""
    inputs = (top_k_predictions, labels, weights)
    with tf.name_scope(name, at_k_name("precision", class_id=class_id), inputs) as scope:
        rest = class_id, weights, metrics_collections, updates_collections, scope
        return at_k.precision_at_top_k(labels, top_k_predictions, None, *rest)


@export("contrib.metrics.sparse_recall_at_top_k")
def sparse_recall_at_top_k(
    labels: TensorLike,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """tf.metrics.recall_at_top_k, which is not told k."""
    inputs = (top_k_predictions, labels, weights)
    with tf.name_scope(name, at_k_name("recall", class_id=class_id), inputs) as scope:
        rest = class_id, weights, metrics_collections, updates_collections, scope
        return at_k.recall_at_top_k(labels, top_k_predictions, None, *rest)


@export("contrib.metrics.streaming_sparse_average_precision_at_top_k")
def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """tf.metrics.average_precision_at_k of predictions that are the best k, in order."""
    rest = metrics_collections, updates_collections, name
    return _average_precision_at_top_k(labels, top_k_predictions, weights, *rest)


@export("contrib.metrics.confusion_matrix")
def confusion_matrix(
    labels: TensorLike,
    predictions: TensorLike,
    num_classes: int | None = None,
    dtype: DTypeLike = dtypes.int32,
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Any:
    """The same as tf.confusion_matrix."""
    return tf.confusion_matrix(
        labels, predictions, num_classes=num_classes, dtype=dtype, name=name, weights=weights
    )
