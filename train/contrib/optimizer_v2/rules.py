# SPDX-License-Identifier: Apache-2.0
"""The optimizers of `tf.contrib.optimizer_v2`: the rules of those of `tf.train`, with a state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import IndexedSlices, Tensor
from ....ops.public import raw, tf
from ...optimizers import adaptive, gradient_descent
from ...optimizers.update_op_optimizer import GRADIENT, Rule, Update, UpdateOps
from .optimizer_v2 import OptimizerV2

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation
    from ....ops.state.variables import Variable

Named = Callable[[str], Any]


class _Bound(Rule):
    """A rule and a state, which together know what the update of a variable gets."""

    def __init__(self, optimizer: Any, state: Any) -> None:
        self._optimizer, self._state = optimizer, state
        self._use_locking = optimizer._use_locking

    def get_slot(self, var: Any, name: str) -> Any:
        """A slot of the state."""
        return self._state.get_slot(var, name)

    def _update(self, var: Variable, slot: Named, number: Callable[[Any], Any]) -> Update:
        def hyper(name: str) -> Any:
            return number(self._state.get_hyper(name))

        made: Update = self._optimizer._update(slot, hyper)
        return made

    def _numbers(self, number: Callable[[Any], Any]) -> list[Any]:
        """Those of Adam."""
        state = self._state
        powers = [number(state.get_non_slot(name)) for name in ("beta1_power", "beta2_power")]
        names = ("learning_rate", "beta1", "beta2", "epsilon")
        return [*powers, *(number(state.get_hyper(name)) for name in names)]


class _BoundAdam(_Bound):
    """Adam's updates of rows are those of `tf.train.AdamOptimizer`."""

    def _update(self, var: Variable, slot: Named, number: Callable[[Any], Any]) -> Update:
        arguments = (slot("m"), slot("v"), *self._numbers(number), GRADIENT)
        return Update(gradient_descent._ADAM, arguments)

    _apply_sparse_shared = gradient_descent.AdamOptimizer._apply_sparse_shared
    _apply_sparse = gradient_descent.AdamOptimizer._apply_sparse  # type: ignore[assignment]
    _resource_apply_sparse = (
        gradient_descent.AdamOptimizer._resource_apply_sparse  # type: ignore[assignment]
    )


class _RuleOptimizer(OptimizerV2):
    """An optimizer whose update of one variable is one op."""

    _bound: type[_Bound] = _Bound

    def _update(self, slot: Named, hyper: Named) -> Update:
        """The update of a variable from its slots and the hyperparameters, by their names."""
        raise NotImplementedError

    def _apply_dense(self, grad: Tensor, var: Variable, state: object = None) -> Any:
        return self._bound(self, state)._apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Tensor, handle: Variable, state: object = None) -> Any:
        return self._bound(self, state)._resource_apply_dense(grad, handle)

    def _apply_sparse(self, grad: IndexedSlices, var: Variable, state: object = None) -> Any:
        return self._bound(self, state)._apply_sparse(grad, var)

    def _resource_apply_sparse(
        self, grad: Tensor, handle: Variable, indices: Tensor, state: object = None
    ) -> Any:
        return self._bound(self, state)._resource_apply_sparse(grad, handle, indices)


@export("contrib.optimizer_v2.GradientDescentOptimizer")
class GradientDescentOptimizer(_RuleOptimizer):
    """`tf.train.GradientDescentOptimizer` with a state (optimizer_v2.GradientDescentOptimizer).

    Args:
        learning_rate, use_locking, name: as there.
    """

    def __init__(
        self, learning_rate: object, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)

    def _update(self, slot: Named, hyper: Named) -> Update:
        return Update(gradient_descent._GRADIENT_DESCENT, (hyper("learning_rate"), GRADIENT))

    # Rows of equal index just add up.

    def _apply_sparse_duplicate_indices(
        self, grad: IndexedSlices, var: Variable, state: Any = None
    ) -> Any:
        rate = state.get_hyper("learning_rate", var.dtype.base_dtype)
        delta = IndexedSlices(grad.values * rate, grad.indices, grad.dense_shape)
        return var.scatter_sub(delta, use_locking=self._use_locking)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Variable, indices: Tensor, state: Any = None
    ) -> Operation:
        rate = state.get_hyper("learning_rate", grad.dtype.base_dtype)
        return raw.ResourceScatterAdd(handle.handle, indices, -grad * rate)


@export("contrib.optimizer_v2.MomentumOptimizer")
class MomentumOptimizer(_RuleOptimizer):
    """`tf.train.MomentumOptimizer` with a state (tf.contrib.optimizer_v2.MomentumOptimizer).

    Args:
        learning_rate, momentum, use_locking, name, use_nesterov: as there.
    """

    def __init__(
        self,
        learning_rate: object,
        momentum: object,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("momentum", momentum)
        self._use_nesterov = use_nesterov

    def _create_vars(self, var_list: list[Any], state: Any) -> None:
        for v in var_list:
            state.zeros_slot(v, "momentum")

    def _update(self, slot: Named, hyper: Named) -> Update:
        given = (slot("momentum"), hyper("learning_rate"), GRADIENT, hyper("momentum"))
        return Update(gradient_descent._MOMENTUM, given, {"use_nesterov": self._use_nesterov})


@export("contrib.optimizer_v2.AdamOptimizer")
class AdamOptimizer(_RuleOptimizer):
    """`tf.train.AdamOptimizer` with a state (tf.contrib.optimizer_v2.AdamOptimizer).

    Args:
        learning_rate, beta1, beta2, epsilon, use_locking, name: as there.

    Example:
        >>> x = tf.Variable(4.0)
        >>> step = tf.contrib.optimizer_v2.AdamOptimizer(0.25).minimize(tf.square(x))
        >>> sess = tf.Session()
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(x)
        np.float32(3.75)
    """

    _bound = _BoundAdam

    def __init__(
        self,
        learning_rate: object = 0.001,
        beta1: object = 0.9,
        beta2: object = 0.999,
        epsilon: object = 1e-8,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("beta1", beta1)
        self._set_hyper("beta2", beta2)
        self._set_hyper("epsilon", epsilon)

    def _get_beta_accumulators(self, state: Any = None) -> tuple[Any, Any]:
        known = self._get_per_graph_state() if state is None else state
        return known.get_non_slot("beta1_power"), known.get_non_slot("beta2_power")

    def _create_vars(self, var_list: list[Any], state: Any) -> None:
        state.create_non_slot(lambda: state.get_hyper("beta1"), "beta1_power")
        state.create_non_slot(lambda: state.get_hyper("beta2"), "beta2_power")
        for v in var_list:
            state.zeros_slot(v, "m")
            state.zeros_slot(v, "v")

    def _finish(self, state: Any) -> Operation:  # type: ignore[override]
        powers = self._get_beta_accumulators(state)
        grown = [
            power.assign(power * state.get_hyper(name), use_locking=self._use_locking)
            for power, name in zip(powers, ("beta1", "beta2"))
        ]
        return tf.group(*grown)


@export("contrib.optimizer_v2.AdadeltaOptimizer")
class AdadeltaOptimizer(_RuleOptimizer):
    """`tf.train.AdadeltaOptimizer` with a state (tf.contrib.optimizer_v2.AdadeltaOptimizer).

    Args:
        learning_rate, rho, epsilon, use_locking, name: as there.
    """

    def __init__(
        self,
        learning_rate: object = 0.001,
        rho: object = 0.95,
        epsilon: object = 1e-8,
        use_locking: bool = False,
        name: str = "Adadelta",
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("rho", rho)
        self._set_hyper("epsilon", epsilon)

    def _create_vars(self, var_list: list[Any], state: Any) -> None:
        for v in var_list:
            state.zeros_slot(v, "accum")
            state.zeros_slot(v, "accum_update")

    def _update(self, slot: Named, hyper: Named) -> Update:
        numbers = [hyper(name) for name in ("learning_rate", "rho", "epsilon")]
        return Update(adaptive._ADADELTA, (slot("accum"), slot("accum_update"), *numbers, GRADIENT))


@export("contrib.optimizer_v2.AdagradOptimizer")
class AdagradOptimizer(_RuleOptimizer):
    """`tf.train.AdagradOptimizer` with a state (tf.contrib.optimizer_v2.AdagradOptimizer).

    Args:
        learning_rate, initial_accumulator_value, use_locking, name: as there.

    Raises:
        ValueError: `initial_accumulator_value` is not positive.
    """

    def __init__(
        self,
        learning_rate: object,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ) -> None:
        adaptive.require_positive("initial_accumulator_value", initial_accumulator_value)
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._initial_accumulator_value = initial_accumulator_value

    def _filled(self, v: Any, dtype: Any) -> Callable[[], Any]:
        return lambda: tf.cast(tf.fill(tf.shape(v), self._initial_accumulator_value), dtype)

    def _create_vars(self, var_list: list[Any], state: Any) -> None:
        for v in var_list:
            dtype, shape = v.dtype.base_dtype, v.get_shape()
            initial: Any = self._filled(v, dtype)
            if shape.is_fully_defined():
                initial = tf.constant_initializer(self._initial_accumulator_value, dtype=dtype)
            state.create_slot_with_initializer(v, initial, shape, dtype, "accumulator")

    def _update(self, slot: Named, hyper: Named) -> Update:
        return Update(adaptive._ADAGRAD, (slot("accumulator"), hyper("learning_rate"), GRADIENT))


@export("contrib.optimizer_v2.RMSPropOptimizer")
class RMSPropOptimizer(_RuleOptimizer):
    """`tf.train.RMSPropOptimizer` with a state (tf.contrib.optimizer_v2.RMSPropOptimizer).

    `epsilon` is what the average of squares begins with, and is not added to it later.

    Args:
        learning_rate, decay, momentum, epsilon, use_locking, centered, name: as there otherwise.
    """

    def __init__(
        self,
        learning_rate: object,
        decay: object = 0.9,
        momentum: object = 0.0,
        epsilon: object = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        super().__init__(use_locking, name)
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("decay", decay)
        self._set_hyper("momentum", momentum)
        self._set_hyper("epsilon", epsilon)
        self._centered = centered

    def _create_vars(self, var_list: list[Any], state: Any) -> None:
        for v in var_list:
            dtype = v.dtype.base_dtype
            first = state.get_hyper("epsilon", dtype) * tf.ones_like(v)
            state.create_slot_with_initializer(v, first, v.get_shape(), dtype, "rms")
            if self._centered:
                state.zeros_slot(v, "mg")
            state.zeros_slot(v, "momentum")

    def _update(self, slot: Named, hyper: Named) -> Update:
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        ops: UpdateOps = adaptive._CENTERED_RMS_PROP if self._centered else adaptive._RMS_PROP
        numbers = [hyper(name) for name in ("learning_rate", "decay", "momentum")]
        return Update(ops, (*(slot(name) for name in names), *numbers, 0, GRADIENT))
