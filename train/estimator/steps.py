# SPDX-License-Identifier: Apache-2.0
"""The loop that trains what a model function gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import GraphKeys
from ...engine.interface import log
from ...ops.public import tf
from ...ops.summaries.api import scalar
from ..checkpoints.saver import Saver
from ..objects.warm_starting_util import warm_start
from ..sessions.basic_session_run_hooks import LoggingTensorHook, NanTensorHook
from ..sessions.hooks_writing import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from ..sessions.monitored_session import MonitoredTrainingSession
from ..variables.global_step import get_global_step
from .run_config import TaskType

if TYPE_CHECKING:
    from ..sessions.scaffold import Scaffold


def train_with_spec(
    spec: Any, hooks: list[Any], listeners: list[Any], config: Any, warm_start_from: Any
) -> Any:
    """Trains until a hook or the input ends it; gives the last loss."""
    if warm_start_from:
        log.info("Warm-starting with WarmStartSettings: %s", warm_start_from)
        warm_start(*warm_start_from)
    if not any(s.op.name == "loss" for s in tf.get_collection(GraphKeys.SUMMARIES)):
        scalar("loss", spec.loss)
    tf.add_to_collection(GraphKeys.LOSSES, spec.loss)
    hooks = [*hooks, NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        told = {"loss": spec.loss, "step": get_global_step()}
        hooks.append(LoggingTensorHook(told, every_n_iter=config.log_step_count_steps))
    hooks += spec.training_hooks
    _add_saver(spec.scaffold, config)
    chief_hooks = _saving_hooks(spec, hooks, listeners, config)
    summary_steps, count_steps = config.save_summary_steps, config.log_step_count_steps
    if _has_workers_and_master(config):
        # One of the workers writes instead of the master, which also evaluates.
        hooks += _writing_hooks(spec, config)
        summary_steps, count_steps = 0, None
    with MonitoredTrainingSession(
        master=config.master,
        is_chief=config.is_chief,
        checkpoint_dir=config.model_dir,
        scaffold=spec.scaffold,
        hooks=hooks,
        chief_only_hooks=(*chief_hooks, *spec.training_chief_hooks),
        save_checkpoint_secs=0,
        save_summaries_steps=summary_steps,
        config=config.session_config,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=count_steps,
    ) as session:
        loss, any_step = None, False
        while not session.should_stop():
            _, loss = session.run([spec.train_op, spec.loss])
            any_step = True
    if not any_step:
        log.warning(
            "Training with estimator made no steps. Perhaps input is empty or misspecified."
        )
    return loss


def _add_saver(scaffold: Scaffold, config: Any) -> None:
    if scaffold.saver or tf.get_collection(GraphKeys.SAVERS):
        return
    saver = Saver(
        sharded=True,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        defer_build=True,
        save_relative_paths=True,
    )
    tf.add_to_collection(GraphKeys.SAVERS, saver)


def _saving_hooks(spec: Any, hooks: list[Any], listeners: list[Any], config: Any) -> list[Any]:
    """The hook that saves, if there is none yet; listeners join the first one."""
    made = []
    savers = [h for h in [*hooks, *spec.training_chief_hooks] if isinstance(h, CheckpointSaverHook)]
    if not savers and (config.save_checkpoints_secs or config.save_checkpoints_steps):
        savers = made = [
            CheckpointSaverHook(
                config.model_dir,
                save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps,
                scaffold=spec.scaffold,
            )
        ]
    if listeners and not savers:
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
            "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
        )
    for listener in listeners:
        if listener not in savers[0]._listeners:
            savers[0]._listeners.append(listener)
    return made


def _has_workers_and_master(config: Any) -> bool:
    jobs = config.cluster_spec.jobs if config.cluster_spec else ()
    return TaskType.WORKER in jobs and TaskType.MASTER in jobs


def _writing_hooks(spec: Any, config: Any) -> list[Any]:
    if config.task_type != TaskType.WORKER or config.task_id != 0:
        return []
    made: list[Any] = []
    if config.save_summary_steps and config.save_summary_steps > 0:
        made.append(
            SummarySaverHook(
                save_steps=config.save_summary_steps,
                output_dir=config.model_dir,
                scaffold=spec.scaffold,
            )
        )
    if config.log_step_count_steps and config.log_step_count_steps > 0:
        made.append(
            StepCounterHook(every_n_steps=config.log_step_count_steps, output_dir=config.model_dir)
        )
    return made
