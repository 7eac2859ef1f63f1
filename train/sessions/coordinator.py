# SPDX-License-Identifier: Apache-2.0
"""`Coordinator`: ends a group of threads together, and passes on the first failure among them."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...engine import errors
from ...engine.interface.log import get_logger

# How long `join` sleeps between looks at its threads, in seconds.
_LOOK = 0.05


class Coordinator:
    """Tells threads when to stop (tf.train.Coordinator).

    A thread works `while not coord.should_stop()`; any thread may ask all to stop, with the
    exception that made it do so, which `join` raises in the main thread.

    Args:
        clean_stop_exception_types: exceptions that are no failure; (tf.errors.OutOfRangeError,) by
            default.

    Example:
        >>> import threading
        >>> coord, seen = tf.train.Coordinator(), []
        >>> def work():
        ...     while not coord.should_stop():
        ...         seen.append(1)
        ...         coord.request_stop()
        >>> thread = threading.Thread(target=work)
        >>> thread.start()
        >>> coord.join([thread])
        >>> seen
        [1]
    """

    def __init__(self, clean_stop_exception_types: Sequence[type] | None = None) -> None:
        """clean_stop_exception_types: reported exceptions that are no failure; OutOfRangeError."""
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._exc_info_to_raise: Any = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    def _is_clean(self, ex: object) -> bool:
        """Is what was reported just the end of the input?"""
        error = ex[1] if isinstance(ex, tuple) else ex
        return isinstance(error, self._clean_stop_exception_types)

    def request_stop(self, ex: object = None) -> None:
        """Asks all threads to stop.

        Args:
            ex: the exception being handled, or its exc_info, for `join` to raise; it raises the
                first, and none of clean_stop_exception_types.

        Raises:
            Exception: `ex`, if `join` is through.
        """
        with self._lock:
            if self._is_clean(ex):
                ex = None
            # Nobody will join again: the failure would be lost if it were only kept.
            if ex and self._joined:
                raise _error_of(ex if isinstance(ex, tuple) else sys.exc_info())
            if self._stop_event.is_set():
                return
            if ex and self._exc_info_to_raise is None:
                self._exc_info_to_raise = _reported(ex)
            self._stop_event.set()

    def clear_stop(self) -> None:
        """Makes the coordinator as it was before any stop."""
        with self._lock:
            self._joined = False
            self._exc_info_to_raise = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether somebody asked to stop."""
        return self._stop_event.is_set()

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A context that turns an exception into a request to stop."""
        try:
            yield
        except:  # noqa: E722 - whatever ends one thread ends all
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits for a request to stop, at most `timeout` seconds; whether there was one."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread for `join`."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Sequence[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits until threads have ended.

        Args:
            threads: which ones, besides those that were registered.
            stop_grace_period_secs: how long they may take after a request to stop.
            ignore_live_threads: whether those that take longer are left alone.

        Raises:
            RuntimeError: a thread takes longer.
            Exception: the one that was given to `request_stop`.
        """
        with self._lock:
            waited = list(self._registered_threads.union(threads or ()))
        # The grace period begins with the request to stop; until then threads may run for ever.
        while _alive(waited) and not self.wait_for_stop(_LOOK):
            pass
        end = time.monotonic() + stop_grace_period_secs
        # The grace period is that of all threads together.
        for thread in _alive(waited):
            thread.join(max(end - time.monotonic(), 0.0))
        stragglers = [thread.name for thread in _alive(waited)]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._exc_info_to_raise:
                raise _error_of(self._exc_info_to_raise)
            if not stragglers:
                return
            text = f"Coordinator stopped with threads still running: {' '.join(stragglers)}"
            if not ignore_live_threads:
                raise RuntimeError(text)
            get_logger().info("%s", text)

    @property
    def joined(self) -> bool:
        """Whether `join` has ended."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the exception that a request to stop came with, if any."""
        with self._lock:
            if self._exc_info_to_raise:
                raise _error_of(self._exc_info_to_raise)


def _alive(threads: Sequence[threading.Thread]) -> list[threading.Thread]:
    return [thread for thread in threads if thread.is_alive()]


def _error_of(info: Sequence[Any]) -> BaseException:
    """The exception of an exc_info, with its traceback."""
    _, error, trace = info
    return error.with_traceback(trace)


def _reported(ex: object) -> Any:
    """The exc_info to raise for what was given to `request_stop`, which is logged."""
    if isinstance(ex, tuple):
        info = ex
        get_logger().info("Error reported to Coordinator: %s", ex[1], exc_info=ex)
    else:
        info = sys.exc_info()
        get_logger().info("Error reported to Coordinator: %s, %s", type(ex), ex)
    if len(info) == 3 and info[0] and info[1]:
        return info
    try:
        raise ValueError(
            f"ex must be a tuple or sys.exc_info must return the current exception: {info}"
        )
    except ValueError:
        return sys.exc_info()


class LooperThread(threading.Thread):
    """A thread that calls something again and again, or once per interval, until the stop.

    Either `target` is given or `run_loop` overridden (tf.train.LooperThread).  An exception is
    reported to the coordinator and ends the thread.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """timer_interval_secs: None calls back to back."""
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._target = target
        if target:
            self._args, self._kwargs = tuple(args or ()), kwargs or {}
        elif args or kwargs:
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> LooperThread:
        """A started thread that calls `target` every so many seconds."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """The thread's work."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                # Due times follow each other at the interval, however long the calls take.
                due = time.time()
                while not self._coord.wait_for_stop(due - time.time()):
                    due += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def isAlive(self) -> bool:  # noqa: N802 - the name that threads had in Python 2
        """The older name of `is_alive`."""
        return self.is_alive()

    def start_loop(self) -> None:
        """Called once, before the first call."""

    def stop_loop(self) -> None:
        """Called once, after the last call."""

    def run_loop(self) -> None:
        """Called every time; calls the target."""
        if self._target:  # type: ignore[attr-defined]
            self._target(*self._args, **self._kwargs)  # type: ignore[attr-defined]
