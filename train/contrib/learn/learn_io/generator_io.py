# SPDX-License-Identifier: Apache-2.0
"""Input from a function whose generators yield dicts of arrays, an example each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from .....engine import errors
from .....engine.api import export
from .....ops.public import tf
from .....ops.queues.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from .....ops.summaries.api import scalar
from ....estimator.feeding import FeedingQueueRunner
from ....inputs.queue_runner_impl import add_queue_runner


def _padded(items: Sequence[np.ndarray], value: Any) -> Any:
    """Arrays as long as the longest of them along their last dimension."""
    if len({item.shape[:-1] if item.ndim else -1 for item in items}) > 1:
        raise ValueError("Array shapes must match.")
    lengths = [item.shape[-1] if item.ndim else 0 for item in items]
    if len(set(lengths)) == 1:
        return items
    result = np.full((len(items), *items[0].shape[:-1], max(lengths)), value, items[0].dtype)
    for row, item, length in zip(result, items, lengths, strict=True):
        row[..., :length] = item
    return result


class _GeneratorFeeder:
    """Gives batches of what generators yield, one generator for each epoch.

    As in TensorFlow a batch has `batch_size` values, which are fewer rows where rows have several.
    """

    def __init__(
        self,
        placeholders: list[Any],
        generator: Callable[[], Any],
        batch_size: int,
        num_epochs: int | None,
        pad_value: Any,
    ) -> None:
        first = next(generator())
        if len(placeholders) != len(first):
            raise ValueError(f"Expected {len(first)} placeholders; got {len(placeholders)}.")
        self._placeholders = dict(zip(sorted(first), placeholders, strict=True))
        self._generator, self._rows = generator, generator()
        self._batch_size, self._num_epochs = batch_size, num_epochs
        self._pad_value, self._epoch = pad_value, 0

    def _next(self) -> dict[str, Any]:
        try:
            return next(self._rows)
        except StopIteration:
            self._epoch += 1
            self._rows = self._generator()
            return next(self._rows)

    def __call__(self) -> dict[Any, Any]:
        if self._num_epochs and self._epoch >= self._num_epochs:
            raise errors.out_of_range(f"Already emitted {self._epoch} epochs.")
        found: dict[Any, list[Any]] = {one: [] for one in self._placeholders.values()}
        count = 0
        while count < self._batch_size:
            row = self._next()
            for key, placeholder in self._placeholders.items():
                if key not in row:
                    raise KeyError(
                        "key mismatch between dicts emitted by GenFunExpected "
                        f"{list(self._placeholders)} keys; got {row.keys()}"
                    )
                found[placeholder].append(row[key])
                count += 1
        if self._pad_value is None:
            return {one: np.asarray(values) for one, values in found.items()}
        return {one: np.asarray(_padded(values, self._pad_value)) for one, values in found.items()}


def _queue(
    first: Sequence[Any], capacity: int, shuffle: bool, pad_value: Any
) -> tuple[Any, list[Any], int]:
    """A queue for rows like the first one, their dtypes, and how many it keeps back."""
    types = [tf.as_dtype(value.dtype) for value in first]
    shapes = [value.shape for value in first]
    if shuffle:
        least = int(capacity / 4)
        return RandomShuffleQueue(capacity, least, dtypes=types, shapes=shapes), types, least
    if pad_value is None:
        return FIFOQueue(capacity, dtypes=types, shapes=shapes), types, 0
    longer = [(*shape[:-1], None) if shape else shape for shape in shapes]
    return PaddingFIFOQueue(capacity, dtypes=types, shapes=longer), types, 0


def _enqueue(
    generator: Callable[[], Any],
    capacity: int,
    shuffle: bool,
    num_threads: int,
    enqueue_size: int,
    num_epochs: int | None,
    pad_value: Any,
) -> Any:
    """A queue of rows, which threads fill."""
    with tf.name_scope("enqueue_input"):
        first = next(generator())
        queue, types, least = _queue(
            [first[key] for key in sorted(first)], capacity, shuffle, pad_value
        )
        operations, feeders = [], []
        for _ in range(num_threads):
            placeholders = [tf.placeholder(one) for one in types]
            operations.append(queue.enqueue_many(placeholders))
            feeders.append(
                _GeneratorFeeder(placeholders, generator, enqueue_size, num_epochs, pad_value)
            )
        add_queue_runner(FeedingQueueRunner(queue, operations, feed_fns=feeders))
        room = capacity - least
        full = tf.cast(tf.maximum(0, queue.size() - least), tf.float32) * (1.0 / room)
        scalar(f"queue/{queue.name}fraction_over_{least}_of_{room}_full", full)
        return queue


def _target_keys(given: Any, present: list[str]) -> list[str]:
    """The keys of what is to be learnt; TypeError and KeyError for what cannot be such."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Container):
        raise TypeError(f"target_key must be str or Container of str; got {type(given).__name__}")
    keys: Any = given
    for item in keys:
        if not isinstance(item, str):
            raise TypeError(
                f"target_key must be str or Container of str; got {type(item).__name__}"
            )
        if item not in present:
            raise KeyError(f"target_key not in yielded dict. Expected {present} keys; got {item}")
    return list(keys)


@export("contrib.learn.io.generator_input_fn")
def generator_input_fn(
    x: Callable[[], Any],
    target_key: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    pad_value: Any = None,
) -> Callable[[], Any]:
    """A function that gives batches of what a generator yields.

    Args:
        x: a function that gives a generator of dicts of arrays, an example each.
        target_key: the key of what is to be learnt, or several; None for features alone.
        batch_size: how many examples a batch has.
        num_epochs: how often `x` is called; without end if None.
        shuffle: whether examples come in random order.
        queue_capacity: of the queue of examples.
        num_threads: how many threads fill it, each with all examples.
        pad_value: what arrays end with that are shorter than others of their batch; None for
            arrays of one shape.

    Returns:
        A function that gives a dict of features, or features and target.

    Raises:
        TypeError: `x` is no such function, or `target_key` no text.
        KeyError: examples have no such key.
    """
    if not inspect.isfunction(x):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    generator = x()
    if not inspect.isgenerator(generator):
        raise TypeError(f"x() must be generator; got {type(generator).__name__}")
    data = next(generator)
    if not isinstance(data, dict):
        raise TypeError(f"x() must yield dict; got {type(data).__name__}")
    keys = sorted(next(x()))
    targets = None if target_key is None else _target_keys(target_key, keys)

    def input_fn() -> Any:
        queue = _enqueue(x, queue_capacity, shuffle, num_threads, batch_size, num_epochs, pad_value)
        endless = num_epochs is None
        found = queue.dequeue_many(batch_size) if endless else queue.dequeue_up_to(batch_size)
        features = dict(zip(keys, found if isinstance(found, list) else [found]))
        if targets is None:
            return features
        if len(targets) > 1:
            return features, {key: features.pop(key) for key in targets}
        return features, features.pop(targets[0])

    return input_fn
