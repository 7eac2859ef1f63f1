# SPDX-License-Identifier: Apache-2.0
"""What all distributions share: shapes, samples, and densities that follow from each other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine.graph.constants import constant_value
from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape, as_shape, broadcast_static, unknown_shape
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
    def param_shapes(
        cls, sample_shape: TensorLike, name: str = "DistributionParamShapes"
    ) -> dict[str, Tensor]:
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
    def name(self) -> str:
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

    def copy(self, **override_parameters_kwargs: Any) -> Distribution:
        """The same distribution with some parameters changed."""
        return type(self)(**{**self.parameters, **override_parameters_kwargs})

    # Shapes

    # Whether one draw of one distribution is a number; else the class states what it is.
    _draws_numbers = False

    @property
    def _like(self) -> Sequence[Tensor]:
        """Tensors that broadcast to the shape of the batch, if the class states it by them."""
        return ()

    def _batch_shape_tensor(self) -> Tensor:
        if not self._like:
            raise self._not_stated("batch_shape_tensor")
        return functools.reduce(tf.broadcast_dynamic_shape, [tf.shape(x) for x in self._like])

    def _batch_shape(self) -> TensorShape:
        if not self._like:
            return TensorShape(None)
        return functools.reduce(broadcast_static, [x.shape for x in self._like])

    def _event_shape_tensor(self) -> Tensor:
        if not self._draws_numbers:
            raise self._not_stated("event_shape_tensor")
        return tf.constant([], dtype=dtypes.int32)

    def _event_shape(self) -> TensorShape:
        return TensorShape([] if self._draws_numbers else None)

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
            found = self._is_scalar_helper(self.event_shape, self.event_shape_tensor)
            return convert_to_tensor(found, name="is_scalar_event")

    def is_scalar_batch(self, name: str = "is_scalar_batch") -> Tensor:
        """Whether there is one distribution."""
        with self._name_scope(name):
            found = self._is_scalar_helper(self.batch_shape, self.batch_shape_tensor)
            return convert_to_tensor(found, name="is_scalar_batch")

    def _is_scalar_helper(
        self, static_shape: TensorShape, dynamic_shape_fn: Callable[[], Tensor]
    ) -> Any:
        """Whether a shape is that of a number: a bool if that is known, else a tensor."""
        if static_shape.ndims is not None:
            return static_shape.ndims == 0
        shape = dynamic_shape_fn()
        if shape.shape.ndims is not None and shape.shape.as_list()[0] is not None:
            return shape.shape.as_list() == [0]
        return tf.equal(tf.shape(shape)[0], 0)

    # Samples

    def sample(
        self, sample_shape: TensorLike = (), seed: int | None = None, name: str = "sample"
    ) -> Tensor:
        """Draws, of shape `sample_shape` followed by the batch's and the event's."""
        return self._call_sample_n(sample_shape, seed, name)

    def _call_sample_n(
        self, sample_shape: TensorLike, seed: int | None, name: str, **kwargs: Any
    ) -> Tensor:
        with self._name_scope(name, [sample_shape]):
            shape = convert_to_tensor(sample_shape, dtype=dtypes.int32, name="sample_shape")
            shape, count = self._expand_sample_shape_to_vector(shape, "sample_shape")
            # Subclasses draw a plain number of samples, whatever the shape asked for.
            drawn = self._sample_n(count, seed, **kwargs)
            drawn = tf.reshape(drawn, tf.concat([shape, tf.shape(drawn)[1:]], 0))
            return self._transformed_samples(drawn, shape, **kwargs)

    def _transformed_samples(self, drawn: Tensor, shape: Tensor, **kwargs: Any) -> Tensor:
        """Samples in their shape, as `sample` gives them."""
        return self._set_sample_static_shape(drawn, shape)

    def _expand_sample_shape_to_vector(self, x: Tensor, name: str) -> tuple[Tensor, Any]:
        """A shape given as a vector or as a number, as a vector; and how many elements it has."""
        known = constant_value(x)
        count = tf.reduce_prod(x) if known is None else np.prod(known, dtype=np.int32)
        rank = x.shape.ndims
        if rank is not None and rank > 1:
            raise ValueError("Input is neither scalar nor vector.")
        if rank == 1:
            return x, count
        if rank == 0 and known is not None:
            return convert_to_tensor(np.array([known], np.int32), name=name), count
        return tf.reshape(x, [-1]), count

    def _set_sample_static_shape(self, x: Tensor, sample_shape: Tensor) -> Tensor:
        """Tells the samples what is known of sample_shape + batch_shape + event_shape."""
        known = constant_value(sample_shape)
        front = TensorShape(None if known is None else known.tolist())
        parts = [front, self.batch_shape, self.event_shape]
        ranks = [part.ndims for part in parts]
        if ranks.count(None) > 1 or (None in ranks and x.shape.ndims is None):
            if x.shape.ndims is not None:
                _merge_ends(x, front, self.event_shape)
            return x
        if None in ranks:
            rest = (x.shape.ndims or 0) - sum(rank for rank in ranks if rank is not None)
            parts[ranks.index(None)] = unknown_shape(rest)
        x.set_shape(parts[0].concatenate(parts[1]).concatenate(parts[2]))
        return x

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

    def _call(self, what: str, value: TensorLike, name: str, **kwargs: Any) -> Tensor:
        """What `_log_prob` and the like say of a value, or what follows from another of them."""
        with self._name_scope(name, [value]):
            value = convert_to_tensor(value, name="value", preferred_dtype=self.dtype)
            ways = [lambda: getattr(self, f"_{what}")(value, **kwargs)]
            if what in _FOLLOWING:
                ways.append(lambda: _FOLLOWING[what](self, value, kwargs))
            return _first_stated(ways)

    def log_prob(self, value: TensorLike, name: str = "log_prob") -> Tensor:
        """The logarithm of the density (or probability) of a value."""
        return self._call("log_prob", value, name)

    def prob(self, value: TensorLike, name: str = "prob") -> Tensor:
        """The density (or probability) of a value."""
        return self._call("prob", value, name)

    def log_cdf(self, value: TensorLike, name: str = "log_cdf") -> Tensor:
        """The logarithm of the probability of draws up to a value."""
        return self._call("log_cdf", value, name)

    def cdf(self, value: TensorLike, name: str = "cdf") -> Tensor:
        """The probability of draws up to a value."""
        return self._call("cdf", value, name)

    def log_survival_function(
        self, value: TensorLike, name: str = "log_survival_function"
    ) -> Tensor:
        """The logarithm of the probability of draws above a value."""
        return self._call("log_survival_function", value, name)

    def survival_function(self, value: TensorLike, name: str = "survival_function") -> Tensor:
        """The probability of draws above a value."""
        return self._call("survival_function", value, name)

    def quantile(self, value: TensorLike, name: str = "quantile") -> Tensor:
        """What draws exceed with a probability of 1 - `value`."""
        return self._call("quantile", value, name)

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
        with self._name_scope(name):
            return _first_stated((self._variance, lambda: tf.square(self._stddev())))

    def stddev(self, name: str = "stddev") -> Tensor:
        """The standard deviation of each component."""
        with self._name_scope(name):
            return _first_stated((self._stddev, lambda: tf.sqrt(self._variance())))

    def covariance(self, name: str = "covariance") -> Tensor:
        """The covariance matrix of the components of a draw."""
        with self._name_scope(name):
            return self._covariance()

    def mode(self, name: str = "mode") -> Tensor:
        """The likeliest value."""
        with self._name_scope(name):
            return self._mode()

    # Divergences

    def _cross_entropy(self, other: object) -> Tensor:
        from . import divergence

        return divergence.cross_entropy(self, other, allow_nan_stats=self.allow_nan_stats)

    def cross_entropy(self, other: object, name: str = "cross_entropy") -> Tensor:
        """The cross entropy of this distribution and another one."""
        with self._name_scope(name):
            return self._cross_entropy(other)

    def _kl_divergence(self, other: object) -> Tensor:
        from . import divergence

        return divergence.kl_divergence(self, other, allow_nan_stats=self.allow_nan_stats)

    def kl_divergence(self, other: object, name: str = "kl_divergence") -> Tensor:
        """The Kullback-Leibler divergence of this distribution from another one."""
        with self._name_scope(name):
            return self._kl_divergence(other)

    # Helpers of subclasses

    def _complete(
        self,
        given: dict[str, Any],
        parents: Sequence[Any],
        name: str | None,
        dtype: DTypeLike,
        reparameterized: bool = False,
    ) -> None:
        """The base's constructor, with what the constructor of a subclass was given."""
        Distribution.__init__(
            self,
            dtype=dtype,
            reparameterization_type=(
                FULLY_REPARAMETERIZED if reparameterized else NOT_REPARAMETERIZED
            ),
            validate_args=given["validate_args"],
            allow_nan_stats=given["allow_nan_stats"],
            parameters=given,
            graph_parents=parents,
            name=name,
        )

    def _where_defined(self, value: Tensor, *bounds: tuple[Tensor, str]) -> Tensor:
        """A statistic that exists where all bounds are above 1: else NaN, or an error."""
        if not self.allow_nan_stats:
            one = tf.ones([], dtype=self.dtype)
            checks = [tf.assert_less(one, bound, message=text) for bound, text in bounds]
            return with_dependencies(checks, value)
        nan = nan_like(self.batch_shape_tensor(), self.dtype)
        is_defined = functools.reduce(tf.logical_and, [bound > 1.0 for bound, _ in bounds])
        return tf.where_v2(is_defined, value, nan)

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


def _first_stated(ways: Sequence[Callable[[], Tensor]]) -> Tensor:
    """The result of the first way that is stated; the error of the first if none is."""
    missing: list[NotImplementedError] = []
    for way in ways:
        try:
            return way()
        except NotImplementedError as error:
            missing.append(error)
    raise missing[0]


# What follows from something else, where a class does not state it.
_FOLLOWING: dict[str, Callable[[Any, Tensor, dict[str, Any]], Tensor]] = {
    "log_prob": lambda self, x, kwargs: tf.log(self._prob(x, **kwargs)),
    "prob": lambda self, x, kwargs: tf.exp(self._log_prob(x, **kwargs)),
    "log_cdf": lambda self, x, kwargs: tf.log(self._cdf(x, **kwargs)),
    "cdf": lambda self, x, kwargs: tf.exp(self._log_cdf(x, **kwargs)),
    "log_survival_function": lambda self, x, kwargs: tf.log1p(-self.cdf(x, **kwargs)),
    "survival_function": lambda self, x, kwargs: 1.0 - self.cdf(x, **kwargs),
}


def _merge_ends(x: Tensor, front: TensorShape, back: TensorShape) -> None:
    """Tells a tensor the sizes of its first and of its last dimensions, as far as known."""
    rank = x.shape.ndims or 0
    if front.ndims is not None:
        x.set_shape(front.concatenate(unknown_shape(rank - front.ndims)))
    if back.ndims is not None:
        x.set_shape(unknown_shape(rank - back.ndims).concatenate(back))
