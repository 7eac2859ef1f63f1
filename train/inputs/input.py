# SPDX-License-Identifier: Apache-2.0
"""Producers: queues that threads fill with the elements of a tensor, for a number of epochs.

The functions that batch are in input_batch.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys
from ...engine.graph.convert import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from ...engine.graph.graph import control_dependencies, name_scope
from ...engine.graph.tensor import Tensor
from ...engine.types import dtypes
from ...ops.public import tf
from ...ops.queues.queues import FIFOQueue
from ...ops.summaries.api import scalar
from .input_batch import (
    _as_original_type,
    _as_tensor_list,
    _as_tensor_list_list,
    batch,
    batch_join,
    maybe_batch,
    maybe_batch_join,
    maybe_shuffle_batch,
    maybe_shuffle_batch_join,
    shuffle_batch,
    shuffle_batch_join,
)
from .input_sparse import _store_sparse_tensors, _store_sparse_tensors_join
from .queue_runner_impl import QueueRunner, add_queue_runner

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike

__all__ = [
    "_as_original_type",
    "_as_tensor_list",
    "_as_tensor_list_list",
    "_store_sparse_tensors",
    "_store_sparse_tensors_join",
    "batch",
    "batch_join",
    "input_producer",
    "limit_epochs",
    "match_filenames_once",
    "maybe_batch",
    "maybe_batch_join",
    "maybe_shuffle_batch",
    "maybe_shuffle_batch_join",
    "range_input_producer",
    "shuffle_batch",
    "shuffle_batch_join",
    "slice_input_producer",
    "string_input_producer",
]


def match_filenames_once(pattern: TensorLike, name: str | None = None) -> Any:
    """A local variable that is initialized with the files that match a pattern.

    (tf.train.match_filenames_once)
    """
    with name_scope(name, "matching_filenames", [pattern]) as name:
        return tf.Variable(
            name=name,
            initial_value=tf.matching_files(pattern),
            trainable=False,
            # The number of files is not known before it runs.
            validate_shape=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )


def limit_epochs(tensor: TensorLike, num_epochs: int | None = None, name: str | None = None) -> Any:
    """`tensor`, `num_epochs` times; then OutOfRangeError (tf.train.limit_epochs).

    The count is the local variable "epochs".  None sets no limit.
    """
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as name:
        # A local variable, since the epochs done are this process's own and no part of the model.
        zero = tf.constant(0, dtype=dtypes.int64)
        epochs = tf.Variable(
            zero, name="epochs", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        counter = epochs.count_up_to(num_epochs)
        with control_dependencies([counter]):
            return tf.identity(tensor, name=name)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: object = None,
) -> FIFOQueue:
    """A queue of the rows of a tensor, again and again, in random order if `shuffle`.

    A QueueRunner for it is added to the graph's.  ValueError where the shape of a row is not known
    (tf.train.input_producer).
    """
    with name_scope(name, "input_producer", [input_tensor]):
        input_tensor = convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                "specified"
            )
        # Shuffled anew whenever the queue takes the tensor: in another order in each epoch.
        if shuffle:
            input_tensor = tf.random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = FIFOQueue(
            capacity=capacity,
            dtypes=[input_tensor.dtype.base_dtype],
            shapes=[element_shape],
            shared_name=shared_name,
            name=name,
        )
        enqueue = queue.enqueue_many([input_tensor])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            scalar(summary_name, tf.cast(queue.size(), dtypes.float32) * (1.0 / capacity))
        return queue


def string_input_producer(
    string_tensor: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: object = None,
) -> FIFOQueue:
    """A queue of strings, such as file names (tf.train.string_input_producer).

    ValueError (or an error when it runs) where there are none.
    """
    complaint = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, Tensor) and not string_tensor:
        raise ValueError(complaint)
    with name_scope(name, "input_producer", [string_tensor]) as name:
        string_tensor = convert_to_tensor(string_tensor, dtype=dtypes.string)
        some = tf.Assert(tf.greater(tf.size(string_tensor), 0), [complaint])
        with control_dependencies([some]):
            string_tensor = tf.identity(string_tensor)
        return input_producer(
            input_tensor=string_tensor,
            element_shape=[],
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
            name=name,
            summary_name=f"fraction_of_{capacity}_full",
            cancel_op=cancel_op,
        )


def range_input_producer(
    limit: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """A queue of the numbers from 0 to limit - 1 (tf.train.range_input_producer)."""
    with name_scope(name, "input_producer", [limit]) as name:
        numbers = tf.range(limit)
        summary_name = f"fraction_of_{capacity}_full"
        return input_producer(
            numbers, [], num_epochs, shuffle, seed, capacity, shared_name, summary_name, name
        )


def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Any]:
    """One row of each tensor, the same of all (tf.train.slice_input_producer)."""
    with name_scope(name, "input_producer", tensor_list):
        tensor_list = convert_n_to_tensor_or_indexed_slices(tensor_list)
        if not tensor_list:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        count = tf.shape(tensor_list[0])[0]
        queue = range_input_producer(
            count,
            num_epochs=num_epochs,
            shuffle=shuffle,
            seed=seed,
            capacity=capacity,
            shared_name=shared_name,
        )
        # One number for all tensors, so that rows stay together.
        index = queue.dequeue()
        return [tf.gather(tensor, index) for tensor in tensor_list]
