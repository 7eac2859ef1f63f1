# SPDX-License-Identifier: Apache-2.0
"""Optimizers for weights that should be zero unless they matter: proximal steps and FTRL."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...ops.public import tf
from .adaptive import require_positive
from .optimizer import Optimizer
from .update_op_optimizer import GRADIENT, Number, Update, UpdateOps, by_rule, tensor_of

_PROXIMAL_GRADIENT_DESCENT = UpdateOps(
    "ApplyProximalGradientDescent",
    "ResourceApplyProximalGradientDescent",
    "SparseApplyProximalGradientDescent",
    "ResourceSparseApplyProximalGradientDescent",
)
_PROXIMAL_ADAGRAD = UpdateOps(
    "ApplyProximalAdagrad",
    "ResourceApplyProximalAdagrad",
    "SparseApplyProximalAdagrad",
    "ResourceSparseApplyProximalAdagrad",
)
_FTRL_V2 = UpdateOps(
    "ApplyFtrlV2", "ResourceApplyFtrlV2", "SparseApplyFtrlV2", "ResourceSparseApplyFtrlV2"
)
_FTRL = UpdateOps("ApplyFtrl", "ResourceApplyFtrl", "SparseApplyFtrl", "ResourceSparseApplyFtrl")

if TYPE_CHECKING:
    from ...ops.state.variables import Variable


@export("train.ProximalGradientDescentOptimizer")
@by_rule
class ProximalGradientDescentOptimizer(Optimizer):
    """A gradient step, then the closest point for the l1 and l2 penalties.

    See http://papers.nips.cc/paper/3793-efficient-learning-using-forward-backward-splitting.pdf
    """

    def __init__(
        self,
        learning_rate: float,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalGradientDescent",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _prepare(self) -> None:
        self._learning_rate_tensor = tensor_of(self, self._learning_rate, "learning_rate")
        self._l1_tensor = tensor_of(self, self._l1, "l1_regularization_strength")
        self._l2_tensor = tensor_of(self, self._l2, "l2_regularization_strength")

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        values = (self._learning_rate_tensor, self._l1_tensor, self._l2_tensor)
        numbers = [number(value) for value in values]
        return Update(_PROXIMAL_GRADIENT_DESCENT, (*numbers, GRADIENT))


@export("train.ProximalAdagradOptimizer")
@by_rule
class ProximalAdagradOptimizer(Optimizer):
    """An Adagrad step, then the closest point for the l1 and l2 penalties."""

    def __init__(
        self,
        learning_rate: float,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "ProximalAdagrad",
    ) -> None:
        require_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            with tf.colocate_with(v):
                initial = tf.constant(
                    self._initial_accumulator_value,
                    shape=v.get_shape(),
                    dtype=v.dtype.base_dtype,
                )
            self._get_or_make_slot(v, initial, "accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = tensor_of(self, self._learning_rate, "learning_rate")
        self._l1_tensor = tensor_of(self, self._l1, "l1_regularization_strength")
        self._l2_tensor = tensor_of(self, self._l2, "l2_regularization_strength")

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        values = (self._learning_rate_tensor, self._l1_tensor, self._l2_tensor)
        numbers = [number(value) for value in values]
        return Update(_PROXIMAL_ADAGRAD, (slot("accumulator"), *numbers, GRADIENT))


@export("train.FtrlOptimizer")
@by_rule
class FtrlOptimizer(Optimizer):
    """Follow the regularized leader, proximal, with optional l2 shrinkage of the gradient.

    See https://www.eecs.tufts.edu/~dsculley/papers/ad-click-prediction.pdf

    Args:
        learning_rate: a number or a scalar tensor.
        learning_rate_power: at most 0; 0 keeps the rate as it is.
        initial_accumulator_value: what the sums of squares begin with, not negative.
        l1_regularization_strength, l2_regularization_strength: not negative.
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.
        accum_name, linear_name: the names of the variables that it keeps.
        l2_shrinkage_regularization_strength: not negative; shrinks also what gets no gradient.

    Raises:
        ValueError: a number is negative, or `learning_rate_power` positive.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.train.FtrlOptimizer(0.25).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(3.5922046)
    """

    def __init__(
        self,
        learning_rate: float,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "Ftrl",
        accum_name: str | None = None,
        linear_name: str | None = None,
        l2_shrinkage_regularization_strength: float = 0.0,
    ) -> None:
        super().__init__(use_locking, name)
        _refuse_negative("initial_accumulator_value", initial_accumulator_value)
        # A step is the rate times the accumulator, which only grows, to this power: rates must not
        # grow with it.
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        _refuse_negative("l1_regularization_strength", l1_regularization_strength)
        _refuse_negative("l2_regularization_strength", l2_regularization_strength)
        shrinkage = l2_shrinkage_regularization_strength
        _refuse_negative("l2_shrinkage_regularization_strength", shrinkage)
        self._learning_rate = learning_rate
        self._power = learning_rate_power
        self._initial_accumulator_value = initial_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength
        self._shrinkage = shrinkage
        self._accum_name = accum_name
        self._linear_name = linear_name

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            with tf.colocate_with(v):
                initial = tf.constant(
                    self._initial_accumulator_value,
                    dtype=v.dtype.base_dtype,
                    shape=v.get_shape(),
                )
                self._get_or_make_slot(v, initial, "accum", self._accum_name or self._name)
                self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = tensor_of(self, self._learning_rate, "learning_rate")
        self._l1_tensor = tensor_of(self, self._l1, "l1_regularization_strength")
        self._l2_tensor = tensor_of(self, self._l2, "l2_regularization_strength")
        self._shrinkage_tensor = tensor_of(
            self, self._shrinkage, "l2_shrinkage_regularization_strength"
        )
        self._power_tensor = tensor_of(self, self._power, "learning_rate_power")

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        # Without shrinkage TensorFlow uses the older op, of one argument less.
        shrinks = self._shrinkage > 0.0
        numbers = [number(self._learning_rate_tensor), number(self._l1_tensor)]
        numbers.append(number(self._l2_tensor))
        if shrinks:
            numbers.append(number(self._shrinkage_tensor))
        numbers.append(number(self._power_tensor))
        ops = _FTRL_V2 if shrinks else _FTRL
        return Update(ops, (slot("accum"), slot("linear"), GRADIENT, *numbers))


def _refuse_negative(name: str, value: float) -> None:
    if value < 0.0:
        raise ValueError(f"{name} {value:f} needs to be positive or zero")
