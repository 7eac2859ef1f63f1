# SPDX-License-Identifier: Apache-2.0
"""The loop that trains what a model function gave."""

from __future__ import annotations

from typing import Any

from .....engine.graph.collections import GraphKeys
from .....ops.public import tf
from ....checkpoints.saver import Saver
from ....sessions.basic_session_run_hooks import LoggingTensorHook, NanTensorHook
from ....sessions.hooks_writing import CheckpointSaverHook
from ....sessions.monitored_session import MonitoredTrainingSession
from ....sessions.scaffold import Scaffold


def train(
    ops: Any, step: Any, hooks: list[Any], config: Any, model_dir: str, session_config: Any
) -> Any:
    """Trains until a hook or the input ends it; gives the last loss."""
    tf.add_to_collection(GraphKeys.LOSSES, ops.loss)
    hooks = [
        *hooks,
        NanTensorHook(ops.loss),
        LoggingTensorHook({"loss": ops.loss, "step": step}, every_n_iter=100),
    ]
    scaffold = ops.scaffold or Scaffold()
    if not (scaffold.saver or tf.get_collection(GraphKeys.SAVERS)):
        saver = Saver(
            sharded=True,
            max_to_keep=config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
            defer_build=True,
            save_relative_paths=True,
        )
        tf.add_to_collection(GraphKeys.SAVERS, saver)
    all_hooks = [*hooks, *ops.training_hooks, *ops.training_chief_hooks]
    saves = config.save_checkpoints_secs or config.save_checkpoints_steps
    chief_hooks: list[Any] = []
    if saves and not any(isinstance(hook, CheckpointSaverHook) for hook in all_hooks):
        chief_hooks.append(
            CheckpointSaverHook(
                model_dir,
                save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps,
                scaffold=scaffold,
            )
        )
    with MonitoredTrainingSession(
        master=config.master,
        is_chief=config.is_chief,
        checkpoint_dir=model_dir,
        scaffold=scaffold,
        hooks=[*hooks, *ops.training_hooks],
        chief_only_hooks=[*chief_hooks, *ops.training_chief_hooks],
        save_checkpoint_secs=0,
        save_summaries_steps=config.save_summary_steps,
        max_wait_secs=config.session_creation_timeout_secs,
        config=session_config,
    ) as session:
        loss = None
        while not session.should_stop():
            _, loss = session.run([ops.train_op, ops.loss])
    return loss
