# SPDX-License-Identifier: Apache-2.0
"""Adam whose averages move only where there is a gradient; Adam that counts by the global step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....engine.types import dtypes
from ....ops.public import raw, tf
from ...optimizers.gradient_descent import AdamOptimizer
from ...optimizers.optimizer import Optimizer
from ...optimizers.update_op_optimizer import by_rule, tensor_of

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable


class _Rows:
    """The numbers of Adam for one variable, and its averages at some rows."""

    def __init__(self, optimizer: Any, dtype: dtypes.DType) -> None:
        numbers = optimizer._numbers(lambda value: tf.cast(value, dtype))
        beta1_power, beta2_power, rate, self.beta1, self.beta2, self.epsilon = numbers
        self.rate = rate * tf.sqrt(1 - beta2_power) / (1 - beta1_power)

    def mean(self, slot: Any, indices: Tensor, grad: Tensor) -> Any:
        """The average of gradients after this one."""
        return self.beta1 * tf.gather(slot, indices) + (1 - self.beta1) * grad

    def square(self, slot: Any, indices: Tensor, grad: Tensor) -> Any:
        """The average of squares after this one."""
        return self.beta2 * tf.gather(slot, indices) + (1 - self.beta2) * tf.square(grad)


def _apply_rows(optimizer: Optimizer, grad: IndexedSlices, var: Variable) -> Operation:
    rows, indices = _Rows(optimizer, var.dtype.base_dtype), grad.indices
    locking = {"use_locking": optimizer._use_locking}
    m = optimizer.get_slot(var, "m")
    m_t = tf.scatter_update(m, indices, rows.mean(m, indices, grad.values), **locking)
    v = optimizer.get_slot(var, "v")
    v_t = tf.scatter_update(v, indices, rows.square(v, indices, grad.values), **locking)
    mean, square = tf.gather(m_t, indices), tf.gather(v_t, indices)
    root = tf.sqrt(square) + rows.epsilon
    update = tf.scatter_sub(var, indices, rows.rate * mean / root, **locking)
    return tf.group(update, m_t, v_t)


def _apply_resource_rows(
    optimizer: Optimizer, grad: Tensor, var: Variable, indices: Tensor
) -> Operation:
    rows = _Rows(optimizer, var.dtype.base_dtype)
    m, v = optimizer.get_slot(var, "m"), optimizer.get_slot(var, "v")
    mean = rows.mean(m, indices, grad)
    m_t = raw.ResourceScatterUpdate(m.handle, indices, mean)
    square = rows.square(v, indices, grad)
    v_t = raw.ResourceScatterUpdate(v.handle, indices, square)
    step = rows.rate * mean / (tf.sqrt(square) + rows.epsilon)
    return tf.group(raw.ResourceScatterSub(var.handle, indices, step), m_t, v_t)


@export("contrib.opt.LazyAdamOptimizer")
class LazyAdamOptimizer(AdamOptimizer):
    """Adam that leaves alone the rows without a gradient (tf.contrib.opt.LazyAdamOptimizer).

    A step of a large embedding costs what its batch costs; averages of rows that are not in it
    do not decay, other than those of `tf.train.AdamOptimizer`.

    Args:
        learning_rate, beta1, beta2, epsilon, use_locking, name: as of `tf.train.AdamOptimizer`.

    Example:
        >>> table = tf.Variable(tf.ones([3, 1]))
        >>> loss = tf.reduce_sum(tf.gather(table, [1]))
        >>> step = tf.contrib.opt.LazyAdamOptimizer(0.25).minimize(loss)
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> print(sess.run(table).ravel())
        [1.   0.75 1.  ]
    """

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        return _apply_rows(self, grad, var)

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Operation:
        return _apply_resource_rows(self, grad, handle, indices)


@export("contrib.opt.AdamGSOptimizer")
@by_rule
class AdamGSOptimizer(Optimizer):
    """Adam that takes its powers from the global step (tf.contrib.opt.AdamGSOptimizer).

    Args:
        global_step: the variable that counts steps, or a number.
        learning_rate, beta1, beta2, epsilon, use_locking, name: as of `tf.train.AdamOptimizer`.

    Example:
        >>> x, step = tf.Variable(4.0), tf.train.get_or_create_global_step()
        >>> optimizer = tf.contrib.opt.AdamGSOptimizer(step, 0.25)
        >>> train = optimizer.minimize(tf.square(x), step)
        >>> print([v.name for v in optimizer.variables()])
        ['Variable/Adam:0', 'Variable/Adam_1:0']
    """

    def __init__(
        self,
        global_step: Any = 0,
        learning_rate: TensorLike = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon
        self._global_step = global_step

    def _get_beta_accumulators(self) -> tuple[Any, Any]:
        step = self._global_step_on_worker
        return tf.pow(self._beta1_t, step), tf.pow(self._beta2_t, step)

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self) -> None:
        self._lr_t = tensor_of(self, self._lr, "learning_rate")
        self._beta1_t = tensor_of(self, self._beta1, "beta1")
        self._beta2_t = tensor_of(self, self._beta2, "beta2")
        self._epsilon_t = tensor_of(self, self._epsilon, "epsilon")
        # The step is counted behind the update, so this one is one more.
        step = tf.identity(self._global_step) + 1
        self._global_step_on_worker = tf.cast(step, dtypes.float32)

    # The rest is Adam's; but no AdamOptimizer is one of these in TensorFlow.
    _numbers = AdamOptimizer._numbers
    _update = AdamOptimizer._update
    _apply_sparse = AdamOptimizer._apply_sparse  # type: ignore[assignment]
    _resource_apply_sparse = AdamOptimizer._resource_apply_sparse  # type: ignore[assignment]
    _apply_sparse_shared = AdamOptimizer._apply_sparse_shared


@export("contrib.opt.LazyAdamGSOptimizer")
class LazyAdamGSOptimizer(AdamGSOptimizer):
    """`LazyAdamOptimizer` that takes its powers from the global step (LazyAdamGSOptimizer).

    Args:
        global_step, learning_rate, beta1, beta2, epsilon, use_locking, name: as of
            `AdamGSOptimizer`.
    """

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:  # type: ignore[override]
        return _apply_rows(self, grad, var)

    def _resource_apply_sparse(  # type: ignore[override]
        self, grad: Tensor, handle: Variable, indices: Tensor
    ) -> Operation:
        return _apply_resource_rows(self, grad, handle, indices)
