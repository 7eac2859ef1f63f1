# SPDX-License-Identifier: Apache-2.0
"""Distributions of counts: binomial, geometric, negative binomial, Poisson's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.signatures import without_private_bases
from ....ops.control import with_dependencies
from ....ops.distributions.discrete import _WithProbabilities
from ....ops.distributions.distribution import Distribution
from ....ops.nn.activation import softplus
from ....ops.public import tf
from .distribution_util import (
    assert_integer_form,
    embed_check_nonnegative_integer_form,
    gen_new_seed,
    get_logits_and_probs,
)
from .location_scale import uniform_above_zero

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


class _Counted(_WithProbabilities):
    """How often something of a probability happens, in or until a number of trials."""

    _draws_numbers = True
    _total_count: Tensor

    @property
    def total_count(self) -> Tensor:
        """The number of trials, or of failures that end them."""
        return self._total_count

    @property
    def _like(self) -> Sequence[Tensor]:
        return self.total_count, self.probs

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._log_unnormalized_prob(x) - self._log_normalization(x)

    def _checked_count(self, x: Tensor) -> Tensor:
        return embed_check_nonnegative_integer_form(x) if self.validate_args else x

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        raise self._not_stated("log_prob")

    def _log_normalization(self, x: Tensor) -> Tensor:
        raise self._not_stated("log_prob")


def _binomial_integral(k: Tensor, n: Tensor, p: Tensor) -> Tensor:
    """The probability of up to k successes, by the incomplete beta function."""
    ones = tf.ones_like(n - k)
    is_all = tf.equal(k, n)
    # Where all are successes, an argument of zero would give NaN, and its gradient too.
    rest = tf.where_v2(is_all, ones, n - k)
    return tf.where_v2(is_all, ones, tf.betainc(a=rest, b=k + 1, x=1 - p))


@export("contrib.distributions.Binomial")
@without_private_bases
class Binomial(_Counted):
    """The binomial distribution: how many of `total_count` trials succeed."""

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            total = convert_to_tensor(total_count, name="total_count")
            if validate_args:
                whole = "total_count cannot contain fractional components."
                checks = [
                    tf.assert_non_negative(total, message="total_count must be non-negative."),
                    assert_integer_form(total, message=whole),
                ]
                total = with_dependencies(checks, total)
            self._total_count = total
            self._logits, self._probs = get_logits_and_probs(
                logits=logits, probs=probs, validate_args=validate_args, name=name
            )
        parents = [self._total_count, self._logits, self._probs]
        self._complete(parameters, parents, name, self._probs.dtype)

    def _checked_count(self, counts: Tensor) -> Tensor:
        if not self.validate_args:
            return counts
        counts = embed_check_nonnegative_integer_form(counts)
        text = "counts are not less than or equal to n."
        check = tf.assert_less_equal(counts, self.total_count, message=text)
        return with_dependencies([check], counts)

    def _cdf(self, counts: Tensor) -> Tensor:
        counts, probs = self._checked_count(counts), self.probs
        shapes = counts.shape, probs.shape
        known = all(shape.is_fully_defined() for shape in shapes)
        if not (known and shapes[0].is_compatible_with(shapes[1])):
            probs += tf.zeros_like(counts)
            counts += tf.zeros_like(self.probs)
        return _binomial_integral(k=counts, n=self.total_count, p=probs)

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        counts = self._checked_count(x)
        failures = self.total_count - counts
        return counts * tf.log(self.probs) + failures * tf.log1p(-self.probs)

    def _log_normalization(self, x: Tensor) -> Tensor:
        counts = self._checked_count(x)
        return (
            tf.lgamma(1.0 + self.total_count - counts)
            + tf.lgamma(1.0 + counts)
            - tf.lgamma(1.0 + self.total_count)
        )

    def _mean(self) -> Tensor:
        return self.total_count * self.probs

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Tensor:
        return tf.floor((1.0 + self.total_count) * self.probs)


@export("contrib.distributions.NegativeBinomial")
@without_private_bases
class NegativeBinomial(_Counted):
    """How many successes come before `total_count` failures."""

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, validate_args=validate_args, name=name
            )
            with control_dependencies([tf.assert_positive(total_count)] if validate_args else []):
                self._total_count = tf.identity(total_count)
        parents = [self._total_count, self._probs, self._logits]
        self._complete(parameters, parents, name, self._probs.dtype)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        # Poisson's distribution with a rate of a gamma distribution.
        rate = tf.random_gamma(
            shape=[n],
            alpha=self.total_count,
            beta=tf.exp(-self.logits),
            dtype=self.dtype,
            seed=seed,
        )
        other = gen_new_seed(seed, "negative_binom")
        return tf.random_poisson(rate, shape=[], dtype=self.dtype, seed=other)

    def _cdf(self, x: Tensor) -> Tensor:
        x = self._checked_count(x)
        return tf.betainc(self.total_count, 1.0 + x, tf.sigmoid(-self.logits))

    def _log_unnormalized_prob(self, x: Tensor) -> Tensor:
        x = self._checked_count(x)
        failures = self.total_count * tf.log_sigmoid(-self.logits)
        return failures + x * tf.log_sigmoid(self.logits)

    def _log_normalization(self, x: Tensor) -> Tensor:
        x = self._checked_count(x)
        total = self.total_count
        return -tf.lgamma(total + x) + tf.lgamma(1.0 + x) + tf.lgamma(total)

    def _mean(self) -> Tensor:
        return self.total_count * tf.exp(self.logits)

    def _mode(self) -> Tensor:
        zeros = tf.zeros_like(self.total_count)
        fewer = tf.where_v2(self.total_count > 1.0, self.total_count - 1.0, zeros)
        return tf.floor(fewer * tf.exp(self.logits))

    def _variance(self) -> Tensor:
        return self._mean() / tf.sigmoid(-self.logits)


@export("contrib.distributions.Geometric")
@without_private_bases
class Geometric(_WithProbabilities):
    """How many failures come before the first success."""

    _draws_numbers = True

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Geometric",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, found = get_logits_and_probs(
                logits, probs, validate_args=validate_args, name=name
            )
            with control_dependencies([tf.assert_positive(found)] if validate_args else []):
                self._probs = tf.identity(found, name="probs")
        self._complete(parameters, [self._probs, self._logits], name, self._probs.dtype)

    @property
    def _like(self) -> Sequence[Tensor]:
        return (self._probs,)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        shape = tf.concat([[n], tf.shape(self._probs)], 0)
        drawn = uniform_above_zero(shape, self, seed)
        # An exponential variable, rounded down.
        return tf.floor(tf.log(drawn) / tf.log1p(-self.probs))

    def _counted(self, x: Tensor) -> Tensor:
        x = embed_check_nonnegative_integer_form(x) if self.validate_args else tf.floor(x)
        return x * tf.ones_like(self.probs)

    def _cdf(self, x: Tensor) -> Tensor:
        x = self._counted(x)
        found = -tf.expm1((1.0 + x) * tf.log1p(-self.probs))
        return tf.where(x < 0.0, tf.zeros_like(x), found)

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._counted(x)
        probs = self.probs * tf.ones_like(x)
        # 0 log(0) of a probability of 1 is 0.
        safe = tf.where(tf.equal(x, 0.0), tf.zeros_like(probs), probs)
        return x * tf.log1p(-safe) + tf.log(probs)

    def _entropy(self) -> Tensor:
        probs = self._probs
        if self.validate_args:
            text = "Entropy is undefined when logits = inf or probs = 1."
            check = tf.assert_less(probs, tf.constant(1.0, probs.dtype), message=text)
            probs = with_dependencies([check], probs)
        return softplus(self.logits) / probs - self.logits

    def _mean(self) -> Tensor:
        return tf.exp(-self.logits)

    def _variance(self) -> Tensor:
        return self._mean() / self.probs

    def _mode(self) -> Tensor:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)


@export("contrib.distributions.Poisson")
class Poisson(Distribution):
    """Poisson's distribution of a rate, or of its logarithm."""

    _draws_numbers = True

    def __init__(
        self,
        rate: TensorLike | None = None,
        log_rate: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[rate]) as name:
            if (rate is None) == (log_rate is None):
                raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
            if log_rate is None:
                given = _floating(rate, "rate")
                with control_dependencies([tf.assert_positive(given)] if validate_args else []):
                    self._rate = tf.identity(given, name="rate")
                    self._log_rate = tf.log(given, name="log_rate")
            else:
                self._log_rate = _floating(log_rate, "log_rate")
                self._rate = tf.exp(self._log_rate, name="rate")
        self._complete(parameters, [self._rate], name, self._rate.dtype)

    @property
    def rate(self) -> Tensor:
        """The mean."""
        return self._rate

    @property
    def log_rate(self) -> Tensor:
        """Its logarithm."""
        return self._log_rate

    @property
    def _like(self) -> Sequence[Tensor]:
        return (self.rate,)

    def _checked_count(self, x: Tensor) -> Tensor:
        return embed_check_nonnegative_integer_form(x) if self.validate_args else x

    def _log_prob(self, x: Tensor) -> Tensor:
        x = self._checked_count(x)
        return x * self.log_rate - tf.lgamma(1.0 + x) - self.rate

    def _log_cdf(self, x: Tensor) -> Tensor:
        return tf.log(self.cdf(x))

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.igammac(1.0 + self._checked_count(x), self.rate)

    def _mean(self) -> Tensor:
        return tf.identity(self.rate)

    def _variance(self) -> Tensor:
        return tf.identity(self.rate)

    def _mode(self) -> Tensor:
        return tf.floor(self.rate)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return tf.random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)


def _floating(value: object, name: str) -> Tensor:
    x = convert_to_tensor(value, name=name)
    if not x.dtype.is_floating:
        raise TypeError(f"{name}.dtype ({x.dtype.name}) is a not a float-type.")
    return x
