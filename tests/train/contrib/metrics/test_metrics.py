# SPDX-License-Identifier: Apache-2.0
"""Metrics that take predictions first, and what tf.metrics has not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu
metrics = tf.contrib.metrics


def after(metric: Any, feeds: list[dict[Any, Any]]) -> Any:
    """A metric's value when it has seen some feeds."""
    value, update = metric
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for feed in feeds:
            session.run(update, feed)
        return session.run(value)


def test_predictions_come_before_labels() -> None:
    with tf.Graph().as_default():
        predicted, labels = tf.constant([1, 1, 1, 0]), tf.constant([1, 0, 0, 0])
        assert after(metrics.streaming_precision(predicted, labels), [{}]) == pytest.approx(1 / 3)
        assert after(metrics.streaming_recall(predicted, labels), [{}]) == 1.0
        rate = metrics.streaming_false_positive_rate(predicted, labels)
        assert after(rate, [{}]) == pytest.approx(2 / 3)
        with pytest.raises(TypeError, match="streaming_precision"):
            metrics.streaming_precision(predicted, label=labels)


def test_covariance_of_batches_is_that_of_all() -> None:
    drawn = np.random.RandomState(0).rand(2, 12)
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
        feeds = [{x: drawn[0, i : i + 4], y: drawn[1, i : i + 4]} for i in (0, 4, 8)]
        covariance = after(metrics.streaming_covariance(x, y), feeds)
        correlation = after(metrics.streaming_pearson_correlation(x, y), feeds)
    assert covariance == pytest.approx(np.cov(*drawn)[0, 1], rel=1e-5)
    assert correlation == pytest.approx(np.corrcoef(*drawn)[0, 1], rel=1e-4)


def test_kappa_is_zero_for_chance_and_one_for_agreement() -> None:
    with tf.Graph().as_default():
        first = tf.constant([0, 0, 1, 1])
        assert after(metrics.cohen_kappa(first, first, 2), [{}]) == 1.0
        assert after(metrics.cohen_kappa(first, tf.constant([0, 1, 0, 1]), 2), [{}]) == 0.0


def test_set_of_metrics_is_split_by_names() -> None:
    with tf.Graph().as_default():
        mean = metrics.streaming_mean(tf.constant([1.0, 3.0]))
        values, updates = metrics.aggregate_metric_map({"mean": mean})
        assert after((values["mean"], updates["mean"]), [{}]) == 2.0
