# SPDX-License-Identifier: Apache-2.0
"""Gradient descent, momentum and Adam."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.tensor import IndexedSlices, Tensor
from ...ops.public import raw, tf
from .optimizer import Optimizer
from .update_op_optimizer import GRADIENT, Number, Update, UpdateOps, by_rule, tensor_of

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.operation import Operation
    from ...ops.state.variables import Variable

_GRADIENT_DESCENT = UpdateOps("ApplyGradientDescent", "ResourceApplyGradientDescent")
_MOMENTUM = UpdateOps(
    "ApplyMomentum", "ResourceApplyMomentum", "SparseApplyMomentum", "ResourceSparseApplyMomentum"
)
_ADAM = UpdateOps("ApplyAdam", "ResourceApplyAdam")


@export("train.GradientDescentOptimizer")
@by_rule
class GradientDescentOptimizer(Optimizer):
    """Steps against the gradient: var -= learning_rate * grad.

    Args:
        learning_rate: a number, a scalar tensor, or a function without arguments that gives one.
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.train.GradientDescentOptimizer(0.25).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(2.0)
    """

    def __init__(
        self, learning_rate: object, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _prepare(self) -> None:
        self._learning_rate_tensor = tensor_of(self, self._learning_rate, "learning_rate")

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        return Update(_GRADIENT_DESCENT, (number(self._learning_rate_tensor), GRADIENT))

    # Rows of equal index just add up, so they need not be added first.

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Variable) -> Any:
        rate = tf.cast(self._learning_rate_tensor, var.dtype.base_dtype)
        delta = IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Variable, indices: Tensor
    ) -> Operation:
        rate = self._call_if_callable(self._learning_rate)
        return raw.ResourceScatterAdd(handle.handle, indices, -grad * rate)


@export("train.MomentumOptimizer")
@by_rule
class MomentumOptimizer(Optimizer):
    """accumulation = momentum * accumulation + grad; var -= learning_rate * accumulation.

    Args:
        learning_rate: a number, a scalar tensor, or a function without arguments that gives one.
        momentum: how much of the accumulation is kept: likewise.
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.
        use_nesterov: whether the gradient is taken as at the place where momentum is about to lead.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.train.MomentumOptimizer(0.25, momentum=0.9).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(2.0)
    """

    def __init__(
        self,
        learning_rate: object,
        momentum: float,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = tensor_of(self, self._learning_rate, "learning_rate")
        self._momentum_tensor = tensor_of(self, self._momentum, "momentum")

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        rate, momentum = number(self._learning_rate_tensor), number(self._momentum_tensor)
        arguments = (slot("momentum"), rate, GRADIENT, momentum)
        return Update(_MOMENTUM, arguments, {"use_nesterov": self._use_nesterov})


@export("train.AdamOptimizer")
@by_rule
class AdamOptimizer(Optimizer):
    """Adam, https://arxiv.org/abs/1412.6980, with `epsilon` as "epsilon hat" of its section 2.1.

    t += 1
    m = beta1 * m + (1 - beta1) * grad
    v = beta2 * v + (1 - beta2) * grad ** 2
    var -= learning_rate * sqrt(1 - beta2 ** t) / (1 - beta1 ** t) * m / (sqrt(v) + epsilon)

    Args:
        learning_rate: a number, a scalar tensor, or a function without arguments that gives one.
        beta1, beta2, epsilon: the numbers above: likewise.
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.train.AdamOptimizer(0.25).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(3.75)
    """

    def __init__(
        self,
        learning_rate: TensorLike = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        with tf.init_scope():
            graph = tf.get_default_graph()
            return (
                self._get_non_slot_variable("beta1_power", graph),
                self._get_non_slot_variable("beta2_power", graph),
            )

    def _create_slots(self, var_list: list[Any]) -> None:
        # The powers sit with one variable, the same in every run and on every worker.
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, name="beta1_power", colocate_with=first)
        self._create_non_slot_variable(self._beta2, name="beta2_power", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = tensor_of(self, self._lr, "learning_rate")
        self._beta1_t = tensor_of(self, self._beta1, "beta1")
        self._beta2_t = tensor_of(self, self._beta2, "beta2")
        self._epsilon_t = tensor_of(self, self._epsilon, "epsilon")

    def _numbers(self, number: Number) -> list[Any]:
        powers = self._get_beta_accumulators()
        rest = (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return [number(value) for value in (*powers, *rest)]

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        return Update(_ADAM, (slot("m"), slot("v"), *self._numbers(number), GRADIENT))

    # There is no sparse Adam op.  All of m and v decay, so that the step equals the dense one.

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        def scatter_add(x: Variable, i: Tensor, v: Tensor) -> Any:
            return tf.scatter_add(x, i, v, use_locking=self._use_locking)

        return self._apply_sparse_shared(grad.values, var, grad.indices, scatter_add)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Operation:
        def scatter_add(x: Variable, i: Tensor, v: Tensor) -> Any:
            with tf.control_dependencies([raw.ResourceScatterAdd(x.handle, i, v)]):
                return x.value()

        return self._apply_sparse_shared(grad, handle, indices, scatter_add)

    def _apply_sparse_shared(
        self, grad: Tensor, var: Variable, indices: Tensor, scatter_add: Callable[..., Any]
    ) -> Operation:
        dtype = var.dtype.base_dtype
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = self._numbers(
            lambda value: tf.cast(value, dtype)
        )
        # m and v start at zero, which biases them by 1 - beta^t; both corrections are in the rate
        # (the end of section 2 of the paper).
        rate = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)
        locking = self._use_locking

        m = self.get_slot(var, "m")
        scaled = grad * (1 - beta1)
        decayed = tf.assign(m, m * beta1, use_locking=locking)
        with tf.control_dependencies([decayed]):
            m_t = scatter_add(m, indices, scaled)

        v = self.get_slot(var, "v")
        scaled = grad * grad * (1 - beta2)
        decayed = tf.assign(v, v * beta2, use_locking=locking)
        with tf.control_dependencies([decayed]):
            v_t = scatter_add(v, indices, scaled)

        root = tf.sqrt(v_t)
        step = tf.assign_sub(var, rate * m_t / (root + epsilon), use_locking=locking)
        return tf.group(step, m_t, v_t)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        # The powers are shared by all variables: they grow once, after the last update that reads
        # them.
        with tf.control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with tf.colocate_with(beta1_power):
                powers = [
                    power.assign(power * beta, use_locking=self._use_locking)
                    for power, beta in (
                        (beta1_power, self._beta1_t),
                        (beta2_power, self._beta2_t),
                    )
                ]
        return tf.group(*update_ops, *powers, name=name_scope)
