# SPDX-License-Identifier: Apache-2.0
"""Batches by their numbers, and threads that get batches ready."""

from __future__ import annotations

import queue
import threading
import weakref
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np


class Sequence:
    """Batches by their numbers; classes define `__getitem__` and `__len__`."""

    @abstractmethod
    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError

    @abstractmethod
    def __len__(self) -> int:
        raise NotImplementedError

    def on_epoch_end(self) -> None:
        """Is called behind each epoch."""

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))


def _endless(sequence: Sequence, shuffle: bool) -> Iterator[Any]:
    """All batches, again and again, in another order each time if they are shuffled."""
    while True:
        order = np.arange(len(sequence))
        if shuffle:
            np.random.shuffle(order)
        for number in order.tolist():
            yield sequence[number]
        sequence.on_epoch_end()


class _Failed:
    """An exception of the thread, to be raised where batches are taken."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


# What gets batches ready now.
_running: weakref.WeakSet[SequenceEnqueuer] = weakref.WeakSet()


class SequenceEnqueuer:
    """Gets batches ready in a thread, in their order.

    Args:
        sequence: a `Sequence` or a generator.
        use_multiprocessing: accepted; threads are used.
        shuffle: whether the batches of a `Sequence` come in another order in each epoch.
        random_seed: accepted, of no effect.
    """

    def __init__(
        self,
        sequence: Any,
        use_multiprocessing: bool = False,
        shuffle: bool = False,
        random_seed: int | None = None,
    ) -> None:
        del use_multiprocessing, random_seed
        self.sequence = sequence
        self._source = _endless(sequence, shuffle) if isinstance(sequence, Sequence) else sequence
        self.queue: Any = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def is_running(self) -> bool:
        """Whether batches are being got ready."""
        return self._thread is not None and not self._stop.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Begins to get batches ready, so many at most; one thread keeps their order."""
        del workers
        _running.add(self)
        self.queue = queue.Queue(max_queue_size)
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for batch in self._source:
                if not self._put(batch):
                    return
            self._put(_Failed(StopIteration()))
        except Exception as error:  # noqa: BLE001  raised where batches are taken
            self._put(_Failed(error))

    def _put(self, item: Any) -> bool:
        while not self._stop.is_set():
            try:
                self.queue.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def get(self) -> Iterator[Any]:
        """The batches."""
        while self.is_running():
            found = self.queue.get()
            if isinstance(found, _Failed):
                self.stop()
                if isinstance(found.error, StopIteration):
                    return
                raise found.error
            yield found

    def stop(self, timeout: float | None = None) -> None:
        """Ends the thread."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout if timeout is not None else 5)


class OrderedEnqueuer(SequenceEnqueuer):
    """Gets the batches of a `Sequence` ready."""

    def __init__(
        self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False
    ) -> None:
        super().__init__(sequence, use_multiprocessing, shuffle)


class GeneratorEnqueuer(SequenceEnqueuer):
    """Gets the batches of a generator ready."""

    def __init__(
        self, sequence: Any, use_multiprocessing: bool = False, random_seed: int | None = None
    ) -> None:
        super().__init__(sequence, use_multiprocessing, random_seed=random_seed)


def terminate_keras_multiprocessing_pools(
    grace_period: float = 0.1, use_sigkill: bool = False
) -> list[Exception]:
    """Ends all threads that get batches ready, of which each may take a time to end.

    Args:
        grace_period: how many seconds one may take.
        use_sigkill: accepted; there are no processes.

    Returns:
        An error for each that has not ended.
    """
    del use_sigkill
    left: list[Exception] = []
    for enqueuer in list(_running):
        enqueuer.stop(grace_period)
        if enqueuer._thread is not None and enqueuer._thread.is_alive():
            left.append(RuntimeError(f"the batches of {enqueuer.sequence} are still got ready"))
        _running.discard(enqueuer)
    return left


def enqueued(source: Any, workers: Any, shuffle: bool) -> Iterator[Any]:
    """The batches of a `Sequence` or a generator, got ready by a thread if there are workers."""
    if workers.number > 0:
        enqueuer = SequenceEnqueuer(source, workers.use_processes, shuffle)
        enqueuer.start(workers.number, workers.queue_size)
        return _closing(enqueuer)
    return _endless(source, shuffle) if isinstance(source, Sequence) else iter(source)


def _closing(enqueuer: SequenceEnqueuer) -> Iterator[Any]:
    try:
        yield from enqueuer.get()
    finally:
        enqueuer.stop()
