# SPDX-License-Identifier: Apache-2.0
"""`Supervisor`: initializes a model, saves it and its summaries in threads, ends them together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys, add_to_collection, get_collection
from ...engine.graph.defaults import get_default_graph
from ...engine.interface import log
from ...engine.types import dtypes
from ...io import protos
from ...io.graph_def import write_graph
from ...io.meta_graph import create_meta_graph_def
from ...ops.public import tf
from ...ops.summaries.api import merge_all
from ..checkpoints.saver import Saver
from ..summaries.summary_io import FileWriter
from ..variables.global_step import global_step as value_of_step
from .coordinator import Coordinator, LooperThread
from .session_manager import SessionManager

if TYPE_CHECKING:
    from ...engine.graph.operation import Operation
    from ...engine.session.session import BaseSession

_USE_DEFAULT = 0


class Supervisor:
    """Runs a training program: sessions, checkpoints, summaries (tf.train.Supervisor).

    Operations left to the default are those in the graph's collections, or made.  None does
    without.  The graph is finished by the constructor.
    """

    USE_DEFAULT = _USE_DEFAULT

    def __init__(
        self,
        graph: Any = None,
        ready_op: int = _USE_DEFAULT,
        ready_for_local_init_op: int = _USE_DEFAULT,
        is_chief: bool = True,
        init_op: int = _USE_DEFAULT,
        init_feed_dict: Any = None,
        local_init_op: int = _USE_DEFAULT,
        logdir: str | None = None,
        summary_op: int = _USE_DEFAULT,
        saver: int = _USE_DEFAULT,
        global_step: int = _USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: Any = None,
        summary_writer: int = _USE_DEFAULT,
        init_fn: Callable[[Any], Any] | None = None,
        local_init_run_options: Any = None,
    ) -> None:
        graph = get_default_graph() if graph is None else graph
        with graph.as_default():
            self._ready_op = _chosen(
                ready_op, GraphKeys.READY_OP, tf.report_uninitialized_variables
            )
            self._ready_for_local_init_op = _chosen(
                ready_for_local_init_op, GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: None
            )
            self._init_op = _chosen(init_op, GraphKeys.INIT_OP, tf.global_variables_initializer)
            self._init_feed_dict = init_feed_dict
            self._local_init_op = _chosen(local_init_op, GraphKeys.LOCAL_INIT_OP, _local_init_op)
            self._saver = _chosen(saver, GraphKeys.SAVERS, _saver)
            self._summary_op = _chosen(summary_op, GraphKeys.SUMMARY_OP, merge_all)
            self._global_step = _chosen(global_step, GraphKeys.GLOBAL_STEP, _global_step)
        self._graph = graph
        self._meta_graph_def = create_meta_graph_def(
            graph_def=graph.as_graph_def(add_shapes=True),
            saver_def=self._saver.saver_def if self._saver else None,
        )
        self._is_chief = is_chief
        self._coord = Coordinator()
        self._stop_grace_secs = stop_grace_secs
        self._init_fn = init_fn
        self._logdir: Any = None
        self._save_summaries_secs: float | None = None
        self._save_model_secs: float | None = None
        self._save_path: str | None = None
        self._summary_writer: Any = None
        # Only the chief writes.
        if is_chief:
            self._write_to(logdir, checkpoint_basename, summary_writer)
            self._save_summaries_secs = save_summaries_secs
            self._save_model_secs = save_model_secs
        self._session_manager = session_manager
        if session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._local_init_op,
                ready_op=self._ready_op,
                ready_for_local_init_op=self._ready_for_local_init_op,
                graph=graph,
                recovery_wait_secs=recovery_wait_secs,
                local_init_run_options=local_init_run_options,
            )
        self._verify_setup()
        graph.finalize()

    def _write_to(self, logdir: Any, basename: str, summary_writer: int) -> None:
        self._logdir = logdir
        if logdir:
            self._save_path = os.path.join(logdir, basename)
        if summary_writer is not _USE_DEFAULT:
            self._summary_writer = summary_writer
        elif logdir:
            self._summary_writer = FileWriter(logdir)
        self._graph_added_to_summary = False

    def _verify_setup(self) -> None:
        """Variables of several tasks must say where they are."""
        for op in () if self._is_chief else self._graph.get_operations():
            # Without a device a variable would be placed in each task's own process, and not
            # shared.
            if op.type in ("Variable", "VariableV2") and not op.device:
                raise ValueError(
                    f"When using replicas, all Variables must have their device set: {op}"
                )

    @property
    def is_chief(self) -> bool:
        """Whether this task initializes and writes."""
        return self._is_chief

    @property
    def session_manager(self) -> Any:
        """What makes sessions."""
        return self._session_manager

    @property
    def coord(self) -> Coordinator:
        """The coordinator of the threads."""
        return self._coord

    @property
    def init_op(self) -> Any:
        """Initializes the model."""
        return self._init_op

    @property
    def init_feed_dict(self) -> Any:
        """What `init_op` is fed."""
        return self._init_feed_dict

    @property
    def ready_op(self) -> Any:
        """The names of what is not initialized."""
        return self._ready_op

    @property
    def ready_for_local_init_op(self) -> Any:
        """The names of what must be initialized before the local initializer."""
        return self._ready_for_local_init_op

    @property
    def summary_writer(self) -> Any:
        """Where summaries go, or None."""
        return self._summary_writer

    @property
    def summary_op(self) -> Any:
        """All summaries in one, or None."""
        return self._summary_op

    @property
    def save_summaries_secs(self) -> float | None:
        """Seconds between summaries."""
        return self._save_summaries_secs

    @property
    def global_step(self) -> Any:
        """The global step, or None."""
        return self._global_step

    @property
    def saver(self) -> Any:
        """The saver, or None."""
        return self._saver

    @property
    def save_model_secs(self) -> float | None:
        """Seconds between checkpoints."""
        return self._save_model_secs

    @property
    def save_path(self) -> str | None:
        """The prefix of checkpoints."""
        return self._save_path

    def _write_graph(self) -> None:
        assert self._is_chief
        if self._logdir:
            message = self._graph.as_graph_def(add_shapes=True)
            write_graph(message, self._logdir, "graph.pbtxt")
        if self._summary_writer and not self._graph_added_to_summary:
            self._summary_writer.add_graph(self._graph)
            self._summary_writer.add_meta_graph(self._meta_graph_def)
            self._graph_added_to_summary = True

    def start_standard_services(self, sess: BaseSession) -> Any:
        """Starts the threads that save summaries, checkpoints and the speed; chief only."""
        if not self._is_chief:
            raise RuntimeError(
                "Only chief supervisor can start standard services. Because only chief "
                "supervisors can write events."
            )
        if not self._logdir:
            log.warning("Standard services need a 'logdir' passed to the SessionManager")
            return None
        has_step = self._global_step is not None
        if has_step and self._summary_writer:
            kind = protos.SessionLog
            step = value_of_step(sess, self._global_step)
            self._summary_writer.add_session_log(kind(status=kind.START), step)
        threads: list[LooperThread] = []
        if self._save_summaries_secs and self._summary_writer:
            if self._summary_op is not None:
                threads.append(SVSummaryThread(self, sess))
            if has_step:
                threads.append(SVStepCounterThread(self, sess))
        if self.saver and self._save_model_secs:
            threads.append(SVTimerCheckpointThread(self, sess))
        for thread in threads:
            thread.start()
        return threads

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: Any = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Any:
        """A session with a model that is ready, with its threads started."""
        # A second session of the same supervisor begins anew.
        self._coord.clear_stop()
        if self._summary_writer:
            self._summary_writer.reopen()
        if self._is_chief:
            sess = self._session_manager.prepare_session(
                master,
                init_op=self.init_op,
                saver=self.saver,
                checkpoint_dir=self._logdir,
                wait_for_checkpoint=wait_for_checkpoint,
                max_wait_secs=max_wait_secs,
                config=config,
                init_feed_dict=self._init_feed_dict,
                init_fn=self._init_fn,
            )
            self._write_graph()
            if start_standard_services:
                log.info("Starting standard services.")
                self.start_standard_services(sess)
        else:
            sess = self._session_manager.wait_for_session(
                master, config=config, max_wait_secs=max_wait_secs
            )
        if start_standard_services:
            log.info("Starting queue runners.")
            self.start_queue_runners(sess)
        return sess

    def start_queue_runners(self, sess: BaseSession, queue_runners: Any = None) -> list[Any]:
        """Starts the threads of the graph's queue runners, or of those given."""
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        return [
            thread
            for runner in queue_runners
            for thread in runner.create_threads(sess, coord=self._coord, daemon=True, start=True)
        ]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Any = None,
        kwargs: Any = None,
    ) -> LooperThread:
        """Starts a thread that calls a function every so many seconds."""
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(
        self,
        threads: Any = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """Ends all threads; raises what one of them reported."""
        self._coord.request_stop()
        try:
            self._coord.join(
                threads,
                stop_grace_period_secs=self._stop_grace_secs,
                ignore_live_threads=ignore_live_threads,
            )
        finally:
            if close_summary_writer and self._summary_writer:
                kind = protos.SessionLog
                self._summary_writer.add_session_log(kind(status=kind.STOP))
                self._summary_writer.close()
                self._graph_added_to_summary = False

    def request_stop(self, ex: object = None) -> None:
        """See Coordinator.request_stop."""
        self._coord.request_stop(ex=ex)

    def should_stop(self) -> bool:
        """See Coordinator.should_stop."""
        return self._coord.should_stop()

    def stop_on_exception(self) -> Any:
        """See Coordinator.stop_on_exception."""
        return self._coord.stop_on_exception()

    def wait_for_stop(self) -> None:
        """See Coordinator.wait_for_stop."""
        self._coord.wait_for_stop()

    def summary_computed(
        self, sess: BaseSession, summary: object, global_step: int | None = None
    ) -> None:
        """Writes a summary."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self.global_step is not None:
            global_step = value_of_step(sess, self.global_step)
        self._summary_writer.add_summary(summary, global_step)

    @contextmanager
    def managed_session(
        self,
        master: str = "",
        config: object = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Any]:
        """A context with a session; at the end threads are ended and failures raised."""
        sess = None
        try:
            sess = self.prepare_or_wait_for_session(
                master=master, config=config, start_standard_services=start_standard_services
            )
            yield sess
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                # Raises what was reported, above or by a thread.
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if sess is not None:
                    sess.close()

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    RequestStop = request_stop
    Loop = loop
    ShouldStop = should_stop
    StopOnException = stop_on_exception
    WaitForStop = wait_for_stop
    SummaryComputed = summary_computed


def _chosen(given: int, key: str, make: Callable[[], Any]) -> Any:
    """What was given, or the first of a collection, or what is made for it."""
    if given is not _USE_DEFAULT:
        return given
    found = get_collection(key)
    if len(found) > 1:
        log.info("Found %d %s operations. Returning the first one.", len(found), key)
    if found:
        return found[0]
    made = make()
    if made is not None:
        add_to_collection(key, made)
    return made


def _local_init_op() -> Operation:
    return tf.group(tf.local_variables_initializer(), tf.tables_initializer())


def _saver() -> Any:
    return Saver() if tf.global_variables() else None


def _global_step() -> Any:
    """The tensor that programs call "global_step", if it counts."""
    try:
        step = get_default_graph().get_tensor_by_name("global_step:0")
    except KeyError:
        return None
    if step.dtype.base_dtype in (dtypes.int32, dtypes.int64):
        return step
    log.warning("Found 'global_step' is not an int type: %s", step.dtype)
    return None


class SVSummaryThread(LooperThread):
    """Writes summaries every so many seconds."""

    def __init__(self, sv: Supervisor, sess: BaseSession) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        step = None
        if self._sv.global_step is None:
            summary = self._sess.run(self._sv.summary_op)
        else:
            summary, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        if self._sv.summary_writer:
            log.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summary, step)


class SVStepCounterThread(LooperThread):
    """Writes how many steps are made in a second."""

    def __init__(self, sv: Supervisor, sess: BaseSession, step_counter: Any = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv, self._sess = sv, sess
        self._last_time, self._last_step = 0.0, 0
        self._step_counter = sv.global_step if step_counter is None else step_counter
        self._summary_tag = f"{self._step_counter.op.name}/sec"

    def start_loop(self) -> None:
        self._last_time = time.time()
        self._last_step = value_of_step(self._sess, self._step_counter)

    def run_loop(self) -> None:
        step, now = value_of_step(self._sess, self._step_counter), time.time()
        steps, seconds = step - self._last_step, now - self._last_time
        self._last_step, self._last_time = step, now
        speed = steps / seconds if seconds > 0 else float("inf")
        kind = protos.Summary
        summary = kind(value=[kind.Value(tag=self._summary_tag, simple_value=speed)])
        if self._sv.summary_writer:
            self._sv.summary_writer.add_summary(summary, step)
        log.log_first_n(log.INFO, "%s: %g", 10, self._summary_tag, speed)


class SVTimerCheckpointThread(LooperThread):
    """Saves checkpoints every so many seconds."""

    def __init__(self, sv: Supervisor, sess: BaseSession) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv, self._sess = sv, sess

    def run_loop(self) -> None:
        log.info("Saving checkpoint to path %s", self._sv.save_path)
        self._sv.saver.save(self._sess, self._sv.save_path, global_step=self._sv.global_step)
        if self._sv.summary_writer and self._sv.global_step is not None:
            step = value_of_step(self._sess, self._sv.global_step)
            kind = protos.SessionLog
            self._sv.summary_writer.add_session_log(
                kind(status=kind.CHECKPOINT, checkpoint_path=self._sv.save_path), step
            )
