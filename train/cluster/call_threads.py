# SPDX-License-Identifier: Apache-2.0
"""`CallThreads`: the threads that answer calls, as many as there are calls under way.

A call may wait for as long as others take to send what it waits for, so none may wait for a thread.
The threads are daemons: a process ends though a call of another one still waits.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any


class CallThreads(Executor):
    """Runs each call in a thread that is idle, or in a new one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
        # Threads that are idle, less the calls that wait for one.
        self._idle = 0
        self._count = 0

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Runs a function at once."""
        future: Future[Any] = Future()
        with self._lock:
            self._idle -= 1
            is_new = self._idle < 0
            if is_new:
                self._idle += 1
                self._count += 1
        self._calls.put((future, function, args, kwargs))
        if is_new:
            name = f"{self._name}-{self._count}"
            threading.Thread(target=self._work, name=name, daemon=True).start()
        return future

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            if call is None:
                return
            self._answer(*call)
            del call
            with self._lock:
                self._idle += 1

    @staticmethod
    def _answer(
        future: Future[Any], function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> None:
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the threads that are idle, and the others when they are."""
        del wait, cancel_futures
        with self._lock:
            count = self._count
        for _ in range(count):
            self._calls.put(None)
