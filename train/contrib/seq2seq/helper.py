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
from .sampling import categorical_sample

if TYPE_CHECKING:
    from ....engine.graph.annotations import DTypeLike, ShapeLike, TensorLike
    from ....engine.types.dtypes import DType
    from ..structures import Structure


def unstacked(x: Tensor) -> TensorArray:
    """The rows of a tensor, as an array to read from."""
    array = TensorArray(dtype=x.dtype, size=tf.shape(x)[0], element_shape=x.get_shape()[1:])
    return array.unstack(x)


def read_or_zeros(finished: Tensor, time: Structure, arrays: Any, zeros: Structure) -> Any:
    """The inputs of a step; zeros when there are none any more."""
    return tf.cond(
        tf.reduce_all(finished),
        lambda: zeros,
        lambda: nest.map_structure(lambda array: array.read(time), arrays),
    )


def start_tokens_and_end(
    start_tokens: TensorLike | None, end_token: TensorLike | None
) -> tuple[Tensor, Tensor]:
    """The ids of the first inputs and that which ends a sequence, as tensors.

    Raises:
        ValueError: the tokens are no vector, or the end no scalar.
    """
    first = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")  # type: ignore[arg-type]
    end = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")  # type: ignore[arg-type]
    if first.get_shape().ndims != 1:
        raise ValueError("start_tokens must be a vector")
    if end.get_shape().ndims != 0:
        raise ValueError("end_token must be a scalar")
    return first, end


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
    def sample_ids_shape(self) -> TensorShape:
        """Scalars."""
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> DType:
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
    def sample_ids_shape(self) -> TensorShape:
        """The shape of a sample, without the batch."""
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
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
    def sequence_length(self) -> Tensor:
        """The lengths of the sequences."""
        return self._sequence_length

    def _read(self, finished: Tensor, time: Structure) -> Any:
        return read_or_zeros(finished, time, self._input_tas, self._zero_inputs)

    def initialize(self, name: str | None = None) -> tuple[Any, Any]:
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
    ) -> tuple[Any, Any, Any]:
        """(finished, the next inputs, the same state)."""
        with tf.name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            following = time + 1
            finished = following >= self._sequence_length
            return finished, self._read(finished, following), state


def _require_tensor(outputs: object) -> None:
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")


def likeliest(outputs: Structure) -> Any:
    """The largest output of each sequence; TypeError if outputs are no single tensor."""
    _require_tensor(outputs)
    return tf.argmax(outputs, axis=-1, output_type=dtypes.int32)


def drawn(outputs: Structure, temperature: Any, seed: int | None) -> Any:
    """A draw for each sequence; TypeError if outputs are no single tensor."""
    _require_tensor(outputs)
    logits = outputs if temperature is None else outputs / temperature
    return categorical_sample(logits=logits, seed=seed)


def embedded(
    ids: Tensor, end_token: Tensor, start_inputs: Tensor, embedding_fn: Callable[..., Any]
) -> tuple[Any, Any]:
    """(finished, embeddings of ids)."""
    finished = tf.equal(ids, end_token)
    # When all is finished, it does not matter which.
    inputs = tf.cond(tf.reduce_all(finished), lambda: start_inputs, lambda: embedding_fn(ids))
    return finished, inputs


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
        self._start_tokens, self._end_token = start_tokens_and_end(start_tokens, end_token)
        self._batch_size = tf.size(start_tokens)
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name: str | None = None) -> tuple[Tensor, Any]:
        """(finished, first inputs)."""
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(
        self, time: Structure, outputs: Structure, state: Structure, name: str | None = None
    ) -> Any:
        """The largest output of each sequence."""
        return likeliest(outputs)

    def next_inputs(
        self,
        time: Structure,
        outputs: Structure,
        state: Structure,
        sample_ids: Structure,
        name: str | None = None,
    ) -> tuple[Any, ...]:
        """(finished, embeddings of the samples, the same state)."""
        begin = self._start_inputs
        return (*embedded(sample_ids, self._end_token, begin, self._embedding_fn), state)


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
        return drawn(outputs, self._softmax_temperature, self._seed)


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
    def batch_size(self) -> Tensor:
        """How many sequences there are."""
        return self._batch_size

    @property
    def sample_ids_shape(self) -> TensorShape:
        """The shape of a sample, without the batch."""
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        """The dtype of samples."""
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> tuple[Tensor, Tensor]:
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
    ) -> tuple[Any, Any, Any]:
        """(finished, next inputs, the same state)."""
        inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), inputs, state
