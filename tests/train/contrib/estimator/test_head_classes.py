# SPDX-License-Identifier: Apache-2.0
"""Heads as classes of tf.estimator: means over the batch, and what they predict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

LOGITS = np.float32([[2.0], [-1.0]])
WEIGHTS = {"w": np.float32([1.0, 3.0])}


def value(tensor: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(tensor)


def sigmoid_losses(labels: Any, logits: Any) -> Any:
    return np.log1p(np.exp(-np.where(labels, logits, -logits)))


def test_losses() -> None:
    heads, labels = tf.estimator, np.array([[1], [1]])
    with tf.Graph().as_default():
        losses = sigmoid_losses(labels, LOGITS)[:, 0]
        features = {"w": tf.constant(WEIGHTS["w"])}
        assert value(heads.BinaryClassHead().loss(labels, LOGITS)) == pytest.approx(losses.mean())
        weighted = heads.BinaryClassHead(weight_column="w").loss(labels, LOGITS, features)
        # Of weights, too, the mean is over the examples.
        assert value(weighted) == pytest.approx((losses * [1, 3]).sum() / 2)
        summed = heads.RegressionHead(loss_reduction="sum")
        assert value(summed.loss([[1.0], [1.0]], LOGITS, regularization_losses=[0.5])) == 5.5
        poisson = heads.PoissonRegressionHead(compute_full_loss=False)
        assert value(poisson.loss([[1.0], [2.0]], LOGITS)) == pytest.approx(
            (np.exp(LOGITS[:, 0]) - LOGITS[:, 0] * [1, 2]).mean()
        )
        logistic = heads.LogisticRegressionHead()
        assert value(logistic.loss(labels.astype(np.float32), LOGITS)) == pytest.approx(
            losses.mean()
        )
        several = heads.MultiLabelHead(2)
        logits, many = np.float32([[1, -1], [2, 0]]), np.array([[1, 0], [1, 1]])
        assert value(several.loss(many, logits)) == pytest.approx(
            sigmoid_losses(many, logits).mean()
        )


def test_predictions() -> None:
    with tf.Graph().as_default():
        head = tf.estimator.MultiClassHead(3)
        found = head.predictions(np.float32([[0, 2, 1]]), keys=["class_ids", "probabilities"])
        assert list(found) == ["class_ids", "probabilities"]
        assert value(found["class_ids"]).tolist() == [[1]]
        with pytest.raises(ValueError, match="Prediction key must be"):
            head.predictions(np.float32([[0, 2, 1]]), keys=["class"])
        assert head.loss_reduction == tf.losses.Reduction.SUM_OVER_BATCH_SIZE


def test_several_heads() -> None:
    parts = [tf.estimator.RegressionHead(name="a"), tf.estimator.BinaryClassHead(name="b")]
    head = tf.estimator.MultiHead(parts, [1.0, 2.0])
    assert head.name == "a_b" and head.logits_dimension == 2
    with tf.Graph().as_default():
        logits = np.float32([[1.0, 2.0]])
        loss = value(head.loss({"a": [[3.0]], "b": [[0]]}, logits))
        assert loss == pytest.approx(4 + 2 * np.log1p(np.exp(2)))
        assert {name for name, _ in head.predictions(logits)} == {"a", "b"}
    with pytest.raises(ValueError, match="must have name specified"):
        tf.estimator.MultiHead([tf.estimator.RegressionHead()])
    with pytest.raises(ValueError, match="must have the same size"):
        tf.estimator.MultiHead(parts, [1.0])


def test_an_estimator_with_such_a_head(tmp_path: Path) -> None:
    ran: list[int] = []

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        logits = tf.layers.dense(features["x"], 2)
        count = tf.py_func(lambda: ran.append(1) or np.int64(0), [], tf.int64)
        return tf.estimator.MultiLabelHead(2, thresholds=[0.5]).create_estimator_spec(
            *(features, mode, logits, labels),
            optimizer=tf.train.GradientDescentOptimizer(0.5),
            trainable_variables=tf.trainable_variables(),
            update_ops=[count.op],
        )

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    x = np.float32([[0, 0], [0, 1], [1, 0], [1, 1]])
    data = lambda: tf.data.Dataset.from_tensors(({"x": x}, x.astype(np.int64))).repeat(60)  # noqa: E731
    estimator.train(data, steps=60)
    metrics = estimator.evaluate(data, steps=1)
    assert metrics["accuracy/positive_threshold_0.5"] > 0.9 and len(ran) == 60


def test_clusters(tmp_path: Path) -> None:
    points = np.float32([[0, 0], [0, 1], [9, 9], [9, 8]])
    means = tf.estimator.experimental.KMeans(
        2, str(tmp_path), initial_clusters=points[[0, 2]], use_mini_batch=False
    )
    means.train(lambda: tf.train.limit_epochs(tf.constant(points), num_epochs=3))
    np.testing.assert_allclose(means.cluster_centers(), [[0, 0.5], [9, 8.5]], atol=1e-4)
