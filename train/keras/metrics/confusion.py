# SPDX-License-Identifier: Apache-2.0
"""Metrics of right and wrong, positive and negative, at thresholds of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from ....ops.nn.weights import broadcast_weights
from ....ops.public import tf
from ..backend.published import nn
from ..backend.settings import epsilon
from ..losses.ranks import matched
from .base import Metric
from .ragged import flat_values

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike


_LOWEST = -1e10
_COUNTS = ("true_positives", "true_negatives", "false_positives", "false_negatives")


class AUCCurve(Enum):
    """The two curves whose area there is."""

    ROC = "ROC"
    PR = "PR"


class AUCSummationMethod(Enum):
    """How the area between two points is taken."""

    INTERPOLATION = "interpolation"
    MAJORING = "majoring"
    MINORING = "minoring"


def _thresholds(given: Any, default: float) -> list[float]:
    if given is None:
        return [default]
    found = list(given) if isinstance(given, (list, tuple)) else [given]
    wrong = [t for t in found if t is None or not 0 <= t <= 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return found


def _top(x: Any, k: int) -> Any:
    """The k largest along the last axis; the others become the lowest number."""
    _, places = nn.top_k(x, k, sorted=False)
    mask = tf.reduce_sum(tf.one_hot(places, x.shape[-1].value, axis=-1), axis=-2)
    return x * mask + _LOWEST * (1 - mask)


class _Confusion(Metric):
    """Variables that count labels and predictions at thresholds.

    Args:
        counts: which of the four counts there are.
        thresholds: the thresholds.
    """

    _counted: tuple[str, ...] = _COUNTS
    true_positives: Any
    true_negatives: Any
    false_positives: Any
    false_negatives: Any
    top_k: int | None = None
    class_id: int | None = None

    def _begin_counts(self, thresholds: Sequence[float]) -> None:
        self.thresholds = list(thresholds)
        for name in self._counted:
            setattr(self, name, self.add_weight(name, shape=(len(thresholds),)))

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The operation that adds labels and predictions.

        An InvalidArgumentError when it runs says that predictions are not in [0, 1].
        """
        y_true, y_pred = tf.cast(y_true, tf.float32), tf.cast(y_pred, tf.float32)
        (y_pred, y_true), _ = flat_values([y_pred, y_true], sample_weight)
        y_pred.shape.assert_is_compatible_with(y_true.shape)
        checks = [
            tf.assert_greater_equal(
                y_pred, tf.cast(0.0, y_pred.dtype), message="predictions must be >= 0"
            ),
            tf.assert_less_equal(
                y_pred, tf.cast(1.0, y_pred.dtype), message="predictions must be <= 1"
            ),
        ]
        with tf.control_dependencies(checks):
            y_pred, y_true, sample_weight = matched(y_pred, y_true, sample_weight)
        if self.top_k is not None:
            y_pred = _top(y_pred, self.top_k)
        if self.class_id is not None:
            y_true, y_pred = y_true[..., self.class_id], y_pred[..., self.class_id]
        with tf.control_dependencies(checks):
            size = tf.size(y_pred)
        return tf.group(self._added(y_true, y_pred, sample_weight, size))

    def _added(self, y_true: Any, y_pred: Any, sample_weight: Any, size: Any) -> list[Any]:
        """The operations that add to the counts, all made as TensorFlow makes them."""
        count = len(self.thresholds)
        y_pred_row = tf.reshape(y_pred, [1, -1])
        labels = tf.reshape(tf.cast(y_true, tf.bool), [1, -1])
        limits = tf.tile(tf.expand_dims(tf.constant(self.thresholds), 1), tf.stack([1, size]))
        above = tf.greater(tf.tile(y_pred_row, [count, 1]), limits)
        labels = tf.tile(labels, [count, 1])
        weights = None
        if sample_weight is not None:
            weights = broadcast_weights(tf.cast(sample_weight, tf.float32), y_pred)
            weights = tf.tile(tf.reshape(weights, [1, -1]), [count, 1])
        wanted = set(self._counted)
        sides = {"true_positives": (labels, above)}
        if wanted & {"false_negatives", "true_negatives"}:
            below = tf.logical_not(above)
            sides["false_negatives"] = labels, below
        if wanted & {"false_positives", "true_negatives"}:
            others = tf.logical_not(labels)
            sides["false_positives"] = others, above
            if "true_negatives" in wanted:
                sides["true_negatives"] = others, below
        return [self._add(name, *both, weights) for name, both in sides.items() if name in wanted]

    def _add(self, name: str, label: Any, side: Any, weights: Any) -> Any:
        found = tf.cast(tf.logical_and(label, side), tf.float32)
        if weights is not None:
            found *= weights
        return getattr(self, name).assign_add(tf.reduce_sum(found, 1))

    def _share(self, part: str, other: str) -> Any:
        one = getattr(self, part)
        return tf.div_no_nan(one, one + getattr(self, other))


class _Count(_Confusion):
    """One of the counts."""

    def __init__(
        self, thresholds: Any = None, name: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.thresholds = _thresholds(thresholds, 0.5)
        self.accumulator = self.add_weight("accumulator", shape=(len(self.thresholds),))
        vars(self)[self._counted[0]] = self.accumulator

    def result(self) -> Any:
        """The count at each threshold; a scalar for one threshold."""
        counted = tf.convert_to_tensor(self.accumulator)
        return counted[0] if len(self.thresholds) == 1 else counted

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_Count):
    """How many predictions above thresholds are right."""

    _counted = ("true_positives",)


class TrueNegatives(_Count):
    """How many predictions up to thresholds are right."""

    _counted = ("true_negatives",)


class FalsePositives(_Count):
    """How many predictions above thresholds are wrong."""

    _counted = ("false_positives",)


class FalseNegatives(_Count):
    """How many predictions up to thresholds are wrong."""

    _counted = ("false_negatives",)


class _Ratio(_Confusion):
    """The share of true positives."""

    def __init__(
        self,
        thresholds: Any = None,
        top_k: int | None = None,
        class_id: int | None = None,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.init_thresholds = thresholds
        self.top_k = top_k
        self.class_id = class_id
        self._begin_counts(_thresholds(thresholds, 0.5 if top_k is None else _LOWEST))

    def result(self) -> Any:
        """The share at each threshold; a scalar for one threshold."""
        found = self._share(*self._counted)
        return found[0] if len(self.thresholds) == 1 else found

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        own = {"thresholds": self.init_thresholds, "top_k": self.top_k, "class_id": self.class_id}
        return {**super().get_config(), **own}


class Precision(_Ratio):
    """The share of right ones among predictions above thresholds.

    Args:
        thresholds: one or several, in [0, 1]; 0.5 if None.
        top_k: only the k largest predictions count.
        class_id: only this class counts.
        name, dtype: as of Metric.
    """

    _counted = ("true_positives", "false_positives")


class Recall(_Ratio):
    """The share of positives that are predicted; arguments as of Precision."""

    _counted = ("true_positives", "false_negatives")


def _spread(count: int) -> list[float]:
    """Numbers at equal distances within 0 and 1."""
    return [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]


class _AtOther(_Confusion):
    """One share where another is nearest to a value."""

    def __init__(self, value: float, num_thresholds: int, name: str | None, dtype: Any) -> None:
        super().__init__(name=name, dtype=dtype)
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        self.value = value
        self.num_thresholds = num_thresholds
        inner = _spread(num_thresholds)
        self._begin_counts([0.5] if num_thresholds == 1 else [0.0, *inner, 1.0])

    def _share_at(self, share: tuple[str, str], other: tuple[str, str]) -> Any:
        distance = tf.abs(self._share(*other) - self.value)
        place = tf.cast(tf.argmin(distance, axis=0), tf.int32)
        one, rest = (getattr(self, name) for name in share)
        return tf.div_no_nan(one[place], one[place] + rest[place])


class SensitivityAtSpecificity(_AtOther):
    """The sensitivity at the threshold whose specificity is nearest to a value in [0, 1]."""

    _arguments = ("num_thresholds", "specificity")

    def __init__(
        self,
        specificity: float,
        num_thresholds: int = 200,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        if not 0 <= specificity <= 1:
            raise ValueError("`specificity` must be in the range [0, 1].")
        super().__init__(specificity, num_thresholds, name, dtype)
        self.specificity = specificity

    def result(self) -> Any:
        """The sensitivity."""
        return self._share_at(
            ("true_positives", "false_negatives"), ("true_negatives", "false_positives")
        )


class SpecificityAtSensitivity(_AtOther):
    """The specificity at the threshold whose sensitivity is nearest to a value in [0, 1]."""

    _arguments = ("num_thresholds", "sensitivity")

    def __init__(
        self,
        sensitivity: float,
        num_thresholds: int = 200,
        name: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        if not 0 <= sensitivity <= 1:
            raise ValueError("`sensitivity` must be in the range [0, 1].")
        super().__init__(sensitivity, num_thresholds, name, dtype)
        self.sensitivity = sensitivity

    def result(self) -> Any:
        """The specificity."""
        return self._share_at(
            ("true_negatives", "false_positives"), ("true_positives", "false_negatives")
        )


class AUC(_Confusion):
    """The area under a curve.

    Args:
        num_thresholds: the number of points.
        curve: "ROC" or "PR".
        summation_method: "interpolation", "minoring" or "majoring".
        name, dtype: as of Metric.
        thresholds: the thresholds within 0 and 1, instead of so many at equal distances.

    Raises:
        ValueError: there is no such curve or method, or less than two thresholds.
    """

    def __init__(
        self,
        num_thresholds: int = 200,
        curve: Any = "ROC",
        summation_method: Any = "interpolation",
        name: str | None = None,
        dtype: DTypeLike | None = None,
        thresholds: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        if thresholds is not None:
            num_thresholds, inner = len(thresholds) + 2, sorted(thresholds)
        elif num_thresholds <= 1:
            raise ValueError("`num_thresholds` must be > 1.")
        else:
            inner = _spread(num_thresholds)
        self.num_thresholds = num_thresholds
        self.curve = _member(AUCCurve, curve, str.upper, "curve")
        self.summation_method = _member(
            AUCSummationMethod, summation_method, str.lower, "summation method"
        )
        self._begin_counts([0.0 - epsilon(), *inner, 1.0 + epsilon()])

    def result(self) -> Any:
        """The area."""
        method = self.summation_method
        recall = self._share("true_positives", "false_negatives")
        if self.curve is AUCCurve.ROC:
            x, y = self._share("false_positives", "true_negatives"), recall
        elif method is AUCSummationMethod.INTERPOLATION:
            return self.interpolate_pr_auc()
        else:
            x, y = recall, self._share("true_positives", "false_positives")
        before, behind = y[: self.num_thresholds - 1], y[1:]
        if method is AUCSummationMethod.INTERPOLATION:
            heights = (before + behind) / 2.0
        else:
            lowest = method is AUCSummationMethod.MINORING
            heights = (tf.minimum if lowest else tf.maximum)(before, behind)
        widths = x[: self.num_thresholds - 1] - x[1:]
        return tf.reduce_sum(tf.multiply(widths, heights), name=self.name)

    def interpolate_pr_auc(self) -> Any:
        """The area under precision and recall, counts between points lying on lines."""
        last = self.num_thresholds - 1
        right = tf.convert_to_tensor(self.true_positives)
        chosen = right + self.false_positives
        gained, more = right[:last] - right[1:], chosen[:last] - chosen[1:]
        slope = tf.div_no_nan(gained, tf.maximum(more, 0.0), name="prec_slope")
        intercept = right[1:] - tf.multiply(slope, chosen[1:])
        ratio = tf.where(
            tf.logical_and(chosen[:last] > 0, chosen[1:] > 0),
            tf.div_no_nan(chosen[:last], tf.maximum(chosen[1:], 0.0), name="recall_relative_ratio"),
            tf.ones_like(chosen[1:]),
        )
        positives = tf.maximum(right[1:] + self.false_negatives[1:], 0.0)
        parts = tf.div_no_nan(
            slope * (gained + intercept * tf.log(ratio)), positives, name="pr_auc_increment"
        )
        return tf.reduce_sum(parts, name="interpolate_pr_auc")

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        own = {
            "num_thresholds": self.num_thresholds,
            "curve": self.curve.value,
            "summation_method": self.summation_method.value,
            "thresholds": self.thresholds[1:-1],
        }
        return {**super().get_config(), **own}


def _member(kind: Any, value: Any, spelling: Any, what: str) -> Any:
    if isinstance(value, kind):
        return value
    try:
        return kind(spelling(value))
    except ValueError:
        known = ", ".join(repr(member.value) for member in kind)
        raise ValueError(f'Invalid AUC {what} value "{value}". It may be {known}') from None
