# SPDX-License-Identifier: Apache-2.0
"""Metrics that programs give beside the model's."""

from __future__ import annotations

from typing import Any

from .....engine.interface import log
from .....ops.public import tf
from ..metric_spec import MetricSpec


def make_metrics_ops(
    metrics: dict[Any, Any] | None, features: Any, labels: Any, predictions: Any
) -> dict[str, Any]:
    """What metrics give, by name.

    Args:
        metrics: MetricSpecs by name; or functions of predictions and labels by name, or by
            (name, prediction's name).
        features, labels, predictions: tensors, or dicts of some.

    Returns:
        (value, update) pairs by name.

    Raises:
        ValueError: a function is given for one prediction where there are several.
    """
    only = next(iter(labels.values())) if isinstance(labels, dict) and len(labels) == 1 else labels
    found = {}
    for name, metric in sorted((metrics or {}).items()):
        if isinstance(metric, MetricSpec):
            found[name] = metric.create_metric_ops(features, labels, predictions)
            continue
        if not isinstance(name, tuple):
            if isinstance(predictions, dict):
                raise ValueError(
                    "Metrics passed provide only name, no prediction, but predictions are dict. "
                    f"Metrics: {metrics}, Labels: {only}."
                )
            found[name] = metric(predictions, only)
            continue
        if len(name) != 2:
            raise ValueError(
                f"Invalid metric for {name}. It returned a tuple with len {len(name)}, expected 2."
            )
        if not isinstance(predictions, dict):
            raise ValueError(
                "Metrics passed provide (name, prediction), but predictions are not dict. Metrics: "
                f"{metrics}, Predictions: {predictions}."
            )
        of_name = isinstance(labels, dict) and name[1] in labels
        found[name[0]] = metric(predictions[name[1]], labels[name[1]] if of_name else only)
    return found


def split_updates(metrics: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """An op that updates metrics, and their values by name."""
    updates, values = [], {}
    for name, value in metrics.items():
        if isinstance(value, (list, tuple)) and len(value) == 2:
            values[name] = value[0]
            updates.append(value[1])
            continue
        if isinstance(value, (list, tuple)):
            log.warning(
                "Ignoring metric %s. It returned a list|tuple with len %s, expected 2",
                *(name, len(value)),
            )
        values[name] = value
    return (tf.group(*updates) if updates else None), values
