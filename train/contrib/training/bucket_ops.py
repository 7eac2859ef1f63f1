# SPDX-License-Identifier: Apache-2.0
"""Batches of examples of one kind: each kind has a queue, and full batches go into a common one."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.api import export
from ....engine.graph.constants import constant_value
from ....engine.graph.convert import (
    convert_n_to_tensor_or_indexed_slices,
    convert_to_tensor,
    is_tensor,
)
from ....engine.graph.graph import name_scope
from ....engine.record_class import record
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....ops.flow.cond import smart_cond
from ....ops.public import tf
from ....ops.queues.queues import FIFOQueue, PaddingFIFOQueue, QueueBase
from ....ops.summaries.api import scalar
from ...inputs.input_batch import (
    _as_original_type,
    _as_tensor_list,
    _checked_keep,
    _shapes,
    _types,
)
from ...inputs.input_sparse import _store_sparse_tensors, restore
from ...inputs.queue_runner_impl import QueueRunner, add_queue_runner

if TYPE_CHECKING:
    from ....engine.graph.annotations import TensorLike
    from ....engine.graph.operation import Operation
    from ....engine.graph.tensor import Tensor

_CLOSED = (errors.OutOfRangeError, errors.CancelledError)


@record(frozen=True)
class _Queues:
    """The queues of the kinds, and the one of their batches."""

    kinds: Sequence[QueueBase]
    top: QueueBase

    def add_runners(self, batches: list[Any], examples: list[Any]) -> None:
        """Threads that move batches to the top, and threads that bring examples."""
        kinds, top = self.kinds, self.top
        add_queue_runner(
            QueueRunner(
                *(kinds[0], batches),
                close_op=top.close(),
                cancel_op=top.close(cancel_pending_enqueues=True),
                queue_closed_exception_types=_CLOSED,
            )
        )
        add_queue_runner(
            QueueRunner(
                *(top, examples),
                close_op=tf.group(*[q.close() for q in kinds]),
                cancel_op=tf.group(*[q.close(cancel_pending_enqueues=True) for q in kinds]),
                queue_closed_exception_types=_CLOSED,
            )
        )

    def summarize(self, capacity: int) -> None:
        """Summaries of how full they are."""
        for queue in self.kinds:
            # What TensorFlow shows under each queue's name is the size of the one at the top.
            scalar(f"bucket/{queue.name}/size", tf.cast(self.top.size(), dtypes.float32))
        full = tf.cast(self.top.size(), dtypes.float32) * (1.0 / capacity)
        scalar(f"bucket/{self.top.name}/fraction_of_{capacity}_full", full)


@export("contrib.training.bucket")
def bucket(
    tensors: Any,
    which_bucket: TensorLike,
    batch_size: Any,
    num_buckets: int,
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Sequence[Any] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: Any = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """Batches of examples that went into the same bucket.

    Args:
        tensors: what gives one example: a list or dictionary of tensors.
        which_bucket: the number of its bucket.
        batch_size: how many examples a batch has: a number, or a list with one for each bucket.
        num_buckets: how many buckets there are.
        num_threads: how many threads bring examples.
        capacity: how many batches wait, and how many examples wait in a bucket.
        bucket_capacities: how many examples wait in each bucket, if not `capacity`.
        shapes: of one example, where they are not known.
        dynamic_pad: whether unknown sizes are padded to the largest of a batch.
        allow_smaller_final_batch: whether the last batches may be smaller; else they are left out.
        keep_input: whether the example is used.
        shared_name: the name under which sessions share the queues.
        name: the scope of the operations.

    Returns:
        The number of the bucket, and tensors [batch_size, ...] in the structure of `tensors`.

    Raises:
        ValueError: a shape is neither known nor given, or a list has not one entry per bucket.
    """
    one_size = not isinstance(batch_size, (list, tuple))
    sizes = [batch_size] * num_buckets if one_size else list(batch_size)
    if len(sizes) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    capacities = [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    if len(capacities) != num_buckets:
        raise ValueError(
            f"The list bucket_capacities ({capacities}) must have exactly num_buckets "
            f"({num_buckets}) elements."
        )
    example = _as_tensor_list(tensors)
    with name_scope(name, "bucket", example):
        example = convert_n_to_tensor_or_indexed_slices(example)
        if not example:
            raise ValueError("Expected at least one tensor in bucket().")
        keep_input = _checked_keep(keep_input, enqueue_many=False)
        example, facts = _store_sparse_tensors(example, False, keep_input)
        sizes = [_size(size) for size in sizes]
        static = sizes[-1] if one_size and not allow_smaller_final_batch else None
        types, shapes = _types([example]), _shapes([example], shapes, False)
        which_bucket = convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        queues = _queues(
            *(types, shapes, capacities, capacity, None if is_tensor(static) else static),
            *(dynamic_pad, shared_name),
        )
        enqueue = smart_cond(
            keep_input, lambda: _put_into(queues.kinds, which_bucket, example), tf.no_op
        )
        batches = _batches(queues, sizes, allow_smaller_final_batch)
        queues.add_runners(batches, [enqueue] * num_threads)
        queues.summarize(capacity)
        which, *batch = queues.top.dequeue(name="dequeue_top")
        batch = restore(batch[0] if len(batch) == 1 else batch, facts)
        return which, _as_original_type(tensors, batch)


def _size(given: object) -> Any:
    size = convert_to_tensor(given, dtype=dtypes.int32, name="batch_size")
    static = constant_value(size)
    return size if static is None else static


def _queues(
    types: list[Any],
    shapes: Any,
    capacities: Sequence[int],
    capacity: int,
    batch_size: Any,
    dynamic_pad: bool,
    shared_name: str | None,
) -> _Queues:
    kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
    kinds = [
        kind(
            capacity=places,
            dtypes=types,
            shapes=shapes,
            shared_name=None if shared_name is None else f"{shared_name}_{i}",
            name=f"bucket_queue_{i}",
        )
        for i, places in enumerate(capacities)
    ]
    batches = [TensorShape([batch_size]).concatenate(shape) for shape in kinds[0].shapes]
    # Pads nothing, but takes batches whose size is not known.
    top = PaddingFIFOQueue(
        capacity=capacity,
        dtypes=[dtypes.int32, *types],
        shapes=[TensorShape([]), *batches],
        shared_name=shared_name,
        name="top_queue",
    )
    return _Queues(kinds, top)


def _put_into(queues: Sequence[QueueBase], which: Tensor, example: list[Any]) -> Operation:
    """Enqueues the example in one of the queues."""
    choices = [
        tf.cond(tf.equal(which, i), functools.partial(queue.enqueue, example), tf.no_op)
        for i, queue in enumerate(queues)
    ]
    return tf.group(*choices, name="group_enqueues")


def _batches(queues: _Queues, sizes: list[Any], smaller_final: bool) -> list[Any]:
    """An operation for each bucket that takes a batch out of it and puts it on top."""
    moves = []
    for i, (queue, size) in enumerate(zip(queues.kinds, sizes)):
        number = tf.constant(i)
        take = queue.dequeue_up_to if smaller_final else queue.dequeue_many
        batch = take(size, name=f"read_bucket_{i}")
        batch = batch if isinstance(batch, (list, tuple)) else [batch]
        moves.append(queues.top.enqueue([number, *batch], name=f"enqueue_from_bucket_{i}"))
    return moves


@export("contrib.training.bucket_by_sequence_length")
def bucket_by_sequence_length(
    input_length: TensorLike,
    tensors: object,
    batch_size: object,
    bucket_boundaries: Sequence[int],
    num_threads: int = 1,
    capacity: int = 32,
    bucket_capacities: Sequence[int] | None = None,
    shapes: Sequence[Any] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    keep_input: TensorLike = True,
    shared_name: str | None = None,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """Batches of examples of about the same length.

    Args:
        input_length: the length of the example.
        tensors: what gives one example: a list or dictionary of tensors.
        batch_size: how many examples a batch has: a number, or a list with one for each bucket.
        bucket_boundaries: lengths that increase; a bucket has those from one of them to the next,
            and there is one below the first and one from the last on.
        num_threads, capacity, bucket_capacities, shapes, dynamic_pad, allow_smaller_final_batch,
            keep_input, shared_name, name: as of `bucket`.

    Returns:
        The lengths, [batch_size], and tensors [batch_size, ...] in the structure of `tensors`.

    Raises:
        TypeError: the boundaries are no list of integers.
        ValueError: there are none, or they do not increase.
    """
    example = _as_tensor_list(tensors)
    _check_boundaries(bucket_boundaries)
    with name_scope(name, "bucket_by_sequence_length", [input_length, *example]):
        length = convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        limits = np.iinfo(np.int32)
        fits = tf.logical_and(
            tf.less_equal([limits.min, *bucket_boundaries], length),
            tf.less(length, [*bucket_boundaries, limits.max]),
        )
        which = tf.cast(tf.reduce_min(tf.where_v2(fits)), dtypes.int32)
        _, batch = bucket(
            tensors=[length, *example],
            which_bucket=which,
            batch_size=batch_size,
            num_buckets=len(bucket_boundaries) + 1,
            num_threads=num_threads,
            capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=None if shapes is None else [TensorShape([]), *shapes],
            dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch,
            keep_input=keep_input,
            shared_name=shared_name,
        )
        return batch[0], _as_original_type(tensors, batch[1:])


def _check_boundaries(boundaries: object) -> None:
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"bucket_boundaries must be a list or tuple, but received: {boundaries}")
    if not boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for low, high in zip(boundaries[:-1], boundaries[1:]):
        if not isinstance(low, int) or not isinstance(high, int):
            raise TypeError(f"bucket boundaries must be integers, but saw: {low} and {high}")
        if low >= high:
            raise ValueError(
                f"Buckets must contain sequential increasing lengths, but saw: {low} before {high}"
            )
