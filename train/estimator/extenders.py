# SPDX-License-Identifier: Apache-2.0
"""`tf.estimator.add_metrics`: an Estimator with more metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.api import export
from .estimator import Estimator
from .mode_keys import ModeKeys
from .util import called_with, fn_args

_VALID = {"features", "labels", "predictions", "config"}


@export("estimator.add_metrics")
def add_metrics(estimator: Estimator, metric_fn: Callable[..., Any]) -> Estimator:
    """A new Estimator, in the same folder, that has further metrics.

    Args:
        estimator: the Estimator to extend.
        metric_fn: called with what it takes of features, labels, predictions and config; gives
            (value, update) pairs by name, which replace those of the same name.

    Returns:
        An Estimator.

    Raises:
        ValueError: metric_fn takes other arguments, or neither predictions nor labels.
    """
    taken = set(fn_args(metric_fn))
    if taken - _VALID:
        raise ValueError(
            f"metric_fn ({metric_fn}) has following not expected args: {list(taken - _VALID)}"
        )

    def new_model_fn(features: object, labels: object, mode: str, config: object) -> Any:
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        given = called_with(
            metric_fn,
            features=features,
            labels=labels,
            predictions=spec.predictions,
            config=config,
        )
        metrics = {**(spec.eval_metric_ops or {}), **(metric_fn(**given) or {})}
        return spec._replace(eval_metric_ops=metrics)

    return Estimator(
        model_fn=new_model_fn,
        model_dir=estimator.model_dir,
        config=estimator.config,
        warm_start_from=estimator._warm_start_settings,
    )
