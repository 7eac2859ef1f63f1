# SPDX-License-Identifier: Apache-2.0
"""Hooks of Estimators: evaluation within training, and an end that is agreed on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...engine.api import constant, export
from ...ops.public import tf
from ..sessions import basic_session_run_hooks, hook_timers, hooks_writing, session_run_hook
from ..sessions.basic_session_run_hooks import StopAtStepHook
from ..sessions.hook_timers import SecondOrStepTimer
from ..sessions.scaffold import Scaffold
from ..sessions.session_run_hook import SessionRunArgs, SessionRunHook
from ..variables.global_step import _get_or_create_global_step_read
from .settings import checked_hooks, saved_global_step

if TYPE_CHECKING:
    from ...engine.session.session import BaseSession
    from ..sessions.session_run_hook import SessionRunContext, SessionRunValues
    from .estimator import Estimator

# The hooks of tf.train, under their other names.
for _module, _names in (
    (
        basic_session_run_hooks,
        "FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook NanLossDuringTrainingError "
        "NanTensorHook StopAtStepHook",
    ),
    (hook_timers, "SecondOrStepTimer"),
    (
        hooks_writing,
        "CheckpointSaverHook CheckpointSaverListener ProfilerHook StepCounterHook SummarySaverHook",
    ),
    (session_run_hook, "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues"),
):
    for _name in _names.split():
        constant(f"estimator.{_name}", getattr(_module, _name))


@export("estimator.experimental.InMemoryEvaluatorHook")
class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates while training, with the variables' values as they are, not a checkpoint's.

    Args:
        estimator: the Estimator that is trained.
        input_fn, steps, hooks, name: as of Estimator.evaluate.
        every_n_iter: how many steps lie between evaluations.

    Raises:
        ValueError: every_n_iter is not positive, or the Estimator is part of a cluster.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.num_ps_replicas > 0 or estimator.config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator = estimator
        self._input_fn = input_fn
        self._eval_dir = estimator.eval_dir(name)
        self._hooks = checked_hooks(hooks) + estimator._convert_eval_steps_to_hooks(steps)
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        """Builds the evaluation's graph, with placeholders for the variables' values."""
        self._timer.reset()
        self._iter_count = 0
        self._graph = tf.Graph()
        with self._graph.as_default():
            self._built = self._estimator._evaluate_build_graph(
                self._input_fn, self._hooks, checkpoint_path=None
            )
            scaffold = self._built[0]
            if scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            variables = tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)
            self._to = {v.name: (v, tf.placeholder(v.dtype)) for v in variables}

    def after_create_session(self, session: BaseSession, coord: object) -> None:
        """Finds the variables that both graphs have, and evaluates for the first time."""
        if tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError(
                "InMemoryEvaluator does not support saveables other than global variables."
            )
        trained = {v.name: v for v in tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)}
        self._from = {name: v for name, v in trained.items() if name in self._to}
        with self._graph.as_default():
            self._feed = tf.group([tf.assign(*self._to[name]) for name in self._from])
        self._evaluate(session)

    def _evaluate(self, session: BaseSession) -> None:
        found = session.run(self._from)
        values = {self._to[name][1]: value for name, value in found.items()}

        def feed(scaffold: object, session: BaseSession) -> None:
            session.run(self._feed, feed_dict=values)

        scaffold, update, metrics, hooks = self._built
        scaffold = Scaffold(init_fn=feed, copy_from_scaffold=scaffold)
        with self._graph.as_default():
            self._estimator._evaluate_run(None, scaffold, update, metrics, hooks, self._eval_dir)
        self._timer.update_last_triggered_step(self._iter_count)

    def after_run(self, run_context: SessionRunContext, run_values: object) -> None:
        """Evaluates if it is time."""
        self._iter_count += 1
        if self._timer.should_trigger_for_step(self._iter_count):
            self._evaluate(run_context.session)

    def end(self, session: BaseSession) -> None:
        """Evaluates at the end."""
        self._evaluate(session)


class _StopAtCheckpointStepHook(SessionRunHook):
    """Stops a worker once the chief has saved the last step."""

    def __init__(
        self, model_dir: str, last_step: int, wait_after_file_check_secs: float = 30
    ) -> None:
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait = wait_after_file_check_secs

    def begin(self) -> None:
        """Finds the step."""
        self._global_step_tensor = _get_or_create_global_step_read()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use StopAtCheckpointStepHook.")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Looks for the checkpoint, or waits for it."""
        if run_values.results + 1 < self._last_step:
            return
        if saved_global_step(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait)


@export("estimator.experimental.make_stop_at_checkpoint_step_hook")
def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """A hook that stops all workers at a step: the chief there, others once it is saved.

    Args:
        estimator: the Estimator that is trained.
        last_step: the step.
        wait_after_file_check_secs: how long a worker waits before it looks again.

    Returns:
        A SessionRunHook.
    """
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_after_file_check_secs)
