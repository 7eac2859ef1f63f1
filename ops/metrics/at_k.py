# SPDX-License-Identifier: Apache-2.0
"""Precision, recall and average precision of the k classes with the highest scores.

predictions are scores, [..., num_classes]; predictions_idx name the k best classes, [..., k].
class_id: count this class alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.deprecation import deprecated
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import SparseTensor, SparseTensorValue
from ...engine.types import dtypes
from ..nn.weights import broadcast_weights
from ..public import tf
from ..state.merging import merged
from .state import collected, metric_variable
from .top_k_counts import at_k_name, average_precision, expanded_labels, streaming

if TYPE_CHECKING:
    from ...engine.graph.annotations import SparseLike, TensorLike
    from ...engine.graph.tensor import Tensor

Metric = tuple[Any, Any]


def _best(predictions: Tensor, k: int) -> Any:
    """The k best classes of each row."""
    return getattr(tf, "nn.top_k")(predictions, k)[1]


def _share_of(
    kind: str,
    labels: Any,
    predictions_idx: Tensor,
    k: int | None,
    class_id: int | None,
    weights: Tensor | None,
    *rest: Any,
) -> Metric:
    """True positives among themselves and what is of another kind."""
    metrics_collections, updates_collections, scope = rest
    labels = expanded_labels(labels, predictions_idx)
    given = labels, tf.cast(predictions_idx, dtypes.int64), k, class_id, weights
    true, update_true = streaming("true_positive", *given)
    false, update_false = streaming(kind, *given)
    # Not div_no_nan: TensorFlow gives NaN while there is nothing to count.
    value = merged(lambda t, f: tf.div(t, tf.add(t, f), name=scope), true, false)
    update = tf.div(update_true, tf.add(update_true, update_false), name="update")
    return collected(value, update, metrics_collections, updates_collections)


def recall_at_k(
    labels: SparseLike | TensorLike,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of the labels that are among the k best; NaN before there are any."""
    inputs = (predictions, labels, weights)
    with name_scope(name, at_k_name("recall", k, class_id), inputs) as scope:
        best, rest = _best(predictions, k), (metrics_collections, updates_collections, scope)
        return recall_at_top_k(labels, best, k, class_id, weights, *rest)


def recall_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """`recall_at_k` of given classes; k only names it."""
    inputs = (predictions_idx, labels, weights)
    with name_scope(name, at_k_name("recall", k, class_id), inputs) as scope:
        given = labels, predictions_idx, k, class_id, weights
        rest = metrics_collections, updates_collections, scope
        return _share_of("false_negative", *given, *rest)


def precision_at_k(
    labels: SparseLike | TensorLike,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of the k best that are labels; NaN before there are any."""
    inputs = (predictions, labels, weights)
    with name_scope(name, at_k_name("precision", k, class_id), inputs) as scope:
        best, rest = _best(predictions, k), (metrics_collections, updates_collections, scope)
        return precision_at_top_k(labels, best, k, class_id, weights, *rest)


def precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """`precision_at_k` of given classes; k only names it."""
    inputs = (predictions_idx, labels, weights)
    with name_scope(name, at_k_name("precision", k, class_id), inputs) as scope:
        given = labels, predictions_idx, k, class_id, weights
        rest = metrics_collections, updates_collections, scope
        return _share_of("false_positive", *given, *rest)


@deprecated(None, "Use precision_at_k instead")
def sparse_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    class_id: int | None = None,
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The older name of `precision_at_k`."""
    rest = metrics_collections, updates_collections, name
    return precision_at_k(labels, predictions, k, class_id, weights, *rest)


def _in_range(labels: Any, num_classes: Tensor) -> Any:
    """Labels with those that no class has made -1, which counts as none."""
    is_sparse = isinstance(labels, SparseTensor | SparseTensorValue)

    def clean(values: Tensor) -> Tensor:
        is_outside = tf.greater_equal(values, num_classes)
        return tf.where_v2(is_outside, -1 * tf.ones_like(values), values)

    def cleaned() -> Any:
        if not is_sparse:
            return clean(labels)
        values = clean(labels.values)
        return type(labels)(labels.indices, values, labels.dense_shape)

    largest = tf.reduce_max(labels.values if is_sparse else labels)
    # Most labels are in range: then nothing is copied.
    return tf.cond(tf.greater_equal(largest, num_classes), cleaned, lambda: labels)


def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The mean over rows of the average precision among the k best; ValueError when k < 1."""
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    inputs = (predictions, labels, weights)
    with name_scope(name, at_k_name("average_precision", k), inputs) as scope:
        best = _best(predictions, k)
        num_classes = tf.cast(tf.shape(predictions)[-1], dtypes.int64)
        labels = _in_range(labels, num_classes)
        rest = metrics_collections, updates_collections, scope
        return _average_precision_at_top_k(labels, best, weights, *rest)


@deprecated(None, "Use average_precision_at_k instead")
def sparse_average_precision_at_k(
    labels: TensorLike,
    predictions: TensorLike,
    k: int,
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The older name of `average_precision_at_k`."""
    rest = metrics_collections, updates_collections, name
    return average_precision_at_k(labels, predictions, k, weights, *rest)


def _average_precision_at_top_k(
    labels: SparseLike | TensorLike, predictions_idx: Tensor, weights: Tensor | None, *rest: Any
) -> Metric:
    metrics_collections, updates_collections, name = rest
    inputs = (predictions_idx, labels, weights)
    with name_scope(name, "average_precision_at_top_k", inputs) as scope:
        precision = average_precision(labels, predictions_idx)
        if weights is not None:
            weights = broadcast_weights(tf.cast(weights, dtypes.float64), precision)
            precision = tf.multiply(precision, weights)
        with name_scope(None, "max", (precision,)) as inner:
            most = metric_variable([], dtypes.float64, name=inner)
            if weights is None:
                batch = tf.cast(tf.size(precision, name="batch_max"), dtypes.float64)
            else:
                batch = tf.reduce_sum(weights, name="batch_max")
            update_most = tf.assign_add(most, batch, name="update")
        with name_scope(None, "total", (precision,)) as inner:
            total = metric_variable([], dtypes.float64, name=inner)
            batch = tf.reduce_sum(precision, name="batch_total")
            update_total = tf.assign_add(total, batch, name="update")
        value = merged(lambda x, y: tf.div_no_nan(x, y, name="mean"), total, most)
        update = tf.div_no_nan(update_total, update_most, name=scope)
        return collected(value, update, metrics_collections, updates_collections)
