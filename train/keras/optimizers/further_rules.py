# SPDX-License-Identifier: Apache-2.0
"""Optimizers that add up squares: Adagrad, Adadelta, Ftrl."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....ops.public import tf
from ..backend.settings import epsilon as default_epsilon
from .rules import Rule, raw


class _Accumulating(Rule):
    """An optimizer whose first slot begins at a value."""

    _initial_accumulator_value: float

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for variable in var_list:
            first = tf.constant_initializer(
                self._initial_accumulator_value, dtype=variable.dtype.base_dtype
            )
            self.add_slot(variable, "accumulator", first)
            for name in self._slots_of[1:]:
                self.add_slot(variable, name)


class Adagrad(_Accumulating):
    """Gradients over the root of the sum of their squares.

    Args:
        learning_rate: a number, a tensor, a function or a schedule.
        initial_accumulator_value: where the sum begins.
        epsilon: added to the root; that of settings if None.
        name, lr, decay, clipnorm, clipvalue: as of Optimizer.

    Raises:
        ValueError: the sum would begin below zero.
    """

    _others = ("epsilon",)
    _order = ("epsilon", "neg_lr_t", "zero")
    _slots_of = ("accumulator",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        name: str = "Adagrad",
        **kwargs: Any,
    ) -> None:
        if initial_accumulator_value < 0.0:
            raise ValueError(
                f"initial_accumulator_value must be non-negative: {initial_accumulator_value}"
            )
        self._begin(name, kwargs, learning_rate)
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon or default_epsilon()

    def _apply(self, gradient: Any, variable: Any, given: dict[str, Any]) -> Any:
        return raw.ResourceApplyAdagradV2(
            *self._handles(variable), given["lr_t"], given["epsilon"], gradient, use_locking=True
        )

    def _apply_rows(self, gradient: Any, variable: Any, indices: Any, given: dict[str, Any]) -> Any:
        return raw.ResourceSparseApplyAdagradV2(
            *self._handles(variable),
            given["lr_t"],
            given["epsilon"],
            gradient,
            indices,
            use_locking=True,
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        first = self._initial_accumulator_value
        return {**super().get_config(), "initial_accumulator_value": first}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """An optimizer of what `get_config` gave; in older Keras sums begin at 0."""
        config.setdefault("initial_accumulator_value", 0.0)  # (In place, as in TensorFlow.)
        return super().from_config(config, custom_objects)


class Adadelta(Rule):
    """Steps of the size of earlier ones, of arXiv 1212.5701.

    Args:
        learning_rate: a number, a tensor, a function or a schedule.
        rho: the share of the means that is kept.
        epsilon: added to the roots; that of settings if None.
        name, lr, decay, clipnorm, clipvalue: as of Optimizer.
    """

    _numbers = ("rho",)
    _others = ("epsilon",)
    _order = ("epsilon", "rho")
    _slots_of = ("accum_grad", "accum_var")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: Any = 0.95,
        epsilon: float = 1e-7,
        name: str = "Adadelta",
        **kwargs: Any,
    ) -> None:
        self._begin(name, kwargs, learning_rate, rho=rho)
        self.epsilon = epsilon or default_epsilon()

    def _apply(self, gradient: Any, variable: Any, given: dict[str, Any]) -> Any:
        numbers = [given[key] for key in ("lr_t", "rho", "epsilon")]
        return raw.ResourceApplyAdadelta(
            *self._handles(variable), *numbers, gradient, use_locking=True
        )

    def _apply_rows(self, gradient: Any, variable: Any, indices: Any, given: dict[str, Any]) -> Any:
        numbers = [given[key] for key in ("lr_t", "rho", "epsilon")]
        return raw.ResourceSparseApplyAdadelta(
            *self._handles(variable), *numbers, gradient, indices, use_locking=True
        )


class Ftrl(_Accumulating):
    """Follow the regularized leader.

    Args:
        learning_rate: a number, a tensor, a function or a schedule.
        learning_rate_power: how the rate falls, not above 0.
        initial_accumulator_value: where sums of squares begin.
        l1_regularization_strength, l2_regularization_strength: factors of these costs.
        name: as of Optimizer.
        l2_shrinkage_regularization_strength: a factor of squares that shrinks gradients' sums.
        decay, clipnorm, clipvalue: as of Optimizer.

    Raises:
        ValueError: a number is on the wrong side of zero.
    """

    _numbers = ("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength")
    _slots_of = ("accumulator", "linear")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1_regularization_strength: float = 0.0,
        l2_regularization_strength: float = 0.0,
        name: str = "Ftrl",
        l2_shrinkage_regularization_strength: float = 0.0,
        **kwargs: Any,
    ) -> None:
        positive = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for what, value in positive.items():
            if value < 0.0:
                raise ValueError(f"{what} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(
                f"learning_rate_power {learning_rate_power:f} needs to be negative or zero"
            )
        self._begin(
            name,
            kwargs,
            learning_rate,
            learning_rate_power=learning_rate_power,
            l1_regularization_strength=l1_regularization_strength,
            l2_regularization_strength=l2_regularization_strength,
        )
        self._initial_accumulator_value = initial_accumulator_value
        self._shrinkage = l2_shrinkage_regularization_strength

    def _coefficients(self, dtype: Any) -> dict[str, Any]:
        return {
            **super()._coefficients(dtype),
            "l2_shrinkage_regularization_strength": tf.cast(self._shrinkage, dtype),
        }

    def _apply_form(self, form: str, variable: Any, given: dict[str, Any], *rows: Any) -> Any:
        power, l1, l2 = (given[name] for name in self._numbers)
        numbers = [given["lr_t"], l1, l2, power]
        op = f"Resource{form}Ftrl"
        if self._shrinkage > 0.0:
            op = f"{op}V2"
            numbers.insert(3, given["l2_shrinkage_regularization_strength"])
        return getattr(raw, op)(*self._handles(variable), *rows, *numbers, use_locking=True)

    def _apply(self, gradient: Any, variable: Any, given: dict[str, Any]) -> Any:
        return self._apply_form("Apply", variable, given, gradient)

    def _apply_rows(self, gradient: Any, variable: Any, indices: Any, given: dict[str, Any]) -> Any:
        return self._apply_form("SparseApply", variable, given, gradient, indices)

    def get_config(self) -> dict[str, Any]:
        """The arguments."""
        return {
            **super().get_config(),
            "initial_accumulator_value": self._initial_accumulator_value,
            "l2_shrinkage_regularization_strength": self._shrinkage,
        }
