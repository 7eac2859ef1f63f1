# SPDX-License-Identifier: Apache-2.0
"""`batch_sequences_with_states`: segments of sequences in batches, with states that go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine import errors
from ....engine.api import export
from ....engine.graph.graph import name_scope
from ....engine.types import dtypes
from ....ops.public import tf
from ....ops.summaries.api import scalar
from ...inputs.queue_runner_impl import QueueRunner, add_queue_runner
from .sequence_sparse import check_multiples, move_context_in, move_context_out
from .sequence_sparse import pad as _padding
from .sequence_sparse import put_together as _reconstruct_sparse_tensor_seq
from .sequence_sparse import take_apart as _deconstruct_sparse_tensor_seq
from .state_saver import NextQueuedSequenceBatch, SequenceQueueingStateSaver
from .state_saver import SequenceInput as _SequenceInputWrapper

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike

__all__ = [
    "NextQueuedSequenceBatch",
    "SequenceQueueingStateSaver",
    "_SequenceInputWrapper",
    "batch_sequences_with_states",
]


@export("contrib.training.batch_sequences_with_states")
def batch_sequences_with_states(
    input_key: TensorLike,
    input_sequences: dict[str, Any],
    input_context: dict[str, Any],
    input_length: TensorLike | None,
    initial_states: dict[str, Any],
    num_unroll: int,
    batch_size: TensorLike,
    num_threads: int = 3,
    capacity: int = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> NextQueuedSequenceBatch:
    """Batches of segments of sequences, for truncated backpropagation through time.

    Args:
        input_key: a string that no other example has.
        input_sequences: tensors by name, dense or sparse, [steps, ...].
        input_context: tensors by name that all segments of the example get.
        input_length: int32, how many steps count; None for all, with `pad`.
        initial_states: the states at the start of an example, by name.
        num_unroll: how many steps a segment has.
        batch_size: how many segments a batch has.
        num_threads: how many threads bring examples.
        capacity: how many examples are in work at once.
        allow_small_batch: whether batches become smaller at the end, when no examples come.
        pad: whether sequences are padded to a multiple of `num_unroll`.
        make_keys_unique: whether a random number is put behind each key.
        make_keys_unique_seed: an integer, for that number.
        name: the scope of the operations.

    Returns:
        The batch: `sequences`, `context`, `length`, `state(name)` and more. Each run that takes one
        must run its `save_state`, as tf.nn.static_state_saving_rnn does.

    Raises:
        TypeError: an argument is no dictionary of names.
        ValueError: a shape is not known, or the capacity is smaller than a batch.
    """
    groups = (input_sequences, input_context, initial_states)
    with name_scope(name, "batch_sequences_with_states", [t for g in groups for t in g.values()]):
        if pad:
            length, sequences = _padding(input_sequences, num_unroll)
            input_length = length if input_length is None else input_length
        else:
            sequences = check_multiples(input_sequences, num_unroll)
        context = dict(input_context)
        move_context_out(context, sequences, num_unroll)
        sequences, sparse, keepers = _deconstruct_sparse_tensor_seq(sequences)
        if make_keys_unique:
            number = tf.random_uniform(
                (), minval=0, maxval=100000000, dtype=dtypes.int32, seed=make_keys_unique_seed
            )
            input_key = tf.string_join([input_key, tf.as_string(number)])
        saver = SequenceQueueingStateSaver(
            *(batch_size, num_unroll, input_length, input_key, sequences, context),
            *(initial_states, capacity, allow_small_batch),
        )
        _bring_examples(saver, num_threads)
        batch = saver.next_batch
        _reconstruct_sparse_tensor_seq(batch.sequences, sparse, keepers, batch_size, num_unroll)
        move_context_in(batch.context, batch.sequences)
        return batch


def _bring_examples(saver: SequenceQueueingStateSaver, num_threads: int) -> None:
    barrier = saver.barrier
    ready = tf.cast(barrier.ready_size(), dtypes.float32)
    scalar(f"queue/{barrier.name}/ready_segment_batches_", ready)
    closed = (errors.OutOfRangeError, errors.CancelledError)
    operations = [saver.prefetch_op] * num_threads
    runner = QueueRunner(saver, operations, queue_closed_exception_types=closed)  # type: ignore[arg-type]
    add_queue_runner(runner)
