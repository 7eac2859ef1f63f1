# SPDX-License-Identifier: Apache-2.0
"""Distributions on the real line with place and width: normal, Laplace, Student's t, uniform."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.signatures import without_private_bases
from ..nn.activation import softplus
from ..public import tf
from . import special
from .checks import gen_new_seed
from .distribution import FULLY_REPARAMETERIZED, Distribution, nan_like
from .divergence import RegisterKL

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


class _Located(Distribution):
    """A distribution with a place and a scale."""

    _draws_numbers = True
    _loc: Tensor
    _scale: Tensor
    _shaped: tuple[str, ...] = ("loc", "scale")

    def _set(self, loc: TensorLike, scale: TensorLike, validate_args: bool) -> None:
        with control_dependencies([tf.assert_positive(scale)] if validate_args else []):
            self._loc = tf.identity(loc, name="loc")
            self._scale = tf.identity(scale, name="scale")
            tf.assert_same_float_dtype([self._loc, self._scale])

    @property
    def loc(self) -> Tensor:
        """The place of the middle."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The width."""
        return self._scale

    @property
    def _like(self) -> Sequence[Tensor]:
        return self.loc, self.scale

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._log_unnormalized_prob(x) - self._log_normalization()

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        raise self._not_stated("log_prob")

    def _log_normalization(self) -> Tensor:
        raise self._not_stated("log_prob")

    def _z(self, x: Tensor) -> Tensor:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale

    def _shape_of(self, n: TensorLike) -> Tensor:
        return tf.concat([[n], self.batch_shape_tensor()], 0)


@without_private_bases
class Normal(_Located):
    """The normal distribution with mean `loc` and standard deviation `scale`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            self._set(loc, scale, validate_args)
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._loc, self._scale],
            name=name,
        )

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = tf.random_normal(
            shape=self._shape_of(n), mean=0.0, stddev=1.0, dtype=self.loc.dtype, seed=seed
        )
        return drawn * self.scale + self.loc

    def _log_cdf(self, x: Tensor) -> Tensor:
        return special.log_ndtr(self._z(x))

    def _cdf(self, x: Tensor) -> Tensor:
        return special.ndtr(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return special.log_ndtr(-self._z(x))

    def _survival_function(self, x: Tensor) -> Tensor:
        return special.ndtr(-self._z(x))

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        return -0.5 * tf.square(self._z(x))

    def _log_normalization(self) -> Tensor:
        return 0.5 * math.log(2.0 * math.pi) + tf.log(self.scale)

    def _entropy(self) -> Tensor:
        scale = self.scale * tf.ones_like(self.loc)
        return 0.5 * math.log(2.0 * math.pi * math.e) + tf.log(scale)

    def _mean(self) -> Tensor:
        return self.loc * tf.ones_like(self.scale)

    def _quantile(self, p: Tensor) -> Tensor:
        z = special.ndtri(p)
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc

    def _stddev(self) -> Tensor:
        return self.scale * tf.ones_like(self.loc)

    def _mode(self) -> Tensor:
        return self._mean()


class NormalWithSoftplusScale(Normal):
    """A normal distribution with standard deviation softplus(`scale`)."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NormalWithSoftplusScale",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[scale]) as name:
            width = softplus(scale, name="softplus_scale")
            super().__init__(loc, width, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@RegisterKL(Normal, Normal)
def _kl_normal_normal(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_normal_normal", [a.loc, b.loc]):
        one, two, half = (tf.constant(value, dtype=a.dtype) for value in (1, 2, 0.5))
        variance = tf.square(b.scale)
        ratio = tf.square(a.scale) / variance
        distance = tf.squared_difference(a.loc, b.loc) / (two * variance)
        # ((mu_a - mu_b)^2 / var_b + var_a / var_b - 1 - log(var_a / var_b)) / 2.
        return distance + half * (ratio - one - tf.log(ratio))


@without_private_bases
class Laplace(_Located):
    """The Laplace distribution, two exponential ones back to back at `loc`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            self._set(loc, scale, validate_args)
            super().__init__(
                dtype=self._loc.dtype,
                reparameterization_type=FULLY_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                graph_parents=[self._loc, self._scale],
                name=name,
            )

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        kind = self.dtype.as_numpy_dtype
        # Open at both ends: the logarithm is finite.
        drawn = tf.random_uniform(
            shape=self._shape_of(n),
            minval=np.nextafter(kind(-1.0), kind(0.0)),
            maxval=1.0,
            dtype=self.dtype,
            seed=seed,
        )
        # The inverse of the integral at a number that is uniform in (-1, 1).
        return self.loc - self.scale * tf.sign(drawn) * tf.log1p(-tf.abs(drawn))

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def _prob(self, x: Tensor) -> Tensor:
        return tf.exp(self._log_prob(x))

    def _log_cdf(self, x: Tensor) -> Tensor:
        return special.log_cdf_laplace(self._z(x))

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return special.log_cdf_laplace(-self._z(x))

    def _cdf(self, x: Tensor) -> Tensor:
        z = self._z(x)
        return 0.5 + 0.5 * tf.sign(z) * (1.0 - tf.exp(-tf.abs(z)))

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        return -tf.abs(self._z(x))

    def _log_normalization(self) -> Tensor:
        return math.log(2.0) + tf.log(self.scale)

    def _entropy(self) -> Tensor:
        return math.log(2.0) + 1.0 + tf.log(self.scale + tf.zeros_like(self.loc))

    def _mean(self) -> Tensor:
        return self.loc + tf.zeros_like(self.scale)

    def _stddev(self) -> Tensor:
        return math.sqrt(2.0) * self.scale + tf.zeros_like(self.loc)

    def _mode(self) -> Tensor:
        return self._mean()


@without_private_bases
class StudentT(_Located):
    """Student's t distribution of `df` degrees of freedom, moved and scaled."""

    _shaped: tuple[str, ...] = ("df", "loc", "scale")

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df, loc, scale]) as name:
            with control_dependencies([tf.assert_positive(df)] if validate_args else []):
                self._df = tf.identity(df, name="df")
                self._loc = tf.identity(loc, name="loc")
                self._scale = tf.identity(scale, name="scale")
                tf.assert_same_float_dtype((self._df, self._loc, self._scale))
        super().__init__(
            dtype=self._scale.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._df, self._loc, self._scale],
            name=name,
        )

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def _like(self) -> Sequence[Tensor]:
        return self.df, self.loc, self.scale

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        drawn = tf.random_normal(self._shape_of(n), dtype=self.dtype, seed=seed)
        df = self.df * tf.ones(self.batch_shape_tensor(), dtype=self.dtype)
        # A normal number over the root of chi-square / df, and chi-square with df degrees is
        # Gamma(df / 2, rate 1 / 2).
        gamma = tf.random_gamma(
            [n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=gen_new_seed(seed, salt="student_t")
        )
        return drawn * tf.rsqrt(gamma / df) * self.scale + self.loc

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        y = (x - self.loc) / self.scale
        return -0.5 * (self.df + 1.0) * tf.log1p(y**2.0 / self.df)

    def _log_normalization(self) -> Tensor:
        return (
            tf.log(tf.abs(self.scale))
            + 0.5 * tf.log(self.df)
            + 0.5 * np.log(np.pi)
            + tf.lgamma(0.5 * self.df)
            - tf.lgamma(0.5 * (self.df + 1.0))
        )

    def _cdf(self, x: Tensor) -> Tensor:
        y = (x - self.loc) / tf.abs(self.scale)
        # Abramowitz and Stegun, 26.7.1: the probability beyond |y| on one side.
        share = self.df / (y**2.0 + self.df)
        tail = 0.5 * tf.betainc(0.5 * self.df, 0.5, share)
        return tf.where_v2(tf.less(y, 0.0), tail, 1.0 - tail)

    def _entropy(self) -> Tensor:
        df = self.df
        ones = tf.ones(self.batch_shape_tensor(), dtype=self.dtype)[..., None]
        ends = tf.concat([ones * df[..., None], ones], -1) / 2.0
        return (
            tf.log(tf.abs(self.scale))
            + 0.5 * tf.log(df)
            + tf.lbeta(ends)
            + 0.5 * (df + 1.0) * (tf.digamma(0.5 * (df + 1.0)) - tf.digamma(0.5 * df))
        )

    def _mean(self) -> Tensor:
        mean = self.loc * tf.ones(self.batch_shape_tensor(), dtype=self.dtype)
        return self._where_heavy(mean, "mean not defined for components of df <= 1")

    def _where_heavy(self, value: Tensor, text: str) -> Tensor:
        """A statistic that exists where there is more than one degree of freedom."""
        if not self.allow_nan_stats:
            return self._where_defined(value, (self.df, text))
        is_defined = tf.greater(self.df, tf.ones(self.batch_shape_tensor(), dtype=self.dtype))
        return tf.where_v2(is_defined, value, nan_like(self.batch_shape_tensor(), self.dtype))

    def _variance(self) -> Tensor:
        df, shape = self.df, self.batch_shape_tensor
        two, infinity = (np.array(value, self.dtype.np_dtype) for value in (2, np.inf))
        # The inner choice keeps a division by zero, and its gradient's NaN, out of what is not
        # chosen.
        divisor = tf.where_v2(tf.greater(df, 2.0), df - 2.0, tf.ones_like(df))
        finite = tf.ones(shape(), dtype=self.dtype) * tf.square(self.scale) * df / divisor
        is_finite = df > tf.fill(shape(), two)
        variance = tf.where_v2(is_finite, finite, tf.fill(shape(), infinity, name="inf"))
        return self._where_heavy(variance, "variance not defined for components of df <= 1")

    def _mode(self) -> Tensor:
        return tf.identity(self.loc)


class Uniform(Distribution):
    """The uniform distribution from `low` up to, and without, `high`."""

    _draws_numbers = True
    _shaped: tuple[str, ...] = ("low", "high")

    def __init__(
        self,
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[low, high]) as name:
            text = "uniform not defined when low >= high."
            checks = [tf.assert_less(low, high, message=text)] if validate_args else []
            with control_dependencies(checks):
                self._low = tf.identity(low, name="low")
                self._high = tf.identity(high, name="high")
                tf.assert_same_float_dtype([self._low, self._high])
        super().__init__(
            dtype=self._low.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._low, self._high],
            name=name,
        )

    @property
    def low(self) -> Tensor:
        """The lower bound."""
        return self._low

    @property
    def high(self) -> Tensor:
        """The upper bound."""
        return self._high

    @property
    def _like(self) -> Sequence[Tensor]:
        return self.low, self.high

    def range(self, name: str = "range") -> Tensor:
        """How far the bounds are apart."""
        with self._name_scope(name):
            return self.high - self.low

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        drawn = tf.random_uniform(shape=shape, dtype=self.dtype, seed=seed)
        return self.low + self.range() * drawn

    def _prob(self, x: Tensor) -> Tensor:
        x = convert_to_tensor(x) * tf.ones(self.batch_shape_tensor(), dtype=x.dtype)
        is_nan = tf.is_nan(x)
        is_outside = tf.logical_or(x < self.low, x >= self.high)
        inside = tf.where_v2(is_outside, tf.zeros_like(x), tf.ones_like(x) / self.range())
        return tf.where_v2(is_nan, x, inside)

    def _cdf(self, x: Tensor) -> Tensor:
        shape = tf.broadcast_dynamic_shape(tf.shape(x), self.batch_shape_tensor())
        zeros, ones = tf.zeros(shape, dtype=self.dtype), tf.ones(shape, dtype=self.dtype)
        spread = x * ones
        rising = tf.where_v2(x < self.low, zeros, (spread - self.low) / self.range())
        return tf.where_v2(x >= self.high, ones, rising)

    def _entropy(self) -> Tensor:
        return tf.log(self.range())

    def _mean(self) -> Tensor:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Tensor:
        return tf.square(self.range()) / 12.0

    def _stddev(self) -> Tensor:
        return self.range() / math.sqrt(12.0)
