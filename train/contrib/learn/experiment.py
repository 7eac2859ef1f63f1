# SPDX-License-Identifier: Apache-2.0
"""Experiments: an estimator with its input, trained and evaluated as a schedule says."""

from __future__ import annotations

import functools
import math
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ....engine.api import export
from ....engine.graph.collections import GraphKeys
from ....engine.interface import log
from ...checkpoints import checkpoint_management
from ...distributed.server import Server
from ...estimator.estimator import Estimator as CoreEstimator
from ...estimator.util import fn_args
from ...sessions.basic_session_run_hooks import GlobalStepWaiterHook
from ...sessions.hooks_writing import CheckpointSaverHook, CheckpointSaverListener
from . import monitors
from .estimators import run_config
from .estimators.evaluable import Evaluable, Trainable
from .export_strategy import ExportStrategy

if TYPE_CHECKING:
    from ....engine.session.session import BaseSession

_WARN_EVERY_SECS = 600
_NOT_YET = "Estimator is not fitted yet. Will start an evaluation when a checkpoint is ready."


class _EvalAndExportListener(CheckpointSaverListener):
    """Evaluates and exports each checkpoint that is saved."""

    def __init__(
        self, eval_fn: Callable[..., Any], export_fn: Callable[..., Any], model_dir: str
    ) -> None:
        self._eval_fn, self._export_fn, self._model_dir = eval_fn, export_fn, model_dir
        self._latest_path: str | None = None
        self.eval_result: Any = None
        self.export_results: Any = None

    def after_save(self, session: BaseSession, global_step_value: Any) -> None:
        """Evaluates and exports."""
        log.info("Checking for checkpoint in %s", self._model_dir)
        path = checkpoint_management.latest_checkpoint(self._model_dir)
        if not path:
            log.warning("Skipping evaluation and export since model has not been saved yet.")
        elif path == self._latest_path:
            log.warning("Skipping evaluation due to same latest checkpoint %s.", path)
        else:
            self._latest_path = path
            self.eval_result = self._eval_fn(name="intermediate_export", checkpoint_path=path)
            self.export_results = self._export_fn(self.eval_result, checkpoint_path=path)


def _predicate(function: Any) -> Callable[..., Any] | None:
    """Whether to go on, of an evaluation and a checkpoint."""
    if function is None:
        return None
    if not callable(function):
        raise ValueError("`continuous_eval_predicate_fn` must be a callable, or None.")
    if "checkpoint_path" in fn_args(function):
        return function  # type: ignore[no-any-return]
    return lambda result, checkpoint_path: function(result)


def _check_estimator(estimator: Any, eval_metrics: Any, saving_listeners: Any) -> None:
    if isinstance(estimator, CoreEstimator):
        if eval_metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use "
                "`eval_metric_ops` in `tf.estimator.EstimatorSpec` instead."
            )
        return
    if not isinstance(estimator, Evaluable):
        raise ValueError(
            "`estimator` must implement `tf.contrib.learn.Evaluable` or `tf.estimator.Estimator`."
        )
    if not isinstance(estimator, Trainable):
        raise ValueError(
            "`estimator` must implement `tf.contrib.learn.Trainable`or `tf.estimator.`Estimator`."
        )
    if saving_listeners is not None:
        raise ValueError("`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`.")


@export("contrib.learn.Experiment")
class Experiment:
    """An estimator with its input.

    Args:
        estimator: of tf.contrib.learn or tf.estimator.
        train_input_fn, eval_input_fn: input functions.
        eval_metrics: MetricSpecs by name, of an estimator of tf.contrib.learn.
        train_steps: at which step training ends; None goes on.
        eval_steps: how many batches an evaluation takes; all if None.
        train_monitors, eval_hooks: monitors and hooks.
        local_eval_frequency: how many steps lie between evaluations of `local_run`.
        eval_delay_secs: how long evaluations wait at first.
        continuous_eval_throttle_secs: how many seconds lie between evaluations.
        min_eval_frequency: how many steps lie between looks for checkpoints to evaluate.
        delay_workers_by_global_step: whether workers wait for steps.
        export_strategies: an ExportStrategy, or some.
        train_steps_per_iteration: how many steps lie between evaluations of
            `continuous_train_and_eval`.
        checkpoint_and_export: whether each checkpoint is evaluated and exported.
        saving_listeners: of an estimator of tf.estimator.
        check_interval_secs: how many seconds lie between looks for checkpoints.

    Raises:
        ValueError: the estimator is none, or takes other arguments.
    """

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Callable[..., Any],
        eval_input_fn: Callable[..., Any],
        eval_metrics: Any = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[Any] | None = None,
        eval_hooks: Sequence[Any] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[Any] | None = None,
        check_interval_secs: float = 5,
    ) -> None:
        _check_estimator(estimator, eval_metrics, saving_listeners)
        self._core_estimator_used = isinstance(estimator, CoreEstimator)
        if train_steps_per_iteration is not None and not isinstance(train_steps_per_iteration, int):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self._estimator = estimator
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._local_eval_frequency = local_eval_frequency
        self._eval_delay_secs = eval_delay_secs
        self._continuous_eval_throttle_secs = continuous_eval_throttle_secs
        self._checkpoint_and_export = checkpoint_and_export
        self._saving_listeners = saving_listeners
        self._min_eval_frequency = 1 if min_eval_frequency is None else min_eval_frequency
        self._check_interval_secs = check_interval_secs
        self._delay_workers_by_global_step = delay_workers_by_global_step
        self._train_monitors = list(train_monitors or ())
        self._eval_hooks = list(eval_hooks or ())
        self._set_export_strategies(export_strategies)
        self._train_steps_per_iteration = train_steps_per_iteration

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    @property
    def eval_metrics(self) -> Any:
        """The metrics."""
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        """At which step training ends."""
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        """How many batches an evaluation takes."""
        return self._eval_steps

    def _set_export_strategies(self, values: Any) -> None:
        if isinstance(values, ExportStrategy):
            values = [values]
        for value in values or ():
            if not isinstance(value, ExportStrategy):
                raise ValueError(
                    "`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, "
                    f"or `None`, found {value}."
                )
        self._export_strategies = tuple(values or ())

    def extend_train_hooks(self, additional_hooks: Sequence[Any]) -> None:
        """Adds monitors or hooks of training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> tuple[Any, ...]:
        """Replaces the strategies; gives the old ones."""
        old = self._export_strategies
        self._set_export_strategies(new_export_strategies)
        return old

    def train(self, delay_secs: float | None = None) -> Any:
        """Trains.

        Args:
            delay_secs: how long to wait at first; the later, the higher the task's number, if None.

        Returns:
            The estimator.
        """
        config = self._estimator.config
        self._maybe_start_server(config)
        extra: list[Any] = []
        if delay_secs is None:
            task = config.task_id or 0
            delay_secs = min(60, task * 5)
            if self._delay_workers_by_global_step:
                extra.append(GlobalStepWaiterHook(int(8000.0 * math.log(task + 1))))
                delay_secs = 0
        if delay_secs > 0:
            log.info("Waiting %d secs before starting training.", delay_secs)
            time.sleep(delay_secs)
        return self._call_train(
            input_fn=self._train_input_fn,
            max_steps=self._train_steps,
            hooks=self._train_monitors + extra,
            saving_listeners=self._saving_listeners,
        )

    def _maybe_start_server(self, config: Any) -> None:
        if not (config.cluster_spec and config.master):
            return
        if not isinstance(config, run_config.RunConfig):
            raise ValueError(
                "For distributed runtime, Experiment class only works with "
                f"tf.contrib.learn.RunConfig for now, but provided {type(config)}"
            )
        places = run_config.Environment
        if config.environment == places.LOCAL:
            log.warn(
                "ClusterSpec and master are provided, but environment is set to 'local'. Set "
                "environment to 'cloud' if you intend to use the distributed runtime."
            )
        elif config.environment != places.GOOGLE:
            self._start_server()

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluates the last checkpoint, after a while; gives metrics by name."""
        _wait(self._eval_delay_secs if delay_secs is None else delay_secs)
        return self._evaluated(self._eval_input_fn, name or "one_pass")

    def _evaluated(
        self, input_fn: Callable[..., Any] | None, name: str | None, path: str | None = None
    ) -> Any:
        return self._call_evaluate(
            input_fn=input_fn,
            steps=self._eval_steps,
            metrics=self._eval_metrics,
            name=name,
            checkpoint_path=path,
            hooks=self._eval_hooks,
        )

    def local_run(self) -> Any:
        """train_and_evaluate, with evaluations every local_eval_frequency steps."""
        before, self._min_eval_frequency = self._min_eval_frequency, self._local_eval_frequency  # type: ignore[assignment]
        try:
            return self.train_and_evaluate()
        finally:
            self._min_eval_frequency = before

    def _continuous_eval(
        self,
        input_fn: Callable[..., Any] | None,
        name: str,
        delay_secs: float | None,
        throttle_delay_secs: float | None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable[..., Any] | None = None,
        export: bool = True,
    ) -> None:
        goes_on = _predicate(continuous_eval_predicate_fn)
        _wait(self._eval_delay_secs if delay_secs is None else delay_secs)
        throttle = throttle_delay_secs
        if throttle is None:
            throttle = self._continuous_eval_throttle_secs
        previous: str | None = None
        result: Any = None
        warned = 0.0
        while not goes_on or goes_on(result, checkpoint_path=previous):
            if self._has_training_stopped(result):
                log.info(
                    "Exiting continuous eval, global_step=%s >= train_step=%s",
                    *(result[GraphKeys.GLOBAL_STEP], self._train_steps),
                )
                return
            start = time.time()
            path = checkpoint_management.latest_checkpoint(self._estimator.model_dir)
            if path and not (evaluate_checkpoint_only_once and path == previous):
                result = self._evaluated(input_fn, name, path) or {}
                if export:
                    self._maybe_export(result, checkpoint_path=path)
                warned, previous = 0.0, path
            else:
                result = {}
                if time.time() - warned > _WARN_EVERY_SECS:
                    log.warning("No new checkpoint ready for evaluation." if path else _NOT_YET)
                    warned = time.time()
            rest = throttle - (time.time() - start)
            if rest > 0:
                log.info("Waiting %f secs before starting next eval run.", rest)
                time.sleep(rest)

    def _has_training_stopped(self, result: Any) -> bool:
        step = (result or {}).get(GraphKeys.GLOBAL_STEP)
        return bool(step and self._train_steps and step >= self._train_steps)

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Callable[..., Any] | None = None,
        name: str = "continuous",
    ) -> None:
        """Evaluates checkpoints as they come, until training has ended.

        Args:
            delay_secs: how long to wait at first.
            throttle_delay_secs: how many seconds lie between evaluations.
            evaluate_checkpoint_only_once: False evaluates the same ones again.
            continuous_eval_predicate_fn: whether to go on, of the last evaluation.
            name: of the evaluation.
        """
        self._continuous_eval(
            *(self._eval_input_fn, name, delay_secs, throttle_delay_secs),
            *(evaluate_checkpoint_only_once, continuous_eval_predicate_fn),
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Callable[..., Any] | None = None,
        name: str = "continuous_on_train_data",
    ) -> None:
        """continuous_eval with the input of training, without exports."""
        self._continuous_eval(
            *(self._train_input_fn, name, delay_secs, throttle_delay_secs),
            continuous_eval_predicate_fn=continuous_eval_predicate_fn,
            export=False,
        )

    def train_and_evaluate(self) -> Any:
        """Trains, and evaluates meanwhile and at the end.

        Returns:
            The last evaluation, and what export strategies gave.
        """
        config, before = self._estimator.config, self._train_monitors
        seconds, steps = config.save_checkpoints_secs, config.save_checkpoints_steps
        listener = None
        added: list[Any] = []
        if self._checkpoint_and_export and (seconds or steps):
            evaluated = functools.partial(
                self._call_evaluate,
                input_fn=self._eval_input_fn,
                steps=self._eval_steps,
                metrics=self._eval_metrics,
                hooks=self._eval_hooks,
            )
            folder = self._estimator.model_dir
            listener = _EvalAndExportListener(evaluated, self._maybe_export, folder)
            added = [CheckpointSaverHook(folder, seconds, steps, listeners=[listener])]
        elif self._min_eval_frequency:
            added = [
                monitors.ValidationMonitor(
                    input_fn=self._eval_input_fn,
                    eval_steps=self._eval_steps,
                    metrics=self._eval_metrics,
                    every_n_steps=self._min_eval_frequency,
                    check_interval_secs=self._check_interval_secs,
                    hooks=self._eval_hooks,
                )
            ]
        self._train_monitors = [*before, *added]
        try:
            self.train(delay_secs=0)
        finally:
            self._train_monitors = before
        if listener is not None:
            return listener.eval_result, listener.export_results
        result = self._evaluated(self._eval_input_fn, None)
        return result, self._maybe_export(result)

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable[..., Any] | None = None
    ) -> Any:
        """Trains and evaluates in turns.

        Args:
            continuous_eval_predicate_fn: whether to go on, of the last evaluation.

        Returns:
            The last evaluation, and what export strategies gave.
        """
        goes_on = _predicate(continuous_eval_predicate_fn)
        steps = self._train_steps_per_iteration
        if steps is None:
            steps = 1000 if self._train_steps is None else int(self._train_steps / 10)
        result: Any = None
        path = exported = None
        while not goes_on or goes_on(result, checkpoint_path=path if result else None):
            if self._has_training_stopped(result):
                log.info("Stop training model as max steps reached")
                break
            log.info("Training model for %s steps", steps)
            self._call_train(
                input_fn=self._train_input_fn,
                steps=steps,
                hooks=self._train_monitors,
                saving_listeners=self._saving_listeners,
            )
            log.info("Evaluating model now.")
            path = checkpoint_management.latest_checkpoint(self._estimator.model_dir)
            result = self._evaluated(self._eval_input_fn, "one_pass", path)
            exported = self._maybe_export(result)
        return result, exported

    def _maybe_export(self, eval_result: Any, checkpoint_path: str | None = None) -> list[Any]:
        folder = os.path.join(os.fsencode(self._estimator.model_dir), b"export")
        return [
            strategy.export(
                self._estimator,
                os.path.join(folder, os.fsencode(strategy.name)),
                checkpoint_path=checkpoint_path,
                eval_result=eval_result,
            )
            for strategy in self._export_strategies
        ]

    def run_std_server(self) -> None:
        """Serves, and does not return."""
        self._start_server().join()

    def test(self) -> Any:
        """Trains a step, evaluates one and exports; gives the evaluation."""
        self._call_train(
            input_fn=self._train_input_fn,
            steps=1,
            hooks=self._train_monitors,
            saving_listeners=self._saving_listeners,
        )
        result = self._call_evaluate(
            input_fn=self._eval_input_fn, steps=1, metrics=self._eval_metrics, name="one_pass"
        )
        self._maybe_export(result)
        return result

    def _start_server(self) -> Any:
        config = self._estimator.config
        named = config.cluster_spec and config.task_type and config.master
        if not named or config.task_id is None:
            raise ValueError(
                "Could not start server; be sure to specify cluster_spec, task_type, master, and "
                "task in RunConfig or set the TF_CONFIG environment variable."
            )
        server: Any = Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=config.tf_config,
            start=False,
        )
        server.start()
        return server

    def _call_train(
        self,
        input_fn: Callable[..., Any] | None = None,
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> Any:
        made = monitors.replace_monitors_with_hooks(hooks, self._estimator)
        given: dict[str, Any] = dict(input_fn=input_fn, steps=steps, max_steps=max_steps)
        if not self._core_estimator_used:
            return self._estimator.fit(**given, monitors=made)
        return self._estimator.train(**given, hooks=made, saving_listeners=saving_listeners)

    def _call_evaluate(
        self,
        input_fn: Callable[..., Any] | None = None,
        steps: int | None = None,
        metrics: dict[Any, Any] | None = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Sequence[Any] | None = None,
    ) -> Any:
        given: dict[str, Any] = dict(
            input_fn=input_fn,
            steps=steps,
            name=name,
            checkpoint_path=checkpoint_path,
            hooks=hooks,
        )
        if not self._core_estimator_used:
            return self._estimator.evaluate(**given, metrics=metrics)
        if metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with `tf.estimator.Estimator`")
        return self._estimator.evaluate(**given)


def _wait(seconds: float) -> None:
    if seconds:
        log.info("Waiting %f secs before starting eval.", seconds)
        time.sleep(seconds)
