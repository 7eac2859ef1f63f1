# SPDX-License-Identifier: Apache-2.0
"""Metrics: TensorFlow 1.15's graphs, values against NumPy over several batches, what is refused."""

from __future__ import annotations

import importlib.util
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.alias.internals import metrics_impl

HERE = Path(__file__).parent
PROGRAMS = HERE / "metrics_programs.txt"
RECORDED = json.loads((HERE / "metrics_1_15.json").read_text())

pytestmark = pytest.mark.pure


def _worker() -> Any:
    worker = HERE.parents[1] / "io/graph_programs.py"
    spec = importlib.util.spec_from_file_location("worker", worker)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


worker = _worker()
programs = worker.programs(PROGRAMS)


def test_every_program_is_recorded() -> None:
    assert set(RECORDED) == set(programs)


@pytest.mark.parametrize("name", programs)
def test_the_graph_is_that_of_tensorflow(name: str) -> None:
    graph_def = worker.run(tf, programs[name])
    theirs = RECORDED[name]["nodes"]
    for i, node in enumerate(graph_def.node):
        assert worker.letters(node) == theirs[3 * i : 3 * i + 3], (i, worker.described(node))
    assert 3 * len(graph_def.node) == len(theirs)


def _streamed(make: Any, batches: list[tuple[Any, ...]]) -> tuple[Any, Any]:
    """The last update and the value after several batches."""
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = [tf.placeholder(np.asarray(x).dtype, [None, *np.shape(x)[1:]]) for x in batches[0]]
        value, update = make(*inputs)
        session.run(tf.local_variables_initializer())
        for batch in batches:
            last = session.run(update, dict(zip(inputs, batch, strict=True)))
        return last, session.run(value)


@pytest.fixture
def batches() -> list[tuple[Any, ...]]:
    """Labels, scores and weights of several batches."""
    draw = np.random.default_rng(1)
    return [
        (draw.random(n) < 0.5, draw.random(n).astype("f"), draw.random(n).astype("f"))
        for n in (5, 9, 9)
    ]


def _of_floats(function: Any, labels: Any, scores: Any, weights: Any) -> Any:
    return function(tf.cast(labels, tf.float32), scores, weights)


def _of_guesses(function: Any, labels: Any, scores: Any, weights: Any) -> Any:
    return function(labels, scores > 0.5, weights)


def _joined(batches: list[tuple[Any, ...]]) -> list[np.ndarray]:
    return [np.concatenate(parts) for parts in zip(*batches, strict=True)]


@pytest.mark.cpu
def test_means_and_errors(batches: list[tuple[Any, ...]]) -> None:
    labels, scores, weights = _joined(batches)
    errors = np.abs(labels - scores)
    wanted = {
        tf.metrics.mean_absolute_error: np.average(errors, weights=weights),
        tf.metrics.mean_squared_error: np.average(errors**2, weights=weights),
        tf.metrics.root_mean_squared_error: np.sqrt(np.average(errors**2, weights=weights)),
    }
    for function, expected in wanted.items():
        results = _streamed(partial(_of_floats, function), batches)
        np.testing.assert_allclose(results, [expected] * 2, rtol=1e-5)
    mean = _streamed(lambda y, p, w: tf.metrics.mean(p), batches)
    np.testing.assert_allclose(mean, [scores.mean()] * 2, rtol=1e-5)
    below = _streamed(lambda y, p, w: tf.metrics.percentage_below(p, 0.3), batches)
    np.testing.assert_allclose(below, [(scores < 0.3).mean()] * 2, rtol=1e-5)


@pytest.mark.cpu
def test_counts_precision_and_recall(batches: list[tuple[Any, ...]]) -> None:
    labels, scores, weights = _joined(batches)
    guess = scores > 0.5
    true_p = weights[labels & guess].sum()
    wanted = {
        tf.metrics.true_positives: true_p,
        tf.metrics.true_negatives: weights[~labels & ~guess].sum(),
        tf.metrics.false_positives: weights[~labels & guess].sum(),
        tf.metrics.false_negatives: weights[labels & ~guess].sum(),
        tf.metrics.precision: true_p / weights[guess].sum(),
        tf.metrics.recall: true_p / weights[labels].sum(),
    }
    for function, expected in wanted.items():
        results = _streamed(partial(_of_guesses, function), batches)
        np.testing.assert_allclose(results, [expected] * 2, rtol=1e-5)


@pytest.mark.cpu
def test_area_under_the_roc_curve(batches: list[tuple[Any, ...]]) -> None:
    labels, scores, _ = _joined(batches)
    above = scores[labels][:, None] > scores[~labels][None]
    results = _streamed(lambda y, p, w: tf.metrics.auc(y, p, num_thresholds=2000), batches)
    np.testing.assert_allclose(results, [above.mean()] * 2, atol=1e-3)


@pytest.mark.cpu
def test_precision_and_recall_of_the_best() -> None:
    draw = np.random.default_rng(2)
    data = [(draw.integers(0, 5, (6, 1)), draw.random((6, 5))) for _ in range(3)]
    labels, scores = _joined(data)
    best = np.argsort(-scores, axis=1)[:, :2]
    hits = (best == labels).any(axis=1)
    recall = _streamed(lambda y, p: tf.metrics.recall_at_k(y, p, 2), data)
    np.testing.assert_allclose(recall, [hits.mean()] * 2)
    precision = _streamed(lambda y, p: tf.metrics.precision_at_k(y, p, 2), data)
    np.testing.assert_allclose(precision, [hits.mean() / 2] * 2)
    ranks = np.where(hits, 1 / (1 + np.argmax(best == labels, axis=1)), 0)
    average = _streamed(lambda y, p: tf.metrics.average_precision_at_k(y, p, 2), data)
    np.testing.assert_allclose(average, [ranks.mean()] * 2)


@pytest.mark.cpu
def test_classes() -> None:
    draw = np.random.default_rng(3)
    data = [(draw.integers(0, 3, 8), draw.integers(0, 3, 8)) for _ in range(2)]
    labels, guesses = _joined(data)
    both = [((labels == c) & (guesses == c)).sum() for c in range(3)]
    iou = [both[c] / ((labels == c) | (guesses == c)).sum() for c in range(3)]
    matrix, value = _streamed(lambda y, p: tf.metrics.mean_iou(y, p, 3), data)
    assert matrix.sum() == 16 and matrix.diagonal().tolist() == both
    np.testing.assert_allclose(value, np.mean(iou), rtol=1e-6)
    streamed = metrics_impl._streaming_confusion_matrix
    for counts in _streamed(lambda y, p: streamed(y, p, 3, tf.ones_like(y) * 2), data):
        np.testing.assert_array_equal(counts, 2 * matrix)
    accuracies = [both[c] / (labels == c).sum() for c in range(3)]
    update, value = _streamed(lambda y, p: tf.metrics.mean_per_class_accuracy(y, p, 3), data)
    np.testing.assert_allclose(update, accuracies, rtol=1e-6)
    np.testing.assert_allclose(value, np.mean(accuracies), rtol=1e-6)


def test_variables_and_collections() -> None:
    with tf.Graph().as_default():
        value, update = tf.metrics.mean([1.0], None, "values", ["updates"], name="m")
        names = [v.op.name for v in tf.local_variables()]
        assert names == ["m/total", "m/count"]
        assert tf.get_collection(tf.GraphKeys.METRIC_VARIABLES) == tf.local_variables()
        assert not tf.global_variables() and not tf.trainable_variables()
        assert tf.get_collection("values") == [value] and tf.get_collection("updates") == [update]
        assert value.op.name == "m/value" and update.op.name == "m/update_op"


@pytest.mark.cpu
def test_what_is_refused() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="weights can not be broadcast"):
            tf.metrics.mean(tf.zeros([2, 3]), tf.zeros([2, 2]))
        with pytest.raises(ValueError, match="Invalid k=0"):
            tf.metrics.average_precision_at_k(tf.zeros([2, 1], tf.int64), tf.zeros([2, 3]), 0)
        with pytest.raises(ValueError, match="specificity"):
            tf.metrics.sensitivity_at_specificity([True], [0.5], 2.0)
        with pytest.raises(ValueError, match="Invalid summation_method: left"):
            tf.metrics.auc([True], tf.constant([0.5]), summation_method="left")
        scores = tf.placeholder(tf.float32, [1])
        _, update = tf.metrics.auc([True], scores)
        session.run(tf.local_variables_initializer())
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"
        ):
            session.run(update, {scores: [1.5]})
