# SPDX-License-Identifier: Apache-2.0
"""Hooks that stop training early, by a function or by the metrics of evaluations."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engine.api import export
from ...engine.interface import log
from ...engine.types import dtypes
from ...io import files
from ...ops.public import tf
from ..sessions.hook_timers import SecondOrStepTimer
from ..sessions.session_run_hook import SessionRunArgs, SessionRunHook
from ..variables.global_step import get_global_step
from .estimator import Estimator
from .exporter import evaluations_in

if TYPE_CHECKING:
    from ..sessions.session_run_hook import SessionRunContext, SessionRunValues


@export("estimator.experimental.make_early_stopping_hook")
def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that stops training when a function says so; workers stop with the chief.

    Args:
        estimator: the Estimator that is trained.
        should_stop_fn: a function without arguments.
        run_every_secs, run_every_steps: how often it is asked; one of both.

    Returns:
        A SessionRunHook.

    Raises:
        TypeError: something is of another type.
        ValueError: both numbers are given.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return _CheckForStoppingHook()


@export("estimator.experimental.stop_if_higher_hook")
def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that stops training once a metric of an evaluation was above a threshold.

    Args:
        estimator: the Estimator that is trained.
        metric_name: the metric.
        threshold: the value.
        eval_dir: the folder of the evaluations' events; estimator.eval_dir() if None.
        min_steps: earlier steps do not count.
        run_every_secs, run_every_steps: how often events are read; one of both.

    Returns:
        A SessionRunHook.
    """
    stop = _crossed(estimator, metric_name, threshold, True, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


@export("estimator.experimental.stop_if_lower_hook")
def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that stops training once a metric was below a threshold; as stop_if_higher_hook."""
    stop = _crossed(estimator, metric_name, threshold, False, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


@export("estimator.experimental.stop_if_no_increase_hook")
def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that stops training when a metric has not risen for so many steps.

    Args:
        estimator, metric_name, eval_dir, min_steps, run_every_secs, run_every_steps: as of
            stop_if_higher_hook.
        max_steps_without_increase: how many steps.

    Returns:
        A SessionRunHook.
    """
    stop = _stalled(estimator, metric_name, max_steps_without_increase, True, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


@export("estimator.experimental.stop_if_no_decrease_hook")
def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that stops when a metric has not fallen for so long; as stop_if_no_increase_hook."""
    stop = _stalled(estimator, metric_name, max_steps_without_decrease, False, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, Any]]:
    """The metrics that evaluations wrote, by step, in order; none before the first evaluation."""
    result: dict[int, dict[str, Any]] = {}
    if not files.file_exists(eval_dir):
        return result
    for step, found in evaluations_in(os.path.join(eval_dir, "events.out.tfevents.*")):
        result.setdefault(step, {}).update(found)
    return dict(sorted(result.items()))


def _crossed(
    estimator: Estimator, name: str, threshold: float, higher: bool, folder: str | None, first: int
) -> Callable[[], bool]:
    folder = estimator.eval_dir() if folder is None else folder
    better, told = (operator.gt, "greater than") if higher else (operator.lt, "less than")

    def stop() -> bool:
        for step, metrics in read_eval_metrics(folder).items():
            if step >= first and better(metrics[name], threshold):
                log.info(
                    'At step %s, metric "%s" has value %s which is %s the configured threshold '
                    "(%s) for early stopping.",
                    *(step, name, metrics[name], told, threshold),
                )
                return True
        return False

    return stop


def _stalled(
    estimator: Estimator, name: str, most: int, higher: bool, folder: str | None, first: int
) -> Callable[[], bool]:
    folder = estimator.eval_dir() if folder is None else folder
    better, told = (operator.gt, "increase") if higher else (operator.lt, "decrease")

    def stop() -> bool:
        best = best_step = None
        for step, metrics in read_eval_metrics(folder).items():
            if step < first:
                continue
            if best is None or better(metrics[name], best):
                best, best_step = metrics[name], step
            since = step - (best_step or 0)
            if since >= most:
                log.info(
                    'No %s in metric "%s" for %s steps, which is greater than or equal to max '
                    "steps (%s) configured for early stopping.",
                    *(told, name, since, most),
                )
                return True
        return False

    return stop


def _stop_variable() -> Any:
    """The variable by which the chief tells workers to stop."""
    with tf.variable_scope("signal_early_stopping", values=[], reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            "STOP",
            shape=[],
            dtype=dtypes.bool,
            initializer=tf.constant_initializer(False),
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )


class _StopOnPredicateHook(SessionRunHook):
    """Asks a function now and then; the chief's."""

    def __init__(
        self,
        should_stop_fn: Callable[[], bool],
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ) -> None:
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self) -> None:
        """Makes the variable."""
        self._global_step_tensor = get_global_step()
        self._stop_op = tf.assign(_stop_variable(), True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the step."""
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stops if the function says so."""
        step = run_values.results
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should_stop_fn():
                log.info("Requesting early stopping at global step %d", step)
                run_context.session.run(self._stop_op)
                run_context.request_stop()


class _CheckForStoppingHook(SessionRunHook):
    """Stops when the chief has; workers'."""

    def begin(self) -> None:
        """Makes the variable."""
        self._stop_var = _stop_variable()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for the variable."""
        return SessionRunArgs(self._stop_var)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Stops if it is set."""
        if run_values.results:
            log.info("Early stopping requested, suspending run.")
            run_context.request_stop()
