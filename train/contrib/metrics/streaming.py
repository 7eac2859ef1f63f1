# SPDX-License-Identifier: Apache-2.0
"""The metrics of `tf.metrics` that take predictions before labels: a row each."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from typing import Any

from ....engine.api import export
from ....ops.metrics import at_k, auc, classes, counts, means, thresholds

_REST = "weights metrics_collections updates_collections name"
_PAIR = f"predictions labels {_REST}"
_LIMITED = "weights num_thresholds metrics_collections updates_collections"
# Name -> (metric, its arguments in the order of the function's).
_ROWS: dict[str, tuple[Callable[..., Any], str]] = {
    "true_positives": (counts.true_positives, _PAIR),
    "true_negatives": (counts.true_negatives, _PAIR),
    "false_positives": (counts.false_positives, _PAIR),
    "false_negatives": (counts.false_negatives, _PAIR),
    "mean": (means.mean, f"values {_REST}"),
    "mean_tensor": (means.mean_tensor, f"values {_REST}"),
    "accuracy": (means.accuracy, _PAIR),
    "precision": (counts.precision, _PAIR),
    "recall": (counts.recall, _PAIR),
    "auc": (auc.auc, f"predictions labels {_LIMITED} curve name"),
    "specificity_at_sensitivity": (
        auc.specificity_at_sensitivity,
        f"predictions labels sensitivity {_LIMITED} name",
    ),
    "sensitivity_at_specificity": (
        auc.sensitivity_at_specificity,
        f"predictions labels specificity {_LIMITED} name",
    ),
    "precision_at_thresholds": (
        thresholds.precision_at_thresholds,
        f"predictions labels thresholds {_REST}",
    ),
    "recall_at_thresholds": (
        thresholds.recall_at_thresholds,
        f"predictions labels thresholds {_REST}",
    ),
    "sparse_recall_at_k": (at_k.recall_at_k, f"predictions labels k class_id {_REST}"),
    "sparse_precision_at_k": (at_k.precision_at_k, f"predictions labels k class_id {_REST}"),
    "sparse_average_precision_at_k": (
        at_k.average_precision_at_k,
        f"predictions labels k {_REST}",
    ),
    "mean_absolute_error": (means.mean_absolute_error, _PAIR),
    "mean_relative_error": (
        means.mean_relative_error,
        f"predictions labels normalizer {_REST}",
    ),
    "mean_squared_error": (means.mean_squared_error, _PAIR),
    "root_mean_squared_error": (means.root_mean_squared_error, _PAIR),
    "percentage_less": (means.percentage_below, f"values threshold {_REST}"),
    "mean_iou": (classes.mean_iou, f"predictions labels num_classes {_REST}"),
}


def _reordered(name: str, metric: Callable[..., Any], order: str) -> Callable[..., Any]:
    """A metric as a function of its arguments in another order."""
    known = signature(metric).parameters
    shown = Signature([known[word].replace(annotation=Parameter.empty) for word in order.split()])

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            given = shown.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        return metric(**given)

    function.__name__ = function.__qualname__ = name
    function.__signature__ = shown  # type: ignore[attr-defined]
    function.__doc__ = (
        f"The same as tf.metrics.{metric.__name__}, with the arguments in this order.\n\n"
        f"    Args: as tf.metrics.{metric.__name__}.\n    "
    )
    return function


METRICS = {
    f"streaming_{name}": _reordered(f"streaming_{name}", *row) for name, row in _ROWS.items()
}
for _name, _metric in METRICS.items():
    export(f"contrib.metrics.{_name}")(_metric)
streaming_mean = METRICS["streaming_mean"]
