# SPDX-License-Identifier: Apache-2.0
"""Linear models by dual coordinate ascent: the solutions, variables and names that 1.15.5 has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.ops.public import raw

pytestmark = pytest.mark.cpu

_COUNT = 60
# The loss with what weights cost, where TensorFlow 1.15.5 arrives on the data below, and its
# weights of the two dense features.
_SOLUTIONS = {
    "logistic_loss": (0.32635, [0.794, -2.3643]),
    "squared_loss": (0.06484, [0.9812, -1.9647]),
    "hinge_loss": (0.27089, [0.7684, -2.4307]),
    "smooth_hinge_loss": (0.30725, [0.5163, -1.565]),
}


def _data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.RandomState(3)
    dense = random.randn(_COUNT, 2).astype(np.float32)
    kinds = random.randint(0, 3, _COUNT)
    return dense, kinds, dense @ np.float32([1, -2]) + np.float32([0, 1, -1])[kinds]


def _model(loss: str, **options: Any) -> tuple[Any, dict[str, Any], dict[str, list[Any]]]:
    dense, kinds, scores = _data()
    labels = scores if loss == "squared_loss" else scores > 0
    linear = tf.contrib.linear_optimizer
    sparse = linear.SparseFeatureColumn(np.arange(_COUNT), kinds, np.ones(_COUNT, np.float32))
    examples = {
        "sparse_features": [sparse],
        "dense_features": [tf.constant(dense)],
        "example_labels": tf.constant(labels.astype(np.float32)),
        "example_weights": tf.ones([_COUNT]),
        "example_ids": tf.constant([str(i) for i in range(_COUNT)]),
    }
    variables = {
        "sparse_features_weights": [tf.Variable(tf.zeros([3]), name="s")],
        "dense_features_weights": [tf.Variable(tf.zeros([2]), name="d")],
    }
    given = {"symmetric_l1_regularization": 0.1, "symmetric_l2_regularization": 1.0}
    model = linear.SdcaModel(examples, variables, {"loss_type": loss, **given, **options})
    return model, examples, variables


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("loss", _SOLUTIONS)
def test_solutions_are_those_of_tensorflow(loss: str, adaptive: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        model, examples, variables = _model(loss, adaptive=adaptive, num_table_shards=2)
        step = model.update_weights(model.minimize())
        session.run(tf.global_variables_initializer())
        for _ in range(60):
            session.run(step)
        found, weights = session.run(
            [model.regularized_loss(examples), variables["dense_features_weights"][0]]
        )
        expected = _SOLUTIONS[loss]
        assert abs(found - expected[0]) < 2e-3
        np.testing.assert_allclose(weights, expected[1], atol=0.1)
        if not adaptive:
            assert abs(session.run(model.approximate_duality_gap())) < 2e-2
        names = [variable.op.name for variable in tf.global_variables()]
        assert names == ["s", "d", "s_unshrinked/SDCAOptimizer", "d_unshrinked/SDCAOptimizer"]


def test_rates_are_found_by_poisson_loss() -> None:
    """Without features but a constant one, exp(w) is the mean count less w / 40, which l2 costs."""
    with tf.Graph().as_default(), tf.Session() as session:
        counts = np.float32([0, 1, 3, 4])
        examples = {
            "sparse_features": [],
            "dense_features": [tf.ones([4, 1])],
            "example_labels": tf.constant(counts),
            "example_weights": tf.fill([4], 10.0),
            "example_ids": tf.constant(list("abcd")),
        }
        variables: dict[str, list[Any]] = {
            "sparse_features_weights": [],
            "dense_features_weights": [tf.Variable([0.0])],
        }
        options = {
            "loss_type": "poisson_loss",
            "symmetric_l1_regularization": 0.0,
            "symmetric_l2_regularization": 1.0,
            "adaptive": False,
        }
        model = tf.contrib.linear_optimizer.SdcaModel(examples, variables, options)
        step = model.update_weights(model.minimize())
        session.run(tf.global_variables_initializer())
        for _ in range(80):
            session.run(step)
        np.testing.assert_allclose(session.run(model.predictions(examples)), 1.983, rtol=1e-2)


def test_wrong_examples_are_refused() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="Unsupported loss_type"):
            _model("no_loss")
        with pytest.raises(ValueError, match=r"should be non-negative. Found \(-1.0"):
            _model("hinge_loss", symmetric_l1_regularization=-1.0)
        given: Any = {
            "sparse_example_indices": [[0, 0]],
            "sparse_feature_indices": [[1, 1]],
            "sparse_feature_values": [[1.0, 2.0]],
            "dense_features": [],
            "example_weights": [1.0],
            "example_labels": [0.5],
            "sparse_indices": [[1]],
            "sparse_weights": [[0.0]],
            "dense_weights": [],
            "example_state_data": [[0.0] * 4],
            "l1": 0.0,
            "l2": 1.0,
            "num_loss_partitions": 1,
            "num_inner_iterations": 1,
            "loss_type": "hinge_loss",
        }
        for change, message in (
            ({}, "Duplicate index in sparse vector."),
            ({"sparse_feature_indices": [[1, 2]]}, "out of valid range: 2"),
            (
                {"sparse_feature_indices": [[1, 1]], "sparse_example_indices": [[0, 1]]},
                "Only labels of 0.0 or 1.0 are supported right now. Found example with label: 0.5",
            ),
            ({"example_state_data": [[0.0] * 3]}, r"Expected shape \[1,4\]"),
        ):
            solved = raw.SdcaOptimizerV2(**{**given, **change})
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(solved[0])


def test_weights_shrink_in_place() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        weights = tf.Variable([1.0, -0.25, -2.0, 0.5])
        session.run(weights.initializer)
        session.run(raw.SdcaShrinkL1([weights._ref()], l1=1.0, l2=2.0))
        np.testing.assert_array_equal(session.run(weights), [0.5, 0.0, -1.5, 0.0])


def _input() -> tuple[dict[str, Any], Any]:
    dense, kinds, scores = _data()
    features = {
        "x": tf.constant(dense),
        "kind": tf.constant(np.array(["a", "b", "c"])[kinds][:, None]),
        "id": tf.constant([str(i) for i in range(_COUNT)]),
    }
    return features, tf.constant((scores > 0).astype(np.int32)[:, None])


def test_linear_estimators_are_solved(tmp_path: Path) -> None:
    columns = [
        tf.feature_column.numeric_column("x", shape=[2]),
        tf.feature_column.categorical_column_with_vocabulary_list("kind", ["a", "b", "c"]),
    ]
    optimizer = tf.estimator.experimental.LinearSDCA("id", symmetric_l2_regularization=2.0)
    estimator = tf.estimator.LinearClassifier(columns, str(tmp_path), optimizer=optimizer)
    found = estimator.train(_input, steps=30).evaluate(_input, steps=1)
    # TensorFlow 1.15.5 arrives at the same.
    assert abs(found["average_loss"] - 0.28856) < 2e-3 and found["accuracy"] > 0.94
    saved = dict(tf.train.list_variables(str(tmp_path)))
    assert saved["linear/linear/linear_model/kind/weights/part_0_unshrunk"] == [3, 1]
    assert saved["ShardedMutableHashTable-1-of-1-values"][1] == 4
    with pytest.raises(ValueError, match="cannot be used in a multi-class setting"):
        tf.estimator.LinearClassifier(columns, n_classes=3, optimizer=optimizer)


def test_support_vector_machines_of_columns(tmp_path: Path) -> None:
    layers = tf.contrib.layers
    columns = [
        layers.real_valued_column("x", dimension=2),
        layers.sparse_column_with_keys("kind", ["a", "b", "c"]),
    ]

    def given() -> tuple[dict[str, Any], Any]:
        features, labels = _input()
        indices = np.stack([np.arange(_COUNT), np.zeros(_COUNT, np.int64)], axis=1)
        words = tf.reshape(features["kind"], [-1])
        return {**features, "kind": tf.SparseTensor(indices, words, [_COUNT, 1])}, labels

    svm = tf.contrib.learn.SVM("id", columns, model_dir=str(tmp_path), l2_regularization=1.0)
    svm.fit(input_fn=given, steps=20)
    assert svm.evaluate(input_fn=given, steps=1)["accuracy"] > 0.9
    assert set(next(svm.predict(input_fn=given))) == {"logits", "classes"}
    with pytest.raises(ValueError, match="Kernel SVMs"):
        tf.contrib.learn.SVM("id", columns, kernels=["rbf"])
