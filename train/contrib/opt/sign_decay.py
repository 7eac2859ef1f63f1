# SPDX-License-Identifier: Apache-2.0
"""How the part of a step that its sign decides fades out: functions of the global step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.types import dtypes
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.tensor import Tensor

Decay = Callable[[Any], Any]


def _at_most(global_step: Any, decay_steps: int, name: str) -> Tensor:
    if global_step is None:
        raise ValueError(f"global_step is required for {name}.")
    return tf.minimum(global_step, decay_steps)


def _cosine(fraction: object) -> Tensor:
    return 0.5 * (1.0 + tf.cos(tf.constant(math.pi) * fraction))


def get_linear_decay_fn(decay_steps: int) -> Decay:
    """Falls from one to zero in so many steps.

    Args:
        decay_steps: how many.

    Returns:
        A function of the global step, which raises ValueError for None.

    Example:
        >>> from numbaflow.train.contrib.opt.sign_decay import get_linear_decay_fn
        >>> tf.Session().run(get_linear_decay_fn(4)(tf.constant(1)))
        np.float32(0.75)
    """

    def linear_decay_fn(global_step: object) -> Tensor:
        step = _at_most(global_step, decay_steps, "linear_decay")
        remaining = tf.cast(decay_steps, dtypes.int32) - tf.cast(step, dtypes.int32)
        part = tf.cast(remaining, dtypes.float32) / tf.cast(decay_steps, dtypes.float32)
        return tf.maximum(0.0, part)

    return linear_decay_fn


def get_cosine_decay_fn(
    decay_steps: int, num_periods: float = 0.5, zero_after: float | None = None
) -> Decay:
    """Swings between one and zero: (1 + cos(2 pi * num_periods * step / decay_steps)) / 2.

    Args:
        decay_steps: after how many steps it stays where it is.
        num_periods: how often it swings until then.
        zero_after: from this period on it is zero.

    Returns:
        A function of the global step, which raises ValueError for None.
    """

    def cosine_decay_fn(global_step: object) -> Tensor:
        step = _at_most(global_step, decay_steps, "cosine_decay")
        done = tf.cast(step, dtypes.float32) / tf.cast(decay_steps, dtypes.float32)
        fraction = 2.0 * num_periods * done
        decayed = _cosine(fraction)
        if zero_after is not None:
            decayed = tf.where(tf.greater_equal(fraction, 2 * zero_after), 0.0, decayed)
        return decayed

    return cosine_decay_fn


def get_restart_decay_fn(
    decay_steps: int, num_periods: int = 1, zero_after: float | None = None
) -> Decay:
    """Falls from one to zero as half a cosine, again and again.

    Args:
        decay_steps: after how many steps it stays where it is.
        num_periods: how often it falls until then.
        zero_after: from this period on it is zero.

    Returns:
        A function of the global step, which raises ValueError for None.
    """

    def restart_decay_fn(global_step: object) -> Tensor:
        step = _at_most(global_step, decay_steps, "cosine_decay")
        into = tf.mod(num_periods * tf.cast(step, dtypes.float32), decay_steps)
        decayed = _cosine(into / tf.cast(decay_steps, dtypes.float32))
        if zero_after is not None:
            periods = tf.cast(num_periods * step, dtypes.float32)
            periods = periods / tf.cast(decay_steps, dtypes.float32)
            decayed = tf.where(tf.greater_equal(periods, zero_after), 0.0, decayed)
        return decayed

    return restart_decay_fn
