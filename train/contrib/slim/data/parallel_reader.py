# SPDX-License-Identifier: Apache-2.0
"""`slim.parallel_reader`: several readers that put records of several files into one queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .....engine.api import export
from .....engine.graph.graph import name_scope
from .....engine.graph.tensor import Tensor
from .....engine.types import dtypes
from .....io import files
from .....ops.public import tf
from .....ops.queues.queues import FIFOQueue, QueueBase, RandomShuffleQueue
from .....ops.queues.readers import ReaderBase
from .....ops.summaries.api import scalar
from ....inputs.input import string_input_producer
from ....inputs.queue_runner_impl import QueueRunner, add_queue_runner

_PREFIX = "contrib.slim.parallel_reader"
_PATTERN = frozenset("*?[")


@export(f"{_PREFIX}.ParallelReader")
class ParallelReader(ReaderBase):
    """Reads with several readers at once; in which order records come is nobody's promise.

    Args:
        reader_class: makes a reader, such as tf.TFRecordReader.
        common_queue: a queue of two strings, key and value.
        num_readers: how many readers.
        reader_kwargs: their arguments.

    Raises:
        TypeError: the queue holds something else.
    """

    def __init__(
        self,
        reader_class: Callable[..., ReaderBase],
        common_queue: QueueBase,
        num_readers: int = 4,
        reader_kwargs: dict[str, Any] | None = None,
    ) -> None:
        held = common_queue.dtypes
        if len(held) != 2 or not all(d.is_compatible_with(dtypes.string) for d in held):
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """How many readers there are."""
        return len(self._readers)

    @property
    def common_queue(self) -> QueueBase:
        """The queue of records."""
        return self._common_queue

    def read(self, queue: object, name: str | None = None) -> Any:
        """Key and value of the next record; the files' names come from `queue`.

        A runner that fills the queue of records is added to the collection QUEUE_RUNNERS.
        """
        self._read_from(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: object, num_records: int, name: str | None = None) -> Any:
        """Keys and values of at most `num_records` records."""
        self._read_from(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _read_from(self, queue: object) -> None:
        enqueues = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueues))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records all readers have read."""
        return tf.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files all readers have read to the end."""
        return tf.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


@export(f"{_PREFIX}.parallel_read")
def parallel_read(
    data_sources: str | Sequence[str],
    reader_class: Callable[..., ReaderBase],
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: dict[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Sequence[Any] | None = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> Any:
    """Key and value of a record out of many files, with all the queues that this takes.

    Args:
        data_sources: the files, or patterns of their names.
        reader_class: makes a reader.
        num_epochs: how often the files are read, counted by a local variable; None goes on.
        num_readers: how many readers read at once.
        reader_kwargs: their arguments.
        shuffle: whether files and records are mixed.
        dtypes: of the records; two strings by default.
        capacity: how many records wait at most.
        min_after_dequeue: how many at least stay when one is taken, where they are mixed.
        seed: of the mixing.
        scope: the scope of the operations.

    Returns:
        Two strings.

    Raises:
        ValueError: there are no such files.
    """
    found = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(
            found, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames"
        )
        common: dict[str, Any] = {"capacity": capacity, "dtypes": dtypes or [tf.string, tf.string]}
        common["name"] = "common_queue"
        queue: QueueBase
        if shuffle:
            queue = RandomShuffleQueue(min_after_dequeue=min_after_dequeue, seed=seed, **common)
        else:
            queue = FIFOQueue(**common)
        share = tf.cast(queue.size(), tf.float32) * (1.0 / capacity)
        scalar(f"fraction_of_{capacity}_full", share)
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(names)


@export(f"{_PREFIX}.single_pass_read")
def single_pass_read(
    data_sources: str | Sequence[str],
    reader_class: Callable[..., ReaderBase],
    reader_kwargs: dict[str, Any] | None = None,
    scope: str | None = None,
) -> Any:
    """Key and value of a record, each file read once, in order, by one reader.

    Args:
        data_sources: the files, or patterns of their names.
        reader_class: makes a reader.
        reader_kwargs: its arguments.
        scope: the scope of the operations.

    Returns:
        Two strings.

    Raises:
        ValueError: there are no such files.
    """
    found = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(
            found, num_epochs=1, shuffle=False, capacity=1, name="filenames"
        )
        return reader_class(**(reader_kwargs or {})).read(names)


@export(f"{_PREFIX}.get_data_files")
def get_data_files(data_sources: str | Sequence[str]) -> list[str]:
    """The files that names and patterns stand for.

    Args:
        data_sources: a name, a pattern, or a list of these.

    Returns:
        The names.

    Raises:
        ValueError: there are none.
    """
    if isinstance(data_sources, (list, tuple)):
        found = [name for source in data_sources for name in get_data_files(source)]
    elif _PATTERN.intersection(str(data_sources)):
        found = files.get_matching_files(data_sources)
    else:
        found = [str(data_sources)]
    if not found:
        raise ValueError(f"No data files found in {data_sources}")
    return found
