# SPDX-License-Identifier: Apache-2.0
"""Events on their way from a step to a file: callers leave them here and a thread writes them.

Callers wait only when 64 MiB are not written yet.  Where the disk refuses them they are kept,
up to that much, and tried again; the error is logged once and raised by `flush` and `close`.
"""

from __future__ import annotations

import atexit
import threading
import time
from typing import TYPE_CHECKING

from ..engine import errors
from ..engine.interface.log import get_logger
from .event_file import ENOUGH, MOST
from .record import framed

if TYPE_CHECKING:
    from .event_file import EventsWriter

# Seconds in which events gather before they are written: a thread that wakes up for each would
# take more of a step's time than the events do.
_GATHER = 0.005
# Seconds between two tries to write what the disk refused.
_PAUSE = 1.0

# Queues that are not closed yet: they are when the process ends.
_open: set[EventQueue] = set()


class EventQueue:
    """What waits to be written by an `EventsWriter`, and the thread that has it written."""

    def __init__(self, writer: EventsWriter, flush_secs: float) -> None:
        self._writer, self._flush_secs = writer, flush_secs
        # What callers have left and the writer has not taken: records, their number, their bytes.
        self._records: list[bytes] = []
        self._count = self._size = 0
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._hurry = threading.Event()
        self._is_idle = self._is_closing = False
        # Flushes that were asked for, and those that were done.
        self._asked = self._done = 0
        self._failure: errors.OpError | None = None
        self._lost = 0
        if not _open:
            atexit.register(_close_all)
        _open.add(self)
        self._worker = threading.Thread(target=self._work, name="events", daemon=True)
        self._worker.start()

    def put(self, event: bytes) -> None:
        """Leaves a serialized event."""
        # Here, as the thread would keep others from running Python while it worked.
        record = framed(event)
        with self._lock:
            self._records += record
            self._count += 1
            self._size += len(event)
            if self._is_idle:
                self._is_idle = False
                self._changed.notify_all()
            while self._size > MOST and self._worker.is_alive():
                self._changed.wait(1.0)

    def flush(self) -> None:
        """Waits until all events so far are written; raises what the last try to write raised."""
        with self._changed:
            self._asked += 1
            number = self._asked
            self._is_idle = False
            self._changed.notify_all()
            self._hurry.set()
            while self._done < number:
                if not self._worker.is_alive():
                    raise errors.failed_precondition(
                        f"{self._writer.path} is another process's: a process that was forked "
                        "needs a writer of its own"
                    )
                self._changed.wait(1.0)
            failure = self._failure
        if failure is not None:
            kept = f"{self._writer.count} events wait for the next flush"
            raise self._explained(failure, f"{kept}, {self._lost} are lost" if self._lost else kept)

    def close(self) -> None:
        """Writes what is left and closes the file; raises what hinders it."""
        _open.discard(self)
        with self._changed:
            self._is_closing, self._is_idle = True, False
            self._changed.notify_all()
            self._hurry.set()
        self._worker.join()
        count = self._writer.count
        try:
            self._writer.close()
        except errors.OpError as error:
            raise self._explained(error, f"{count + self._lost} events are lost") from None
        if self._lost:
            raise errors.resource_exhausted(
                f"{self._writer.path}: {self._lost} events are lost, which came while nothing "
                "could be written"
            )

    def _explained(self, error: errors.OpError, outcome: str) -> errors.OpError:
        text = f"{error.message} ({outcome}). Make room there, or write to another folder."
        return type(error)(None, None, text)  # type: ignore[call-arg]

    def _work(self) -> None:
        """The thread's work."""
        next_flush = 0.0
        while True:
            asked, is_last = self._wait_for_work(next_flush)
            now = time.monotonic()
            is_due = now >= next_flush or asked > self._done
            if is_due or (self._writer.held >= ENOUGH and self._failure is None):
                self._write()
                next_flush = now + (_PAUSE if self._failure else self._flush_secs)
            with self._changed:
                self._done = asked
                self._changed.notify_all()
            if is_last:
                return
            self._hurry.wait(_GATHER)

    def _wait_for_work(self, next_flush: float) -> tuple[int, bool]:
        """Gives the writer what there is; how many flushes are wanted, and whether this is all."""
        with self._changed:
            self._hurry.clear()
            while not (self._records or self._is_closing or self._asked > self._done):
                left = next_flush - time.monotonic() if self._writer.held else None
                if left is not None and left <= 0:
                    break
                self._is_idle = True
                self._changed.wait(left)
            self._is_idle = False
            if self._failure is not None and self._writer.held > MOST:
                self._lost += self._count
            else:
                self._writer.extend(self._records, self._count, self._size)
            self._records, self._count, self._size = [], 0, 0
            return self._asked, self._is_closing

    def _write(self) -> None:
        try:
            self._writer.flush()
        except errors.OpError as error:
            if self._failure is None:
                get_logger().error(
                    "Events cannot be written: %s. They are kept in memory meanwhile; the program "
                    "goes on.",
                    error.message,
                )
            self._failure = error
        else:
            self._failure = None


def _close_all() -> None:
    for queue in list(_open):
        try:
            queue.close()
        except errors.OpError as error:
            get_logger().error("The last events were not written: %s", error.message)
