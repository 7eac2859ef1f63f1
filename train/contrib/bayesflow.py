# SPDX-License-Identifier: Apache-2.0
"""`tf.contrib.bayesflow.monte_carlo`: means of functions by samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.api import export
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ...ops.nn.activation import relu
from ...ops.public import tf

_Function = Callable[[Tensor], Tensor]


def _get_samples(one: Any, z: Any, n: Any, seed: int | None) -> Tensor:
    with name_scope("get_samples", values=[z, n]):
        if (n is None) == (z is None):
            raise ValueError(
                f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}'
            )
        return convert_to_tensor(z, name="z") if n is None else one.sample(n, seed=seed)


def _logspace_mean(log_values: Tensor) -> Tensor:
    """The logarithm of a mean of what is given by logarithms."""
    largest = tf.stop_gradient(tf.reduce_max(log_values, axis=[0]))
    return tf.log(tf.reduce_mean(tf.exp(log_values - largest), axis=[0])) + largest


@export("contrib.bayesflow.monte_carlo.expectation_importance_sampler")
def expectation_importance_sampler(
    f: _Function,
    log_p: _Function,
    sampling_dist_q: Any,
    z: Any = None,
    n: int | None = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler",
) -> Tensor:
    """The mean of f(Z) for Z of a density p, by samples of another distribution.

    Args:
        f: the function.
        log_p: the logarithm of the density.
        sampling_dist_q: what samples are drawn from.
        z: samples; drawn if None.
        n: their number if they are drawn.
        seed: of the samples.
        name: of the scope.

    Returns:
        A Tensor.

    Raises:
        ValueError: both or none of n and z are given.
    """
    with name_scope(name, values=[z, n]):
        z = _get_samples(sampling_dist_q, z, n, seed)
        weights = log_p(z), sampling_dist_q.log_prob(z)
        value = f(z)
        # By logarithms, positive and negative parts apart.
        parts = [tf.log(relu(sign * value) + 1.0) for sign in (1.0, -1.0)]
        above, below = (_logspace_mean(part + weights[0] - weights[1]) for part in parts)
    return tf.exp(above) - tf.exp(below)


@export("contrib.bayesflow.monte_carlo.expectation_importance_sampler_logspace")
def expectation_importance_sampler_logspace(
    log_f: _Function,
    log_p: _Function,
    sampling_dist_q: Any,
    z: Any = None,
    n: int | None = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler_logspace",
) -> Tensor:
    """The logarithm of the mean of a positive function, by samples of another distribution.

    Args:
        log_f: the logarithm of the function.
        log_p: the logarithm of the density.
        sampling_dist_q: what samples are drawn from.
        z: samples; drawn if None.
        n: their number if they are drawn.
        seed: of the samples.
        name: of the scope.

    Returns:
        A Tensor.

    Raises:
        ValueError: both or none of n and z are given.
    """
    with name_scope(name, values=[z, n]):
        z = _get_samples(sampling_dist_q, z, n, seed)
        return _logspace_mean(log_f(z) + log_p(z) - sampling_dist_q.log_prob(z))


@export("contrib.bayesflow.monte_carlo.expectation")
def expectation(
    f: _Function,
    samples: Tensor,
    log_prob: _Function | None = None,
    use_reparametrization: bool = True,
    axis: object = 0,
    keep_dims: bool = False,
    name: str | None = None,
) -> Tensor:
    """The mean of f over samples, with a gradient to what they were drawn with.

    Args:
        f: the function.
        samples: what was drawn.
        log_prob: the logarithm of the samples' density, if gradients do not flow through them.
        use_reparametrization: whether they do.
        axis: along which the mean is taken.
        keep_dims: whether axes stay with size 1.
        name: of the scope.

    Returns:
        A Tensor.

    Raises:
        ValueError: something is no function.
    """
    with name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return tf.reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        x = tf.stop_gradient(samples)
        log = log_prob(x)
        value = f(x)
        # What is added is zero, and has the gradient of the score function.
        value += tf.stop_gradient(value) * (log - tf.stop_gradient(log))
        return tf.reduce_mean(value, axis=axis, keepdims=keep_dims)
