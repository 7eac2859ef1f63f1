# SPDX-License-Identifier: Apache-2.0
"""An optimizer of models that scales the loss, so that small gradients are not 0 in float16."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ....engine.graph.tensor import IndexedSlices
from ....ops.public import raw, tf
from ...layers.weights import track
from ...optimizers import loss_scale as loss_scales
from .base import Optimizer

# What belongs to the optimizer within.
_INNER = frozenset("iterations learning_rate lr".split())


class LossScaleOptimizer(Optimizer):
    """An optimizer around another one that multiplies the loss and divides its gradients.

    Args:
        opt: the optimizer that updates variables.
        loss_scale: a LossScale, a number, or "dynamic".

    Raises:
        ValueError: `opt` is no optimizer of models, or it clips gradients.

    Example:
        >>> v = tf.Variable(1.0)
        >>> inner = tf.keras.optimizers.SGD(0.1)
        >>> outer = tf.keras.mixed_precision.experimental.LossScaleOptimizer(inner, 128)
        >>> step = outer.minimize(lambda: v * v, [v])
        >>> with tf.Session() as session:
        ...     _ = session.run(tf.global_variables_initializer())
        ...     _ = session.run(step)
        ...     print(session.run(v))
        0.8
    """

    def __init__(self, opt: Optimizer, loss_scale: Any) -> None:
        if not isinstance(opt, Optimizer):
            raise ValueError(f'"opt" must be an instance of OptimizerV2, but got: {opt}')
        for name in ("clipnorm", "clipvalue"):
            if name in vars(opt):
                raise ValueError(
                    f"LossScaleOptimizer does not support wrapping optimizers with a {name}. "
                    f"Optimizer {opt} has {name} {getattr(opt, name)}"
                )
        own = vars(self)
        own["_hyper"] = {}
        self._optimizer = opt
        scale = loss_scales.get(loss_scale)
        if scale is None:
            raise ValueError("loss_scale must not be None")
        self._loss_scale = scale
        for weight in loss_scales.get_loss_scale_weights(self._loss_scale):
            track(weight)
        self._track_trackable(self._optimizer, "base_optimizer")
        self._track_trackable(self._loss_scale, "loss_scale")

    def __getattr__(self, name: str) -> Any:
        # (Of what classes of optimizers have besides, only the rate is shown.)
        if name in ("learning_rate", "lr"):
            return getattr(self._optimizer, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _INNER:
            setattr(self._optimizer, name, value)
        else:
            object.__setattr__(self, name, value)

    @property
    def loss_scale(self) -> Any:
        """The scale."""
        return self._loss_scale

    @property
    def iterations(self) -> Any:
        """How often gradients were applied, a variable."""
        return self._optimizer.iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        self._optimizer.iterations = variable

    @property
    def weights(self) -> list[Any]:
        """The variables of the optimizer within."""
        return self._optimizer.weights

    def variables(self) -> list[Any]:
        """The variables of the optimizer within."""
        return self._optimizer.variables()

    def get_slot_names(self) -> list[str]:
        """The names of the slots of the optimizer within."""
        return self._optimizer.get_slot_names()

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Any:
        """Makes a slot of the optimizer within."""
        return self._optimizer.add_slot(var, slot_name, initializer)

    def get_weights(self) -> list[Any]:
        """The values of the variables of the optimizer within."""
        return self._optimizer.get_weights()

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Gives the variables of the optimizer within values."""
        self._optimizer.set_weights(weights)

    def get_scaled_loss(self, loss: Any) -> Any:
        """A loss, or a function that makes one, times the scale."""
        scale = self._loss_scale()

        def scaled(value: Any) -> Any:
            return value * tf.cast(scale, value.dtype)

        return (lambda: scaled(loss())) if callable(loss) else scaled(loss)

    def get_unscaled_gradients(self, grads: Iterable[Any]) -> list[Any]:
        """Gradients over the scale; None stays None."""
        inverse = 1.0 / self._loss_scale()

        def unscaled(grad: Any) -> Any:
            if isinstance(grad, IndexedSlices):
                return IndexedSlices(unscaled(grad.values), grad.indices, grad.dense_shape)
            return None if grad is None else grad * tf.cast(inverse, grad.dtype)

        return [unscaled(grad) for grad in grads]

    def minimize(
        self, loss: Callable[[], Any], var_list: Any, grad_loss: Any = None, name: str | None = None
    ) -> Any:
        """The operation that updates variables by a loss's gradients; see `Optimizer.minimize`."""
        pairs = self._compute_gradients(loss, var_list, grad_loss)
        return self.apply_gradients(pairs, name=name)

    def _compute_gradients(
        self, loss: Any, var_list: Any, grad_loss: Any = None
    ) -> list[tuple[Any, Any]]:
        pairs = self._optimizer._compute_gradients(self.get_scaled_loss(loss), var_list, grad_loss)
        grads = self.get_unscaled_gradients([grad for grad, _ in pairs])
        return [(grad, variable) for grad, (_, variable) in zip(grads, pairs)]

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients of a loss, by way of the scaled one."""
        grads = self._optimizer.get_gradients(self.get_scaled_loss(loss), params)
        return self.get_unscaled_gradients(grads)

    def apply_gradients(self, grads_and_vars: Iterable[Any], name: str | None = None) -> Any:
        """The operation that updates variables, and the scale; only if all gradients are finite."""
        pairs = tuple(grads_and_vars)
        update, applies = self._loss_scale.update([grad for grad, _ in pairs])
        variables = [v for grad, v in pairs if grad is not None]
        with tf.init_scope():
            _ = self._optimizer.iterations
            self._optimizer._create_hypers()
            self._optimizer._create_slots(variables)

        def apply() -> Any:
            return self._optimizer.apply_gradients(list(pairs), name)

        if isinstance(applies, bool):
            applied = apply() if applies else raw.NoOp()
        else:
            applied = tf.cond(applies, apply, raw.NoOp)
        return tf.group(applied, update)

    def get_config(self) -> dict[str, Any]:
        """Not there yet in TensorFlow 1.15, either."""
        raise NotImplementedError("get_config() is not yet implemented for LossScaleOptimizers")

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Not there yet in TensorFlow 1.15, either."""
        raise NotImplementedError("from_config() is not yet implemented for LossScaleOptimizers")
