# SPDX-License-Identifier: Apache-2.0
"""Metrics of curves over thresholds: the area beneath, sensitivity and specificity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.interface.log import get_logger
from ...engine.types import dtypes
from ..public import tf
from .state import computed
from .thresholds import EPSILON, confusion_at_thresholds

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor

Metric = tuple[Any, Any]
_ALL = ("tp", "fn", "tn", "fp")
# TensorFlow's, which keeps 0 / 0 from being NaN where a threshold lets nothing pass.
_SMOOTH = 1e-6


def _between(num_thresholds: int) -> list[float]:
    """Equally spaced thresholds between 0 and 1, without them."""
    return [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]


def _interpolated_pr_auc(tp: Any, fp: Any, fn: Any, count: int) -> Any:
    """The area under precision over recall, where both are interpolated between thresholds."""
    dtp = tp[: count - 1] - tp[1:]
    p = tp + fp
    # Between two thresholds TP is taken as linear in P = TP + FP: TP = intercept + slope * P. The
    # integral of precision TP / P over recall TP / (TP + FN) is then that of slope * (intercept +
    # slope * P) / P dP / (TP + FN), whence the logarithm (Davis and Goadrich, The relationship
    # between precision-recall and ROC curves, 2006).
    slope = tf.div_no_nan(dtp, tf.maximum(p[: count - 1] - p[1:], 0), name="prec_slope")
    intercept = tp[1:] - tf.multiply(slope, p[1:])
    ratio = tf.where(
        tf.logical_and(p[: count - 1] > 0, p[1:] > 0),
        tf.div_no_nan(p[: count - 1], tf.maximum(p[1:], 0), name="recall_relative_ratio"),
        tf.ones_like(p[1:]),
    )
    areas = tf.div_no_nan(
        slope * (dtp + intercept * tf.log(ratio)),
        tf.maximum(tp[1:] + fn[1:], 0),
        name="pr_auc_increment",
    )
    return tf.reduce_sum(areas, name="interpolate_pr_auc")


def _heights(y: Tensor, count: int, summation_method: str) -> Tensor:
    """What stands for the curve between neighbours."""
    if summation_method in ("trapezoidal", "careful_interpolation"):
        return (y[: count - 1] + y[1:]) / 2.0
    if summation_method == "minoring":
        return tf.minimum(y[: count - 1], y[1:])
    if summation_method == "majoring":
        return tf.maximum(y[: count - 1], y[1:])
    raise ValueError(f"Invalid summation_method: {summation_method}")


def auc(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Metric:
    """The area under the curve of true against false positives, or of precision against recall.

    Args:
        labels: the truth: a tensor that is cast to bool.
        predictions: scores in [0, 1], of the same shape.
        weights: how much each counts: a tensor that broadcasts; all alike by default.
        num_thresholds: at how many scores the curve is known.
        metrics_collections, updates_collections: keys that the two are added to; none by default.
        curve: "ROC" or "PR".
        name: the scope of the operations and variables.
        summation_method: "trapezoidal", "minoring", "majoring", or for "PR"
            "careful_interpolation".
        thresholds: the scores themselves, between 0 and 1; they are evenly spaced by default.

    Returns:
        Two float32 scalars: the value so far, and an operation's that takes in what a run has and
        gives the value then.  The counts are local variables.

    Raises:
        ValueError: shapes do not fit, or there is no such curve or method.
        InvalidArgumentError: a score of a run is not in [0, 1].

    Example:
        >>> labels, scores = tf.constant([0, 0, 1, 1]), tf.constant([0.1, 0.6, 0.4, 0.9])
        >>> value, update = tf.metrics.auc(labels, scores)
        >>> sess = tf.Session()
        >>> sess.run(tf.local_variables_initializer())
        >>> print(round(float(sess.run(update)), 2))
        0.75
    """
    with tf.variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        inner = _between(num_thresholds) if thresholds is None else sorted(thresholds)
        count = num_thresholds if thresholds is None else len(inner) + 2
        # The outer thresholds let everything pass, and nothing: the curve has both its ends.
        limits = [0.0 - EPSILON, *inner, 1.0 + EPSILON]
        values, updates = confusion_at_thresholds(labels, predictions, limits, weights, _ALL)

        def area(tp: Any, fn: Any, tn: Any, fp: Any, name: str) -> Any:
            if curve == "PR" and summation_method == "trapezoidal":
                get_logger().warning(
                    "Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "
                    '"careful_interpolation" instead.'
                )
            if curve == "PR" and summation_method == "careful_interpolation":
                return _interpolated_pr_auc(tp, fp, fn, count)
            recall = tf.div(tp + _SMOOTH, tp + fn + _SMOOTH)
            if curve == "ROC":
                x, y = tf.div(fp, fp + tn + _SMOOTH), recall
            else:
                x, y = recall, tf.div(tp + _SMOOTH, tp + fp + _SMOOTH)
            widths = x[: count - 1] - x[1:]
            heights = _heights(y, count, summation_method)
            return tf.reduce_sum(tf.multiply(widths, heights), name=name)

        state = values.values(), updates.values()
        return computed(area, *state, metrics_collections, updates_collections)


def sensitivity_at_specificity(
    labels: TensorLike,
    predictions: TensorLike,
    specificity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of the true that is predicted, at the threshold nearest to a specificity.

    ValueError unless the specificity is in [0, 1].
    """
    if specificity < 0 or specificity > 1:
        raise ValueError("`specificity` must be in the range [0, 1].")
    with tf.variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        limits = [0.0 - EPSILON, *_between(num_thresholds), 1.0 + EPSILON]
        values, updates = confusion_at_thresholds(labels, predictions, limits, weights, _ALL)

        def sensitivity(tp: Any, fn: Any, tn: Any, fp: Any, name: str) -> Any:
            specificities = tf.div(tn, tn + fp + EPSILON)
            nearest = tf.argmin(tf.abs(specificities - specificity), 0)
            nearest = tf.cast(nearest, dtypes.int32)
            return tf.div(tp[nearest], tp[nearest] + fn[nearest] + EPSILON, name)

        state = values.values(), updates.values()
        return computed(sensitivity, *state, metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: TensorLike,
    predictions: TensorLike,
    sensitivity: float,
    weights: TensorLike | None = None,
    num_thresholds: int = 200,
    metrics_collections: str | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """The share of the untrue that is not predicted, where sensitivity is nearest to a value.

    ValueError unless the sensitivity is in [0, 1].
    """
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")
    with tf.variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        # The last one has a minus in TensorFlow 1.15: scores of 1 pass it too.
        limits = [0.0 - EPSILON, *_between(num_thresholds), 1.0 - EPSILON]
        values, updates = confusion_at_thresholds(labels, predictions, limits, weights, _ALL)

        def specificity(tp: Any, fn: Any, tn: Any, fp: Any, name: str) -> Any:
            sensitivities = tf.div(tp, tp + fn + EPSILON)
            least = tf.reduce_min(tf.abs(sensitivities - sensitivity))
            # The sum so far is largest from the last of the equally near thresholds on.
            is_nearest = tf.equal(tf.abs(sensitivities - sensitivity), least)
            so_far = tf.cumsum(tf.cast(is_nearest, dtypes.int64))
            index = tf.cast(tf.argmax(so_far, 0), dtypes.int32)
            return tf.div(tn[index], tn[index] + fp[index] + EPSILON, name)

        state = values.values(), updates.values()
        return computed(specificity, *state, metrics_collections, updates_collections)
