# SPDX-License-Identifier: Apache-2.0
"""`tf.estimator.train_and_evaluate`: training, and an evaluation after every checkpoint."""

from __future__ import annotations

import json
import os
import time
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

from ...engine.api import export
from ...engine.graph.collections import GraphKeys
from ...engine.interface import log
from ...io import protos
from ..distributed.server import Server
from ..sessions.hook_timers import SecondOrStepTimer
from ..sessions.hooks_writing import CheckpointSaverListener
from ..sessions.session_run_hook import SessionRunHook
from .estimator import Estimator
from .exporter import Exporter
from .run_config import TaskType

_MAX_DELAY_SECS = 60
_DELAY_SECS_PER_WORKER = 5
# Warnings that there is nothing to evaluate come at most so often.
_SECS_BETWEEN_WARNINGS = 600
_TRAINERS = (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER)
_TASKS = ("chief", "evaluator", "master", "ps", "worker")


def _check_input_fn(input_fn: object) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_hooks(hooks: Sequence[Any] | None) -> tuple[Any, ...]:
    hooks = tuple(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return hooks


def _checked_exporters(exporters: Any) -> tuple[Any, ...]:
    if not exporters:
        return ()
    wrong = TypeError(
        f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}."
    )
    if isinstance(exporters, Exporter):
        exporters = [exporters]
    try:
        exporters = tuple(exporters)
    except TypeError:
        raise wrong from None
    if not all(isinstance(exporter, Exporter) for exporter in exporters):
        raise wrong
    names = [exporter.name for exporter in exporters]
    for name in names:
        if not name:
            raise ValueError(
                "An Exporter cannot have a name that is `None` or empty. All exporter names: "
                f"{names}"
            )
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
    if len(set(names)) < len(names):
        raise ValueError(
            "`exporters` must have unique names. Such a name cannot be `None`. All exporter names: "
            f"{names}"
        )
    return exporters


@export("estimator.TrainSpec")
class TrainSpec(namedtuple("TrainSpec", ("input_fn", "max_steps", "hooks"))):
    """How train_and_evaluate trains.

    Args:
        input_fn: as of Estimator.train.
        max_steps: at which step to stop; when the input ends if None.
        hooks: SessionRunHooks.

    Raises:
        ValueError: max_steps is not positive.
        TypeError: input_fn is no function, or a hook none.
    """

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Sequence[Any] | None = None,
    ) -> TrainSpec:
        _check_input_fn(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks))


@export("estimator.EvalSpec")
class EvalSpec(
    namedtuple(
        "EvalSpec",
        ("input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs"),
    )
):
    """How train_and_evaluate evaluates.

    Args:
        input_fn, steps, name, hooks: as of Estimator.evaluate.
        exporters: Exporters to call after evaluations.
        start_delay_secs: how long an evaluator on its own waits at first.
        throttle_secs: how much time lies between evaluations at least.

    Raises:
        ValueError: a number is out of range, or exporters' names are not good.
        TypeError: something is of another type.
    """

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Sequence[Any] | None = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _check_input_fn(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        hooks, exporters = _checked_hooks(hooks), _checked_exporters(exporters)
        if start_delay_secs < 0:
            raise ValueError(f"Must specify start_delay_secs >= 0, given: {start_delay_secs}")
        if throttle_secs < 0:
            raise ValueError(f"Must specify throttle_secs >= 0, given: {throttle_secs}")
        return super().__new__(
            cls, input_fn, steps, name, hooks, exporters, start_delay_secs, throttle_secs
        )


@export("estimator.train_and_evaluate")
def train_and_evaluate(estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec) -> Any:
    """Trains, and evaluates and exports after checkpoints; in a cluster, does this task's part.

    Args:
        estimator: an Estimator.
        train_spec: how it trains.
        eval_spec: how it evaluates.

    Returns:
        On one machine: the last metrics, and what exporters gave.

    Raises:
        TypeError: an argument is of another type.
        ValueError: TF_CONFIG names a task that there cannot be.
    """
    _check_eval_spec(eval_spec)
    executor = _TrainingExecutor(estimator, train_spec, eval_spec)
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  "
            f"Given task id {config.task_id}"
        )
    return executor.run()


def _check_eval_spec(eval_spec: object) -> None:
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(
            f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}"
        )


class _Evaluator:
    """Evaluates the last checkpoint, unless it did before, and calls exporters."""

    def __init__(
        self, estimator: Estimator, eval_spec: EvalSpec, max_training_steps: int | None
    ) -> None:
        self._estimator = estimator
        self._eval_spec = eval_spec
        self._max_training_steps = max_training_steps
        self._previous: str | None = None
        self._last_warning = 0.0

    def evaluate_and_export(self) -> tuple[dict[str, Any] | None, list[Any]]:
        """The metrics, None where there is no new checkpoint; and what exporters gave."""
        path = self._estimator.latest_checkpoint()
        if not path:
            self._warn(
                "Estimator is not trained yet. Will start an evaluation when a checkpoint is ready."
            )
            return None, []
        if path == self._previous:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current evaluation pass as "
                "evaluation results are expected to be same for the same checkpoint."
            )
            return None, []
        spec = self._eval_spec
        metrics = self._estimator.evaluate(
            input_fn=spec.input_fn,
            steps=spec.steps,
            name=spec.name,
            checkpoint_path=path,
            hooks=spec.hooks,
        )
        if not isinstance(metrics, dict) or GraphKeys.GLOBAL_STEP not in metrics:
            raise ValueError(
                "Internal error: `Estimator.evaluate` result should have `global_step` in result. "
                f"Given {metrics}"
            )
        most = self._max_training_steps
        is_final = bool(most and metrics[GraphKeys.GLOBAL_STEP] >= most)
        exported = [self._export(exporter, path, metrics, is_final) for exporter in spec.exporters]
        self._last_warning = 0.0
        self._previous = path
        return metrics, exported

    def _export(self, exporter: Any, path: str, metrics: dict[str, Any], is_final: bool) -> Any:
        return exporter.export(
            estimator=self._estimator,
            export_path=os.path.join(self._estimator.model_dir, "export", exporter.name),
            checkpoint_path=path,
            eval_result=metrics,
            is_the_final_export=is_final,
        )

    def _warn(self, message: str) -> None:
        now = time.time()
        if now - self._last_warning > _SECS_BETWEEN_WARNINGS:
            log.warning(message)
            self._last_warning = now


class _NewCheckpointListenerForEvaluate(CheckpointSaverListener):
    """Evaluates after checkpoints, but for the first and those that come too soon."""

    def __init__(self, evaluator: _Evaluator, throttle_secs: float) -> None:
        self._evaluator = evaluator
        self._throttle_secs = throttle_secs
        self.metrics: dict[str, Any] | None = None
        self.exported: list[Any] | None = None

    def begin(self) -> None:
        """Starts the timer."""
        self._timer = SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first_run = True

    def after_save(self, session: object, global_step_value: int) -> None:
        """Evaluates if it is time."""
        if self._is_first_run:
            # That of the first step, or the one that training began with.
            self._is_first_run = False
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            log.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).",
                self._throttle_secs,
            )

    def end(self, session: object, global_step_value: int) -> None:
        """Evaluates the last checkpoint."""
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        self.metrics, self.exported = self._evaluator.evaluate_and_export()
        if self.metrics is None:
            raise RuntimeError("There was no new checkpoint after the training.")


class _TrainingExecutor:
    """Does the part of train_and_evaluate that TF_CONFIG names."""

    def __init__(
        self,
        estimator: Estimator,
        train_spec: Any,
        eval_spec: Any,
        train_hooks: Sequence[Any] | None = None,
    ) -> None:
        if not isinstance(estimator, Estimator):
            raise TypeError(
                f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
            )
        if not isinstance(train_spec, TrainSpec):
            raise TypeError(
                f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}"
            )
        _check_eval_spec(eval_spec)
        self._estimator = estimator
        self._train_spec = train_spec
        self._eval_spec = eval_spec
        self._hooks = [*train_spec.hooks, *_checked_hooks(train_hooks)]

    @property
    def estimator(self) -> Estimator:
        """The Estimator."""
        return self._estimator

    def _new_evaluator(self) -> _Evaluator:
        return _Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)

    def run(self) -> Any:
        """Does this task's part."""
        config = self._estimator.config
        if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
            log.info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        if not config.task_type:
            raise ValueError(
                "`estimator.config` must have task_type set. This usually means TF_CONFIG "
                "environment is not set correctly."
            )
        if config.task_type not in _TASKS:
            raise ValueError(
                f"Task type {config.task_type} is not supported. Supported task types are "
                f"{list(_TASKS)}"
            )
        return getattr(self, f"run_{config.task_type}")()

    def run_local(self) -> tuple[dict[str, Any] | None, list[Any] | None]:
        """Trains and evaluates here."""
        config = self._estimator.config
        log.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
            "Checkpoint frequency is determined based on RunConfig arguments: "
            "save_checkpoints_steps %s or save_checkpoints_secs %s.",
            *(config.save_checkpoints_steps, config.save_checkpoints_secs),
        )
        listener = _NewCheckpointListenerForEvaluate(
            self._new_evaluator(), self._eval_spec.throttle_secs
        )
        self._train([listener])
        return listener.metrics, listener.exported

    def _train(self, listeners: Any = None) -> None:
        self._estimator.train(
            input_fn=self._train_spec.input_fn,
            max_steps=self._train_spec.max_steps,
            hooks=list(self._hooks),
            saving_listeners=listeners,
        )

    def run_chief(self) -> None:
        """Trains as the chief of a cluster."""
        self._start_distributed_training()

    def run_worker(self) -> None:
        """Trains as a worker of a cluster."""
        self._start_distributed_training()

    def run_master(self) -> None:
        """Trains as the chief, and evaluates."""
        listener = _NewCheckpointListenerForEvaluate(
            self._new_evaluator(), self._eval_spec.throttle_secs
        )
        self._start_distributed_training([listener])

    def run_ps(self) -> None:
        """Keeps variables for others."""
        server = self._start_server(self._estimator.config)
        if server is not None:
            server.join()

    def run_evaluator(self) -> None:
        """Evaluates checkpoints as they come, until that of the last step."""
        spec, most = self._eval_spec, self._train_spec.max_steps
        if spec.start_delay_secs:
            log.info("Waiting %f secs before starting eval.", spec.start_delay_secs)
            time.sleep(spec.start_delay_secs)
        evaluator = self._new_evaluator()
        while True:
            start = time.time()
            metrics, _ = evaluator.evaluate_and_export()
            step = metrics[GraphKeys.GLOBAL_STEP] if metrics else None
            if step and most and step >= most:
                log.info("Exiting evaluation, global_step=%s >= train max_steps=%s", step, most)
                return
            rest = spec.throttle_secs - (time.time() - start)
            if rest > 0:
                log.info("Waiting %f secs before starting next eval run.", rest)
                time.sleep(rest)

    def _start_server(self, config: Any) -> Any:
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise RuntimeError(
                "Could not start server; be sure to specify cluster_spec, task_type, and task in "
                "RunConfig or set the TF_CONFIG environment variable."
            )
        if not config.master:
            jobs = config.cluster_spec.jobs
            alone = len(jobs) == 1 and len(config.cluster_spec.job_tasks(jobs[0])) == 1
            if alone and config.task_type in _TRAINERS:
                log.info(
                    "Skip starting Tensorflow server as there is only one node in the cluster."
                )
                return None
            raise RuntimeError(
                "Could not start server; be sure to specify master in RunConfig or set the "
                "TF_CONFIG environment variable."
            )
        log.info("Start Tensorflow server.")
        server: Any = Server(
            config.cluster_spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=protos.ConfigProto(log_device_placement=False),
            start=False,
            protocol=config.protocol,
        )
        server.start()
        return server

    def _start_distributed_training(self, listeners: Any = None) -> None:
        config = self._estimator.config
        environment = json.loads(os.environ.get("TF_CONFIG") or "{}")
        if environment.get("environment") != "google":
            self._start_server(config)
        strategy = config.train_distribute
        waits = strategy is None or not strategy.extended.is_spread
        if config.task_type == TaskType.WORKER and waits:
            most = config.experimental_max_worker_delay_secs
            most = _MAX_DELAY_SECS if most is None else int(most)
            delay = min(most, (config.task_id + 1) * _DELAY_SECS_PER_WORKER)
            if delay > 0:
                log.info("Waiting %d secs before starting training.", delay)
                time.sleep(delay)
        self._train(listeners)
