# SPDX-License-Identifier: Apache-2.0
"""`QueueRunner`: threads that keep a queue filled by running its enqueue operations."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...engine import errors
from ...engine.graph.collections import GraphKeys, add_to_collection, get_collection
from ...engine.graph.defaults import get_default_graph, get_default_session
from ...engine.graph.scope_functions import prepend_name_scope, strip_name_scope
from ...engine.interface.log import get_logger
from ...engine.session.session import BaseSession

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.graph.tensor import Tensor
    from ..sessions.coordinator import Coordinator


class QueueRunner:
    """A queue and the operations that enqueue into it, each for a thread (tf.train.QueueRunner)."""

    def __init__(
        self,
        queue: Any = None,
        enqueue_ops: Sequence[Any] | None = None,
        close_op: Any = None,
        cancel_op: Any = None,
        queue_closed_exception_types: tuple[type, ...] | None = None,
        queue_runner_def: object = None,
        import_scope: str | None = None,
    ) -> None:
        """Adds operations that close the queue, unless they are given.

        queue_closed_exception_types: what the end of the input looks like; OutOfRangeError.
        queue_runner_def: a QueueRunnerDef to make the runner from, in place of all others.
        """
        if queue_runner_def:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._read(queue_runner_def, import_scope)
        else:
            self._take(queue, enqueue_ops, close_op, cancel_op, queue_closed_exception_types)
        self._lock = threading.Lock()
        # Session -> how many of its threads still run.
        self._runs_per_session: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._exceptions_raised: list[BaseException] = []

    def _take(
        self,
        queue: Any,
        enqueue_ops: Any,
        close_op: Any,
        cancel_op: Operation,
        closed_types: object,
    ) -> None:
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        if closed_types is not None and not (
            isinstance(closed_types, tuple)
            and closed_types
            and all(issubclass(kind, errors.OpError) for kind in closed_types)
        ):
            raise TypeError(
                "queue_closed_exception_types, when provided, must be a tuple of tf.error types, "
                f"but saw: {closed_types}"
            )
        self._queue, self._enqueue_ops = queue, enqueue_ops
        self._close_op = queue.close() if close_op is None else close_op
        if cancel_op is None:
            cancel_op = queue.close(cancel_pending_enqueues=True)
        self._cancel_op = cancel_op
        self._queue_closed_exception_types = closed_types or (errors.OutOfRangeError,)

    def _read(self, message: Any, import_scope: str | None) -> None:
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_name_scope(name, import_scope))

        self._queue = element(message.queue_name)
        self._enqueue_ops = [element(name) for name in message.enqueue_op_name]
        self._close_op = element(message.close_op_name)
        self._cancel_op = element(message.cancel_op_name)
        codes = message.queue_closed_exception_types
        self._queue_closed_exception_types = tuple(
            errors.exception_type_from_error_code(code) for code in codes
        ) or (errors.OutOfRangeError,)

    @property
    def queue(self) -> Any:
        """The queue, or its operation when the runner was made from a message."""
        return self._queue

    @property
    def enqueue_ops(self) -> Any:
        """The operations that the threads run."""
        return self._enqueue_ops

    @property
    def close_op(self) -> Any:
        """Closes the queue."""
        return self._close_op

    @property
    def cancel_op(self) -> Any:
        """Closes the queue and cancels what waits to be enqueued."""
        return self._cancel_op

    @property
    def queue_closed_exception_types(self) -> tuple[type, ...]:
        """What ends a thread without being a failure."""
        return self._queue_closed_exception_types

    @property
    def exceptions_raised(self) -> list[BaseException]:
        """Failures of threads that no coordinator was told of."""
        return self._exceptions_raised

    @property
    def name(self) -> str:
        """The name of the queue."""
        return self._queue.name

    def _run(
        self, sess: BaseSession, enqueue_op: Operation | Tensor, coord: Coordinator | None = None
    ) -> None:
        """What a thread does: runs its operation until the queue is closed or all stop."""
        counted = False
        try:
            enqueue = self._enqueuer(sess, enqueue_op)
            while not (coord and coord.should_stop()):
                try:
                    enqueue()
                except self._queue_closed_exception_types:
                    counted = True
                    self._leave(sess)
                    return
        except Exception as error:
            if coord:
                coord.request_stop(error)
                return
            get_logger().error("Exception in QueueRunner: %s", error)
            with self._lock:
                self._exceptions_raised.append(error)
            raise
        finally:
            if not counted:
                with self._lock:
                    self._runs_per_session[sess] -= 1

    def _enqueuer(self, sess: BaseSession, enqueue_op: Operation | Tensor) -> Any:
        """The function that a thread calls over and over."""
        # Looked up once, as it is run very often.
        return sess.make_callable(enqueue_op)

    def _leave(self, sess: BaseSession) -> None:
        """One thread has seen the end of its input; the last one closes the queue."""
        with self._lock:
            self._runs_per_session[sess] -= 1
            # Others may still have examples to enqueue; after the last one readers must not wait
            # any more.
            if not self._runs_per_session[sess]:
                _run_quietly(sess, self._close_op)

    def _close_on_stop(self, sess: BaseSession, cancel_op: Operation, coord: Coordinator) -> None:
        """What one more thread does: wakes up those that wait when all shall stop."""
        coord.wait_for_stop()
        _run_quietly(sess, cancel_op)

    def create_threads(
        self,
        sess: BaseSession,
        coord: Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """One thread per enqueue operation, and one that closes the queue when `coord` says stop.

        None, if threads for the session still run.  They are not started unless `start`.
        """
        with self._lock:
            # The threads of an earlier call are still there.
            if self._runs_per_session.get(sess, 0) > 0:
                return []
            self._runs_per_session[sess] = len(self._enqueue_ops)
            self._exceptions_raised = []
        prefix = f"QueueRunnerThread-{self.name}"
        threads = [
            threading.Thread(target=self._run, args=(sess, op, coord), name=f"{prefix}-{op.name}")
            for op in self._enqueue_ops
        ]
        if coord:
            closing = (sess, self._cancel_op, coord)
            name = f"{prefix}-close_on_stop"
            threads.append(threading.Thread(target=self._close_on_stop, args=closing, name=name))
        for thread in threads:
            if coord:
                coord.register_thread(thread)
            if daemon:
                thread.daemon = True
            if start:
                thread.start()
        return threads

    def to_proto(self, export_scope: str | None = None) -> Any:
        """A QueueRunnerDef, or None when the queue is outside of `export_scope`."""
        from ...io import protos

        if export_scope is not None and not self.queue.name.startswith(export_scope):
            return None

        def name(thing: Any) -> str:
            return strip_name_scope(thing.name, export_scope)

        return protos.QueueRunnerDef(
            queue_name=name(self.queue),
            enqueue_op_name=[name(op) for op in self.enqueue_ops],
            close_op_name=name(self.close_op),
            cancel_op_name=name(self.cancel_op),
            queue_closed_exception_types=[
                errors.error_code_from_exception_type(kind)
                for kind in self._queue_closed_exception_types
            ],
        )

    @staticmethod
    def from_proto(queue_runner_def: object, import_scope: str | None = None) -> QueueRunner:
        """The runner that a QueueRunnerDef describes; its operations are in the graph already."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)


def _run_quietly(sess: BaseSession, op: Operation) -> None:
    """Runs an operation; failures to close a queue concern nobody."""
    try:
        sess.run(op)
    except Exception as error:
        get_logger().debug("Ignored exception: %s", error)


def add_queue_runner(qr: QueueRunner, collection: str = GraphKeys.QUEUE_RUNNERS) -> None:
    """Adds a runner to those that `start_queue_runners` starts (tf.train.add_queue_runner)."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: BaseSession | None = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = GraphKeys.QUEUE_RUNNERS,
) -> list[threading.Thread]:
    """Starts the threads of all queue runners of the graph (tf.train.start_queue_runners).

    Args:
        sess: the Session that they run in; the default session if None.
        coord: a tf.train.Coordinator that stops them.
        daemon: whether the program may end while they run.
        start: whether they are started; else only made.
        collection: the key of the runners.

    Returns:
        The list of threads.

    Raises:
        ValueError: there is no session.
        TypeError: `sess` is none.

    Example:
        >>> number = tf.train.range_input_producer(3, shuffle=False).dequeue()
        >>> coord, sess = tf.train.Coordinator(), tf.Session()
        >>> threads = tf.train.start_queue_runners(sess, coord)
        >>> [sess.run(number).item() for _ in range(4)]
        [0, 1, 2, 0]
        >>> coord.request_stop()
        >>> sess.close()
        >>> coord.join(threads)
    """
    if sess is None:
        sess = get_default_session()
        if not sess:
            raise ValueError(
                "Cannot start queue runners: No default session is registered. Use `with "
                "sess.as_default()` or pass an explicit session to "
                "tf.start_queue_runners(sess=sess)"
            )
    if not isinstance(sess, BaseSession):
        # These start their runners themselves.
        if type(sess).__name__ in ("MonitoredSession", "SingularMonitoredSession"):
            return []
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    # (TensorFlow tells of the default graph, and starts the runners of the session's.)
    if not get_collection(collection):
        get_logger().warning(
            "`tf.train.start_queue_runners()` was called when no queue runners were defined. You "
            "can safely remove the call to this deprecated function."
        )
    with sess.graph.as_default():
        return [
            thread
            for runner in get_collection(collection)
            for thread in runner.create_threads(sess, coord=coord, daemon=daemon, start=start)
        ]
