# SPDX-License-Identifier: Apache-2.0
"""What observations say of the mean of a normal distribution whose width is known."""

from __future__ import annotations

from typing import Any

from ....engine.api import export
from ....engine.graph.tensor import Tensor
from ....ops.distributions.location_scale import Normal
from ....ops.public import tf


def _posterior(prior: Any, scale: Any, s: Any, n: Any) -> tuple[Tensor, Tensor]:
    """Mean and variance of the mean after n observations with the sum s."""
    if not isinstance(prior, Normal):
        raise TypeError("Expected prior to be an instance of type Normal")
    if s.dtype != prior.dtype:
        raise TypeError(
            f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}"
        )
    n = tf.cast(n, prior.dtype)
    before, each = tf.square(prior.scale), tf.square(scale)
    variance = 1.0 / (1 / before + n / each)
    return (prior.loc / before + s / each) * variance, variance


@export("contrib.distributions.normal_conjugates_known_scale_posterior")
def normal_conjugates_known_scale_posterior(
    prior: object, scale: object, s: object, n: object
) -> Normal:
    """The distribution of the mean after observations.

    Args:
        prior: its distribution before, a Normal.
        scale: the known standard deviation of an observation.
        s: the sum of the observations.
        n: their number.

    Returns:
        A Normal distribution.

    Raises:
        TypeError: the prior is not normal, or of another dtype than the sum.
    """
    mean, variance = _posterior(prior, scale, s, n)
    return Normal(loc=mean, scale=tf.sqrt(variance))


@export("contrib.distributions.normal_conjugates_known_scale_predictive")
def normal_conjugates_known_scale_predictive(
    prior: object, scale: object, s: object, n: object
) -> Normal:
    """The distribution of the next observation.

    Args:
        prior: the distribution of the mean before the observations, a Normal.
        scale: the known standard deviation of an observation.
        s: the sum of the observations.
        n: their number.

    Returns:
        A Normal distribution.

    Raises:
        TypeError: the prior is not normal, or of another dtype than the sum.
    """
    mean, variance = _posterior(prior, scale, s, n)
    return Normal(loc=mean, scale=tf.sqrt(variance + tf.square(scale)))
