# SPDX-License-Identifier: Apache-2.0
"""A learning rate that falls along a cosine and starts again, each time for longer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor


def sgdr_decay(
    learning_rate: TensorLike,
    global_step: TensorLike,
    initial_period_steps: TensorLike,
    t_mul: TensorLike = 2.0,
    m_mul: TensorLike = 1.0,
    name: str | None = None,
) -> Tensor:
    """Stochastic gradient descent with warm restarts (arXiv:1608.03983): its learning rate.

    Args:
        learning_rate: the rate at the start.
        global_step: the number of the step.
        initial_period_steps: how many steps it is before the first start anew.
        t_mul: how many times as long each period is as the one before.
        m_mul: how many times as large each period's first rate is as that of the one before.
        name: of the result.

    Returns:
        The rate at the step.

    Raises:
        ValueError: there is no `global_step`.
    """
    if global_step is None:
        raise ValueError("global_step is required for sgdr_decay.")
    values = [learning_rate, global_step, initial_period_steps, t_mul, m_mul]
    with name_scope(name, "SGDRDecay", values) as name:
        learning_rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = learning_rate.dtype
        step, first, t_mul, m_mul = (
            tf.cast(value, dtype) for value in (global_step, initial_period_steps, t_mul, m_mul)
        )
        one, half, pi = (tf.cast(tf.constant(value), dtype) for value in (1.0, 0.5, math.pi))
        periods = tf.div(step, first)

        def equally_long() -> tuple[Tensor, Tensor]:
            restarts = tf.floor(periods)
            return restarts, periods - restarts

        def longer_and_longer() -> tuple[Tensor, Tensor]:
            # The first n periods take (1 - t_mul ** n) / (1 - t_mul) times the first one.
            restarts = tf.floor(tf.log(one - periods * (one - t_mul)) / tf.log(t_mul))
            done = (one - t_mul**restarts) / (one - t_mul)
            return restarts, (periods - done) / t_mul**restarts

        restarts, place = tf.cond(tf.equal(t_mul, one), equally_long, longer_and_longer)
        rate = learning_rate * (m_mul**restarts)
    return tf.multiply(half * rate, (tf.cos(place * pi) + one), name=name)
