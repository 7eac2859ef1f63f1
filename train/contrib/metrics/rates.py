# SPDX-License-Identifier: Apache-2.0
"""Metrics of counts of true and false, positives and negatives, at thresholds and without."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.metrics import counts
from ....ops.metrics.counts import share
from ....ops.metrics.state import collected, computed, matched, metric_variable
from ....ops.metrics.thresholds import EPSILON, confusion_at_thresholds, counts_at_thresholds
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor

Metric = tuple[Any, Any]
Keys = Sequence[str]
_KINDS = ("tp", "fn", "tn", "fp")


def _counts(
    predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any, kinds: Keys = _KINDS
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Counts at thresholds and their updates."""
    predictions, labels, weights = matched(predictions, labels, weights)
    return counts_at_thresholds(predictions, labels, weights, thresholds, kinds)


def _evenly(num_thresholds: int) -> list[float]:
    """Thresholds over [0, 1], the first and last a little outside."""
    inner = [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]
    return [0.0 - EPSILON, *inner, 1.0 + EPSILON]


def _rate(
    scope: str,
    kinds: tuple[Callable[..., Metric], Callable[..., Metric]],
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None,
    *rest: Any,
) -> Metric:
    """The share of one kind of two."""
    metrics_collections, updates_collections, name = rest
    with tf.variable_scope(name, scope, (predictions, labels, weights)):
        bools: Any = [tf.cast(x, dtype=dtypes.bool) for x in (predictions, labels)]
        given, wanted, weights = matched(bools[0], bools[1], weights)
        part, update_part = kinds[0](wanted, given, weights)
        other, update_other = kinds[1](wanted, given, weights)
        values, updates = (part, other), (update_part, update_other)
        return computed(share, values, updates, metrics_collections, updates_collections)


@export("contrib.metrics.streaming_false_positive_rate")
def streaming_false_positive_rate(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of what is not true that is predicted.

    Args: as tf.metrics.precision, the predictions first.
    """
    kinds = (counts.false_positives, counts.true_negatives)
    rest = metrics_collections, updates_collections, name
    return _rate("false_positive_rate", kinds, predictions, labels, weights, *rest)


@export("contrib.metrics.streaming_false_negative_rate")
def streaming_false_negative_rate(
    predictions: TensorLike,
    labels: TensorLike,
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of what is true that is not predicted.

    Args: as tf.metrics.precision, the predictions first.
    """
    kinds = (counts.false_negatives, counts.true_positives)
    rest = metrics_collections, updates_collections, name
    return _rate("false_negative_rate", kinds, predictions, labels, weights, *rest)


def _one_kind(kind: str, *args: Any) -> Metric:
    predictions, labels, thresholds, weights = args
    values, updates = _counts(predictions, labels, thresholds, weights, [kind])
    return values[kind], updates[kind]


@export("contrib.metrics.streaming_true_positives_at_thresholds")
def streaming_true_positives_at_thresholds(
    predictions: Tensor,
    labels: Tensor,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
) -> Metric:
    """The counts of what is true and above each threshold."""
    return _one_kind("tp", predictions, labels, thresholds, weights)


@export("contrib.metrics.streaming_false_negatives_at_thresholds")
def streaming_false_negatives_at_thresholds(
    predictions: Tensor,
    labels: Tensor,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
) -> Metric:
    """The counts of what is true and not above each threshold."""
    return _one_kind("fn", predictions, labels, thresholds, weights)


@export("contrib.metrics.streaming_false_positives_at_thresholds")
def streaming_false_positives_at_thresholds(
    predictions: Tensor,
    labels: Tensor,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
) -> Metric:
    """The counts of what is above each threshold and not true."""
    return _one_kind("fp", predictions, labels, thresholds, weights)


@export("contrib.metrics.streaming_true_negatives_at_thresholds")
def streaming_true_negatives_at_thresholds(
    predictions: Tensor,
    labels: Tensor,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
) -> Metric:
    """The counts of what is neither true nor above each threshold."""
    return _one_kind("tn", predictions, labels, thresholds, weights)


def _rate_at_thresholds(scope: str, kinds: tuple[str, str], prefix: str, *args: Any) -> Metric:
    predictions, labels, thresholds, weights, metrics_collections, updates_collections, name = args
    with tf.variable_scope(name, scope, (predictions, labels, weights)):
        values, updates = _counts(predictions, labels, thresholds, weights, kinds)

        def rate(part: Any, rest: Any, name: str) -> Any:
            return tf.div(part, EPSILON + part + rest, name=prefix + name)

        of, of_updates = ([found[kind] for kind in kinds] for found in (values, updates))
        return computed(rate, of, of_updates, metrics_collections, updates_collections)


@export("contrib.metrics.streaming_false_positive_rate_at_thresholds")
def streaming_false_positive_rate_at_thresholds(
    predictions: Tensor,
    labels: Tensor,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of what is not true that is above each threshold.

    Args: as tf.metrics.precision_at_thresholds, the predictions first.
    """
    given = predictions, labels, thresholds, weights
    rest = metrics_collections, updates_collections, name
    scope = "false_positive_rate_at_thresholds"
    return _rate_at_thresholds(scope, ("fp", "tn"), "fpr_", *given, *rest)


@export("contrib.metrics.streaming_false_negative_rate_at_thresholds")
def streaming_false_negative_rate_at_thresholds(
    predictions: Tensor,
    labels: Tensor,
    thresholds: Sequence[float],
    weights: TensorLike | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of what is true that is not above each threshold.

    Args: as tf.metrics.precision_at_thresholds, the predictions first.
    """
    given = predictions, labels, thresholds, weights
    rest = metrics_collections, updates_collections, name
    scope = "false_negative_rate_at_thresholds"
    return _rate_at_thresholds(scope, ("fn", "tp"), "fnr_", *given, *rest)


@export("contrib.metrics.streaming_curve_points")
def streaming_curve_points(
    labels: TensorLike | None = None,
    predictions: TensorLike | None = None,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    curve: str = "ROC",
    name: str | None = None,
) -> Metric:
    """Points of a curve: of rates ("ROC"), or of recall and precision ("PR").

    Args:
        labels, predictions, weights: as tf.metrics.auc.
        num_thresholds: how many points there are.
        metrics_collections, updates_collections: keys that the two are added to.
        curve: "ROC" or "PR".
        name: the variable scope.

    Returns:
        The points, [num_thresholds, 2], and an operation that takes in what a run has.

    Raises:
        ValueError: the curve is another.
    """
    with tf.variable_scope(name, "curve_points", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        values, updates = _counts(predictions, labels, _evenly(num_thresholds), weights)
        tp, fn, tn, fp = (values[kind] for kind in _KINDS)
        epsilon = 1.0e-6  # Another than that of rates, in TensorFlow.
        recall = tf.div(tp + epsilon, tp + fn + epsilon)
        if curve == "ROC":
            points = tf.stack([tf.div(fp, fp + tn + epsilon), recall], axis=1)
        else:
            points = tf.stack([recall, tf.div(tp + epsilon, tp + fp + epsilon)], axis=1)
        update: Any = tf.group(*updates.values())
        return collected(points, update, metrics_collections, updates_collections)


def _recall_at(precision: float, strict: bool) -> Callable[..., Any]:
    def recall(tp: Any, fp: Any, fn: Any, name: str) -> Any:
        precisions = tf.div(tp, tp + fp + EPSILON)

        def at(index: Any) -> Any:
            return tf.div(tp[index], tp[index] + fn[index] + EPSILON, name)

        if not strict:
            return at(tf.argmin(tf.abs(precisions - precision), 0, output_type=dtypes.int32))
        closeness = tf.div(1.0, precisions - precision + EPSILON)
        index = tf.argmax(closeness, 0, output_type=dtypes.int32)
        return tf.cond(precisions[index] >= precision, lambda: at(index), lambda: 0.0)

    return recall


@export("contrib.metrics.recall_at_precision")
def recall_at_precision(
    labels: TensorLike,
    predictions: TensorLike,
    precision: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> Metric:
    """The recall at the threshold whose precision is closest to the one asked for.

    Args:
        labels, predictions, weights: as tf.metrics.auc.
        precision: the precision, from 0 to 1.
        num_thresholds: how many thresholds are looked at.
        metrics_collections, updates_collections: keys that the two are added to.
        name: the variable scope.
        strict_mode: whether the precision must be reached; the recall is 0 if it is not.

    Returns:
        The value so far, and an operation's that takes in what a run has.

    Raises:
        ValueError: the precision is out of range.
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")
    with tf.variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        inner = [i * 1.0 / (num_thresholds - 1) for i in range(1, num_thresholds - 1)]
        thresholds = [0.0 - EPSILON, *inner, 1.0 + EPSILON]
        values, updates = _counts(predictions, labels, thresholds, weights)
        of, of_updates = ([found[k] for k in ("tp", "fp", "fn")] for found in (values, updates))
        recall = _recall_at(precision, strict_mode)
        return computed(recall, of, of_updates, metrics_collections, updates_collections)


@export("contrib.metrics.precision_at_recall")
def precision_at_recall(
    labels: TensorLike,
    predictions: TensorLike,
    target_recall: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The precision at the highest threshold that reaches a recall.

    Args:
        target_recall: the recall, from 0 to 1.
        labels: as `recall_at_precision`, like the rest.

    Returns:
        The value so far, and an operation's that takes in what a run has.

    Raises:
        ValueError: the recall is out of range.
    """
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")
    with tf.variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        values, updates = _counts(predictions, labels, _evenly(num_thresholds), weights)

        def precision(tp: Any, fp: Any, fn: Any, name: str) -> Any:
            recalls = tf.div(tp, tp + fn + EPSILON)
            reached = tf.cast(tf.greater_equal(recalls, target_recall), dtypes.int64)
            last = tf.reduce_sum(reached) - 1
            return tf.div(tp[last] + EPSILON, tp[last] + fp[last] + EPSILON, name)

        of, of_updates = ([found[k] for k in ("tp", "fp", "fn")] for found in (values, updates))
        return computed(precision, of, of_updates, metrics_collections, updates_collections)


@export("contrib.metrics.f1_score")
def f1_score(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The best harmonic mean of precision and recall, of all thresholds.

    Args: as tf.metrics.auc.

    Returns:
        The value so far, and an operation's that takes in what a run has.
    """
    with tf.variable_scope(name, "f1", (labels, predictions, weights)):
        predictions, labels, weights = matched(predictions, labels, weights)
        kinds = ("tp", "fp", "fn")
        thresholds = _evenly(num_thresholds)
        values, updates = confusion_at_thresholds(labels, predictions, thresholds, weights, kinds)

        def best(found: dict[str, Any], name: str) -> Any:
            tp, fp, fn = (found[kind] for kind in kinds)
            precision = tf.div(tp, EPSILON + tp + fp, name=f"precision_{name}")
            recall = tf.div(tp, EPSILON + tp + fn, name=f"recall_{name}")
            return tf.reduce_max(2.0 * precision * recall / (precision + recall + EPSILON))

        value, update = best(values, "value"), best(updates, "update")
        return collected(value, update, metrics_collections, updates_collections)


PrecisionRecallData = namedtuple(
    "PrecisionRecallData", ["tp", "fp", "tn", "fn", "precision", "recall", "thresholds"]
)


@export("contrib.metrics.precision_recall_at_equal_thresholds")
def precision_recall_at_equal_thresholds(
    labels: Tensor,
    predictions: Tensor,
    weights: TensorLike | None = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Metric:
    """Counts, precision and recall at thresholds that are evenly apart.

    Args:
        labels: bools.
        predictions: from 0 to 1.
        weights: how much each counts; all alike if None.
        num_thresholds: how many thresholds there are; 201 if None.
        use_locking: whether updates exclude one another; they do if None.
        name: the variable scope.

    Returns:
        A named tuple of tensors - tp, fp, tn, fn, precision, recall, thresholds - and an operation
        that takes in what a run has.

    Raises:
        TypeError: labels are no bools.
    """
    count = 201 if num_thresholds is None else num_thresholds
    weights = 1.0 if weights is None else weights
    tf.assert_type(labels, dtypes.bool)
    scope = "precision_recall_at_equal_thresholds"
    with tf.variable_scope(name, scope, (labels, predictions, weights)):
        dtype, message = predictions.dtype, "predictions must be in [0, 1]"
        above = tf.assert_greater_equal(predictions, tf.cast(0.0, dtype=dtype), message=message)
        below = tf.assert_less_equal(predictions, tf.cast(1.0, dtype=dtype), message=message)
        with tf.control_dependencies([above, below]):
            scores, labels, weights = matched(predictions, labels, weights)
        scores.shape.assert_is_compatible_with(labels.shape)
        # Sums of many small weights: more digits than predictions have.
        exact = dtypes.float64
        is_true, weights = tf.cast(labels, exact), tf.cast(weights, exact)
        true, false = is_true * weights, (1.0 - is_true) * weights
        scores, true, false = (tf.reshape(x, [-1]) for x in (scores, true, false))
        buckets = tf.cast(tf.floor(scores * (count - 1)), dtypes.int32)
        with tf.name_scope("variables"):
            tp_buckets = metric_variable([count], exact, name="tp_buckets")
            fp_buckets = metric_variable([count], exact, name="fp_buckets")
        with tf.name_scope("update_op"):
            lock = True if use_locking is None else use_locking
            update_tp = tf.scatter_add(tp_buckets, buckets, true, use_locking=lock)
            update_fp = tf.scatter_add(fp_buckets, buckets, false, use_locking=lock)
        tp = tf.cumsum(tp_buckets, reverse=True, name="tp")
        fp = tf.cumsum(fp_buckets, reverse=True, name="fp")
        tn, fn = fp[0] - fp, tp[0] - tp
        least = tf.convert_to_tensor(EPSILON, dtype=exact)
        precision, recall = tp / tf.maximum(least, tp + fp), tp / tf.maximum(least, tp + fn)
        parts = [tf.cast(part, scores.dtype) for part in (tp, fp, tn, fn, precision, recall)]
        parts.append(tf.cast(tf.lin_space(0.0, 1.0, count), scores.dtype))
        result = PrecisionRecallData(*parts)
        return result, tf.group(update_tp, update_fp)
