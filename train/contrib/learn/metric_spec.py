# SPDX-License-Identifier: Apache-2.0
"""Metrics of estimators: a function, and which predictions, labels and weights it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....engine.api import export
from ....engine.interface import log
from ...estimator.util import fn_args

# The name that arguments have -> what functions call them besides.
_NAMES = {
    "labels": {"labels", "label", "targets", "target"},
    "predictions": {"predictions", "prediction", "logits", "logit"},
    "weights": {"weights", "weight"},
}


def _name_of(fn: object) -> str:
    return str(getattr(fn, "__name__", None) or getattr(getattr(fn, "func", None), "__name__", fn))


def _argument(fn: object, args: tuple[str, ...], canonical: str, required: bool) -> str | None:
    """What a function calls an argument; None if it does not take it."""
    found = _NAMES[canonical].intersection(args)
    if len(found) > 1:
        raise ValueError(
            f"Ambiguous arguments {found}, must provide only one of {_NAMES[canonical]}."
        )
    if not found:
        if required:
            raise ValueError(f"{_NAMES[canonical]} missing from {_name_of(fn)}({args}).")
        return None
    name = found.pop()
    if name != canonical:
        log.warning(
            "Canonical arg %s missing from %s(%s), using %s.", canonical, _name_of(fn), args, name
        )
    return name


def _adapted(fn: Callable[..., Any], needs_labels: bool, needs_weights: bool) -> Any:
    """The function as one of labels, predictions and weights, by name."""
    args = fn_args(fn)
    labels_arg = _argument(fn, args, "labels", needs_labels)
    predictions_arg = _argument(fn, args, "predictions", False)
    weights_arg = _argument(fn, args, "weights", needs_weights)

    def called(
        _sentinel: None = None,
        labels: object = None,
        predictions: object = None,
        weights: object = None,
    ) -> Any:
        if _sentinel is not None:
            raise ValueError(
                "`metric_fn` requires named args: `labels`, `predictions`, and optionally "
                "`weights`."
            )
        given = {} if weights is None else {str(weights_arg): weights}
        positional = []
        if predictions_arg:
            given[predictions_arg] = predictions
        else:
            positional = [predictions]
        if labels_arg and not predictions_arg and labels_arg == args[0]:
            positional = [labels, predictions]
        elif labels_arg:
            given[labels_arg] = labels
        return fn(*positional, **given)

    return called


@export("contrib.learn.MetricSpec")
class MetricSpec:
    """A metric.

    Args:
        metric_fn: a function of predictions, and of labels and weights if it takes them.
        prediction_key, label_key: which predictions and labels, if there are several.
        weight_key: the feature with the weights.

    Raises:
        ValueError: the function takes no labels or weights, or several.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self._metric_fn_name = _name_of(metric_fn)
        self._metric_fn = _adapted(metric_fn, label_key is not None, weight_key is not None)
        self._prediction_key, self._label_key = prediction_key, label_key
        self._weight_key = weight_key

    @property
    def prediction_key(self) -> str | None:
        """Which predictions."""
        return self._prediction_key

    @property
    def label_key(self) -> str | None:
        """Which labels."""
        return self._label_key

    @property
    def weight_key(self) -> str | None:
        """The feature with the weights."""
        return self._weight_key

    @property
    def metric_fn(self) -> Callable[..., Any]:
        """The function, of labels, predictions and weights by name."""
        return self._metric_fn  # type: ignore[no-any-return]

    def __str__(self) -> str:
        return (
            f"MetricSpec(metric_fn={self._metric_fn_name}, prediction_key={self.prediction_key}, "
            f"label_key={self.label_key}, weight_key={self.weight_key})"
        )

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """What the function gives.

        Args:
            inputs: features by key.
            labels, predictions: tensors, or dicts of some.

        Returns:
            A (value, update) pair, as a rule.

        Raises:
            ValueError: a key is given for one tensor, or none for several.
            KeyError: there is no such tensor.
        """
        prediction = _chosen("prediction", predictions, self.prediction_key)
        label = _chosen("label", labels, self.label_key)
        weights = inputs[self.weight_key] if self.weight_key else None
        try:
            return self.metric_fn(labels=label, predictions=prediction, weights=weights)
        except Exception as error:
            log.error("Could not create metric ops for %s, %s.", self, error)
            raise


def _chosen(what: str, given: object, key: str | None) -> Any:
    if key:
        if not isinstance(given, dict):
            raise ValueError(
                f"MetricSpec with {what}_key specified requires {what}s dict, got {given}.\nYou "
                f"must not provide a {what}_key if you only have a single Tensor as {what}s."
            )
        if key not in given:
            raise KeyError(f"Key '{key}' missing from {given.keys()}.")
        return given[key]
    if not isinstance(given, dict):
        return given
    if len(given) != 1:
        raise ValueError(
            f"MetricSpec without specified {what}_key requires {what}s tensor or single element "
            f"dict, got {given}"
        )
    return next(iter(given.values()))
