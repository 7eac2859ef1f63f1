# SPDX-License-Identifier: Apache-2.0
"""A distribution whose batch has another shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.constants import constant_value_as_shape
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.distributions.distribution import Distribution
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


def calculate_reshape(
    original_shape: Tensor, new_shape: Tensor, validate: bool = False, name: str | None = None
) -> tuple[Any, TensorShape, list[Any]]:
    """A shape with its -1 resolved, what is known of it, and checks for the run."""
    known = constant_value_as_shape(new_shape)
    if known.is_fully_defined():
        return np.array(known.as_list(), np.int32), known, []
    with name_scope(name, "calculate_reshape", [original_shape, new_shape]):
        size = tf.reduce_prod(original_shape)
        is_open = tf.equal(new_shape, -1)
        # The product has the sign of the only -1.
        rest = size // tf.maximum(1, -tf.reduce_prod(new_shape))
        whole = tf.where_v2(is_open, tf.fill(tf.shape(new_shape), rest), new_shape)
        if not validate:
            return whole, known, []
        count = tf.count_nonzero(is_open, dtype=dtypes.int32)
        vector = "{} shape must be a vector."
        several = "At most one dimension can be unknown."
        checks = [
            tf.assert_rank(original_shape, 1, message=vector.format("Original")),
            tf.assert_rank(new_shape, 1, message=vector.format("New")),
            tf.assert_less_equal(count, 1, message=several),
            tf.assert_positive(whole, message="Shape elements must be >=-1."),
            tf.assert_equal(tf.reduce_prod(whole), size, message="Shape sizes do not match."),
        ]
        return whole, known, checks


def validate_init_args_statically(distribution: Distribution, batch_shape: Tensor) -> None:
    """ValueError for a shape that is known not to fit."""
    rank = batch_shape.shape.ndims
    if rank is not None and rank != 1:
        raise ValueError(f"`batch_shape` must be a vector (saw rank: {rank}).")
    known = constant_value_as_shape(batch_shape)
    own, its = known.num_elements(), distribution.batch_shape.num_elements()
    if own is not None and its is not None and own != its:
        raise ValueError(
            f"`batch_shape` size ({own}) must match `distribution.batch_shape` size ({its})."
        )
    if known.ndims is not None and any(s is not None and s < 1 for s in known.as_list()):
        raise ValueError("`batch_shape` elements must be >=-1.")


@export("contrib.distributions.BatchReshape")
class BatchReshape(Distribution):
    """The same distributions in a batch of another shape, of which one size may be -1."""

    def __init__(
        self,
        distribution: Distribution,
        batch_shape: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        with name_scope(name or "BatchReshape" + distribution.name, values=[batch_shape]) as name:
            given = convert_to_tensor(batch_shape, dtype=dtypes.int32, name="batch_shape")
            self._batch_shape_unexpanded = given
            validate_init_args_statically(distribution, given)
            original = distribution.batch_shape_tensor()
            shape, known, checks = calculate_reshape(original, given, validate_args)
            self._distribution = distribution
            self._batch_shape_ = shape
            self._batch_shape_static = known
            self._runtime_assertions = checks
            parents = [given, *distribution._graph_parents]
            self._complete(parameters, parents, name, distribution.dtype)
            self._reparameterization_type = distribution.reparameterization_type

    @property
    def distribution(self) -> Distribution:
        """The distribution with the other batch."""
        return self._distribution

    def _batch_shape_tensor(self) -> Tensor:
        with control_dependencies(self._runtime_assertions):
            return tf.identity(self._batch_shape_)

    def _batch_shape(self) -> TensorShape:
        return self._batch_shape_static

    def _event_shape_tensor(self) -> Tensor:
        with control_dependencies(self._runtime_assertions):
            return tf.identity(self.distribution.event_shape_tensor())

    def _event_shape(self) -> TensorShape:
        return self.distribution.event_shape

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        with control_dependencies(self._runtime_assertions):
            drawn = self.distribution.sample(sample_shape=n, seed=seed)
            parts = [[n], self._batch_shape_unexpanded, self.event_shape_tensor()]
            return tf.reshape(drawn, tf.concat(parts, axis=0))

    def _ranks(self, x: Tensor) -> tuple[Any, Any, Any]:
        """The number of dimensions of a value, of the batch and of the event."""
        of_x: Any = tf.rank(x) if x.shape.ndims is None else x.shape.ndims
        event: Any = self.event_shape.ndims
        event = tf.size(self.event_shape_tensor()) if event is None else event
        batch: Any = self.batch_shape.ndims
        batch = tf.size(self._batch_shape_unexpanded) if batch is None else batch
        return of_x, batch, event

    def _of_value(self, what: str, x: Tensor) -> Tensor:
        """What the distribution says of a value, in the shape of its batch and back."""
        checks = [*self._runtime_assertions, *self._checks_of_value(x)]
        with control_dependencies(checks):
            of_x, batch, event = self._ranks(x)
            front = of_x - batch - event
            known = x.shape[:front] if isinstance(front, int) else TensorShape(None)
            sample: Any = tf.shape(x)[:front]
            if known.is_fully_defined():
                sample = np.array(known.as_list(), np.int32)
            own = [sample, self.distribution.batch_shape_tensor(), self.event_shape_tensor()]
            found = getattr(self.distribution, what)(tf.reshape(x, tf.concat(own, axis=0)))
            shape = tf.concat([sample, self._batch_shape_unexpanded], axis=0)
            found = tf.reshape(found, shape)
            if known.ndims is not None and self.batch_shape.ndims is not None:
                found.set_shape(known.concatenate(self.batch_shape))
            return found

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._of_value("log_prob", x)

    def _prob(self, x: Tensor) -> Tensor:
        return self._of_value("prob", x)

    def _log_cdf(self, x: Tensor) -> Tensor:
        return self._of_value("log_cdf", x)

    def _cdf(self, x: Tensor) -> Tensor:
        return self._of_value("cdf", x)

    def _log_survival_function(self, x: Tensor) -> Tensor:
        return self._of_value("log_survival_function", x)

    def _survival_function(self, x: Tensor) -> Tensor:
        return self._of_value("survival_function", x)

    def _reshaped(self, what: str, events: int = 1) -> Tensor:
        """A statistic of the distribution, which has the event's shape so many times."""
        with control_dependencies(self._runtime_assertions):
            sizes = [self.event_shape_tensor()] * events
            shape = tf.concat([self._batch_shape_unexpanded, *sizes], axis=0)
            found = tf.reshape(getattr(self.distribution, what)(), shape)
            if self.batch_shape.ndims is not None and self.event_shape.ndims is not None:
                known: Sequence[Any] = self.event_shape.as_list() * events
                found.set_shape(self.batch_shape.concatenate(TensorShape(known)))
            return found

    def _entropy(self) -> Tensor:
        return self._reshaped("entropy", 0)

    def _mean(self) -> Tensor:
        return self._reshaped("mean")

    def _mode(self) -> Tensor:
        return self._reshaped("mode")

    def _stddev(self) -> Tensor:
        return self._reshaped("stddev")

    def _variance(self) -> Tensor:
        return self._reshaped("variance")

    def _covariance(self) -> Tensor:
        return self._reshaped("covariance", 2)

    def _checks_of_value(self, x: Tensor) -> list[Any]:
        """That a value has the shape of batch and event at its end; nothing broadcasts."""
        text = "Broadcasting is not supported; "
        with name_scope("validate_sample_arg", values=[x]):
            of_x, batch, event = self._ranks(x)
            rank, checks = batch + event, []
            if isinstance(of_x, int) and isinstance(rank, int):
                if of_x < rank:
                    raise NotImplementedError(
                        f"{text}too few batch and event dims (expected at least {rank}, saw "
                        f"{of_x})."
                    )
            elif self.validate_args:
                few = text + "too few batch and event dims."
                checks = [
                    tf.assert_greater_equal(
                        of_x, rank, message=few, name="assert_batch_and_event_ndims_large_enough"
                    )
                ]
            shape = self.batch_shape.concatenate(self.event_shape)
            front = of_x - rank
            last = x.shape[max(front, 0) :] if isinstance(front, int) else TensorShape(None)
            if shape.is_fully_defined() and last.is_fully_defined():
                if shape != last:
                    wanted, found = (np.array(x.as_list(), np.int32) for x in (shape, last))
                    raise NotImplementedError(
                        f"{text}unexpected batch and event shape (expected {wanted}, saw {found})."
                    )
                return checks
            if not self.validate_args:
                return []
            sizes = tf.concat([self.batch_shape_tensor(), self.event_shape_tensor()], axis=0)
            with control_dependencies(checks):
                return [
                    tf.assert_equal(
                        sizes,
                        tf.shape(x)[tf.maximum(front, 0) :],
                        message=text + "unexpected batch and event shape.",
                        name="assert_batch_and_event_shape_same",
                    )
                ]
