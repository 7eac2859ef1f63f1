# SPDX-License-Identifier: Apache-2.0
"""Targets: what a model is to learn, its loss, its predictions and how they are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.types import dtypes
from ....ops.nn.loss import (
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from ....ops.nn.softmax import softmax
from ....ops.public import tf
from ..losses.loss_ops import hinge_loss
from ..metrics.streaming import METRICS

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

Loss = Callable[[Any, Any], Any]
Metrics = Mapping[Any, Callable[..., Any]]


class ProblemType:
    """What kind of a target it is."""

    UNSPECIFIED = 0
    CLASSIFICATION = 1
    LINEAR_REGRESSION = 2
    LOGISTIC_REGRESSION = 3


class _TargetColumn:
    """A target of a model.

    Args:
        loss_fn: a function of logits and labels that gives each example's loss.
        num_label_columns: how many numbers the model gives for each example.
        label_name: the name of the label in a dict, None if there is no dict.
        weight_column_name: the name of the feature by which losses are multiplied, if there is one.
        problem_type: one of `ProblemType`.

    Raises:
        ValueError: there is no loss, or no number.
    """

    def __init__(
        self,
        loss_fn: Loss | None,
        num_label_columns: int | None,
        label_name: str | None,
        weight_column_name: str | None,
        problem_type: int,
    ) -> None:
        if loss_fn is None:
            raise ValueError("loss_fn must be provided")
        if num_label_columns is None:
            raise ValueError("num_label_columns must be provided")
        self._loss_fn = loss_fn
        self._num_label_columns = num_label_columns
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._problem_type = problem_type

    @property
    def label_name(self) -> str | None:
        """The name of the label in a dict."""
        return self._label_name

    @property
    def weight_column_name(self) -> str | None:
        """The name of the weights' feature."""
        return self._weight_column_name

    @property
    def num_label_columns(self) -> int:
        """How many numbers the model gives for each example."""
        return self._num_label_columns

    @property
    def problem_type(self) -> int:
        """One of `ProblemType`."""
        return self._problem_type

    def logits_to_predictions(self, logits: Tensor, proba: bool = False) -> Any:
        """What the logits say; their probabilities, if `proba`."""
        raise NotImplementedError()

    def get_eval_ops(
        self,
        features: Mapping[str, Any],
        logits: Tensor,
        labels: Tensor,
        metrics: Metrics | None = None,
    ) -> dict[str, Any]:
        """Measures of the predictions, by name: pairs of a value and an update."""
        raise NotImplementedError

    def get_weight_tensor(self, features: Mapping[str, Any]) -> Any:
        """The weights of the examples, None if there are none."""
        if not self._weight_column_name:
            return None
        weights = tf.cast(features[self._weight_column_name], dtypes.float32)
        return tf.reshape(weights, shape=(-1,))

    def _losses(self, logits: Any, target: Any, weights: Callable[[], Any]) -> tuple[Any, Any]:
        """The losses of the examples, by their weights, and the weights."""
        losses = self._loss_fn(logits, target[self.label_name] if _is_dict(target) else target)
        found = weights()
        if found is None:
            return losses, None
        flat = tf.reshape(losses, shape=(-1,))
        return tf.multiply(flat, tf.reshape(found, shape=(-1,))), found

    def training_loss(
        self,
        logits: Tensor,
        target: Any,
        features: Mapping[str, Any],
        name: str = "training_loss",
    ) -> Any:
        """The sum of weighted losses, divided by the number of examples."""
        losses, _ = self._losses(logits, target, lambda: self.get_weight_tensor(features))
        return tf.reduce_mean(losses, name=name)

    def loss(self, logits: Tensor, target: Any, features: Mapping[str, Any]) -> Any:
        """The mean of the losses by their weights."""
        losses, weights = self._losses(logits, target, lambda: self.get_weight_tensor(features))
        if weights is None:
            return tf.reduce_mean(losses, name="loss")
        total = tf.cast(tf.reduce_sum(weights), dtypes.float32)
        return tf.div(tf.reduce_sum(losses), total, name="loss")


def _is_dict(target: object) -> bool:
    return isinstance(target, dict)


def _measured(predictions: Any, labels: Any, metrics: Metrics, weights: Any) -> dict[str, Any]:
    labels = tf.cast(labels, predictions.dtype)
    options = {} if weights is None else {"weights": weights}
    return {name: metric(predictions, labels, **options) for name, metric in metrics.items()}


class _RegressionTargetColumn(_TargetColumn):
    """What regression_target gives."""

    def __init__(
        self,
        loss_fn: Loss,
        label_name: str | None,
        weight_column_name: str | None,
        label_dimension: int,
    ) -> None:
        super().__init__(
            loss_fn, label_dimension, label_name, weight_column_name, ProblemType.LINEAR_REGRESSION
        )

    def logits_to_predictions(self, logits: Tensor, proba: bool = False) -> Tensor:
        """The logits; without their second axis, if that is of one."""
        return tf.squeeze(logits, axis=[1]) if self.num_label_columns == 1 else logits

    def get_eval_ops(
        self,
        features: Mapping[str, Any],
        logits: Tensor,
        labels: Tensor,
        metrics: Metrics | None = None,
    ) -> dict[str, Any]:
        """The mean loss, and the metrics given."""
        result = {"loss": METRICS["streaming_mean"](self.loss(logits, labels, features))}
        if metrics:
            predictions = self.logits_to_predictions(logits, proba=False)
            weights = self.get_weight_tensor(features)
            result.update(_measured(predictions, labels, metrics, weights))
        return result


class _MultiClassTargetColumn(_TargetColumn):
    """What multi_class_target gives."""

    def __init__(
        self,
        loss_fn: Loss,
        n_classes: int,
        label_name: str | None,
        weight_column_name: str | None,
    ) -> None:
        if n_classes < 2:
            raise ValueError("n_classes must be >= 2")
        super().__init__(
            loss_fn,
            1 if n_classes == 2 else n_classes,
            label_name,
            weight_column_name,
            ProblemType.CLASSIFICATION,
        )

    def logits_to_predictions(self, logits: Tensor, proba: bool = False) -> Any:
        """The likeliest class; the probabilities of all, if `proba`."""
        if self.num_label_columns == 1:
            logits = _of_two_classes(logits)
        return softmax(logits) if proba else tf.argmax(logits, 1)

    def get_eval_ops(
        self,
        features: Mapping[str, Any],
        logits: Tensor,
        labels: Tensor,
        metrics: Metrics | None = None,
    ) -> dict[str, Any]:
        """The mean loss, and the metrics given: accuracy if None; those of two classes are more."""
        result = {"loss": METRICS["streaming_mean"](self.loss(logits, labels, features))}
        if metrics is None:
            metrics = {("accuracy", "classes"): METRICS["streaming_accuracy"]}
        predictions, floats = tf.sigmoid(logits), tf.cast(labels, dtypes.float32)
        if self._num_label_columns == 1:
            for name, metric in get_default_binary_metrics_for_eval([0.5]).items():
                result[name] = metric(predictions, floats)
        kinds: dict[str, dict[str, Any]] = {"classes": {}, "probabilities": {}}
        for given, metric in metrics.items():
            name, kind = _name_and_kind(given)
            kinds[kind][name] = metric
        for kind, chosen in kinds.items():
            if chosen:
                predictions = self.logits_to_predictions(logits, proba=kind == "probabilities")
                weights = self.get_weight_tensor(features)
                result.update(_measured(predictions, labels, chosen, weights))
        return result


def _name_and_kind(name: Any) -> tuple[str, str]:
    """A metric's name, and whether it is one of classes or of probabilities."""
    if isinstance(name, str):
        return name, "classes"
    if not isinstance(name, tuple):
        raise ValueError(f"Ignoring metric {name}. Its name is not in the correct form.")
    if len(name) != 2:
        raise ValueError(
            f"Ignoring metric {name}. It returned a tuple with len {len(name)}, expected 2."
        )
    if name[1] not in ("classes", "probabilities"):
        raise ValueError(
            f"Ignoring metric {name}. The 2nd element of its name should be either 'classes' or "
            "'probabilities'."
        )
    return name


class _BinarySvmTargetColumn(_MultiClassTargetColumn):
    """What binary_svm_target gives."""

    def __init__(self, label_name: str | None, weight_column_name: str | None) -> None:
        super().__init__(_hinge_loss, 2, label_name, weight_column_name)

    def logits_to_predictions(self, logits: Tensor, proba: bool = False) -> Any:
        """The class; ValueError where probabilities are asked for."""
        if proba:
            raise ValueError("logits to probabilities is not supported for _BinarySvmTargetColumn")
        return tf.argmax(_of_two_classes(logits), 1)


def _of_two_classes(logits: Any) -> Tensor:
    return tf.concat([tf.zeros_like(logits), logits], 1)


def _hinge_loss(logits: Any, target: Any) -> Any:
    message = "target's shape should be either [batch_size, 1] or [batch_size]"
    with tf.control_dependencies([tf.Assert(tf.less_equal(tf.rank(target), 2), [message])]):
        target = tf.reshape(target, shape=[tf.shape(target)[0], 1])
    return hinge_loss(logits, target)


def _as_column(target: Any) -> Any:
    return tf.expand_dims(target, axis=1) if target.shape.ndims == 1 else target


def _mean_squared_loss(logits: Any, target: Any) -> Tensor:
    # Without the check logits and target would be broadcast.
    target = _as_column(target)
    logits.shape.assert_is_compatible_with(target.shape)
    return tf.squared_difference(logits, tf.cast(target, dtypes.float32))


def _log_loss_with_two_classes(logits: Any, target: Any) -> Tensor:
    labels = tf.cast(_as_column(target), dtypes.float32)
    return sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def _softmax_cross_entropy_loss(logits: Any, target: Any) -> Any:
    if not target.dtype.is_integer:
        raise ValueError(f"Target's dtype should be integer Instead got {target.dtype}.")
    if target.shape.ndims == 2:
        target = tf.squeeze(target, axis=[1])
    return sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)


@export("contrib.layers.regression_target")
def regression_target(
    label_name: str | None = None, weight_column_name: str | None = None, label_dimension: int = 1
) -> _RegressionTargetColumn:
    """A target that is a number, learned by its squared distance.

    Args:
        label_name: the name of the label in a dict, None if there is no dict.
        weight_column_name: the name of the feature by which losses are multiplied, if there is one.
        label_dimension: how many numbers it is.

    Returns:
        A target.

    Example:
        >>> target = tf.contrib.layers.regression_target()
        >>> loss = target.loss(tf.constant([[1.0], [3.0]]), tf.constant([[1.0], [1.0]]), {})
        >>> print(tf.Session().run(loss))
        2.0
    """
    return _RegressionTargetColumn(
        _mean_squared_loss, label_name, weight_column_name, label_dimension
    )


@export("contrib.layers.multi_class_target")
def multi_class_target(
    n_classes: int, label_name: str | None = None, weight_column_name: str | None = None
) -> _MultiClassTargetColumn:
    """A target that is a class, learned by its cross entropy.

    Args:
        n_classes: how many classes there are.
        label_name, weight_column_name: as `regression_target`.

    Returns:
        A target.

    Raises:
        ValueError: there are fewer than two classes.

    Example:
        >>> tf.contrib.layers.multi_class_target(n_classes=2).num_label_columns
        1
    """
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    loss = _log_loss_with_two_classes if n_classes == 2 else _softmax_cross_entropy_loss
    return _MultiClassTargetColumn(loss, n_classes, label_name, weight_column_name)


def binary_svm_target(
    label_name: str | None = None, weight_column_name: str | None = None
) -> _BinarySvmTargetColumn:
    """A target that is one of two classes, learned by the hinge loss.

    Args:
        label_name, weight_column_name: as `regression_target`.

    Returns:
        A target.
    """
    return _BinarySvmTargetColumn(label_name, weight_column_name)


class _MetricKeys:
    """The names of what is measured of two classes."""

    AUC = "auc"
    PREDICTION_MEAN = "labels/prediction_mean"
    TARGET_MEAN = "labels/actual_target_mean"
    ACCURACY_BASELINE = "accuracy/baseline_target_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"


def get_default_binary_metrics_for_eval(thresholds: Iterable[float]) -> dict[str, Any]:
    """What is measured of two classes.

    Args:
        thresholds: from which probabilities on the second class counts as predicted.

    Returns:
        Functions of predictions, labels and weights, by name.
    """
    metrics: dict[str, Any] = {
        _MetricKeys.PREDICTION_MEAN: _prediction_mean,
        _MetricKeys.TARGET_MEAN: _label_mean,
        _MetricKeys.ACCURACY_BASELINE: _label_mean,
        _MetricKeys.AUC: _auc,
    }
    for threshold in thresholds:
        precision = METRICS["streaming_precision_at_thresholds"]
        recall = METRICS["streaming_recall_at_thresholds"]
        metrics[_MetricKeys.ACCURACY_MEAN % threshold] = _accuracy_at(threshold)
        metrics[_MetricKeys.PRECISION_MEAN % threshold] = _at(precision, threshold)
        metrics[_MetricKeys.RECALL_MEAN % threshold] = _at(recall, threshold)
    return metrics


def _label_mean(predictions: Any, labels: Any, weights: Any = None) -> Any:
    return METRICS["streaming_mean"](labels, weights=weights)


def _prediction_mean(predictions: Any, labels: Any, weights: Any = None) -> Any:
    return METRICS["streaming_mean"](predictions, weights=weights)


def _floats(weights: Any) -> Any:
    return None if weights is None else tf.cast(weights, dtypes.float32)


def _auc(predictions: Any, labels: Any, weights: Any = None) -> Any:
    return METRICS["streaming_auc"](predictions, labels, weights=_floats(weights))


def _accuracy_at(threshold: float) -> Callable[..., Any]:
    def measure(predictions: Any, labels: Any, weights: Any = None) -> Any:
        reached = tf.cast(tf.greater_equal(predictions, threshold), dtypes.float32)
        return METRICS["streaming_accuracy"](predictions=reached, labels=labels, weights=weights)

    return measure


def _at(metric: Callable[..., Any], threshold: float) -> Callable[..., Any]:
    def measure(predictions: Any, labels: Any, weights: Any = None) -> tuple[Tensor, Any]:
        value, update = metric(
            predictions, labels=labels, thresholds=[threshold], weights=_floats(weights)
        )
        return tf.squeeze(value), update

    return measure
