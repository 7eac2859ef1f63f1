# SPDX-License-Identifier: Apache-2.0
"""Helpers: what a decoder's cell gets at each step, and when a sequence ends."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....engine.graph.tensor import Tensor
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape
from ....ops.flow.tensor_array import TensorArray
from ....ops.nn.embedding import embedding_lookup
from ....ops.public import tf
from ...rnn.step import transpose_batch_time
from .sampling import bernoulli_sample, categorical_sample

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
    from ..structures import Structure


def unstacked(x: Tensor) -> TensorArray:
    """The rows of a tensor, as an array to read from."""
    array = TensorArray(dtype=x.dtype, size=tf.shape(x)[0], element_shape=x.get_shape()[1:])
    return array.unstack(x)


def rows_of(embedding: Any) -> Callable[..., Any]:
    """The function from ids to vectors that an embedding is, or stands for."""
    return embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)


@export("contrib.seq2seq.Helper")
class Helper(metaclass=abc.ABCMeta):
    """What samples outputs and chooses inputs (tf.contrib.seq2seq.Helper)."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """How many sequences there are."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """The shape of a sample, without the batch."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """(finished [batch], first inputs)."""

    @abc.abstractmethod
    def sample(
        self, time: Structure, outputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """What is taken from the outputs of a step."""

    @abc.abstractmethod
    def next_inputs(
        self,
        time: Structure,
        outputs: Structure,
        state: Structure,
        sample_ids: Structure,
        name: str | None = None,
    ) -> Any:
        """(finished, next inputs, next state)."""


class _OfIds(Helper):
    """What the helpers have in common whose samples are numbers of classes."""

    _batch_size: Any

    @property
    def batch_size(self) -> Any:
        """How many sequences there are."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """Scalars."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        """int32."""
        return dtypes.int32


@export("contrib.seq2seq.CustomHelper")
class CustomHelper(Helper):
    """A helper of three functions (tf.contrib.seq2seq.CustomHelper).

    Args:
        initialize_fn: a function() -> (finished, first inputs).
        sample_fn: a function(time, outputs, state) -> samples.
        next_inputs_fn: a function(time, outputs, state, sample_ids) -> (finished, inputs, state).
        sample_ids_shape: of a sample without the batch; scalars if None.
        sample_ids_dtype: int32 if None.
    """

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: ShapeLike | None = None,
        sample_ids_dtype: DTypeLike | None = None,
    ) -> None:
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        shape: Any = sample_ids_shape
        self._sample_ids_shape = TensorShape(shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self) -> Any:
        """How many sequences there are; known from `initialize` on."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of a sample, without the batch."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs)."""
        with tf.name_scope(name, f"{type(self).__name__}Initialize"):
            finished, inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = tf.size(finished)
        return finished, inputs

    def sample(
        self, time: Structure, outputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """What sample_fn gives."""
        with tf.name_scope(name, f"{type(self).__name__}Sample", (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self,
        time: Structure,
        outputs: Structure,
        state: Structure,
        sample_ids: Structure,
        name: str | None = None,
    ) -> Any:
        """What next_inputs_fn gives."""
        with tf.name_scope(name, f"{type(self).__name__}NextInputs", (time, outputs, state)):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


@export("contrib.seq2seq.TrainingHelper")
class TrainingHelper(_OfIds):
    """Inputs that are known beforehand (tf.contrib.seq2seq.TrainingHelper).

    Args:
        inputs: [batch, time, ...], or a structure of such.
        sequence_length: int [batch].
        time_major: whether inputs are [time, batch, ...].
        name: of the operations.

    Raises:
        ValueError: the lengths are no vector.
    """

    def __init__(
        self,
        inputs: TensorLike,
        sequence_length: TensorLike,
        time_major: bool = False,
        name: str | None = None,
    ) -> None:
        with tf.name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            converted: Any = convert_to_tensor(inputs, name="inputs")
            self._inputs = converted
            if not time_major:
                converted = nest.map_structure(transpose_batch_time, converted)
            self._input_tas = nest.map_structure(unstacked, converted)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            shape = self._sequence_length.get_shape()
            if shape.ndims != 1:
                raise ValueError(
                    f"Expected sequence_length to be a vector, but received shape: {shape}"
                )
            self._zero_inputs = nest.map_structure(lambda x: tf.zeros_like(x[0, :]), converted)
            self._batch_size = tf.size(sequence_length)

    @property
    def inputs(self) -> Any:
        """All inputs, as they were given."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        """The lengths of the sequences."""
        return self._sequence_length

    def _read(self, finished: Tensor, time: Structure) -> Any:
        """The inputs of a step; zeros when there are none any more."""
        return tf.cond(
            tf.reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self._input_tas),
        )

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs)."""
        with tf.name_scope(name, "TrainingHelperInitialize"):
            finished = tf.equal(0, self._sequence_length)
            return finished, self._read(finished, 0)

    def sample(  # type: ignore[override]
        self, time: Structure, outputs: Structure, name: str | None = None, **unused_kwargs: Any
    ) -> Any:
        """The largest output of each sequence."""
        with tf.name_scope(name, "TrainingHelperSample", [time, outputs]):
            return tf.cast(tf.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(  # type: ignore[override]
        self,
        time: Structure,
        outputs: Structure,
        state: Structure,
        name: str | None = None,
        **unused_kwargs: Any,
    ) -> Any:
        """(finished, the next inputs, the same state)."""
        with tf.name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            following = time + 1
            finished = following >= self._sequence_length
            return finished, self._read(finished, following), state


@export("contrib.seq2seq.GreedyEmbeddingHelper")
class GreedyEmbeddingHelper(_OfIds):
    """The largest output's embedding is the next input (tf.contrib.seq2seq.GreedyEmbeddingHelper).

    Args:
        embedding: a matrix, or a function from ids to vectors.
        start_tokens: int32 [batch], the ids of the first inputs.
        end_token: the id that ends a sequence.

    Raises:
        ValueError: the tokens are no vector, or the end no scalar.
    """

    def __init__(self, embedding: Any, start_tokens: TensorLike, end_token: TensorLike) -> None:
        self._embedding_fn = rows_of(embedding)
        self._start_tokens = convert_to_tensor(
            start_tokens, dtype=dtypes.int32, name="start_tokens"
        )
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._start_tokens.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = tf.size(start_tokens)
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs)."""
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(
        self, time: Structure, outputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """The largest output of each sequence."""
        _require_tensor(outputs)
        return tf.argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(
        self,
        time: Structure,
        outputs: Structure,
        state: Structure,
        sample_ids: Structure,
        name: str | None = None,
    ) -> Any:
        """(finished, embeddings of the samples, the same state)."""
        finished = tf.equal(sample_ids, self._end_token)
        inputs = tf.cond(
            tf.reduce_all(finished),
            # When all is finished, it does not matter which.
            lambda: self._start_inputs,
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, inputs, state


def _require_tensor(outputs: object) -> None:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")


@export("contrib.seq2seq.SampleEmbeddingHelper")
class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Ids are drawn by their probability (tf.contrib.seq2seq.SampleEmbeddingHelper).

    Args:
        embedding, start_tokens, end_token: as GreedyEmbeddingHelper.
        softmax_temperature: what outputs are divided by; None for 1.
        seed: of the random numbers.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: TensorLike,
        end_token: TensorLike,
        softmax_temperature: TensorLike | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(
        self, time: Structure, outputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """A draw for each sequence."""
        _require_tensor(outputs)
        temperature: Any = self._softmax_temperature
        logits = outputs if temperature is None else outputs / temperature
        return categorical_sample(logits=logits, seed=self._seed)


@export("contrib.seq2seq.InferenceHelper")
class InferenceHelper(Helper):
    """Outputs are sampled by a function, and are the next inputs (tf.contrib.seq2seq).

    Args:
        sample_fn: a function(outputs) -> samples.
        sample_shape, sample_dtype: of a sample, without the batch.
        start_inputs: the first inputs [batch, ...].
        end_fn: a function(samples) -> bool [batch], what is finished.
        next_inputs_fn: a function(samples) -> inputs; None if samples are inputs.
    """

    def __init__(
        self,
        sample_fn: Callable[..., Any],
        sample_shape: Any,
        sample_dtype: DTypeLike,
        start_inputs: TensorLike,
        end_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any] | None = None,
    ) -> None:
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = tf.shape(start_inputs)[0]
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self) -> Any:
        """How many sequences there are."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        """The shape of a sample, without the batch."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> Any:
        """(finished, first inputs)."""
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(
        self, time: Structure, outputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """What sample_fn gives."""
        return self._sample_fn(outputs)

    def next_inputs(
        self,
        time: Structure,
        outputs: Structure,
        state: Structure,
        sample_ids: Structure,
        name: str | None = None,
    ) -> Any:
        """(finished, next inputs, the same state)."""
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state


def check_probability(probability: TensorLike) -> Tensor:
    """The probability of sampling as a tensor; ValueError if it is neither scalar nor vector."""
    converted = convert_to_tensor(probability, name="sampling_probability")
    shape = converted.get_shape()
    if shape.ndims not in (0, 1):
        raise ValueError(
            f"sampling_probability must be either a scalar or a vector. saw shape: {shape}"
        )
    return converted


def mixed(chosen: Tensor, others: Tensor, base: Tensor, sampled: Callable[..., Any]) -> Any:
    """`base` where nothing is sampled, and what `sampled` gives for the indices elsewhere."""
    at, not_at = (tf.cast(tf.where(which), dtypes.int32) for which in (chosen, others))
    new, kept = sampled(at), tf.gather_nd(base, not_at)
    shape = tf.shape(base)
    return tf.scatter_nd(indices=at, updates=new, shape=shape) + tf.scatter_nd(
        indices=not_at, updates=kept, shape=shape
    )


@export("contrib.seq2seq.ScheduledEmbeddingTrainingHelper")
class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Some inputs are embeddings of what the decoder would say (tf.contrib.seq2seq).

    Of arXiv 1506.03099.

    Args:
        inputs, sequence_length, time_major, name: as TrainingHelper.
        embedding: a matrix, or a function from ids to vectors.
        sampling_probability: how probably that is an input; a scalar or [batch].
        seed, scheduling_seed: of what is drawn, and of whether it is.
    """

    def __init__(
        self,
        inputs: TensorLike,
        sequence_length: TensorLike,
        embedding: Any,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ) -> None:
        values = [embedding, sampling_probability]
        with tf.name_scope(name, "ScheduledEmbeddingSamplingWrapper", values):
            self._embedding_fn = rows_of(embedding)
            self._sampling_probability = check_probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(  # type: ignore[override]
        self, time: Structure, outputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """An id for each sequence whose next input is sampled, -1 for others."""
        values = [time, outputs, state]
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", values):
            chosen = bernoulli_sample(
                probs=self._sampling_probability,
                dtype=dtypes.bool,
                sample_shape=self.batch_size,
                seed=self._scheduling_seed,
            )
            drawn = categorical_sample(logits=outputs, seed=self._seed)
            return tf.where(chosen, drawn, tf.fill([self.batch_size], -1))

    def next_inputs(  # type: ignore[override]
        self,
        time: Structure,
        outputs: Structure,
        state: Structure,
        sample_ids: Structure,
        name: str | None = None,
    ) -> Any:
        """(finished, next inputs, the same state)."""
        values = [time, outputs, state, sample_ids]
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", values):
            finished, base, state = super().next_inputs(time, outputs, state, name)

            def sampled(at: Tensor) -> Any:
                return self._embedding_fn(tf.gather_nd(sample_ids, at))

            inputs = tf.cond(
                tf.reduce_all(finished),
                lambda: base,
                lambda: mixed(sample_ids > -1, sample_ids <= -1, base, sampled),
            )
            return finished, inputs, state


@export("contrib.seq2seq.ScheduledOutputTrainingHelper")
class ScheduledOutputTrainingHelper(TrainingHelper):
    """Some inputs are the decoder's own outputs (tf.contrib.seq2seq).

    Args:
        inputs, sequence_length, time_major, name: as TrainingHelper.
        sampling_probability: how probably they are; a scalar or [batch].
        seed: of the random numbers.
        next_inputs_fn: a function(outputs) -> inputs; None if outputs are inputs.
        auxiliary_inputs: more inputs, that each input gets behind it.
    """

    def __init__(
        self,
        inputs: TensorLike,
        sequence_length: TensorLike,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[..., Any] | None = None,
        auxiliary_inputs: TensorLike | None = None,
        name: str | None = None,
    ) -> None:
        values = [inputs, auxiliary_inputs, sampling_probability]
        with tf.name_scope(name, "ScheduledOutputTrainingHelper", values):
            self._sampling_probability = check_probability(sampling_probability)
            self._auxiliary_input_tas: Any = None
            if auxiliary_inputs is not None:
                first: Any = convert_to_tensor(inputs, name="inputs")
                more: Any = convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = tf.concat((first, more), -1)
                if not time_major:
                    more = transpose_batch_time(more)
                self._auxiliary_input_tas = unstacked(more)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(  # type: ignore[override]
        self, time: Structure, outputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """1 for each sequence whose next input is its output, 0 for others."""
        values = [time, outputs, state]
        with tf.name_scope(name, "ScheduledOutputTrainingHelperSample", values):
            return bernoulli_sample(
                probs=self._sampling_probability, sample_shape=self.batch_size, seed=self._seed
            )

    def _completed(self, outputs: Structure, time: Structure, at: Tensor | None = None) -> Any:
        """Outputs with the auxiliary inputs of the next step behind them."""
        if self._auxiliary_input_tas is None:
            return outputs
        more = self._auxiliary_input_tas.read(time + 1)
        return tf.concat((outputs, more if at is None else tf.gather_nd(more, at)), -1)

    def next_inputs(  # type: ignore[override]
        self,
        time: Structure,
        outputs: Structure,
        state: Structure,
        sample_ids: Structure,
        name: str | None = None,
    ) -> Any:
        """(finished, next inputs, the same state)."""
        values = [time, outputs, state, sample_ids]
        with tf.name_scope(name, "ScheduledOutputTrainingHelperNextInputs", values):
            finished, base, state = super().next_inputs(time, outputs, state, name)
            chosen = tf.cast(sample_ids, dtypes.bool)

            def sampled(at: Tensor) -> Any:
                assert self._next_inputs_fn is not None, "else outputs are inputs"
                return self._completed(self._next_inputs_fn(tf.gather_nd(outputs, at)), time, at)

            def either() -> Any:
                if self._next_inputs_fn is None:
                    return tf.where(chosen, self._completed(outputs, time), base)
                return mixed(chosen, tf.logical_not(chosen), base, sampled)

            none = tf.logical_not(tf.reduce_any(chosen))
            is_known = tf.logical_or(tf.reduce_all(finished), none)
            return finished, tf.cond(is_known, lambda: base, either), state
