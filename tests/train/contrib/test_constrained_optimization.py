# SPDX-License-Identifier: Apache-2.0
"""Objectives under constraints: multipliers, projections, and the choice of candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbaflow as tf
from numbaflow.train.contrib.constrained_optimization import external_regret_optimizer as external
from numbaflow.train.contrib.constrained_optimization import swap_regret_optimizer as swap

pytestmark = pytest.mark.cpu


def _problem(x: Any) -> Any:
    constrained = tf.contrib.constrained_optimization

    class Problem(constrained.ConstrainedMinimizationProblem):
        """The sum of squares, with a first number of at least 1."""

        objective = tf.reduce_sum(tf.square(x))
        constraints = tf.stack([1.0 - x[0], x[1] - 5.0])

    return Problem()


@pytest.mark.parametrize(
    "name",
    [
        "AdditiveExternalRegretOptimizer",
        "AdditiveSwapRegretOptimizer",
        "MultiplicativeSwapRegretOptimizer",
    ],
)
@pytest.mark.parametrize("separate", [False, True])
def test_constraints_are_kept_at_last(name: str, separate: bool) -> None:
    descent = tf.train.GradientDescentOptimizer
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.Variable([0.0, 3.0])
        other = descent(0.1) if separate else None
        optimizer = getattr(tf.contrib.constrained_optimization, name)(descent(0.1), other)
        step = tf.train.get_or_create_global_step()
        update = optimizer.minimize(_problem(x), unconstrained_steps=5, global_step=step)
        session.run(tf.global_variables_initializer())
        for _ in range(5):
            session.run(update)
        # Without constraints it has come nearer to zero.
        np.testing.assert_allclose(session.run(x), [0.0, 3.0 * 0.8**5], atol=1e-5)
        for _ in range(1500):
            session.run(update)
        assert session.run(step) == 1505
        np.testing.assert_allclose(session.run(x), [1.0, 0.0], atol=0.05)


def test_problems_of_unknown_or_different_shapes_are_refused() -> None:
    with tf.Graph().as_default():
        problem = type(_problem(tf.Variable([0.0, 0.0])))
        problem.proxy_constraints = tf.zeros([3])
        with pytest.raises(ValueError, match="must have the same shape"):
            print(problem().num_constraints)
        problem.proxy_constraints = tf.placeholder(tf.float32, [None])
        with pytest.raises(ValueError, match="fully-known shapes"):
            print(problem().num_constraints)
        problem.proxy_constraints = tf.zeros([2], tf.float64)
        optimizer = tf.contrib.constrained_optimization.AdditiveSwapRegretOptimizer(
            tf.train.GradientDescentOptimizer(0.1)
        )
        with pytest.raises(ValueError, match="must have the same dtype"):
            optimizer.minimize_constrained(problem())


def test_projections() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        nearest = external._project_multipliers_wrt_euclidean_norm
        found = session.run(nearest(tf.constant([0.25, -0.5, 2.0]), 1.0))
        np.testing.assert_allclose(found, [0.0, 0.0, 1.0], atol=1e-6)
        inside = session.run(nearest(tf.constant([0.25, 0.5]), 1.0))
        np.testing.assert_allclose(inside, [0.25, 0.5])
        matrix = tf.constant([[0.5, -0.5], [1.5, 0.5]])
        found = session.run(swap._project_stochastic_matrix_wrt_euclidean_norm(matrix))
        np.testing.assert_allclose(found, [[0.0, 0.0], [1.0, 1.0]], atol=1e-6)
        logs = session.run(swap._project_log_stochastic_matrix_wrt_kl_divergence(matrix))
        np.testing.assert_allclose(np.exp(logs).sum(0), [1.0, 1.0], rtol=1e-6)
        vector = session.run(
            swap._maximal_eigenvector_power_method(tf.constant([[0.5, 0.25], [0.5, 0.75]]))
        )
        np.testing.assert_allclose(vector / vector.sum(), [1 / 3, 2 / 3], atol=1e-5)
        with pytest.raises(ValueError, match="must be one dimensional"):
            nearest(matrix, 1.0)


def test_candidates_are_mixed_where_none_keeps_all_constraints() -> None:
    constrained = tf.contrib.constrained_optimization
    objectives = np.array([0.0, 1.0, 2.0])
    violations = np.array([[1.0, -1.0, 3.0], [-1.0, 1.0, 3.0]])
    chances = constrained.find_best_candidate_distribution(objectives, violations)
    np.testing.assert_allclose(chances, [0.5, 0.5, 0.0], atol=1e-6)
    # Where nothing keeps them they are violated as little as can be.
    chances = constrained.find_best_candidate_distribution(objectives, violations + 1, 1e-6)
    np.testing.assert_allclose(chances @ (violations + 1).T, [1.0, 1.0], atol=1e-4)
    assert constrained.find_best_candidate_index(objectives, violations) == 0
    assert constrained.find_best_candidate_index([3.0, 1.0, 2.0], violations) == 1
    with pytest.raises(ValueError, match="epsilon must be nonnegative"):
        constrained.find_best_candidate_distribution(objectives, violations, -1.0)
    with pytest.raises(ValueError, match="objective_vector must have shape"):
        constrained.find_best_candidate_index([1.0], violations)
