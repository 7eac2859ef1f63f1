# SPDX-License-Identifier: Apache-2.0
"""`CheckpointInputPipelineHook`: saves where iterators are, as training goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engine.graph.collections import get_collection
from ..checkpoints.checkpoint_management import latest_checkpoint
from ..checkpoints.saver import Saver
from ..objects.iterator_saving import IteratorSaveable
from .hooks_writing import CheckpointSaverHook
from .session_run_hook import SessionRunHook

if TYPE_CHECKING:
    from ...engine.graph.annotations import TensorLike
    from ...engine.session.session import BaseSession
    from .session_run_hook import SessionRunArgs, SessionRunContext, SessionRunValues

# The collection of handles of all iterators.
_ITERATORS = "iterators"


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves where all iterators of a graph are whenever an estimator saves its variables.

    Args:
        estimator: a tf.estimator.Estimator, in whose folder the checkpoints are.
    """

    def __init__(self, estimator: Any) -> None:
        config = estimator._config
        prefix = "input"
        if config.num_worker_replicas > 1:
            prefix += f"_{config.task_type}_{config.task_id}"
        self._checkpoint_saver_hook = CheckpointSaverHook(
            estimator.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            checkpoint_basename=f"{prefix}.ckpt",
        )
        self._latest_filename = f"checkpoint_{prefix}"
        self._is_first_run = True

    def begin(self) -> None:
        """Makes the saver of all iterators that there are."""
        hook = self._checkpoint_saver_hook
        if hook._saver is None and hook._scaffold is None:
            handles = get_collection(_ITERATORS)
            saveables = [IteratorSaveable(handle, handle.name, "-state") for handle in handles]
            saver: Any = _NamedSaver(saveables, self._latest_filename)
            hook._saver = saver
        hook.begin()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Before the first run goes on where the last checkpoint was made, or makes one."""
        if self._is_first_run:
            self._is_first_run = False
            self._restore_or_save(run_context.session)
        return self._checkpoint_saver_hook.before_run(run_context)

    def _restore_or_save(self, session: BaseSession) -> None:
        hook = self._checkpoint_saver_hook
        found = latest_checkpoint(hook._checkpoint_dir, latest_filename=self._latest_filename)
        if found:
            hook._get_saver().restore(session, found)
            return
        step = session.run(hook._global_step_tensor)
        hook._save(session, step)
        hook._timer.update_last_triggered_step(step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Saves when it is time to."""
        self._checkpoint_saver_hook.after_run(run_context, run_values)

    def end(self, session: BaseSession) -> None:
        """Saves at the end."""
        self._checkpoint_saver_hook.end(session)


class _NamedSaver(Saver):
    """A saver whose list of checkpoints has a name of its own."""

    def __init__(self, var_list: Any, latest_filename: str) -> None:
        super().__init__(var_list)
        self._latest_filename = latest_filename

    def save(
        self,
        sess: BaseSession,
        save_path: Any,
        global_step: TensorLike | None = None,
        latest_filename: str | None = None,
        *args: Any,
        **options: Any,
    ) -> str | None:
        """See tf.train.Saver.save."""
        name = latest_filename or self._latest_filename
        return super().save(sess, save_path, global_step, name, *args, **options)
