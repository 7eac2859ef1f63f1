# SPDX-License-Identifier: Apache-2.0
"""Metrics that keep all values they have seen, and areas under curves of them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.metrics.state import collected, matched, metric_variable
from ....ops.metrics.thresholds import EPSILON
from ....ops.nn.top_k import top_k
from ....ops.public import raw, tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor

Metric = tuple[Any, Any]


def next_size(required_size: Any, growth_factor: float = 1.5) -> Any:
    """The least power of the growth factor that is enough."""
    logs = [tf.log(tf.cast(x, dtypes.float32)) for x in (required_size, growth_factor)]
    return tf.cast(tf.ceil(growth_factor ** tf.ceil(logs[0] / logs[1])), dtypes.int32)


@export("contrib.metrics.streaming_concat")
def streaming_concat(
    values: Tensor,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Sequence[str] | None = None,
    updates_collections: Sequence[str] | None = None,
    name: str | None = None,
) -> Metric:
    """All values that were ever taken in, one after the other.

    Args:
        values: a tensor of known rank, and of known sizes but for that of the axis.
        axis: the axis along which they are joined.
        max_size: how many are kept; all if None, in memory that grows.
        metrics_collections, updates_collections: keys that the two are added to.
        name: the variable scope.

    Returns:
        The values so far, and an operation that takes in what a run has.

    Raises:
        ValueError: the rank or a size is unknown, or there is no such axis.
    """
    with tf.variable_scope(name, "streaming_concat", (values,)):
        rank = values.shape.ndims
        if rank is None:
            raise ValueError("`values` must have known statically known rank")
        place = axis + rank if axis < 0 else axis
        if not 0 <= place < rank:
            raise ValueError(f"axis = {place!r} not in [0, {rank!r})")
        fixed = [size for i, size in enumerate(values.shape.as_list()) if i != place]
        if None in fixed:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must "
                "have statically known size"
            )
        shape = [0 if max_size is None else max_size, *fixed]
        array = metric_variable(shape, values.dtype, validate_shape=False, name="array")
        size = metric_variable([], dtypes.int32, name="size")
        valid = array[:size]
        valid.set_shape([None, *fixed])
        # The array keeps the axis in front.
        back = [0 if n == place else n + 1 if n < place else n for n in range(rank)]
        value = tf.transpose(valid, back, name="concat")
        given = tf.shape(values)[place]
        taken = given if max_size is None else tf.minimum(given, max_size - size)
        front = [place, *(n for n in range(rank) if n != place)]
        batch = tf.transpose(values, front)[:taken]
        new_size = size + taken

        def grow() -> Any:
            larger = tf.zeros(tf.stack([next_size(new_size), *fixed]), dtype=values.dtype)
            old = array.value()
            with tf.control_dependencies([old]):
                make_room = tf.assign(array, larger, validate_shape=False)
            with tf.control_dependencies([make_room]):
                copied = array[:size].assign(old[:size])
            with tf.control_dependencies([copied]):
                return tf.no_op()

        # The size in memory: the one that the graph knows is the first.
        is_short = new_size > raw.Shape(input=array)[0]
        with tf.control_dependencies([tf.cond(is_short, grow, tf.no_op)]):
            appended = array[size:new_size].assign(batch)
        with tf.control_dependencies([appended]):
            update = size.assign(new_size)
        return collected(value, update, metrics_collections, updates_collections)


def _cumulated(values: Any, ends: Any) -> Tensor:
    """Sums of values up to the ends of groups, beginning with none."""
    return tf.gather(tf.pad(tf.cumsum(values), paddings=[[1, 0]]), ends)


def _area(labels: Any, predictions: Any, curve: str, weights: Any) -> Any:
    """The area under the curve of some predictions; 0 where the labels are all alike."""
    size: Any = tf.size(predictions)
    if weights is None:
        weights = tf.ones_like(labels, dtype=dtypes.float64)
    # In TensorFlow the predictions come first where labels do in the call.
    labels, predictions, weights = matched(labels, predictions, weights)
    none = tf.zeros_like(labels, dtype=dtypes.float64)
    total = tf.reduce_sum(weights)
    positive = tf.reduce_sum(tf.where(tf.greater(labels, 0), weights, none))

    def area() -> Any:
        ordered, indices = top_k(predictions, k=size)
        by_order, weight = tf.gather(labels, indices), tf.gather(weights, indices)
        nothing = tf.zeros_like(by_order, dtype=dtypes.float64)
        # Equal predictions are one point of the curve.
        _, _, counts = tf.unique_with_counts(ordered)
        ends = tf.cast(tf.pad(tf.cumsum(counts), paddings=[[1, 0]]), dtypes.int32)
        true = _cumulated(tf.where(tf.greater(by_order, 0), weight, nothing), ends)
        if curve == "ROC":
            false = _cumulated(tf.where(tf.less(by_order, 1), weight, nothing), ends)
            x, y = tf.truediv(false, total - positive), tf.truediv(true, positive)
        else:
            x = tf.truediv(true, positive)
            found = tf.truediv(true, _cumulated(weight, ends))
            y = tf.where(tf.greater(ends, 0), found, tf.ones_like(true, dtype=dtypes.float64))
        heights = tf.add(y[1:], y[:-1]) / 2.0
        return tf.reduce_sum(tf.multiply(heights, tf.abs(tf.subtract(x[1:], x[:-1]))))

    alike = tf.logical_or(tf.equal(positive, 0), tf.equal(positive, total))
    return tf.cond(alike, lambda: tf.constant(0, dtypes.float64), area)


def _checked_labels(labels: Any) -> list[Any]:
    """Checks that labels are 0 or 1."""
    message = "labels must be 0 or 1, at least one is "
    zeros = tf.zeros_like(labels, dtypes.int64)
    above = tf.assert_greater_equal(labels, zeros, message=f"{message}<0")
    ones = tf.ones_like(labels, dtypes.int64)
    return [above, tf.assert_less_equal(labels, ones, message=f"{message}>1")]


@export("contrib.metrics.streaming_dynamic_auc")
def streaming_dynamic_auc(
    labels: Tensor,
    predictions: Tensor,
    curve: str = "ROC",
    metrics_collections: Sequence[str] | None = (),
    updates_collections: Sequence[str] | None = (),
    name: str | None = None,
    weights: TensorLike | None = None,
) -> Metric:
    """The exact area under a curve: all predictions are kept, and thresholds are theirs.

    Args:
        labels: zeros and ones.
        predictions: scores, of the same shape.
        curve: "ROC" or "PR".
        metrics_collections, updates_collections: keys that the two are added to.
        name: the variable scope.
        weights: how much each counts; all alike if None.

    Returns:
        A float64 scalar, and an operation that takes in what a run has.

    Raises:
        ValueError: the curve is another, or the shapes differ.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with tf.variable_scope(name, default_name="dynamic_auc"):
        labels.shape.assert_is_compatible_with(predictions.shape)
        scores = tf.reshape(tf.cast(predictions, dtypes.float64), [-1])
        flat = tf.reshape(tf.cast(labels, dtypes.int64), [-1])
        with tf.control_dependencies(_checked_labels(flat)):
            all_scores, update_scores = streaming_concat(scores, name="concat_preds")
            all_labels, update_labels = streaming_concat(flat, name="concat_labels")
            updates, all_weights = [update_labels, update_scores], None
            if weights is not None:
                weights = tf.reshape(tf.cast(weights, dtypes.float64), [-1])
                all_weights, update_weights = streaming_concat(weights, name="concat_weights")
                updates.append(update_weights)
            update: Any = tf.group(*updates)
            area = _area(all_labels, all_scores, curve, all_weights)
            return collected(area, update, metrics_collections, updates_collections)


AucData = namedtuple("AucData", ["auc", "lower", "upper"])


def _placements(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any, Any]:
    """For each element the share of the other class that is below it, with labels and weights."""
    size: Any = tf.size(predictions)
    ordered, indices = top_k(predictions, k=size, sorted=True)
    first: Any = tf.zeros(1, dtypes.int32)
    ordered, indices = tf.reverse(ordered, axis=first), tf.reverse(indices, axis=first)
    labels, weights = tf.gather(labels, indices), tf.gather(weights, indices)
    # Equal predictions are a segment, whose elements are half below one another.
    _, segments = tf.unique(ordered)
    is_true = tf.cast(labels, dtypes.float32)
    placed = []
    for other in (weights * (1.0 - is_true), weights * is_true):
        totals = tf.segment_sum(other, segments)
        below = tf.cumsum(totals, exclusive=True) + totals / 2.0
        placed.append(tf.gather(below / (tf.reduce_sum(totals) + EPSILON), segments))
    return placed[0] * is_true + placed[1] * (1.0 - is_true), labels, weights


def _placement_auc(
    labels: Any, predictions: Any, weights: Any, alpha: float, is_logit: bool, is_valid: Any
) -> Any:
    """The area and its interval by placement values."""
    dtype = weights.dtype
    total_0 = tf.reduce_sum(tf.cast(1 - labels, dtype) * weights)
    total_1 = tf.reduce_sum(tf.cast(labels, dtype) * weights)
    values, ordered, ordered_weights = _placements(labels, predictions, weights)
    is_0, is_1 = tf.cast(1 - ordered, dtype), tf.cast(ordered, dtype)
    values_0, values_1 = values * is_0, values * is_1
    weights_0, weights_1 = ordered_weights * is_0, ordered_weights * is_1
    auc_0 = tf.reduce_sum(weights_0 * (1.0 - values_0)) / (total_0 + EPSILON)
    auc_1 = tf.reduce_sum(weights_1 * values_1) / (total_1 + EPSILON)
    area = tf.where(tf.less(total_0, total_1), auc_1, auc_0)
    squares_0 = tf.reduce_sum(weights_0 * tf.square(1.0 - values_0 - auc_0))
    squares_1 = tf.reduce_sum(weights_1 * tf.squared_difference(values_1, auc_1))
    variance_0 = squares_0 / (total_0 - 1.0 + EPSILON)
    variance_1 = squares_1 / (total_1 - 1.0 + EPSILON)
    error = tf.sqrt(variance_0 / (total_0 + EPSILON) + variance_1 / (total_1 + EPSILON))
    lower, upper = _interval(area, error, alpha, is_logit)
    is_extreme = tf.logical_or(
        tf.equal(area, tf.ones_like(area)), tf.equal(area, tf.zeros_like(area))
    )
    lower, upper = tf.where(is_extreme, area, lower), tf.where(is_extreme, area, upper)
    nothing = tf.constant(0.0)
    return AucData(*tf.cond(is_valid, lambda: [area, lower, upper], lambda: [nothing] * 3))


def _interval(area: Any, error: Any, alpha: float, is_logit: bool) -> tuple[Any, Any]:
    """The ends of the interval, of areas or of their logits."""
    from ....ops.distributions.location_scale import Normal

    z = Normal(loc=0.0, scale=1.0).quantile((1.0 - alpha) / 2.0)
    if not is_logit:
        return area + z * error, area - z * error
    estimate = tf.log(area / (1.0 - area + EPSILON))
    error = error / (area * (1.0 - area + EPSILON))

    def inverse(x: Any) -> Tensor:
        return 1.0 / (1.0 + tf.exp(tf.negative(x)) + EPSILON)

    return inverse(estimate + z * error), inverse(estimate - z * error)


@export("contrib.metrics.auc_with_confidence_intervals")
def auc_with_confidence_intervals(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike | None = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Sequence[str] | None = (),
    updates_collections: Sequence[str] | None = (),
    name: str | None = None,
) -> Metric:
    """The area under the ROC curve, and the interval that it lies in.

    Args:
        labels: zeros and ones.
        predictions: scores, of the same shape.
        weights: how much each counts; all alike if None.
        alpha: how likely the area lies in the interval.
        logit_transformation: whether the interval is that of logits, which keeps it in [0, 1].
        metrics_collections, updates_collections: keys that the two are added to.
        name: the variable scope.

    Returns:
        A named tuple of scalars - auc, lower, upper - and an operation that takes in what a run
        has.

    Raises:
        ValueError: alpha is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    if weights is None:
        weights = tf.ones_like(predictions)
    values = [labels, predictions, weights]
    with tf.variable_scope(name, default_name="auc_with_confidence_intervals", values=values):
        scores, flat, weights = matched(predictions, labels, weights)
        total = tf.reduce_sum(weights)
        weights = tf.reshape(weights, [-1])
        scores = tf.reshape(tf.cast(scores, dtypes.float64), [-1])
        flat = tf.reshape(tf.cast(flat, dtypes.int64), [-1])
        with tf.control_dependencies(_checked_labels(flat)):
            all_scores, update_scores = streaming_concat(scores, name="concat_preds")
            all_labels, update_labels = streaming_concat(flat, name="concat_labels")
            all_weights, update_weights = streaming_concat(weights, name="concat_weights")
            update_all = tf.group(update_labels, update_scores, update_weights)
            has_both = tf.logical_and(
                tf.equal(tf.reduce_min(flat), 0), tf.equal(tf.reduce_max(flat), 1)
            )
            is_enough = tf.greater_equal(total, 1.0)
            is_valid = tf.logical_and(has_both, is_enough)
            update = tf.cond(is_enough, lambda: update_all, tf.no_op)
            given = all_labels, all_scores, all_weights
            area = _placement_auc(*given, alpha, logit_transformation, is_valid)
            return collected(area, update, metrics_collections, updates_collections)
