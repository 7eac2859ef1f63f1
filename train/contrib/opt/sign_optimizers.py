# SPDX-License-Identifier: Apache-2.0
"""Steps that are larger where a gradient has the sign of its moving average."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.operation import Operation
from ....engine.graph.tensor import Tensor
from ....ops.public import tf
from ...optimizers.optimizer import Optimizer
from ...optimizers.update_op_optimizer import (
    GRADIENT,
    Number,
    Update,
    UpdateOps,
    by_rule,
    tensor_of,
)
from .sign_decay import Decay

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ....ops.state.variables import Variable


@by_rule
class _SignOptimizer(Optimizer):
    """What both share: the moving average, the decay of signs, and updates of rows."""

    _ops: UpdateOps
    _beta_t: Tensor
    _lr_t: Tensor
    _sign_decay_t: Tensor

    def __init__(
        self,
        learning_rate: object,
        beta: float,
        sign_decay_fn: Decay | None,
        use_locking: bool,
        name: str,
    ) -> None:
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Variable | None = None,
        name: str | None = None,
    ) -> Operation:
        """Updates variables; the decay of signs needs `global_step`."""
        if self._sign_decay_fn is not None:
            decay = self._sign_decay_fn(global_step)
            self._sign_decay_t = tf.convert_to_tensor(decay, name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list: list[Any]) -> None:
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare(self) -> None:
        self._lr_t = tf.convert_to_tensor(self._lr, name="learning_rate")
        self._beta_t = tf.convert_to_tensor(self._beta, name="beta")
        self._prepare_scale()
        if self._sign_decay_fn is None:
            self._sign_decay_t = tf.convert_to_tensor(1.0, name="sign_decay")

    def _prepare_scale(self) -> None:
        raise NotImplementedError

    def _scale(self, number: Number) -> Any:
        """The number that says how much agreeing signs count."""
        raise NotImplementedError

    def _factors(self, number: Number) -> Callable[[Any], Any]:
        """A function of agreeing signs: what gradients are multiplied by beside the rate."""
        raise NotImplementedError

    def _apply_sparse(self, grad: Any, var: Variable) -> Operation:
        dtype = var.dtype.base_dtype

        def number(value: object) -> Any:
            return tf.cast(value, dtype)

        rate, factors, beta = number(self._lr_t), self._factors(number), number(self._beta_t)
        m = self.get_slot(var, "m")
        # All of the average decays, also where there is no gradient.
        average = m * beta + grad * (1 - beta)
        m_t = tf.assign(m, average, use_locking=self._use_locking)
        sign = tf.sign(grad.values)
        agreement = tf.gather(tf.sign(m_t), grad.indices) * sign
        step = rate * factors(agreement) * grad.values
        update = tf.scatter_sub(var, grad.indices, step, use_locking=self._use_locking)
        return tf.group(update, m_t)

    # TensorFlow has no update of rows of resource variables either.
    _resource_apply_sparse = Optimizer._resource_apply_sparse

    def _update(self, var: Variable, slot: Callable[[str], Any], number: Number) -> Update:
        rate, scale = number(self._lr_t), self._scale(number)
        numbers = (rate, scale, number(self._sign_decay_t), number(self._beta_t))
        return Update(self._ops, (slot("m"), *numbers, GRADIENT))


@export("contrib.opt.AddSignOptimizer")
class AddSignOptimizer(_SignOptimizer):
    """var -= lr * (alpha + decay * sign(grad) * sign(m)) * grad (tf.contrib.opt.AddSignOptimizer).

    m is the moving average of gradients; https://arxiv.org/abs/1709.07417.

    Args:
        learning_rate: a number or a scalar tensor.
        alpha: likewise, the number above.
        beta: likewise: how much of the average is kept.
        sign_decay_fn: a function of the global step that gives the decay; one if None.
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.contrib.opt.AddSignOptimizer(0.125).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(2.0)
    """

    _ops = UpdateOps("ApplyAddSign", "ResourceApplyAddSign")

    def __init__(
        self,
        learning_rate: object = 0.1,
        alpha: float = 1.0,
        beta: float = 0.9,
        sign_decay_fn: Decay | None = None,
        use_locking: bool = False,
        name: str = "AddSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _prepare_scale(self) -> None:
        self._alpha_t = tensor_of(self, self._alpha, "alpha")

    def _scale(self, number: Number) -> Any:
        return number(self._alpha_t)

    def _factors(self, number: Number) -> Callable[[Any], Any]:
        scale = self._scale(number)
        return lambda agreement: scale + number(self._sign_decay_t) * agreement


@export("contrib.opt.PowerSignOptimizer")
class PowerSignOptimizer(_SignOptimizer):
    """var -= lr * base ** (decay * sign(grad) * sign(m)) * grad (contrib.opt.PowerSignOptimizer).

    m is the moving average of gradients; https://arxiv.org/abs/1709.07417.

    Args:
        learning_rate: a number or a scalar tensor.
        base: a number, as above.
        beta: a number or a scalar tensor: how much of the average is kept.
        sign_decay_fn: a function of the global step that gives the decay; one if None.
        use_locking: whether an update of a variable excludes others.
        name: the scope of the updates, and part of the names of what it keeps.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.contrib.opt.PowerSignOptimizer(0.125, base=2.0).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(2.0)
    """

    _ops = UpdateOps("ApplyPowerSign", "ResourceApplyPowerSign")

    def __init__(
        self,
        learning_rate: object = 0.1,
        base: float = math.e,
        beta: float = 0.9,
        sign_decay_fn: Decay | None = None,
        use_locking: bool = False,
        name: str = "PowerSignOptimizer",
    ) -> None:
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = math.log(base)

    def _prepare_scale(self) -> None:
        self._logbase_t = tf.convert_to_tensor(self._logbase, name="logbase")

    def _scale(self, number: Number) -> Any:
        return number(self._logbase_t)

    def _factors(self, number: Number) -> Callable[[Any], Any]:
        scale, base = self._scale(number), number(math.e)
        return lambda agreement: tf.pow(base, scale * number(self._sign_decay_t) * agreement)
