# SPDX-License-Identifier: Apache-2.0
"""What optimizers under constraints share: steps with them, without, and of both kinds by turns."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.scope_functions import colocate_with
from ....ops.public import tf
from ...optimizers.optimizer import Optimizer

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor
    from ....ops.state.variables import Variable
    from .constrained_minimization_problem import ConstrainedMinimizationProblem


@export("contrib.constrained_optimization.ConstrainedOptimizer")
class ConstrainedOptimizer(abc.ABC):
    """An optimizer under constraints; to be derived from.

    Args:
        optimizer: what updates the variables of the model.
    """

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    @property
    def optimizer(self) -> Any:
        """What updates the variables of the model."""
        return self._optimizer

    @abc.abstractmethod
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
    ) -> Any:
        """The operation of a step."""

    def minimize_constrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: TensorLike | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of a step under the constraints.

        Args:
            minimization_problem: objective and constraints.
            global_step: a variable that counts steps.
            var_list: what is trained; all that can be if None.
            gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss: as of
                Optimizer.minimize.
            name: of the operation.
        """
        with _after(minimization_problem.pre_train_ops):
            return self._minimize_constrained(
                minimization_problem,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            )

    def minimize_unconstrained(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        global_step: TensorLike | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of a step that knows the objective alone; as minimize_constrained."""
        with _after(minimization_problem.pre_train_ops):
            return self.optimizer.minimize(
                minimization_problem.objective,
                global_step=global_step,
                var_list=var_list,
                gate_gradients=gate_gradients,
                aggregation_method=aggregation_method,
                colocate_gradients_with_ops=colocate_gradients_with_ops,
                name=name,
                grad_loss=grad_loss,
            )

    def minimize(
        self,
        minimization_problem: ConstrainedMinimizationProblem,
        unconstrained_steps: Any = None,
        global_step: TensorLike | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """The operation of a step; as minimize_constrained.

        Args:
            unconstrained_steps: how many steps know the objective alone, by `global_step`.

        Raises:
            ValueError: there are such steps, and no `global_step`.
        """
        given: dict[str, Any] = {
            "global_step": global_step,
            "var_list": var_list,
            "gate_gradients": gate_gradients,
            "aggregation_method": aggregation_method,
            "colocate_gradients_with_ops": colocate_gradients_with_ops,
            "name": name,
            "grad_loss": grad_loss,
        }
        if unconstrained_steps is None:
            return self.minimize_constrained(minimization_problem, **given)
        if global_step is None:
            raise ValueError("global_step cannot be None if unconstrained_steps is provided")
        steps = convert_to_tensor(unconstrained_steps)
        return tf.cond(
            tf.cast(global_step, steps.dtype) < steps,
            true_fn=lambda: self.minimize_unconstrained(minimization_problem, **given),
            false_fn=lambda: self.minimize_constrained(minimization_problem, **given),
        )


def _after(operations: Any) -> Any:
    return tf.control_dependencies(operations or [])


class Parts:
    """Objective and constraints as a step has them, the constraints as vectors.

    Raises ValueError where their dtypes differ.
    """

    def __init__(self, problem: ConstrainedMinimizationProblem) -> None:
        self.objective, constraints = problem.objective, problem.constraints
        proxy = problem.proxy_constraints
        proxy = constraints if proxy is None else proxy
        kind = self.objective.dtype.base_dtype
        if kind != constraints.dtype.base_dtype or kind != proxy.dtype.base_dtype:
            raise ValueError(
                "objective, constraints and proxy_constraints must have the same dtype"
            )
        self.count = problem.num_constraints
        self.constraints: Tensor = tf.reshape(constraints, shape=(self.count,))
        self.proxy: Tensor = tf.reshape(proxy, shape=(self.count,))


def apply_both(
    optimizer: Optimizer,
    constraint_optimizer: Any,
    gradients: list[tuple[Any, Any]],
    of_state: tuple[Any, Any],
) -> list[Any]:
    """Updates of the model and of an optimizer's state, by one optimizer or by two."""
    if constraint_optimizer is None:
        return [optimizer.apply_gradients([*gradients, of_state], name="update")]
    # Both see what was there before.
    known = [gradient for gradient, _ in (*gradients, of_state) if gradient is not None]
    with tf.control_dependencies(known):
        return [
            optimizer.apply_gradients(gradients, name="update"),
            constraint_optimizer.apply_gradients([of_state], name="optimizer_state_update"),
        ]


def project_after(
    updates: list[Any],
    project: Callable[..., Any],
    state: Any,
    global_step: TensorLike,
    name: str | None,
) -> Operation:
    """What brings the state back to where it may be, and counts the step."""
    with tf.control_dependencies(updates):
        if global_step is None:
            return project(state, name=name)  # type: ignore[no-any-return]
        projected = project(state, name="project")
        with colocate_with(global_step):
            counted = tf.assign_add(global_step, 1, name="global_step_increment")
        return tf.group(projected, counted, name=name)
