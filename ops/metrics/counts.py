# SPDX-License-Identifier: Apache-2.0
"""True and false positives and negatives of bools, and precision and recall, which follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.graph import control_dependencies
from ...engine.types import dtypes
from ..public import tf
from ..state.merging import merged
from .state import collected, computed, matched, metric_variable

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

Metric = tuple[Any, Any]


def _bools(
    labels: TensorLike, predictions: TensorLike, weights: Tensor | None
) -> tuple[Any, Any, Any]:
    predictions = tf.cast(predictions, dtype=dtypes.bool)
    labels = tf.cast(labels, dtype=dtypes.bool)
    predictions, labels, weights = matched(predictions, labels, weights)
    return labels, predictions, weights


def _count(
    kind: tuple[str, bool, bool],
    labels: Tensor,
    predictions: Tensor,
    weights: Tensor | None,
    *rest: Any,
) -> Metric:
    """How many pairs are (label, prediction); kind: scope's name, label, prediction."""
    scope, label, prediction = kind
    metrics_collections, updates_collections, name = rest
    with tf.variable_scope(name, scope, (predictions, labels, weights)):
        labels, predictions, weights = _bools(labels, predictions, weights)
        values = tf.logical_and(tf.equal(labels, label), tf.equal(predictions, prediction))
        tf.assert_type(values, dtypes.bool)
        count = metric_variable([], dtypes.float32, name="count")
        values = tf.cast(values, dtypes.float32)
        if weights is not None:
            with control_dependencies((tf.assert_rank_in(weights, (0, tf.rank(values))),)):
                weights = tf.cast(weights, dtypes.float32)
                values = tf.multiply(values, weights)
        value = merged(tf.identity, count)
        update = tf.assign_add(count, tf.reduce_sum(values))
        return collected(value, update, metrics_collections, updates_collections)


def true_positives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The weights of what is true and predicted, added up."""
    kind, rest = ("true_positives", True, True), (metrics_collections, updates_collections, name)
    return _count(kind, labels, predictions, weights, *rest)


def true_negatives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The weights of what is neither true nor predicted, added up."""
    kind, rest = ("true_negatives", False, False), (metrics_collections, updates_collections, name)
    return _count(kind, labels, predictions, weights, *rest)


def false_positives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The weights of what is predicted and not true, added up."""
    kind, rest = ("false_positives", False, True), (metrics_collections, updates_collections, name)
    return _count(kind, labels, predictions, weights, *rest)


def false_negatives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The weights of what is true and not predicted, added up."""
    kind, rest = ("false_negatives", True, False), (metrics_collections, updates_collections, name)
    return _count(kind, labels, predictions, weights, *rest)


def share(part: Tensor, rest: Tensor, name: str) -> Tensor:
    """part / (part + rest), and zero where there is nothing."""
    return tf.where(tf.greater(part + rest, 0), tf.div(part, part + rest), 0, name)


def precision(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of what was predicted that is true; 0 while nothing was predicted.

    Args:
        labels: the truth: a tensor that is cast to bool.
        predictions: a tensor of the same shape, likewise.
        weights: how much each counts: a tensor that broadcasts; all alike by default.
        metrics_collections, updates_collections: keys that the two are added to; none by default.
        name: the scope of the operations and variables.

    Returns:
        Two float32 scalars: the value so far, and an operation's that takes in what a run has and
        gives the value then.  The counts are local variables.

    Raises:
        ValueError: shapes do not fit.

    Example:
        >>> value, update = tf.metrics.precision([1, 1, 0, 0], [1, 0, 1, 0])
        >>> sess = tf.Session()
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update), sess.run(value)
        (np.float32(0.5), np.float32(0.5))
    """
    with tf.variable_scope(name, "precision", (predictions, labels, weights)):
        given = _bools(labels, predictions, weights)
        true_p, update_true = true_positives(*given)
        false_p, update_false = false_positives(*given)
        state, updates = (true_p, false_p), (update_true, update_false)
        return computed(share, state, updates, metrics_collections, updates_collections)


def recall(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of what is true that was predicted; 0 while nothing was true.

    Args:
        labels: the truth: a tensor that is cast to bool.
        predictions: a tensor of the same shape, likewise.
        weights: how much each counts: a tensor that broadcasts; all alike by default.
        metrics_collections, updates_collections: keys that the two are added to; none by default.
        name: the scope of the operations and variables.

    Returns:
        Two float32 scalars: the value so far, and an operation's that takes in what a run has and
        gives the value then.  The counts are local variables.

    Raises:
        ValueError: shapes do not fit.

    Example:
        >>> value, update = tf.metrics.recall([1, 1, 1, 1], [1, 0, 0, 0])
        >>> sess = tf.Session()
        >>> sess.run(tf.local_variables_initializer())
        >>> sess.run(update), sess.run(value)
        (np.float32(0.25), np.float32(0.25))
    """
    with tf.variable_scope(name, "recall", (predictions, labels, weights)):
        given = _bools(labels, predictions, weights)
        true_p, update_true = true_positives(*given)
        false_n, update_false = false_negatives(*given)
        state, updates = (true_p, false_n), (update_true, update_false)
        return computed(share, state, updates, metrics_collections, updates_collections)
