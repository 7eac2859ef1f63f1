# SPDX-License-Identifier: Apache-2.0
"""What model functions give: ModelFnOps."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from .....engine.api import export
from .....engine.graph.convert import convert_to_tensor_or_sparse_tensor
from .....engine.graph.operation import Operation
from .....engine.graph.scope_functions import get_graph_from_inputs
from .....engine.interface import log
from .....engine.types import dtypes
from .....ops.public import tf
from ....estimator.export_output import ClassificationOutput, PredictOutput, RegressionOutput
from ....estimator.mode_keys import ModeKeys as CoreModeKeys
from ....estimator.model_fn import EstimatorSpec
from ....sessions.session_run_hook import SessionRunHook
from .constants import MetricKey, PredictionKey, ProblemType

_DEFAULT = "serving_default"


@export("contrib.learn.ModeKeys")
class ModeKeys:
    """What a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ValueError for what is no mode."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


_CORE_MODES = {
    ModeKeys.TRAIN: CoreModeKeys.TRAIN,
    ModeKeys.EVAL: CoreModeKeys.EVAL,
    ModeKeys.INFER: CoreModeKeys.PREDICT,
}


@export("contrib.learn.ModelFnOps", "contrib.learn.estimators.model_fn.ModelFnOps")
class ModelFnOps(
    collections.namedtuple(
        "ModelFnOps",
        (
            "predictions",
            "loss",
            "train_op",
            "eval_metric_ops",
            "output_alternatives",
            "training_chief_hooks",
            "training_hooks",
            "scaffold",
            "mode",
        ),
    )
):
    """What a model function gives an Estimator of tf.contrib.learn.

    Args:
        mode: of ModeKeys.
        predictions: a tensor or a dict of some; needed but for training.
        loss: a scalar; needed but for prediction.
        train_op: what a step of training runs; needed for training.
        eval_metric_ops: (value, update) pairs by name.
        output_alternatives: by name of a head: a ProblemType and tensors by name.
        training_chief_hooks, training_hooks: hooks of runs.
        scaffold: a tf.train.Scaffold.

    Raises:
        ValueError: something is missing, or the loss is no scalar.
        TypeError: a hook is none.
    """

    def __new__(
        cls,
        mode: str,
        predictions: object = None,
        loss: object = None,
        train_op: object = None,
        eval_metric_ops: dict[str, Any] | None = None,
        output_alternatives: dict[Any, Any] | None = None,
        training_chief_hooks: Sequence[Any] | None = None,
        training_hooks: Sequence[Any] | None = None,
        scaffold: object = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        get_graph_from_inputs((predictions, loss, train_op))
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if train_op is not None and not isinstance(train_op, Operation):
            train_op = tf.convert_to_tensor(train_op).op
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        chief_hooks, hooks = list(training_chief_hooks or ()), list(training_hooks or ())
        for hook in hooks + chief_hooks:
            if not isinstance(hook, SessionRunHook):
                raise TypeError(
                    "All hooks returned from model_fn must be SessionRunHook instances, got "
                    f"instance of {type(hook)}: {hook}"
                )
        return super().__new__(
            cls,
            predictions=_checked_predictions(predictions, mode),
            loss=_checked_loss(loss, mode),
            train_op=train_op,
            eval_metric_ops={} if eval_metric_ops is None else eval_metric_ops,
            output_alternatives=output_alternatives,
            training_chief_hooks=chief_hooks,
            training_hooks=hooks,
            scaffold=scaffold,
            mode=mode,
        )

    def estimator_spec(
        self, default_serving_output_alternative_key: str | None = None
    ) -> EstimatorSpec:
        """The EstimatorSpec that means the same.

        Args:
            default_serving_output_alternative_key: the head that serves, if there are several.

        Returns:
            An EstimatorSpec.

        Raises:
            ValueError: a problem is unknown.
        """
        exports = None
        if self.output_alternatives:
            outputs = dict(self.output_alternatives)
            if len(outputs) > 1 and _DEFAULT not in outputs:
                outputs[_DEFAULT] = outputs[default_serving_output_alternative_key]
            exports = {key: _export_output(*value) for key, value in outputs.items()}
        metrics = {k: v for k, v in self.eval_metric_ops.items() if k != MetricKey.LOSS}
        return EstimatorSpec(
            mode=_CORE_MODES[self.mode],
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=exports,
            training_chief_hooks=self.training_chief_hooks,
            training_hooks=self.training_hooks,
            scaffold=self.scaffold,
        )


def _checked_loss(loss: object, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    loss = tf.convert_to_tensor(loss)
    if loss.get_shape().num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar: {loss}.")
    return loss if loss.get_shape().is_compatible_with([]) else tf.reshape(loss, [])


def _checked_predictions(predictions: Any, mode: str) -> Any:
    convert = convert_to_tensor_or_sparse_tensor
    if predictions is None:
        if mode in (ModeKeys.INFER, ModeKeys.EVAL):
            raise ValueError("Missing predictions.")
        return None
    if isinstance(predictions, dict):
        return {key: convert(value) for key, value in predictions.items()}
    return convert(predictions)


def _export_output(problem_type: object, predictions: dict[str, Any]) -> Any:
    scores = predictions.get(PredictionKey.SCORES, predictions.get(PredictionKey.PROBABILITIES))
    if problem_type == ProblemType.LINEAR_REGRESSION:
        return RegressionOutput(scores)
    if problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
        classes = predictions.get(PredictionKey.CLASSES)
        if classes is None or classes.dtype != dtypes.string:
            told = "None" if classes is None else "not string"
            log.warning("classes is %s, Servo inference will not have class ids.", told)
            classes = None
        return ClassificationOutput(scores=scores, classes=classes)
    if problem_type == ProblemType.UNSPECIFIED:
        return PredictOutput(predictions)
    raise ValueError(f"Unknown problem_type={problem_type}")
