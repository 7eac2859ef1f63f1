# SPDX-License-Identifier: Apache-2.0
"""Optimizers that shrink variables before they step: weight decay apart from the gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....ops.public import raw, tf
from ...optimizers.gradient_descent import AdamOptimizer, MomentumOptimizer
from ...optimizers.optimizer import Optimizer

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....ops.state.variables import Variable


def _resource_scatter_add(x: Any, i: Tensor, v: Tensor, _: bool) -> Any:
    with tf.control_dependencies([raw.ResourceScatterAdd(x.handle, i, v)]):
        return x.value()


@export("contrib.opt.DecoupledWeightDecayExtension")
class DecoupledWeightDecayExtension:
    """Gives an optimizer weight decay: var -= weight_decay * var, then its step.

    A class with this one and an optimizer as bases, in that order, takes `weight_decay` as its
    first argument (https://arxiv.org/abs/1711.05101); see `extend_with_decoupled_weight_decay`.

    Args:
        weight_decay: a number or a scalar tensor.
        kwargs: the optimizer's arguments.

    Example:
        >>> class Decayed(tf.contrib.opt.DecoupledWeightDecayExtension,
        ...               tf.train.GradientDescentOptimizer):
        ...     pass
        >>> x = tf.Variable(4.0)
        >>> step = Decayed(0.5, learning_rate=0.25).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(x.initializer)
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(0.0)
    """

    def __init__(self, weight_decay: Any, **kwargs: Any) -> None:
        # The variables that decay; all of them if there are none.
        self._decay_var_list: set[Any] | bool | None = None
        self._weight_decay = weight_decay
        self._weight_decay_tensor: Tensor | None = None
        super().__init__(**kwargs)

    def minimize(
        self,
        loss: TensorLike,
        global_step: Variable | None = None,
        var_list: Sequence[Variable] | None = None,
        gate_gradients: int = Optimizer.GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: TensorLike | None = None,
        decay_var_list: Iterable[Variable] | None = None,
    ) -> Operation:
        """Builds the operation that takes one step.

        Args:
            loss, global_step, var_list, gate_gradients, aggregation_method,
                colocate_gradients_with_ops, name, grad_loss: as of `tf.train.Optimizer.minimize`.
            decay_var_list: is forgotten before the step is built, as in TensorFlow: all variables
                decay. Give it to `apply_gradients`.
        """
        self._decay_var_list = set(decay_var_list) if decay_var_list else False
        return super().minimize(  # type: ignore[misc, no-any-return]
            loss,
            global_step=global_step,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            name=name,
            grad_loss=grad_loss,
        )

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | None = None,
        name: str | None = None,
        decay_var_list: Iterable[Variable] | None = None,
    ) -> Operation:
        """Builds the operation that updates variables.

        Args:
            grads_and_vars, global_step, name: as of `tf.train.Optimizer.apply_gradients`.
            decay_var_list: the variables that decay; all if there are none.
        """
        self._decay_var_list = set(decay_var_list) if decay_var_list else False
        return super().apply_gradients(  # type: ignore[misc, no-any-return]
            grads_and_vars, global_step=global_step, name=name
        )

    def _prepare(self) -> None:
        value = self._weight_decay() if callable(self._weight_decay) else self._weight_decay
        self._weight_decay_tensor = tf.convert_to_tensor(value, name="weight_decay")
        super()._prepare()  # type: ignore[misc]

    def _decays(self, var: Variable) -> bool:
        chosen = self._decay_var_list
        return not isinstance(chosen, set) or not chosen or var in chosen

    def _decay_weights_op(self, var: Variable) -> Any:
        if not self._decays(var):
            return tf.no_op()
        return var.assign_sub(self._weight_decay * var, self._use_locking)  # type: ignore[attr-defined]

    def _decay_weights_sparse_op(
        self, var: Variable, indices: Tensor, scatter_add: Callable[..., Any]
    ) -> Any:
        if not self._decays(var):
            return tf.no_op()
        update = -self._weight_decay * tf.gather(var, indices)
        return scatter_add(var, indices, update, self._use_locking)  # type: ignore[attr-defined]

    def _apply_dense(self, grad: Tensor, var: Variable) -> Any:
        with tf.control_dependencies([self._decay_weights_op(var)]):
            return super()._apply_dense(grad, var)  # type: ignore[misc]

    def _resource_apply_dense(self, grad: Tensor, handle: Variable) -> Any:
        with tf.control_dependencies([self._decay_weights_op(handle)]):
            return super()._resource_apply_dense(grad, handle)  # type: ignore[misc]

    def _apply_sparse(self, grad: IndexedSlices, var: Variable) -> Any:
        decay = self._decay_weights_sparse_op(var, grad.indices, tf.scatter_add)
        with tf.control_dependencies([decay]):
            return super()._apply_sparse(grad, var)  # type: ignore[misc]

    def _resource_apply_sparse(self, grad: Tensor, handle: Variable, indices: Tensor) -> Any:
        decay = self._decay_weights_sparse_op(handle, indices, _resource_scatter_add)
        with tf.control_dependencies([decay]):
            return super()._resource_apply_sparse(grad, handle, indices)  # type: ignore[misc]


@export("contrib.opt.extend_with_decoupled_weight_decay")
def extend_with_decoupled_weight_decay(base_optimizer: type[Optimizer]) -> type[Any]:
    """A class of optimizers with weight decay (extend_with_decoupled_weight_decay).

    Args:
        base_optimizer: a class of optimizers.

    Returns:
        A class whose first argument is `weight_decay`; the others are given by name.

    Example:
        >>> MyAdaMaxW = tf.contrib.opt.extend_with_decoupled_weight_decay(
        ...     tf.contrib.opt.AdaMaxOptimizer)
        >>> print(MyAdaMaxW(0.01, learning_rate=0.1).get_name())
        AdaMax
    """

    class OptimizerWithDecoupledWeightDecay(
        DecoupledWeightDecayExtension,
        base_optimizer,  # type: ignore[valid-type, misc]
    ):
        """The base optimizer, with weight decay."""

        def __init__(self, weight_decay: Any, *args: Any, **kwargs: Any) -> None:
            super().__init__(weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


@export("contrib.opt.MomentumWOptimizer")
class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):  # type: ignore[misc]
    """Momentum with weight decay (tf.contrib.opt.MomentumWOptimizer).

    Args:
        weight_decay: a number or a scalar tensor.
        learning_rate, momentum, use_locking, name, use_nesterov: as of
            `tf.train.MomentumOptimizer`.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.contrib.opt.MomentumWOptimizer(0.5, 0.25, 0.9).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(0.0)
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: Any,
        momentum: float,
        use_locking: bool = False,
        name: str = "MomentumW",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            momentum=momentum,
            use_locking=use_locking,
            name=name,
            use_nesterov=use_nesterov,
        )


@export("contrib.opt.AdamWOptimizer")
class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):  # type: ignore[misc]
    """Adam with weight decay (tf.contrib.opt.AdamWOptimizer).

    Args:
        weight_decay: a number or a scalar tensor.
        learning_rate, beta1, beta2, epsilon, use_locking, name: as of `tf.train.AdamOptimizer`.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.contrib.opt.AdamWOptimizer(0.5, 0.25).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(1.75)
    """

    def __init__(
        self,
        weight_decay: Any,
        learning_rate: TensorLike = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        use_locking: bool = False,
        name: str = "AdamW",
    ) -> None:
        super().__init__(
            weight_decay,
            learning_rate=learning_rate,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            use_locking=use_locking,
            name=name,
        )
