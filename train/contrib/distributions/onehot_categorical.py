# SPDX-License-Identifier: Apache-2.0
"""Classes as vectors of ones and zeros, and their differentiable relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.graph import control_dependencies, name_scope
from ....engine.graph.tensor import Tensor
from ....engine.signatures import without_private_bases
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.distributions.discrete import _WithProbabilities
from ....ops.distributions.divergence import RegisterKL
from ....ops.distributions.transformed_distribution import TransformedDistribution
from ....ops.nn.loss import softmax_cross_entropy_with_logits
from ....ops.nn.softmax import log_softmax, softmax
from ....ops.public import tf
from .bijectors.elementwise import Exp, Sigmoid
from .distribution_util import get_logits_and_probs
from .location_scale import Logistic, uniform_above_zero

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, TensorLike


class _OfClasses(_WithProbabilities):
    """A distribution of vectors with one number per class."""

    _event_size: Tensor
    _batch_rank: Tensor

    def _set_classes(self) -> None:
        known = self._logits.shape.with_rank_at_least(1)
        if known.ndims is not None:
            rank = known.ndims - 1
            self._batch_rank = convert_to_tensor(rank, dtype=dtypes.int32, name="batch_rank")
        else:
            with name_scope("batch_rank"):
                self._batch_rank = tf.rank(self._logits) - 1
        with name_scope("event_size"):
            self._event_size = tf.shape(self._logits)[-1]

    @property
    def event_size(self) -> Tensor:
        """The number of classes."""
        return self._event_size

    def _batch_shape_tensor(self) -> Tensor:
        return tf.shape(self.logits)[:-1]

    def _batch_shape(self) -> TensorShape:
        return self.logits.shape[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return tf.shape(self.logits)[-1:]

    def _event_shape(self) -> TensorShape:
        return self.logits.shape.with_rank_at_least(1)[-1:]

    def _checked_sample(self, x: Tensor) -> Tensor:
        return self._checked(
            x,
            lambda: tf.assert_non_positive(x),
            lambda: tf.assert_near(
                tf.zeros([], dtype=self.dtype), tf.reduce_logsumexp(x, axis=[-1])
            ),
        )

    def _same_shape(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """A value and the logits as rows of one shape, and the shape without their last size."""
        x, logits = self._checked_sample(x), self.logits
        shapes = x.shape, logits.shape
        if not all(shape.is_fully_defined() for shape in shapes) or shapes[0] != shapes[1]:
            logits = tf.ones_like(x, dtype=logits.dtype) * logits
            x = tf.ones_like(logits, dtype=x.dtype) * x
        shape = tf.shape(tf.reduce_sum(logits, axis=[-1]))
        rows = [-1, self.event_size]
        return tf.reshape(x, rows), tf.reshape(logits, rows), shape


@export("contrib.distributions.OneHotCategorical")
@without_private_bases
class OneHotCategorical(_OfClasses):
    """One of several classes, as a vector with a one at its place."""

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name
            )
            self._set_classes()
        self._complete(parameters, [self._logits, self._probs], name, dtypes.as_dtype(dtype))

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        logits = self.logits
        shape = tf.concat([[n], tf.shape(logits)], 0)
        if logits.shape.ndims != 2:
            logits = tf.reshape(logits, [-1, self.event_size])
        drawn = tf.transpose(tf.multinomial(logits, n, seed=seed))
        return tf.reshape(tf.one_hot(drawn, self.event_size, dtype=self.dtype), shape)

    def _log_prob(self, x: Tensor) -> Tensor:
        x, logits, shape = self._same_shape(x)
        found = -softmax_cross_entropy_with_logits(labels=x, logits=logits)
        return tf.reshape(found, shape)

    def _entropy(self) -> Tensor:
        return -tf.reduce_sum(log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Tensor:
        largest = tf.argmax(self.logits, axis=self._batch_rank)
        mode = tf.one_hot(largest, self.event_size, dtype=self.dtype)
        mode.set_shape(self.logits.shape)
        return mode

    def _covariance(self) -> Tensor:
        product = -tf.matmul(self.probs[..., None], self.probs[..., None, :])
        return tf.matrix_set_diag(product, self._variance())

    def _variance(self) -> Tensor:
        return self.probs * (1.0 - self.probs)


@RegisterKL(OneHotCategorical, OneHotCategorical)
def _kl_categorical_categorical(
    a: OneHotCategorical, b: OneHotCategorical, name: str | None = None
) -> Tensor:
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        ratios = log_softmax(a.logits) - log_softmax(b.logits)
        return tf.reduce_sum(softmax(a.logits) * ratios, axis=-1)


@export("contrib.distributions.ExpRelaxedOneHotCategorical")
@without_private_bases
class ExpRelaxedOneHotCategorical(_OfClasses):
    """The logarithms of what RelaxedOneHotCategorical draws."""

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:
        parameters = dict(locals())
        warmth: Any = temperature
        with name_scope(name, values=[logits, probs, temperature]) as name:
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name
            )
            if dtype is None:
                dtype = self._logits.dtype
                warmth = warmth if validate_args else tf.cast(warmth, dtype)
            with control_dependencies([tf.assert_positive(warmth)] if validate_args else []):
                self._temperature = tf.identity(warmth, name="temperature")
                self._temperature_2d = tf.reshape(warmth, [-1, 1], name="temperature_2d")
            self._set_classes()
        parents = [self._logits, self._probs, self._temperature]
        self._complete(parameters, parents, name, dtypes.as_dtype(dtype), True)

    @property
    def temperature(self) -> Tensor:
        """How far draws are from vectors of ones and zeros."""
        return self._temperature

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        shape = tf.concat([[n], tf.shape(self.logits)], 0)
        logits = self.logits * tf.ones(shape, dtype=self.dtype)
        logits = tf.reshape(logits, [-1, self.event_size])
        drawn = uniform_above_zero(tf.shape(logits), self, seed)
        # The largest of logits with Gumbel's noise is a class; this is its smooth form.
        noisy = tf.div(-tf.log(-tf.log(drawn)) + logits, self._temperature_2d)
        return tf.reshape(log_softmax(noisy), shape)

    def _log_prob(self, x: Tensor) -> Tensor:
        x, logits, shape = self._same_shape(x)
        k = tf.cast(self.event_size, x.dtype)
        normalizer = tf.lgamma(k) + (k - 1.0) * tf.log(self.temperature)
        terms = log_softmax(logits - x * self._temperature_2d)
        return tf.reshape(normalizer + tf.reduce_sum(terms, [-1], keepdims=False), shape)


@export("contrib.distributions.RelaxedOneHotCategorical")
class RelaxedOneHotCategorical(TransformedDistribution):
    """Probabilities near vectors of ones and zeros, differentiable by their logits."""

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        logarithms = ExpRelaxedOneHotCategorical(
            temperature, logits, probs, dtype, validate_args, allow_nan_stats
        )
        super().__init__(logarithms, Exp(), name=name)


@export("contrib.distributions.RelaxedBernoulli")
class RelaxedBernoulli(TransformedDistribution):
    """Numbers near 0 or 1, differentiable by their logits."""

    _shaped: tuple[str, ...] = ("logits",)

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs, temperature]) as name:
            with control_dependencies([tf.assert_positive(temperature)] if validate_args else []):
                self._temperature = tf.identity(temperature, name="temperature")
            self._logits, self._probs = get_logits_and_probs(
                logits=logits, probs=probs, validate_args=validate_args
            )
            super().__init__(
                distribution=Logistic(
                    self._logits / self._temperature,
                    1.0 / self._temperature,
                    validate_args=validate_args,
                    allow_nan_stats=allow_nan_stats,
                    name=name + "/Logistic",
                ),
                bijector=Sigmoid(validate_args=validate_args),
                validate_args=validate_args,
                name=name,
            )
        self._parameters = parameters

    @property
    def temperature(self) -> Tensor:
        """How far draws are from 0 and 1."""
        return self._temperature

    @property
    def logits(self) -> Tensor:
        """The log-odds of 1."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probability of 1."""
        return self._probs
