# SPDX-License-Identifier: Apache-2.0
"""Event files, which TensorBoard reads: records of Event messages.

`EventFileWriter` has a thread write them, so that no step waits for a disk; `DirectEventWriter`
writes in the thread that calls it, as the operations of graphs do.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

from ..engine import errors
from ..engine.compat import as_str_any
from ..engine.interface.log import get_logger
from . import protos
from .event_file import ENOUGH, MOST, EventsWriter
from .event_queue import EventQueue
from .files import is_directory, recursive_create_dir
from .record import tf_record_iterator


def _prefix(logdir: str) -> str:
    """The beginning of the names of event files in a folder, which is made if it is missing."""
    if logdir and not is_directory(logdir):
        recursive_create_dir(logdir)
    return os.path.join(logdir, "events")


class EventFileWriter:
    """Takes events from any thread and has a thread of its own write them to a file in a folder.

    Nobody waits for the disk, unless very much waits to be written: see `event_queue`.
    """

    def __init__(
        self,
        logdir: bytes | str,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = None,
    ) -> None:
        del max_queue  # What may wait is counted in bytes.
        self._logdir = as_str_any(logdir)
        suffix = as_str_any(filename_suffix) if filename_suffix else ""
        self._ev_writer = EventsWriter(_prefix(self._logdir), suffix)
        if suffix:
            self._ev_writer.open()
        self._flush_secs = flush_secs
        self._closed = True
        self.reopen()

    def get_logdir(self) -> str:
        """The folder."""
        return self._logdir

    def reopen(self) -> None:
        """Takes events again after `close`, into another file."""
        if self._closed:
            self._event_queue = EventQueue(self._ev_writer, self._flush_secs)
            self._closed = False

    def add_event(self, event: Any) -> None:
        """Has an event written."""
        if not self._closed:
            self._event_queue.put(event.SerializeToString())

    def flush(self) -> None:
        """Waits until all events so far are written.

        Raises:
            OpError: they cannot be written; they are kept for the next try.
        """
        if not self._closed:
            self._event_queue.flush()

    def close(self) -> None:
        """Writes what is left and closes the file.

        Raises:
            OpError: it cannot be written.
        """
        if not self._closed:
            self._closed = True
            self._event_queue.close()


class DirectEventWriter:
    """Writes events to a file in a folder in the calling thread, once more than `max_queue` wait.

    What operations of graphs write goes this way, as in TensorFlow: an error is the run's.
    """

    def __init__(self, logdir: str, max_queue: int, flush_secs: float, suffix: str) -> None:
        self._writer = EventsWriter(_prefix(logdir), suffix)
        self._writer.open()
        self._max_queue, self._flush_secs = max_queue, flush_secs
        self._last_flush = time.monotonic()
        self._lock = threading.Lock()
        # When its session is gone, or the process ends.
        self._close = weakref.finalize(self, _close_quietly, self._writer)

    def add_event(self, event: Any) -> None:
        """Has an event written."""
        with self._lock:
            self._writer.append(event.SerializeToString())
            is_late = time.monotonic() - self._last_flush > self._flush_secs
            if is_late or self._writer.count > self._max_queue or self._writer.held > ENOUGH:
                self._flush()

    def _flush(self) -> None:
        self._last_flush = time.monotonic()
        try:
            self._writer.flush()
        except errors.OpError:
            if self._writer.held > MOST:
                self._writer.discard()
            raise

    def flush(self) -> None:
        """Writes all events so far."""
        with self._lock:
            self._flush()

    def close(self) -> None:
        """Writes what is left and closes the file."""
        with self._lock:
            self._close.detach()
            self._writer.close()


def _close_quietly(writer: EventsWriter) -> None:
    try:
        writer.close()
    except errors.OpError as error:
        get_logger().error("The last events were not written: %s", error.message)


def summary_iterator(path: str) -> Iterator[Any]:
    """The Event messages of a file (tf.train.summary_iterator).

    Args:
        path: of an event file.

    Returns:
        An iterator of tf.Event.

    Raises:
        DataLossError: a record is damaged, cut or no Event.
    """
    from google.protobuf.message import DecodeError

    for number, record in enumerate(tf_record_iterator(path)):
        try:
            event = protos.Event.FromString(record)
        except DecodeError:
            raise errors.data_loss(
                f"record {number} of {path} is no Event: this is no event file, or a damaged one"
            ) from None
        yield event
