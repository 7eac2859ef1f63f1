# SPDX-License-Identifier: Apache-2.0
"""Distributions of positive numbers and of probabilities: gamma, exponential, beta, Dirichlet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types.shape import TensorShape
from ..control import with_dependencies
from ..math.arithmetic import xlogy
from ..public import tf
from .checks import gen_new_seed
from .distribution import FULLY_REPARAMETERIZED, Distribution, nan_like
from .divergence import RegisterKL

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


class Gamma(Distribution):
    """The gamma distribution of a shape (`concentration`) and an inverse scale (`rate`)."""

    _draws_numbers = True
    _shaped: tuple[str, ...] = ("concentration", "rate")

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            checked = [concentration, rate] if validate_args else []
            with control_dependencies([tf.assert_positive(x) for x in checked]):
                self._concentration = tf.identity(concentration, name="concentration")
                self._rate = tf.identity(rate, name="rate")
                tf.assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration, self._rate],
            name=name,
        )

    @property
    def concentration(self) -> Tensor:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The inverse scale."""
        return self._rate

    @property
    def _like(self) -> Sequence[Tensor]:
        return self.concentration, self.rate

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return tf.random_gamma(
            shape=[n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed
        )

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._sampled(x)
        likely = xlogy(self.concentration - 1.0, x) - self.rate * x
        return likely - (tf.lgamma(self.concentration) - self.concentration * tf.log(self.rate))

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.igamma(self.concentration, self.rate * self._sampled(x))

    def _sampled(self, x: Tensor) -> Tensor:
        tf.assert_same_float_dtype(tensors=[x], dtype=self.dtype)
        return self._checked(x, lambda: tf.assert_positive(x))

    def _entropy(self) -> Tensor:
        shape = self.concentration
        return shape - tf.log(self.rate) + tf.lgamma(shape) + (1.0 - shape) * tf.digamma(shape)

    def _mean(self) -> Tensor:
        return self.concentration / self.rate

    def _variance(self) -> Tensor:
        return self.concentration / tf.square(self.rate)

    def _stddev(self) -> Tensor:
        return tf.sqrt(self.concentration) / self.rate

    def _mode(self) -> Tensor:
        text = "mode not defined when any concentration <= 1"
        return self._where_defined(
            (self.concentration - 1.0) / self.rate, (self.concentration, text)
        )


@RegisterKL(Gamma, Gamma)
def _kl_gamma_gamma(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    with name_scope(
        name, "kl_gamma_gamma", values=[a.concentration, a.rate, b.concentration, b.rate]
    ):
        return (
            (a.concentration - b.concentration) * tf.digamma(a.concentration)
            + tf.lgamma(b.concentration)
            - tf.lgamma(a.concentration)
            + b.concentration * tf.log(a.rate)
            - b.concentration * tf.log(b.rate)
            + a.concentration * (b.rate / a.rate - 1.0)
        )


class Exponential(Gamma):
    """The exponential distribution of a `rate`."""

    _shaped: tuple[str, ...] = ("rate",)

    def __init__(
        self,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Exponential",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            rate = convert_to_tensor(rate, name="rate")
        one = tf.ones([], dtype=rate.dtype)
        super().__init__(one, rate, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    def _log_survival_function(self, value: Tensor) -> Tensor:
        return self._log_prob(value) - tf.log(self._rate)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        # Zero is left out: its logarithm is infinite.
        drawn = tf.random_uniform(
            tf.concat([[n], tf.shape(self._rate)], 0),
            minval=np.finfo(self.dtype.as_numpy_dtype).tiny,
            maxval=1.0,
            seed=seed,
            dtype=self.dtype,
        )
        return -tf.log(drawn) / self._rate


class Beta(Distribution):
    """The beta distribution of `concentration1` successes and `concentration0` failures."""

    _draws_numbers = True
    _shaped: tuple[str, ...] = ("concentration1", "concentration0")

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        parameters = dict(locals())
        self._validate_args = validate_args
        with name_scope(name, values=[concentration1, concentration0]) as name:
            given = {"concentration1": concentration1, "concentration0": concentration0}
            self._concentration1, self._concentration0 = (
                self._concentrated(convert_to_tensor(value, name=key))
                for key, value in given.items()
            )
            tf.assert_same_float_dtype([self._concentration1, self._concentration0])
            self._total_concentration = self._concentration1 + self._concentration0
        super().__init__(
            dtype=self._total_concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[
                self._concentration1,
                self._concentration0,
                self._total_concentration,
            ],
            name=name,
        )

    def _concentrated(self, x: Tensor) -> Tensor:
        text = "Concentration parameter must be positive."
        return self._checked(x, lambda: tf.assert_positive(x, message=text))

    @property
    def concentration1(self) -> Tensor:
        """What draws towards 1."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """What draws towards 0."""
        return self._concentration0

    @property
    def total_concentration(self) -> Tensor:
        """The sum of both."""
        return self._total_concentration

    @property
    def _like(self) -> Sequence[Tensor]:
        return (self.total_concentration,)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        alphas = [
            tf.ones_like(self.total_concentration, dtype=self.dtype) * alpha
            for alpha in (self.concentration1, self.concentration0)
        ]
        seeds = (seed, gen_new_seed(seed, "beta"))
        first, second = (
            tf.random_gamma(shape=[n], alpha=alpha, dtype=self.dtype, seed=its)
            for alpha, its in zip(alphas, seeds)
        )
        # X / (X + Y) of two gamma variables of one rate is a beta variable.
        return first / (first + second)

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._checked(
            x,
            lambda: tf.assert_positive(x, message="sample must be positive"),
            lambda: tf.assert_less(
                x, tf.ones([], self.dtype), message="sample must be less than `1`."
            ),
        )
        likely = xlogy(self.concentration1 - 1.0, x)
        likely += (self.concentration0 - 1.0) * tf.log1p(-x)
        return likely - self._log_normalization()

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.betainc(self.concentration1, self.concentration0, x)

    def _log_normalization(self) -> Tensor:
        return (
            tf.lgamma(self.concentration1)
            + tf.lgamma(self.concentration0)
            - tf.lgamma(self.total_concentration)
        )

    def _entropy(self) -> Tensor:
        return (
            self._log_normalization()
            - (self.concentration1 - 1.0) * tf.digamma(self.concentration1)
            - (self.concentration0 - 1.0) * tf.digamma(self.concentration0)
            + (self.total_concentration - 2.0) * tf.digamma(self.total_concentration)
        )

    def _mean(self) -> Tensor:
        return self._concentration1 / self._total_concentration

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self.total_concentration)

    def _mode(self) -> Tensor:
        return self._where_defined(
            (self.concentration1 - 1.0) / (self.total_concentration - 2.0),
            (self.concentration1, "Mode undefined for concentration1 <= 1."),
            (self.concentration0, "Mode undefined for concentration0 <= 1."),
        )


@RegisterKL(Beta, Beta)
def _kl_beta_beta(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    values = [a.concentration1, a.concentration0, b.concentration1, b.concentration0]
    with name_scope(name, "kl_beta_beta", values=values):
        return (
            b._log_normalization()
            - a._log_normalization()
            - tf.digamma(a.concentration1) * (b.concentration1 - a.concentration1)
            - tf.digamma(a.concentration0) * (b.concentration0 - a.concentration0)
            + tf.digamma(a.total_concentration) * (b.total_concentration - a.total_concentration)
        )


class Dirichlet(Distribution):
    """The Dirichlet distribution: probabilities of classes, with one `concentration` each."""

    def __init__(
        self,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        parameters = dict(locals())
        self._validate_args = validate_args
        with name_scope(name, values=[concentration]) as name:
            given = convert_to_tensor(concentration, name="concentration")
            self._concentration = self._concentrated(given)
            self._total_concentration = tf.reduce_sum(self._concentration, -1)
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=FULLY_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._concentration, self._total_concentration],
            name=name,
        )

    def _concentrated(self, x: Tensor) -> Tensor:
        positive = "Concentration parameter must be positive."
        ranked = "Concentration parameter must have >=1 dimensions."
        several = "Concentration parameter must have event_size >= 2."
        return self._checked(
            x,
            lambda: tf.assert_positive(x, message=positive),
            lambda: tf.assert_rank_at_least(x, 1, message=ranked),
            lambda: tf.assert_less(1, tf.shape(x)[-1], message=several),
        )

    @property
    def concentration(self) -> Tensor:
        """One number per class."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """Their sum."""
        return self._total_concentration

    @property
    def _like(self) -> Sequence[Tensor]:
        return (self.total_concentration,)

    def _event_shape_tensor(self) -> Tensor:
        return tf.shape(self.concentration)[-1:]

    def _event_shape(self) -> TensorShape:
        return self.concentration.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        gamma = tf.random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        # Gamma variables of one rate, divided by their sum.
        return gamma / tf.reduce_sum(gamma, -1, keepdims=True)

    def _log_prob(self, x: Tensor) -> Tensor:
        unit = "sample last-dimension must sum to `1`"
        x = self._checked(
            x,
            lambda: tf.assert_positive(x, message="samples must be positive"),
            lambda: tf.assert_near(
                tf.ones([], dtype=self.dtype), tf.reduce_sum(x, -1), message=unit
            ),
        )
        likely = tf.reduce_sum(xlogy(self.concentration - 1.0, x), -1)
        return likely - tf.lbeta(self.concentration)

    def _entropy(self) -> Tensor:
        k = tf.cast(self.event_shape_tensor()[0], self.dtype)
        return (
            tf.lbeta(self.concentration)
            + (self.total_concentration - k) * tf.digamma(self.total_concentration)
            - tf.reduce_sum((self.concentration - 1.0) * tf.digamma(self.concentration), axis=-1)
        )

    def _mean(self) -> Tensor:
        return self.concentration / self.total_concentration[..., None]

    def _scale(self) -> Tensor:
        # Covariances are -m_i m_j / (1 + total), and variances m_i (1 - m_i) / (1 + total).
        return tf.rsqrt(1.0 + self.total_concentration[..., None])

    def _covariance(self) -> Tensor:
        x = self._scale() * self._mean()
        product = tf.matmul(x[..., None], x[..., None, :])
        return tf.matrix_set_diag(-product, self._variance())

    def _variance(self) -> Tensor:
        scale = self._scale()
        x = scale * self._mean()
        return x * (scale - x)

    def _mode(self) -> Tensor:
        k = tf.cast(self.event_shape_tensor()[0], self.dtype)
        mode = (self.concentration - 1.0) / (self.total_concentration[..., None] - k)
        if self.allow_nan_stats:
            nan = nan_like(tf.shape(mode), self.dtype)
            is_defined = tf.reduce_all(self.concentration > 1.0, axis=-1, keepdims=True)
            return tf.where_v2(is_defined, mode, nan)
        text = "Mode undefined when any concentration <= 1"
        one = tf.ones([], self.dtype)
        return with_dependencies([tf.assert_less(one, self.concentration, message=text)], mode)


@RegisterKL(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_dirichlet_dirichlet", values=[a.concentration, b.concentration]):
        total = tf.digamma(tf.reduce_sum(a.concentration, axis=-1, keepdims=True))
        slope = tf.digamma(a.concentration) - total
        slopes = (a.concentration - b.concentration) * slope
        return (
            tf.reduce_sum(slopes, axis=-1) - tf.lbeta(a.concentration) + tf.lbeta(b.concentration)
        )
