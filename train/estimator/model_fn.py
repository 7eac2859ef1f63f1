# SPDX-License-Identifier: Apache-2.0
"""What model functions give: EstimatorSpec."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from ...engine.api import export
from ...engine.graph.operation import Operation
from ...engine.graph.tensor import Tensor
from ...engine.interface import log
from ...engine.types import nest
from ...ops.public import tf
from ..sessions.scaffold import Scaffold
from ..sessions.session_run_hook import SessionRunHook
from ..variables.variable_kind import is_variable
from .export_utils import get_export_outputs
from .mode_keys import ModeKeys
from .util import called_with, fn_args

LOSS_METRIC_KEY = "loss"
AVERAGE_LOSS_METRIC_KEY = "average_loss"
_VALID_ARGS = {"features", "labels", "mode", "params", "self", "config"}


@export("estimator.EstimatorSpec")
class EstimatorSpec(
    namedtuple(
        "EstimatorSpec",
        (
            "mode",
            "predictions",
            "loss",
            "train_op",
            "eval_metric_ops",
            "export_outputs",
            "training_chief_hooks",
            "training_hooks",
            "scaffold",
            "evaluation_hooks",
            "prediction_hooks",
        ),
    )
):
    """What a model function gives an Estimator.

    Args:
        mode: a value of ModeKeys.
        predictions: a tensor or a dict of some; needed for prediction.
        loss: a scalar; needed for training and evaluation.
        train_op: what a step of training runs; needed for training.
        eval_metric_ops: (value, update) pairs by name.
        export_outputs: ExportOutputs by the names of signatures; the predictions if None.
        training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks: hooks of runs.
        scaffold: a tf.train.Scaffold for initialization, saver and the like.

    Raises:
        ValueError: something is missing, is not of the default graph, or the loss is no scalar.
        TypeError: something is of another type.
    """

    def __new__(
        cls,
        mode: str,
        predictions: object = None,
        loss: object = None,
        train_op: object = None,
        eval_metric_ops: object = None,
        export_outputs: object = None,
        training_chief_hooks: Sequence[Any] | None = None,
        training_hooks: Sequence[Any] | None = None,
        scaffold: object = None,
        evaluation_hooks: Sequence[Any] | None = None,
        prediction_hooks: Sequence[Any] | None = None,
    ) -> EstimatorSpec:
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = get_export_outputs(export_outputs, predictions)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            export_outputs=export_outputs,
            training_chief_hooks=_checked_hooks(training_chief_hooks),
            training_hooks=_checked_hooks(training_hooks),
            scaffold=_checked_scaffold(scaffold),
            evaluation_hooks=_checked_hooks(evaluation_hooks),
            prediction_hooks=_checked_hooks(prediction_hooks),
        )

    def _replace(self, **kwds: Any) -> EstimatorSpec:
        if kwds.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **kwds})


def _require_default_graph(thing: Any, what: str, name: str | None = None) -> None:
    if thing.graph is not tf.get_default_graph():
        raise ValueError(
            f'{what} with "{name or thing.name}" must be from the default graph. Possible causes '
            f"of this error include: \n\n1) {what} was created outside the context of the default "
            "graph.\n\n2) The object passed through to EstimatorSpec was not created in the most "
            'recent call to "model_fn".'
        )


def _is_tensor(thing: Any) -> bool:
    return isinstance(thing, Tensor) or is_variable(thing)


def _checked_train_op(train_op: Any, mode: str) -> Any:
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not (isinstance(train_op, Operation) or _is_tensor(train_op)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    if is_variable(train_op):
        train_op = train_op.op
    _require_default_graph(train_op, "train_op")
    return train_op


def _checked_loss(loss: Any, mode: str) -> Any:
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    if not _is_tensor(loss):
        raise TypeError(f"loss must be Tensor, given: {loss}")
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not shape.is_compatible_with([]):
        loss = tf.reshape(loss, [])
    _require_default_graph(loss, "loss")
    return loss


def _checked_predictions(predictions: object, mode: str) -> Any:
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if not isinstance(predictions, dict):
        if not _is_tensor(predictions):
            raise TypeError(f"predictions must be Tensor, given: {predictions}")
        _require_default_graph(predictions, "prediction values")
        return predictions
    for key, value in predictions.items():
        if not _is_tensor(value):
            raise TypeError(f"predictions[{key}] must be Tensor, given: {value}")
    for key, value in predictions.items():
        _require_default_graph(value, "prediction values", f"{key}: {value.name}")
    return predictions


def _checked_metrics(metrics: object) -> dict[str, Any]:
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    metrics = {key: _pair_of_metric(key, value) for key, value in metrics.items()}
    for key, value in metrics.items():
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                f"{value} for key: {key}"
            )
        for part in nest.flatten(value):
            _require_default_graph(part, "eval_metric_ops", f"{key}: {part.name}")
    return metrics


def _pair_of_metric(key: str, value: Any) -> Any:
    """The value and the update of a metric of Keras; other things as they are."""
    if not hasattr(value, "update_state"):
        return value
    if not value.updates:
        raise ValueError(
            f'Please call update_state(...) on the "{key}" metric: it has no updates, so that its '
            "value would never change."
        )
    # Its variables are in no collection; evaluations initialize local ones.
    for variable in value.variables:
        for key in (tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES):
            tf.add_to_collection(key, variable)
    return value.result(), value.updates[0]


def _checked_hooks(hooks: Sequence[Any] | None) -> tuple[Any, ...]:
    hooks = tuple(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return hooks


def _checked_scaffold(scaffold: object) -> Scaffold:
    scaffold = scaffold or Scaffold()
    if not isinstance(scaffold, Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold


@export("estimator.experimental.call_logit_fn")
def call_logit_fn(
    logit_fn: Callable[..., Any], features: object, mode: str, params: object, config: object
) -> Any:
    """Calls a function for logits with what it takes of features, mode, params and config.

    Args:
        logit_fn: the function.
        features: tensors by key.
        mode: a value of ModeKeys.
        params: hyperparameters.
        config: a RunConfig.

    Returns:
        A Tensor, or a dict of some.

    Raises:
        ValueError: the function gave something else.
    """
    taken = called_with(logit_fn, mode=mode, params=params, config=config)
    result = logit_fn(features=features, **taken)
    is_dict = isinstance(result, dict) and all(
        isinstance(key, str) and isinstance(value, Tensor) for key, value in result.items()
    )
    if not (is_dict or isinstance(result, Tensor)):
        raise ValueError(
            "logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn "
            f"returned: {result}"
        )
    return result


def verify_model_fn_args(model_fn: Callable[..., Any], params: object) -> None:
    """Raises ValueError for a model function whose arguments an Estimator cannot give."""
    args = set(fn_args(model_fn))
    if "features" not in args:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in args:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )
    if params is None and "params" in args:
        log.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to "
            "Estimator.",
            model_fn,
        )
    others = list(args - _VALID_ARGS)
    if others:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {others}")
