# SPDX-License-Identifier: Apache-2.0
"""The optimizers that Keras had first: `tensorflow.python.keras.optimizers`.

Classes say which hyperparameters they have and build the updates of all variables themselves, which
is what programs' own optimizers on `Optimizer` do. `tf.keras.optimizers` has those of base.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ops.public import tf
from ..backend import elements as K
from ..backend.sessions import batch_get_value, batch_set_value
from ..backend.settings import epsilon as default_epsilon
from ..backend.settings import floatx


class Optimizer:
    """Base class: gradients, and values of `weights`.

    Args:
        clipnorm: the largest norm of each gradient.
        clipvalue: the largest amount of an element of gradients.

    Raises:
        TypeError: an argument is unknown.
        ValueError: an argument is negative.
    """

    def __init__(self, **kwargs: Any) -> None:
        for key, value in kwargs.items():
            if key not in ("clipnorm", "clipvalue"):
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        vars(self).update(kwargs)
        self.updates: list[Any] = []
        self.weights: list[Any] = []

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations that update variables by a loss; classes define it."""
        raise NotImplementedError

    def get_gradients(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The gradients of a loss, clipped; ValueError if one variable has none."""
        gradients = K.gradients(loss, params)
        if any(g is None for g in gradients):
            raise ValueError(
                "An operation has `None` for gradient. Please make sure that all of your ops have "
                "a gradient defined (i.e. are differentiable). Common ops without gradient: "
                "K.argmax, K.round, K.eval."
            )
        if hasattr(self, "clipnorm"):
            gradients = [tf.clip_by_norm(g, self.clipnorm) for g in gradients]
        if hasattr(self, "clipvalue"):
            limit = self.clipvalue
            gradients = [tf.clip_by_value(g, -limit, limit) for g in gradients]
        return gradients

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Gives the variables values; ValueError where their number or shapes differ."""
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f"Length of the specified weight list ({len(weights)}) does not match the number "
                f"of weights of the optimizer ({len(variables)})"
            )
        for variable, value in zip(variables, weights):
            shape = tuple(variable.shape.as_list())
            if shape != np.shape(value):
                raise ValueError(
                    f"Optimizer weight shape {shape} not compatible with provided weight shape "
                    f"{np.shape(value)}"
                )
        batch_set_value(list(zip(variables, weights)))

    def get_weights(self) -> list[Any]:
        """The values of the variables."""
        return batch_get_value(self.weights)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {k: vars(self)[k] for k in ("clipnorm", "clipvalue") if k in vars(self)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """An optimizer of what `get_config` gave."""
        return cls(**config)


class _Rule(Optimizer):
    """An optimizer whose hyperparameters are variables from the beginning."""

    _hyper: tuple[str, ...] = ()
    # Arguments that are numbers, in the configuration as they are.
    _settings: tuple[str, ...] = ()
    iterations: Any
    # Of these each class has some.
    lr: Any
    rho: Any
    beta_1: Any
    beta_2: Any
    momentum: Any
    decay: Any
    epsilon: Any
    nesterov: Any
    amsgrad: Any
    schedule_decay: Any

    def _begin(self, values: dict[str, Any]) -> None:
        with tf.name_scope(type(self).__name__):
            self.iterations = K.variable(0, dtype="int64", name="iterations")
            for name in self._hyper:
                setattr(self, name, K.variable(values[name], name=name))
        for name in self._settings:
            value = values[name]
            setattr(self, name, default_epsilon() if value is None else value)
        self.initial_decay = values.get("decay", 0.0)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        values = batch_get_value([getattr(self, name) for name in self._hyper])
        config = {name: float(value) for name, value in zip(self._hyper, values)}
        config.update((name, getattr(self, name)) for name in self._settings)
        return {**super().get_config(), **config}

    def _rate(self) -> Any:
        """The learning rate, less with each step if it decays."""
        if not self.initial_decay > 0:
            return self.lr
        steps = tf.cast(self.iterations, self.decay.dtype.base_dtype)
        return self.lr * (1.0 / (1.0 + self.decay * steps))

    def _step(self) -> Any:
        """The number of this step, behind which the counter is one more."""
        with tf.control_dependencies([tf.assign_add(self.iterations, 1)]):
            return tf.cast(self.iterations, floatx())

    def _zeros(self, params: Sequence[Any], count: int) -> list[list[Any]]:
        """Variables of zeros like others, one list after the other."""
        return [
            [K.zeros(K.int_shape(p), dtype=p.dtype.base_dtype.name) for p in params]
            for _ in range(count)
        ]

    def _move(self, variable: Any, value: Any) -> None:
        """Notes that a variable becomes a value, as its constraint lets it."""
        constraint = getattr(variable, "constraint", None)
        value = value if constraint is None else constraint(value)
        self.updates.append(tf.assign(variable, value))

    def _keep(self, slot: Any, value: Any) -> None:
        self.updates.append(tf.assign(slot, value))

    def _each(
        self,
        params: Sequence[Any],
        gradients: Sequence[Any],
        slots: Sequence[Sequence[Any]],
        update: Callable[..., None],
    ) -> list[Any]:
        for each in zip(params, gradients, *slots):
            update(*each)
        return list(self.updates)


class SGD(_Rule):
    """Gradient descent, with momentum, as of `tf.keras.optimizers.SGD`."""

    _hyper = ("lr", "momentum", "decay")
    _settings = ("nesterov",)

    def __init__(
        self,
        lr: float = 0.01,
        momentum: float = 0.0,
        decay: float = 0.0,
        nesterov: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._begin({"lr": lr, "momentum": momentum, "decay": decay, "nesterov": nesterov})

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations that update variables by a loss."""
        gradients = self.get_gradients(loss, params)
        self.updates = [tf.assign_add(self.iterations, 1)]
        rate = self._rate()
        slots = self._zeros(params, 1)
        self.weights = [self.iterations, *slots[0]]

        def update(p: Any, g: Any, moment: Any) -> None:
            velocity = self.momentum * moment - rate * g
            self._keep(moment, velocity)
            ahead = self.momentum * velocity - rate * g if self.nesterov else velocity
            self._move(p, p + ahead)

        return self._each(params, gradients, slots, update)


class RMSprop(_Rule):
    """Rates by running means of squares, as of `tf.keras.optimizers.RMSprop`."""

    _hyper = ("lr", "rho", "decay")
    _settings = ("epsilon",)

    def __init__(
        self,
        lr: float = 0.001,
        rho: float = 0.9,
        epsilon: float | None = None,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._begin({"lr": lr, "rho": rho, "decay": decay, "epsilon": epsilon})

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations that update variables by a loss."""
        gradients = self.get_gradients(loss, params)
        slots = self._zeros(params, 1)
        self.weights = slots[0]
        self.updates = [tf.assign_add(self.iterations, 1)]
        rate = self._rate()

        def update(p: Any, g: Any, mean: Any) -> None:
            new = self.rho * mean + (1.0 - self.rho) * tf.square(g)
            self._keep(mean, new)
            self._move(p, p - rate * g / (K.sqrt(new) + self.epsilon))

        return self._each(params, gradients, slots, update)


class Adagrad(_Rule):
    """Rates by sums of squares, as of `tf.keras.optimizers.Adagrad`."""

    _hyper = ("lr", "decay")
    _settings = ("epsilon",)

    def __init__(
        self, lr: float = 0.01, epsilon: float | None = None, decay: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._begin({"lr": lr, "decay": decay, "epsilon": epsilon})

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations that update variables by a loss."""
        gradients = self.get_gradients(loss, params)
        slots = self._zeros(params, 1)
        self.weights = slots[0]
        self.updates = [tf.assign_add(self.iterations, 1)]
        rate = self._rate()

        def update(p: Any, g: Any, total: Any) -> None:
            new = total + tf.square(g)
            self._keep(total, new)
            self._move(p, p - rate * g / (K.sqrt(new) + self.epsilon))

        return self._each(params, gradients, slots, update)


class Adadelta(_Rule):
    """Rates by running means of squares of gradients and of updates."""

    _hyper = ("lr", "decay")
    _settings = ("rho", "epsilon")

    def __init__(
        self,
        lr: float = 1.0,
        rho: float = 0.95,
        epsilon: float | None = None,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._begin({"lr": lr, "decay": decay, "rho": rho, "epsilon": epsilon})

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations that update variables by a loss."""
        gradients = self.get_gradients(loss, params)
        slots = self._zeros(params, 2)
        self.weights = [*slots[0], *slots[1]]
        self.updates = [tf.assign_add(self.iterations, 1)]
        rate = self._rate()

        def update(p: Any, g: Any, mean: Any, of_updates: Any) -> None:
            new = self.rho * mean + (1.0 - self.rho) * tf.square(g)
            self._keep(mean, new)
            step = g * K.sqrt(of_updates + self.epsilon) / K.sqrt(new + self.epsilon)
            self._move(p, p - rate * step)
            self._keep(of_updates, self.rho * of_updates + (1 - self.rho) * tf.square(step))

        return self._each(params, gradients, slots, update)


class Adam(_Rule):
    """Rates by running means and means of squares, as of `tf.keras.optimizers.Adam`."""

    _hyper = ("lr", "beta_1", "beta_2", "decay")
    _settings = ("epsilon", "amsgrad")

    def __init__(
        self,
        lr: float = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._begin(
            {
                "lr": lr,
                "beta_1": beta_1,
                "beta_2": beta_2,
                "decay": decay,
                "epsilon": epsilon,
                "amsgrad": amsgrad,
            }
        )

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations that update variables by a loss."""
        gradients = self.get_gradients(loss, params)
        self.updates = []
        rate = self._rate()
        step = self._step()
        rate = rate * (K.sqrt(1.0 - tf.pow(self.beta_2, step)) / (1.0 - tf.pow(self.beta_1, step)))
        slots = self._zeros(params, 3 if self.amsgrad else 2)
        if not self.amsgrad:
            slots.append([K.zeros(1) for _ in params])
        self.weights = [self.iterations, *slots[0], *slots[1], *slots[2]]

        def update(p: Any, g: Any, mean: Any, of_squares: Any, largest: Any) -> None:
            new = self.beta_1 * mean + (1.0 - self.beta_1) * g
            squares = self.beta_2 * of_squares + (1.0 - self.beta_2) * tf.square(g)
            scale = squares
            if self.amsgrad:
                scale = tf.maximum(largest, squares)
                self._keep(largest, scale)
            self._keep(mean, new)
            self._keep(of_squares, squares)
            self._move(p, p - rate * new / (K.sqrt(scale) + self.epsilon))

        return self._each(params, gradients, slots, update)


class Adamax(_Rule):
    """Adam by the largest amounts instead of squares."""

    _hyper = ("lr", "beta_1", "beta_2", "decay")
    _settings = ("epsilon",)

    def __init__(
        self,
        lr: float = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        decay: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._begin(
            {"lr": lr, "beta_1": beta_1, "beta_2": beta_2, "decay": decay, "epsilon": epsilon}
        )

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations that update variables by a loss."""
        gradients = self.get_gradients(loss, params)
        self.updates = []
        rate = self._rate()
        rate = rate / (1.0 - tf.pow(self.beta_1, self._step()))
        slots = self._zeros(params, 2)
        self.weights = [self.iterations, *slots[0], *slots[1]]

        def update(p: Any, g: Any, mean: Any, largest: Any) -> None:
            new = self.beta_1 * mean + (1.0 - self.beta_1) * g
            amount = tf.maximum(self.beta_2 * largest, tf.abs(g))
            self._keep(mean, new)
            self._keep(largest, amount)
            self._move(p, p - rate * new / (amount + self.epsilon))

        return self._each(params, gradients, slots, update)


class Nadam(_Rule):
    """Adam with Nesterov's momentum, whose schedule warms up."""

    _hyper = ("lr", "beta_1", "beta_2")
    _settings = ("epsilon", "schedule_decay")

    def __init__(
        self,
        lr: float = 0.002,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float | None = None,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._begin(
            {
                "lr": lr,
                "beta_1": beta_1,
                "beta_2": beta_2,
                "epsilon": epsilon,
                "schedule_decay": schedule_decay,
            }
        )
        with tf.name_scope(type(self).__name__):
            self.m_schedule = K.variable(1.0, name="m_schedule")

    def _momentum(self, step: Any) -> Any:
        """The momentum of a step: near half of beta_1 first, and all of it in the end."""
        warming = tf.pow(tf.constant(0.96, floatx()), step * self.schedule_decay)
        return self.beta_1 * (1.0 - 0.5 * warming)

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The operations that update variables by a loss."""
        gradients = self.get_gradients(loss, params)
        step = self._step()
        momentum, following = self._momentum(step), self._momentum(step + 1)
        schedule = self.m_schedule * momentum
        ahead = self.m_schedule * momentum * following
        self.updates = [(self.m_schedule, schedule)]
        slots = self._zeros(params, 2)
        self.weights = [self.iterations, self.m_schedule, *slots[0], *slots[1]]

        def update(p: Any, g: Any, mean: Any, of_squares: Any) -> None:
            new = self.beta_1 * mean + (1.0 - self.beta_1) * g
            squares = self.beta_2 * of_squares + (1.0 - self.beta_2) * tf.square(g)
            unbiased = squares / (1.0 - tf.pow(self.beta_2, step))
            direction = (1.0 - momentum) * (g / (1.0 - schedule))
            direction += following * (new / (1.0 - ahead))
            self._keep(mean, new)
            self._keep(of_squares, squares)
            self._move(p, p - self.lr * direction / (K.sqrt(unbiased) + self.epsilon))

        return self._each(params, gradients, slots, update)


sgd, rmsprop, adagrad, adadelta = SGD, RMSprop, Adagrad, Adadelta
adam, adamax, nadam = Adam, Adamax, Nadam
