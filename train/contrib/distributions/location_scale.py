# SPDX-License-Identifier: Apache-2.0
"""Distributions with place and width: Cauchy's, logistic, Gumbel's, half-normal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....engine.api import export
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.signatures import without_private_bases
from ....ops.distributions.distribution import Distribution
from ....ops.distributions.location_scale import _Located
from ....ops.distributions.special import erfinv
from ....ops.nn.activation import relu, softplus
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


def uniform_above_zero(shape: Tensor, one: Distribution, seed: int | None) -> Tensor:
    """Uniform numbers of which none is zero, whose logarithm is infinite."""
    tiny = np.finfo(one.dtype.as_numpy_dtype).tiny
    return tf.random_uniform(shape=shape, minval=tiny, maxval=1.0, dtype=one.dtype, seed=seed)


@export("contrib.distributions.Cauchy")
@without_private_bases
class Cauchy(_Located):
    """Cauchy's distribution, which has no mean."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Cauchy",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            self._set(loc, scale, validate_args)
        self._complete(parameters, [self._loc, self._scale], name, self._scale.dtype, True)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = tf.random_uniform(
            shape=self._shape_of(n), minval=0.0, maxval=1.0, dtype=self.dtype, seed=seed
        )
        return self._quantile(drawn)

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.atan(self._z(x)) / np.pi + 0.5

    def _log_cdf(self, x: Tensor) -> Tensor:
        return tf.log1p(2 / np.pi * tf.atan(self._z(x))) - np.log(2)

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        return -tf.log1p(tf.square(self._z(x)))

    def _log_normalization(self) -> Tensor:
        return np.log(np.pi) + tf.log(self.scale)

    def _entropy(self) -> Tensor:
        return (np.log(4 * np.pi) + tf.log(self.scale)) * tf.ones_like(self.loc)

    def _quantile(self, p: Tensor) -> Tensor:
        return self.loc + self.scale * tf.tan(np.pi * (p - 0.5))

    def _mode(self) -> Tensor:
        return self.loc * tf.ones_like(self.scale)

    def _undefined(self, what: str) -> Tensor:
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return tf.fill(self.batch_shape_tensor(), self.dtype.as_numpy_dtype(np.nan))

    def _mean(self) -> Tensor:
        return self._undefined("mean")

    def _stddev(self) -> Tensor:
        return self._undefined("stddev")


@export("contrib.distributions.Logistic")
@without_private_bases
class Logistic(_Located):
    """The logistic distribution, whose integral is the sigmoid."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            self._set(loc, scale, validate_args)
        self._complete(parameters, [self._loc, self._scale], name, self._scale.dtype, True)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = uniform_above_zero(self._shape_of(n), self, seed)
        # The logit, as x and 1 - x are of one distribution.
        return (tf.log(drawn) - tf.log1p(-1.0 * drawn)) * self.scale + self.loc

    def _log_cdf(self, x: Tensor) -> Tensor:
        return -softplus(-self._z(x))

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.sigmoid(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return -softplus(self._z(x))

    def _survival_function(self, x: Tensor) -> Tensor:
        return tf.sigmoid(-self._z(x))

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        z = self._z(x)
        return -z - 2.0 * softplus(-z)

    def _log_normalization(self) -> Tensor:
        return tf.log(self.scale)

    def _entropy(self) -> Tensor:
        return 2 + tf.log(self.scale * tf.ones_like(self.loc))

    def _mean(self) -> Tensor:
        return self.loc * tf.ones_like(self.scale)

    def _stddev(self) -> Tensor:
        return self.scale * tf.ones_like(self.loc) * math.pi / math.sqrt(3)

    def _mode(self) -> Tensor:
        return self._mean()


class _Gumbel(_Located):
    """Gumbel's distribution, that of the largest of many numbers."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gumbel",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            self._set(loc, scale, validate_args)
        self._complete(parameters, [self._loc, self._scale], name, self._scale.dtype, True)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = uniform_above_zero(self._shape_of(n), self, seed)
        return -tf.log(-tf.log(drawn)) * self.scale + self.loc

    def _log_cdf(self, x: Tensor) -> Tensor:
        return -tf.exp(-self._z(x))

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.exp(-tf.exp(-self._z(x)))

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        z = self._z(x)
        return -z - tf.exp(-z)

    def _log_normalization(self) -> Tensor:
        return tf.log(self.scale)

    def _entropy(self) -> Tensor:
        return 1 + tf.log(self.scale * tf.ones_like(self.loc)) + np.euler_gamma

    def _mean(self) -> Tensor:
        return self.loc + self.scale * np.euler_gamma

    def _stddev(self) -> Tensor:
        return self.scale * tf.ones_like(self.loc) * math.pi / math.sqrt(6)

    def _mode(self) -> Tensor:
        return self.loc * tf.ones_like(self.scale)


@export("contrib.distributions.HalfNormal")
class HalfNormal(Distribution):
    """The distribution of |x| for normal x around zero."""

    _draws_numbers = True
    _shaped: tuple[str, ...] = ("scale",)

    def __init__(
        self,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "HalfNormal",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            with control_dependencies([tf.assert_positive(scale)] if validate_args else []):
                self._scale = tf.identity(scale, name="scale")
        self._complete(parameters, [self._scale], name, self._scale.dtype, True)

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the normal distribution."""
        return self._scale

    @property
    def _like(self) -> Sequence[Tensor]:
        return (self.scale,)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        drawn = tf.random_normal(shape=shape, mean=0.0, stddev=1.0, dtype=self.dtype, seed=seed)
        return tf.abs(drawn * self.scale)

    def _prob(self, x: Tensor) -> Tensor:
        density = np.sqrt(2) / self.scale / np.sqrt(np.pi) * tf.exp(-0.5 * (x / self.scale) ** 2)
        return density * tf.cast(x >= 0, self.dtype)

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.erf(relu(x) / self.scale / np.sqrt(2.0))

    def _entropy(self) -> Tensor:
        return 0.5 * tf.log(np.pi * self.scale**2.0 / 2.0) + 0.5

    def _mean(self) -> Tensor:
        return self.scale * np.sqrt(2.0) / np.sqrt(np.pi)

    def _quantile(self, p: Tensor) -> Tensor:
        return np.sqrt(2.0) * self.scale * erfinv(p)

    def _mode(self) -> Tensor:
        return tf.zeros(self.batch_shape_tensor())

    def _variance(self) -> Tensor:
        return self.scale**2.0 * (1.0 - 2.0 / np.pi)
