# SPDX-License-Identifier: Apache-2.0
"""Learning rates as functions of the step.  Each returns a scalar tensor."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_n_to_tensor
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...ops.public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


@export("train.exponential_decay")
def exponential_decay(
    learning_rate: TensorLike,
    global_step: TensorLike | None,
    decay_steps: int,
    decay_rate: TensorLike,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * decay_rate ** (global_step / decay_steps).

    Args:
        learning_rate: what it begins with: a number or a scalar tensor.
        global_step: how many steps there were: a number, a Variable or a scalar tensor.
        decay_steps: in how many steps it becomes `decay_rate` of what it was.
        decay_rate: that share.
        staircase: whether the power is a whole number, so that the rate falls in steps.
        name: the scope of the operations.

    Returns:
        A scalar tensor of the dtype of `learning_rate`.

    Raises:
        ValueError: `global_step` is None.

    Example:
        >>> rate = tf.train.exponential_decay(0.1, global_step=150, decay_steps=100, decay_rate=0.5)
        >>> stairs = tf.train.exponential_decay(0.1, 150, 100, 0.5, staircase=True)
        >>> tf.Session().run([rate, stairs])
        [np.float32(0.03535534), np.float32(0.05)]
    """
    with _scope(name, "ExponentialDecay") as scope:
        rate = tf.convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = tf.cast(decay_steps, rate.dtype)
        base = tf.cast(decay_rate, rate.dtype)
        power = _progress(global_step, steps, staircase)
        return tf.multiply(rate, tf.pow(base, power), name=scope)


@export("train.natural_exp_decay")
def natural_exp_decay(
    learning_rate: float,
    global_step: TensorLike,
    decay_steps: int,
    decay_rate: float,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * exp(-decay_rate * global_step / decay_steps)."""
    base = tf.exp(tf.negative(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, base, staircase, name)


@export("train.inverse_time_decay")
def inverse_time_decay(
    learning_rate: TensorLike,
    global_step: TensorLike | None,
    decay_steps: int,
    decay_rate: float,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps)."""
    with _scope(name, "InverseTimeDecay") as scope:
        rate = tf.convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = tf.cast(decay_steps, rate.dtype)
        slope = tf.cast(decay_rate, rate.dtype)
        progress = _progress(global_step, steps, staircase)
        one = tf.cast(tf.constant(1), rate.dtype)
        return tf.divide(rate, tf.add(one, tf.multiply(slope, progress)), name=scope)


@export("train.piecewise_constant_decay", "train.piecewise_constant")
def piecewise_constant(
    x: TensorLike, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Tensor:
    """values[0] up to and at boundaries[0], then values[1] up to and at boundaries[1], ...

    Args:
        x: how many steps there were: a number, a Variable or a scalar tensor.
        boundaries: a list of rising numbers of the dtype of `x`.
        values: a list of numbers of one dtype, one more than boundaries.
        name: the scope of the operations.

    Returns:
        A scalar tensor of the dtype of the values.

    Raises:
        ValueError: the dtypes differ, or the lengths do not fit.

    Example:
        >>> tf.Session().run(tf.train.piecewise_constant(150, [100, 200], [1.0, 0.1, 0.01]))
        np.float32(0.1)
    """
    bounds = convert_n_to_tensor(boundaries)
    rates = convert_n_to_tensor(values)
    step = tf.convert_to_tensor(x)
    for i, bound in enumerate(bounds):
        bounds[i] = _as_step(bound, step)
    for rate in rates[1:]:
        if rate.dtype.base_dtype != rates[0].dtype.base_dtype:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({rates[0].dtype.base_dtype} vs {rate.dtype.base_dtype})."
            )
    if len(bounds) != len(rates) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    with _scope(name, "PiecewiseConstant"):
        step = tf.convert_to_tensor(x)
        pieces: list[tuple[Tensor, Callable[[], Tensor]]] = [
            (step <= bounds[0], lambda: rates[0]),
            (step > bounds[-1], lambda: rates[-1]),
        ]
        for low, high, rate in zip(bounds[:-1], bounds[1:], rates[1:-1]):
            inside = (step > low) & (step <= high)
            pieces.append((inside, lambda rate=rate: rate))  # type: ignore[misc]
        # The conditions exclude each other and leave nothing out; `tf.case` asks for a default all
        # the same.
        return tf.case(pieces, lambda: rates[0], exclusive=True)


@export("train.polynomial_decay")
def polynomial_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: int,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """Falls from one rate to another along (1 - global_step / decay_steps) ** power.

    Args:
        learning_rate: what it begins with: a number or a scalar tensor.
        global_step: how many steps there were: a number, a Variable or a scalar tensor.
        decay_steps: in how many steps it falls.
        end_learning_rate: what it falls to.
        power: 1 for a line.
        cycle: whether the decay is stretched to the next multiple of `decay_steps` that is not
            passed; else the rate stays at its end.
        name: the scope of the operations.

    Returns:
        A scalar tensor of the dtype of `learning_rate`.

    Raises:
        ValueError: `global_step` is None.

    Example:
        >>> tf.Session().run(tf.train.polynomial_decay(1.0, 25, 100, end_learning_rate=0.0))
        np.float32(0.75)
    """
    with _scope(name, "PolynomialDecay") as scope:
        rate = tf.convert_to_tensor(learning_rate, name="initial_learning_rate")
        end = tf.cast(end_learning_rate, rate.dtype)
        exponent = tf.cast(power, rate.dtype)
        step = tf.cast(global_step, rate.dtype)
        steps = tf.cast(decay_steps, rate.dtype)
        if cycle:
            at_start = tf.equal(step, 0)
            # The first multiple of decay_steps at or after the step; at step 0 that would be 0, to
            # divide by.
            multiplier = tf.cond(at_start, lambda: 1.0, lambda: tf.ceil(step / decay_steps))
            steps = tf.multiply(steps, multiplier)
        else:
            # Beyond the end 1 - fraction would be negative, and its power NaN.
            step = tf.minimum(step, decay_steps)
        fraction = tf.divide(step, steps)
        falling = tf.multiply(rate - end, tf.pow(1 - fraction, exponent))
        return tf.add(falling, end, name=scope)


@export("train.cosine_decay")
def cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: int,
    alpha: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Half a cosine wave from `learning_rate` down to `alpha` times it."""
    with _scope(name, "CosineDecay"):
        rate = tf.convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps = tf.cast(decay_steps, rate.dtype)
        step = tf.minimum(tf.cast(global_step, rate.dtype), steps)
        wave = _cosine(step / steps)
        return tf.multiply(rate, (1 - alpha) * wave + alpha)


@export("train.cosine_decay_restarts")
def cosine_decay_restarts(
    learning_rate: TensorLike,
    global_step: TensorLike,
    first_decay_steps: int,
    t_mul: float = 2.0,
    m_mul: float = 1.0,
    alpha: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cosine waves, each `t_mul` times as long and `m_mul` times as high as the one before."""
    with _scope(name, "SGDRDecay") as scope:
        rate = tf.convert_to_tensor(learning_rate, name="initial_learning_rate")
        first = tf.cast(first_decay_steps, rate.dtype)
        low = tf.cast(alpha, rate.dtype)
        longer = tf.cast(t_mul, rate.dtype)
        higher = tf.cast(m_mul, rate.dtype)
        done = tf.cast(global_step, rate.dtype) / first

        def equal_waves() -> tuple[Tensor, Tensor]:
            wave = tf.floor(done)
            return wave, done - wave

        def growing_waves() -> tuple[Tensor, Tensor]:
            # Wave i starts at 1 + t + ... + t^(i - 1) = (1 - t^i) / (1 - t) lengths of the first,
            # for t = `longer`. Solved for i, with the start at `done`: i = log(1 - done * (1 - t))
            # / log(t).
            ratio = tf.log(1.0 - done * (1.0 - longer)) / tf.log(longer)
            wave = tf.floor(ratio)
            start = (1.0 - longer**wave) / (1.0 - longer)
            return wave, (done - start) / longer**wave

        # For t = 1 the formula of the sum is 0 / 0.
        wave, fraction = tf.cond(tf.equal(longer, 1.0), equal_waves, growing_waves)
        height = higher**wave
        decayed = 0.5 * height * (1.0 + tf.cos(tf.constant(math.pi) * fraction))
        return tf.multiply(rate, (1 - low) * decayed + low, name=scope)


@export("train.linear_cosine_decay")
def linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: int,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Tensor:
    """A falling line times `num_periods` cosine waves, plus `beta`."""
    with _scope(name, "LinearCosineDecay") as scope:
        rate = tf.convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps, periods, low, floor = (
            tf.cast(value, rate.dtype) for value in (decay_steps, num_periods, alpha, beta)
        )
        step = tf.minimum(tf.cast(global_step, rate.dtype), steps)
        line = (steps - step) / steps
        done = step / steps
        wave = _cosine(2.0 * periods * done)
        return tf.multiply(rate, (low + line) * wave + floor, name=scope)


@export("train.noisy_linear_cosine_decay")
def noisy_linear_cosine_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    decay_steps: int,
    initial_variance: float = 1.0,
    variance_decay: float = 0.55,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Tensor:
    """`linear_cosine_decay` with normal noise on the line; its variance falls with the step."""
    with _scope(name, "NoisyLinearCosineDecay") as scope:
        rate = tf.convert_to_tensor(learning_rate, name="initial_learning_rate")
        steps, variance, fall, periods, low, floor = (
            tf.cast(value, rate.dtype)
            for value in (
                decay_steps,
                initial_variance,
                variance_decay,
                num_periods,
                alpha,
                beta,
            )
        )
        step = tf.minimum(tf.cast(global_step, rate.dtype), steps)
        line = (steps - step) / steps
        # The noise shrinks by the power law of https://arxiv.org/abs/1511.06807.
        deviation = tf.sqrt(variance / tf.pow(1.0 + step, fall))
        noisy = line + tf.random_normal(line.shape, stddev=deviation)
        done = step / steps
        wave = _cosine(2.0 * periods * done)
        return tf.multiply(rate, (low + noisy) * wave + floor, name=scope)


def _cosine(fraction: Tensor) -> Tensor:
    """From one at 0 to zero at 1, along half a cosine wave."""
    return 0.5 * (1.0 + tf.cos(tf.constant(math.pi) * fraction))


def _progress(global_step: TensorLike | None, steps: Tensor, staircase: bool) -> Tensor:
    fraction = tf.cast(global_step, steps.dtype) / steps
    return tf.floor(fraction) if staircase else fraction


def _scope(name: str | None, default: str) -> Any:
    return tf.get_default_graph().name_scope(name or default)


def _as_step(bound: Tensor, step: Tensor) -> Tensor:
    have, want = bound.dtype.base_dtype, step.dtype.base_dtype
    if have == want:
        return bound
    # Boundaries are often Python ints, which become int32, and the step int64.
    if have == dtypes.int32 and want == dtypes.int64:
        return tf.cast(bound, want)
    raise ValueError(f"Boundaries ({have}) must have the same dtype as x ({want}).")
