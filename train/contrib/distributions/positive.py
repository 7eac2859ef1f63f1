# SPDX-License-Identifier: Apache-2.0
"""Chi-square and inverse gamma distributions, and Kumaraswamy's, much like a beta distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....ops.control import with_dependencies
from ....ops.distributions.distribution import FULLY_REPARAMETERIZED, Distribution, nan_like
from ....ops.distributions.location_scale import Uniform
from ....ops.distributions.positive_support import Gamma
from ....ops.distributions.transformed_distribution import TransformedDistribution
from ....ops.nn.activation import softplus
from ....ops.public import tf
from .bijectors.elementwise import Kumaraswamy as KumaraswamyBijector
from .distribution_util import get_broadcast_shape

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


@export("contrib.distributions.Chi2")
class Chi2(Gamma):
    """The chi-square distribution of `df` degrees of freedom."""

    _shaped: tuple[str, ...] = ("df",)

    def __init__(
        self,
        df: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            with control_dependencies([tf.assert_positive(df)] if validate_args else []):
                self._df = tf.identity(df, name="df")
            shape = 0.5 * self._df
            half = tf.constant(0.5, dtype=self._df.dtype)
            super().__init__(shape, half, validate_args, allow_nan_stats, name)
        self._parameters = parameters

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df


@export("contrib.distributions.Chi2WithAbsDf")
class Chi2WithAbsDf(Chi2):
    """The chi-square distribution of floor(|`df`|) degrees of freedom."""

    def __init__(
        self,
        df: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Chi2WithAbsDf",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[df]) as name:
            whole = tf.floor(tf.abs(df, name="abs_df"), name="floor_abs_df")
            super().__init__(whole, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@export("contrib.distributions.InverseGamma")
class InverseGamma(Distribution):
    """The distribution of 1 / x for x of a gamma distribution."""

    _draws_numbers = True
    _shaped: tuple[str, ...] = ("concentration", "rate")

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            checked = [concentration, rate] if validate_args else []
            with control_dependencies([tf.assert_positive(x) for x in checked]):
                self._concentration = tf.identity(concentration, name="concentration")
                self._rate = tf.identity(rate, name="rate")
                tf.assert_same_float_dtype([self._concentration, self._rate])
        parents = [self._concentration, self._rate]
        self._complete(parameters, parents, name, self._concentration.dtype)

    @property
    def concentration(self) -> Tensor:
        """The shape parameter."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The scale."""
        return self._rate

    @property
    def _like(self) -> Sequence[Tensor]:
        return self.concentration, self.rate

    def _sampled(self, x: Tensor) -> Tensor:
        tf.assert_same_float_dtype(tensors=[x], dtype=self.dtype)
        return self._checked(x, lambda: tf.assert_positive(x))

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return 1.0 / tf.random_gamma(
            shape=[n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed
        )

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._sampled(x)
        likely = -(1.0 + self.concentration) * tf.log(x) - self.rate / x
        return likely - (tf.lgamma(self.concentration) - self.concentration * tf.log(self.rate))

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.igammac(self.concentration, self.rate / self._sampled(x))

    def _entropy(self) -> Tensor:
        shape = self.concentration
        total = shape + tf.log(self.rate) + tf.lgamma(shape)
        return total - (1.0 + shape) * tf.digamma(shape)

    def _moment(self, value: Tensor, bound: float, what: str) -> Tensor:
        """A moment that exists for concentrations above a bound."""
        if self.allow_nan_stats:
            nan = nan_like(self.batch_shape_tensor(), self.dtype)
            return tf.where_v2(self.concentration > bound, value, nan)
        text = f"{what} undefined when any concentration <= {bound:.0f}"
        least = tf.constant(bound, dtype=self.dtype)
        check = tf.assert_less(least, self.concentration, message=text)
        return with_dependencies([check], value)

    def _mean(self) -> Tensor:
        return self._moment(self.rate / (self.concentration - 1.0), 1.0, "mean")

    def _variance(self) -> Tensor:
        square = tf.square(self.rate) / tf.squared_difference(self.concentration, 1.0)
        return self._moment(square / (self.concentration - 2.0), 2.0, "variance")

    def _mode(self) -> Tensor:
        return self.rate / (1.0 + self.concentration)


@export("contrib.distributions.InverseGammaWithSoftplusConcentrationRate")
class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """The inverse gamma distribution with softplus of `concentration` and `rate`."""

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[concentration, rate]) as name:
            shape = softplus(concentration, name="softplus_concentration")
            scale = softplus(rate, name="softplus_rate")
            super().__init__(shape, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


@export("contrib.distributions.Kumaraswamy")
class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy's distribution of numbers between 0 and 1, much like a beta distribution."""

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Kumaraswamy",
    ) -> None:
        given: dict[str, Any] = {
            "concentration1": concentration1,
            "concentration0": concentration0,
        }
        with name_scope(name, values=list(given.values())) as name:
            first, second = (convert_to_tensor(value, name=key) for key, value in given.items())
        super().__init__(
            distribution=Uniform(
                low=tf.zeros([], dtype=first.dtype),
                high=tf.ones([], dtype=first.dtype),
                allow_nan_stats=allow_nan_stats,
            ),
            bijector=KumaraswamyBijector(first, second, validate_args=validate_args),
            batch_shape=get_broadcast_shape(first, second),
            name=name,
        )
        self._reparameterization_type = FULLY_REPARAMETERIZED

    @property
    def concentration1(self) -> Tensor:
        """What draws towards 1."""
        return self.bijector.concentration1

    @property
    def concentration0(self) -> Tensor:
        """What draws towards 0."""
        return self.bijector.concentration0

    def _entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        one = tf.ones([], dtype=b.dtype)
        harmonic = tf.digamma(b + one) - tf.digamma(one)
        return (1 - 1.0 / a) + (1 - 1.0 / b) * harmonic + tf.log(a) + tf.log(b)

    def _moment(self, n: int) -> Tensor:
        total = self.concentration1 + self.concentration0
        a = tf.ones_like(total, dtype=self.dtype) * self.concentration1
        b = tf.ones_like(total, dtype=self.dtype) * self.concentration0
        # b B(1 + n / a, b).
        return tf.exp(tf.log(b) + tf.lbeta(tf.stack([1 + n / a, b], -1)))

    def _mean(self) -> Tensor:
        return self._moment(1)

    def _variance(self) -> Tensor:
        return self._moment(2) - tf.square(self._moment(1))

    def _mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return self._where_defined(
            ((a - 1) / (a * b - 1)) ** (1.0 / a),
            (a, "Mode undefined for concentration1 <= 1."),
            (b, "Mode undefined for concentration0 <= 1."),
        )
