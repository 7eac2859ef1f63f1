# SPDX-License-Identifier: Apache-2.0
"""Writers that a graph's operations share, and which of them a thread's summaries go to."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import add_to_collection
from ...engine.graph.graph import control_dependencies, device, init_scope, name_scope
from ...engine.graph.tensor import uid
from ...engine.interface.log import get_logger
from ...engine.types import dtypes
from ...ops.public import raw, tf

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation

# The collection of what opens writers.
INIT_COLLECTION = "_SUMMARY_WRITER_V2"


class Defaults(threading.local):
    """What is set for a thread: the writer, whether it is to be written, and the step."""

    writer: Any = None
    recording: Any = None
    step: Any = None


defaults = Defaults()


class SummaryWriter:
    """Where operations write summaries: the result of `create_file_writer`."""

    def set_as_default(self) -> None:
        """Has this thread's summaries written here."""
        raise NotImplementedError()

    def as_default(self) -> Any:
        """A context in which this thread's summaries are written here."""
        raise NotImplementedError()

    def init(self) -> Any:
        """The operation that opens the writer."""
        raise NotImplementedError()

    def flush(self) -> Any:
        """The operation that writes what waits."""
        raise NotImplementedError()

    def close(self) -> Any:
        """The operation that writes what waits and closes the file."""
        raise NotImplementedError()


class ResourceSummaryWriter(SummaryWriter):
    """A writer that the operations of a graph share."""

    def __init__(
        self,
        shared_name: str,
        init_op_fn: Callable[..., Any],
        name: str | None = None,
        v2: bool = False,
    ) -> None:
        self._resource = raw.SummaryWriter(shared_name=shared_name, name=name)
        self._init_op_fn, self._v2 = init_op_fn, v2
        self._init_op = init_op_fn(self._resource)
        add_to_collection(INIT_COLLECTION, self._init_op)

    def set_as_default(self) -> None:
        """Has this thread's summaries written here."""
        defaults.writer = self

    @contextmanager
    def as_default(self) -> Iterator[ResourceSummaryWriter]:
        """A context in which this thread's summaries are written here."""
        before, defaults.writer = defaults.writer, self
        try:
            yield self
            # An operation that nobody runs by itself; in functions, which keep it, it flushes.
            self.flush()
        finally:
            defaults.writer = before

    def init(self) -> Any:
        """The operation that opens the writer."""
        return self._init_op if self._v2 else self._init_op_fn(self._resource)

    def flush(self) -> Operation:
        """The operation that writes what waits."""
        return _flush(writer=self)

    def close(self) -> Operation:
        """The operation that writes what waits and closes the file."""
        with control_dependencies([self.flush()]), device("cpu:0"):
            return raw.CloseSummaryWriter(self._resource)


class NoopSummaryWriter(SummaryWriter):
    """A writer that writes nothing."""

    def set_as_default(self) -> None:
        """Changes nothing."""

    @contextmanager
    def as_default(self) -> Iterator[None]:
        """A context that changes nothing."""
        yield

    def init(self) -> None:
        """There is nothing to open."""

    def flush(self) -> None:
        """There is nothing to write."""

    def close(self) -> None:
        """There is nothing to close."""


def create_file_writer(
    logdir: str | None,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """A writer of a file in a folder; it writes once the session has run `initialize`'s operation.

    Args:
        logdir: the folder, or None for a writer that writes nothing.
        max_queue: more events than that are written at once; 10 by default.
        flush_millis: after so many milliseconds they are written, too; two minutes by default.
        filename_suffix: the end of the file's name; ".v2" by default.
        name: writers of a name are one; "logdir:" and the folder by default.

    Returns:
        A writer, for `with writer.as_default(), tf.contrib.summary.always_record_summaries():`.

    Example:
        >>> writer = tf.contrib.summary.create_file_writer("./logs")
        >>> with writer.as_default(), tf.contrib.summary.always_record_summaries():
        ...     loss = tf.contrib.summary.scalar("loss", 0.5, step=3)
        >>> with tf.Session() as sess:
        ...     _ = sess.run(tf.contrib.summary.summary_writer_initializer_op())
        ...     _ = sess.run(tf.contrib.summary.all_summary_ops())
        ...     _ = sess.run(writer.close())
        >>> events = list(tf.train.summary_iterator(tf.gfile.Glob("./logs/events*")[0]))
        >>> events[1].step, events[1].summary.value[0].tag
        (3, 'loss')
    """
    if logdir is None:
        return NoopSummaryWriter()
    logdir = str(logdir)
    with device("cpu:0"):
        given = _writer_arguments(max_queue, flush_millis, filename_suffix)
        return ResourceSummaryWriter(
            shared_name=f"logdir:{logdir}" if name is None else name,
            init_op_fn=functools.partial(raw.CreateSummaryFileWriter, logdir=logdir, **given),
        )


def _writer_arguments(max_queue: Any, flush_millis: Any, filename_suffix: Any) -> dict[str, Any]:
    return {
        "max_queue": tf.constant(10) if max_queue is None else max_queue,
        "flush_millis": tf.constant(2 * 60 * 1000) if flush_millis is None else flush_millis,
        "filename_suffix": tf.constant(".v2") if filename_suffix is None else filename_suffix,
    }


def create_file_writer_v2(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: str | None = None,
) -> SummaryWriter:
    """`create_file_writer` as TensorFlow 2 has it: each writer has a file of its own."""
    if logdir is None:
        raise ValueError("logdir cannot be None")
    with name_scope(name, "create_file_writer") as scope, device("cpu:0"), init_scope():
        logdir = tf.convert_to_tensor(logdir, dtype=dtypes.string)
        given = _writer_arguments(max_queue, flush_millis, filename_suffix)
        # Files of one folder and second differ in it.
        unique = tf.constant(f".{os.getpid()}.{uid()}")
        given["filename_suffix"] = unique + given["filename_suffix"]
        return ResourceSummaryWriter(
            shared_name=scope.rstrip("/"),
            init_op_fn=functools.partial(raw.CreateSummaryFileWriter, logdir=logdir, **given),
            name=name,
            v2=True,
        )


def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing, for code that wants one."""
    return NoopSummaryWriter()


def create_db_writer(
    db_uri: str,
    experiment_name: str | None = None,
    run_name: str | None = None,
    user_name: str | None = None,
    name: str | None = None,
) -> SummaryWriter:
    """Not supported: SQLite databases, which TensorBoard has given up, too."""
    raise NotImplementedError(
        f"create_db_writer: {db_uri}: summaries are not written into databases; "
        "create_file_writer writes event files, which TensorBoard reads"
    )


def create_summary_file_writer(*args: Any, **kwargs: Any) -> SummaryWriter:
    """The older name of `create_file_writer`."""
    get_logger().warning(
        "Deprecation Warning: create_summary_file_writer was renamed to create_file_writer"
    )
    return create_file_writer(*args, **kwargs)


def flush(writer: Any = None, name: str | None = None) -> Operation:
    """The operation that has a writer, or its resource, write what waits; the default one's."""
    writer = defaults.writer if writer is None else writer
    if writer is None:
        return tf.no_op()
    resource = writer._resource if isinstance(writer, ResourceSummaryWriter) else writer
    with device("cpu:0"):
        return raw.FlushSummaryWriter(resource, name=name)


_flush = flush  # a method has that name
