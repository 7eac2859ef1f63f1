# SPDX-License-Identifier: Apache-2.0
"""Training and evaluation of a graph under a supervisor, with monitors."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.graph.tensor import Tensor
from ....engine.interface import log
from ....io import protos
from ....ops.public import tf
from ....ops.summaries.api import merge_all
from ...checkpoints.checkpoint_utils import load_variable
from ...checkpoints.saver import Saver
from ...inputs.queue_runner_impl import start_queue_runners
from ...sessions.coordinator import Coordinator
from ...sessions.session_manager import SessionManager
from ...sessions.supervisor import Supervisor
from ...summaries.summary_io import SummaryWriterCache
from ..framework.variables import assert_or_get_global_step
from . import monitors as monitors_lib

if TYPE_CHECKING:
    from ....engine.graph.graph import Graph
    from ....engine.graph.operation import Operation
    from ....engine.session.session import BaseSession

_SPACE = "contrib.learn.graph_actions"
_GRACE_SECS = 120


@export(f"{_SPACE}.clear_summary_writers")
def clear_summary_writers() -> None:
    """Closes and forgets the writers of summaries."""
    SummaryWriterCache.clear()


@export(f"{_SPACE}.get_summary_writer")
def get_summary_writer(logdir: str) -> Any:
    """The one writer of summaries into a folder."""
    return SummaryWriterCache.get(logdir)


def _first(collection: str, make: Callable[[], Any] | None = None) -> Any:
    """The first of a collection; one that is made and added, or None, if there is none."""
    found = tf.get_collection(collection)
    if found or make is None:
        return found[0] if found else None
    made = make()
    if made is not None:
        tf.add_to_collection(collection, made)
    return made


def _make_saver(graph: Graph, keep_checkpoint_max: int = 5) -> Any:
    kept = [
        *graph.get_collection(GraphKeys.GLOBAL_VARIABLES),
        *graph.get_collection(GraphKeys.SAVEABLE_OBJECTS),
    ]
    return Saver(kept, sharded=True, max_to_keep=keep_checkpoint_max) if kept else None


def _run_with_monitors(
    session: Any, step: int, tensors: list[Any], feed_dict: Any, monitors: Sequence[Any]
) -> tuple[dict[Any, Any], bool]:
    """What a step gives, by the names of tensors, and whether a monitor stops."""
    for monitor in monitors:
        tensors = tensors + monitor.step_begin(step)
    wanted = list(dict.fromkeys(tensors))
    values = session.run(wanted, feed_dict=feed_dict)
    names = [one.name if isinstance(one, Tensor) else one for one in wanted]
    outputs = dict(zip(names, values))
    stops = [monitor.step_end(step, outputs) for monitor in monitors]
    return outputs, any(stops)


def _checked(graph: Any, output_dir: str, **needed: Any) -> Any:
    """The global step; ValueError for what is missing."""
    if not output_dir:
        raise ValueError(f"Output directory should be non-empty {output_dir}.")
    step = needed.pop("global_step_tensor")
    for name, value in needed.items():
        if value is None:
            raise ValueError(f"Missing {name}.")
    with graph.as_default():
        return assert_or_get_global_step(graph, step)


def _begun(
    monitors: Sequence[Any] | None,
    is_chief: bool,
    loss_op: Any,
    every: int,
    writer: Any,
    max_steps: int | None,
) -> list[Any]:
    """The monitors that watch, the usual ones if there are none."""
    found = list(monitors or ())
    if not found and is_chief:
        summary = _first(GraphKeys.SUMMARY_OP, merge_all)
        found = monitors_lib.get_default_monitors(loss_op, summary, every, summary_writer=writer)
    if not is_chief:
        found = [monitor for monitor in found if monitor.run_on_all_workers]
    for monitor in found:
        monitor.begin(max_steps=max_steps)
    return found


@export("contrib.learn.train", f"{_SPACE}.train")
def train(
    graph: Graph,
    output_dir: str,
    train_op: Any,
    loss_op: Any,
    global_step_tensor: Any = None,
    init_op: Any = None,
    init_feed_dict: dict[Any, Any] | None = None,
    init_fn: Callable[[Any], Any] | None = None,
    log_every_steps: int = 10,
    supervisor_is_chief: bool = True,
    supervisor_master: str = "",
    supervisor_save_model_secs: float = 600,
    keep_checkpoint_max: int = 5,
    supervisor_save_summaries_steps: int = 100,
    feed_fn: Callable[[], Any] | None = None,
    steps: int | None = None,
    fail_on_nan_loss: bool = True,
    monitors: Sequence[Any] | None = None,
    max_steps: int | None = None,
) -> Any:
    """Trains a graph (tf.contrib.learn.train).

    Args:
        graph: the graph.
        output_dir: the folder of checkpoints and events.
        train_op: what a step runs, which adds to the global step.
        loss_op: the loss.
        global_step_tensor: the global step; the graph's if None.
        init_op, init_feed_dict, init_fn: how variables begin, as of `tf.train.Supervisor`.
        log_every_steps: between lines in the log.
        supervisor_is_chief: whether this task writes checkpoints and summaries.
        supervisor_master: of the session.
        supervisor_save_model_secs: between checkpoints.
        keep_checkpoint_max: how many checkpoints stay.
        supervisor_save_summaries_steps: between summaries.
        feed_fn: gives the feeds of a step; StopIteration ends the training.
        steps: how many steps to make; until the input ends if None.
        fail_on_nan_loss: whether a loss that is no number is an error.
        monitors: monitors of tf.contrib.learn; the usual ones if None.
        max_steps: at which step to stop; instead of `steps`.

    Returns:
        The last loss.

    Raises:
        ValueError: something is missing, or `steps` and `max_steps` are both given.
        NanLossDuringTrainingError: the loss is no number.
    """
    if steps is not None and max_steps is not None:
        raise ValueError("Can not provide both steps and max_steps.")
    step = _checked(
        *(graph, output_dir),
        global_step_tensor=global_step_tensor,
        train_op=train_op,
        loss_op=loss_op,
    )
    if step is None:
        raise ValueError('No "global_step" was provided or found in the graph.')
    with graph.as_default():
        if max_steps is None and steps:
            max_steps = _saved_step(output_dir, step) + steps
        writer = get_summary_writer(output_dir) if supervisor_is_chief else None
        watching = _begun(
            *(monitors, supervisor_is_chief, loss_op, supervisor_save_summaries_steps),
            *(writer, max_steps),
        )
    options: dict[str, Any] = {"summary_op": None, "summary_writer": writer}
    if init_op is not None:
        options["init_op"] = init_op
    supervisor = Supervisor(
        graph,
        init_feed_dict=init_feed_dict,
        is_chief=supervisor_is_chief,
        logdir=output_dir,
        saver=_make_saver(graph, keep_checkpoint_max),
        global_step=step,
        save_model_secs=supervisor_save_model_secs,
        init_fn=init_fn,
        **options,
    )
    loop = _Training(supervisor, step, [train_op, loss_op], feed_fn, watching, max_steps)
    loop.log_every_steps, loop.fails_on_nan = log_every_steps, fail_on_nan_loss
    session = supervisor.PrepareSession(master=supervisor_master, start_standard_services=True)
    supervisor.StartQueueRunners(session)
    with session:
        return loop.run(session, supervisor_is_chief)


def _saved_step(output_dir: str, step: Any) -> int:
    try:
        return int(load_variable(output_dir, step.name))
    except (errors.NotFoundError, ValueError):
        return 0


class _Training:
    """The loop over steps.

    Args:
        supervisor: says when to stop.
        step: the global step.
        fetches: what a step runs, and the loss.
        feed_fn: gives feeds.
        monitors: that watch.
        max_steps: at which step to stop.
    """

    log_every_steps = 10
    fails_on_nan = True

    def __init__(
        self,
        supervisor: Supervisor,
        step: Any,
        fetches: list[Any],
        feed_fn: Callable[[], Any] | None,
        monitors: Sequence[Any],
        max_steps: int | None,
    ) -> None:
        self.supervisor = supervisor
        self.step = step
        self.fetches = fetches
        self.feed_fn = feed_fn
        self.monitors = monitors
        self.max_steps = max_steps
        self.loss: Any = None

    def run(self, session: Any, is_chief: bool) -> Any:
        """Trains, and writes a checkpoint; gives the last loss."""
        try:
            self._steps(session)
        except errors.OutOfRangeError as error:
            log.warn("Training stops, as a queue of inputs has ended: %s.", error)
        except StopIteration:
            log.info("Training stops, as the iterator of inputs has ended.")
        finally:
            is_failing = sys.exc_info()[0] is not None
            try:
                self._finish(session, is_chief)
            except errors.OutOfRangeError as error:
                log.warn("A queue of inputs has ended at the last checkpoint: %s.", error)
            except Exception as error:
                if not is_failing:
                    raise
                log.error("The last checkpoint could not be written: %s.", error)
        return self.loss

    def _steps(self, session: Any) -> None:
        step = logged = session.run(self.step)
        end = self.max_steps
        log.info("Training steps [%d,%s)", step, "inf" if end is None else end)
        while not self.supervisor.ShouldStop() and (end is None or step < end):
            start = time.time()
            feeds = self.feed_fn() if self.feed_fn is not None else None
            outputs, stops = _run_with_monitors(
                session, step + 1, self.fetches, feeds, self.monitors
            )
            self._look_at(outputs[self.fetches[1].name])
            if stops:
                return
            before, step = step, session.run(self.step)
            if step <= before:
                log.error(
                    "Global step was not incremented by train op at step %s: new step %d",
                    *(before, step),
                )
            if (end is not None and step >= end) or step - logged >= self.log_every_steps:
                seconds = time.time() - start
                log.info(
                    "training step %d, loss = %.5f (%.3f sec/batch).", step, self.loss, seconds
                )
                logged = step

    def _look_at(self, loss: Any) -> None:
        self.loss = loss
        if np.isnan(loss):
            message = "Model diverged with loss = NaN."
            if self.fails_on_nan:
                log.error(message)
                raise monitors_lib.NanLossDuringTrainingError
            log.warning(message)

    def _finish(self, session: BaseSession, is_chief: bool) -> None:
        self.supervisor.Stop(close_summary_writer=False)
        step = session.run(self.step)
        if is_chief:
            path = self.supervisor.save_path
            log.info("Saving checkpoint for step %d to checkpoint: %s.", step, path)
            self.supervisor.saver.save(session, path, global_step=step)
            for monitor in self.monitors:
                monitor.end()


def _told(results: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in sorted(results.items()))


def _write_summary_results(output_dir: str, results: dict[str, Any], step: Any) -> None:
    """Writes the numbers among results as a summary."""
    log.info("Saving evaluation summary for step %d: %s", step, _told(results))
    writer = get_summary_writer(output_dir)
    summary = protos.Summary()
    for key, value in results.items():
        if value is None:
            continue
        made = summary.value.add(tag=key)
        if isinstance(value, (float, np.float32)):
            made.simple_value = float(value)
        else:
            log.warn("Skipping summary for %s, must be a float or np.float32.", key)
    writer.add_summary(summary, step)
    writer.flush()


def _local_init() -> Operation:
    return tf.group(tf.local_variables_initializer(), tf.tables_initializer())


def _saver_of_graph() -> Any:
    return Saver() if tf.global_variables() else None


@export("contrib.learn.evaluate", f"{_SPACE}.evaluate")
def evaluate(
    graph: Graph,
    output_dir: str,
    checkpoint_path: str | None,
    eval_dict: dict[str, Any],
    update_op: Any = None,
    global_step_tensor: Any = None,
    supervisor_master: str = "",
    log_every_steps: int = 10,
    feed_fn: Callable[[], Any] | None = None,
    max_steps: int | None = None,
) -> tuple[Any, Any]:
    """What tensors are after some steps, or when the input ends (tf.contrib.learn.evaluate).

    Args:
        graph: the graph.
        output_dir: the folder of the summary.
        checkpoint_path: a checkpoint, or a folder of some; variables are initialized if it has
            none.
        eval_dict: tensors by name.
        update_op: what a step runs; the tensors if None.
        global_step_tensor: the global step; the graph's if None.
        supervisor_master: of the session.
        log_every_steps: between lines in the log.
        feed_fn: gives the feeds of a step; StopIteration ends the evaluation.
        max_steps: how many steps to make; until the input ends if None.

    Returns:
        The values by name, and the global step.

    Raises:
        ValueError: the folder is missing.
    """
    step = _checked(graph, output_dir, global_step_tensor=global_step_tensor)
    with graph.as_default():
        saver = _first(GraphKeys.SAVERS, _saver_of_graph)
        manager = SessionManager(
            local_init_op=_first(GraphKeys.LOCAL_INIT_OP, _local_init),
            ready_op=_first(GraphKeys.READY_OP, tf.report_uninitialized_variables),
            ready_for_local_init_op=_first(GraphKeys.READY_FOR_LOCAL_INIT_OP),
        )
        session, is_initialized = manager.recover_session(
            master=supervisor_master, saver=saver, checkpoint_dir=checkpoint_path
        )
        coordinator = Coordinator()
        threads = start_queue_runners(session, coordinator)
        with session:
            if not is_initialized:
                log.warning("Failed to initialize from %s.", checkpoint_path)
                session.run(tf.global_variables_initializer())
                if checkpoint_path and saver is not None:
                    saver.restore(session, checkpoint_path)
            current = session.run(step)
            loop = _Evaluation(session, eval_dict, update_op, feed_fn, log_every_steps)
            results = loop.run(max_steps, current, coordinator, threads)
    _write_summary_results(output_dir, results, current)
    return results, current


class _Evaluation:
    """The loop over steps of an evaluation, whose arguments it takes."""

    def __init__(
        self,
        session: Any,
        eval_dict: dict[str, Any],
        update_op: Any,
        feed_fn: Callable[[], Any] | None,
        log_every_steps: int,
    ) -> None:
        self.session = session
        self.eval_dict = eval_dict
        self.update_op = update_op
        self.feed_fn = feed_fn
        self.log_every_steps = log_every_steps
        self.results: Any = None
        self.step, self.of_step = 0, -1
        self.feeds: Any = None

    def run(
        self, max_steps: int | None, current: Any, coordinator: Coordinator, threads: list[Any]
    ) -> Any:
        """Makes the steps, closes the session and gives the values."""
        end = "inf" if max_steps is None else max_steps
        log.info("Eval steps [%d,%s) for training step %d.", 0, end, current)
        tell = log.info if max_steps is None else log.warn
        try:
            try:
                while max_steps is None or self.step < max_steps:
                    self._make_step()
            finally:
                self._compute()
                self.session.close()
                self._join(coordinator, threads)
        except errors.OutOfRangeError as error:
            tell("Input queue is exhausted: %s.", error)
        except StopIteration as error:
            tell("Input iterator is exhausted: %s.", error)
        return self.results

    def _make_step(self) -> None:
        self.step += 1
        start = time.time()
        self.feeds = self.feed_fn() if self.feed_fn is not None else None
        if self.update_op is not None:
            self.session.run(self.update_op, feed_dict=self.feeds)
        else:
            self._compute()
        if self.step % self.log_every_steps == 0:
            self._compute()
            seconds = time.time() - start
            log.info(
                "Results after %d steps (%.3f sec/batch): %s.",
                *(self.step, seconds, _told(self.results)),
            )

    def _compute(self) -> None:
        """Computes the values, unless those of this step are there."""
        if self.results is None or self.of_step != self.step:
            self.results = self.session.run(self.eval_dict, feed_dict=self.feeds)
            self.of_step = self.step

    def _join(self, coordinator: Coordinator, threads: list[Any]) -> None:
        try:
            coordinator.request_stop()
            coordinator.join(threads, stop_grace_period_secs=_GRACE_SECS)
        except (RuntimeError, errors.CancelledError) as error:
            log.warning("Coordinator didn't stop cleanly: %s", error)
