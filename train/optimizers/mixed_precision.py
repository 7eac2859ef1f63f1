# SPDX-License-Identifier: Apache-2.0
"""An optimizer whose loss is scaled, and what asks for mixed precision by one call.

TensorFlow rewrites graphs to float16 on GPUs alone.  Here, too, the call wraps the optimizer and
sets the option; graphs stay as they are, but plans on a GPU multiply and convolve in float16, with
sums in float32, and round what comes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.tensor import IndexedSlices
from ...engine.session import mixed_precision
from ...ops import runtime_settings
from ...ops.public import raw, tf
from . import loss_scale as loss_scales
from .optimizer import Optimizer

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...ops.state.variables import Variable

_OPTION = "auto_mixed_precision"


@export("train.experimental.MixedPrecisionLossScaleOptimizer")
class MixedPrecisionLossScaleOptimizer(Optimizer):
    """An optimizer around another one that multiplies the loss and divides its gradients.

    Args:
        opt: the optimizer that updates variables.
        loss_scale: a LossScale, a number, or "dynamic".

    Raises:
        ValueError: `opt` is no optimizer, or the scale is none.

    Example:
        >>> v = tf.Variable(1.0)
        >>> inner = tf.train.GradientDescentOptimizer(0.1)
        >>> outer = tf.train.experimental.MixedPrecisionLossScaleOptimizer(inner, 128)
        >>> step = outer.minimize(v * v)
        >>> with tf.Session() as session:
        ...     _ = session.run(tf.global_variables_initializer())
        ...     _ = session.run(step)
        ...     print(session.run(v))
        0.8
    """

    def __init__(self, opt: Optimizer, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of Optimizer, but got: {type(opt)}')
        self._optimizer = opt
        super().__init__(opt._use_locking, opt.get_name())
        scale = loss_scales.get(loss_scale)
        if scale is None:
            raise ValueError("loss_scale must not be None")
        self._loss_scale = scale
        self._track_trackable(self._optimizer, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    def _doing_dynamic_loss_scaling(self) -> bool:
        return isinstance(self._loss_scale, loss_scales.DynamicLossScale)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[Any]:
        """Pairs of gradients, divided by the scale, and variables."""
        pairs = self._optimizer.compute_gradients(
            loss=self._scale_loss(loss),
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        grads = self._unscale_grads([grad for grad, _ in pairs])
        return [(grad, variable) for grad, (_, variable) in zip(grads, pairs, strict=True)]

    def _scale_loss(self, loss: Any) -> Any:
        scale = self._loss_scale()
        if callable(loss):
            of_loss: Callable[[], Any] = loss
            return lambda: of_loss() * scale
        return loss * scale

    def _unscale_grads(self, grads: list[Any]) -> list[Any]:
        inverse = 1 / self._loss_scale()
        return [None if grad is None else self._scale_grad(grad, inverse) for grad in grads]

    def _scale_grad(self, grad: Any, inverse: Any) -> Any:
        if isinstance(grad, IndexedSlices):
            return IndexedSlices(grad.values * inverse, grad.indices, grad.dense_shape)
        return grad * inverse

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Operation:
        """An operation that applies gradients; where the scale is dynamic, if all are finite.

        Raises:
            ValueError: it is called for all replicas at once.
        """
        from ..distributed.strategy_context import in_cross_replica_context

        if in_cross_replica_context():
            raise ValueError("apply_gradients() must be called in a replica context.")
        if not self._doing_dynamic_loss_scaling():
            return self._optimizer.apply_gradients(grads_and_vars, global_step, name)
        pairs = tuple(grads_and_vars)
        name = self.get_name() if name is None else name
        update, applies = self._loss_scale.update([grad for grad, _ in pairs])

        def apply() -> Operation:
            return self._optimizer.apply_gradients(pairs, global_step, f"{name}-wrapped")

        applied = tf.cond(applies, apply, raw.NoOp)
        return tf.group(applied, update, name=name)

    def _apply_dense(self, grad: Any, var: Variable) -> Any:
        raise RuntimeError("This function should never be called")

    def _apply_sparse(self, grad: Any, var: Variable) -> Any:
        raise RuntimeError("This function should never be called")


@export("train.experimental.enable_mixed_precision_graph_rewrite")
def enable_mixed_precision_graph_rewrite_v1(opt: Optimizer, loss_scale: Any = "dynamic") -> Any:
    """An optimizer with a scaled loss; products and convolutions on GPUs take float16.

    Args:
        opt: the optimizer.
        loss_scale: a LossScale, a number, or "dynamic".

    Returns:
        a MixedPrecisionLossScaleOptimizer around `opt`.

    Raises:
        ValueError: `opt` is no optimizer, or scales its loss already.

    Example:
        >>> inner = tf.train.GradientDescentOptimizer(0.1)
        >>> outer = tf.train.experimental.enable_mixed_precision_graph_rewrite(inner)
        >>> tf.config.optimizer.get_experimental_options()["auto_mixed_precision"]
        True
        >>> tf.train.experimental.disable_mixed_precision_graph_rewrite()
    """
    if isinstance(opt, MixedPrecisionLossScaleOptimizer):
        raise ValueError(
            '"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer. '
            "`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with a "
            "MixedPrecisionLossScaleOptimizer."
        )
    if type(opt).__name__ == "LossScaleOptimizer":
        raise ValueError(
            '"opt" must not already be an instance of a LossScaleOptimizer. '
            "`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with a "
            "LossScaleOptimizer."
        )
    wrapped = _wrapped(opt, loss_scale)
    _rewrite(True)
    return wrapped


def _wrapped(opt: Optimizer, loss_scale: Any) -> Any:
    """The optimizer of a scaled loss, of the same family."""
    if isinstance(opt, Optimizer):
        return MixedPrecisionLossScaleOptimizer(opt, loss_scale)
    # (Imported late: programs without models of Keras need none of it.)
    from ..keras.optimizers import base
    from ..keras.optimizers import loss_scale as of_models

    if isinstance(opt, base.Optimizer):
        return of_models.LossScaleOptimizer(opt, loss_scale)
    raise ValueError(
        '"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, '
        f"but got: {opt}"
    )


@export("train.experimental.disable_mixed_precision_graph_rewrite")
def disable_mixed_precision_graph_rewrite() -> None:
    """Takes the option of graph rewriting back; optimizers stay as they are."""
    _rewrite(False)


def _rewrite(is_on: bool) -> None:
    runtime_settings.set_optimizer_experimental_options({_OPTION: is_on})
    mixed_precision.enable(is_on)


@export("train.experimental.auto_mixed_precision_scope")
@contextmanager
def auto_mixed_precision_scope(select: bool = True) -> Iterator[None]:
    """A scope whose operations may, or may not, be rewritten to float16; here none are.

    Args:
        select: whether they may.
    """
    from ...io import protos

    attr = {"_AutoMixedPrecisionScopeInclude": protos.AttrValue(b=select)}
    with get_default_graph()._attr_scope(attr):
        yield
