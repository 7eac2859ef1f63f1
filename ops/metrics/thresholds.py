# SPDX-License-Identifier: Apache-2.0
"""Counts, precision and recall at thresholds of scores in [0, 1]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.graph import control_dependencies
from ...engine.types import dtypes
from ..nn.weights import broadcast_weights
from ..public import tf
from ..state.merging import merged
from .state import collected, computed, matched, metric_variable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

Metric = tuple[Any, Any]
# As in TensorFlow 1.15 (ops/metrics_impl.py, _EPSILON).
EPSILON = 1e-7
# In the order in which they are built: short name -> (variable, label, prediction).
_KINDS = {
    "tp": ("true_positives", True, True),
    "fn": ("false_negatives", True, False),
    "tn": ("true_negatives", False, False),
    "fp": ("false_positives", False, True),
}


def _checked(labels: TensorLike, predictions: Any, weights: Tensor | None) -> tuple[Any, Any, Any]:
    """Scores, bools and weights of one shape; a run fails unless the scores are in [0, 1]."""
    message, dtype = "predictions must be in [0, 1]", predictions.dtype
    zero = tf.cast(0.0, dtype=dtype)
    above = tf.assert_greater_equal(predictions, zero, message=message)
    one = tf.cast(1.0, dtype=dtype)
    below = tf.assert_less_equal(predictions, one, message=message)
    with control_dependencies([above, below]):
        predictions = tf.cast(predictions, dtypes.float32)
        labels = tf.cast(labels, dtype=dtypes.bool)
        return matched(predictions, labels, weights)


def confusion_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any,
    kinds: Sequence[str],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables with one count per threshold, and their updates, of the kinds asked for."""
    return counts_at_thresholds(*_checked(labels, predictions, weights), thresholds, kinds)


def counts_at_thresholds(
    predictions: Any,
    labels: Any,
    weights: Any,
    thresholds: Sequence[float],
    kinds: Sequence[str] = tuple(_KINDS),
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`confusion_at_thresholds` of scores, labels and weights whose ranks agree."""
    count = len(thresholds)
    column = tf.reshape(predictions, [-1, 1])
    row = tf.reshape(tf.cast(labels, dtype=dtypes.bool), [1, -1])
    num_predictions: Any = column.get_shape().as_list()[0]
    if num_predictions is None:
        num_predictions = tf.shape(column)[0]
    # One row per threshold and one column per prediction: all comparisons in one op.
    tiled = tf.tile(tf.expand_dims(tf.constant(thresholds), [1]), tf.stack([1, num_predictions]))
    predicted = {True: tf.greater(tf.tile(tf.transpose(column), [count, 1]), tiled)}
    if "fn" in kinds or "tn" in kinds:
        predicted[False] = tf.logical_not(predicted[True])
    labelled = {True: tf.tile(row, [count, 1])}
    if "fp" in kinds or "tn" in kinds:
        labelled[False] = tf.logical_not(labelled[True])
    if weights is not None:
        weights = broadcast_weights(tf.cast(weights, dtypes.float32), predictions)
        weights = tf.tile(tf.reshape(weights, [1, -1]), [count, 1])
        tiled.get_shape().assert_is_compatible_with(weights.get_shape())
    values, updates = {}, {}
    for kind, (name, label, prediction) in _KINDS.items():
        if kind in kinds:
            values[kind] = metric_variable([count], dtypes.float32, name=name)
            is_it = tf.cast(tf.logical_and(labelled[label], predicted[prediction]), dtypes.float32)
            if weights is not None:
                is_it *= weights
            updates[kind] = tf.assign_add(values[kind], tf.reduce_sum(is_it, 1))
    return values, updates


def _count_at(
    kind: str,
    labels: Tensor,
    predictions: Tensor,
    thresholds: Sequence[float],
    weights: Tensor | None,
    *rest: Any,
) -> Metric:
    metrics_collections, updates_collections, name = rest
    with tf.variable_scope(name, _KINDS[kind][0], (predictions, labels, weights)):
        values, updates = confusion_at_thresholds(labels, predictions, thresholds, weights, [kind])
        value = merged(tf.identity, values[kind])
        return collected(value, updates[kind], metrics_collections, updates_collections)


def true_positives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The weights of what is true and above each threshold, added up."""
    rest = metrics_collections, updates_collections, name
    return _count_at("tp", labels, predictions, thresholds, weights, *rest)


def true_negatives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The weights of what is neither true nor above each threshold, added up."""
    rest = metrics_collections, updates_collections, name
    return _count_at("tn", labels, predictions, thresholds, weights, *rest)


def false_positives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The weights of what is above each threshold and not true, added up."""
    rest = metrics_collections, updates_collections, name
    return _count_at("fp", labels, predictions, thresholds, weights, *rest)


def false_negatives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The weights of what is true and not above each threshold, added up."""
    rest = metrics_collections, updates_collections, name
    return _count_at("fn", labels, predictions, thresholds, weights, *rest)


def _share_called(prefix: str) -> Callable[[Any, Any, str], Any]:
    def share(part: Any, rest: Any, name: str) -> Any:
        return tf.div(part, EPSILON + part + rest, name=prefix + name)

    return share


def precision_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of what is above each threshold that is true."""
    with tf.variable_scope(name, "precision_at_thresholds", (predictions, labels, weights)):
        values, updates = confusion_at_thresholds(
            labels, predictions, thresholds, weights, ("tp", "fp")
        )
        state = values.values(), updates.values()
        return computed(
            _share_called("precision_"), *state, metrics_collections, updates_collections
        )


def recall_at_thresholds(
    labels: TensorLike,
    predictions: TensorLike,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of the true that is above each threshold."""
    with tf.variable_scope(name, "recall_at_thresholds", (predictions, labels, weights)):
        values, updates = confusion_at_thresholds(
            labels, predictions, thresholds, weights, ("tp", "fn")
        )
        state = values.values(), updates.values()
        return computed(_share_called("recall_"), *state, metrics_collections, updates_collections)
