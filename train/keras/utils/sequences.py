# SPDX-License-Identifier: Apache-2.0
"""Batches by their numbers, and threads that get batches ready."""

from __future__ import annotations

import operator
import queue
import random
import threading
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any


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


def _in_turn(sequence: Sequence) -> Iterator[Any]:
    """All batches, again and again, in their order; `on_epoch_end` is not called."""
    while True:
        yield from (sequence[number] for number in range(len(sequence)))


# What gets batches ready now.
_running: weakref.WeakSet[SequenceEnqueuer] = weakref.WeakSet()


class SequenceEnqueuer:
    """Gets batches ready in threads, in their order.

    Behind each pass over a `Sequence` its `on_epoch_end` is called: when the next batch is asked
    for, so that nothing which it changes depends on how far ahead batches are got ready.

    Args:
        sequence: a `Sequence` or a generator.
        use_multiprocessing: accepted; threads are used.
        shuffle: whether the batches of a `Sequence` come in another order in each epoch, by
            Python's `random`.
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
        self.sequence, self.shuffle = sequence, shuffle
        self.workers = 0
        # What gives a batch, or raises what went wrong with it; None behind the last one.
        self.queue: queue.Queue[Callable[[], Any] | None]
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def is_running(self) -> bool:
        """Whether batches are being got ready."""
        return self._thread is not None and not self._stop.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Begins to get batches ready, so many at most: a generator's in one thread."""
        _running.add(self)
        self.workers = workers
        self.queue = queue.Queue(max_queue_size)
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        fill = self._fill_by_number if isinstance(self.sequence, Sequence) else self._fill_in_turn
        try:
            fill()
        except Exception as error:  # noqa: BLE001  raised where batches are taken
            self._put(partial(_fail, error))

    def _fill_in_turn(self) -> None:
        for batch in self.sequence:
            if not self._put(partial(_given, batch)):
                return
        self._put(None)

    def _fill_by_number(self) -> None:
        from multiprocessing.pool import ThreadPool

        order = list(range(len(self.sequence)))
        with ThreadPool(max(self.workers, 1)) as pool:
            while True:
                if self.shuffle:
                    random.shuffle(order)
                for number in order:
                    batch = pool.apply_async(operator.getitem, (self.sequence, number))
                    if not self._put(batch.get):
                        return
                if not self._are_all_taken():
                    return
                self.sequence.on_epoch_end()

    def _put(self, item: Callable[[], Any] | None) -> bool:
        while not self._stop.is_set():
            try:
                self.queue.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def _are_all_taken(self) -> bool:
        """Waits until one more batch is asked for than there are; false if there is an end."""
        with self.queue.all_tasks_done:
            while self.queue.unfinished_tasks and not self._stop.is_set():
                self.queue.all_tasks_done.wait(0.1)
        return not self._stop.is_set()

    def get(self) -> Iterator[Any]:
        """The batches; those that are None are left out."""
        while self.is_running():
            item = self.queue.get()
            if item is None:
                self.stop()
                return
            try:
                batch = item()
            except BaseException:
                self.stop()
                raise
            if batch is not None:
                yield batch
            self.queue.task_done()

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


def _given(batch: Any) -> Any:
    return batch


def _fail(error: BaseException) -> None:
    raise error


def enqueued(source: Any, workers: Any, shuffle: bool) -> Iterator[Any]:
    """The batches of a `Sequence` or a generator, got ready by threads if there are workers.

    Without workers a `Sequence` is neither shuffled nor told of the end of an epoch.
    """
    if workers.number > 0:
        enqueuer = SequenceEnqueuer(source, workers.use_processes, shuffle)
        enqueuer.start(workers.number, workers.queue_size)
        return _closing(enqueuer)
    return _in_turn(source) if isinstance(source, Sequence) else iter(source)


def _closing(enqueuer: SequenceEnqueuer) -> Iterator[Any]:
    try:
        yield from enqueuer.get()
    finally:
        enqueuer.stop()
