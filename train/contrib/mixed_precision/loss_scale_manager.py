# SPDX-License-Identifier: Apache-2.0
"""By how much losses are scaled: fixed, or as much as gradients bear."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....ops.public import raw, tf

if TYPE_CHECKING:
    from ....engine.graph.operation import Operation


@export("contrib.mixed_precision.LossScaleManager")
class LossScaleManager(abc.ABC):
    """What a LossScaleOptimizer asks for the scale of its loss."""

    @abc.abstractmethod
    def get_loss_scale(self) -> Any:
        """The scale, a float32 scalar."""

    @abc.abstractmethod
    def update_loss_scale(self, finite_grads: Tensor) -> Any:
        """An operation that changes the scale after a step.

        Args:
            finite_grads: whether all gradients of the step were finite.
        """


@export("contrib.mixed_precision.FixedLossScaleManager")
class FixedLossScaleManager(LossScaleManager):
    """A scale that stays.

    Args:
        loss_scale: the scale.

    Raises:
        ValueError: it is below 1.
    """

    def __init__(self, loss_scale: float) -> None:
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtype=dtypes.float32)

    def get_loss_scale(self) -> Tensor:
        """The scale."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Tensor) -> Operation:
        """An operation that does nothing."""
        del finite_grads
        return raw.NoOp()


@export("contrib.mixed_precision.ExponentialUpdateLossScaleManager")
class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A scale that grows while gradients are finite, and shrinks when some are not.

    It never falls below 1, and does not grow beyond float32.

    Args:
        init_loss_scale: the scale at the start.
        incr_every_n_steps: after how many finite steps one after another it grows.
        decr_every_n_nan_or_inf: after how many others, in all, it shrinks.
        incr_ratio: how many times as large it becomes.
        decr_ratio: how many times as small.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ) -> None:
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._loss_scale: Any = tf.Variable(
            name="loss_scale",
            initial_value=convert_to_tensor(init_loss_scale, dtypes.float32),
            dtype=dtypes.float32,
            trainable=False,
        )
        counts: list[Any] = [
            tf.Variable(name=name, initial_value=0, dtype=dtypes.int32, trainable=False)
            for name in ("good_steps", "bad_steps")
        ]
        self._num_good_steps, self._num_bad_steps = counts

    def get_loss_scale(self) -> Any:
        """The scale, a variable."""
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Tensor) -> Any:
        """An operation that counts the step, and changes the scale if it is time."""
        return tf.cond(finite_grads, self._after_good_step, self._after_bad_step)

    def _changed(self, scale: Tensor) -> Operation:
        update = tf.assign(self._loss_scale, scale)
        reset = tf.group(tf.assign(self._num_good_steps, 0), tf.assign(self._num_bad_steps, 0))
        return tf.group(update, reset)

    def _after_good_step(self) -> Any:
        return tf.cond(
            self._num_good_steps + 1 >= self._incr_every_n_steps,
            lambda: self._changed(self._grown()),
            lambda: tf.assign_add(self._num_good_steps, 1).op,
        )

    def _grown(self) -> Tensor:
        return tf.cond(
            raw.IsFinite(self._loss_scale * self._incr_ratio),
            lambda: self._loss_scale * self._incr_ratio,
            lambda: self._loss_scale,
        )

    def _after_bad_step(self) -> Any:
        return tf.cond(
            self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf,
            lambda: self._changed(raw.Maximum(1.0, self._loss_scale * self._decr_ratio)),
            lambda: tf.group(
                tf.assign_add(self._num_bad_steps, 1), tf.assign(self._num_good_steps, 0)
            ),
        )
