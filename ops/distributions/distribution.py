# SPDX-License-Identifier: Apache-2.0
"""What all distributions share: shapes, samples, and densities that follow from each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape, broadcast_static
from ..control import with_dependencies
from ..public import tf

if TYPE_CHECKING:
    from ...engine.graph.annotations import DTypeLike, TensorLike


class ReparameterizationType:
    """Whether gradients flow through samples to the parameters; compared by identity."""

    def __init__(self, rep_type: str) -> None:
        self._rep_type = rep_type

    def __repr__(self) -> str:
        return f"<Reparameteriation Type: {self._rep_type}>"


FULLY_REPARAMETERIZED = ReparameterizationType("FULLY_REPARAMETERIZED")
NOT_REPARAMETERIZED = ReparameterizationType("NOT_REPARAMETERIZED")


def nan_like(shape: TensorLike, dtype: dtypes.DType) -> Tensor:
    """NaN everywhere."""
    return tf.fill(shape, np.array(np.nan, dtype.as_numpy_dtype), name="nan")


class Distribution:
    """A batch of random variables of one kind (tf.distributions.Distribution).

    Subclasses state `_sample_n`, `_log_prob` and so on; a public method for which nothing is
    stated, and that follows from nothing else, raises NotImplementedError.
    """

    def __init__(
        self,
        dtype: DTypeLike,
        reparameterization_type: ReparameterizationType,
        validate_args: bool,
        allow_nan_stats: bool,
        parameters: dict[str, Any] | None = None,
        graph_parents: Sequence[Tensor] | None = None,
        name: str | None = None,
    ) -> None:
        parents = list(graph_parents or ())
        for i, parent in enumerate(parents):
            if not isinstance(parent, Tensor):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        if not name or not name.endswith("/"):
            with name_scope(name or type(self).__name__) as name:
                pass
        self._dtype = dtype
        self._reparameterization_type = reparameterization_type
        self._allow_nan_stats = allow_nan_stats
        self._validate_args = validate_args
        self._parameters = parameters or {}
        self._graph_parents = parents
        self._name = name

    # Parameters

    @classmethod
    def param_shapes(cls, sample_shape: TensorLike, name: str = "DistributionParamShapes") -> Any:
        """The shapes that the parameters need for samples of a shape, by name."""
        with name_scope(name, values=[sample_shape]):
            return cls._param_shapes(sample_shape)

    @classmethod
    def param_static_shapes(cls, sample_shape: Any) -> dict[str, TensorShape]:
        """Like `param_shapes`, as TensorShapes; ValueError if they are not known."""
        if isinstance(sample_shape, TensorShape):
            if not sample_shape.is_fully_defined():
                raise ValueError("TensorShape sample_shape must be fully defined")
            sample_shape = sample_shape.as_list()
        found = {}
        for name, shape in cls.param_shapes(sample_shape).items():
            known = constant_value(shape)
            if known is None:
                raise ValueError("sample_shape must be a fully-defined TensorShape or list/tuple")
            found[name] = TensorShape(known.tolist())
        return found

    # The parameters whose shape is that of the samples.
    _shaped: tuple[str, ...] = ()

    @classmethod
    def _param_shapes(cls, sample_shape: TensorLike) -> dict[str, Tensor]:
        if not cls._shaped:
            raise NotImplementedError("_param_shapes not implemented")
        shape = convert_to_tensor(sample_shape, dtype=dtypes.int32)
        return dict.fromkeys(cls._shaped, shape)

    @property
    def name(self) -> Any:
        """The scope of the distribution's operations."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The type of samples."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What the distribution was made with."""
        return {
            key: value
            for key, value in self._parameters.items()
            if key != "self" and not key.startswith("__")
        }

    @property
    def reparameterization_type(self) -> ReparameterizationType:
        """Whether gradients flow through samples."""
        return self._reparameterization_type

    @property
    def allow_nan_stats(self) -> bool:
        """Whether statistics that are not defined are NaN; else they raise in the run."""
        return self._allow_nan_stats

    @property
    def validate_args(self) -> bool:
        """Whether parameters and values are checked in the run."""
        return self._validate_args

    def copy(self, **override_parameters_kwargs: Any) -> Any:
        """The same distribution with some parameters changed."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    # Shapes

    @property
    def _like(self) -> Sequence[Tensor]:
        """Tensors that broadcast to the shape of the batch."""
        raise NotImplementedError("batch_shape is not implemented")

    def _batch_shape_tensor(self) -> Tensor:
        first, *others = (tf.shape(x) for x in self._like)
        for other in others:
            first = tf.broadcast_dynamic_shape(first, other)
        return first

    def _batch_shape(self) -> TensorShape:
        shape = TensorShape([])
        for x in self._like:
            shape = as_shape(broadcast_static(shape, x.shape))
        return shape

    def _event_shape_tensor(self) -> Tensor:
        return tf.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([])

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch, as far as it is known."""
        return as_shape(self._batch_shape())

    @property
    def event_shape(self) -> TensorShape:
        """The shape of one draw from one distribution, as far as it is known."""
        return as_shape(self._event_shape())

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch, as a tensor."""
        with self._name_scope(name):
            if self.batch_shape.is_fully_defined():
                sizes = self.batch_shape.as_list()
                return convert_to_tensor(sizes, dtype=dtypes.int32, name="batch_shape")
            return self._batch_shape_tensor()

    def event_shape_tensor(self, name: str = "event_shape_tensor") -> Tensor:
        """The shape of one draw, as a tensor."""
        with self._name_scope(name):
            if self.event_shape.is_fully_defined():
                sizes = self.event_shape.as_list()
                return convert_to_tensor(sizes, dtype=dtypes.int32, name="event_shape")
            return self._event_shape_tensor()

    def is_scalar_event(self, name: str = "is_scalar_event") -> Tensor:
        """Whether draws are scalars."""
        with self._name_scope(name):
            return _is_scalar(self.event_shape, self.event_shape_tensor, "is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether there is one distribution."""
        with self._name_scope(name):
            return _is_scalar(self.batch_shape, self.batch_shape_tensor, "is_scalar_batch")

    # Samples

    def sample(
        self, sample_shape: TensorLike = (), seed: int | None = None, name: str = "sample"
    ) -> Tensor:
        """Draws, of shape `sample_shape` followed by the batch's and the event's."""
        with self._name_scope(name, [sample_shape]):
            shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            shape, count = _as_vector(shape)
            # Subclasses draw a plain number of samples, whatever the shape asked for.
            drawn = self._sample_n(count, seed)
            whole = tf.concat([shape, tf.shape(drawn)[1:]], 0)
            drawn = tf.reshape(drawn, whole)
            self._set_static_shape(drawn, shape)
            return drawn

    def _set_static_shape(self, drawn: Tensor, sample_shape: Tensor) -> None:
        known = constant_value(sample_shape)
        if known is not None:
            front = TensorShape(known.tolist())
            drawn.set_shape(front.concatenate(self.batch_shape).concatenate(self.event_shape))

    # Densities and moments

    def _not_stated(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"{what} is not implemented: {type(self).__name__}")

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        raise self._not_stated("sample_n")

    def _log_prob(self, value: Tensor) -> Tensor:
        raise self._not_stated("log_prob")

    def _prob(self, value: Tensor) -> Tensor:
        raise self._not_stated("prob")

    def _log_cdf(self, value: Tensor) -> Tensor:
        raise self._not_stated("log_cdf")

    def _cdf(self, value: Tensor) -> Tensor:
        raise self._not_stated("cdf")

    def _log_survival_function(self, value: Tensor) -> Tensor:
        raise self._not_stated("log_survival_function")

    def _survival_function(self, value: Tensor) -> Tensor:
        raise self._not_stated("survival_function")

    def _quantile(self, value: Tensor) -> Tensor:
        raise self._not_stated("quantile")

    def _entropy(self) -> Tensor:
        raise self._not_stated("entropy")

    def _mean(self) -> Tensor:
        raise self._not_stated("mean")

    def _variance(self) -> Tensor:
        raise self._not_stated("variance")

    def _stddev(self) -> Tensor:
        raise self._not_stated("stddev")

    def _covariance(self) -> Tensor:
        raise self._not_stated("covariance")

    def _mode(self) -> Tensor:
        raise self._not_stated("mode")

    def _of(self, value: TensorLike, name: str, *ways: Callable[[Tensor], Tensor]) -> Tensor:
        with self._name_scope(name, [value]):
            value = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            return _first_stated(lambda way: way(value), ways)

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> Tensor:
        """The logarithm of the density (or probability) of a value."""
        return self._of(value, name, self._log_prob, lambda x: tf.log(self._prob(x)))

    def prob(self, value: TensorLike, name: str = "prob") -> Tensor:
        """The density (or probability) of a value."""
        return self._of(value, name, self._prob, lambda x: tf.exp(self._log_prob(x)))

    def log_cdf(self, value: TensorLike, name: str = "log_cdf") -> Tensor:
        """The logarithm of the probability of draws up to a value."""
        return self._of(value, name, self._log_cdf, lambda x: tf.log(self._cdf(x)))

    def cdf(self, value: TensorLike, name: str = "cdf") -> Tensor:
        """The probability of draws up to a value."""
        return self._of(value, name, self._cdf, lambda x: tf.exp(self._log_cdf(x)))

    def log_survival_function(
        self, value: TensorLike, name: str = "log_survival_function"
    ) -> Tensor:
        """The logarithm of the probability of draws above a value."""
        return self._of(value, name, self._log_survival_function, lambda x: tf.log1p(-self.cdf(x)))

    def survival_function(self, value: TensorLike, name: str = "survival_function") -> Tensor:
        """The probability of draws above a value."""
        return self._of(value, name, self._survival_function, lambda x: 1.0 - self.cdf(x))

    def quantile(self, value: TensorLike, name: str = "quantile") -> Tensor:
        """What draws exceed with a probability of 1 - `value`."""
        return self._of(value, name, self._quantile)

    def entropy(self, name: str = "entropy") -> Tensor:
        """Shannon's entropy, in nats."""
        with self._name_scope(name):
            return self._entropy()

    def mean(self, name: str = "mean") -> Tensor:
        """The mean."""
        with self._name_scope(name):
            return self._mean()

    def variance(self, name: str = "variance") -> Tensor:
        """The variance of each component."""
        ways = (self._variance, lambda: tf.square(self._stddev()))
        with self._name_scope(name):
            return _first_stated(lambda way: way(), ways)

    def stddev(self, name: str = "stddev") -> Tensor:
        """The standard deviation of each component."""
        ways = (self._stddev, lambda: tf.sqrt(self._variance()))
        with self._name_scope(name):
            return _first_stated(lambda way: way(), ways)

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariance matrix of the components of a draw."""
        with self._name_scope(name):
            return self._covariance()

    def mode(self, name: str = "mode") -> Tensor:
        """The likeliest value."""
        with self._name_scope(name):
            return self._mode()

    # Divergences

    def cross_entropy(self, other: object, name: str = "cross_entropy") -> Tensor:
        """The cross entropy of this distribution and another one."""
        from . import divergence

        with self._name_scope(name):
            return divergence.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def kl_divergence(self, other: object, name: str = "kl_divergence") -> Tensor:
        """The Kullback-Leibler divergence of this distribution from another one."""
        from . import divergence

        with self._name_scope(name):
            return divergence.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    # Helpers of subclasses

    def _where_defined(self, value: Tensor, *bounds: tuple[Tensor, str]) -> Tensor:
        """A statistic that exists where all bounds are above 1: else NaN, or an error."""
        if not self.allow_nan_stats:
            one = tf.ones([], dtype=self.dtype)
            checks = [tf.assert_less(one, bound, message=text) for bound, text in bounds]
            return with_dependencies(checks, value)
        is_defined = bounds[0][0] > 1.0
        for bound, _ in bounds[1:]:
            is_defined = tf.logical_and(is_defined, bound > 1.0)
        return tf.where_v2(is_defined, value, nan_like(self.batch_shape_tensor(), self.dtype))

    def _checked(self, value: Tensor, *checks: Callable[[], Any]) -> Tensor:
        """A value, checked in the run if that was asked for."""
        if not self.validate_args:
            return value
        return with_dependencies([check() for check in checks], value)

    @contextmanager
    def _name_scope(self, name: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        with name_scope(self.name), name_scope(name, values=[*values, *self._graph_parents]) as s:
            yield s

    def __str__(self) -> str:
        known = {"batch_shape": self.batch_shape, "event_shape": self.event_shape}
        shapes = [f", {k}={shape}" for k, shape in known.items() if shape.ndims is not None]
        return (
            f'tfp.distributions.{type(self).__name__}("{self.name}"{"".join(shapes)}, '
            f"dtype={self.dtype.name})"
        )

    def __repr__(self) -> str:
        return (
            f"<tfp.distributions.{type(self).__name__} '{self.name}' "
            f"batch_shape={self.batch_shape} event_shape={self.event_shape} "
            f"dtype={self.dtype.name}>"
        )


def _first_stated(call: Callable[[Any], Tensor], ways: Sequence[Callable[..., Tensor]]) -> Tensor:
    """The result of the first way that is stated; the error of the first if none is."""
    missing: list[NotImplementedError] = []
    for way in ways:
        try:
            return call(way)
        except NotImplementedError as error:
            missing.append(error)
    raise missing[0]


def _is_scalar(shape: TensorShape, dynamic: Callable[[], Tensor], name: str) -> Tensor:
    if shape.ndims is not None:
        return convert_to_tensor(shape.ndims == 0, name=name)
    return tf.equal(tf.size(dynamic()), 0, name=name)


def _as_vector(shape: Tensor) -> tuple[Tensor, Any]:
    """A shape given as a vector or as a number, as a vector; and how many elements it has."""
    known = constant_value(shape)
    count = tf.reduce_prod(shape) if known is None else np.prod(known, dtype=np.int32)
    rank = shape.shape.ndims
    if rank is not None and rank > 1:
        raise ValueError("Input is neither scalar nor vector.")
    return (shape if rank == 1 else tf.reshape(shape, [-1])), count
