# SPDX-License-Identifier: Apache-2.0
"""Estimators with the methods of scikit-learn's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .....engine.api import export
from ....sessions.basic_session_run_hooks import FeedFnHook
from . import inputs
from ._sklearn import BaseEstimator


@export("contrib.learn.SKCompat")
class SKCompat(BaseEstimator):
    """An estimator that takes arrays.

    Args:
        estimator: an Estimator of tf.contrib.learn.
    """

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Sequence[Any] | None = None,
    ) -> SKCompat:
        """Trains with arrays, frames or iterators, in an order that is drawn."""
        input_fn, feed_fn = inputs.input_and_feeds(
            x, y, None, None, batch_size, shuffle=True, epochs=None
        )
        hooks = [FeedFnHook(feed_fn), *(monitors or ())]
        self._estimator.fit(input_fn=input_fn, steps=steps, max_steps=max_steps, monitors=hooks)
        return self

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = 128,
        steps: int | None = None,
        metrics: dict[Any, Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """The metrics over arrays, as a dict; ValueError for metrics that are no dict."""
        input_fn, feed_fn = inputs.input_and_feeds(x, y, None, None, batch_size)
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")
        found, step = self._estimator._evaluate_model(
            input_fn=input_fn, feed_fn=feed_fn, steps=steps, metrics=metrics, name=name
        )
        if found is not None:
            found["global_step"] = step
        return found

    def predict(
        self, x: Any, batch_size: int | None = 128, outputs: Sequence[str] | None = None
    ) -> Any:
        """The predictions for an array, as one, or by name."""
        input_fn, feed_fn = inputs.input_and_feeds(x, None, None, None, batch_size)
        batches = list(
            self._estimator._infer_model(
                input_fn=input_fn, feed_fn=feed_fn, outputs=outputs, iterate_batches=True
            )
        )
        if not isinstance(batches[0], dict):
            return np.concatenate(batches, axis=0)
        return {key: np.concatenate([b[key] for b in batches], axis=0) for key in batches[0]}
