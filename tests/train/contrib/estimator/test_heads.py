# SPDX-License-Identifier: Apache-2.0
"""Heads of tf.contrib.estimator, and estimators that do something besides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

heads = tf.contrib.estimator
LOGITS = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]], np.float32)


def entropies(logits: Any, labels: Any) -> Any:
    """The cross entropies with the sigmoid."""
    return np.logaddexp(0, logits) - logits * labels


def evaluated(head: Any, logits: Any, labels: Any) -> tuple[Any, dict[str, Any]]:
    """The loss and the metrics over one batch."""
    with tf.Graph().as_default(), tf.Session() as session:
        spec = head.create_estimator_spec({}, "eval", tf.constant(logits), labels=labels())
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        session.run([update for _, update in spec.eval_metric_ops.values()])
        values = {key: value for key, (value, _) in spec.eval_metric_ops.items()}
        return session.run([spec.loss, values])  # type: ignore[return-value]


def test_examples_have_several_labels() -> None:
    truth = np.array([[1, 0, 1], [0, 0, 1]])
    head = heads.multi_label_head(3, thresholds=[0.6], classes_for_class_based_metrics=[2])
    loss, metrics = evaluated(head, LOGITS, lambda: tf.constant(truth))
    assert loss == pytest.approx(entropies(LOGITS, truth).mean())
    at = 1 / (1 + np.exp(-LOGITS)) >= 0.6
    assert metrics["accuracy/positive_threshold_0.6"] == pytest.approx((at == truth).mean())
    assert metrics["recall/positive_threshold_0.6"] == pytest.approx(at[truth == 1].mean())
    mean = (1 / (1 + np.exp(-LOGITS[:, 2]))).mean()
    assert metrics["probability_mean/class2"] == pytest.approx(mean)


def test_labels_are_names_in_sparse_tensors() -> None:
    head = heads.multi_label_head(3, label_vocabulary=["a", "b", "c"])
    truth = np.array([[1, 0, 1], [0, 1, 0]])
    loss, _ = evaluated(
        head, LOGITS, lambda: tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "c", "b"], [2, 2])
    )
    assert loss == pytest.approx(entropies(LOGITS, truth).mean())


def test_heads_are_put_together(tmp_path: Path) -> None:
    two = heads.multi_head(
        [heads.regression_head(name="n"), heads.logistic_regression_head(name="p")], [2.0, 1.0]
    )
    numbers, flags = np.float32([[1.0], [2.0]]), np.float32([[1.0], [0.0]])

    def labels() -> Any:
        return {"n": tf.constant(numbers), "p": tf.constant(flags)}

    loss, metrics = evaluated(two, LOGITS[:, :2], labels)
    squared = ((LOGITS[:, :1] - numbers) ** 2).mean()
    entropy = entropies(LOGITS[:, 1:2], flags).mean()
    assert loss == pytest.approx(2 * squared + entropy)
    assert metrics["loss/n"] == pytest.approx(squared)

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        logits = tf.layers.dense(features["x"], two.logits_dimension)
        optimizer = heads.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(0.1), 1.0)
        return two.create_estimator_spec(
            features, mode, logits, labels, optimizer=heads.TowerOptimizer(lambda: optimizer)
        )

    def input_fn() -> Any:
        features = {"x": tf.constant([[1.0], [2.0]]), "key": tf.constant([[7], [8]])}
        return tf.data.Dataset.from_tensors((features, labels())).repeat(3)

    estimator = tf.estimator.Estimator(heads.replicate_model_fn(model_fn), str(tmp_path))
    before = None
    for _ in range(2):
        estimator.train(input_fn)
        found = estimator.evaluate(input_fn, steps=1)
        assert before is None or found["loss"] < before
        before = found["loss"]
    assert found["global_step"] == 6
    keyed = heads.forward_features(
        tf.estimator.Estimator(lambda features, mode: one(features, mode), str(tmp_path)), "key"
    )
    assert [int(p["key"][0]) for p in keyed.predict(input_fn)][:2] == [7, 8]


def one(features: Any, mode: str) -> Any:
    with tf.variable_scope("dense"):
        weights = tf.get_variable("kernel", [1, 2])
    return tf.estimator.EstimatorSpec(mode, {"y": tf.matmul(features["x"], weights)})


def test_counts_have_a_head() -> None:
    counts = np.float32([[1.0], [4.0]])
    head = heads.poisson_regression_head(compute_full_loss=False)
    loss, _ = evaluated(head, LOGITS[:, :1], lambda: tf.constant(counts))
    wanted = (np.exp(LOGITS[:, :1]) - counts * LOGITS[:, :1]).mean()
    assert loss == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: heads.multi_head([]), "Must specify heads"),
        (lambda: heads.multi_head([heads.regression_head()]), "must have name"),
        (lambda: heads.multi_label_head(1), "must be > 1"),
        (lambda: heads.multi_label_head(3, thresholds=[2.0]), "range"),
        (lambda: heads.multi_label_head(3, label_vocabulary=["a"]), "Given: 1"),
        (lambda: heads.replicate_model_fn(len, "none"), "reduced"),
    ],
)
def test_wrong_heads_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_graphs_for_training_take_what_input_functions_give() -> None:
    def input_fn(count: int) -> Any:
        return {"x": tf.zeros([count, 3])}, tf.zeros([count], tf.int64)

    receiver_fn = heads.build_supervised_input_receiver_fn_from_input_fn(input_fn, count=4)
    with tf.Graph().as_default():
        receiver = receiver_fn()
        assert receiver.features["x"].shape.as_list() == [None, 3]
        assert receiver.labels.dtype == tf.int64
