# SPDX-License-Identifier: Apache-2.0
"""Multipliers as the stationary distribution of a stochastic matrix, for constraints with proxies.

A. Cotter, H. Jiang, K. Sridharan: "Two-Player Games for Efficient Non-Convex Constrained
Optimization" (arXiv:1804.06500).
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.scope_functions import colocate_with
from ....ops.public import tf
from ...optimizers.optimizer import Optimizer
from .constrained_optimizer import ConstrainedOptimizer, Parts, apply_both, project_after

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor
    from ....ops.state.variables import Variable
    from .constrained_minimization_problem import ConstrainedMinimizationProblem


def _maximal_eigenvector_power_method(
    matrix: Any, epsilon: float = 1e-6, maximum_iterations: int = 100
) -> Tensor:
    """The eigenvector of the largest eigenvalue, of length 1, by multiplying again and again."""
    if not matrix.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")
    if epsilon <= 0.0:
        raise ValueError("epsilon must be strictly positive")
    if maximum_iterations <= 0:
        raise ValueError("maximum_iterations must be strictly positive")

    def condition(step: Tensor, vector: Any, before: Any) -> Tensor:
        return tf.logical_and(step < maximum_iterations, tf.norm(vector - before) > epsilon)

    def body(step: Any, vector: Any, before: Any) -> tuple[Any, ...]:
        new = tf.matmul(matrix, tf.expand_dims(vector, 1))[:, 0]
        return step + 1, new / tf.norm(new), vector

    vector = tf.ones_like(matrix[:, 0])
    vector = vector / tf.norm(vector)
    start = body(tf.constant(0), vector, vector)
    found = tf.while_loop(condition, body, loop_vars=start, name="power_method")
    return found[1]  # type: ignore[no-any-return]


def _project_stochastic_matrix_wrt_euclidean_norm(matrix: Any) -> Tensor:
    """The nearest matrix whose columns are not negative and add up to 1."""
    if not matrix.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")
    shape = matrix.shape
    if shape.ndims is None:
        raise ValueError("matrix must have known shape")
    if shape.ndims != 2:
        raise ValueError(f"matrix must be two dimensional (instead is {shape.ndims}-dimensional)")
    if shape[0] != shape[1]:
        raise ValueError(f"matrix must be square (instead has shape ({shape[0]},{shape[1]}))")
    size = shape[0].value
    if size is None:
        raise ValueError("matrix must have fully-known shape")

    def condition(step: Tensor, values: Tensor, active: Tensor, before: Tensor) -> Tensor:
        return tf.logical_and(step < size, tf.reduce_any(tf.not_equal(active, before)))

    def body(step: Any, values: Any, active: Any, before: Any) -> tuple[Any, ...]:
        step += 1
        scale = (1.0 - tf.reduce_sum(values, axis=0, keepdims=True)) / tf.maximum(
            1.0, tf.reduce_sum(active, axis=0, keepdims=True)
        )
        values = values + scale * active
        new = tf.cast(values > 0, values.dtype)
        return step, values * new, new, active

    active = tf.ones_like(matrix, dtype=matrix.dtype)
    start = body(tf.constant(0), matrix, active, active)
    found = tf.while_loop(condition, body, loop_vars=start, name="euclidean_projection")
    return found[1]  # type: ignore[no-any-return]


def _project_log_stochastic_matrix_wrt_kl_divergence(log_matrix: Any) -> Tensor:
    """Logarithms of a matrix whose columns add up to 1, in the same proportions."""
    # The largest is 0, so that no exponential overflows.
    log_matrix = log_matrix - tf.reduce_max(log_matrix, axis=0, keepdims=True)
    sums = tf.reduce_sum(tf.exp(log_matrix), axis=0, keepdims=True)
    return log_matrix - tf.log(sums)  # type: ignore[no-any-return]


class _SwapRegretOptimizer(ConstrainedOptimizer):
    """A game of the model against a stochastic matrix.

    Args:
        optimizer: what updates the variables of the model.
        constraint_optimizer: what updates the matrix; `optimizer` if None.
    """

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None) -> None:
        super().__init__(optimizer=optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Any:
        """What updates the matrix, or None."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> Tensor: ...

    @abc.abstractmethod
    def _stochastic_matrix(self, state: Any) -> Any: ...

    @abc.abstractmethod
    def _projection_op(self, state: Any, name: str | None = None) -> Any: ...

    def _distribution(self, state: Any) -> Tensor:
        vector = tf.abs(_maximal_eigenvector_power_method(self._stochastic_matrix(state)))
        return vector / tf.reduce_sum(vector)  # type: ignore[no-any-return]

    def _constraint_grad_and_var(self, state: Any, gradient: Tensor) -> tuple[Any, Any]:
        # The model descends, the matrix ascends.
        return -gradient, state

    def _minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: Any = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Operation:
        parts = Parts(minimization_problem)
        # Of a function, so that what comes before the step does not come before the initializer.
        state = tf.Variable(
            lambda: self._initial_state(parts.count),
            trainable=False,
            # Each use of it is a read of its own, which the updates can come before.
            use_resource=True,
            name="swap_regret_optimizer_state",
        )
        none = tf.zeros((1,), dtype=parts.constraints.dtype)
        constraints = tf.concat((none, parts.constraints), axis=0)
        losses = tf.concat((tf.expand_dims(parts.objective, 0), parts.proxy), axis=0)
        distribution = self._distribution(state)
        loss = tf.tensordot(tf.cast(distribution, losses.dtype), losses, 1)
        gradient = tf.matmul(
            tf.expand_dims(tf.cast(constraints, distribution.dtype), 1),
            tf.expand_dims(distribution, 0),
        )
        gradients = self.optimizer.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        of_state = self._constraint_grad_and_var(state, gradient)
        updates = apply_both(self.optimizer, self.constraint_optimizer, gradients, of_state)
        return project_after(updates, self._projection_op, state, global_step, name)


@export("contrib.constrained_optimization.AdditiveSwapRegretOptimizer")
class AdditiveSwapRegretOptimizer(_SwapRegretOptimizer):
    """A matrix that is updated by gradients, and brought back to a stochastic one.

    Args:
        optimizer: what updates the variables of the model.
        constraint_optimizer: what updates the matrix; `optimizer` if None.
    """

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None) -> None:
        super().__init__(optimizer=optimizer, constraint_optimizer=constraint_optimizer)

    def _initial_state(self, num_constraints: int) -> Tensor:
        # All weight is on the objective.
        size = num_constraints + 1
        return tf.concat((tf.ones((1, size)), tf.zeros((size - 1, size))), axis=0)

    def _stochastic_matrix(self, state: Any) -> Any:
        return state

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        with colocate_with(state):
            projected = _project_stochastic_matrix_wrt_euclidean_norm(state)
            return tf.assign(state, projected, name=name)


@export("contrib.constrained_optimization.MultiplicativeSwapRegretOptimizer")
class MultiplicativeSwapRegretOptimizer(_SwapRegretOptimizer):
    """A matrix whose logarithms are updated by gradients.

    Args:
        optimizer: what updates the variables of the model.
        constraint_optimizer: what updates the logarithms; `optimizer` if None.
        minimum_multiplier_radius: what elements of the matrix keep to, times its size.
        initial_multiplier_radius: what they begin with; the least if None.

    Raises:
        ValueError: a radius is out of range.
    """

    def __init__(
        self,
        optimizer: Any,
        constraint_optimizer: Any = None,
        minimum_multiplier_radius: float = 1e-3,
        initial_multiplier_radius: float | None = None,
    ) -> None:
        super().__init__(optimizer=optimizer, constraint_optimizer=constraint_optimizer)
        least, first = minimum_multiplier_radius, initial_multiplier_radius
        if not 0.0 < least < 1.0:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        if first is not None and (first < least or least > 1.0):
            raise ValueError(
                "initial_multiplier_radius must be in the range [minimum_multiplier_radius,1]"
            )
        self._minimum_multiplier_radius = least
        self._initial_multiplier_radius = least if first is None else first

    def _initial_state(self, num_constraints: int) -> Tensor:
        # As much weight as can be is on the objective.
        size, radius = num_constraints + 1, self._initial_multiplier_radius
        most, least = math.log(1.0 - radius * (size - 1) / size), math.log(radius / size)
        first = tf.constant(most, dtype=tf.float32, shape=(1, size))
        rest = tf.constant(least, dtype=tf.float32, shape=(size - 1, size))
        return tf.concat((first, rest), axis=0)

    def _stochastic_matrix(self, state: Any) -> Tensor:
        return tf.exp(state)

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        with colocate_with(state):
            size = state.shape[0].value
            least = tf.log(self._minimum_multiplier_radius / tf.cast(size, tf.float32))
            projected = _project_log_stochastic_matrix_wrt_kl_divergence(state)
            return tf.assign(state, tf.maximum(projected, least), name=name)
