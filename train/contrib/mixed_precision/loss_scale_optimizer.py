# SPDX-License-Identifier: Apache-2.0
"""An optimizer that scales the loss up and its gradients down."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....ops.public import raw, tf
from ...optimizers.optimizer import Optimizer

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from .loss_scale_manager import LossScaleManager

Pairs = list[tuple[Any, Any]]


@export("contrib.mixed_precision.LossScaleOptimizer")
class LossScaleOptimizer(Optimizer):
    """Computes gradients of a scaled loss, and leaves out steps in which some are not finite.

    Args:
        opt: the optimizer that applies them.
        loss_scale_manager: what says the scale.

    Example:
        >>> x = tf.Variable(4.0)
        >>> manager = tf.contrib.mixed_precision.FixedLossScaleManager(1000)
        >>> inner = tf.train.GradientDescentOptimizer(0.25)
        >>> step = tf.contrib.mixed_precision.LossScaleOptimizer(inner, manager).minimize(x**2)
        >>> with tf.Session() as sess:
        ...     sess.run(tf.global_variables_initializer())
        ...     sess.run(step)
        ...     print(sess.run(x))
        2.0
    """

    def __init__(self, opt: Optimizer, loss_scale_manager: LossScaleManager) -> None:
        self._opt = opt
        self._loss_scale_manager = loss_scale_manager

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> Pairs:
        """Gradients, scaled down again, and their variables."""
        scale = self._loss_scale_manager.get_loss_scale()
        value = loss() if callable(loss) else loss
        pairs = self._opt.compute_gradients(
            value * tf.cast(scale, value.dtype.base_dtype),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        return self._down_scale(pairs, scale)

    def apply_gradients(
        self, grads_and_vars: Iterable[Any], global_step: Any = None, name: str | None = None
    ) -> Operation:
        """An operation that applies gradients if all are finite, and updates the scale."""
        pairs = list(grads_and_vars)
        finite = tf.reduce_all([tf.reduce_all(raw.IsFinite(gradient)) for gradient, _ in pairs])
        update = tf.cond(
            finite, lambda: self._opt.apply_gradients(pairs, global_step, name), raw.NoOp
        )
        return tf.group(update, self._loss_scale_manager.update_loss_scale(finite))

    def _down_scale(self, grads_vars: Iterable[Any], loss_scale: Any) -> Pairs:
        inverse = raw.Reciprocal(loss_scale)
        return [
            (g if g is None else g * tf.cast(inverse, g.dtype.base_dtype), v) for g, v in grads_vars
        ]
