# SPDX-License-Identifier: Apache-2.0
"""Distributions of what a bijector makes of another distribution's draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.constants import constant_value, constant_value_as_shape
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, broadcast_static
from ..control import with_dependencies
from ..public import tf
from .bijector import Bijector, Identity
from .distribution import Distribution
from .util import maybe_get_static_value, pick_vector

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike


def static_value(x: Any) -> Any:
    """The value of something if it is known when the graph is built."""
    return constant_value(convert_to_tensor(x))


def logical_and(*args: Any) -> Tensor:
    """Whether all are true; a constant as soon as that is known."""
    known = [static_value(x) for x in args]
    if any(x is not None and not bool(x) for x in known):
        return tf.constant(False)
    if all(x is not None and bool(x) for x in known):
        return tf.constant(True)
    return tf.logical_and(*args) if len(args) == 2 else tf.reduce_all(args)


def logical_equal(x: Any, y: Any) -> Tensor:
    """Whether two are equal; a constant as soon as that is known."""
    known = static_value(x), static_value(y)
    if known[0] is None or known[1] is None:
        return tf.equal(x, y)
    return tf.constant(np.array_equal(*known))


def logical_not(x: Any) -> Tensor:
    """The opposite; a constant as soon as it is known."""
    known = static_value(x)
    return tf.logical_not(x) if known is None else tf.constant(np.logical_not(known))


def concat_vectors(*args: Any) -> Tensor:
    """Vectors one after the other; a constant as soon as they are known."""
    known = [static_value(x) for x in args]
    if any(x is None for x in known):
        return tf.concat(args, 0)
    return tf.constant([int(x) for vector in known for x in vector], dtype=dtypes.int32)


def pick_scalar_condition(pred: Any, cond_true: Any, cond_false: Any) -> Any:
    """One of two; at once if the condition is known."""
    known = static_value(pred)
    if known is None:
        return tf.where_v2(pred, cond_true, cond_false)
    return cond_true if known else cond_false


def ndims_from_shape(shape: Tensor) -> Tensor:
    """The rank of which a vector is the shape."""
    if shape.shape.ndims not in (None, 1):
        raise ValueError("input is not a valid shape: not 1D")
    if not shape.dtype.is_integer:
        raise TypeError("input is not a valid shape: wrong dtype")
    if shape.shape.is_fully_defined():
        return tf.constant(shape.shape.as_list()[0])
    return tf.shape(shape)[0]


def _ones_like(x: Tensor) -> Tensor:
    if x.shape.is_fully_defined():
        return tf.ones(x.shape.as_list(), dtype=x.dtype)
    return tf.ones_like(x)


class TransformedDistribution(Distribution):
    """The distribution of bijector(x) for x of a distribution.

    distribution: that of x; a distribution of numbers becomes one of `batch_shape` or of events of
    `event_shape`, independent of each other, if these are given.  bijector: the function; the
    identity if None (tf.contrib.distributions.TransformedDistribution).
    """

    def __init__(
        self,
        distribution: Distribution,
        bijector: Bijector | None = None,
        batch_shape: TensorLike | None = None,
        event_shape: TensorLike | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        name = name or ("" if bijector is None else bijector.name) + distribution.name
        with name_scope(name, values=[event_shape, batch_shape]) as name:
            self._zero = tf.constant(0, dtype=dtypes.int32, name="zero")
            self._empty = tf.constant([], dtype=dtypes.int32, name="empty")
            bijector = bijector or Identity(validate_args=validate_args)
            self._set_overrides(distribution, batch_shape, event_shape, validate_args)
        self._distribution = distribution
        self._bijector = bijector
        super().__init__(
            dtype=distribution.dtype,
            reparameterization_type=distribution.reparameterization_type,
            validate_args=validate_args,
            allow_nan_stats=distribution.allow_nan_stats,
            parameters=parameters,
            graph_parents=[*distribution._graph_parents, *bijector.graph_parents],
            name=name,
        )

    def _set_overrides(
        self, distribution: Distribution, batch: Any, event: Any, validate_args: bool
    ) -> None:
        self._override_batch_shape = self._override(
            batch, distribution.is_scalar_batch(), validate_args, "batch_shape"
        )
        self._is_batch_override = self._is_override(self._override_batch_shape)
        known = constant_value(self._override_batch_shape)
        self._is_maybe_batch_override = bool(known is None or known.size != 0)
        self._override_event_shape = self._override(
            event, distribution.is_scalar_event(), validate_args, "event_shape"
        )
        self._is_event_override = self._is_override(self._override_event_shape)
        known = constant_value(self._override_event_shape)
        self._is_maybe_event_override = bool(known is None or known.size != 0)
        # A batch that is there already comes before the dimensions of an event that is not: samples
        # are drawn with those first, and the batch's last.
        self._needs_rotation = logical_and(
            self._is_event_override,
            logical_not(self._is_batch_override),
            logical_not(distribution.is_scalar_batch()),
        )
        rank = ndims_from_shape(self._override_event_shape)
        self._rotate_ndims = pick_scalar_condition(self._needs_rotation, rank, 0)
        self._reduce_event_indices = tf.range(self._rotate_ndims - rank, self._rotate_ndims)

    def _is_override(self, shape: Tensor) -> Tensor:
        return logical_not(logical_equal(ndims_from_shape(shape), self._zero))

    @property
    def distribution(self) -> Any:
        """The distribution of what is transformed."""
        return self._distribution

    @property
    def bijector(self) -> Any:
        """The function."""
        return self._bijector

    # Shapes

    def _event_shape_tensor(self) -> Tensor:
        base = self.distribution.event_shape_tensor()
        shape = pick_vector(self._is_event_override, self._override_event_shape, base)
        return self.bijector.forward_event_shape_tensor(shape)

    def _event_shape(self) -> TensorShape:
        given = constant_value_as_shape(self._override_event_shape)
        base = given if self._is_maybe_event_override else self.distribution.event_shape
        return self.bijector.forward_event_shape(base)

    def _batch_shape_tensor(self) -> Tensor:
        base = self.distribution.batch_shape_tensor()
        return pick_vector(self._is_batch_override, self._override_batch_shape, base)

    def _batch_shape(self) -> TensorShape:
        given = constant_value_as_shape(self._override_batch_shape)
        return given if self._is_maybe_batch_override else self.distribution.batch_shape

    # Samples

    def _sample_n(self, n: TensorLike, seed: int | None = None, **kwargs: Any) -> Tensor:
        shape = concat_vectors(
            pick_vector(self._needs_rotation, self._empty, [n]),
            self._override_batch_shape,
            self._override_event_shape,
            pick_vector(self._needs_rotation, [n], self._empty),
        )
        drawn = self.distribution.sample(sample_shape=shape, seed=seed, **kwargs)
        return self._maybe_rotate_dims(drawn)

    def _transformed_samples(self, drawn: Tensor, shape: Tensor, **kwargs: Any) -> Tensor:
        # The very tensor that the bijector gave, so that it knows what it came from.
        y = self.bijector.forward(drawn, **kwargs)
        return self._set_sample_static_shape(y, shape)

    # Densities

    def _over_fibers(
        self, y: Tensor, of_one: Callable[..., Tensor], join: Callable[[list[Tensor]], Tensor]
    ) -> Tensor:
        """What every x that gives y contributes, joined."""
        x = self.bijector.inverse(y)
        event_ndims = self._maybe_get_static_event_ndims()
        log_det = self.bijector.inverse_log_det_jacobian(y, event_ndims=event_ndims)
        if self.bijector._is_injective:
            return of_one(y, x, log_det, event_ndims)
        return join([of_one(y, *pair, event_ndims) for pair in zip(x, log_det)])

    def _log_prob(self, y: Tensor) -> Tensor:
        return self._over_fibers(
            y,
            self._finish_log_prob_for_one_fiber,
            lambda parts: tf.reduce_logsumexp(tf.stack(parts), axis=0),
        )

    def _prob(self, y: Tensor) -> Tensor:
        return self._over_fibers(y, self._finish_prob_for_one_fiber, tf.add_n)

    def _finish_log_prob_for_one_fiber(
        self, y: Tensor, x: Tensor, ildj: Tensor, event_ndims: Any, **kwargs: Any
    ) -> Tensor:
        x = self._maybe_rotate_dims(x, rotate_right=True)
        found = self.distribution.log_prob(x, **kwargs)
        if self._is_maybe_event_override:
            found = tf.reduce_sum(found, self._reduce_event_indices)
        found += tf.cast(ildj, found.dtype)
        return self._with_known_shape(found, y, event_ndims)

    def _finish_prob_for_one_fiber(
        self, y: Tensor, x: Tensor, ildj: Tensor, event_ndims: Any, **kwargs: Any
    ) -> Tensor:
        x = self._maybe_rotate_dims(x, rotate_right=True)
        found = self.distribution.prob(x, **kwargs)
        if self._is_maybe_event_override:
            found = tf.reduce_prod(found, self._reduce_event_indices)
        found *= tf.exp(tf.cast(ildj, found.dtype))
        return self._with_known_shape(found, y, event_ndims)

    def _with_known_shape(self, found: Tensor, y: Tensor, event_ndims: Any) -> Tensor:
        if self._is_maybe_event_override and isinstance(event_ndims, int):
            sample = y.shape.with_rank_at_least(1)[: -event_ndims or None]
            found.set_shape(broadcast_static(sample, self.batch_shape))
        return found

    def _require(self, what: str, injective_only: bool = False) -> None:
        if self._is_maybe_event_override and not injective_only:
            raise NotImplementedError(f"{what} is not implemented when overriding event_shape")
        if not self.bijector._is_injective:
            raise NotImplementedError(f"{what} is not implemented when bijector is not injective.")

    def _of_base(self, what: str, y: Tensor, **kwargs: Any) -> Tensor:
        self._require(what)
        return getattr(self.distribution, what)(self.bijector.inverse(y), **kwargs)

    def _log_cdf(self, value: Tensor, **kwargs: Any) -> Tensor:
        return self._of_base("log_cdf", value, **kwargs)

    def _cdf(self, value: Tensor, **kwargs: Any) -> Tensor:
        return self._of_base("cdf", value, **kwargs)

    def _log_survival_function(self, value: Tensor, **kwargs: Any) -> Tensor:
        return self._of_base("log_survival_function", value, **kwargs)

    def _survival_function(self, value: Tensor, **kwargs: Any) -> Tensor:
        return self._of_base("survival_function", value, **kwargs)

    def _quantile(self, value: Tensor) -> Tensor:
        self._require("quantile")
        return self.bijector.forward(self.distribution.quantile(value))

    def _entropy(self) -> Tensor:
        if not self.bijector.is_constant_jacobian:
            raise NotImplementedError("entropy is not implemented")
        self._require("entropy", injective_only=True)
        entropy = self.distribution.entropy()
        if self._is_maybe_event_override:
            # As many independent parts as an event has.
            count = tf.reduce_prod(self._override_event_shape)
            entropy *= tf.cast(count, dtype=entropy.dtype.base_dtype)
        if self._is_maybe_batch_override:
            own, base = self._override_batch_shape, self.distribution.batch_shape_tensor
            entropy = tf.reshape(entropy, tf.concat([_ones_like(own), base()], 0))
            entropy = tf.tile(entropy, tf.concat([own, _ones_like(base())], 0))
        shape = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        rank: Any = self.event_shape.ndims
        rank = tf.size(self.event_shape_tensor()) if rank is None else rank
        anywhere = tf.zeros(shape=shape, dtype=self.dtype)
        log_det = self.bijector.inverse_log_det_jacobian(anywhere, event_ndims=rank)
        entropy -= tf.cast(log_det, entropy.dtype)
        entropy.set_shape(self.batch_shape)
        return entropy

    # Helpers

    def _override(
        self, shape: TensorLike | None, base_is_scalar: Tensor, validate_args: bool, name: str
    ) -> Tensor:
        """A given shape, checked; empty if there is none."""
        given = convert_to_tensor([] if shape is None else shape, dtype=dtypes.int32, name=name)
        if not given.dtype.is_integer:
            raise TypeError("shape override must be an integer")
        is_scalar = logical_equal(ndims_from_shape(given), 0)
        if constant_value(is_scalar):
            return self._empty
        checks = []
        if given.shape.ndims is None and validate_args:
            text = "shape override must be a vector"
            checks.append(tf.assert_rank(given, 1, message=text))
        known = constant_value(given)
        positive = "shape override must have positive elements"
        if known is not None and any(size <= 0 for size in known):
            raise ValueError(positive)
        if known is None and validate_args:
            checks.append(tf.assert_positive(given, message=positive))
        both = logical_and(logical_not(base_is_scalar), logical_not(is_scalar))
        if constant_value(both):
            raise ValueError("base distribution not scalar")
        if constant_value(both) is None and validate_args:
            checks.append(tf.assert_equal(both, False, message="base distribution not scalar"))
        return with_dependencies(checks, given) if checks else given

    def _maybe_rotate_dims(self, x: Tensor, rotate_right: bool = False) -> Tensor:
        known = constant_value(self._needs_rotation)
        if known is not None and not known:
            return x
        rank = tf.rank(x)
        n = (rank - self._rotate_ndims) if rotate_right else self._rotate_ndims
        return tf.transpose(x, concat_vectors(tf.range(n, rank), tf.range(0, n)))

    def _maybe_get_static_event_ndims(self) -> Any:
        if self.event_shape.ndims is not None:
            return self.event_shape.ndims
        rank = tf.size(self.event_shape_tensor())
        known = maybe_get_static_value(rank)
        return rank if known is None else int(known)
