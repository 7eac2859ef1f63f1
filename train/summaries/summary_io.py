# SPDX-License-Identifier: Apache-2.0
"""`tf.summary.FileWriter`: puts summaries, graphs and the like into event files."""

from __future__ import annotations

import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

from ...engine.graph.defaults import get_default_graph
from ...engine.graph.graph import Graph
from ...engine.interface.log import get_logger
from ...io import protos
from ...io.events import EventFileWriter
from ...io.meta_graph import create_meta_graph_def
from .plugin_asset import write_plugin_assets

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.session.session import BaseSession


class SummaryToEventTransformer:
    """Makes Event messages of what it is given, for a writer of events."""

    def __init__(self, event_writer: Any, graph: Any = None, graph_def: Any = None) -> None:
        self.event_writer = event_writer
        self._session_run_tags: set[str] = set()
        # TensorBoard wants what describes a tag once per file.
        self._seen_summary_tags: set[str] = set()
        if graph is None and graph_def is None:
            return
        self.add_graph(graph=graph, graph_def=graph_def)
        message = graph.as_graph_def(add_shapes=True) if isinstance(graph, Graph) else graph
        self.add_meta_graph(create_meta_graph_def(graph_def=graph_def or message))

    def add_summary(self, summary: Any, global_step: TensorLike | None = None) -> None:
        """Adds a summary to the file.

        Args:
            summary: what a summary operation gave in a run, or a tf.Summary.
            global_step: the step that it belongs to, an integer.
        """
        # What a session gives for a summary is a serialized message.
        if isinstance(summary, bytes):
            event = protos.Event()
            event.summary.ParseFromString(summary)
            summary = event.summary
            self._strip(summary)
        else:
            if not isinstance(summary, protos.Summary):
                # TensorBoard has a class of its own for the same message.
                summary = protos.Summary.FromString(summary.SerializeToString())
            self._strip(summary)
            event = protos.Event(summary=summary)
        self._add_event(event, global_step)

    def _strip(self, summary: Any) -> None:
        """Leaves what describes a tag out where it was given before."""
        seen = self._seen_summary_tags
        for value in summary.value:
            tag = value.tag
            if tag not in seen:
                seen.add(tag)
            elif value.HasField("metadata"):
                value.ClearField("metadata")

    def add_session_log(self, session_log: object, global_step: TensorLike | None = None) -> None:
        """Adds a SessionLog: the start or end of a session, or a checkpoint."""
        self._add_event(protos.Event(session_log=session_log), global_step)

    def add_graph(
        self, graph: Graph, global_step: TensorLike | None = None, graph_def: object = None
    ) -> None:
        """Adds a graph to the file.

        Args:
            graph: a Graph.
            global_step: the step that it belongs to, an integer.
            graph_def: the old way to give it, as a GraphDef.

        Raises:
            ValueError: both are given.
            TypeError: neither is, or something else.
        """
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        given = graph_def if graph is None else graph
        if isinstance(given, Graph):
            write_plugin_assets(given, self.event_writer.get_logdir())
            if graph is None:
                get_logger().warning(
                    "When passing a `Graph` object, please use the `graph` named argument instead "
                    "of `graph_def`."
                )
            message = given.as_graph_def(add_shapes=True)
        elif isinstance(given, protos.GraphDef):
            get_logger().warning(
                "Passing a `GraphDef` to the SummaryWriter is deprecated. Pass a `Graph` object "
                "instead, such as `sess.graph`."
            )
            message = given
        else:
            raise TypeError(
                "The passed graph must be an instance of `Graph` or the deprecated `GraphDef`"
            )
        self._add_event(protos.Event(graph_def=message.SerializeToString()), global_step)

    def add_meta_graph(self, meta_graph_def: object, global_step: TensorLike | None = None) -> None:
        """Adds a MetaGraphDef."""
        if not isinstance(meta_graph_def, protos.MetaGraphDef):
            raise TypeError(
                f"meta_graph_def must be type MetaGraphDef, saw type: {type(meta_graph_def)}"
            )
        event = protos.Event(meta_graph_def=meta_graph_def.SerializeToString())
        self._add_event(event, global_step)

    def add_run_metadata(
        self, run_metadata: Any, tag: str, global_step: TensorLike | None = None
    ) -> None:
        """Adds a RunMetadata under a tag of its own."""
        if tag in self._session_run_tags:
            raise ValueError("The provided tag was already used for this event type")
        self._session_run_tags.add(tag)
        tagged = protos.TaggedRunMetadata(tag=tag, run_metadata=run_metadata.SerializeToString())
        self._add_event(protos.Event(tagged_run_metadata=tagged), global_step)

    def _add_event(self, event: Any, step: Any) -> None:
        event.wall_time = time.time()
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)


class FileWriter(SummaryToEventTransformer):
    """Writes summaries to an event file, which TensorBoard shows; a context that closes it.

    Args:
        logdir: the folder of the file, made if it is missing.
        graph: a Graph that is written, too.
        max_queue: how many events may wait to be written.
        flush_secs: how often they are handed to the operating system.
        graph_def: the old way to give a graph, as a GraphDef.
        filename_suffix: the end of the file's name.
        session: write by operations of this session, which shares the file with others of its
            writers for the folder.

    Raises:
        TypeError: `graph` is something else.

    Example:
        >>> loss = tf.summary.scalar("loss", 0.5)
        >>> with tf.Session() as sess, tf.summary.FileWriter("./logs") as writer:
        ...     writer.add_summary(sess.run(loss), global_step=3)
        >>> import glob
        >>> events = list(tf.train.summary_iterator(glob.glob("./logs/events*")[0]))
        >>> events[1].step, events[1].summary.value[0].tag
        (3, 'loss')
    """

    def __init__(
        self,
        logdir: str,
        graph: Graph | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: object = None,
        filename_suffix: str | None = None,
        session: BaseSession | None = None,
    ) -> None:
        writer: Any
        if session is None:
            writer = EventFileWriter(logdir, max_queue, flush_secs, filename_suffix)
        else:
            from .session_events import SessionEventWriter

            given = (logdir, max_queue, flush_secs, filename_suffix)
            writer = SessionEventWriter(session, *given)
        self._closed = False
        super().__init__(writer, graph, graph_def)

    def __enter__(self) -> FileWriter:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()

    def _warn_if_event_writer_is_closed(self) -> None:
        if self._closed:
            warnings.warn(
                "Attempting to use a closed FileWriter. The operation will be a noop unless the "
                "FileWriter is explicitly reopened.",
                stacklevel=3,
            )

    def _add_event(self, event: object, step: object) -> None:
        if self._closed:
            self._warn_if_event_writer_is_closed()
        SummaryToEventTransformer._add_event(self, event, step)

    def add_event(self, event: Any) -> None:
        """Adds an Event as it is."""
        self._warn_if_event_writer_is_closed()
        self.event_writer.add_event(event)

    def flush(self) -> None:
        """Waits until everything is written."""
        self._warn_if_event_writer_is_closed()
        self.event_writer.flush()

    def close(self) -> None:
        """Writes what is left and closes the file."""
        self.event_writer.close()
        self._closed = True

    def reopen(self) -> None:
        """Begins another file after `close`."""
        self.event_writer.reopen()
        self._closed = False


class FileWriterCache:
    """One writer per folder (tf.summary.FileWriterCache)."""

    _cache: dict[Any, Any] = {}
    _lock = threading.RLock()

    @staticmethod
    def clear() -> None:
        """Closes and forgets all writers."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                writer.close()
            FileWriterCache._cache = {}

    @staticmethod
    def get(logdir: str) -> Any:
        """The writer for a folder."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                writer = FileWriter(logdir, graph=get_default_graph())
                FileWriterCache._cache[logdir] = writer
            return FileWriterCache._cache[logdir]


# Their older names.
SummaryWriterCache = FileWriterCache


class SummaryWriter(FileWriter):
    """The older form of `FileWriter`."""

    def __init__(
        self,
        logdir: str,
        graph: Graph | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        graph_def: object = None,
    ) -> None:
        super().__init__(logdir, graph, max_queue, flush_secs, graph_def)
