# SPDX-License-Identifier: Apache-2.0
"""What is always the same, as a distribution of numbers or of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.signatures import without_private_bases
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.control import with_dependencies
from ....ops.distributions.distribution import Distribution
from ....ops.public import tf

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike


class _BaseDeterministic(Distribution):
    """A value, and how far from it another one counts as it."""

    _loc: Tensor

    def _set(self, given: dict[str, Any], is_vector: bool = False) -> None:
        name, atol, rtol = given["name"], given["atol"], given["rtol"]
        validate_args = given["validate_args"]
        with name_scope(name, values=[given["loc"], atol, rtol]) as name:
            loc = convert_to_tensor(given["loc"], name="loc")
            if is_vector and validate_args:
                text = "Argument loc must be at least rank 1."
                if loc.shape.ndims is None:
                    check = tf.assert_rank_at_least(loc, 1, message=text)
                    loc = with_dependencies([check], loc)
                elif loc.shape.ndims < 1:
                    raise ValueError(text)
            self._loc = loc
            self._complete(given, [loc], name, loc.dtype)
            self._atol, self._rtol = self._tolerance(atol), self._tolerance(rtol)
            self._slack = self._atol
            if rtol is not None:
                self._slack = self._atol + self._rtol * tf.abs(self._loc)

    def _tolerance(self, tol: TensorLike | None) -> Tensor:
        if tol is None:
            return convert_to_tensor(0, dtype=self._loc.dtype)
        found = convert_to_tensor(tol, dtype=self._loc.dtype)
        text = "Argument 'tol' must be non-negative"
        return self._checked(found, lambda: tf.assert_non_negative(found, message=text))

    @property
    def loc(self) -> Tensor:
        """The value."""
        return self._loc

    @property
    def atol(self) -> Tensor:
        """How far another value may be."""
        return self._atol

    @property
    def rtol(self) -> Tensor:
        """How far it may be as a share of the value."""
        return self._rtol

    def _entropy(self) -> Tensor:
        return tf.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self) -> Tensor:
        return tf.identity(self.loc)

    def _variance(self) -> Tensor:
        return tf.zeros_like(self.loc)

    def _mode(self) -> Tensor:
        return self.mean()

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        known, rank = constant_value(convert_to_tensor(n)), self.loc.shape.ndims
        if known is not None and rank is not None:
            multiples: Any = [int(known), *[1] * rank]
        else:
            multiples = tf.concat(([n], tf.ones_like(tf.shape(self.loc))), axis=0)
        return tf.tile(self.loc[None, ...], multiples=multiples)


@export("contrib.distributions.Deterministic")
@without_private_bases
class Deterministic(_BaseDeterministic):
    """Numbers that are always `loc`; others within the tolerances count as it."""

    def __init__(
        self,
        loc: TensorLike,
        atol: TensorLike | None = None,
        rtol: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ) -> None:
        self._set(dict(locals()))

    def _batch_shape_tensor(self) -> Tensor:
        return tf.shape(self.loc)

    def _batch_shape(self) -> TensorShape:
        return self.loc.shape

    def _event_shape_tensor(self) -> Tensor:
        return tf.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    def _prob(self, x: Tensor) -> Tensor:
        return tf.cast(tf.abs(x - self.loc) <= self._slack, dtype=self.dtype)

    def _cdf(self, x: Tensor) -> Tensor:
        return tf.cast(x >= self.loc - self._slack, dtype=self.dtype)


@export("contrib.distributions.VectorDeterministic")
@without_private_bases
class VectorDeterministic(_BaseDeterministic):
    """Vectors that are always `loc`; others within the tolerances count as it."""

    def __init__(
        self,
        loc: TensorLike,
        atol: TensorLike | None = None,
        rtol: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ) -> None:
        self._set(dict(locals()), is_vector=True)

    def _batch_shape_tensor(self) -> Tensor:
        return tf.shape(self.loc)[:-1]

    def _batch_shape(self) -> TensorShape:
        return self.loc.shape[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return tf.shape(self.loc)[-1:]

    def _event_shape(self) -> TensorShape:
        return self.loc.shape[-1:]

    def _prob(self, x: Tensor) -> Tensor:
        if self.validate_args:
            text = "Argument 'x' not defined in the same space R^k as this distribution"
            is_vector = tf.assert_rank_at_least(x, 1)
            last = tf.gather(tf.shape(x), tf.rank(x) - 1)
            fits = tf.assert_equal(self.event_shape_tensor(), last, message=text)
            with control_dependencies([is_vector, fits]):
                x = tf.identity(x)
        is_near = tf.abs(x - self.loc) <= self._slack
        return tf.cast(tf.reduce_all(is_near, axis=-1), dtype=self.dtype)
