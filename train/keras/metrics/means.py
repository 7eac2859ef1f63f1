# SPDX-License-Identifier: Apache-2.0
"""Metrics that are means of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....ops.public import tf
from ....ops.sparse.arithmetic import remove_squeezable_dimensions
from ..losses import functions as losses
from ..losses.ranks import matched
from . import functions
from .base import Mean, MeanMetricWrapper, Metric
from .ragged import flat_values


def _of(function: Callable[..., Any], class_name: str, name: str) -> type[MeanMetricWrapper]:
    """A class of means of a function without further arguments."""

    def begin(self: Any, name: str = name, dtype: DTypeLike | None = None) -> None:
        MeanMetricWrapper.__init__(self, function, name, dtype=dtype)

    sentence = (function.__doc__ or "").splitlines()[0]
    doc = f"The mean over examples. {sentence}"
    return type(
        class_name,
        (MeanMetricWrapper,),
        {"__init__": begin, "__doc__": doc, "__module__": __name__},
    )


Accuracy = _of(functions.accuracy, "Accuracy", "accuracy")
CategoricalAccuracy = _of(
    functions.categorical_accuracy, "CategoricalAccuracy", "categorical_accuracy"
)
SparseCategoricalAccuracy = _of(
    functions.sparse_categorical_accuracy,
    "SparseCategoricalAccuracy",
    "sparse_categorical_accuracy",
)
MeanAbsoluteError = _of(losses.mean_absolute_error, "MeanAbsoluteError", "mean_absolute_error")
MeanAbsolutePercentageError = _of(
    losses.mean_absolute_percentage_error,
    "MeanAbsolutePercentageError",
    "mean_absolute_percentage_error",
)
MeanSquaredError = _of(losses.mean_squared_error, "MeanSquaredError", "mean_squared_error")
MeanSquaredLogarithmicError = _of(
    losses.mean_squared_logarithmic_error,
    "MeanSquaredLogarithmicError",
    "mean_squared_logarithmic_error",
)
Hinge = _of(losses.hinge, "Hinge", "hinge")
SquaredHinge = _of(losses.squared_hinge, "SquaredHinge", "squared_hinge")
CategoricalHinge = _of(losses.categorical_hinge, "CategoricalHinge", "categorical_hinge")
LogCoshError = _of(losses.logcosh, "LogCoshError", "logcosh")
Poisson = _of(losses.poisson, "Poisson", "poisson")
KLDivergence = _of(
    losses.kullback_leibler_divergence, "KLDivergence", "kullback_leibler_divergence"
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike


class BinaryAccuracy(MeanMetricWrapper):
    """The share of labels 0 and 1 that predictions, cut at `threshold`, equal."""

    def __init__(
        self, name: str = "binary_accuracy", dtype: DTypeLike | None = None, threshold: float = 0.5
    ) -> None:
        super().__init__(functions.binary_accuracy, name, dtype=dtype, threshold=threshold)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """The share of examples whose class is among the k largest predictions."""

    def __init__(
        self, k: int = 5, name: str = "top_k_categorical_accuracy", dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(functions.top_k_categorical_accuracy, name, dtype=dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """As TopKCategoricalAccuracy, for numbers of classes."""

    def __init__(
        self,
        k: int = 5,
        name: str = "sparse_top_k_categorical_accuracy",
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(functions.sparse_top_k_categorical_accuracy, name, dtype=dtype, k=k)


class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine of the angle between labels and predictions along an axis."""

    def __init__(
        self, name: str = "cosine_similarity", dtype: DTypeLike | None = None, axis: int = -1
    ) -> None:
        super().__init__(losses.cosine_proximity, name, dtype=dtype, axis=axis)


class BinaryCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of single probabilities."""

    def __init__(
        self,
        name: str = "binary_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        options: dict[str, Any] = dict(from_logits=from_logits, label_smoothing=label_smoothing)
        super().__init__(losses.binary_crossentropy, name, dtype=dtype, **options)


class CategoricalCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of probabilities of classes."""

    def __init__(
        self,
        name: str = "categorical_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        label_smoothing: float = 0,
    ) -> None:
        options: dict[str, Any] = dict(from_logits=from_logits, label_smoothing=label_smoothing)
        super().__init__(losses.categorical_crossentropy, name, dtype=dtype, **options)


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of classes, given by their numbers."""

    def __init__(
        self,
        name: str = "sparse_categorical_crossentropy",
        dtype: DTypeLike | None = None,
        from_logits: bool = False,
        axis: int = -1,
    ) -> None:
        options: dict[str, Any] = dict(from_logits=from_logits, axis=axis)
        super().__init__(losses.sparse_categorical_crossentropy, name, dtype=dtype, **options)


class RootMeanSquaredError(Mean):
    """The root of the mean of squared differences."""

    def __init__(
        self, name: str = "root_mean_squared_error", dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(name, dtype=dtype)

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """The operation that adds labels and predictions."""
        y_true, y_pred = tf.cast(y_true, self.dtype), tf.cast(y_pred, self.dtype)
        y_pred, y_true, _ = matched(y_pred, y_true)
        squares = tf.squared_difference(y_pred, y_true)
        return super().update_state(squares, sample_weight=sample_weight)

    def result(self) -> Any:
        """The root of the mean."""
        return tf.sqrt(tf.div_no_nan(self.total, self.count))


class MeanRelativeError(Mean):
    """The mean of differences over a normalizer, a tensor or an array."""

    _arguments = ("normalizer",)
    normalizer: Any

    def __init__(
        self, normalizer: Any, name: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        vars(self)["normalizer"] = normalizer

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """The operation that adds labels and predictions; ValueError for other shapes."""
        y_true, y_pred = tf.cast(y_true, self.dtype), tf.cast(y_pred, self.dtype)
        (y_true, y_pred), sample_weight = flat_values([y_true, y_pred], sample_weight)
        y_pred, y_true, _ = matched(y_pred, y_true)
        normalizer = tf.cast(self.normalizer, self.dtype)
        y_pred, normalizer = remove_squeezable_dimensions(y_pred, normalizer)
        y_pred.shape.assert_is_compatible_with(y_true.shape)
        relative = tf.div_no_nan(tf.abs(y_true - y_pred), normalizer)
        return super().update_state(relative, sample_weight=sample_weight)


class MeanIoU(Metric):
    """The mean over classes of intersection over union.

    Args:
        num_classes: the number of classes.
        name, dtype: as of Metric.
    """

    _arguments = ("num_classes",)

    def __init__(
        self, num_classes: int, name: str | None = None, dtype: DTypeLike | None = None
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        self.num_classes = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix", shape=(num_classes, num_classes), dtype=tf.float64
        )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The operation that adds classes and predicted classes."""
        flat = [
            tf.reshape(y, [-1]) if y.shape.ndims is None or y.shape.ndims > 1 else y
            for y in (tf.cast(y_true, self.dtype), tf.cast(y_pred, self.dtype))
        ]
        if sample_weight is not None and sample_weight.shape.ndims > 1:
            sample_weight = tf.reshape(sample_weight, [-1])
        counts = tf.confusion_matrix(
            flat[0], flat[1], self.num_classes, weights=sample_weight, dtype=tf.float64
        )
        return self.total_cm.assign_add(counts)

    def result(self) -> Any:
        """The mean over classes that there are."""
        rows, columns = (tf.cast(tf.reduce_sum(self.total_cm, axis=i), self.dtype) for i in (0, 1))
        right = tf.cast(tf.diag_part(self.total_cm), self.dtype)
        union = rows + columns - right
        count = tf.reduce_sum(tf.cast(tf.not_equal(union, 0), self.dtype))
        shares = tf.div_no_nan(right, union)
        return tf.div_no_nan(tf.reduce_sum(shares, name="mean_iou"), count)
