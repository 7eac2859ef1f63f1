# SPDX-License-Identifier: Apache-2.0
"""Random features whose products are near a kernel; a loss of classes; means by samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu


def test_products_of_random_features_are_near_the_kernel() -> None:
    rows = np.float32([[0.3, -0.2, 0.1], [0.1, 0.4, -0.3]])
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(3, 4000, stddev=1.5, seed=2)
    with tf.Graph().as_default(), tf.Session() as session:
        first, second = session.run(mapper.map(tf.constant(rows)))
        expected = np.exp(-np.sum((rows[0] - rows[1]) ** 2) / (2 * 1.5**2))
        assert abs(first @ second - expected) < 0.05
        with pytest.raises(Exception, match="expected 3 input features, got 2 instead"):
            mapper.map(tf.zeros([1, 2]))


def test_hinge_loss_of_classes() -> None:
    loss = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss
    with tf.Graph().as_default(), tf.Session() as session:
        scores = tf.constant([[1.2, -1.4, -1.0], [1.4, 1.8, 4.0], [0.5, 1.8, -1.0]])
        labels = tf.constant([0, 1, 2])
        # The best other score plus one, less the right one's: none, 3.2 and 3.8.
        np.testing.assert_allclose(session.run(loss(labels, scores)), 7.0 / 3, rtol=1e-6)
        with pytest.raises(ValueError, match="Acceptable dtypes: int32 and int64"):
            loss(tf.constant([0.0]), scores)


def test_means_by_samples_have_the_gradient_of_the_mean() -> None:
    monte_carlo, d = tf.contrib.bayesflow.monte_carlo, tf.contrib.distributions
    with tf.Graph().as_default(), tf.Session() as session:
        mean = tf.constant(1.5)
        p = d.Normal(mean, 1.0)
        draws = p.sample(20000, seed=1)
        for through in (True, False):
            square = monte_carlo.expectation(tf.square, draws, p.log_prob, through)
            value, slope = session.run([square, tf.gradients(square, mean)[0]])
            assert abs(value - 3.25) < 0.1 and abs(slope - 3.0) < 0.2
        q = d.Normal(1.0, 2.0)
        sampled = monte_carlo.expectation_importance_sampler(
            tf.square, p.log_prob, q, n=20000, seed=2
        )
        assert abs(session.run(sampled) - 3.25) < 0.1
        with pytest.raises(ValueError, match="exactly one of"):
            monte_carlo.expectation_importance_sampler(tf.square, p.log_prob, q)


def test_mapped_features_part_what_no_line_does(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    points = random.uniform(-1, 1, [200, 2]).astype(np.float32)
    labels = (points[:, :1] * points[:, 1:] > 0).astype(np.int32)

    def given() -> tuple[dict[str, Any], Any]:
        return {"x": tf.constant(points)}, tf.constant(labels)

    kernels = tf.contrib.kernel_methods
    column = tf.contrib.layers.real_valued_column("x", dimension=2)
    mapper = kernels.RandomFourierFeatureMapper(2, 100, stddev=0.5, seed=1)
    model = kernels.KernelLinearClassifier(
        model_dir=str(tmp_path),
        optimizer=tf.train.FtrlOptimizer(20.0),
        kernel_mappers={column: [mapper]},
    )
    model.fit(input_fn=given, steps=60)
    assert model.evaluate(input_fn=given, steps=1)["accuracy"] > 0.95
    assert "linear/x_MAPPED/weight" in model.get_variable_names()
    found = list(model.predict_classes(input_fn=given))
    assert np.mean(np.array(found) == labels[:, 0]) > 0.95
    with pytest.raises(ValueError, match="at least one of feature_columns, kernel_mappers"):
        kernels.KernelLinearClassifier()
    with pytest.raises(ValueError, match="Invalid kernel mappers"):
        kernels.KernelLinearClassifier(kernel_mappers={column: [3]})
