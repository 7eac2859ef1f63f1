# SPDX-License-Identifier: Apache-2.0
"""Samplers: helpers without tensors, which `BasicDecoderV2` gives them when it is called.

TensorFlow 1.15 has them in its module `sampler`, without public names.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes, nest
from ....engine.types.shape import TensorShape
from ....ops.public import tf
from ...rnn.step import transpose_batch_time
from .helper import (
    drawn,
    embedded,
    likeliest,
    read_or_zeros,
    rows_of,
    start_tokens_and_end,
    unstacked,
)
from .sampling import bernoulli_sample
from .scheduling import Outputs, check_probability, scheduled_ids, with_embedded

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
    from ....engine.graph.tensor import Tensor
    from ....engine.types.dtypes import DType
    from ..structures import Structure


class Sampler(metaclass=abc.ABCMeta):
    """What samples outputs and chooses inputs, of a decoder that is a layer."""

    @abc.abstractmethod
    def initialize(self, inputs: Structure, **kwargs: Any) -> Any:
        """(finished [batch], first inputs)."""

    @abc.abstractmethod
    def sample(self, time: Structure, outputs: Structure, state: Structure) -> Any:
        """What is taken from the outputs of a step."""

    @abc.abstractmethod
    def next_inputs(
        self, time: Structure, outputs: Structure, state: Structure, sample_ids: Structure
    ) -> Any:
        """(finished, next inputs, next state)."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """How many sequences there are; ValueError before `initialize` says so."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """The shape of a sample, without the batch."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""


class _Begun(Sampler):
    """What samplers have in common whose batch is known from `initialize` on."""

    _batch_size: Any = None

    @property
    def batch_size(self) -> Any:
        """How many sequences there are; ValueError before `initialize` says so."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """Scalars."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> DType:
        """int32."""
        return dtypes.int32


class CustomSampler(_Begun):
    """A sampler of three functions.

    Args:
        initialize_fn: a function(inputs, ...) -> (finished, first inputs).
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
        shape: Any = sample_ids_shape
        self._sample_ids_shape = TensorShape(shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of a sample, without the batch."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_ids_dtype

    def initialize(self, inputs: Structure, **kwargs: Any) -> tuple[Any, Any]:
        """(finished, first inputs)."""
        finished, first = self._initialize_fn(inputs, **kwargs)
        if self._batch_size is None:
            self._batch_size = tf.size(finished)
        return finished, first

    def sample(self, time: Structure, outputs: Structure, state: Structure) -> Any:
        """What sample_fn gives."""
        return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Structure, outputs: Structure, state: Structure, sample_ids: Structure
    ) -> Any:
        """What next_inputs_fn gives."""
        given = {"time": time, "outputs": outputs, "state": state}
        return self._next_inputs_fn(**given, sample_ids=sample_ids)


class TrainingSampler(_Begun):
    """Inputs that are known beforehand.

    Args:
        time_major: whether inputs are [time, batch, ...].
    """

    def __init__(self, time_major: bool = False) -> None:
        self.time_major = time_major

    def initialize(  # type: ignore[override]
        self, inputs: Structure, sequence_length: TensorLike | None = None
    ) -> tuple[Any, Any]:
        """(finished, first inputs).

        Args:
            inputs: [batch, time, ...], or a structure of such.
            sequence_length: int [batch].

        Raises:
            ValueError: there are no lengths, or they are no vector.
        """
        self.inputs = convert_to_tensor(inputs, name="inputs")  # type: ignore[arg-type]
        if not self.time_major:
            inputs = nest.map_structure(transpose_batch_time, inputs)
        self.input_tas = nest.map_structure(unstacked, inputs)
        if sequence_length is None:
            raise ValueError("sequence_length is required for TrainingSampler")
        self.sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
        shape = self.sequence_length.get_shape()
        if shape.ndims != 1:
            raise ValueError(
                f"Expected sequence_length to be a vector, but received shape: {shape}"
            )
        self.zero_inputs = nest.map_structure(lambda x: tf.zeros_like(x[0, :]), inputs)
        self._batch_size = tf.size(self.sequence_length)
        finished = tf.equal(0, self.sequence_length)
        return finished, read_or_zeros(finished, 0, self.input_tas, self.zero_inputs)

    def sample(self, time: Structure, outputs: Structure, state: Structure) -> Any:
        """The largest output of each sequence."""
        return tf.cast(tf.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(
        self, time: Structure, outputs: Structure, state: Structure, sample_ids: Structure
    ) -> tuple[Any, Any, Any]:
        """(finished, the next inputs, the same state)."""
        following = time + 1
        finished = following >= self.sequence_length
        return finished, read_or_zeros(finished, following, self.input_tas, self.zero_inputs), state


def _require_callable(embedding_fn: object, what: str) -> None:
    if embedding_fn is not None and not callable(embedding_fn):
        raise ValueError(f"embedding_fn is expected to be {what}, got {type(embedding_fn)}")


class ScheduledEmbeddingTrainingSampler(TrainingSampler):
    """Some inputs are embeddings of what the decoder would say, arXiv 1506.03099.

    Args:
        sampling_probability: how probably that is an input; a scalar or [batch].
        embedding_fn: a function from ids to vectors; None for rows of the matrix that
            `initialize` gets.
        time_major: whether inputs are [time, batch, ...].
        seed, scheduling_seed: of what is drawn, and of whether it is.

    Raises:
        ValueError: embedding_fn cannot be called, or the probability is no scalar and no vector.
    """

    def __init__(
        self,
        sampling_probability: TensorLike,
        embedding_fn: Callable[..., Any] | None = None,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
    ) -> None:
        _require_callable(embedding_fn, "callable")
        self.embedding_fn = embedding_fn
        self.sampling_probability = check_probability(sampling_probability)
        self.seed = seed
        self.scheduling_seed = scheduling_seed
        super().__init__(time_major=time_major)

    def initialize(  # type: ignore[override]
        self,
        inputs: Structure,
        sequence_length: TensorLike | None = None,
        embedding: TensorLike | None = None,
    ) -> tuple[Any, Any]:
        """(finished, first inputs), as TrainingSampler, with the matrix of embeddings."""
        if self.embedding_fn is None:
            if embedding is None:
                raise ValueError(
                    "embedding is required as a keyword argument for "
                    "ScheduledEmbeddingTrainingSampler"
                )
            self.embedding_fn = rows_of(embedding)
        return super().initialize(inputs, sequence_length=sequence_length)

    def sample(self, time: Structure, outputs: Structure, state: Structure) -> Tensor:
        """An id for each sequence whose next input is sampled, -1 for others."""
        seeds = self.scheduling_seed, self.seed
        return scheduled_ids(outputs, self.sampling_probability, self.batch_size, *seeds)

    def next_inputs(
        self, time: Structure, outputs: Structure, state: Structure, sample_ids: Structure
    ) -> tuple[Any, Any, Any]:
        """(finished, next inputs, the same state)."""
        assert self.embedding_fn is not None, "`initialize` was called before"
        finished, base, state = super().next_inputs(time, outputs, state, sample_ids)
        return finished, with_embedded(finished, base, sample_ids, self.embedding_fn), state


class ScheduledOutputTrainingSampler(TrainingSampler):
    """Some inputs are the decoder's own outputs.

    Args:
        sampling_probability: how probably they are; a scalar or [batch].
        time_major: whether inputs are [time, batch, ...].
        seed: of the random numbers.
        next_inputs_fn: a function(outputs) -> inputs; None if outputs are inputs.

    Raises:
        ValueError: the probability is no scalar and no vector.
    """

    def __init__(
        self,
        sampling_probability: TensorLike,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.sampling_probability = check_probability(sampling_probability)
        self.seed = seed
        self.next_inputs_fn = next_inputs_fn
        self._auxiliary_input_tas: Any = None
        super().__init__(time_major=time_major)

    def initialize(  # type: ignore[override]
        self,
        inputs: Structure,
        sequence_length: TensorLike | None = None,
        auxiliary_inputs: TensorLike | None = None,
    ) -> tuple[Any, Any]:
        """(finished, first inputs); each input gets one of auxiliary_inputs behind it."""
        if auxiliary_inputs is not None:
            first: Any = convert_to_tensor(inputs)  # type: ignore[arg-type]
            more: Any = convert_to_tensor(auxiliary_inputs)
            inputs = tf.concat((first, more), -1)
            self._auxiliary_input_tas = unstacked(
                more if self.time_major else transpose_batch_time(more)
            )
        else:
            self._auxiliary_input_tas = None
        return super().initialize(inputs, sequence_length=sequence_length)

    def sample(self, time: Structure, outputs: Structure, state: Structure) -> Any:
        """1 for each sequence whose next input is its output, 0 for others."""
        return bernoulli_sample(
            probs=self.sampling_probability, sample_shape=self.batch_size, seed=self.seed
        )

    def next_inputs(
        self, time: Structure, outputs: Structure, state: Structure, sample_ids: Structure
    ) -> tuple[Any, Any, Any]:
        """(finished, next inputs, the same state)."""
        finished, base, state = super().next_inputs(time, outputs, state, sample_ids)
        made = Outputs(outputs, time, self._auxiliary_input_tas)
        return finished, made.among(finished, base, sample_ids, self.next_inputs_fn), state


class GreedyEmbeddingSampler(_Begun):
    """The largest output's embedding is the next input.

    Args:
        embedding_fn: a function from ids to vectors; None for rows of the matrix that
            `initialize` gets.

    Raises:
        ValueError: embedding_fn cannot be called.
    """

    def __init__(self, embedding_fn: Callable[..., Any] | None = None) -> None:
        _require_callable(embedding_fn, "a callable")
        self.embedding_fn = embedding_fn

    def initialize(  # type: ignore[override]
        self,
        embedding: Any,
        start_tokens: TensorLike | None = None,
        end_token: TensorLike | None = None,
    ) -> tuple[Tensor, Any]:
        """(finished, first inputs).

        Args:
            embedding: a matrix; unused if there is an embedding_fn.
            start_tokens: int32 [batch], the ids of the first inputs.
            end_token: the id that ends a sequence.

        Raises:
            ValueError: the tokens are no vector, or the end no scalar.
        """
        if self.embedding_fn is None:
            self.embedding_fn = rows_of(embedding)
        self.start_tokens, self.end_token = start_tokens_and_end(start_tokens, end_token)
        self._batch_size = tf.size(self.start_tokens)
        self.start_inputs = self.embedding_fn(self.start_tokens)
        return tf.tile([False], [self._batch_size]), self.start_inputs

    def sample(self, time: Structure, outputs: Structure, state: Structure) -> Any:
        """The largest output of each sequence."""
        return likeliest(outputs)

    def next_inputs(
        self, time: Structure, outputs: Structure, state: Structure, sample_ids: Structure
    ) -> tuple[Any, ...]:
        """(finished, embeddings of the samples, the same state)."""
        assert self.embedding_fn is not None, "`initialize` was called before"
        begin = self.start_inputs
        return (*embedded(sample_ids, self.end_token, begin, self.embedding_fn), state)


class SampleEmbeddingSampler(GreedyEmbeddingSampler):
    """Ids are drawn by their probability.

    Args:
        embedding_fn: as GreedyEmbeddingSampler.
        softmax_temperature: what outputs are divided by; None for 1.
        seed: of the random numbers.
    """

    def __init__(
        self,
        embedding_fn: Callable[..., Any] | None = None,
        softmax_temperature: TensorLike | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(embedding_fn)
        self.softmax_temperature = softmax_temperature
        self.seed = seed

    def sample(self, time: Structure, outputs: Structure, state: Structure) -> Any:
        """A draw for each sequence."""
        return drawn(outputs, self.softmax_temperature, self.seed)


class InferenceSampler(_Begun):
    """Outputs are sampled by a function, and are the next inputs.

    Args:
        sample_fn: a function(outputs) -> samples.
        sample_shape, sample_dtype: of a sample, without the batch.
        end_fn: a function(samples) -> bool [batch], what is finished.
        next_inputs_fn: a function(samples) -> inputs; None if samples are inputs.
    """

    def __init__(
        self,
        sample_fn: Callable[..., Any],
        sample_shape: Any,
        sample_dtype: DTypeLike,
        end_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.sample_fn = sample_fn
        self.sample_shape = TensorShape(sample_shape)
        self.sample_dtype = sample_dtype
        self.end_fn = end_fn
        self.next_inputs_fn = next_inputs_fn

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of a sample, without the batch."""
        return self.sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self.sample_dtype

    def initialize(self, start_inputs: TensorLike) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(finished, first inputs): these are what is given, [batch, ...]."""
        self.start_inputs: Tensor = convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = tf.shape(start_inputs)[0]
        return tf.tile([False], [self._batch_size]), self.start_inputs

    def sample(self, time: Structure, outputs: Structure, state: Structure) -> Any:
        """What sample_fn gives."""
        return self.sample_fn(outputs)

    def next_inputs(
        self, time: Structure, outputs: Structure, state: Structure, sample_ids: Structure
    ) -> tuple[Any, Any, Any]:
        """(finished, next inputs, the same state)."""
        inputs = sample_ids if self.next_inputs_fn is None else self.next_inputs_fn(sample_ids)
        return self.end_fn(sample_ids), inputs, state
