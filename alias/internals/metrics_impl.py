# SPDX-License-Identifier: Apache-2.0
"""Private functions of `tensorflow.python.ops.metrics_impl`, with which libraries build metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.graph.collections import add_to_collections
from ...engine.graph.convert import convert_to_tensor_or_sparse_tensor
from ...ops.metrics.at_k import _average_precision_at_top_k
from ...ops.metrics.classes import _confusion
from ...ops.metrics.state import matched
from ...ops.metrics.thresholds import confusion_at_thresholds
from ...ops.public import tf

_KINDS = ("tp", "fn", "tn", "fp")


def _remove_squeezable_dimensions(predictions: Any, labels: Any, weights: Any) -> Any:
    """The three with ranks that agree."""
    return matched(predictions, labels, weights)


def _confusion_matrix_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    includes: Sequence[str] | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Counts of right and wrong answers per threshold, and what updates them.

    Raises:
        ValueError: `includes` names a count that there is not.
    """
    wanted = _KINDS if includes is None else includes
    for kind in wanted:
        if kind not in _KINDS:
            raise ValueError(f"Invalid key: {kind}.")
    predictions = tf.convert_to_tensor(predictions)
    return confusion_at_thresholds(labels, predictions, thresholds, weights, wanted)


def _safe_scalar_div(numerator: Any, denominator: Any, name: str) -> Any:
    """Their ratio; 0 where the denominator is 0."""
    return tf.div_no_nan(numerator, denominator, name=name)


def _streaming_confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any, weights: Any = None
) -> tuple[Any, Any]:
    """The confusion matrix of all batches, float64 of `[num_classes, num_classes]`, and its update.

    Labels and predictions are class ids of any shape; weights, if given, have as many elements.
    """
    labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
    if weights is not None:
        weights = tf.convert_to_tensor(weights)
    return _confusion(labels, predictions, num_classes, weights)


def _aggregate_variable(v: Any, collections: Sequence[str] | None) -> Any:
    """The value of a metric's variable, put into collections."""
    value = tf.identity(v)
    if collections:
        add_to_collections(collections, value)
    return value


def _streaming_sparse_average_precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Any:
    """The mean of the average precision among the best predictions, in their order."""
    rest = metrics_collections, updates_collections, name
    labels = convert_to_tensor_or_sparse_tensor(labels, tf.int64)
    return _average_precision_at_top_k(labels, predictions_idx, weights, *rest)
