# SPDX-License-Identifier: Apache-2.0
"""By how much losses are scaled before their gradients are taken (tf.train.experimental)."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.defaults import get_default_graph
from ...engine.graph.graph import Graph
from ...engine.graph.trackable import Trackable, TrackableReference
from ...engine.types import dtypes
from ...engine.types.nest import flatten
from ...ops.public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike
    from ...engine.graph.tensor import Tensor
    from ...ops.state.variables import Variable


@export("train.experimental.LossScale")
class LossScale(Trackable, metaclass=abc.ABCMeta):
    """What a loss is multiplied by, and its gradients are divided by.

    In float16 small gradients would be 0 otherwise.  A subclass says what the scale is, and how it
    changes.
    """

    def __init__(self) -> None:
        self._weights: dict[tuple[str, Graph], Any] = {}

    @abc.abstractmethod
    def __call__(self) -> Any:
        """The scale, a float32 scalar."""

    @abc.abstractmethod
    def update(self, grads: Any) -> Any:
        """What changes the scale after a step.

        Args:
            grads: a structure of gradients that were divided by the scale; None counts for nothing.

        Returns:
            An operation, and whether the gradients are to be applied: a bool or a boolean scalar.
        """

    @abc.abstractmethod
    def get_config(self) -> Any:
        """The arguments that make such a scale."""

    @classmethod
    def from_config(cls, config: Any) -> LossScale:
        """A scale of the arguments that `get_config` gives."""
        return cls(**config)

    def _add_weight(self, name: str, initial_value: Any, dtype: DTypeLike | None = None) -> Any:
        """A variable of this scale; RuntimeError where there is one of the name."""
        variable = tf.Variable(
            initial_value, name=name, dtype=dtype, trainable=False, use_resource=True
        )
        key = name, get_default_graph()
        if key in self._weights:
            raise RuntimeError(f"Duplicate variables detected. {key}")
        self._weights[key] = variable
        self._handle_deferred_dependencies(name=name, trackable=variable)
        return variable

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        graph = get_default_graph()
        weights = [
            TrackableReference(name, variable)
            for (name, home), variable in sorted(self._weights.items(), key=lambda item: item[0][0])
            if home is graph
        ]
        return [*super()._checkpoint_dependencies, *weights]

    def _lookup_dependency(self, name: str) -> Any:
        found = super()._lookup_dependency(name)
        return self._weights.get((name, get_default_graph())) if found is None else found


def get_loss_scale_weights(loss_scale: LossScale) -> Any:
    """The variables of a scale."""
    return loss_scale._weights.values()


@export("train.experimental.FixedLossScale")
class FixedLossScale(LossScale):
    """A scale that stays.

    Args:
        loss_scale_value: the scale, a number of Python.

    Raises:
        ValueError: it is no number, or less than 1.
    """

    def __init__(self, loss_scale_value: float) -> None:
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        """The scale."""
        return convert_to_tensor(self._loss_scale_value)

    def update(self, grads: Any) -> Any:
        """An operation that does nothing; gradients are always applied."""
        del grads
        return raw.NoOp(), True

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"

    def get_config(self) -> dict[Any, Any]:
        """The scale, as argument."""
        return {"loss_scale_value": self._loss_scale_value}


def _is_all_finite(grads: list[Any]) -> Any:
    """Whether all gradients are."""
    return tf.reduce_all([tf.reduce_all(tf.is_finite(grad)) for grad in grads if grad is not None])


def _assign_if_finite(variable: Variable, value: Any) -> Any:
    return tf.cond(tf.is_finite(value), lambda: variable.assign(value).op, tf.no_op)


@export("train.experimental.DynamicLossScale")
class DynamicLossScale(LossScale):
    """A scale that grows until gradients are not finite any more, and then falls.

    Args:
        initial_loss_scale: the scale of the first step.
        increment_period: after so many steps in a row with finite gradients it grows.
        multiplier: by how much it grows and falls; it never falls below 1.

    Example:
        >>> scale = tf.train.experimental.DynamicLossScale(4.0, increment_period=1)
        >>> update, applies = scale.update([tf.constant(1.0)])
        >>> with tf.Session() as session:
        ...     _ = session.run(tf.global_variables_initializer())
        ...     _ = session.run(update)
        ...     print(session.run(scale()))
        8.0
    """

    def __init__(
        self,
        initial_loss_scale: float = 2**15,
        increment_period: int = 2000,
        multiplier: float = 2.0,
    ) -> None:
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = self._add_weight(
            name="current_loss_scale", dtype=dtypes.float32, initial_value=self._initial_loss_scale
        )
        self._num_good_steps = self._add_weight(
            name="good_steps", dtype=dtypes.int64, initial_value=0
        )

    @property
    def initial_loss_scale(self) -> float:
        """The scale of the first step."""
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        """After so many good steps the scale grows."""
        return self._increment_period

    @property
    def multiplier(self) -> float:
        """By how much it grows and falls."""
        return self._multiplier

    def __call__(self) -> Tensor:
        """The scale of this step."""
        return convert_to_tensor(self._current_loss_scale)

    def update(self, grads: Any) -> tuple[Any, Any]:
        """An operation that changes the scale; gradients are applied where all are finite."""
        is_finite = _is_all_finite(flatten(grads))
        update = tf.cond(is_finite, self._after_good_step, self._after_bad_step)
        return update, is_finite

    def _after_good_step(self) -> Any:
        def grow() -> Any:
            larger = self._current_loss_scale * self._multiplier
            return tf.group(
                _assign_if_finite(self._current_loss_scale, larger), self._num_good_steps.assign(0)
            )

        return tf.cond(
            self._num_good_steps + 1 >= self._increment_period,
            grow,
            lambda: self._num_good_steps.assign_add(1).op,
        )

    def _after_bad_step(self) -> Any:
        smaller = tf.maximum(self._current_loss_scale / self._multiplier, 1)
        return tf.group(self._num_good_steps.assign(0), self._current_loss_scale.assign(smaller))

    def __repr__(self) -> str:
        return (
            f"DynamicLossScale(initial_loss_scale={self.initial_loss_scale}, "
            f"increment_period={self.increment_period}, multiplier={self.multiplier})"
        )

    def get_config(self) -> dict[Any, Any]:
        """The three arguments."""
        return {
            "initial_loss_scale": self.initial_loss_scale,
            "increment_period": self.increment_period,
            "multiplier": self.multiplier,
        }


def get(identifier: Any) -> LossScale | None:
    """A scale of a number, of "dynamic" or of a scale; None of None."""
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")
