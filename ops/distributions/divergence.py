# SPDX-License-Identifier: Apache-2.0
"""Kullback-Leibler divergences: a table by pairs of classes, and their lookup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ..public import tf

_DIVERGENCES: dict[tuple[type, type], Callable[..., Tensor]] = {}


class RegisterKL:
    """Decorates kl(a, b, name=None), the divergence for two classes and their subclasses.

    ValueError if the pair has one already (tf.distributions.RegisterKL).
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            first, second = self._key
            raise ValueError(
                f"KL({first.__name__} || {second.__name__}) has already been registered to: "
                f"{_DIVERGENCES[self._key]}"
            )
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn


def _registered_kl(type_a: type, type_b: type) -> Callable[..., Tensor] | None:
    """The divergence of the nearest pair of base classes."""
    pairs = [
        # By the sum of the steps up to the base classes, and by the first's where sums are equal.
        (i + j, i, (a, b))
        for i, a in enumerate(type_a.__mro__)
        for j, b in enumerate(type_b.__mro__)
        if (a, b) in _DIVERGENCES
    ]
    return _DIVERGENCES[min(pairs, key=lambda pair: pair[:2])[2]] if pairs else None


def kl_divergence(
    distribution_a: Any,
    distribution_b: Any,
    allow_nan_stats: bool = True,
    name: str | None = None,
) -> Tensor:
    """The Kullback-Leibler divergence of two distributions, in nats.

    NotImplementedError if their classes have none; InvalidArgumentError in the run for NaN unless
    `allow_nan_stats` (tf.distributions.kl_divergence).
    """
    function = _registered_kl(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type "
            f"{type(distribution_b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        found = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return found
        found = tf.identity(found, name="kl")
        text = (
            f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN "
            "values (and was called with allow_nan_stats=False). Values:"
        )
        has_nan = tf.reduce_any(tf.is_nan(found))
        with control_dependencies([tf.Assert(tf.logical_not(has_nan), [text, found])]):
            return tf.identity(found, name="checked_kl")


def cross_entropy(
    ref: Any, other: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """The entropy of `ref` and its divergence from `other`, added up."""
    with name_scope(name, "cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)
