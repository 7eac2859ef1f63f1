# SPDX-License-Identifier: Apache-2.0
"""Estimators of a probability, by a model function of the program's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .....engine.api import export
from .....engine.types import dtypes
from .....ops.metrics.auc import auc
from .....ops.metrics.counts import precision, recall
from .....ops.metrics.means import accuracy, mean
from .....ops.public import tf
from .constants import MetricKey, ProblemType
from .estimator import Estimator
from .model_fn import ModeKeys, ModelFnOps


def _metrics(labels: Any, predictions: Any, thresholds: Sequence[float]) -> dict[str, Any]:
    if isinstance(labels, dict) and len(labels) == 1:
        labels = next(iter(labels.values()))
    found = {
        MetricKey.PREDICTION_MEAN: mean(predictions),
        MetricKey.LABEL_MEAN: mean(labels),
        MetricKey.ACCURACY_BASELINE: mean(labels),
        MetricKey.AUC: auc(labels=labels, predictions=predictions),
    }
    for threshold in thresholds:
        given = dict(
            labels=labels,
            predictions=tf.cast(
                tf.greater_equal(predictions, threshold),
                dtypes.float32,
                name=f"predictions_at_threshold_{threshold:f}",
            ),
        )
        found[MetricKey.ACCURACY_MEAN % threshold] = accuracy(**given)
        found[MetricKey.PRECISION_MEAN % threshold] = precision(**given)
        found[MetricKey.RECALL_MEAN % threshold] = recall(**given)
    return found


@export("contrib.learn.LogisticRegressor")
def LogisticRegressor(
    model_fn: Callable[..., Any],
    thresholds: Sequence[float] | None = None,
    model_dir: str | None = None,
    config: object = None,
    feature_engineering_fn: Callable[..., Any] | None = None,
) -> Estimator:
    """An estimator of a probability.

    Args:
        model_fn: a function of features, labels and mode, which gives predictions, loss, train_op.
        thresholds: of metrics; 0.5 if None.
        model_dir, config, feature_engineering_fn: as of Estimator.

    Returns:
        An Estimator.
    """

    def with_metrics(
        features: object, labels: object, mode: str, params: dict[str, Any]
    ) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        metrics = None
        if mode == ModeKeys.EVAL:
            metrics = _metrics(labels, predictions, params.get("thresholds") or [0.5])
        served = {"head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})}
        return ModelFnOps(mode, predictions, loss, train_op, metrics, served)

    params = {"thresholds": thresholds}
    return Estimator(with_metrics, model_dir, config, params, feature_engineering_fn)
