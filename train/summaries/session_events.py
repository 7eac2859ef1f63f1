# SPDX-License-Identifier: Apache-2.0
"""Events written by operations of a session, so that what shares the session shares the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import add_to_collection
from ...engine.graph.graph import control_dependencies, device, name_scope
from ...engine.types import dtypes
from ...io.files import is_directory, recursive_create_dir
from ...ops.public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.session.session import BaseSession


class SessionEventWriter:
    """What `EventFileWriter` does, through nodes that are added to the session's graph."""

    def __init__(
        self,
        session: BaseSession,
        logdir: str,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str | None = "",
    ) -> None:
        self._session, self._logdir, self._closed = session, logdir, False
        if not is_directory(logdir):
            recursive_create_dir(logdir)
        with session.graph.as_default(), name_scope("filewriter"):
            with device("cpu:0"):
                suffix = tf.constant(".v2") if filename_suffix is None else filename_suffix
                # Shared by the folder's name: all writers of a session for one folder write one
                # file.
                self._writer = raw.SummaryWriter(shared_name=f"logdir:{logdir}")
                # The op takes milliseconds.
                settings = (logdir, max_queue, flush_secs * 1000, suffix)
                init = raw.CreateSummaryFileWriter(self._writer, *settings)
                add_to_collection("_SUMMARY_WRITER_V2", init)
            unused = tf.constant("unused", dtypes.string)
            self._event = tf.placeholder_with_default(unused, shape=[])
            self._add_event = raw.ImportEvent(self._writer, self._event)
            self._flush_op()
            self._init = raw.CreateSummaryFileWriter(self._writer, *settings)
            self._flush = self._flush_op()
            with control_dependencies([self._flush_op()]), device("cpu:0"):
                self._close = raw.CloseSummaryWriter(self._writer)
        session.run(self._init)

    def _flush_op(self) -> Operation:
        with device("cpu:0"):
            return raw.FlushSummaryWriter(self._writer)

    def get_logdir(self) -> str:
        """The folder."""
        return self._logdir

    def reopen(self) -> None:
        """Takes events again after `close`, into another file."""
        if self._closed:
            self._closed = False
            self._session.run(self._init)

    def add_event(self, event: Any) -> None:
        """Has an event written."""
        if not self._closed:
            self._session.run(self._add_event, {self._event: event.SerializeToString()})

    def flush(self) -> None:
        """Waits until all events so far are written."""
        self._session.run(self._flush)

    def close(self) -> None:
        """Writes what is left and closes the file."""
        if not self._closed:
            self.flush()
            self._session.run(self._close)
            self._closed = True
