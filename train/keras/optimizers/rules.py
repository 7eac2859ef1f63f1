# SPDX-License-Identifier: Apache-2.0
"""The optimizers themselves: hyperparameters, slots, and how a variable or its rows are updated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....engine.graph.tensor import Tensor
from ....ops.public import raw as raw_ops
from ....ops.public import tf
from ..backend.settings import epsilon as default_epsilon
from .base import Optimizer, State
from .schedules import LearningRateSchedule

# (Handles and numbers come as lists, which signatures of single ops cannot follow.)
raw: Any = raw_ops


class Rule(Optimizer):
    """What the optimizers here have in common.

    `_numbers` are hyperparameters that a step reads, `_others` the other arguments.
    """

    _numbers: tuple[str, ...] = ()
    _others: tuple[str, ...] = ()

    def _begin(
        self, name: str, options: dict[str, Any], learning_rate: Any, **numbers: Any
    ) -> None:
        Optimizer.__init__(self, name, **options)
        self._set_hyper("learning_rate", options.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        for key, value in numbers.items():
            self._set_hyper(key, value)

    # The order in which TensorFlow makes the numbers of a step: seeds of layers that are made
    # behind it depend on how many nodes there are.
    _order: tuple[str, ...] = ()

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        given = super()._coefficients(dtype)
        for name in self._order or self._numbers:
            if name == "epsilon":
                given[name] = tf.convert_to_tensor(self.epsilon, dtype)
            elif name == "neg_lr_t":
                given[name] = -given["lr_t"]
            elif name == "zero":
                given[name] = tf.zeros((), dtype=tf.int64)
            elif name.startswith("one_minus_"):
                given[name] = 1 - given[name.removeprefix("one_minus_")]
            else:
                given[name] = tf.identity(self._get_hyper(name.removesuffix("_t"), dtype))
        return given

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any = None) -> Any:
        return self._apply(grad, handle, self._given(handle, apply_state))

    def _resource_apply_sparse(
        self, grad: Any, handle: Any, indices: Any, apply_state: Any = None
    ) -> Any:
        return self._apply_rows(grad, handle, indices, self._given(handle, apply_state))

    def _apply(self, gradient: Any, variable: Any, given: dict[str, Any]) -> Any:
        """The operation that updates one variable by a gradient and the numbers of a step."""
        raise NotImplementedError

    def _apply_rows(self, gradient: Any, variable: Any, indices: Any, given: dict[str, Any]) -> Any:
        """The same for some rows, each of which comes once."""
        raise NotImplementedError

    def _handles(self, variable: Any, *names: str) -> list[Any]:
        slots = [self.get_slot(variable, name) for name in names or self._slots_of]
        return [variable.handle, *(slot.handle for slot in slots)]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """As Optimizer's; files of older Keras have no step counter."""
        if len(self.weights) == len(weights) + 1:
            weights = [np.array(0), *weights]
        super().set_weights(weights)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        numbers = ("learning_rate", "decay", *self._numbers)
        return {
            **super().get_config(),
            **{name: self._serialize_hyperparameter(name) for name in numbers},
            **{name: getattr(self, name) for name in self._others},
        }


def _is_used(momentum: Any) -> bool:
    """Whether there is momentum; ValueError for a number that is not in [0, 1]."""
    if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
        raise ValueError("`momentum` must be between [0, 1].")
    return isinstance(momentum, Tensor) or callable(momentum) or momentum > 0


class SGD(Rule):
    """Gradient descent, with momentum if it is positive.

    Args:
        learning_rate: a number, a tensor, a function or a schedule.
        momentum: the share of the last step that is made again.
        nesterov: whether Nesterov's momentum is used.
        name, lr, decay, clipnorm, clipvalue: as of Optimizer.
    """

    _numbers = ("momentum",)
    _others = ("nesterov",)

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: Any = 0.0,
        nesterov: bool = False,
        name: str = "SGD",
        **kwargs: Any,
    ) -> None:
        self._begin(name, kwargs, learning_rate, momentum=momentum)
        self._has_momentum = _is_used(momentum)
        self._slots_of = ("momentum",) if self._has_momentum else ()
        self.nesterov = nesterov

    def _apply(self, gradient: Any, variable: Any, given: dict[str, Any]) -> Any:
        if not self._has_momentum:
            return raw.ResourceApplyGradientDescent(
                variable.handle, given["lr_t"], gradient, use_locking=True
            )
        return raw.ResourceApplyKerasMomentum(
            *self._handles(variable),
            given["lr_t"],
            gradient,
            given["momentum"],
            use_locking=True,
            use_nesterov=self.nesterov,
        )

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, handle: Any, indices: Any, **kwargs: Any
    ) -> Any:
        if self._has_momentum:
            return super()._resource_apply_sparse_duplicate_indices(grad, handle, indices, **kwargs)
        given = self._given(handle, kwargs.get("apply_state"))
        return raw.ResourceScatterAdd(handle.handle, indices, -grad * given["lr_t"])

    def _apply_rows(self, gradient: Any, variable: Any, indices: Any, given: dict[str, Any]) -> Any:
        return raw.ResourceSparseApplyKerasMomentum(
            *self._handles(variable),
            given["lr_t"],
            gradient,
            indices,
            given["momentum"],
            use_locking=True,
            use_nesterov=self.nesterov,
        )


class RMSprop(Rule):
    """Gradients over the root of their mean square.

    Args:
        learning_rate: a number, a tensor, a function or a schedule.
        rho: the share of the last mean that is kept.
        momentum: the share of the last step that is made again.
        epsilon: added to the root; that of settings if None.
        centered: whether the variance takes the place of the mean square.
        name, lr, decay, clipnorm, clipvalue: as of Optimizer.
    """

    _numbers = ("rho", "momentum")
    _others = ("epsilon", "centered")
    _order = ("rho", "neg_lr_t", "epsilon", "momentum", "one_minus_rho")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        name: str = "RMSprop",
        **kwargs: Any,
    ) -> None:
        self._begin(name, kwargs, learning_rate, rho=rho, momentum=momentum)
        self._has_momentum = _is_used(momentum)
        self.epsilon = epsilon or default_epsilon()
        self.centered = centered
        momentum_slot = ("momentum",) if self._has_momentum else ()
        self._slots_of = ("rms", *momentum_slot, *(("mg",) if centered else ()))

    def _fused(self, variable: Any, form: str, *given: Any) -> Any:
        """The update with momentum by an op of TensorFlow's."""
        if self.centered:
            handles = self._handles(variable, "mg", "rms", "momentum")
            op = getattr(raw, f"Resource{form}CenteredRMSProp")
        else:
            handles = self._handles(variable, "rms", "momentum")
            op = getattr(raw, f"Resource{form}RMSProp")
        return op(*handles, *given, use_locking=True)

    def _apply(self, gradient: Any, variable: Any, given: dict[str, Any]) -> Any:
        numbers = [given[key] for key in ("lr_t", "rho", "momentum", "epsilon")]
        if self._has_momentum:
            return self._fused(variable, "Apply", *numbers, gradient)
        rho, rms = given["rho"], self.get_slot(variable, "rms")
        square = rms.assign(rho * rms + given["one_minus_rho"] * tf.square(gradient))
        if self.centered:
            mean = self.get_slot(variable, "mg")
            mean = mean.assign(rho * mean + given["one_minus_rho"] * gradient)
            square = square - tf.square(mean)
        step = given["lr_t"] * gradient / (tf.sqrt(square) + given["epsilon"])
        return variable.assign(variable - step)

    def _apply_rows(self, gradient: Any, variable: Any, indices: Any, given: dict[str, Any]) -> Any:
        numbers = [given[key] for key in ("lr_t", "rho", "momentum", "epsilon")]
        if self._has_momentum:
            return self._fused(variable, "SparseApply", *numbers, gradient, indices)
        rho, updates = given["rho"], []

        def moved(slot: Any, rows: Any) -> Any:
            rows = rows * given["one_minus_rho"]
            with tf.control_dependencies([slot.assign(slot * rho)]):
                whole = self._resource_scatter_add(slot, indices, rows)
                updates.append(whole)
                return tf.gather(whole, indices)

        square = moved(self.get_slot(variable, "rms"), gradient * gradient)
        if self.centered:
            square = square - tf.square(moved(self.get_slot(variable, "mg"), gradient))
        step = given["neg_lr_t"] * gradient / (tf.sqrt(square) + given["epsilon"])
        return tf.group(self._resource_scatter_add(variable, indices, step), *updates)


class Adam(Rule):
    """Adam, of arXiv 1412.6980.

    Args:
        learning_rate: a number, a tensor, a function or a schedule.
        beta_1, beta_2: the shares of the means of gradients and of squares that are kept.
        epsilon: added to the root; that of settings if None.
        amsgrad: whether the largest mean of squares so far counts.
        name, lr, decay, clipnorm, clipvalue: as of Optimizer.
    """

    _numbers = ("beta_1", "beta_2")
    _others = ("epsilon", "amsgrad")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        name: str = "Adam",
        **kwargs: Any,
    ) -> None:
        self._begin(name, kwargs, learning_rate, beta_1=beta_1, beta_2=beta_2)
        self.epsilon = epsilon or default_epsilon()
        self.amsgrad = amsgrad
        self._slots_of = ("m", "v", "vhat") if amsgrad else ("m", "v")

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        given = Optimizer._coefficients(self, dtype)
        step = tf.cast(self.iterations + 1, dtype)
        for name in self._numbers:
            given[f"{name}_t"] = tf.identity(self._get_hyper(name, dtype))
        for number in (1, 2):
            given[f"beta_{number}_power"] = tf.pow(given[f"beta_{number}_t"], step)
        root = tf.sqrt(1 - given["beta_2_power"])
        given["lr"] = given["lr_t"] * (root / (1 - given["beta_1_power"]))
        given["epsilon"] = tf.convert_to_tensor(self.epsilon, dtype)
        for name in self._numbers:
            given[f"one_minus_{name}_t"] = 1 - given[f"{name}_t"]
        return given

    def set_weights(self, weights: Sequence[Any]) -> None:
        """As Optimizer's; files of older Keras have three slots and use two."""
        variables = (len(self.weights) - 1) // 2
        if len(weights) == 3 * variables + 1:
            weights = weights[: len(self.weights)]
        super().set_weights(weights)

    def _apply(self, gradient: Any, variable: Any, given: dict[str, Any]) -> Any:
        op = raw.ResourceApplyAdamWithAmsgrad if self.amsgrad else raw.ResourceApplyAdam
        numbers = ("beta_1_power", "beta_2_power", "lr_t", "beta_1_t", "beta_2_t", "epsilon")
        handles = self._handles(variable)
        return op(*handles, *(given[key] for key in numbers), gradient, use_locking=True)

    def _apply_rows(self, gradient: Any, variable: Any, indices: Any, given: dict[str, Any]) -> Any:
        def moved(name: str, rows: Any, beta: str) -> Any:
            slot = self.get_slot(variable, name)
            rows = rows * given[f"one_minus_{beta}_t"]
            with tf.control_dependencies([slot.assign(slot * given[f"{beta}_t"])]):
                return self._resource_scatter_add(slot, indices, rows)

        m = moved("m", gradient, "beta_1")
        v = moved("v", gradient * gradient, "beta_2")
        updates, largest = [m, v], v
        if self.amsgrad:
            slot = self.get_slot(variable, "vhat")
            largest = tf.maximum(slot, v)
            with tf.control_dependencies([largest]):
                largest = slot.assign(largest)
            updates.append(largest)
        root = tf.sqrt(largest)
        step = given["lr"] * m / (root + given["epsilon"])
        return tf.group(variable.assign_sub(step), *updates)


class Adamax(Rule):
    """Adam with the largest gradient instead of the mean of squares; arguments as Adam's."""

    _numbers = ("beta_1", "beta_2")
    _others = ("epsilon",)
    _slots_of = ("m", "v")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float = 1e-7,
        name: str = "Adamax",
        **kwargs: Any,
    ) -> None:
        self._begin(name, kwargs, learning_rate, beta_1=beta_1, beta_2=beta_2)
        self.epsilon = epsilon or default_epsilon()

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        given = Optimizer._coefficients(self, dtype)
        step = tf.cast(self.iterations + 1, dtype)
        for name in self._numbers:
            given[f"{name}_t"] = tf.identity(self._get_hyper(name, dtype))
        given["beta_1_power"] = tf.pow(given["beta_1_t"], step)
        given["neg_scaled_lr"] = -given["lr_t"] / (1 - given["beta_1_power"])
        given["epsilon"] = tf.convert_to_tensor(self.epsilon, dtype)
        given["one_minus_beta_1_t"] = 1 - given["beta_1_t"]
        given["zero"] = tf.zeros((), dtype=tf.int64)
        return given

    def _apply(self, gradient: Any, variable: Any, given: dict[str, Any]) -> Any:
        numbers = ("beta_1_power", "lr_t", "beta_1_t", "beta_2_t", "epsilon")
        handles = self._handles(variable)
        return raw.ResourceApplyAdaMax(
            *handles, *(given[key] for key in numbers), gradient, use_locking=True
        )

    def _apply_rows(self, gradient: Any, variable: Any, indices: Any, given: dict[str, Any]) -> Any:
        def rows(slot: Any) -> Any:
            return tf.gather(slot, indices, axis=given["zero"])

        def kept(slot: Any, value: Any) -> Any:
            with tf.control_dependencies([value]):
                return self._resource_scatter_update(slot, indices, value)

        m, v = (self.get_slot(variable, name) for name in self._slots_of)
        mean = rows(m) * given["beta_1_t"] + gradient * given["one_minus_beta_1_t"]
        updates = [kept(m, mean)]
        largest = tf.maximum(rows(v) * given["beta_2_t"], tf.abs(gradient))
        updates.append(kept(v, largest))
        step = given["neg_scaled_lr"] * (mean / (largest + given["epsilon"]))
        with tf.control_dependencies([step]):
            moved = self._resource_scatter_add(variable, indices, step)
        return tf.group(moved, *updates)


class Nadam(Rule):
    """Adam with Nesterov's momentum; arguments as Adam's, but no schedule."""

    _numbers = ("beta_1", "beta_2")
    _others = ("epsilon",)
    _order = ("beta_1_t", "beta_2_t")
    _slots_of = ("m", "v")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: Any = 0.9,
        beta_2: Any = 0.999,
        epsilon: float = 1e-7,
        name: str = "Nadam",
        **kwargs: Any,
    ) -> None:
        kwargs["decay"] = kwargs.pop("schedule_decay", kwargs.get("decay") or 0.004)
        if isinstance(kwargs.get("lr", learning_rate), LearningRateSchedule):
            raise ValueError(
                "The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as "
                "the learning rate."
            )
        self._begin(name, kwargs, learning_rate, beta_1=beta_1, beta_2=beta_2)
        self.epsilon = epsilon or default_epsilon()
        self._m_cache: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        if self._m_cache is None:
            dtype = var_list[0].dtype.base_dtype
            self._m_cache = self.add_weight("momentum_cache", [], dtype, "ones")
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def _prepare(self, var_list: Sequence[Any]) -> State:
        self._m_cache_read = tf.identity(self._m_cache)
        return super()._prepare(var_list)

    def _decayed_lr(self, dtype: Any) -> Any:
        return self._get_hyper("learning_rate", dtype)

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        given = super()._coefficients(dtype)
        step, following = (tf.cast(self.iterations + n, dtype) for n in (1, 2))
        base = tf.cast(0.96, dtype)

        def momentum(at: Any) -> Any:
            return given["beta_1_t"] * (1.0 - 0.5 * tf.pow(base, self._initial_decay * at))

        now, following = momentum(step), momentum(following)
        schedule = tf.cast(self._m_cache_read, dtype) * now
        if dtype == self._m_cache.dtype.base_dtype:
            schedule = tf.identity(self._m_cache.assign(schedule))
        after = schedule * following
        given["neg_lr_t"] = -given["lr_t"]
        given["epsilon"] = tf.convert_to_tensor(self.epsilon, dtype)
        for name in self._numbers:
            given[f"one_minus_{name}_t"] = 1 - given[f"{name}_t"]
        given["m_t_1"], given["one_minus_m_t"] = following, 1.0 - now
        given["one_minus_m_schedule_new"] = 1.0 - schedule
        given["one_minus_m_schedule_next"] = 1.0 - after
        given["v_t_prime_denominator"] = 1.0 - tf.pow(given["beta_2_t"], step)
        return given

    def _mixed(self, gradient: Any, m: Any, given: dict[str, Any]) -> Any:
        """The mean of gradients and the gradient, each as it would be without its beginning."""
        own = gradient / given["one_minus_m_schedule_new"]
        mean = m / given["one_minus_m_schedule_next"]
        return given["one_minus_m_t"] * own + given["m_t_1"] * mean

    def _apply(self, gradient: Any, variable: Any, given: dict[str, Any]) -> Any:
        m, v = (self.get_slot(variable, name) for name in self._slots_of)
        beta_1, beta_2 = given["beta_1_t"], given["beta_2_t"]
        mean = m.assign(beta_1 * m + given["one_minus_beta_1_t"] * gradient)
        square = v.assign(beta_2 * v + given["one_minus_beta_2_t"] * tf.square(gradient))
        root = tf.sqrt(square / given["v_t_prime_denominator"]) + given["epsilon"]
        return variable.assign(variable - given["lr_t"] * self._mixed(gradient, mean, given) / root)

    def _apply_rows(self, gradient: Any, variable: Any, indices: Any, given: dict[str, Any]) -> Any:
        def moved(name: str, rows: Any, beta: str) -> tuple[Any, Any]:
            slot = self.get_slot(variable, name)
            rows = rows * given[f"one_minus_{beta}_t"]
            with tf.control_dependencies([slot.assign(slot * given[f"{beta}_t"])]):
                whole = self._resource_scatter_add(slot, indices, rows)
                return whole, tf.gather(whole, indices)

        own = gradient / given["one_minus_m_schedule_new"]
        _, mean = moved("m", gradient, "beta_1")
        mean = mean / given["one_minus_m_schedule_next"]
        mixed = given["one_minus_m_t"] * own + given["m_t_1"] * mean
        square, of_rows = moved("v", gradient * gradient, "beta_2")
        root = tf.sqrt(of_rows / given["v_t_prime_denominator"]) + given["epsilon"]
        step = given["neg_lr_t"] * mixed / root
        return tf.group(self._resource_scatter_add(variable, indices, step), mixed, square)
