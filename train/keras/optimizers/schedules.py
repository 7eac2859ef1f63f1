# SPDX-License-Identifier: Apache-2.0
"""Schedules: learning rates as functions of the step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ....ops.public import tf
from ..serialization import Family, by_name, serialize_keras_object, serialized


class LearningRateSchedule:
    """A learning rate for each step; classes define `__call__` and name their arguments."""

    _arguments: tuple[str, ...] = ()

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return serialized(self, self._arguments)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LearningRateSchedule:
        """A schedule of what `get_config` gave."""
        return cls(**config)


class _Steps(LearningRateSchedule):
    """What schedules from a first rate over so many steps have in common."""

    initial_learning_rate: Any
    name: str | None

    def _start(self, step: Any, steps: Any) -> tuple[Any, Any, Any]:
        """The first rate, the steps so far and the number of steps, of one dtype."""
        rate = tf.convert_to_tensor(self.initial_learning_rate, name="initial_learning_rate")
        return rate, tf.cast(step, rate.dtype), tf.cast(steps, rate.dtype)


class ExponentialDecay(_Steps):
    """initial_learning_rate * decay_rate ** (step / decay_steps); whole quotients if staircase."""

    _arguments: tuple[str, ...] = (
        "initial_learning_rate",
        "decay_steps",
        "decay_rate",
        "staircase",
        "name",
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "ExponentialDecay"):
            rate, step, steps = self._start(step, self.decay_steps)
            power = step / steps
            power = tf.floor(power) if self.staircase else power
            return tf.multiply(rate, tf.pow(tf.cast(self.decay_rate, rate.dtype), power))


class InverseTimeDecay(_Steps):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps); whole if staircase."""

    _arguments = ExponentialDecay._arguments

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        decay_rate: Any,
        staircase: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.decay_rate = decay_rate
        self.staircase = staircase
        self.name = name

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "InverseTimeDecay"):
            rate, step, steps = self._start(step, self.decay_steps)
            quotient = step / steps
            quotient = tf.floor(quotient) if self.staircase else quotient
            decay = tf.cast(self.decay_rate, rate.dtype)
            return tf.divide(rate, 1.0 + decay * quotient)


class PiecewiseConstantDecay(LearningRateSchedule):
    """One of `values`: the first up to the first of `boundaries`, and so on; one more of these."""

    _arguments: tuple[str, ...] = ("boundaries", "values", "name")

    def __init__(
        self, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
    ) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError("The length of boundaries should be 1 less than the length of values")
        self.boundaries = boundaries
        self.values = values
        self.name = name

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "PiecewiseConstant"):
            step = tf.convert_to_tensor(step)
            limits = [tf.cast(b, step.dtype) for b in self.boundaries]
            values = [tf.convert_to_tensor(v) for v in self.values]
            rate = values[-1]
            for limit, value in zip(reversed(limits), reversed(values[:-1])):
                rate = tf.where(step <= limit, value, rate)
            return rate


class PolynomialDecay(_Steps):
    """From a first rate to a last one by a power of what is left of the steps."""

    _arguments: tuple[str, ...] = (
        *("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle", "name"),
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        end_learning_rate: Any = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.end_learning_rate = end_learning_rate
        self.power = power
        self.cycle = cycle
        self.name = name

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "PolynomialDecay"):
            rate, step, steps = self._start(step, self.decay_steps)
            last = tf.cast(self.end_learning_rate, rate.dtype)
            if self.cycle:
                rounds = tf.where(
                    tf.equal(step, 0), tf.ones_like(step), tf.ceil(step / self.decay_steps)
                )
                steps = tf.multiply(steps, rounds)
            else:
                step = tf.minimum(step, tf.cast(self.decay_steps, step.dtype))
            left = tf.pow(1 - tf.divide(step, steps), tf.cast(self.power, rate.dtype))
            return tf.add(tf.multiply(rate - last, left), last)


class CosineDecay(_Steps):
    """A half wave from a first rate to its `alpha`th part."""

    _arguments: tuple[str, ...] = ("initial_learning_rate", "decay_steps", "alpha", "name")

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        alpha: float = 0.0,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.alpha = alpha
        self.name = name

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "CosineDecay"):
            rate, step, steps = self._start(step, self.decay_steps)
            share = tf.minimum(step, steps) / steps
            wave = 0.5 * (1.0 + tf.cos(tf.constant(math.pi, rate.dtype) * share))
            return tf.multiply(rate, (1 - self.alpha) * wave + self.alpha)


class CosineDecayRestarts(_Steps):
    """Half waves one behind the other, each `t_mul` times as long and `m_mul` times as high."""

    _arguments: tuple[str, ...] = (
        "initial_learning_rate",
        "first_decay_steps",
        "t_mul",
        "m_mul",
        "alpha",
        "name",
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        first_decay_steps: Any,
        t_mul: float = 2.0,
        m_mul: float = 1.0,
        alpha: float = 0.0,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.first_decay_steps = first_decay_steps
        self._t_mul, self._m_mul, self.alpha, self.name = t_mul, m_mul, alpha, name
        self.t_mul, self.m_mul = t_mul, m_mul

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or "SGDRDecay"):
            rate, step, steps = self._start(step, self.first_decay_steps)
            t_mul, m_mul = tf.cast(self.t_mul, rate.dtype), tf.cast(self.m_mul, rate.dtype)
            share = step / steps

            def restart(geometric: bool) -> tuple[Any, Any]:
                if not geometric:
                    number = tf.floor(share)
                    return number, share - number
                grown = tf.log(1.0 - share * (1.0 - t_mul)) / tf.log(t_mul)
                number = tf.floor(grown)
                before = (1.0 - t_mul**number) / (1.0 - t_mul)
                return number, (share - before) / t_mul**number

            number, share = tf.cond(
                tf.equal(t_mul, 1.0), lambda: restart(False), lambda: restart(True)
            )
            height = m_mul**number
            wave = 0.5 * height * (1.0 + tf.cos(tf.constant(math.pi, rate.dtype) * share))
            return tf.multiply(rate, (1 - self.alpha) * wave + self.alpha)


class LinearCosineDecay(_Steps):
    """Waves within a line that falls to zero, over a least part `beta`."""

    _arguments: tuple[str, ...] = (
        "initial_learning_rate",
        "decay_steps",
        "num_periods",
        "alpha",
        "beta",
        "name",
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        num_periods: float = 0.5,
        alpha: float = 0.0,
        beta: float = 0.001,
        name: str | None = None,
    ) -> None:
        self.initial_learning_rate = initial_learning_rate
        self.decay_steps = decay_steps
        self.num_periods, self.alpha, self.beta = num_periods, alpha, beta
        self.name = name

    def _disturbed(self, line: Any, step: Any) -> Any:
        del step
        return line

    def __call__(self, step: Any) -> Any:
        with tf.name_scope(self.name or type(self).__name__):
            rate, step, steps = self._start(step, self.decay_steps)
            step = tf.minimum(step, steps)
            line = self._disturbed((steps - step) / steps, step)
            turns = tf.constant(math.pi * 2.0 * self.num_periods, rate.dtype) * (step / steps)
            wave = 0.5 * (1.0 + tf.cos(turns))
            return tf.multiply(rate, (self.alpha + line) * wave + self.beta)


class NoisyLinearCosineDecay(LinearCosineDecay):
    """As LinearCosineDecay, the line being disturbed by noise that fades."""

    _arguments: tuple[str, ...] = (
        *("initial_learning_rate", "decay_steps", "initial_variance", "variance_decay"),
        *("num_periods", "alpha", "beta", "name"),
    )

    def __init__(
        self,
        initial_learning_rate: Any,
        decay_steps: Any,
        initial_variance: float = 1.0,
        variance_decay: float = 0.55,
        num_periods: float = 0.5,
        alpha: float = 0.0,
        beta: float = 0.001,
        name: str | None = None,
    ) -> None:
        super().__init__(initial_learning_rate, decay_steps, num_periods, alpha, beta, name)
        self.initial_variance = initial_variance
        self.variance_decay = variance_decay

    def _disturbed(self, line: Any, step: Any) -> Any:
        variance = self.initial_variance / tf.pow(1.0 + step, self.variance_decay)
        return line + tf.random_normal(tf.shape(line), stddev=tf.sqrt(variance))


_FAMILY = Family(
    "decay",
    {
        **by_name(ExponentialDecay, InverseTimeDecay, PiecewiseConstantDecay, PolynomialDecay),
        **by_name(CosineDecay, CosineDecayRestarts, LinearCosineDecay, NoisyLinearCosineDecay),
    },
)
deserialize = schedule_from = _FAMILY.deserialize


def serialize(learning_rate_schedule: LearningRateSchedule) -> Any:
    """What `deserialize` makes a schedule of: its class's name and its configuration."""
    return serialize_keras_object(learning_rate_schedule)
