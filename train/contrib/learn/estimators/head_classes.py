# SPDX-License-Identifier: Apache-2.0
"""Heads as classes: what becomes of logits, in training, evaluation and prediction.

A class states its labels, predictions and metrics; how they make ModelFnOps is stated once.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .....engine.api import export
from .....engine.graph.convert import convert_to_tensor_or_sparse_tensor
from .....engine.graph.tensor import SparseTensor
from .....engine.types import dtypes
from .....ops.lookup.vocabulary import (
    index_table_from_tensor,
    index_to_string_table_from_tensor,
)
from .....ops.metrics.means import accuracy, mean
from .....ops.nn.bias import bias_add_v1
from .....ops.nn.softmax import softmax
from .....ops.public import tf
from .....ops.summaries.api import scalar
from ....optimizers.adaptive import AdagradOptimizer
from ...layers.dense import fully_connected
from . import head_losses as losses
from . import head_metrics as metrics_of
from .constants import MetricKey, PredictionKey, ProblemType
from .model_fn import ModeKeys, ModelFnOps

if TYPE_CHECKING:
    from .....engine.graph.operation import Operation
    from .....engine.graph.tensor import Tensor
    from .....ops.state.variable_scope import VariableScope
    from .....ops.state.variables import Variable

_KEY, _METRIC = PredictionKey, MetricKey


@export("contrib.learn.Head")
class Head(abc.ABC):
    """What becomes of logits."""

    head_name: str | None

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The last size of the logits."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: dict[str, Any],
        mode: str,
        labels: object = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: object = None,
        logits_input: Tensor | None = None,
        scope: VariableScope | str | None = None,
    ) -> ModelFnOps:
        """What a model function gives.

        Args:
            features: tensors by key.
            mode: of ModeKeys.
            labels: a tensor, or a dict of some.
            train_op_fn: a function from the loss to what a step runs.
            logits: a tensor [..., logits_dimension]; or
            logits_input: a tensor that a linear layer makes logits of.
            scope: the variable scope.

        Returns:
            ModelFnOps.

        Raises:
            ValueError: logits are missing, or for training train_op_fn is.
        """


def _check_mode(mode: str) -> None:
    if mode not in (ModeKeys.TRAIN, ModeKeys.INFER, ModeKeys.EVAL):
        raise ValueError(f"mode={mode} unrecognized.")


class SingleHead(Head):
    """A head of one kind of labels."""

    _default_scope: str
    _problem_type: int
    _loss: Callable[..., tuple[Any, Any]]

    def __init__(
        self,
        logits_dimension: int | None,
        label_name: str | None = None,
        weight_column_name: str | None = None,
        enable_centered_bias: bool = False,
        head_name: str | None = None,
        thresholds: Sequence[float] | None = None,
        metric_class_ids: Sequence[int] | None = None,
    ) -> None:
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._logits_dimension = logits_dimension
        self.label_name, self.weight_column_name = label_name, weight_column_name
        self._enable_centered_bias, self.head_name = enable_centered_bias, head_name
        self._thresholds = thresholds or (0.5,)
        self._metric_class_ids = tuple(metric_class_ids or ())
        for class_id in self._metric_class_ids:
            if not 0 <= class_id < logits_dimension:
                raise ValueError(f"Class ID {class_id} not in [0, {logits_dimension}).")

    @property
    def logits_dimension(self) -> int:
        """The last size of the logits."""
        return self._logits_dimension

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        raise NotImplementedError

    def _metrics(
        self, predictions: dict[str, Any], labels: object, weights: Tensor | None
    ) -> dict[str, Any]:
        raise NotImplementedError

    def _checked_labels(self, labels: Any) -> Any:
        labels = labels[self.label_name] if isinstance(labels, dict) else labels
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return labels

    def _alternatives(self, predictions: dict[str, Any]) -> dict[Any, Any]:
        return {self.head_name: (self._problem_type, predictions)}

    def _named(self, key: str) -> str:
        return f"{key}/{self.head_name}" if self.head_name else key

    def create_model_fn_ops(
        self,
        features: dict[str, Any],
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Tensor | None = None,
        scope: VariableScope | str | None = None,
    ) -> ModelFnOps:
        values = (*features.values(), labels, logits, logits_input)
        name = self.head_name or self._default_scope
        with tf.variable_scope(scope, default_name=name, values=values):
            wanted = mode != ModeKeys.INFER and labels is not None
            labels = self._checked_labels(labels) if wanted else None
            logits = self._checked_logits(logits_input, logits)
            _check_mode(mode)
            bias = None
            if self._enable_centered_bias:
                bias = self._centered_bias()
                logits = bias_add_v1(logits, bias)
            predictions = self._predictions(logits)
            loss = train_op = found = None
            if wanted:
                weights = losses.weight_tensor(features, self.weight_column_name)
                loss, shown = self._loss(labels, logits, weights)
                with tf.name_scope(""):
                    scalar(self._named(_METRIC.LOSS), tf.identity(shown))
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    size = tf.shape(logits)[0]
                    train_op = self._train_op(loss, labels, train_op_fn, bias, size, weights)
                with tf.name_scope("metrics"):
                    made = {_METRIC.LOSS: mean(shown)}
                    made.update(self._metrics(predictions, labels, weights))
                found = {self._named(key): value for key, value in made.items()}
            return ModelFnOps(
                mode=mode,
                predictions=predictions,
                loss=loss,
                train_op=train_op,
                eval_metric_ops=found,
                output_alternatives=self._alternatives(predictions),
            )

    def _checked_logits(self, logits_input: Tensor | None, logits: object) -> Any:
        if logits is None:
            if logits_input is None:
                raise ValueError("Neither logits nor logits_input supplied.")
            return fully_connected(
                logits_input, self._logits_dimension, activation_fn=None, scope="logits"
            )
        if logits_input is not None:
            raise ValueError("Both logits and logits_input supplied.")
        logits = tf.convert_to_tensor(logits, name="logits")
        if logits.get_shape().ndims is not None:
            logits.get_shape()[-1].assert_is_compatible_with(self._logits_dimension)
        return logits

    def _centered_bias(self) -> Any:
        """A bias that is trained by itself."""
        size = self._logits_dimension
        zeros = tf.zeros(shape=(size,))
        bias: Any = tf.Variable(zeros, trainable=True, name="centered_bias_weight")
        for i in range(size):
            scalar(self._named(f"centered_bias/bias_{i}"), bias[i])
        return bias

    def _train_op(
        self,
        loss: Tensor,
        labels: object,
        train_op_fn: Callable[[Any], Any],
        bias: Variable | None,
        size: object,
        weights: Tensor | None,
    ) -> Any:
        step = None
        if bias is not None:
            with tf.name_scope(None, "centered_bias_step") as name:
                count = tf.shape(bias)[0]
                logits = tf.reshape(tf.tile(bias, (size,)), (size, count))
                with tf.name_scope(None, "centered_bias"):
                    of_bias = tf.reduce_mean(
                        tf.stack(self._loss(labels, logits, weights)), name="training_loss"
                    )
            step = AdagradOptimizer(0.1).minimize(of_bias, var_list=(bias,), name=name)
        with tf.name_scope(None, "train_op"):
            train_op = train_op_fn(loss)
            return train_op if step is None else tf.group(train_op, step)


class RegressionHead(SingleHead):
    """Numbers."""

    _default_scope = "regression_head"
    _problem_type = ProblemType.LINEAR_REGRESSION

    def __init__(
        self,
        label_dimension: int,
        loss_fn: Callable[..., Any],
        link_fn: Callable[[Any], Any],
        label_name: str | None = None,
        weight_column_name: str | None = None,
        enable_centered_bias: bool = False,
        head_name: str | None = None,
    ) -> None:
        super().__init__(
            *(label_dimension, label_name, weight_column_name, enable_centered_bias, head_name)
        )
        self._loss, self._link_fn = loss_fn, link_fn

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with tf.name_scope(None, "predictions", (logits,)):
            if self._logits_dimension == 1:
                logits = tf.squeeze(logits, axis=(1,), name=_KEY.SCORES)
            return {_KEY.SCORES: self._link_fn(logits)}

    def _metrics(
        self, predictions: dict[str, Any], labels: object, weights: Tensor | None
    ) -> dict[str, Any]:
        return {}


class _Classifier(SingleHead):
    """What heads with probabilities share."""

    _label_keys: Sequence[str] | None = None

    def _alternatives(self, predictions: dict[str, Any]) -> dict[Any, Any]:
        probabilities = predictions[_KEY.PROBABILITIES]
        with tf.name_scope(None, "_classification_output_alternatives", (probabilities,)):
            size = tf.shape(probabilities)[0]
            if self._label_keys:
                names = tf.expand_dims(list(self._label_keys), axis=0)
                classes = tf.tile(names, [size, 1], name="classes_tensor")
            else:
                numbers = tf.expand_dims(tf.range(tf.shape(probabilities)[1]), axis=0)
                classes = tf.as_string(tf.tile(numbers, [size, 1]), name="classes_tensor")
        served = {_KEY.PROBABILITIES: probabilities, _KEY.CLASSES: classes}
        return {self.head_name: (self._problem_type, served)}


def _both(logits: Tensor) -> Tensor:
    return tf.concat((tf.zeros_like(logits), logits), 1)


class BinaryLogisticHead(_Classifier):
    """Two classes, by one logit."""

    _default_scope = "binary_logistic_head"
    _problem_type = ProblemType.LOGISTIC_REGRESSION

    def __init__(self, loss_fn: Callable[..., Any] | None = None, **given: Any) -> None:
        super().__init__(1, **given)
        self._loss = loss_fn or losses.two_classes

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with tf.name_scope(None, "predictions", (logits,)):
            both = _both(logits)
            return {
                _KEY.LOGITS: logits,
                _KEY.LOGISTIC: tf.sigmoid(logits, name=_KEY.LOGISTIC),
                _KEY.PROBABILITIES: softmax(both, name=_KEY.PROBABILITIES),
                _KEY.CLASSES: tf.argmax(both, 1, name=_KEY.CLASSES),
            }

    def _metrics(
        self, predictions: dict[str, Any], labels: Any, weights: Tensor | None
    ) -> dict[str, Any]:
        classes, logistic = predictions[_KEY.CLASSES], predictions[_KEY.LOGISTIC]
        found = {
            _METRIC.ACCURACY: accuracy(labels, classes, weights),
            _METRIC.PREDICTION_MEAN: metrics_of.mean_of(logistic, weights),
            _METRIC.LABEL_MEAN: metrics_of.mean_of(labels, weights),
            _METRIC.ACCURACY_BASELINE: metrics_of.mean_of(labels, weights),
            _METRIC.AUC: metrics_of.area(logistic, labels, weights),
            _METRIC.AUC_PR: metrics_of.area(logistic, labels, weights, curve="PR"),
        }
        for threshold in self._thresholds:
            given = logistic, labels, weights, threshold
            found[_METRIC.ACCURACY_MEAN % threshold] = metrics_of.accuracy_at(*given)
            found[_METRIC.PRECISION_MEAN % threshold] = metrics_of.precision_at(*given)
            found[_METRIC.RECALL_MEAN % threshold] = metrics_of.recall_at(*given)
        return found


class MultiClassHead(_Classifier):
    """Three classes or more, by softmax."""

    _default_scope = "multi_class_head"
    _problem_type = ProblemType.CLASSIFICATION

    def __init__(
        self,
        n_classes: int,
        loss_fn: Callable[..., Any] | None = None,
        label_keys: Sequence[str] | None = None,
        **given: Any,
    ) -> None:
        if n_classes is None or n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        super().__init__(n_classes, **given)
        of_ids = loss_fn or losses.many_classes
        self._loss = lambda labels, logits, weights=None: of_ids(
            labels["label_ids"], logits, weights=weights
        )
        if label_keys and len(label_keys) != n_classes:
            raise ValueError("Length of label_keys must equal n_classes.")
        self._label_keys = label_keys

    def _checked_labels(self, labels: object) -> dict[Any, Any]:
        labels = super()._checked_labels(labels)
        if not self._label_keys:
            return {"labels": labels, "label_ids": labels}
        table = index_table_from_tensor(self._label_keys, name="label_id_lookup")
        return {"labels": labels, "label_ids": table.lookup(labels)}

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with tf.name_scope(None, "predictions", (logits,)):
            classes: Any = tf.argmax(logits, 1, name=_KEY.CLASSES)
            if self._label_keys:
                classes = index_to_string_table_from_tensor(
                    self._label_keys, name="class_string_lookup"
                ).lookup(classes)
            return {
                _KEY.LOGITS: logits,
                _KEY.PROBABILITIES: softmax(logits, name=_KEY.PROBABILITIES),
                _KEY.CLASSES: classes,
            }

    def _metrics(
        self, predictions: dict[str, Any], labels: Any, weights: Tensor | None
    ) -> dict[str, Any]:
        classes, logits = predictions[_KEY.CLASSES], predictions[_KEY.LOGITS]
        found = {_METRIC.ACCURACY: accuracy(labels["labels"], classes, weights)}
        for i in () if self._label_keys else self._metric_class_ids:
            ids, probabilities = labels["label_ids"], predictions[_KEY.PROBABILITIES]
            found[_METRIC.CLASS_PREDICTION_MEAN % i] = metrics_of.frequency(classes, weights, i)
            found[_METRIC.CLASS_LABEL_MEAN % i] = metrics_of.frequency(ids, weights, i)
            found[_METRIC.CLASS_PROBABILITY_MEAN % i] = metrics_of.mean_of(
                probabilities, weights, i
            )
            found[_METRIC.CLASS_LOGITS_MEAN % i] = metrics_of.mean_of(logits, weights, i)
        return found


class BinarySvmHead(SingleHead):
    """Two classes, by a hinge."""

    _default_scope = "binary_svm_head"
    _problem_type = ProblemType.LOGISTIC_REGRESSION
    _loss = staticmethod(losses.hinge)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with tf.name_scope(None, "predictions", (logits,)):
            classes = tf.argmax(_both(logits), 1, name=_KEY.CLASSES)
            return {_KEY.LOGITS: logits, _KEY.CLASSES: classes}

    def _metrics(
        self, predictions: dict[str, Any], labels: object, weights: Tensor | None
    ) -> dict[str, Any]:
        classes = predictions[_KEY.CLASSES]
        return {_METRIC.ACCURACY: accuracy(labels, classes, weights)}


class MultiLabelHead(_Classifier):
    """Any of several classes, by one logit each."""

    _default_scope = "multi_label_head"
    _problem_type = ProblemType.CLASSIFICATION

    def __init__(
        self, n_classes: int, loss_fn: Callable[..., Any] | None = None, **given: Any
    ) -> None:
        super().__init__(n_classes, **given)
        self._loss = loss_fn or losses.many_labels

    def _checked_labels(self, labels: Any) -> Any:
        labels = labels[self.label_name] if isinstance(labels, dict) else labels
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if not isinstance(labels, SparseTensor):
            return labels
        if self._logits_dimension < 2:
            raise ValueError("Must set num_classes >= 2 when passing labels as a SparseTensor.")
        found = tf.sparse_to_indicator(labels, self._logits_dimension)
        return tf.cast(found, dtypes.int64)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        with tf.name_scope(None, "predictions", (logits,)):
            return {
                _KEY.LOGITS: logits,
                _KEY.PROBABILITIES: tf.sigmoid(logits, name=_KEY.PROBABILITIES),
                _KEY.CLASSES: tf.cast(tf.greater(logits, 0), dtypes.int64, name=_KEY.CLASSES),
            }

    def _metrics(
        self, predictions: dict[str, Any], labels: Any, weights: Tensor | None
    ) -> dict[str, Any]:
        classes, logits = predictions[_KEY.CLASSES], predictions[_KEY.LOGITS]
        probabilities = predictions[_KEY.PROBABILITIES]
        found = {
            _METRIC.ACCURACY: accuracy(labels, classes, weights),
            _METRIC.AUC: metrics_of.area(probabilities, labels, weights),
            _METRIC.AUC_PR: metrics_of.area(probabilities, labels, weights, curve="PR"),
        }
        for i in self._metric_class_ids:
            for key, values in (
                (_METRIC.CLASS_PREDICTION_MEAN, classes),
                (_METRIC.CLASS_LABEL_MEAN, labels),
                (_METRIC.CLASS_PROBABILITY_MEAN, probabilities),
                (_METRIC.CLASS_LOGITS_MEAN, logits),
            ):
                found[key % i] = metrics_of.mean_of(values, weights, i)
            found[_METRIC.CLASS_AUC % i] = metrics_of.area(probabilities, labels, weights, i)
            found[_METRIC.CLASS_AUC_PR % i] = metrics_of.area(
                probabilities, labels, weights, i, curve="PR"
            )
        return found


class LossOnlyHead(Head):
    """A loss without labels."""

    def __init__(self, loss_fn: Callable[[], Any], head_name: str | None = None) -> None:
        self._loss_fn = loss_fn
        self.head_name = head_name or "loss_only_head"

    @property
    def logits_dimension(self) -> int:
        """0."""
        return 0

    def create_model_fn_ops(
        self,
        features: dict[str, Any],
        mode: str,
        labels: object = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: object = None,
        logits_input: Tensor | None = None,
        scope: VariableScope | str | None = None,
    ) -> ModelFnOps:
        _check_mode(mode)
        loss = train_op = None
        if mode != ModeKeys.INFER:
            with tf.variable_scope(scope, default_name=self.head_name):
                loss = self._loss_fn()
                loss = tf.add_n(loss) if isinstance(loss, list) else loss
                with tf.name_scope(""):
                    scalar(f"{_METRIC.LOSS}/{self.head_name}", tf.identity(loss))
                if mode == ModeKeys.TRAIN:
                    if train_op_fn is None:
                        raise ValueError("train_op_fn can not be None in TRAIN mode")
                    with tf.name_scope(None, "train_op", (loss,)):
                        train_op = train_op_fn(loss)
        return ModelFnOps(mode, {}, loss, train_op, {})


@export("contrib.learn.no_op_train_fn")
def no_op_train_fn(loss: Tensor) -> Operation:
    """An op that trains nothing."""
    del loss
    return tf.no_op()


class MultiHead(Head):
    """Several heads, whose losses are added up."""

    head_name = None

    def __init__(self, heads: Sequence[Head], loss_weights: Sequence[float] | None) -> None:
        if not all(head.head_name for head in heads):
            raise ValueError("Members of MultiHead must have names.")
        if loss_weights and len(loss_weights) != len(heads):
            raise ValueError("heads and loss_weights must have same size")
        self._heads, self._loss_weights = heads, loss_weights

    @property
    def logits_dimension(self) -> int:
        """The sum of the heads'."""
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self,
        features: dict[str, Any],
        mode: str,
        labels: object = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: object = None,
        logits_input: Tensor | None = None,
        scope: VariableScope | str | None = None,
    ) -> ModelFnOps:
        _check_mode(mode)
        made = [
            head.create_model_fn_ops(
                features=features,
                mode=mode,
                labels=labels,
                train_op_fn=no_op_train_fn,
                logits=part,
                logits_input=logits_input if logits is None else None,
                scope=scope,
            )
            for head, part in zip(self._heads, self._parts(logits))
        ]
        if mode == ModeKeys.TRAIN and train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        metrics = {key: value for ops in made for key, value in ops.eval_metric_ops.items()}
        if mode == ModeKeys.TRAIN:
            loss = self._merged([ops.loss for ops in made])
            assert train_op_fn is not None, "checked above"
            train_op = tf.group(train_op_fn(loss), *(ops.train_op for ops in made))
            return ModelFnOps(mode, loss=loss, train_op=train_op, eval_metric_ops=metrics)
        predictions = {
            (head.head_name, key): value
            for head, ops in zip(self._heads, made)
            for key, value in ops.predictions.items()
        }
        if mode == ModeKeys.EVAL:
            loss = self._merged([ops.loss for ops in made])
            return ModelFnOps(mode, predictions, loss, eval_metric_ops=metrics)
        outputs = {
            head.head_name: ops.output_alternatives[head.head_name]
            for head, ops in zip(self._heads, made)
            if not isinstance(head, LossOnlyHead)
        }
        return ModelFnOps(mode, predictions, output_alternatives=outputs)

    def _merged(self, parts: list[Any]) -> Any:
        if self._loss_weights:
            parts = [tf.multiply(loss, w) for loss, w in zip(parts, self._loss_weights)]
        return tf.add_n(parts)

    def _parts(self, logits: Any) -> list[Any]:
        """The logits of each head."""
        if logits is None:
            return [None] * len(self._heads)
        if isinstance(logits, dict):
            return [logits.get(head.head_name) for head in self._heads]
        parts, begin = [], 0
        for head in self._heads:
            parts.append(tf.slice(logits, [0, begin], [-1, head.logits_dimension]))
            begin += head.logits_dimension
        return parts
