# SPDX-License-Identifier: Apache-2.0
"""Batches: queues that threads fill with examples, and the batches that come out of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.graph.convert import convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from ...engine.graph.graph import name_scope
from ...engine.record_class import record
from ...engine.types import dtypes
from ...engine.types.shape import as_shape
from ...ops.flow.cond import smart_cond
from ...ops.public import tf
from ...ops.queues.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from ...ops.summaries.api import scalar
from .input_sparse import _store_sparse_tensors_join, restore
from .queue_runner_impl import QueueRunner, add_queue_runner

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor


@record(frozen=True)
class _Setting:
    """What all functions that batch take, besides the examples."""

    scope: str
    batch_size: Any
    capacity: int
    enqueue_many: bool
    shapes: Any
    smaller_final: bool
    shared_name: str | None
    # Enqueue operations run by so many threads each; several lists of examples have one each.
    threads: int = 1
    dynamic_pad: bool = False
    # Of queues that shuffle.
    least: int | None = None
    seed: int | None = None

    def queue(self, types: list[Any], shapes: Any) -> QueueBase:
        """The queue of examples."""
        common = {"dtypes": types, "shapes": shapes, "shared_name": self.shared_name}
        if self.least is not None:
            return RandomShuffleQueue(self.capacity, self.least, seed=self.seed, **common)
        kind = PaddingFIFOQueue if self.dynamic_pad else FIFOQueue
        return kind(self.capacity, **common)

    def summarize(self, queue: QueueBase) -> None:
        """A summary of how full the queue is."""
        if self.least is None:
            full = tf.cast(queue.size(), dtypes.float32) * (1.0 / self.capacity)
            scalar(f"fraction_of_{self.capacity}_full", full)
            return
        # A queue that shuffles never falls below `least`: what counts is what is over it.
        room = self.capacity - self.least
        over = tf.cast(tf.maximum(0, queue.size() - self.least), dtypes.float32)
        scalar(f"fraction_over_{self.least}_of_{room}_full", over * (1.0 / room))


def _as_tensor_list(tensors: object) -> Any:
    """The tensors of a dictionary, sorted by their keys; a list as it is."""
    if isinstance(tensors, dict):
        return [tensors[key] for key in sorted(tensors, key=str)]
    return tensors


def _as_tensor_list_list(tensors_list: Sequence[Any]) -> Any:
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if not isinstance(tensors_list[0], dict):
        return tensors_list
    keys = set(tensors_list[0])
    if any(set(tensors) != keys for tensors in tensors_list):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [_as_tensor_list(tensors) for tensors in tensors_list]


def _as_original_type(given: Any, batch: Any) -> Any:
    """A batch as a dictionary where the examples were one."""
    if not isinstance(given, dict):
        return batch
    if len(given) == 1:
        # A queue of one component gives a tensor, not a list.
        batch = [batch]
    return dict(zip(sorted(given, key=str), batch))


def _checked_keep(keep_input: TensorLike, enqueue_many: bool) -> Any:
    keep_input = convert_to_tensor(keep_input)
    rank = keep_input.shape.ndims
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and rank == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def _types(lists: Sequence[Sequence[Any]]) -> list[Any]:
    first, *others = [[tensor.dtype for tensor in tensors] for tensors in lists]
    for other in others:
        if other != first:
            a, b = (", ".join(kind.name for kind in kinds) for kinds in (first, other))
            raise TypeError(f"Expected types to be consistent: {a} vs. {b}.")
    return first


def _shapes(
    lists: Sequence[Sequence[Any]], shapes: Sequence[Any] | None, enqueue_many: bool
) -> Any:
    """The shapes of an example's components, which must agree in all lists."""
    if shapes is not None:
        return shapes
    count = range(len(lists[0]))
    for tensors in lists:
        for i in count:
            if tensors[i].shape.ndims is None:
                raise ValueError(f"Cannot infer Tensor's rank: {tensors[i]}")
    return [_merged([tensors[i].shape for tensors in lists], enqueue_many) for i in count]


def _merged(shapes: Sequence[Any], enqueue_many: bool) -> list[int | None]:
    shapes = [as_shape(shape) for shape in shapes]
    if enqueue_many:
        shapes = [shape.with_rank_at_least(1)[1:] for shape in shapes]
    first, *others = shapes
    for other in others:
        first.merge_with(other)
    return first.as_list()


def _enqueue(
    queue: QueueBase, lists: Sequence[Any], threads: int, enqueue_many: bool, keep_input: Tensor
) -> None:
    """Adds the enqueue operations, and a runner for them."""
    enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep_input.shape.ndims == 1:
        operations = [enqueue(_selected(tensors, keep_input)) for tensors in lists]
    else:
        operations = [
            smart_cond(keep_input, lambda tensors=tensors: enqueue(tensors), tf.no_op)
            for tensors in lists
        ]
    # One thread for each entry of the list: the same operation may be there several times.
    add_queue_runner(QueueRunner(queue, operations * threads))


def _selected(tensors: Sequence[Any], keep_input: TensorLike) -> list[Any]:
    chosen = tf.cast(keep_input, dtypes.int32)
    return [tf.dynamic_partition(tensor, chosen, num_partitions=2)[1] for tensor in tensors]


def _batch(
    examples: Sequence[Any],
    keep_input: Any,
    name: str | None,
    setting: _Setting,
    converted: Callable[[Any], list[list[Any]]],
) -> Any:
    """The batch of examples given as lists of tensors, one list per enqueue operation."""
    values = [tensor for tensors in examples for tensor in tensors]
    with name_scope(name, setting.scope, [*values, keep_input]) as name:
        if setting.least is not None and setting.capacity <= setting.least:
            raise ValueError(
                f"capacity {setting.capacity} must be bigger than min_after_dequeue "
                f"{setting.least}."
            )
        lists = converted(examples)
        keep_input = _checked_keep(keep_input, setting.enqueue_many)
        lists, facts = _store_sparse_tensors_join(lists, setting.enqueue_many, keep_input)
        types = _types(lists)
        queue = setting.queue(types, _shapes(lists, setting.shapes, setting.enqueue_many))
        _enqueue(queue, lists, setting.threads, setting.enqueue_many, keep_input)
        setting.summarize(queue)
        dequeue = queue.dequeue_up_to if setting.smaller_final else queue.dequeue_many
        return restore(dequeue(setting.batch_size, name=name), facts)


def _one_list(examples: Sequence[Any]) -> list[list[Any]]:
    tensors = convert_n_to_tensor_or_indexed_slices(examples[0])
    if not tensors:
        raise ValueError("Expected at least one tensor in batch().")
    return [tensors]


def _several_lists(examples: Sequence[Any]) -> list[list[Any]]:
    return [convert_n_to_tensor_or_indexed_slices(tensors) for tensors in examples]


def _of_one(tensors: object, keep_input: TensorLike, name: str | None, setting: _Setting) -> Any:
    return _as_original_type(
        tensors, _batch([_as_tensor_list(tensors)], keep_input, name, setting, _one_list)
    )


def _of_several(
    tensors_list: Sequence[Any], keep_input: bool, name: str | None, setting: _Setting
) -> Any:
    examples = _as_tensor_list_list(tensors_list)
    batch = _batch(examples, keep_input, name, setting, _several_lists)
    return _as_original_type(tensors_list[0], batch)


def maybe_batch(
    tensors: object,
    keep_input: TensorLike,
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[Any] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Like `batch`, of the examples for which `keep_input` holds (tf.train.maybe_batch)."""
    setting = _Setting(
        *("batch", batch_size, capacity, enqueue_many, shapes),
        *(allow_smaller_final_batch, shared_name, num_threads, dynamic_pad),
    )
    return _of_one(tensors, keep_input, name, setting)


def batch(
    tensors: object,
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[Any] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples, put together by threads behind a queue (tf.train.batch).

    Args:
        tensors: what gives one example: a list or dictionary of tensors.
        batch_size: how many examples a batch has.
        num_threads: how many threads fill the queue.
        capacity: how many examples it holds.
        enqueue_many: whether `tensors` hold several examples each, along their first dimension.
        shapes: of one example, where they are not known.
        dynamic_pad: whether unknown sizes are padded to the largest of a batch.
        allow_smaller_final_batch: whether the last batch may be smaller; else it is left out.
        shared_name: the name under which sessions share the queue.
        name: the scope of the operations.

    Returns:
        Tensors [batch_size, ...] in the structure of `tensors`.  The threads are started by
        tf.train.start_queue_runners; a run raises OutOfRangeError after the last batch.

    Raises:
        ValueError: a shape is neither known nor given.

    Example:
        >>> number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
        >>> pair = tf.train.batch([number], batch_size=2)
        >>> coord, sess = tf.train.Coordinator(), tf.Session()
        >>> sess.run(tf.local_variables_initializer())
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> [sess.run(pair).tolist() for _ in range(3)]
        [[0, 1], [2, 3], [4, 5]]
        >>> coord.request_stop()
        >>> sess.close()
        >>> coord.join(threads)
    """
    return maybe_batch(
        *(tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad),
        *(allow_smaller_final_batch, shared_name, name),
    )


def maybe_batch_join(
    tensors_list: Sequence[Any],
    keep_input: bool,
    batch_size: int,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[Any] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Like `batch_join`, of the examples to keep (tf.train.maybe_batch_join)."""
    setting = _Setting(
        *("batch_join", batch_size, capacity, enqueue_many, shapes, allow_smaller_final_batch),
        *(shared_name, 1, dynamic_pad),
    )
    return _of_several(tensors_list, keep_input, name, setting)


def batch_join(
    tensors_list: Sequence[Any],
    batch_size: int,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[Any] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Like `batch`, of several lists of tensors with a thread for each (tf.train.batch_join)."""
    return maybe_batch_join(
        *(tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad),
        *(allow_smaller_final_batch, shared_name, name),
    )


def maybe_shuffle_batch(
    tensors: Sequence[Tensor],
    batch_size: int,
    capacity: int,
    min_after_dequeue: int,
    keep_input: bool,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[Any] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Like `shuffle_batch`, of the examples to keep (tf.train.maybe_shuffle_batch)."""
    setting = _Setting(
        *("shuffle_batch", batch_size, capacity, enqueue_many, shapes),
        smaller_final=allow_smaller_final_batch,
        shared_name=shared_name,
        threads=num_threads,
        least=min_after_dequeue,
        seed=seed,
    )
    return _of_one(tensors, keep_input, name, setting)


def shuffle_batch(
    tensors: Sequence[Tensor],
    batch_size: int,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[Any] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples in random order (tf.train.shuffle_batch).

    Args:
        tensors: what gives one example: a list or dictionary of tensors.
        batch_size: how many examples a batch has.
        capacity: how many examples the queue holds.
        min_after_dequeue: how many stay in it as long as more come, for others to be drawn.
        num_threads: how many threads fill it.
        seed: an integer, for the order.
        enqueue_many, shapes, allow_smaller_final_batch, shared_name, name: as of tf.train.batch.

    Returns:
        Tensors [batch_size, ...] in the structure of `tensors`.  The threads are started by
        tf.train.start_queue_runners; a run raises OutOfRangeError after the last batch.

    Raises:
        ValueError: a shape is neither known nor given.

    Example:
        >>> number = tf.train.range_input_producer(6, num_epochs=1, shuffle=False).dequeue()
        >>> three = tf.train.shuffle_batch([number], 3, capacity=10, min_after_dequeue=2)
        >>> coord, sess = tf.train.Coordinator(), tf.Session()
        >>> sess.run(tf.local_variables_initializer())
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> sorted(sess.run(three).tolist() + sess.run(three).tolist())
        [0, 1, 2, 3, 4, 5]
        >>> coord.request_stop()
        >>> sess.close()
        >>> coord.join(threads)
    """
    return maybe_shuffle_batch(
        *(tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed),
        *(enqueue_many, shapes, allow_smaller_final_batch, shared_name, name),
    )


def maybe_shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: int,
    capacity: int,
    min_after_dequeue: int,
    keep_input: bool,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[Any] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Like `shuffle_batch_join`, of the examples to keep (tf.train.maybe_shuffle_batch_join)."""
    setting = _Setting(
        *("shuffle_batch_join", batch_size, capacity, enqueue_many, shapes),
        smaller_final=allow_smaller_final_batch,
        shared_name=shared_name,
        least=min_after_dequeue,
        seed=seed,
    )
    return _of_several(tensors_list, keep_input, name, setting)


def shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: int,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[Any] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Like `batch_join`, of examples in random order (tf.train.shuffle_batch_join)."""
    return maybe_shuffle_batch_join(
        *(tensors_list, batch_size, capacity, min_after_dequeue, True, seed),
        *(enqueue_many, shapes, allow_smaller_final_batch, shared_name, name),
    )
