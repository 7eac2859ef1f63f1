# SPDX-License-Identifier: Apache-2.0
"""Runs experiments as the cluster's task, or the program, says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....engine.api import NAMES, export
from ....engine.interface import log
from .estimators.run_config import RunConfig, TaskType
from .experiment import Experiment


def _execute_schedule(experiment: object, schedule: str) -> Any:
    task = getattr(experiment, schedule, None)
    if callable(task):
        return task()
    missing = not hasattr(experiment, schedule)
    what = "task" if missing else "member"
    kind = "non-existent" if missing else "non-callable"
    valid = [n for n in dir(experiment) if n[0] != "_" and callable(getattr(experiment, n))]
    log.error("Schedule references %s %s %s", kind, what, schedule)
    log.error("Allowed values for this experiment are: %s", valid)
    raise (ValueError if missing else TypeError)(f"Schedule references {kind} {what} {schedule}")


def _require_experiment(experiment: object) -> Experiment:
    if not isinstance(experiment, Experiment):
        raise TypeError(
            "Experiment builder did not return an Experiment instance, got "
            f"{type(experiment)} instead."
        )
    return experiment


def _checked(experiment_fn: Callable[..., Any], require_hparams: bool = False) -> Any:
    """The function, as one that holds experiments against their settings."""

    def made(run_config: object, hparams: object) -> Experiment:
        if not isinstance(run_config, RunConfig):
            raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
        if hparams is not None and not isinstance(hparams, NAMES["contrib.training.HParams"]):
            raise ValueError("`hparams` must be `HParams` instance")
        if require_hparams and hparams is None:
            raise ValueError("`hparams` cannot be `None`.")
        expected = run_config.uid()
        experiment = _require_experiment(experiment_fn(run_config, hparams))
        config = experiment.estimator.config
        if not hasattr(config, "uid"):
            raise RuntimeError(
                "Pass `run_config` argument of the `experiment_fn` to the Estimator in Experiment. "
                "It is likely a different `RunConfig` is passed to `Estimator` or the `config` "
                "constructor argument in `Estimator` is not set."
            )
        if config.uid() != expected:
            raise RuntimeError(
                "`RunConfig` instance is expected to be used by the `Estimator` inside the "
                f"`Experiment`. expected {expected}, but got {config.uid()}"
            )
        return experiment

    return made


@export("contrib.learn.learn_runner.run")
def run(
    experiment_fn: Callable[..., Any],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: object = None,
    hparams: object = None,
) -> Any:
    """Makes an experiment and runs it.

    Args:
        experiment_fn: gives an Experiment, of run_config and hparams, or of output_dir.
        output_dir: the folder; or
        run_config: a tf.contrib.learn.RunConfig with a folder.
        schedule: which method of the Experiment to call; train_and_evaluate on one machine.
        hparams: a tf.contrib.training.HParams.

    Returns:
        What the method gives.

    Raises:
        ValueError: arguments are missing or exclude each other, or there is no such method.
        TypeError: the function is none, or gives no Experiment.
        RuntimeError: the Experiment's estimator has other settings.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if output_dir is None and run_config is None:
        raise ValueError("Must set value for `output_dir` or `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = _checked(experiment_fn)(run_config=run_config, hparams=hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
        experiment = _require_experiment(experiment_fn(output_dir=output_dir))
    config = run_config or experiment.estimator.config
    return _execute_schedule(experiment, schedule or _get_default_schedule(config))


@export("contrib.learn.learn_runner.tune")
def tune(experiment_fn: Callable[..., Any], tuner: Any) -> None:
    """Runs experiments as long as a tuner has trials.

    Args:
        experiment_fn: gives an Experiment of run_config and hparams.
        tuner: has `next_trial` and `run_experiment`.
    """
    while tuner.next_trial():
        tuner.run_experiment(_checked(experiment_fn, require_hparams=True))


_SCHEDULES = {
    TaskType.MASTER: "train_and_evaluate",
    TaskType.PS: "run_std_server",
    TaskType.WORKER: "train",
}


def _get_default_schedule(config: Any) -> str:
    """What a task does; ValueError for one that is unknown."""
    cluster = config.cluster_spec if config else None
    tasks = sum(len(cluster.job_tasks(job)) for job in cluster.jobs) if cluster else 0
    if tasks <= 1:
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    if config.task_type not in _SCHEDULES:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return _SCHEDULES[config.task_type]
