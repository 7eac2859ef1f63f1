# SPDX-License-Identifier: Apache-2.0
"""Heads: what becomes of logits, in training, evaluation and prediction.

A class states its predictions, its loss and its metrics; how they make an EstimatorSpec is stated
once, in `Head.create_estimator_spec`.
"""

from __future__ import annotations

import abc
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys
from ...engine.types import dtypes
from ...ops.lookup.vocabulary import (
    index_table_from_tensor,
    index_to_string_table_from_tensor,
)
from ...ops.metrics.auc import auc
from ...ops.metrics.counts import precision, recall
from ...ops.metrics.means import accuracy, mean
from ...ops.metrics.thresholds import precision_at_thresholds, recall_at_thresholds
from ...ops.nn.loss import sigmoid_cross_entropy_with_logits
from ...ops.nn.losses import mean_squared_error, sparse_softmax_cross_entropy
from ...ops.nn.losses_reduction import Reduction, compute_weighted_loss
from ...ops.nn.softmax import softmax
from ...ops.nn.weights import broadcast_weights
from ...ops.public import tf
from ...ops.summaries.api import scalar
from ..variables.global_step import get_global_step
from . import head_checks as checks
from .export_output import ClassificationOutput, PredictOutput, RegressionOutput
from .mode_keys import ModeKeys
from .model_fn import AVERAGE_LOSS_METRIC_KEY, LOSS_METRIC_KEY, EstimatorSpec

if TYPE_CHECKING:
    from ...engine.graph.tensor import Tensor

LossSpec = namedtuple(
    "LossSpec", ("training_loss", "unreduced_loss", "weights", "processed_labels")
)
_DEFAULT, _CLASSIFY, _REGRESS, _PREDICT = (
    *("serving_default", "classification", "regression", "predict"),
)
_REGULARIZATION = "regularization_loss"


class Head(abc.ABC):
    """What becomes of logits.

    Args:
        weight_column: the key or column of examples' weights; None for none.
        loss_reduction: how losses become one, of tf.losses.Reduction.
        loss_fn: called with labels, logits and features as it takes them; another loss.
        name: of the head, which summaries and metrics carry.

    Raises:
        ValueError: the reduction is none, or the loss takes other arguments.
    """

    def __init__(
        self,
        weight_column: object = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
        if loss_fn:
            checks.check_loss_fn(loss_fn)
        self._weight_column = weight_column
        self._loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self._name = name

    @property
    def name(self) -> str | None:
        """The head's name."""
        return self._name

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The last size of the logits."""

    @abc.abstractmethod
    def _predictions(self, logits: Tensor) -> dict[str, Any]: ...

    @abc.abstractmethod
    def _exports(self, predictions: dict[str, Any]) -> dict[str, Any]: ...

    @abc.abstractmethod
    def create_loss(
        self, features: dict[str, Any], mode: str, logits: Tensor, labels: object
    ) -> LossSpec:
        """The loss, and the losses, weights and labels that it is made of."""

    @abc.abstractmethod
    def _metrics(
        self, predictions: dict[str, Any], labels: object, spec: LossSpec
    ) -> dict[str, Any]: ...

    def _key(self, key: str) -> str:
        return f"{key}/{self._name}" if self._name else key

    def _reduced(
        self, losses: Tensor, features: dict[str, Any], logits: Tensor, labels: Tensor, each: bool
    ) -> LossSpec:
        weights = checks.checked_weights(features, self._weight_column, logits, each)
        loss = compute_weighted_loss(losses, weights=weights, reduction=self._loss_reduction)
        return LossSpec(loss, losses, weights, labels)

    def create_estimator_spec(
        self,
        features: dict[str, Any],
        mode: str,
        logits: Tensor,
        labels: object = None,
        optimizer: object = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        regularization_losses: Sequence[Tensor] | None = None,
    ) -> EstimatorSpec:
        """What a model function gives.

        Args:
            features: tensors by key.
            mode: a value of ModeKeys.
            logits: a tensor [..., logits_dimension].
            labels: a tensor; None for prediction.
            optimizer: an Optimizer that minimizes the loss, or
            train_op_fn: a function from the loss to what a step runs.
            regularization_losses: scalars that are added to the loss.

        Returns:
            An EstimatorSpec.

        Raises:
            ValueError: for training both or neither of optimizer and function are given.
        """
        with tf.name_scope(self._name, "head"):
            predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                exports = {**self._exports(predictions), _PREDICT: PredictOutput(predictions)}
                return EstimatorSpec(mode, predictions, export_outputs=exports)
            checked: Any = predictions.get("logits", predictions.get("predictions"))
            spec = self.create_loss(features, mode, checked, labels)
            loss, regularization = spec.training_loss, None
            if regularization_losses:
                regularization = tf.add_n(regularization_losses)
                loss = tf.add_n([loss, regularization])
            if mode == ModeKeys.TRAIN:
                train_op = _train_op(loss, optimizer, train_op_fn)
                average = None
                if self._loss_reduction == Reduction.SUM:
                    weight = tf.reduce_sum(spec.weights * tf.ones_like(spec.unreduced_loss))
                    average = spec.training_loss / weight
        if mode == ModeKeys.EVAL:
            metrics = self._metrics(predictions, labels, spec)
            if regularization is not None:
                metrics[_REGULARIZATION] = mean(regularization, name=_REGULARIZATION)
            named = {self._key(key): value for key, value in metrics.items()}
            return EstimatorSpec(mode, predictions, loss, eval_metric_ops=named)
        with tf.name_scope(""):
            for key, value in (
                (LOSS_METRIC_KEY, loss),
                (AVERAGE_LOSS_METRIC_KEY, average),
                (_REGULARIZATION, regularization),
            ):
                if value is not None:
                    scalar(self._key(key), value)
        return EstimatorSpec(mode, predictions, loss, train_op)


def _train_op(loss: Tensor, optimizer: Any, train_op_fn: Callable[[Any], Any] | None) -> Any:
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is not None:
        train_op = optimizer.minimize(loss, global_step=get_global_step())
    elif train_op_fn is not None:
        train_op = train_op_fn(loss)
    else:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    updates = tf.get_collection(GraphKeys.UPDATE_OPS)
    return tf.group(train_op, *updates) if updates else train_op


def _of_every_example(logits: Tensor, values: Callable[[], Any]) -> Tensor:
    batch = tf.shape(logits)[0]
    return tf.tile(tf.expand_dims(values(), axis=0), [batch, 1])


def _accuracy_baseline(label_mean: tuple[Any, Any]) -> tuple[Any, Any]:
    """How often the class that is more frequent is right."""
    with tf.name_scope(None, "accuracy_baseline", label_mean):
        value, update = label_mean
        return (
            tf.maximum(value, 1 - value, name="value"),
            tf.maximum(update, 1 - update, name="update_op"),
        )


def _weighted_mean(values: Tensor, weights: Any, name: str) -> tuple[Any, Any]:
    with tf.name_scope(name, "mean", (values, weights)) as scope:
        values = tf.cast(values, dtypes.float32)
        return mean(values, weights=broadcast_weights(weights, values), name=scope)


class _Classifier(Head):
    """What heads of classes share: their names and numbers."""

    _n_classes: int
    _label_vocabulary: Sequence[str] | None

    def _names(self) -> Any:
        if self._label_vocabulary:
            return list(self._label_vocabulary)
        return tf.as_string(tf.range(self._n_classes))

    def _every_class(self, logits: Tensor) -> dict[str, Any]:
        """All classes, by number and by name."""
        every = _of_every_example(logits, lambda: tf.range(self._n_classes))
        return {"all_class_ids": every, "all_classes": _of_every_example(logits, self._names)}

    def _ids(self, scores: Tensor) -> Tensor:
        """The number of the likeliest class."""
        return tf.expand_dims(tf.argmax(scores, axis=-1, name="class_ids"), axis=-1)

    def _class(self, ids: Tensor) -> dict[str, Any]:
        """A class by number and by name."""
        if self._label_vocabulary:
            classes = index_to_string_table_from_tensor(
                vocabulary_list=self._label_vocabulary, name="class_string_lookup"
            ).lookup(ids)
        else:
            classes = tf.as_string(ids, name="str_classes")
        return {"class_ids": ids, "classes": classes}

    def _classification(self, predictions: dict[str, Any]) -> ClassificationOutput:
        scores = predictions["probabilities"]
        return ClassificationOutput(scores, _of_every_example(scores, self._names))

    def _looked_up(self, labels: Tensor) -> Any:
        return index_table_from_tensor(
            vocabulary_list=tuple(self._label_vocabulary or ()), name="class_id_lookup"
        ).lookup(labels)


class MultiClassHead(_Classifier):
    """One of three classes or more, by softmax.

    Args:
        n_classes: how many.
        label_vocabulary: their names, if labels are strings.
        weight_column, loss_reduction, loss_fn, name: as of Head.

    Raises:
        ValueError: there are fewer classes, or the vocabulary is no list.
    """

    def __init__(
        self,
        n_classes: int,
        weight_column: object = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        if n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError(
                "label_vocabulary should be a list or a tuple. Given type: "
                f"{type(label_vocabulary)}"
            )
        self._n_classes = n_classes
        self._label_vocabulary = label_vocabulary

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._n_classes

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        logits = checks.checked_logits(logits, self._n_classes)
        with tf.name_scope(None, "predictions", (logits,)):
            every = self._every_class(logits)
            classes = {**self._class(self._ids(logits)), **every}
            probabilities = softmax(logits, name="probabilities")
        return {"logits": logits, "probabilities": probabilities, **classes}

    def _exports(self, predictions: dict[str, Any]) -> dict[str, Any]:
        output = self._classification(predictions)
        return {_DEFAULT: output, _CLASSIFY: output}

    def create_loss(
        self, features: dict[str, Any], mode: str, logits: Tensor, labels: Any
    ) -> LossSpec:
        """The cross entropy with the softmax of the logits."""
        logits = tf.convert_to_tensor(logits)
        labels = checks.checked_labels(labels, logits, 1)
        if self._label_vocabulary is None:
            if not labels.dtype.is_integer:
                raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        elif labels.dtype != dtypes.string:
            raise ValueError(
                "Labels dtype should be string if there is a vocabulary. Instead got "
                f"{labels.dtype}"
            )
        else:
            labels = self._looked_up(labels)
        ids = checks.in_range(labels, self._n_classes)
        if self._loss_fn:
            losses = checks.call_loss_fn(self._loss_fn, ids, logits, features, 1)
        else:
            losses = sparse_softmax_cross_entropy(
                labels=ids, logits=logits, reduction=Reduction.NONE
            )
            losses = tf.expand_dims(losses, axis=-1)
        return self._reduced(losses, features, logits, ids, False)

    def _metrics(
        self, predictions: dict[str, Any], labels: object, spec: LossSpec
    ) -> dict[str, Any]:
        given = dict(weights=spec.weights)
        with tf.name_scope(None, "metrics"):
            return {
                AVERAGE_LOSS_METRIC_KEY: mean(
                    spec.unreduced_loss, name=AVERAGE_LOSS_METRIC_KEY, **given
                ),
                "accuracy": accuracy(
                    labels=spec.processed_labels,
                    predictions=predictions["class_ids"],
                    name="accuracy",
                    **given,
                ),
            }


class BinaryClassHead(_Classifier):
    """One of two classes, by one logit.

    Args:
        thresholds: probabilities between 0 and 1 at which more metrics are taken.
        label_vocabulary: the names of the two, if labels are strings.
        weight_column, loss_reduction, loss_fn, name: as of Head.

    Raises:
        ValueError: a threshold is out of range.
        TypeError: the vocabulary is no list.
    """

    def __init__(
        self,
        weight_column: object = None,
        thresholds: Sequence[float] | None = None,
        label_vocabulary: Sequence[str] | None = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes = 2
        self._thresholds = tuple(thresholds or ())
        self._label_vocabulary = label_vocabulary
        if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
            raise TypeError(
                f"label_vocabulary should be a list or tuple. Given type: {type(label_vocabulary)}"
            )
        if not all(0.0 < threshold < 1.0 for threshold in self._thresholds):
            raise ValueError(f"thresholds not in (0, 1): {(self._thresholds,)}.")

    @property
    def logits_dimension(self) -> int:
        """1."""
        return 1

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with tf.name_scope(None, "predictions", (logits,)):
            logits = checks.checked_logits(logits, 1)
            logistic = tf.sigmoid(logits, name="logistic")
            both = tf.concat((tf.zeros_like(logits), logits), axis=-1, name="two_class_logits")
            probabilities = softmax(both, name="probabilities")
            ids, every = self._ids(both), self._every_class(logits)
            classes = {**self._class(ids), **every}
        return {"logits": logits, "logistic": logistic, "probabilities": probabilities, **classes}

    def _exports(self, predictions: dict[str, Any]) -> dict[str, Any]:
        output = self._classification(predictions)
        regression = RegressionOutput(value=predictions["logistic"])
        return {_DEFAULT: output, _CLASSIFY: output, _REGRESS: regression}

    def create_loss(
        self, features: dict[str, Any], mode: str, logits: Tensor, labels: object
    ) -> LossSpec:
        """The cross entropy with the sigmoid of the logits."""
        logits = tf.convert_to_tensor(logits)
        labels = checks.checked_labels(labels, logits, 1)
        if self._label_vocabulary is not None:
            labels = self._looked_up(labels)
        labels = checks.in_range(tf.cast(labels, dtypes.float32, name="ToFloat"), 2)
        if self._loss_fn:
            losses = checks.call_loss_fn(self._loss_fn, labels, logits, features, 1)
        else:
            losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return self._reduced(losses, features, logits, labels, False)

    def _metrics(self, predictions: dict[str, Any], labels: Any, spec: LossSpec) -> dict[str, Any]:
        ids, logistic = predictions["class_ids"], predictions["logistic"]
        labels, weights = spec.processed_labels, spec.weights
        given = dict(labels=labels, weights=weights)
        with tf.name_scope(None, "metrics"):
            label_mean = _weighted_mean(labels, weights, "label/mean")
            found = {
                AVERAGE_LOSS_METRIC_KEY: mean(
                    spec.unreduced_loss, weights=weights, name=AVERAGE_LOSS_METRIC_KEY
                ),
                "accuracy": accuracy(predictions=ids, name="accuracy", **given),
                "precision": precision(predictions=ids, name="precision", **given),
                "recall": recall(predictions=ids, name="recall", **given),
                "prediction/mean": _weighted_mean(logistic, weights, "prediction/mean"),
                "label/mean": label_mean,
                "accuracy_baseline": _accuracy_baseline(label_mean),
                "auc": _auc(logistic, labels, weights, "auc"),
                "auc_precision_recall": _auc(
                    logistic, labels, weights, "auc_precision_recall", curve="PR"
                ),
            }
            for threshold in self._thresholds:
                for kind in ("accuracy", "precision", "recall"):
                    key = f"{kind}/positive_threshold_{threshold:g}"
                    found[key] = _at_threshold(kind, key, threshold, logistic, **given)
            return found


def _at_threshold(
    kind: str, name: str, threshold: float, scores: Any, labels: Any, weights: Any
) -> tuple[Any, Any]:
    """A metric of what is predicted where scores pass a threshold."""
    with tf.name_scope(name, f"{kind}_at_{threshold}", (scores, labels, weights)) as scope:
        given = dict(labels=labels, weights=weights, name=scope)
        if kind == "accuracy":
            at = tf.cast(tf.greater_equal(scores, threshold), dtypes.float32, name="ToFloat")
            return accuracy(predictions=at, **given)
        metric = precision_at_thresholds if kind == "precision" else recall_at_thresholds
        value, update = metric(predictions=scores, thresholds=(threshold,), **given)
        return tf.squeeze(value), tf.squeeze(update)


def _auc(scores: Any, labels: Any, weights: Any, name: str, curve: str = "ROC") -> tuple[Any, Any]:
    """The area under a curve, with a weight for each label."""
    with tf.name_scope(name, "auc", (scores, labels, weights)) as scope:
        weights = broadcast_weights(weights, scores)
        return auc(labels=labels, predictions=scores, weights=weights, curve=curve, name=scope)


class RegressionHead(Head):
    """Numbers, by squared error.

    Args:
        label_dimension: how many an example has.
        inverse_link_fn: a function from logits to predictions; the logits themselves if None.
        weight_column, loss_reduction, loss_fn, name: as of Head.

    Raises:
        ValueError: label_dimension is not positive.
    """

    def __init__(
        self,
        label_dimension: int = 1,
        weight_column: object = None,
        loss_reduction: str = Reduction.SUM,
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        self._label_dimension = label_dimension
        self._inverse_link_fn = inverse_link_fn

    @property
    def logits_dimension(self) -> int:
        """How many numbers an example has."""
        return self._label_dimension

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        logits = checks.checked_logits(logits, self._label_dimension)
        if self._inverse_link_fn:
            return {"predictions": self._inverse_link_fn(logits), "logits": logits}
        return {"predictions": logits}

    def _exports(self, predictions: dict[str, Any]) -> dict[str, Any]:
        output = RegressionOutput(value=predictions["predictions"])
        return {_DEFAULT: output, _REGRESS: output}

    def create_loss(
        self, features: dict[str, Any], mode: str, logits: Tensor, labels: Any
    ) -> LossSpec:
        """The squared error."""
        logits = tf.convert_to_tensor(logits)
        labels = checks.checked_labels(labels, logits, self._label_dimension)
        labels = tf.cast(labels, dtypes.float32, name="ToFloat")
        if self._loss_fn:
            losses = checks.call_loss_fn(
                self._loss_fn, labels, logits, features, self._label_dimension
            )
        else:
            losses = mean_squared_error(labels=labels, predictions=logits, reduction=Reduction.NONE)
        return self._reduced(losses, features, logits, labels, True)

    def _metrics(
        self, predictions: dict[str, Any], labels: object, spec: LossSpec
    ) -> dict[str, Any]:
        found, weights = predictions["predictions"], spec.weights
        return {
            AVERAGE_LOSS_METRIC_KEY: mean(spec.unreduced_loss, weights=weights),
            "prediction/mean": _weighted_mean(found, weights, "prediction/mean"),
            "label/mean": mean(spec.processed_labels, weights=weights),
        }


def multi_class_head(n_classes: int, **given: Any) -> MultiClassHead:
    """A head of three classes or more, their number checked in the graph too.

    Args:
        n_classes: how many.
        **given: the other arguments of MultiClassHead.
    """
    head = MultiClassHead(n_classes, **given)
    number = tf.convert_to_tensor(n_classes)
    check = tf.assert_greater(number, 2, message="n_classes must be greater than 2")
    with tf.control_dependencies([check]):
        tf.no_op()
    return head


def classifier_head(
    n_classes: int,
    weight_column: object,
    label_vocabulary: Sequence[str] | None,
    loss_reduction: str,
) -> Head:
    """The head of two classes or of more."""
    given: dict[str, Any] = dict(
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction,
    )
    return BinaryClassHead(**given) if n_classes == 2 else multi_class_head(n_classes, **given)
