# SPDX-License-Identifier: Apache-2.0
"""What exported models give: outputs that state themselves as signatures."""

from __future__ import annotations

import abc
from typing import Any

from ...engine.api import export
from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...ops.public import tf
from ..saved_model import signatures


def _checked_key(key: object, what: str) -> str:
    if isinstance(key, tuple):
        key = "/".join(key)
    if not isinstance(key, str):
        raise ValueError(f"{what} output key must be a string; got {key}.")
    return key


def _checked_outputs(outputs: object, default: str, what: str | None = None) -> dict[str, Any]:
    """A dict of tensors; one tensor gets the default name."""
    outputs = outputs if isinstance(outputs, dict) else {default: outputs}
    what = what or default
    checked = {}
    for key, value in outputs.items():
        checked[_checked_key(key, what)] = value
        if not isinstance(value, Tensor):
            raise ValueError(f"{what} output value must be a Tensor; got {value}.")
    return checked


@export("estimator.export.ExportOutput")
class ExportOutput(abc.ABC):
    """An output of a model that can be served."""

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The SignatureDef for inputs."""


def _only_examples(receiver_tensors: dict[str, Any], what: str) -> Any:
    """The one string tensor that classification and regression take."""
    values = list(receiver_tensors.values())
    if len(values) != 1 or dtypes.as_dtype(values[0].dtype) != dtypes.string:
        raise ValueError(f"{what} input must be a single string Tensor; got {receiver_tensors}")
    return values[0]


@export("estimator.export.ClassificationOutput")
class ClassificationOutput(ExportOutput):
    """Scores of classes, their names, or both.

    Args:
        scores: floating-point numbers [batch, classes].
        classes: strings [batch, classes].

    Raises:
        ValueError: both are missing, or one has another dtype.
    """

    def __init__(self, scores: object = None, classes: object = None) -> None:
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (
            isinstance(classes, Tensor) and dtypes.as_dtype(classes.dtype) == dtypes.string
        ):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores = scores
        self._classes = classes

    @property
    def scores(self) -> Any:
        """The scores or None."""
        return self._scores

    @property
    def classes(self) -> Any:
        """The names or None."""
        return self._classes

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """A signature of classification."""
        examples = _only_examples(receiver_tensors, "Classification")
        return signatures.classification_signature_def(examples, self.classes, self.scores)


@export("estimator.export.RegressionOutput")
class RegressionOutput(ExportOutput):
    """The values of a regression.

    Args:
        value: floating-point numbers.

    Raises:
        ValueError: the value is no tensor of floating-point numbers.
    """

    def __init__(self, value: object) -> None:
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    @property
    def value(self) -> Tensor:
        """The values."""
        return self._value

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """A signature of regression."""
        examples = _only_examples(receiver_tensors, "Regression")
        return signatures.regression_signature_def(examples, self.value)


@export("estimator.export.PredictOutput")
class PredictOutput(ExportOutput):
    """Any tensors by name.

    Args:
        outputs: a dict of tensors, or one, which is called "output".

    Raises:
        ValueError: a key is no string or a value no tensor.
    """

    def __init__(self, outputs: object) -> None:
        self._outputs = _checked_outputs(outputs, "output", "Prediction")

    @property
    def outputs(self) -> dict[str, Any]:
        """The tensors."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """A signature of prediction."""
        return signatures.predict_signature_def(receiver_tensors, self.outputs)


def _prefixed(key: str, prefix: str) -> str:
    return key if key.startswith(prefix) else f"{prefix}/{key}"


class _SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics of training or evaluation."""

    def __init__(
        self, loss: object = None, predictions: object = None, metrics: object = None
    ) -> None:
        self.loss = self._named(loss, "loss")
        self.predictions = self._named(predictions, "predictions")
        self.metrics = None if metrics is None else self._metrics(metrics)

    def _named(self, outputs: object, name: str) -> dict[str, Any] | None:
        if outputs is None:
            return None
        checked = _checked_outputs(outputs, name)
        return {_prefixed(key, name): value for key, value in checked.items()}

    def _metrics(self, metrics: Any) -> dict[str, Any]:
        metrics = metrics if isinstance(metrics, dict) else {"metrics": metrics}
        outputs: dict[str, Any] = {}
        for key, metric in metrics.items():
            # (A metric object of Keras, or the two tensors of `tf.metrics`.)
            is_pair = isinstance(metric, (tuple, list))
            value, update = metric if is_pair else (metric.result(), metric.updates[0])
            key = _prefixed(_checked_key(key, "metrics"), "metrics")
            if not isinstance(value, Tensor):
                raise ValueError(f"{key} output value must be a Tensor; got {value}.")
            if not isinstance(update, (Tensor, Operation)):
                raise ValueError(f"{key} update_op must be a Tensor or Operation; got {update}.")
            if isinstance(update, Operation):
                # Signatures hold tensors.
                with tf.control_dependencies([update]):
                    update = tf.constant([], name="metric_op_wrapper")
            outputs[f"{key}/value"] = value
            outputs[f"{key}/update_op"] = update
        return outputs

    def _signature(self, *tensors: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no signature")

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """A signature of all that there is."""
        return self._signature(receiver_tensors, self.loss, self.predictions, self.metrics)


class TrainOutput(_SupervisedOutput):
    """What training gives."""

    def _signature(self, *tensors: Any) -> Any:
        return signatures.supervised_train_signature_def(*tensors)


class EvalOutput(_SupervisedOutput):
    """What evaluation gives."""

    def _signature(self, *tensors: Any) -> Any:
        return signatures.supervised_eval_signature_def(*tensors)
