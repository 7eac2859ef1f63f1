# SPDX-License-Identifier: Apache-2.0
"""Hooks that write: checkpoints, summaries, the speed of training, profiles."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys, get_collection
from ...engine.graph.defaults import get_default_graph
from ...engine.interface import log
from ...io import protos
from ...io.files import GFile
from ...io.graph_def import write_graph
from ...io.meta_graph import create_meta_graph_def
from ..summaries.summary_io import SummaryWriterCache
from ..variables.global_step import get_global_step
from .hook_timers import SecondOrStepTimer, global_step_read
from .session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession
    from .coordinator import Coordinator
    from .session_run_hook import SessionRunContext, SessionRunValues


class CheckpointSaverListener:
    """Told of every checkpoint that a CheckpointSaverHook saves.

    (tf.train.CheckpointSaverListener)
    """

    def begin(self) -> None:
        """When the hook begins."""

    def before_save(self, session: BaseSession, global_step_value: int) -> None:
        """Before a checkpoint is written."""

    def after_save(self, session: BaseSession, global_step_value: int) -> Any:
        """After a checkpoint was written; True asks to stop."""

    def end(self, session: BaseSession, global_step_value: int) -> None:
        """At the end, after the last checkpoint."""


class CheckpointSaverHook(SessionRunHook):
    """Saves checkpoints every so many steps or seconds, and the last (tf.train...).

    The saver is that given, or of the scaffold, or the one in the graph's collection.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: int | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
        listeners: Any = None,
    ) -> None:
        log.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = checkpoint_dir
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)
        self._listeners = listeners or []
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        self._summary_writer = SummaryWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = global_step_read("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: BaseSession, coord: Coordinator) -> None:
        step = session.run(self._global_step_tensor)
        graph = get_default_graph()
        # The graph is finished only now: other hooks may have added to it.
        message = graph.as_graph_def(add_shapes=True)
        write_graph(message, self._checkpoint_dir, "graph.pbtxt")
        saver = self._get_saver()
        saver_def = saver.saver_def if saver else None
        meta_graph_def = create_meta_graph_def(graph_def=message, saver_def=saver_def)
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(meta_graph_def)
        # The state before the first step is saved too, for a session that is lost before the next
        # save.
        self._save(session, step)
        self._timer.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        # A first look without another run: the step that was read before this run, and what it
        # adds.
        if not self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            return
        # The value was read before the step.
        step = run_context.session.run(self._global_step_tensor)
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._save(run_context.session, step):
                run_context.request_stop()

    def end(self, session: BaseSession) -> None:
        step = session.run(self._global_step_tensor)
        if step != self._timer.last_triggered_step():
            self._save(session, step)
        for listener in self._listeners:
            listener.end(session, step)

    def _save(self, session: BaseSession, step: int) -> bool:
        """Saves a checkpoint; whether a listener asks to stop."""
        log.info("Saving checkpoints for %d into %s.", step, self._save_path)
        for listener in self._listeners:
            listener.before_save(session, step)
        self._get_saver().save(session, self._save_path, global_step=step)
        kind = protos.SessionLog
        self._summary_writer.add_session_log(
            kind(status=kind.CHECKPOINT, checkpoint_path=self._save_path), step
        )
        asked = [listener for listener in self._listeners if listener.after_save(session, step)]
        for listener in asked:
            text = "A CheckpointSaverListener requested that training be stopped. listener"
            log.info(f"{text}: {listener}")
        return bool(asked)

    def _get_saver(self) -> Any:
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None:
            return self._scaffold.saver
        key = GraphKeys.SAVERS
        savers = get_collection(key)
        if not savers:
            raise RuntimeError(
                f"No items in collection {key}. Please add a saver to the collection or provide a "
                "saver or scaffold."
            )
        if len(savers) > 1:
            raise RuntimeError(
                f"More than one item in collection {key}. Please indicate which one to use by "
                "passing it to the constructor."
            )
        self._saver = savers[0]
        return self._saver


class StepCounterHook(SessionRunHook):
    """Logs and writes how many steps are made in a second (tf.train.StepCounterHook)."""

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: int | None = None
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = SummaryWriterCache.get(self._output_dir)
        self._global_step_tensor = global_step_read("StepCounterHook")
        self._summary_tag = f"{get_global_step().op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        speed = elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            kind = protos.Summary
            summary = kind(value=[kind.Value(tag=self._summary_tag, simple_value=speed)])
            self._summary_writer.add_summary(summary, global_step)
        log.info("%s: %g", self._summary_tag, speed)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        stale = run_values.results
        if self._timer.should_trigger_for_step(stale + self._steps_per_run):
            # The value was read before the step.
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds is not None and steps is not None:
                    self._log_and_record(steps, seconds, step)
        if stale == self._last_global_step:
            log.log_first_n(
                log.WARN,
                "It seems that global step (tf.train.get_global_step) has not been increased. "
                "Current value (could be stable): %s vs previous value: %s. You could increase "
                "the global step by passing tf.train.get_global_step() to "
                "Optimizer.apply_gradients or Optimizer.minimize.",
                *(5, stale, self._last_global_step),
            )
        self._last_global_step = stale


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds (tf.train.SummarySaverHook).

    They are those of `summary_op` (one or a list), or of the scaffold.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Any = None,
        summary_op: Any = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = SummaryWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._global_step_tensor = global_step_read("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._request_summary = self._next_step is None or self._timer.should_trigger_for_step(
            self._next_step
        )
        requests = {"global_step": self._global_step_tensor}
        operations = self._get_summary_op() if self._request_summary else None
        if operations is not None:
            requests["summary"] = operations
        return SessionRunArgs(requests)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not self._summary_writer:
            return
        step = run_values.results["global_step"] + 1
        if self._next_step is None or self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            kind = protos.SessionLog
            self._summary_writer.add_session_log(kind(status=kind.START), step)
        if self._request_summary:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: BaseSession | None = None) -> None:
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self) -> list[Any] | None:
        found = self._scaffold.summary_op if self._summary_op is None else self._summary_op
        return found if found is None or isinstance(found, list) else [found]


class ProfilerHook(SessionRunHook):
    """Writes a timeline of a run every so many steps or seconds (tf.train.ProfilerHook).

    Each is a file timeline-<step>.json in `output_dir`, which Chrome's tracing shows.
    """

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str = "",
        show_dataflow: bool = True,
        show_memory: bool = False,
    ) -> None:
        self._output_file = os.path.join(output_dir, "timeline-{}.json")
        self._file_writer = SummaryWriterCache.get(output_dir)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory
        self._timer = SecondOrStepTimer(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        self._next_step: int | None = None
        self._global_step_tensor = global_step_read("ProfilerHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._request_summary = self._next_step is not None and self._timer.should_trigger_for_step(
            self._next_step
        )
        kind = protos.RunOptions
        options = kind(trace_level=kind.FULL_TRACE) if self._request_summary else None
        return SessionRunArgs({"global_step": self._global_step_tensor}, options=options)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        stale = run_values.results["global_step"]
        if self._next_step is None:
            # The first step is slower than others.
            self._timer.update_last_triggered_step(stale)
        step = stale + 1
        if self._request_summary:
            step = run_context.session.run(self._global_step_tensor)
            self._timer.update_last_triggered_step(step)
            metadata = run_values.run_metadata
            self._save(step, self._output_file.format(step), metadata.step_stats)
            self._file_writer.add_run_metadata(metadata, f"step_{step}")
        self._next_step = step + 1

    def _save(self, step: int, save_path: str, step_stats: object) -> None:
        from ...io.timeline import Timeline

        log.info("Saving timeline for %d into '%s'.", step, save_path)
        with GFile(save_path, "w") as file:
            file.write(
                Timeline(step_stats).generate_chrome_trace_format(
                    show_dataflow=self._show_dataflow, show_memory=self._show_memory
                )
            )
