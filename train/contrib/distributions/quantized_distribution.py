# SPDX-License-Identifier: Apache-2.0
"""Draws rounded up to whole numbers, and cut off at bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types.shape import TensorShape
from ....ops.control import with_dependencies
from ....ops.distributions.distribution import Distribution
from ....ops.public import tf
from .distribution_util import assert_integer_form

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


def _log_difference(big: Tensor, small: Tensor) -> Tensor:
    """log(exp(big) - exp(small))."""
    with name_scope("logsum_expbig_minus_expsmall", values=[small, big]):
        return tf.log(1.0 - tf.exp(small - big)) + big


@export("contrib.distributions.QuantizedDistribution")
class QuantizedDistribution(Distribution):
    """ceil(x) for x of a distribution of numbers, not below `low` and not above `high`."""

    def __init__(
        self,
        distribution: Distribution,
        low: TensorLike | None = None,
        high: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "QuantizedDistribution",
    ) -> None:
        parameters = dict(locals())
        values = [*distribution.parameters.values(), low, high]
        with name_scope(name, values=values) as name:
            self._dist = distribution
            self._validate_args = validate_args
            given = {"low": low, "high": high}
            bounds: dict[str, Any] = {
                key: None if value is None else convert_to_tensor(value, name=key)
                for key, value in given.items()
            }
            tf.assert_same_float_dtype(tensors=[distribution, *bounds.values()])
            checks = []
            if validate_args and None not in given.values():
                text = "low must be strictly less than high."
                checks = [tf.assert_less(*bounds.values(), message=text)]
            with control_dependencies(checks):
                self._low, self._high = (
                    None if x is None else self._whole(x) for x in bounds.values()
                )
        added = [x for x in (self._low, self._high) if x is not None]
        kept = {**parameters, "allow_nan_stats": distribution.allow_nan_stats}
        self._complete(kept, [*distribution._graph_parents, *added], name, distribution.dtype)
        self._parameters = parameters

    @property
    def distribution(self) -> Distribution:
        """The distribution of what is rounded."""
        return self._dist

    @property
    def low(self) -> Any:
        """The least number; None for none."""
        return self._low

    @property
    def high(self) -> Any:
        """The greatest number; None for none."""
        return self._high

    def _batch_shape_tensor(self) -> Tensor:
        return self.distribution.batch_shape_tensor()

    def _batch_shape(self) -> TensorShape:
        return self.distribution.batch_shape

    def _event_shape_tensor(self) -> Tensor:
        return self.distribution.event_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self.distribution.event_shape

    def _whole(self, value: TensorLike) -> Tensor:
        with name_scope("check_integer", values=[value]):
            x = convert_to_tensor(value, name="value")
            if not self.validate_args:
                return x
            text = "value has non-integer components."
            return with_dependencies([assert_integer_form(x, message=text)], x)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        with name_scope("transform"):
            n = convert_to_tensor(n, name="n")
            drawn = self.distribution.sample(n, seed=seed)
            ones, found = tf.ones_like(drawn), tf.ceil(drawn)
            if self._low is not None:
                found = tf.where(found < self._low, self._low * ones, found)
            if self._high is not None:
                found = tf.where(found > self._high, self._high * ones, found)
            return found

    def _log_prob(self, y: Tensor) -> Tensor:
        y = self._whole(y)
        try:
            upper, lower = self.log_survival_function(y), self.log_survival_function(y - 1)
        except NotImplementedError:
            return _log_difference(self.log_cdf(y), self.log_cdf(y - 1))
        up_to, below = self.log_cdf(y), self.log_cdf(y - 1)
        # The smaller ones of the two differences have the more digits.
        is_right = upper < up_to
        return _log_difference(tf.where(is_right, lower, up_to), tf.where(is_right, upper, below))

    def _prob(self, y: Tensor) -> Tensor:
        y = self._whole(y)
        try:
            upper, lower = self.survival_function(y), self.survival_function(y - 1)
        except NotImplementedError:
            return self.cdf(y) - self.cdf(y - 1)
        up_to, below = self.cdf(y), self.cdf(y - 1)
        return tf.where(upper < up_to, lower - upper, up_to - below)

    def _within(self, what: str, j: Tensor, below: float, above: float) -> Tensor:
        """What the distribution says of j, but for what is beyond the bounds."""
        found = getattr(self.distribution, what)(j)
        j += tf.zeros_like(found)
        if self._low is not None:
            found = tf.where(j < self._low, below * tf.ones_like(found), found)
        if self._high is not None:
            found = tf.where(j >= self._high, above * tf.ones_like(found), found)
        return found

    def _log_cdf(self, y: Tensor) -> Tensor:
        return self._within("log_cdf", tf.floor(y), -np.inf, 0.0)

    def _cdf(self, y: Tensor) -> Tensor:
        return self._within("cdf", tf.floor(y), 0.0, 1.0)

    def _log_survival_function(self, y: Tensor) -> Tensor:
        return self._within("log_survival_function", tf.ceil(y), 0.0, -np.inf)

    def _survival_function(self, y: Tensor) -> Tensor:
        return self._within("survival_function", tf.ceil(y), 1.0, 0.0)
