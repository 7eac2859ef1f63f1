# SPDX-License-Identifier: Apache-2.0
"""Mixtures of normal distributions: steps by hand, and as an estimator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbaflow as tf

pytestmark = pytest.mark.cpu

_RANDOM = np.random.RandomState(0)
CENTERS = np.float32([[0, 0], [12, 6]])
POINTS = (CENTERS[np.arange(60) % 2] + _RANDOM.randn(60, 2)).astype(np.float32)
STARTS = np.float32([[1, 1], [9, 7]])


def fitted(x: Any, means: Any, is_full: bool, steps: int) -> tuple[Any, ...]:
    """Means, covariances and weights after some steps of expectation and maximization."""
    x, means = x.astype(np.float64), means.astype(np.float64)
    least = 1e-3 * np.eye(2)
    start = np.cov(x.T) + least
    if not is_full:
        # TensorFlow adds the row of variances to the least matrix, and takes the diagonal.
        start = np.diag(np.diag(x.var(0, ddof=1) + least))
    covs, weights = np.stack([start] * 2), np.full(2, 0.5)
    for _ in range(steps):
        logs = []
        for mean, cov, weight in zip(means, covs, weights):
            spread, away = cov + least, x - mean
            away = np.einsum("ni,ij,nj->n", away, np.linalg.inv(spread), away)
            det = np.linalg.slogdet(spread)[1]
            logs.append(np.log(weight) - 0.5 * (away + 2 * np.log(2 * np.pi) + det))
        shares = np.exp(logs - np.logaddexp.reduce(logs))
        counts = shares.sum(1)
        weights, means = counts / counts.sum(), shares @ x / counts[:, None]
        covs = np.einsum("kn,ni,nj->kij", shares, x, x) / counts[:, None, None]
        covs = covs - means[:, :, None] * means[:, None, :] + least
        if not is_full:
            covs = covs * np.eye(2)
    return means, covs, weights


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_steps_by_hand(kind: str) -> None:
    means, covs, weights = fitted(POINTS, STARTS, kind == "full", 15)
    with tf.Graph().as_default(), tf.Session() as session:
        tool = tf.contrib.factorization.GmmAlgorithm(
            [tf.constant(POINTS)], 2, tf.constant(STARTS), covariance_type=kind
        )
        session.run(tf.global_variables_initializer())
        assert not session.run(tool.is_initialized())
        session.run(tool.init_ops())
        for _ in range(15):
            session.run(tool.training_ops())
        found = session.run([tool.clusters(), tool.covariances(), tool.alphas()])
        chosen = session.run(tool.assignments())[0]
    np.testing.assert_allclose(found[0][:, 0], means, atol=1e-3)
    wanted = covs if kind == "full" else np.einsum("kii->ki", covs)
    np.testing.assert_allclose(found[1], wanted, atol=1e-3)
    np.testing.assert_allclose(found[2], weights, atol=1e-4)
    np.testing.assert_array_equal(chosen, np.arange(60) % 2)


def test_what_does_not_change() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        gmm = tf.contrib.factorization.gmm(tf.constant(POINTS), STARTS, 2, 0, params="mc")
        _, scores, _, train, init_op, is_initialized = gmm
        session.run(tf.global_variables_initializer())
        session.run(init_op)
        assert session.run(is_initialized) and session.run(scores).shape == (60, 1)
        names = ("alphas", "clusters", "clusters_covs")
        kept = [next(v for v in tf.global_variables() if v.op.name == name) for name in names]
        before = session.run(kept)
        session.run(train)
        same = [np.array_equal(was, now) for was, now in zip(before, session.run(kept))]
        assert same == [True, False, False]
    with tf.Graph().as_default(), pytest.raises(Exception, match="Invalid covariance type"):
        tf.contrib.factorization.GmmAlgorithm([tf.constant(POINTS)], 2, covariance_type="round")


def inputs(epochs: int | None = None) -> Any:
    return lambda: (tf.train.limit_epochs(tf.constant(POINTS), num_epochs=epochs), None)


def test_an_estimator(tmp_path: Path) -> None:
    mixture = tf.contrib.factorization.GMM(2, str(tmp_path), initial_clusters=STARTS)
    mixture.fit(input_fn=inputs(), steps=15)
    means, covs, weights = fitted(POINTS, STARTS, True, 15)
    np.testing.assert_allclose(mixture.clusters(), means, atol=1e-3)
    np.testing.assert_allclose(mixture.covariances(), covs, atol=1e-3)
    np.testing.assert_allclose(mixture.weights(), weights, atol=1e-4)
    chosen = list(mixture.predict_assignments(input_fn=inputs(1)))
    np.testing.assert_array_equal(chosen, np.arange(60) % 2)
    assert np.isfinite(mixture.score(input_fn=inputs(), steps=1))


def test_k_means_of_learn(tmp_path: Path) -> None:
    means = tf.contrib.learn.KMeansClustering(
        2, str(tmp_path), initial_clusters=STARTS, use_mini_batch=False, relative_tolerance=1e-4
    )
    means.fit(input_fn=inputs(), steps=50)
    assert means.get_variable_value("global_step") < 50
    nearest = np.arange(60) % 2
    wanted = [POINTS[nearest == k].mean(0) for k in range(2)]
    np.testing.assert_allclose(means.clusters(), wanted, atol=1e-3)
    np.testing.assert_array_equal(list(means.predict_cluster_idx(inputs(1))), nearest)
    distances = ((POINTS[:, None] - means.clusters()) ** 2).sum(-1)
    np.testing.assert_allclose(means.transform(inputs(1)), distances, rtol=1e-3, atol=1e-3)
    assert means.score(inputs(), steps=1) == pytest.approx(distances.min(1).sum(), rel=1e-4)
