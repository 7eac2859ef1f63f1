# SPDX-License-Identifier: Apache-2.0
"""Ready-made estimators: names of variables, metrics, predictions and signatures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.estimator.heads import BinaryClassHead, MultiClassHead, RegressionHead

pytestmark = pytest.mark.cpu

fc = tf.feature_column
KINDS = ["a", "b", "c"]
X = np.linspace(-1, 1, 12, dtype=np.float32)


def columns() -> tuple[list[Any], list[Any]]:
    kind = fc.categorical_column_with_vocabulary_list("kind", KINDS)
    initial = tf.constant_initializer(0.1)
    return [kind], [fc.numeric_column("x"), fc.embedding_column(kind, 2, initializer=initial)]


def data(labels: Any) -> Any:
    return lambda: tf.data.Dataset.from_tensors(({"x": X, "kind": KINDS * 4}, labels)).repeat(3)


def test_wide_and_deep_has_names_of_tensorflow(tmp_path: Path) -> None:
    wide, deep = columns()
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        str(tmp_path),
        linear_feature_columns=wide,
        dnn_feature_columns=deep,
        dnn_hidden_units=[4],
    )
    estimator.train(data((X > 0).astype(np.int64)), steps=3)
    names = estimator.get_variable_names()
    assert {
        name for name in names if "grad" not in name.lower() and "ftrl" not in name.lower()
    } == {
        "global_step",
        "linear/linear_model/kind/weights",
        "linear/linear_model/bias_weights",
        "dnn/input_from_feature_columns/input_layer/kind_embedding/embedding_weights",
        "dnn/hiddenlayer_0/kernel",
        "dnn/hiddenlayer_0/bias",
        "dnn/logits/kernel",
        "dnn/logits/bias",
    }
    assert estimator.get_variable_value("global_step") == 3


def test_a_bias_learns_the_average(tmp_path: Path) -> None:
    estimator = tf.estimator.BaselineRegressor(str(tmp_path), optimizer="SGD")
    estimator.train(data(np.full(12, 2.0, np.float32)), steps=3)
    assert estimator.get_variable_names() == ["baseline/bias", "global_step"]
    assert estimator.get_variable_value("baseline/bias") > 0


def spec_of(head: Any, logits: Any, labels: Any, mode: str) -> Any:
    return head.create_estimator_spec(
        {"w": tf.constant([1.0, 3.0])},
        mode,
        tf.constant(logits, tf.float32),
        None if labels is None else tf.constant(labels),
        train_op_fn=lambda loss: tf.no_op(),
    )


def values(spec: Any) -> tuple[Any, Any]:
    with tf.Session() as session:
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        session.run([update for _, update in spec.eval_metric_ops.values()])
        metrics = {key: value for key, (value, _) in spec.eval_metric_ops.items()}
        return session.run([spec.loss, metrics])


def test_regression_with_weights() -> None:
    with tf.Graph().as_default():
        head = RegressionHead(weight_column="w")
        loss, metrics = values(spec_of(head, [[1.0], [2.0]], [[2.0], [4.0]], "eval"))
    assert loss == 1 + 3 * 4
    assert metrics == {"average_loss": 13 / 4, "prediction/mean": 7 / 4, "label/mean": 14 / 4}


def test_two_classes() -> None:
    with tf.Graph().as_default():
        head = BinaryClassHead(thresholds=[0.9])
        loss, metrics = values(spec_of(head, [[2.0], [-1.0]], [[1], [1]], "eval"))
    losses = np.log1p(np.exp([-2.0, 1.0]))
    assert loss == pytest.approx(losses.sum(), rel=1e-6)
    assert metrics["average_loss"] == pytest.approx(losses.mean(), rel=1e-6)
    assert metrics["accuracy"] == 0.5 and metrics["recall"] == 0.5 and metrics["precision"] == 1
    assert metrics["accuracy/positive_threshold_0.9"] == 0
    assert metrics["label/mean"] == metrics["accuracy_baseline"] == 1


def test_names_of_classes_and_signatures() -> None:
    with tf.Graph().as_default():
        head = MultiClassHead(3, label_vocabulary=["p", "q", "r"])
        spec = spec_of(head, [[0.0, 1.0, 0.0], [3.0, 0.0, 0.0]], None, "infer")
        assert set(spec.export_outputs) == {"serving_default", "classification", "predict"}
        with tf.Session() as session:
            session.run(tf.tables_initializer())
            classes, ids = session.run([spec.predictions["classes"], spec.predictions["class_ids"]])
        assert classes.tolist() == [[b"q"], [b"p"]] and ids.tolist() == [[1], [0]]
        loss, _ = values(spec_of(head, [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], ["q", "r"], "eval"))
        assert loss == pytest.approx(2 * np.log(3), rel=1e-6)


@pytest.mark.pure
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MultiClassHead(2), "n_classes must be > 2"),
        (lambda: BinaryClassHead(thresholds=[1.0]), "not in"),
        (lambda: RegressionHead(0), "Invalid label_dimension"),
        (lambda: RegressionHead(loss_reduction="all"), "Invalid loss_reduction"),
        (lambda: RegressionHead(loss_fn=lambda labels: labels), "must contain argument: logits"),
        (lambda: tf.estimator.DNNLinearCombinedRegressor(), "must be defined"),
        (lambda: spec_of(RegressionHead(), [[1.0]], None, "eval"), "must provide a labels"),
        (lambda: spec_of(RegressionHead(2), [[1.0]], [1.0], "eval"), "logits shape must be"),
    ],
)
def test_refused(make: Any, message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        make()


@pytest.mark.cpu
def test_heads_of_contrib_average_over_the_batch() -> None:
    heads = tf.contrib.estimator
    assert heads.multi_class_head(3).logits_dimension == 3
    assert heads.binary_classification_head(name="a").name == "a"
    with tf.Graph().as_default():
        spec = spec_of(heads.regression_head(), [[1.0], [2.0]], [[2.0], [4.0]], "eval")
        assert spec.loss.shape.ndims == 0
        with tf.Session() as session:
            assert session.run(spec.loss) == 2.5
