# SPDX-License-Identifier: Apache-2.0
"""Lagrange multipliers that grow by what constraints are violated."""

from __future__ import annotations

import abc
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


def _project_multipliers_wrt_euclidean_norm(multipliers: Any, radius: float) -> Tensor:
    """The nearest multipliers that are not negative and add up to no more than `radius`.

    Michelot's algorithm: what falls below zero is left out, and the rest moves on.
    """
    if not multipliers.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")
    shape = multipliers.shape
    if shape.ndims is None:
        raise ValueError("multipliers must have known shape")
    if shape.ndims != 1:
        raise ValueError(
            f"multipliers must be one dimensional (instead is {shape.ndims}-dimensional)"
        )
    size = shape[0].value
    if size is None:
        raise ValueError("multipliers must have fully-known shape")

    def condition(step: Tensor, values: Tensor, active: Tensor, before: Tensor) -> Tensor:
        return tf.logical_and(step < size, tf.reduce_any(tf.not_equal(active, before)))

    def body(step: Any, values: Any, active: Any, before: Any) -> tuple[Any, ...]:
        step += 1
        scale = tf.minimum(
            0.0, (radius - tf.reduce_sum(values)) / tf.maximum(1.0, tf.reduce_sum(active))
        )
        values = values + scale * active
        new = tf.cast(values > 0, values.dtype)
        return step, values * new, new, active

    active = tf.ones_like(multipliers, dtype=multipliers.dtype)
    start = body(tf.constant(0), multipliers, active, active)
    found = tf.while_loop(condition, body, loop_vars=start, name="euclidean_projection")
    return found[1]  # type: ignore[no-any-return]


class _ExternalRegretOptimizer(ConstrainedOptimizer):
    """A game of the model against multipliers.

    Args:
        optimizer: what updates the variables of the model.
        constraint_optimizer: what updates the multipliers; `optimizer` if None.
    """

    def __init__(self, optimizer: Any, constraint_optimizer: Any = None) -> None:
        super().__init__(optimizer=optimizer)
        self._constraint_optimizer = constraint_optimizer

    @property
    def constraint_optimizer(self) -> Any:
        """What updates the multipliers, or None."""
        return self._constraint_optimizer

    @abc.abstractmethod
    def _initial_state(self, num_constraints: int) -> Tensor: ...

    @abc.abstractmethod
    def _lagrange_multipliers(self, state: Any) -> Any: ...

    @abc.abstractmethod
    def _constraint_grad_and_var(self, state: Any, gradient: Tensor) -> tuple[Any, Any]: ...

    @abc.abstractmethod
    def _projection_op(self, state: Any, name: str | None = None) -> Any: ...

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
            name="external_regret_optimizer_state",
        )
        multipliers = self._lagrange_multipliers(state)
        loss = parts.objective + tf.tensordot(
            tf.cast(multipliers, parts.proxy.dtype), parts.proxy, 1
        )
        gradient = tf.cast(parts.constraints, multipliers.dtype)
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


@export("contrib.constrained_optimization.AdditiveExternalRegretOptimizer")
class AdditiveExternalRegretOptimizer(_ExternalRegretOptimizer):
    """Multipliers that are updated by gradients of the constraints, and kept from below zero.

    Args:
        optimizer: what updates the variables of the model.
        constraint_optimizer: what updates the multipliers; `optimizer` if None.
        maximum_multiplier_radius: what the multipliers add up to at most; anything if None.

    Raises:
        ValueError: `maximum_multiplier_radius` is negative.

    Example:
        >>> constrained = tf.contrib.constrained_optimization
        >>> x = tf.Variable(0.0)
        >>> class Problem(constrained.ConstrainedMinimizationProblem):
        ...     objective = tf.square(x)
        ...     constraints = tf.stack([1.0 - x])
        >>> optimizer = constrained.AdditiveExternalRegretOptimizer(
        ...     tf.train.GradientDescentOptimizer(0.1)
        ... )
        >>> step = optimizer.minimize_constrained(Problem())
        >>> with tf.Session() as sess:
        ...     sess.run(tf.global_variables_initializer())
        ...     for _ in range(200):
        ...         _ = sess.run(step)
        ...     print(f"{sess.run(x):.2f}")
        1.00
    """

    def __init__(
        self,
        optimizer: Any,
        constraint_optimizer: Any = None,
        maximum_multiplier_radius: float | None = None,
    ) -> None:
        super().__init__(optimizer=optimizer, constraint_optimizer=constraint_optimizer)
        if maximum_multiplier_radius and maximum_multiplier_radius <= 0.0:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._maximum_multiplier_radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints: int) -> Tensor:
        return tf.zeros((num_constraints,), dtype=tf.float32)

    def _lagrange_multipliers(self, state: Any) -> Any:
        return state

    def _constraint_grad_and_var(self, state: Any, gradient: Tensor) -> tuple[Any, Any]:
        # The model descends, the multipliers ascend.
        return -gradient, state

    def _projection_op(self, state: Any, name: str | None = None) -> Any:
        with colocate_with(state):
            if self._maximum_multiplier_radius:
                projected = _project_multipliers_wrt_euclidean_norm(
                    state, self._maximum_multiplier_radius
                )
            else:
                projected = tf.maximum(state, 0.0)
            return tf.assign(state, projected, name=name)
