# SPDX-License-Identifier: Apache-2.0
"""Which of several candidate solutions to take, alone or by chance; by SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....engine.api import export

_SHAPES = (
    "objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the number "
    "of candidates, and m is the number of constraints"
)


def _require_shapes(objectives: Any, constraints: Any) -> tuple[int, int]:
    constraints_count, count = np.shape(constraints)
    if np.shape(objectives) != (count,):
        raise ValueError(_SHAPES)
    return constraints_count, count


def _find_best_candidate_distribution_helper(
    objective_vector: Any, constraints_matrix: Any, maximum_violation: float = 0.0
) -> tuple[Any, str | None]:
    """The best chances of candidates, or None and what SciPy says."""
    if maximum_violation < 0.0:
        raise ValueError("maximum_violation must be nonnegative")
    constraints, count = _require_shapes(objective_vector, constraints_matrix)
    import scipy.optimize

    result = scipy.optimize.linprog(
        objective_vector,
        A_ub=constraints_matrix,
        b_ub=np.full(constraints, maximum_violation),
        A_eq=np.ones((1, count)),
        b_eq=np.ones(1),
        bounds=(0, None),
    )
    return (result.x, None) if result.success else (None, result.message)


@export("contrib.constrained_optimization.find_best_candidate_distribution")
def find_best_candidate_distribution(
    objective_vector: Any, constraints_matrix: Any, epsilon: float = 0.0
) -> Any:
    """Chances of candidates that make the mean objective least, and violate constraints least.

    Args:
        objective_vector: [n], the objective of each candidate.
        constraints_matrix: [m, n], the constraints, which are kept where they are 0 or less.
        epsilon: how near the least violation is found.

    Returns:
        [n], which add up to 1; at most m + 1 of them are not 0.

    Raises:
        ValueError: `epsilon` is negative, or shapes do not fit.

    Example:
        >>> find = tf.contrib.constrained_optimization.find_best_candidate_distribution
        >>> find([1.0, 3.0], [[1.0, -1.0]]).round(3)
        array([0.5, 0.5])
    """
    if epsilon < 0.0:
        raise ValueError("epsilon must be nonnegative")
    found, _ = _find_best_candidate_distribution_helper(objective_vector, constraints_matrix)
    if found is not None:
        return found
    # The best candidate alone can be had with `upper`, and with `lower` nothing can.
    lower, upper = 0.0, float(np.min(np.amax(constraints_matrix, axis=0)))
    best, message = _find_best_candidate_distribution_helper(
        objective_vector, constraints_matrix, upper
    )
    if best is None:
        raise AssertionError(f"no candidate alone is a solution: {message}")
    while True:
        middle = 0.5 * (lower + upper)
        if middle - lower <= epsilon or upper - middle <= epsilon:
            return best
        found, _ = _find_best_candidate_distribution_helper(
            objective_vector, constraints_matrix, middle
        )
        if found is None:
            lower = middle
        else:
            best, upper = found, middle


@export("contrib.constrained_optimization.find_best_candidate_index")
def find_best_candidate_index(
    objective_vector: Any, constraints_matrix: Any, rank_objectives: bool = False
) -> Any:
    """The candidate whose worst rank among all, by each constraint, is best.

    Args:
        objective_vector: [n], the objective of each candidate, which decides among equal ranks.
        constraints_matrix: [m, n], the constraints, which are kept where they are 0 or less.
        rank_objectives: whether the rank by the objective counts, too.

    Returns:
        The number of a candidate.

    Raises:
        ValueError: shapes do not fit.

    Example:
        >>> find = tf.contrib.constrained_optimization.find_best_candidate_index
        >>> find([1.0, 3.0, 2.0], [[1.0, -1.0, 0.0]])
        2
    """
    constraints, count = _require_shapes(objective_vector, constraints_matrix)
    import scipy.stats

    worst = np.zeros(count, dtype=np.int64)
    if rank_objectives:
        worst = scipy.stats.rankdata(objective_vector, method="min")
    for i in range(constraints):
        # How far a constraint is kept does not count.
        violation = np.maximum(0.0, np.asarray(constraints_matrix)[i])
        worst = np.maximum(worst, scipy.stats.rankdata(violation, method="min"))
    best = None
    best_rank: Any = np.inf
    best_objective: Any = np.inf
    for i, (rank, objective) in enumerate(zip(worst, objective_vector, strict=True)):
        if rank < best_rank or (rank == best_rank and objective <= best_objective):
            best, best_rank, best_objective = i, rank, objective
    return best
