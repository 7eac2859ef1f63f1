# SPDX-License-Identifier: Apache-2.0
"""Poisson's distribution with a log-normal rate, by quadrature."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types.shape import TensorShape, broadcast_static
from ....ops.distributions.discrete import Categorical
from ....ops.distributions.distribution import Distribution
from ....ops.distributions.location_scale import Normal
from ....ops.distributions.transformed_distribution import TransformedDistribution
from ....ops.public import tf
from .bijectors.elementwise import Exp
from .counts import Poisson
from .distribution_util import concat_vectors, gen_new_seed, pick_vector
from .vector_diffeomixture import (
    equal_weights,
    first_axis_last,
    hermite,
    inner_edges,
    rank_of_batch,
)

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


@export("contrib.distributions.quadrature_scheme_lognormal_gauss_hermite")
def quadrature_scheme_lognormal_gauss_hermite(
    loc: Any,
    scale: Any,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Points and weights of Gauss's and Hermite's quadrature for normal numbers.

    Args:
        loc: the mean of the normal distribution.
        scale: its standard deviation.
        quadrature_size: the number of points.
        validate_args: not used.
        name: of the scope.

    Returns:
        The points and their weights.
    """
    with name_scope(name, "vector_diffeomixture_quadrature_gauss_hermite", [loc, scale]):
        points, weights = hermite(quadrature_size, loc.dtype)
        return loc[..., None] + np.sqrt(2.0) * scale[..., None] * points, weights


@export("contrib.distributions.quadrature_scheme_lognormal_quantiles")
def quadrature_scheme_lognormal_quantiles(
    loc: Any,
    scale: TensorLike,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Points between equal quantiles of log-normal numbers, and equal weights.

    Args:
        loc: the mean of the normal distribution.
        scale: its standard deviation.
        quadrature_size: the number of points.
        validate_args: whether parameters are checked in the run.
        name: of the scope.

    Returns:
        The points and their weights.
    """
    with name_scope(name, "quadrature_scheme_lognormal_quantiles", [loc, scale]):
        one = TransformedDistribution(
            distribution=Normal(loc=loc, scale=scale),
            bijector=Exp(),
            validate_args=validate_args,
        )
        rank = rank_of_batch(one)
        quantiles = one.quantile(inner_edges(one.dtype, quadrature_size, rank))
        quantiles = first_axis_last(quantiles, rank)
        grid = (quantiles[..., :-1] + quantiles[..., 1:]) / 2.0
        grid.set_shape(one.batch_shape.concatenate([quadrature_size]))
        return grid, equal_weights(quadrature_size, one.dtype)


@export("contrib.distributions.PoissonLogNormalQuadratureCompound")
class PoissonLogNormalQuadratureCompound(Distribution):
    """Poisson's distribution with exp(x) for its rate, x normal with `loc` and `scale`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        quadrature_size: int = 8,
        quadrature_fn: Callable[..., Any] = quadrature_scheme_lognormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "PoissonLogNormalQuadratureCompound",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[loc, scale]) as name:
            self._loc = convert_to_tensor(loc, name="loc")
            self._scale = convert_to_tensor(scale, dtype=self._loc.dtype, name="scale")
            grid, weights = tuple(
                quadrature_fn(self._loc, self._scale, quadrature_size, validate_args)
            )
            if grid.dtype.base_dtype != weights.dtype.base_dtype:
                raise TypeError(
                    f"Quadrature grid dtype ({grid.dtype.name}) does not match quadrature probs "
                    f"dtype ({weights.dtype.name})."
                )
            self._quadrature_grid, self._quadrature_probs = grid, weights
            kept: dict[str, Any] = {
                "validate_args": validate_args,
                "allow_nan_stats": allow_nan_stats,
            }
            self._distribution = Poisson(log_rate=grid, **kept)
            self._mixture_distribution = Categorical(logits=tf.log(weights), **kept)
            self._quadrature_size = quadrature_size
            self._complete(parameters, [self._loc, self._scale], name, grid.dtype)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the points of the quadrature."""
        return self._mixture_distribution

    @property
    def distribution(self) -> Poisson:
        """Poisson's distribution at those points."""
        return self._distribution

    @property
    def loc(self) -> Tensor:
        """The mean of the normal distribution."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """Its standard deviation."""
        return self._scale

    @property
    def quadrature_size(self) -> int:
        """The number of points."""
        return self._quadrature_size

    def _batch_shape_tensor(self) -> Tensor:
        weights = tf.shape(self.mixture_distribution.logits)
        shape = tf.broadcast_dynamic_shape(self.distribution.batch_shape_tensor(), weights)
        return shape[:-1]

    def _batch_shape(self) -> TensorShape:
        weights = self.mixture_distribution.logits.shape
        return broadcast_static(self.distribution.batch_shape, weights)[:-1]

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        batch: Any = self.batch_shape.num_elements()
        batch = tf.reduce_prod(self.batch_shape_tensor()) if batch is None else batch
        mixing, none = self.mixture_distribution, np.array([], np.int32)
        ids = mixing.sample(
            sample_shape=concat_vectors([n], pick_vector(mixing.is_scalar_batch(), [batch], none)),
            seed=gen_new_seed(seed, "poisson_lognormal_quadrature_compound"),
        )
        flat = pick_vector(self.is_scalar_batch(), none, np.array([-1], np.int32))
        ids = tf.reshape(ids, shape=concat_vectors([n], flat))
        size = self._quadrature_size
        ids += tf.range(start=0, limit=batch * size, delta=size, dtype=ids.dtype)
        rate = tf.gather(tf.reshape(self.distribution.rate, shape=[-1]), ids)
        rate = tf.reshape(rate, shape=concat_vectors([n], self.batch_shape_tensor()))
        return tf.random_poisson(lam=rate, shape=[], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Tensor) -> Tensor:
        likely = self.distribution.log_prob(x[..., None])
        return tf.reduce_logsumexp(self.mixture_distribution.logits + likely, axis=-1)

    def _mean(self) -> Tensor:
        logs = self.mixture_distribution.logits + self.distribution.log_rate
        return tf.exp(tf.reduce_logsumexp(logs, axis=-1))

    def _variance(self) -> Tensor:
        return tf.exp(self._log_variance())

    def _stddev(self) -> Tensor:
        return tf.exp(0.5 * self._log_variance())

    def _log_variance(self) -> Tensor:
        # The mean of the variances, and the variance of the means.
        distances = tf.abs(self.distribution.mean() - self._mean()[..., None])
        parts = tf.stack([self.distribution.log_rate, 2.0 * tf.log(distances)], axis=-1)
        logs = self.mixture_distribution.logits[..., None] + parts
        return tf.reduce_logsumexp(logs, axis=[-2, -1])
