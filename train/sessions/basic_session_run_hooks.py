# SPDX-License-Identifier: Apache-2.0
"""Hooks that watch a run: logging, stopping, waiting, feeding.  Those that write are imported too.

All need the global step to exist when their session begins, unless said otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...engine import errors
from ...engine.graph.collections import GraphKeys
from ...engine.graph.defaults import get_default_graph
from ...engine.interface import log
from ...engine.types import dtypes
from ...ops.public import tf
from ..variables.global_step import get_global_step
from .hook_timers import NeverTriggerTimer, SecondOrStepTimer, global_step_read
from .hooks_writing import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    ProfilerHook,
    StepCounterHook,
    SummarySaverHook,
)
from .session_run_hook import SessionRunArgs, SessionRunHook

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.graph.tensor import Tensor
    from ...engine.session.session import BaseSession
    from .coordinator import Coordinator
    from .session_run_hook import SessionRunContext, SessionRunValues

__all__ = [
    "CheckpointSaverHook",
    "CheckpointSaverListener",
    "FeedFnHook",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LoggingTensorHook",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "NeverTriggerTimer",
    "ProfilerHook",
    "SecondOrStepTimer",
    "StepCounterHook",
    "StopAtStepHook",
    "SummarySaverHook",
    "get_or_create_steps_per_run_variable",
]

_STEPS_PER_RUN = "hooks_steps_per_run"
# Seconds between two looks at a step that others count.
_LOOK = 0.5


class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors every so many runs or seconds (tf.train.LoggingTensorHook).

    tensors: a dictionary from tags to tensors (or their names), or a list of them.  at_end: also
    (or only) at the end.  formatter: makes the text of a dictionary of values.
    """

    def __init__(
        self,
        tensors: dict[Any, Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be "
                "provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, dict):
            self._tag_order = sorted(tensors.keys())
        else:
            self._tag_order = tensors
            tensors = {item: item for item in tensors}
        self._tensors = tensors
        self._formatter = formatter
        self._timer: Any = NeverTriggerTimer()
        if not only_at_end:
            self._timer = SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        self._log_at_end = at_end
        self._iter_count = 0
        self._should_trigger = False

    def begin(self) -> None:
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {
            tag: _as_graph_element(tensor) for tag, tensor in self._tensors.items()
        }

    def before_run(self, run_context: SessionRunContext) -> Any:
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def _log_tensors(self, values: dict[Any, Any]) -> None:
        seconds, _ = self._timer.update_last_triggered_step(self._iter_count)
        # As TensorFlow prints them: 0.0001, not 1e-04.
        with np.printoptions(suppress=True):
            if self._formatter:
                log.info(self._formatter(values))
                return
            text = ", ".join(f"{tag} = {values[tag]}" for tag in self._tag_order)
            if seconds is None:
                log.info("%s", text)
            else:
                log.info("%s (%.3f sec)", text, seconds)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: BaseSession) -> None:
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))


def _as_graph_element(thing: Tensor) -> Any:
    """A tensor or operation of the default graph, or the one with a name."""
    graph = get_default_graph()
    if not isinstance(thing, str):
        if getattr(thing, "graph", None) is not graph:
            raise ValueError(
                f"Passed {thing} should have graph attribute that is equal to current graph "
                f"{graph}."
            )
        return thing
    if ":" in thing:
        return graph.as_graph_element(thing)
    element = graph.as_graph_element(f"{thing}:0")
    if len(element.op.outputs) > 1:
        raise ValueError(
            f"Name {thing} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return element


def get_or_create_steps_per_run_variable() -> Any:
    """The local variable that says how many steps one run makes."""
    found = get_default_graph().get_collection(_STEPS_PER_RUN)
    if len(found) > 1:
        raise RuntimeError("Multiple steps_per_run_var in collection.")
    if found:
        return found[0]
    with tf.variable_scope("hooks", reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            "steps_per_run",
            initializer=tf.ones_initializer(),
            shape=[],
            dtype=dtypes.int32,
            trainable=False,
            collections=[_STEPS_PER_RUN, GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


def _require_one_limit(num_steps: int | None, last_step: int | None) -> None:
    if num_steps is None and last_step is None:
        raise ValueError("One of num_steps or last_step must be specified.")
    if num_steps is not None and last_step is not None:
        raise ValueError("Only one of num_steps or last_step can be specified.")


class _MultiStepStopAtStepHook(SessionRunHook):
    """Like StopAtStepHook where a run makes several steps: the last run makes fewer."""

    def __init__(
        self, num_steps: int | None = None, last_step: int | None = None, steps_per_run: int = 1
    ) -> None:
        _require_one_limit(num_steps, last_step)
        if steps_per_run is None or steps_per_run < 1:
            raise ValueError("steps_per_run should be greater than 0")
        self._num_steps, self._last_step = num_steps, last_step
        self._steps_per_run_initial_value = steps_per_run

    def begin(self) -> None:
        self._global_step_tensor = get_global_step()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use StopAtStepHook.")
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def _update_steps_per_run_variable(self, global_step: int, session: BaseSession) -> None:
        assert self._last_step is not None
        steps = min(self._last_step - global_step, self._steps_per_run_initial_value)
        self._steps_per_run_variable.load(steps, session=session)

    def after_create_session(self, session: BaseSession, coord: Coordinator) -> None:
        step = session.run(self._global_step_tensor)
        if self._last_step is None:
            self._last_step = step + self._num_steps
        self._update_steps_per_run_variable(step, session)

    def after_run(self, run_context: SessionRunContext, run_values: object) -> None:
        step = run_context.session.run(self._global_step_tensor)
        if step >= self._last_step:
            run_context.request_stop()
        else:
            self._update_steps_per_run_variable(step, run_context.session)


class StopAtStepHook(SessionRunHook):
    """Stops after `num_steps` more steps, or at `last_step` (tf.train.StopAtStepHook)."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        _require_one_limit(num_steps, last_step)
        self._num_steps, self._last_step = num_steps, last_step

    def begin(self) -> None:
        self._global_step_tensor = global_step_read("StopAtStepHook")

    def after_create_session(self, session: BaseSession, coord: Coordinator) -> None:
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results + 1 >= self._last_step:
            # The value was read before the step: other workers may count, or nobody did.
            step = run_context.session.run(self._global_step_tensor)
            if step >= self._last_step:
                run_context.request_stop()


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number (tf.train.NanLossDuringTrainingError)."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Fails (or stops) when a loss is not a number (tf.train.NanTensorHook).  Needs no step."""

    def __init__(self, loss_tensor: TensorLike, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not np.isnan(run_values.results):
            return
        text = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            log.error(text)
            raise NanLossDuringTrainingError
        log.warning(text)
        # Not an error for the user: the model is what it is.
        run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Begins when the global step, counted by others, has come far enough.

    (tf.train.GlobalStepWaiterHook)
    """

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        self._worker_is_started = False
        self._global_step_tensor = global_step_read("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> None:
        if self._worker_is_started:
            return
        if self._wait_until_step > 0:
            self._wait(run_context.session)
        self._worker_is_started = True

    def _wait(self, session: BaseSession) -> None:
        text = "Waiting for global step %d before starting training."
        log.info(text, self._wait_until_step)
        logged = 0
        while (step := session.run(self._global_step_tensor)) < self._wait_until_step:
            if step - logged > 1000:
                log.info(f"{text} Current step is %d.", self._wait_until_step, step)
                logged = step
            time.sleep(_LOOK)


class FinalOpsHook(SessionRunHook):
    """Runs something at the end and keeps its values (tf.train.FinalOpsHook).  Needs no step."""

    def __init__(self, final_ops: TensorLike, final_ops_feed_dict: object = None) -> None:
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        """The values, after the end."""
        return self._final_ops_values

    def end(self, session: BaseSession) -> None:
        if self._final_ops is None:
            return
        try:
            feed = self._final_ops_feed_dict
            self._final_ops_values = session.run(self._final_ops, feed_dict=feed)
        except (errors.OutOfRangeError, StopIteration):
            log.warning(
                "FinalOpsHook: what runs at the end took more input, and there is none left. It "
                "must have no dependency back to some input source: of a metric fetch the value, "
                "not the update."
            )
            raise


class FeedFnHook(SessionRunHook):
    """Feeds every run with what a function returns (tf.train.FeedFnHook).  Needs no step."""

    def __init__(self, feed_fn: Callable[[], Any]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
