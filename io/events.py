# SPDX-License-Identifier: Apache-2.0
"""Event files, which TensorBoard reads: records of Event messages, written by a thread."""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from ..engine.compat import as_str_any
from . import protos
from .files import is_directory, recursive_create_dir
from .record import TFRecordWriter, tf_record_iterator

# TensorBoard tells by it how to read the file (core/util/events_writer.cc).
_VERSION = "brain.Event:2"


class EventsWriter:
    """Writes events to "<prefix>.out.tfevents.<seconds>.<host><suffix>", made at the first one."""

    def __init__(self, prefix: str, suffix: str = "") -> None:
        self._prefix, self._suffix = prefix, suffix
        self._writer: TFRecordWriter | None = None

    def _open(self) -> TFRecordWriter:
        if self._writer is None:
            now = int(time.time())
            # TensorBoard looks for "tfevents" in names and sorts files by the time in them.
            name = f"{self._prefix}.out.tfevents.{now:010d}.{socket.gethostname()}{self._suffix}"
            self._writer = TFRecordWriter(name)
            first = protos.Event(wall_time=now, file_version=_VERSION)
            self._writer.write(first.SerializeToString())
            self._writer.flush()
        return self._writer

    def open(self) -> None:
        """Makes the file."""
        self._open()

    def write(self, event: Any) -> None:
        """Appends an event."""
        self._open().write(event.SerializeToString())

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Closes the file; the next event begins another."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()


class EventFileWriter:
    """Takes events from any thread and writes them to a file in a folder, in one of its own.

    Callers wait when `max_queue` events are not written yet.
    """

    def __init__(
        self,
        logdir: bytes | str,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = None,
    ) -> None:
        self._logdir = as_str_any(logdir)
        if self._logdir and not is_directory(self._logdir):
            recursive_create_dir(self._logdir)
        self._event_queue: queue.Queue[Any] = queue.Queue(max_queue)
        suffix = as_str_any(filename_suffix) if filename_suffix else ""
        self._ev_writer = EventsWriter(os.path.join(self._logdir, "events"), suffix)
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
            self._worker = threading.Thread(target=self._write_all, daemon=True)
            self._worker.start()
            self._closed = False

    def _write_all(self) -> None:
        """The thread's work, until it is given None."""
        next_flush = 0.0
        while True:
            event = self._event_queue.get()
            try:
                if event is None:
                    return
                self._ev_writer.write(event)
                now = time.time()
                if now > next_flush:
                    self._ev_writer.flush()
                    next_flush = now + self._flush_secs
            finally:
                self._event_queue.task_done()

    def add_event(self, event: object) -> None:
        """Has an event written."""
        if not self._closed:
            self._event_queue.put(event)

    def flush(self) -> None:
        """Waits until all events so far are written."""
        # Once for each event that was put there, the writer has said that it is done with it.
        self._event_queue.join()
        self._ev_writer.flush()

    def close(self) -> None:
        """Writes what is left and closes the file."""
        if not self._closed:
            self._event_queue.put(None)
        self.flush()
        self._worker.join()
        self._ev_writer.close()
        self._closed = True


def summary_iterator(path: str) -> Iterator[Any]:
    """The Event messages of a file (tf.train.summary_iterator)."""
    for record in tf_record_iterator(path):
        yield protos.Event.FromString(record)
