# SPDX-License-Identifier: Apache-2.0
"""Distributions of whole numbers: Bernoulli, categorical, multinomial, Dirichlet-multinomial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.graph.tensor import Tensor
from ...engine.signatures import without_private_bases
from ...engine.types import dtypes
from ...engine.types.shape import TensorShape
from ..nn.activation import softplus
from ..nn.loss import sigmoid_cross_entropy_with_logits, sparse_softmax_cross_entropy_with_logits
from ..nn.softmax import log_softmax, softmax
from ..public import tf
from .checks import (
    embed_check_categorical_event_shape,
    embed_check_integer_casting_closed,
    embed_check_nonnegative_integer_form,
    gen_new_seed,
    get_logits_and_probs,
    log_combinations,
)
from .distribution import NOT_REPARAMETERIZED, Distribution
from .divergence import RegisterKL

if TYPE_CHECKING:
    import numpy as np

    from ...engine.graph.annotations import DTypeLike, TensorLike


class _WithProbabilities(Distribution):
    """A distribution stated by probabilities, or by their logarithms."""

    _logits: Tensor
    _probs: Tensor

    @property
    def logits(self) -> Tensor:
        """The log-odds (of classes: log-probabilities up to a constant)."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._probs


@without_private_bases
class Bernoulli(_WithProbabilities):
    """The Bernoulli distribution: 1 with a probability, else 0."""

    _draws_numbers = True
    _shaped: tuple[str, ...] = ("logits",)

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name) as name:
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, validate_args=validate_args, name=name
            )
        super().__init__(
            dtype=dtypes.as_dtype(dtype),
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    @property
    def _like(self) -> Sequence[Tensor]:
        return (self._logits,)

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        drawn = tf.random_uniform(shape, seed=seed, dtype=self.probs.dtype)
        return tf.cast(tf.less(drawn, self.probs), self.dtype)

    def _log_prob(self, event: Tensor) -> Tensor:
        if self.validate_args:
            event = embed_check_integer_casting_closed(event, target_dtype=dtypes.bool)
        event, logits = tf.cast(event, self.logits.dtype), self.logits
        shapes = event.shape, logits.shape
        if not all(shape.is_fully_defined() for shape in shapes) or shapes[0] != shapes[1]:
            event, logits = tf.ones_like(logits) * event, tf.ones_like(event) * logits
        return -sigmoid_cross_entropy_with_logits(labels=event, logits=logits)

    def _entropy(self) -> Tensor:
        # -p log p - (1 - p) log(1 - p), with -log p = softplus(-logits) and log p - log(1 - p) =
        # logits.
        return -self.logits * (tf.sigmoid(self.logits) - 1) + softplus(-self.logits)

    def _mean(self) -> Tensor:
        return tf.identity(self.probs)

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Tensor:
        return tf.cast(self.probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_bernoulli_bernoulli", values=[a.logits, b.logits]):
        # log(a / b) of the probability of 1, and then of that of 0, by log p = -softplus(-logits).
        of_zero = softplus(-b.logits) - softplus(-a.logits)
        of_one = softplus(b.logits) - softplus(a.logits)
        return tf.sigmoid(a.logits) * of_zero + tf.sigmoid(-a.logits) * of_one


@without_private_bases
class Categorical(_WithProbabilities):
    """The categorical distribution: the number of one of several classes."""

    _draws_numbers = True

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = dtypes.int32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        parameters = dict(locals())
        with name_scope(name, values=[logits, probs]) as name:
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name
            )
            if validate_args:
                self._logits = embed_check_categorical_event_shape(self._logits)
            known = self._logits.shape.with_rank_at_least(1)
            if known.ndims is not None:
                rank = known.ndims - 1
                self._batch_rank = convert_to_tensor(rank, dtypes.int32, name="batch_rank")
            else:
                with name_scope(name="batch_rank"):
                    self._batch_rank = tf.rank(self._logits) - 1
            logits_shape = tf.shape(self._logits, name="logits_shape")
            last = None if known.ndims is None else known.as_list()[-1]
            self._event_size: Any
            if last is None:
                with name_scope(name="event_size"):
                    self._event_size = logits_shape[self._batch_rank]
            else:
                self._event_size = convert_to_tensor(last, dtypes.int32, name="event_size")
            if known[:-1].is_fully_defined():
                sizes = known[:-1].as_list()
                self._batch_shape_val = tf.constant(sizes, dtypes.int32, name="batch_shape")
            else:
                with name_scope(name="batch_shape"):
                    self._batch_shape_val = logits_shape[:-1]
        super().__init__(
            dtype=dtypes.as_dtype(dtype),
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._logits, self._probs],
            name=name,
        )

    @property
    def event_size(self) -> Tensor:
        """How many classes there are."""
        return self._event_size

    def _batch_shape_tensor(self) -> Tensor:
        return tf.identity(self._batch_shape_val)

    def _batch_shape(self) -> TensorShape:
        return self.logits.shape[:-1]

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        logits = self.logits
        if logits.shape.ndims != 2:
            logits = tf.reshape(logits, [-1, self.event_size])
        wide = dtypes.int64 if self.dtype.size > 4 else dtypes.int32
        drawn = tf.transpose(tf.multinomial(logits, n, seed=seed, output_dtype=wide))
        shape = tf.concat([[n], self.batch_shape_tensor()], 0)
        return tf.cast(tf.reshape(drawn, shape), self.dtype)

    def _with_classes(self, k: Tensor, params: Tensor) -> tuple[Tensor, Tensor]:
        """Class numbers and parameters, in one shape but for the last dimension."""
        if self.validate_args:
            k = embed_check_integer_casting_closed(k, target_dtype=dtypes.int32)
        if k.dtype.is_floating:
            k = tf.cast(k, dtypes.int32)
        elif not k.dtype.is_integer:
            raise TypeError(
                f"`value` should have integer `dtype` or `self.dtype` ({self.dtype.base_dtype})"
            )
        shapes = k.shape, params.shape[:-1]
        if not all(shape.is_fully_defined() for shape in shapes) or shapes[0] != shapes[1]:
            params *= tf.ones_like(k[..., None], dtype=params.dtype)
            k *= tf.ones(tf.shape(params)[:-1], dtype=k.dtype)
            if params.shape.ndims is not None:
                k.set_shape(params.shape[:-1])
        return k, params

    def _cdf(self, k: Tensor) -> Tensor:
        k, probs = self._with_classes(k, self.probs)
        rows = tf.reshape(probs, (-1, self._event_size))
        # Up to k, without it: so TensorFlow 1.15 defines the integral.
        below = tf.sequence_mask(tf.reshape(k, [-1]), self._event_size)
        summed = tf.reduce_sum(tf.where(below, rows, tf.zeros_like(rows)), axis=-1)
        return tf.reshape(summed, tf.shape(k))

    def _log_prob(self, k: Tensor) -> Tensor:
        k, logits = self._with_classes(k, self.logits)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _entropy(self) -> Tensor:
        return -tf.reduce_sum(log_softmax(self.logits) * self.probs, axis=-1)

    def _mode(self) -> Tensor:
        mode = tf.cast(tf.argmax(self.logits, axis=self._batch_rank), self.dtype)
        mode.set_shape(self.batch_shape)
        return mode


@RegisterKL(Categorical, Categorical)
def _kl_categorical_categorical(a: Categorical, b: Categorical, name: str | None = None) -> Tensor:
    with name_scope(name, "kl_categorical_categorical", values=[a.logits, b.logits]):
        ratios = log_softmax(a.logits) - log_softmax(b.logits)
        return tf.reduce_sum(softmax(a.logits) * ratios, axis=-1)


class _Counting(Distribution):
    """How often each class comes up in a number of draws."""

    _total_count: Tensor
    _wrong_sum = "counts must sum to `self.total_count`"

    @property
    def total_count(self) -> Tensor:
        """The number of draws."""
        return self._total_count

    def _counted(self, total_count: TensorLike) -> Tensor:
        total = convert_to_tensor(total_count, name="total_count")
        return embed_check_nonnegative_integer_form(total) if self.validate_args else total

    def _checked_counts(self, counts: Tensor) -> Tensor:
        if not self.validate_args:
            return counts
        counts = embed_check_nonnegative_integer_form(counts)
        text = self._wrong_sum
        return self._checked(
            counts,
            lambda: tf.assert_equal(self.total_count, tf.reduce_sum(counts, -1), message=text),
        )


@without_private_bases
class Multinomial(_Counting, _WithProbabilities):
    """The multinomial distribution of `total_count` draws of classes with probabilities."""

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        parameters = dict(locals())
        self._validate_args = validate_args
        with name_scope(name, values=[total_count, logits, probs]) as name:
            self._total_count = self._counted(total_count)
            self._logits, self._probs = get_logits_and_probs(
                logits, probs, multidimensional=True, validate_args=validate_args, name=name
            )
            self._mean_val = self._total_count[..., None] * self._probs
        super().__init__(
            dtype=self._probs.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._logits, self._probs],
            name=name,
        )

    def _batch_shape_tensor(self) -> Tensor:
        return tf.shape(self._mean_val)[:-1]

    def _batch_shape(self) -> TensorShape:
        return self._mean_val.shape.with_rank_at_least(1)[:-1]

    def _event_shape_tensor(self) -> Tensor:
        return tf.shape(self._mean_val)[-1:]

    def _event_shape(self) -> TensorShape:
        return self._mean_val.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        draws = tf.cast(self.total_count, dtype=dtypes.int32)
        k = self.event_shape_tensor()[0]
        # Both in the shape of the batch; every distribution draws its own number of times.
        draws = tf.ones_like(self.logits[..., 0], dtype=draws.dtype) * draws
        logits = tf.ones_like(draws[..., None], dtype=self.logits.dtype) * self.logits

        # All draws of one distribution at once, and a loop over the batch, as their numbers may
        # differ.
        def of_one(args: Sequence[Tensor]) -> Tensor:
            row, count = args
            drawn = tf.multinomial(row[None, ...], count, seed)
            return tf.reduce_sum(tf.one_hot(tf.reshape(drawn, [n, -1]), depth=k), axis=-2)

        rows = (tf.reshape(logits, [-1, k]), n * tf.reshape(draws, [-1]))
        counts = tf.transpose(tf.map_fn(of_one, rows, dtype=dtypes.float32), perm=[1, 0, 2])
        shape = tf.concat([[n], self.batch_shape_tensor(), [k]], 0)
        return tf.cast(tf.reshape(counts, shape), self.dtype)

    def _log_prob(self, counts: Tensor) -> Tensor:
        counts = self._checked_counts(counts)
        likely = tf.reduce_sum(counts * log_softmax(self.logits), -1)
        return likely - -log_combinations(self.total_count, counts)

    def _mean(self) -> Tensor:
        return tf.identity(self._mean_val)

    def _each(self) -> Tensor:
        return self.probs * tf.ones_like(self.total_count)[..., None]

    def _covariance(self) -> Tensor:
        # Covariances -n p_i p_j; the diagonal is replaced by the variances.
        product = tf.matmul(self._mean_val[..., None], self._each()[..., None, :])
        return tf.matrix_set_diag(-product, self._variance())

    def _variance(self) -> Tensor:
        return self._mean_val - self._mean_val * self._each()


@without_private_bases
class DirichletMultinomial(_Counting):
    """The multinomial distribution with probabilities of a Dirichlet distribution."""

    _wrong_sum = "counts last-dimension must sum to `self.total_count`"

    def __init__(
        self,
        total_count: np.ndarray | np.generic,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        parameters = dict(locals())
        self._validate_args = validate_args
        with name_scope(name, values=[total_count, concentration]) as name:
            self._total_count = self._counted(total_count)
            given = convert_to_tensor(concentration, name="concentration")
            self._concentration = self._concentrated(given)
            self._total_concentration = tf.reduce_sum(self._concentration, -1)
        super().__init__(
            dtype=self._concentration.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._total_count, self._concentration],
            name=name,
        )

    def _concentrated(self, x: Tensor) -> Tensor:
        if self.validate_args:
            x = embed_check_categorical_event_shape(x)
        text = "Concentration parameter must be positive."
        return self._checked(x, lambda: tf.assert_positive(x, message=text))

    @property
    def concentration(self) -> Tensor:
        """One number per class."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """Their sum."""
        return self._total_concentration

    @property
    def _like(self) -> Sequence[Tensor]:
        return (self.total_concentration,)

    def _event_shape_tensor(self) -> Tensor:
        return tf.shape(self.concentration)[-1:]

    def _event_shape(self) -> TensorShape:
        return self.concentration.shape.with_rank_at_least(1)[-1:]

    def _sample_n(self, n: TensorLike, seed: int | None = None) -> Tensor:
        k = self.event_shape_tensor()[0]
        gamma = tf.random_gamma(shape=[n], alpha=self.concentration, dtype=self.dtype, seed=seed)
        drawn = tf.multinomial(
            logits=tf.reshape(tf.log(gamma), shape=[-1, k]),
            num_samples=tf.cast(self.total_count, dtype=dtypes.int32),
            seed=gen_new_seed(seed, salt="dirichlet_multinomial"),
        )
        counts = tf.reduce_sum(tf.one_hot(drawn, depth=k), -2)
        shape = tf.concat([[n], self.batch_shape_tensor(), [k]], 0)
        return tf.cast(tf.reshape(counts, shape), self.dtype)

    def _log_prob(self, counts: Tensor) -> Tensor:
        counts = self._checked_counts(counts)
        # The probabilities integrated out: B(alpha + counts) / B(alpha).
        ordered = tf.lbeta(self.concentration + counts) - tf.lbeta(self.concentration)
        return ordered + log_combinations(self.total_count, counts)

    def _mean(self) -> Tensor:
        return self.total_count * (self.concentration / self.total_concentration[..., None])

    def _scale(self) -> Tensor:
        total = self.total_concentration[..., None]
        # Covariances are a multinomial's times (n + a) / (1 + a) for a = total; over n^2, as the
        # mean has n in it already, and under a root, as it is used twice.
        return tf.sqrt((1.0 + total / self.total_count) / (1.0 + total))

    def _covariance(self) -> Tensor:
        x = self._scale() * self._mean()
        product = tf.matmul(x[..., None], x[..., None, :])
        return tf.matrix_set_diag(-product, self._variance())

    def _variance(self) -> Tensor:
        scale = self._scale()
        x = scale * self._mean()
        return x * (self.total_count * scale - x)
