# SPDX-License-Identifier: Apache-2.0
"""Queues that threads fill from arrays and data frames."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.interface import log
from ...engine.types import dtypes
from ...ops.public import tf
from ...ops.queues.queues import FIFOQueue, RandomShuffleQueue
from ...ops.summaries.api import scalar
from ..inputs.queue_runner_impl import QueueRunner, add_queue_runner

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession


class RowFeeder:
    """Gives batches of rows, over and over, to feed placeholders with.

    Args:
        count: the number of rows.
        rows: a function from row numbers to the values of the placeholders.
        placeholders: what to feed.
        batch_size: rows of a batch.
        random_start: whether to begin anywhere.
        num_epochs: how often each row comes; None for no end.
    """

    def __init__(
        self,
        count: int,
        rows: Callable[[list[int]], list[Any]],
        placeholders: list[Any],
        batch_size: int,
        random_start: bool,
        num_epochs: int | None,
    ) -> None:
        self._count = count
        self._rows = rows
        self._placeholders = placeholders
        self._batch_size = batch_size
        self._next = random.randrange(count) if random_start else 0
        self._left = None if num_epochs is None else num_epochs * count

    def __call__(self) -> dict[Any, Any]:
        size = self._batch_size
        if self._left is not None:
            if self._left <= 0:
                raise errors.out_of_range("Already emitted all epochs.")
            size = min(size, self._left)
            self._left -= size
        numbers = [(self._next + i) % self._count for i in range(size)]
        self._next = (self._next + size) % self._count
        return dict(zip(self._placeholders, self._rows(numbers)))


class FeedingQueueRunner(QueueRunner):
    """A QueueRunner whose threads feed what they put in.

    Args:
        queue: the queue.
        enqueue_ops: an op for each thread.
        close_op, cancel_op, queue_closed_exception_types: as of QueueRunner.
        feed_fns: a function for each, that gives its feeds until it raises OutOfRangeError.
    """

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: list[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        feed_fns: list[Any] | None = None,
        queue_closed_exception_types: Any = None,
    ) -> None:
        ends = (errors.OutOfRangeError, errors.CancelledError)
        super().__init__(
            *(queue, enqueue_ops, close_op, cancel_op),
            queue_closed_exception_types=queue_closed_exception_types or ends,
        )
        self._feeds = dict(zip(enqueue_ops or (), feed_fns or ()))

    def _enqueuer(self, sess: BaseSession, enqueue_op: Any) -> Callable[[], Any]:
        feed = self._feeds.get(enqueue_op)
        return lambda: sess.run(enqueue_op, feed_dict=feed and feed())

    def to_proto(self, export_scope: str | None = None) -> Any:
        """Raises NotImplementedError: what is fed is no part of a graph."""
        raise NotImplementedError(f"{type(self).__name__} does not support serialization to proto.")


def enqueue_rows(
    columns: list[tuple[Any, Any]],
    count: int,
    rows: Callable[[list[int]], list[Any]],
    capacity: int,
    shuffle: bool,
    min_after_dequeue: float | None,
    num_threads: int,
    enqueue_size: int,
    num_epochs: int | None,
) -> Any:
    """A queue of rows, which threads fill.

    Args:
        columns: the dtype and shape of each value of a row.
        count: the number of rows.
        rows: a function from row numbers to columns.
        capacity: of the queue.
        shuffle: whether rows come in random order.
        min_after_dequeue: how many rows a queue that shuffles keeps; a quarter if None.
        num_threads: how many threads fill it.
        enqueue_size: how many rows they put in at once.
        num_epochs: how often each thread puts in every row; None for no end.
    """
    with tf.name_scope("enqueue_input"):
        if num_threads > 1:
            _warn_of_threads(shuffle, num_epochs)
        types = [dtypes.as_dtype(dtype) for dtype, _ in columns]
        shapes = [shape for _, shape in columns]
        least = 0
        if shuffle:
            least = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
            queue: Any = RandomShuffleQueue(capacity, least, dtypes=types, shapes=shapes)
        else:
            queue = FIFOQueue(capacity, dtypes=types, shapes=shapes)
        ops, feeders = [], []
        for _ in range(num_threads):
            placeholders = [tf.placeholder(dtype) for dtype in types]
            ops.append(queue.enqueue_many(placeholders))
            feeders.append(RowFeeder(count, rows, placeholders, enqueue_size, shuffle, num_epochs))
        add_queue_runner(FeedingQueueRunner(queue, ops, feed_fns=feeders))
        room = capacity - least
        full = tf.cast(tf.maximum(0, queue.size() - least), dtypes.float32) * (1.0 / room)
        scalar(f"queue/{queue.name}fraction_over_{least}_of_{room}_full", full)
        return queue


def _warn_of_threads(shuffle: bool, num_epochs: int | None) -> None:
    if num_epochs is not None:
        log.warning(
            "enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied "
            "per thread, so this will produce more epochs than you probably intend. If you want to "
            "limit epochs, use one thread."
        )
    if not shuffle:
        log.warning(
            "enqueue_data was called with shuffle=False and num_threads > 1. This will create "
            "multiple threads, all reading the array/dataframe in order. If you want examples read "
            "in order, use one thread; if you want multiple threads, enable shuffling."
        )
