# SPDX-License-Identifier: Apache-2.0
"""Distributions whose methods take named arguments besides, and hand them on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....ops.distributions.distribution import Distribution
from ....ops.distributions.transformed_distribution import TransformedDistribution
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

_Arguments = dict[str, Any] | None


@export("contrib.distributions.ConditionalDistribution")
class ConditionalDistribution(Distribution):
    """A distribution that depends on arguments of its methods."""

    def sample(
        self,
        sample_shape: TensorLike = (),
        seed: int | None = None,
        name: str = "sample",
        **condition_kwargs: Any,
    ) -> Tensor:
        """Draws, of shape `sample_shape` followed by the batch's and the event's."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(
        self, value: TensorLike, name: str = "log_prob", **condition_kwargs: Any
    ) -> Tensor:
        """The logarithm of the density (or probability) of a value."""
        return self._call("log_prob", value, name, **condition_kwargs)

    def prob(self, value: TensorLike, name: str = "prob", **condition_kwargs: Any) -> Tensor:
        """The density (or probability) of a value."""
        return self._call("prob", value, name, **condition_kwargs)

    def log_cdf(self, value: TensorLike, name: str = "log_cdf", **condition_kwargs: Any) -> Tensor:
        """The logarithm of the probability of draws up to a value."""
        return self._call("log_cdf", value, name, **condition_kwargs)

    def cdf(self, value: TensorLike, name: str = "cdf", **condition_kwargs: Any) -> Tensor:
        """The probability of draws up to a value."""
        return self._call("cdf", value, name, **condition_kwargs)

    def log_survival_function(
        self, value: TensorLike, name: str = "log_survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """The logarithm of the probability of draws above a value."""
        return self._call("log_survival_function", value, name, **condition_kwargs)

    def survival_function(
        self, value: TensorLike, name: str = "survival_function", **condition_kwargs: Any
    ) -> Tensor:
        """The probability of draws above a value."""
        return self._call("survival_function", value, name, **condition_kwargs)


@export("contrib.distributions.ConditionalTransformedDistribution")
class ConditionalTransformedDistribution(ConditionalDistribution, TransformedDistribution):
    """A transformed distribution whose parts depend on arguments of its methods.

    `bijector_kwargs` go to the bijector, `distribution_kwargs` to the distribution.
    """

    def _sample_n(
        self,
        n: TensorLike,
        seed: int | None = None,
        **kwargs: Any,
    ) -> Tensor:
        given = kwargs.get("distribution_kwargs") or {}
        return TransformedDistribution._sample_n(self, n, seed, **given)

    def _transformed_samples(self, drawn: Tensor, shape: Tensor, **kwargs: Any) -> Tensor:
        given = kwargs.get("bijector_kwargs") or {}
        return TransformedDistribution._transformed_samples(self, drawn, shape, **given)

    def _conditioned(
        self,
        y: Tensor,
        of_one: Callable[..., Tensor],
        join: Callable[[list[Tensor]], Tensor],
        bijector_kwargs: _Arguments,
        distribution_kwargs: _Arguments,
    ) -> Tensor:
        given, others = bijector_kwargs or {}, distribution_kwargs or {}
        x = self.bijector.inverse(y, **given)
        rank = self._maybe_get_static_event_ndims()
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=rank, **given)
        if self.bijector._is_injective:
            return of_one(y, x, log_det, rank, **others)
        return join([of_one(y, *pair, rank, **others) for pair in zip(x, log_det)])

    def _log_prob(
        self,
        y: Tensor,
        bijector_kwargs: _Arguments = None,
        distribution_kwargs: _Arguments = None,
    ) -> Tensor:
        return self._conditioned(
            y,
            self._finish_log_prob_for_one_fiber,
            lambda parts: tf.reduce_logsumexp(tf.stack(parts), axis=0),
            bijector_kwargs,
            distribution_kwargs,
        )

    def _prob(
        self,
        y: Tensor,
        bijector_kwargs: _Arguments = None,
        distribution_kwargs: _Arguments = None,
    ) -> Tensor:
        one = self._finish_prob_for_one_fiber
        return self._conditioned(y, one, tf.add_n, bijector_kwargs, distribution_kwargs)

    def _of_base(self, what: str, y: Tensor, **kwargs: Any) -> Tensor:
        self._require(what)
        x = self.bijector.inverse(y, **(kwargs.get("bijector_kwargs") or {}))
        others = kwargs.get("distribution_kwargs") or {}
        return getattr(self.distribution, what)(x, **others)

    def _quantile(
        self,
        value: Tensor,
        bijector_kwargs: _Arguments = None,
        distribution_kwargs: _Arguments = None,
    ) -> Tensor:
        self._require("quantile")
        found = self.distribution.quantile(value, **(distribution_kwargs or {}))
        return self.bijector.forward(found, **(bijector_kwargs or {}))
