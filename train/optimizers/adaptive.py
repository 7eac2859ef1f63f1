# SPDX-License-Identifier: Apache-2.0
"""Optimizers that scale each coordinate's step by its history: Adagrad, Adadelta, RMSProp."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...ops.public import tf
from .optimizer import Optimizer
from .update_op_optimizer import GRADIENT, Number, Update, UpdateOps, by_rule, tensor_of

_ADAGRAD = UpdateOps(
    "ApplyAdagrad", "ResourceApplyAdagrad", "SparseApplyAdagrad", "ResourceSparseApplyAdagrad"
)
_ADAGRAD_DA = UpdateOps(
    "ApplyAdagradDA",
    "ResourceApplyAdagradDA",
    "SparseApplyAdagradDA",
    "ResourceSparseApplyAdagradDA",
)
_ADADELTA = UpdateOps(
    "ApplyAdadelta", "ResourceApplyAdadelta", "SparseApplyAdadelta", "ResourceSparseApplyAdadelta"
)
_CENTERED_RMS_PROP = UpdateOps(
    "ApplyCenteredRMSProp",
    "ResourceApplyCenteredRMSProp",
    "SparseApplyCenteredRMSProp",
    "ResourceSparseApplyCenteredRMSProp",
)
_RMS_PROP = UpdateOps(
    "ApplyRMSProp", "ResourceApplyRMSProp", "SparseApplyRMSProp", "ResourceSparseApplyRMSProp"
)

if TYPE_CHECKING:
    from ...engine.types.dtypes import DType
    from ...ops.state.variables import Variable


@export("train.AdagradOptimizer")
@by_rule
class AdagradOptimizer(Optimizer):
    """accumulator += grad ** 2; var -= learning_rate * grad / sqrt(accumulator).

    Args:
        learning_rate: a number, a scalar tensor, or a function without arguments that gives one.
        initial_accumulator_value: what it begins with, a positive number.
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.train.AdagradOptimizer(0.25).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(3.750195)
    """

    def __init__(
        self,
        learning_rate: float,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        require_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            dtype, shape = v.dtype.base_dtype, v.get_shape()
            # A variable of unknown shape has no constant to start from: its slot is filled when it
            # is made.
            initial: Callable[..., Any] = self._filled_like(v, dtype)
            if shape.is_fully_defined():
                initial = tf.constant_initializer(self._initial_accumulator_value, dtype=dtype)
            self._get_or_make_slot_with_initializer(
                v, initial, shape, dtype, "accumulator", self._name
            )

    def _filled_like(self, var: Variable, dtype: DType) -> Callable[[], Any]:
        def filled() -> Any:
            value = tf.fill(tf.shape(var), self._initial_accumulator_value)
            return tf.cast(value, dtype)

        return filled

    def _prepare(self) -> None:
        self._learning_rate_tensor = tensor_of(self, self._learning_rate, "learning_rate")

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        rate = number(self._learning_rate_tensor)
        return Update(_ADAGRAD, (slot("accumulator"), rate, GRADIENT))


@export("train.AdagradDAOptimizer")
@by_rule
class AdagradDAOptimizer(Optimizer):
    """Adagrad by dual averaging: weights follow the sum of all gradients, so l1 gives zeros."""

    def __init__(
        self,
        learning_rate: float,
        global_step: Variable,
        initial_gradient_squared_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        use_locking: bool = False,
        name: str = "AdagradDA",
    ) -> None:
        require_positive(
            "initial_gradient_squared_accumulator_value",
            initial_gradient_squared_accumulator_value,
        )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._global_step = global_step
        self._initial = initial_gradient_squared_accumulator_value
        self._l1_regularization_strength = l1_regularization_strength
        self._l2_regularization_strength = l2_regularization_strength

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            shape, dtype = v.get_shape(), v.dtype.base_dtype
            with tf.colocate_with(v):
                # Constants, so the shape must be known, here and in TensorFlow.
                total = tf.constant(0.0, shape=shape, dtype=dtype)
                squares = tf.constant(self._initial, shape=shape, dtype=dtype)
            self._get_or_make_slot(v, total, "gradient_accumulator", self._name)
            self._get_or_make_slot(v, squares, "gradient_squared_accumulator", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = tensor_of(self, self._learning_rate, "learning_rate")
        # The update happens before the step is counted, so the current step is one more.
        with tf.colocate_with(self._learning_rate_tensor):
            self._global_step_on_worker = tf.identity(self._global_step) + 1

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        with tf.device(var.device):
            step = tf.identity(self._global_step_on_worker)
        slots = (slot("gradient_accumulator"), slot("gradient_squared_accumulator"))
        rate = number(self._learning_rate_tensor)
        l1 = number(self._l1_regularization_strength)
        l2 = number(self._l2_regularization_strength)
        return Update(_ADAGRAD_DA, (*slots, GRADIENT, rate, l1, l2, step))


@export("train.AdadeltaOptimizer")
@by_rule
class AdadeltaOptimizer(Optimizer):
    """Adadelta, https://arxiv.org/abs/1212.5701: steps in units of the variable's own changes.

    Args:
        learning_rate: a number, a scalar tensor, or a function without arguments that gives one.
        rho: how much of the averages is kept: likewise.
        epsilon: a small number, against a division by zero: likewise.
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.train.AdadeltaOptimizer(1.0, epsilon=1e-2).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(3.5534837)
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-08,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._rho = rho
        self._epsilon = epsilon

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "accum", self._name)
            self._zeros_slot(v, "accum_update", self._name)

    def _prepare(self) -> None:
        self._lr_t = tensor_of(self, self._lr, "lr")
        self._rho_t = tensor_of(self, self._rho, "rho")
        self._epsilon_t = tensor_of(self, self._epsilon, "epsilon")

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        numbers = [number(value) for value in (self._lr_t, self._rho_t, self._epsilon_t)]
        return Update(_ADADELTA, (slot("accum"), slot("accum_update"), *numbers, GRADIENT))


@export("train.RMSPropOptimizer")
@by_rule
class RMSPropOptimizer(Optimizer):
    """Divides the gradient by a running average of its size.

    mean_square = decay * mean_square + (1 - decay) * grad ** 2
    mom = momentum * mom + learning_rate * grad / sqrt(mean_square + epsilon)
    var -= mom

    Args:
        learning_rate: a number, a scalar tensor, or a function without arguments that gives one.
        decay, momentum, epsilon: the numbers above: likewise.
        use_locking: whether an update of a variable excludes others.
        centered: whether the average is of the variance: the squared mean gradient is taken off.
        name: the scope of the updates, and part of the names of what it keeps.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.train.RMSPropOptimizer(0.25).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(3.2597668)
    """

    def __init__(
        self,
        learning_rate: float,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._decay = decay
        self._momentum = momentum
        self._epsilon = epsilon
        self._centered = centered

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            dtype, shape = v.dtype.base_dtype, v.get_shape()
            known = shape.is_fully_defined()
            # The average of the squares starts at one as in TensorFlow, not at zero: the first
            # steps are short.
            ones = tf.ones_initializer(dtype=dtype) if known else tf.ones_like(v)
            self._get_or_make_slot_with_initializer(v, ones, shape, dtype, "rms", self._name)
            # Centered: the average of the gradient, "mg", makes the root that of the variance.
            if self._centered:
                self._zeros_slot(v, "mg", self._name)
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = tensor_of(self, self._learning_rate, "learning_rate")
        self._decay_tensor = tensor_of(self, self._decay, "decay")
        self._momentum_tensor = tensor_of(self, self._momentum, "momentum")
        self._epsilon_tensor = tensor_of(self, self._epsilon, "epsilon")

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        slots = [slot("rms"), slot("momentum")]
        numbers = [
            number(self._learning_rate_tensor),
            number(self._decay_tensor),
            number(self._momentum_tensor),
            number(self._epsilon_tensor),
        ]
        if self._centered:
            return Update(_CENTERED_RMS_PROP, (slot("mg"), *slots, *numbers, GRADIENT))
        return Update(_RMS_PROP, (*slots, *numbers, GRADIENT))


def require_positive(name: str, value: float) -> None:
    """Raises ValueError unless `value` is above zero."""
    if value <= 0.0:
        raise ValueError(f"{name} must be positive: {value}")
