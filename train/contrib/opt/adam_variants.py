# SPDX-License-Identifier: Apache-2.0
"""Adam with Nesterov's momentum, and Adam by the largest gradient; Adagrad with chosen slots."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....ops.public import raw, tf
from ...optimizers.adaptive import AdagradOptimizer
from ...optimizers.gradient_descent import AdamOptimizer
from ...optimizers.update_op_optimizer import GRADIENT, Number, Update, UpdateOps

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable

_ADA_MAX = UpdateOps("ApplyAdaMax", "ResourceApplyAdaMax")
Scatter = Callable[[Any, Tensor, Tensor], Any]


@export("contrib.opt.NadamOptimizer")
class NadamOptimizer(AdamOptimizer):
    """Adam with Nesterov's momentum (tf.contrib.opt.NadamOptimizer).

    Args:
        learning_rate, beta1, beta2, epsilon, use_locking, name: as of `tf.train.AdamOptimizer`.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.contrib.opt.NadamOptimizer(0.25).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> print("%.3f" % sess.run(x))
        3.525
    """

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        ops, arguments, attributes = super()._update(var, slot, number)
        return Update(ops, arguments, {**attributes, "use_nesterov": True})

    def _apply_sparse_shared(
        self, grad: Tensor, var: Variable, indices: Tensor, scatter_add: Scatter
    ) -> Operation:
        dtype = var.dtype.base_dtype
        numbers = self._numbers(lambda value: tf.cast(value, dtype))
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = numbers
        rate = lr * tf.sqrt(1 - beta2_power) / (1 - beta1_power)

        def decayed(slot: Any, beta: Any) -> Any:
            return tf.control_dependencies(
                [tf.assign(slot, slot * beta, use_locking=self._use_locking)]
            )

        m, scaled = self.get_slot(var, "m"), grad * (1 - beta1)
        with decayed(m, beta1):
            m_t = scatter_add(m, indices, scaled)
            # The momentum of the next step, as far as this gradient tells.
            ahead = scaled + beta1 * tf.gather(m_t, indices)
        v, squared = self.get_slot(var, "v"), (grad * grad) * (1 - beta2)
        with decayed(v, beta2):
            v_t = scatter_add(v, indices, squared)
        root = tf.sqrt(tf.gather(v_t, indices))
        update = scatter_add(var, indices, -rate * ahead / (root + epsilon))
        return tf.group(update, ahead, v_t)


@export("contrib.opt.AdaMaxOptimizer")
class AdaMaxOptimizer(AdamOptimizer):
    """Adam by the largest gradient so far (tf.contrib.opt.AdaMaxOptimizer).

    v = max(beta2 * v, abs(grad)) takes the place of the root of the average of squares: section 7.1
    of https://arxiv.org/abs/1412.6980. Rows without a gradient are left alone.

    Args:
        learning_rate, beta1, beta2, epsilon, use_locking, name: as of `tf.train.AdamOptimizer`.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.contrib.opt.AdaMaxOptimizer(0.25).minimize(tf.square(x))
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
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self) -> Any:  # one only: the largest is not biased
        return self._get_non_slot_variable("beta1_power", tf.get_default_graph())

    def _create_slots(self, var_list: list[Any]) -> None:
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, name="beta1_power", colocate_with=first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _numbers(self, number: Number) -> list[Any]:
        rest = (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t)
        return [number(value) for value in (self._get_beta_accumulators(), *rest)]

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        return Update(_ADA_MAX, (slot("m"), slot("v"), *self._numbers(number), GRADIENT))

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        locking = {"use_locking": self._use_locking}
        return self._apply_rows(
            grad.values,
            var,
            grad.indices,
            lambda x, i, v: tf.scatter_add(x, i, v, **locking),
            lambda x, i, v: tf.scatter_update(x, i, v, **locking),
        )

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Operation:
        def behind(scatter: Callable[..., Any]) -> Scatter:
            def scattered(x: Any, i: Tensor, v: Tensor) -> Any:
                with tf.control_dependencies([scatter(x.handle, i, v)]):
                    return x.value()

            return scattered

        add, update = behind(raw.ResourceScatterAdd), behind(raw.ResourceScatterUpdate)
        return self._apply_rows(grad, handle, indices, add, update)

    def _apply_rows(
        self, grad: Tensor, var: Variable, indices: Tensor, add: Scatter, update: Scatter
    ) -> Operation:
        dtype = var.dtype.base_dtype
        power, rate, beta1, beta2, epsilon = self._numbers(lambda value: tf.cast(value, dtype))

        def written(slot: Any, rows: Any) -> Any:
            with tf.control_dependencies([rows]):
                return update(slot, indices, rows)

        m = self.get_slot(var, "m")
        mean = tf.gather(m, indices) * beta1 + grad * (1 - beta1)
        m_t = written(m, mean)
        v = self.get_slot(var, "v")
        largest = tf.maximum(tf.gather(v, indices) * beta2, tf.abs(grad))
        v_t = written(v, largest)
        step = -rate / (1 - power) * (mean / (largest + epsilon))
        with tf.control_dependencies([step]):
            after = add(var, indices, step)
        return tf.group(after, m_t, v_t)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Operation:
        with tf.control_dependencies(update_ops):
            power = self._get_beta_accumulators()
            with tf.colocate_with(power):
                grown = power.assign(power * self._beta1_t, use_locking=self._use_locking)
        return tf.group(*update_ops, grown, name=name_scope)


@export("contrib.opt.RegAdagradOptimizer")
class RegAdagradOptimizer(AdagradOptimizer):
    """Adagrad that can step without counting the gradient (tf.contrib.opt.RegAdagradOptimizer).

    Args:
        learning_rate, initial_accumulator_value, use_locking, name: as of
            `tf.train.AdagradOptimizer`.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.

    Example:
        >>> x, y = tf.Variable(4.0), tf.Variable(4.0)
        >>> optimizer = tf.contrib.opt.RegAdagradOptimizer(0.25)
        >>> with optimizer.avoid_updating_slots():
        ...     regularized = optimizer.minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(regularized)
        >>> print(sess.run(optimizer.get_slot(x, "accumulator")))
        0.1
    """

    def __init__(
        self,
        learning_rate: float,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "RegAdagrad",
    ) -> None:
        super().__init__(learning_rate, initial_accumulator_value, use_locking, name)
        self._should_update_slots = True

    @contextmanager
    def avoid_updating_slots(self) -> Iterator[None]:
        """Within this, updates are built that leave the accumulators as they are."""
        before, self._should_update_slots = self._should_update_slots, False
        try:
            yield
        finally:
            self._should_update_slots = before

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        ops, arguments, attributes = super()._update(var, slot, number)
        return Update(ops, arguments, {**attributes, "update_slots": self._should_update_slots})
