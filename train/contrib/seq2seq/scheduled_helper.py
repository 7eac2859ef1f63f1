# SPDX-License-Identifier: Apache-2.0
"""Helpers of scheduled sampling: some inputs are what the decoder itself would say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.convert import convert_to_tensor
from ....ops.public import tf
from ...rnn.step import transpose_batch_time
from .helper import TrainingHelper, rows_of, unstacked
from .sampling import bernoulli_sample
from .scheduling import Outputs, check_probability, scheduled_ids, with_embedded

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.tensor import Tensor
    from ..structures import Structure


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
    ) -> Tensor:
        """An id for each sequence whose next input is sampled, -1 for others."""
        values = [time, outputs, state]
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", values):
            seeds = self._scheduling_seed, self._seed
            return scheduled_ids(outputs, self._sampling_probability, self.batch_size, *seeds)

    def next_inputs(  # type: ignore[override]
        self,
        time: Structure,
        outputs: Structure,
        state: Structure,
        sample_ids: Structure,
        name: str | None = None,
    ) -> tuple[Any, Any, Any]:
        """(finished, next inputs, the same state)."""
        values = [time, outputs, state, sample_ids]
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", values):
            finished, base, state = super().next_inputs(time, outputs, state, name)

            return finished, with_embedded(finished, base, sample_ids, self._embedding_fn), state


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

    def next_inputs(  # type: ignore[override]
        self,
        time: Structure,
        outputs: Structure,
        state: Structure,
        sample_ids: Structure,
        name: str | None = None,
    ) -> tuple[Any, Any, Any]:
        """(finished, next inputs, the same state)."""
        values = [time, outputs, state, sample_ids]
        with tf.name_scope(name, "ScheduledOutputTrainingHelperNextInputs", values):
            finished, base, state = super().next_inputs(time, outputs, state, name)
            outputs = Outputs(outputs, time, self._auxiliary_input_tas)
            return finished, outputs.among(finished, base, sample_ids, self._next_inputs_fn), state
