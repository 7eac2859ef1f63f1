# SPDX-License-Identifier: Apache-2.0
"""Dimensions of a batch as dimensions of an event of independent parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.distributions.distribution import Distribution
from ....ops.distributions.divergence import RegisterKL, kl_divergence
from ....ops.public import tf
from .distribution_util import dimension_size

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


@export("contrib.distributions.Independent")
class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` dimensions of a batch belong to the event instead.

    All but the first dimension do if the number is None.
    """

    def __init__(
        self,
        distribution: Distribution,
        reinterpreted_batch_ndims: object = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        parameters = dict(locals())
        self._distribution = distribution
        with name_scope(name or "Independent" + distribution.name) as name:
            if reinterpreted_batch_ndims is None:
                rank = distribution.batch_shape.ndims
                if rank is None:
                    dynamic = tf.shape(distribution.batch_shape_tensor())[0]
                    reinterpreted_batch_ndims = tf.maximum(0, dynamic - 1)
                else:
                    reinterpreted_batch_ndims = max(0, rank - 1)
            count = convert_to_tensor(
                reinterpreted_batch_ndims, dtype=dtypes.int32, name="reinterpreted_batch_ndims"
            )
            self._known_count = constant_value(count)
            self._count: Any = count if self._known_count is None else self._known_count
            given = {**parameters, "allow_nan_stats": distribution.allow_nan_stats}
            parents = [count, *distribution._graph_parents]
            self._complete(given, parents, name, distribution.dtype)
            self._parameters = parameters
            self._reparameterization_type = distribution.reparameterization_type
            self._runtime_assertions = self._checks(validate_args)

    def _checks(self, validate_args: bool) -> list[Any]:
        rank = self.distribution.batch_shape.ndims
        if rank is not None and self._known_count is not None:
            if self._known_count > rank:
                raise ValueError(
                    f"reinterpreted_batch_ndims({self._known_count}) cannot exceed "
                    f"distribution.batch_ndims({rank})"
                )
            return []
        if not validate_args:
            return []
        text = "reinterpreted_batch_ndims cannot exceed distribution.batch_ndims"
        shape = self.distribution.batch_shape_tensor()
        return [tf.assert_less_equal(self._count, dimension_size(shape, 0), message=text)]

    @property
    def distribution(self) -> Distribution:
        """The distribution whose batch this one's events are."""
        return self._distribution

    @property
    def reinterpreted_batch_ndims(self) -> Any:
        """How many dimensions of its batch belong to the event."""
        return self._count

    def _split_tensor(self) -> tuple[Tensor, Tensor]:
        """The batch's shape, without and with what belongs to the event."""
        with control_dependencies(self._runtime_assertions):
            shape = self.distribution.batch_shape_tensor()
            kept = dimension_size(shape, 0) - self._count
            return shape[:kept], shape[kept:]

    def _batch_shape_tensor(self) -> Tensor:
        return self._split_tensor()[0]

    def _event_shape_tensor(self) -> Tensor:
        return tf.concat([self._split_tensor()[1], self.distribution.event_shape_tensor()], axis=0)

    def _split(self) -> tuple[TensorShape, TensorShape] | None:
        shape = self.distribution.batch_shape
        if self._known_count is None or shape.ndims is None:
            return None
        kept = shape.ndims - int(self._known_count)
        return shape[:kept], shape[kept:].concatenate(self.distribution.event_shape)

    def _batch_shape(self) -> TensorShape:
        parts = self._split()
        return TensorShape(None) if parts is None else parts[0]

    def _event_shape(self) -> TensorShape:
        parts = self._split()
        return TensorShape(None) if parts is None else parts[1]

    def _of_base(self, what: str, *args: Any, **kwargs: Any) -> Tensor:
        with control_dependencies(self._runtime_assertions):
            return getattr(self.distribution, what)(*args, **kwargs)

    def _summed(self, what: str, *args: Any) -> Tensor:
        with control_dependencies(self._runtime_assertions):
            found = getattr(self.distribution, what)(*args)
            known = self._known_count
            axes: Any = tf.range(self._count) if known is None else np.arange(known)
            return tf.reduce_sum(found, axis=-1 - axes)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        return self._of_base("sample", sample_shape=n, seed=seed)

    def _log_prob(self, x: Tensor) -> Tensor:
        return self._summed("log_prob", x)

    def _entropy(self) -> Tensor:
        return self._summed("entropy")

    def _mean(self) -> Tensor:
        return self._of_base("mean")

    def _variance(self) -> Tensor:
        return self._of_base("variance")

    def _stddev(self) -> Tensor:
        return self._of_base("stddev")

    def _mode(self) -> Tensor:
        return self._of_base("mode")


@RegisterKL(Independent, Independent)
def _kl_independent(a: Independent, b: Independent, name: str | None = "kl_independent") -> Tensor:
    p, q = a.distribution, b.distribution
    if a.event_shape.is_fully_defined() and b.event_shape.is_fully_defined():
        if a.event_shape != b.event_shape:
            raise ValueError("Event shapes do not match.")
        if p.event_shape != q.event_shape:
            raise NotImplementedError(
                "KL between Independents with different event shapes not supported."
            )
        known = len(a.event_shape) - len(p.event_shape)
        axes: Any = [-i - 1 for i in range(known)]
        return tf.reduce_sum(kl_divergence(p, q, name=name), axis=axes)
    checks = [
        tf.assert_equal(a.event_shape_tensor(), b.event_shape_tensor()),
        tf.assert_equal(p.event_shape_tensor(), q.event_shape_tensor()),
    ]
    with control_dependencies(checks):
        count = tf.size(a.event_shape_tensor()) - tf.size(p.event_shape_tensor())
        return tf.reduce_sum(kl_divergence(p, q, name=name), axis=tf.range(-count, 0))
