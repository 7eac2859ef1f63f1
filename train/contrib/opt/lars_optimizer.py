# SPDX-License-Identifier: Apache-2.0
"""Momentum whose rate is scaled, variable by variable, by the sizes of weights and gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....ops.public import raw, tf
from ...optimizers.optimizer import Optimizer
from ...optimizers.update_op_optimizer import tensor_of

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable


@export("contrib.opt.LARSOptimizer")
class LARSOptimizer(Optimizer):
    """Momentum, scaled layer by layer (tf.contrib.opt.LARSOptimizer).

    The rate of a variable is learning_rate * eeta * |var| / (|grad| + weight_decay * |var|), so
    that batches may be large: https://arxiv.org/abs/1708.03888.

    Args:
        learning_rate: a number or a scalar tensor.
        momentum: how much of the accumulation is kept.
        weight_decay: is multiplied by the variable and added to its gradient.
        eeta: the number above.
        epsilon: is added to the divisor.
        name: the scope of the updates, and part of the names of what it keeps.
        skip_list: parts of names of variables that are neither scaled nor decayed, such as
            ["bias"].
        use_nesterov: whether the gradient is taken as at the place where momentum leads.

    Raises:
        ValueError: `momentum` or `weight_decay` is negative.

    Example:
        >>> x = tf.Variable([3.0, 4.0])
        >>> optimizer = tf.contrib.opt.LARSOptimizer(1.0, weight_decay=0.0, eeta=0.5)
        >>> step = optimizer.minimize(tf.reduce_sum(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> print(sess.run(x).round(3))
        [1.232 2.232]
    """

    def __init__(
        self,
        learning_rate: object,
        momentum: float = 0.9,
        weight_decay: float = 0.0001,
        eeta: float = 0.001,
        epsilon: float = 0.0,
        name: str = "LARSOptimizer",
        skip_list: Sequence[str] | None = None,
        use_nesterov: bool = False,
    ) -> None:
        for what, value in (("momentum", momentum), ("weight_decay", weight_decay)):
            if value < 0.0:
                raise ValueError(f"{what} should be positive: {value}")
        super().__init__(False, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def _prepare(self) -> None:
        self._learning_rate_tensor = tensor_of(self, self._learning_rate, "learning_rate")
        self._momentum_tensor = tensor_of(self, self._momentum, "momentum")

    def compute_lr(self, grad: Tensor, var: Any) -> tuple[Any, Any]:
        """The rate of one variable, and its gradient with the decay of weights."""
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return self._learning_rate, grad
        weights, gradient = tf.norm(var, ord=2), tf.norm(grad, ord=2)
        moving = tf.greater(weights, 0)
        known = tf.greater(gradient, 0)
        scaled = self._eeta * weights
        divisor = gradient + self._weight_decay * weights + self._epsilon
        ratio = tf.where(known, scaled / divisor, 1.0)
        trust = tf.where(moving, ratio, 1.0)
        return self._learning_rate * trust, grad + self._weight_decay * var

    # TensorFlow gives the op the whole step as a gradient, at rate one.

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        return self._apply_scaled(raw.ApplyMomentum, grad, var, var, self.get_slot(var, "momentum"))

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Any:
        momentum = self.get_slot(handle, "momentum").handle
        return self._apply_scaled(raw.ResourceApplyMomentum, grad, handle, handle.handle, momentum)

    def _apply_scaled(self, op: Any, grad: Tensor, var: Variable, cell: Any, slot: Any) -> Any:
        rate, decayed = self.compute_lr(grad, var)
        one = tf.cast(1.0, var.dtype.base_dtype)
        options = {"use_locking": False, "use_nesterov": self._use_nesterov}
        return op(cell, slot, one, decayed * rate, self._momentum, **options)

    # Rows are not scaled.

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Operation:
        dtype = var.dtype.base_dtype
        return raw.SparseApplyMomentum(
            var,
            self.get_slot(var, "momentum"),
            tf.cast(self._learning_rate_tensor, dtype),
            grad.values,
            grad.indices,
            tf.cast(self._momentum_tensor, dtype),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        ).op

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Operation:
        return raw.ResourceSparseApplyMomentum(
            handle.handle,
            self.get_slot(handle, "momentum").handle,
            tf.cast(self._learning_rate_tensor, grad.dtype),
            grad,
            indices,
            tf.cast(self._momentum_tensor, grad.dtype),
            use_locking=self._use_locking,
            use_nesterov=self._use_nesterov,
        )
