# SPDX-License-Identifier: Apache-2.0
"""Batches of examples and of their features, read from files by queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .....engine import errors
from .....engine.api import export
from .....engine.graph.tensor import SparseTensor, Tensor
from .....io.files import get_matching_files
from .....ops.public import tf
from .....ops.queues.queues import FIFOQueue
from .....ops.queues.readers import TFRecordReader
from .....ops.summaries.api import scalar
from ....inputs.input import string_input_producer
from ....inputs.input_batch import batch_join, shuffle_batch_join
from ....inputs.queue_runner_impl import QueueRunner, add_queue_runner
from ...input_pipeline import seek_next

if TYPE_CHECKING:
    from .....engine.graph.annotations import TensorLike

# The key of examples' keys among their features.
KEY_FEATURE_NAME = "__key__"


@export("contrib.learn.read_batch_examples", "contrib.learn.io.read_batch_examples")
def read_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Tensor], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Batches of what a reader finds in files.

    Args:
        file_pattern: a pattern, or a list of them.
        batch_size: how many examples, below `queue_capacity`.
        reader: what makes a reader, such as tf.TFRecordReader.
        randomize_input: whether files and examples come in random order.
        num_epochs: how often files are read; without end if None.
        queue_capacity: of the queue of examples.
        num_threads: how many readers there are.
        read_batch_size: how many examples are read at once.
        parse_fn: what becomes of them before they are queued.
        name: of the operations.
        seed: of the random order.

    Returns:
        A string tensor [batch_size], or what `parse_fn` gives, in batches.

    Raises:
        ValueError: no files match, or an argument is out of range.
    """
    _, examples = read_keyed_batch_examples(
        *(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity),
        *(num_threads, read_batch_size, parse_fn, name, seed),
    )
    return examples


@export("contrib.learn.read_keyed_batch_examples", "contrib.learn.io.read_keyed_batch_examples")
def read_keyed_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Tensor], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Batches of what a reader finds in files, with the reader's keys; as read_batch_examples.

    Returns:
        A string tensor of keys, and the examples.
    """
    return _read_keyed_batch_examples_helper(
        *(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity),
        *(num_threads, read_batch_size),
        parse_fn=parse_fn,
        setup_shared_queue=False,
        name=name,
        seed=seed,
    )


@export(
    "contrib.learn.read_keyed_batch_examples_shared_queue",
    "contrib.learn.io.read_keyed_batch_examples_shared_queue",
)
def read_keyed_batch_examples_shared_queue(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    parse_fn: Callable[[Tensor], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """As read_keyed_batch_examples, with a queue of files that workers share."""
    return _read_keyed_batch_examples_helper(
        *(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity),
        *(num_threads, read_batch_size),
        parse_fn=parse_fn,
        setup_shared_queue=True,
        name=name,
        seed=seed,
    )


def _get_file_names(file_pattern: Any, randomize_input: bool) -> list[str]:
    """The files that match; in order, unless they are shuffled later."""
    if isinstance(file_pattern, list):
        if not file_pattern:
            raise ValueError("No files given to dequeue_examples.")
        names = [name for one in file_pattern for name in get_matching_files(one)]
    else:
        names = list(get_matching_files(file_pattern))
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    return names if randomize_input else sorted(names)


def _check(
    batch_size: Any, capacity: int, read_batch_size: Any, threads: int, epochs: int | None
) -> None:
    if not capacity or capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {capacity}.")
    is_static = not isinstance(batch_size, Tensor)
    if batch_size is None or (is_static and not 0 < batch_size < capacity):
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {capacity}.")
    is_static = not isinstance(read_batch_size, Tensor)
    if read_batch_size is None or (is_static and read_batch_size <= 0):
        raise ValueError(f"Invalid read_batch_size {read_batch_size}.")
    if not threads or threads <= 0:
        raise ValueError(f"Invalid num_threads {threads}.")
    if epochs is not None and epochs <= 0:
        raise ValueError(f"Invalid num_epochs {epochs}.")


def _file_queue(
    names: list[str], shared: bool, shuffle: bool, epochs: int | None, seed: int | None
) -> Any:
    with tf.name_scope("file_name_queue") as scope:
        if not shared:
            return string_input_producer(
                tf.constant(names, name="input"),
                shuffle=shuffle,
                num_epochs=epochs,
                name=scope,
                seed=seed,
            )
        queue: Any = FIFOQueue(capacity=1, dtypes=[tf.string], shapes=[[]])
        following = seek_next(names, shuffle=shuffle, num_epochs=epochs, seed=seed)
        add_queue_runner(QueueRunner(queue, [queue.enqueue(following)]))
        return queue


def _get_examples(
    files: Any,
    reader: Callable[[], Any],
    num_threads: int,
    read_batch_size: int,
    filter_fn: Callable[[Tensor, Tensor], Tensor] | None,
    parse_fn: Callable[[Tensor], Any] | None,
) -> list[Any]:
    """What each reader gives."""
    found: list[Any] = []
    with tf.name_scope("read"):
        for _ in range(num_threads):
            if read_batch_size > 1:
                keys, examples = reader().read_up_to(files, read_batch_size)
            else:
                keys, examples = reader().read(files)
            if filter_fn:
                mask = filter_fn(keys, examples)
                keys, examples = tf.boolean_mask(keys, mask), tf.boolean_mask(examples, mask)
            parsed = parse_fn(examples) if parse_fn else examples
            if parse_fn and isinstance(parsed, dict):
                parsed[KEY_FEATURE_NAME] = keys
                found.append(parsed)
            else:
                found.append((keys, parsed))
    return found


def _read_keyed_batch_examples_helper(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: int = 1,
    filter_fn: Callable[[Tensor, Tensor], Tensor] | None = None,
    parse_fn: Callable[[Tensor], Any] | None = None,
    setup_shared_queue: bool = False,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    names = _get_file_names(file_pattern, randomize_input)
    _check(batch_size, queue_capacity, read_batch_size, num_threads, num_epochs)
    with tf.name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        files = _file_queue(names, setup_shared_queue, randomize_input, num_epochs, seed)
        examples = _get_examples(files, reader, num_threads, read_batch_size, filter_fn, parse_fn)
        given: dict[str, Any] = {
            "capacity": queue_capacity,
            "enqueue_many": read_batch_size > 1,
            "name": scope,
            # Otherwise the end of the last epoch would be lost.
            "allow_smaller_final_batch": num_epochs is not None,
        }
        if randomize_input:
            if isinstance(batch_size, Tensor):
                least = int(queue_capacity * 0.4)
            else:
                least = max(queue_capacity - 3 * batch_size, batch_size)
            queued = shuffle_batch_join(
                examples, batch_size, min_after_dequeue=least, seed=seed, **given
            )
        else:
            queued = batch_join(examples, batch_size, **given)
        if parse_fn and isinstance(queued, dict):
            return queued.pop(KEY_FEATURE_NAME), queued
        return queued


@export("contrib.learn.io.read_keyed_batch_features", "contrib.learn.read_keyed_batch_features")
def read_keyed_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Tensor], Any] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Batches of features of the Example messages in files, with the reader's keys.

    Args:
        file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity, parse_fn,
            name: as of read_batch_examples.
        features: what to parse, as of tf.parse_example.
        reader_num_threads: how many readers there are.
        feature_queue_capacity: of the queue of parsed batches.
        num_enqueue_threads: how many threads parse.
        read_batch_size: how many examples are read at once; `batch_size` if None.

    Returns:
        A string tensor of keys, and the features by name.

    Raises:
        ValueError: no files match, or an argument is out of range.
    """
    with tf.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            *(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity),
            num_threads=reader_num_threads,
            read_batch_size=batch_size if read_batch_size is None else read_batch_size,
            parse_fn=parse_fn,
            name=scope,
        )
        parsed = tf.parse_example(examples, features)
        return queue_parsed_features(
            parsed, keys, feature_queue_capacity, num_enqueue_threads, name=scope
        )


@export(
    "contrib.learn.io.read_keyed_batch_features_shared_queue",
    "contrib.learn.read_keyed_batch_features_shared_queue",
)
def read_keyed_batch_features_shared_queue(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_queue_runners: int = 2,
    parse_fn: Callable[[Tensor], Any] | None = None,
    name: str | None = None,
) -> tuple[Any, dict[str, Any]]:
    """As read_keyed_batch_features, with a queue of files that workers share."""
    with tf.name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples_shared_queue(
            *(file_pattern, batch_size, reader, randomize_input, num_epochs, queue_capacity),
            num_threads=reader_num_threads,
            read_batch_size=batch_size,
            parse_fn=parse_fn,
            name=scope,
        )
        parsed = tf.parse_example(examples, features)
        return queue_parsed_features(
            parsed, keys, feature_queue_capacity, num_queue_runners, name=scope
        )


def _flattened(features: dict[str, Any]) -> list[Any]:
    """The tensors of features in order of their names; three of each sparse one."""
    tensors: list[Any] = []
    for key in sorted(features):
        one = features[key]
        is_sparse = isinstance(one, SparseTensor)
        tensors += [one.indices, one.values, one.dense_shape] if is_sparse else [one]
    return tensors


def _restored(features: dict[str, Any], tensors: Iterable[Any]) -> dict[str, Any]:
    """The opposite of `_flattened`."""
    left, result = iter(tensors), {}
    for key in sorted(features):
        if isinstance(features[key], SparseTensor):
            result[key] = SparseTensor(next(left), next(left), next(left))
        else:
            result[key] = next(left)
    return result


@export("contrib.learn.io.queue_parsed_features")
def queue_parsed_features(
    parsed_features: dict[str, Any],
    keys: TensorLike | None = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Puts batches of features into a queue, so that they are parsed ahead.

    Args:
        parsed_features: tensors and sparse tensors by name.
        keys: the keys of examples.
        feature_queue_capacity: of the queue.
        num_enqueue_threads: how many threads fill it.
        name: of the operations.

    Returns:
        The keys, or None, and the features as they come out of the queue.
    """
    given = [*parsed_features.values(), *([] if keys is None else [keys])]
    with tf.name_scope(name, "queue_parsed_features", given):
        tensors = [*_flattened(parsed_features), *([] if keys is None else [keys])]
        queue: Any = FIFOQueue(feature_queue_capacity, [tensor.dtype for tensor in tensors])
        share = tf.cast(queue.size(), tf.float32) * (1.0 / feature_queue_capacity)
        tag = f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full"
        scalar(tag, share)
        # Threads of one runner end together, so that no batch is lost.
        add_queue_runner(
            QueueRunner(
                queue,
                [queue.enqueue(tensors) for _ in range(num_enqueue_threads)],
                queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError),
            )
        )
        found = queue.dequeue()
        found = found if isinstance(found, list) else [found]
        for one, tensor in zip(found, tensors, strict=True):
            one.set_shape(tensor.shape)
        return None if keys is None else found[-1], _restored(parsed_features, found)


@export("contrib.learn.read_batch_features", "contrib.learn.io.read_batch_features")
def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Tensor], Any] | None = None,
    name: str | None = None,
    read_batch_size: int | None = None,
) -> dict[str, Any]:
    """Batches of features of the Example messages in files; as read_keyed_batch_features.

    Returns:
        The features by name.
    """
    _, found = read_keyed_batch_features(
        *(file_pattern, batch_size, features, reader, randomize_input, num_epochs),
        *(queue_capacity, reader_num_threads, feature_queue_capacity, num_enqueue_threads),
        read_batch_size=read_batch_size,
        parse_fn=parse_fn,
        name=name,
    )
    return found


@export("contrib.learn.read_batch_record_features", "contrib.learn.io.read_batch_record_features")
def read_batch_record_features(
    file_pattern: Any,
    batch_size: Any,
    features: dict[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str = "dequeue_record_examples",
) -> dict[str, Any]:
    """Batches of features of the Example messages in TFRecord files; as read_batch_features."""
    return read_batch_features(
        *(file_pattern, batch_size, features, TFRecordReader, randomize_input, num_epochs),
        queue_capacity=queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )
