# SPDX-License-Identifier: Apache-2.0
"""`tf.train.CheckpointManager`: keeps the last checkpoints of an object, through restarts too."""

from __future__ import annotations

import numbers
import os
import time
from typing import Any

import numpy as np

from ..engine.api import export
from ..engine.defaults import get_default_session
from ..engine.log import get_logger
from . import step


@export("train.CheckpointManager")
class CheckpointManager:
    """Saves a `tf.train.Checkpoint` under numbered names and deletes old ones."""

    def __init__(
        self,
        checkpoint: Any,
        directory: str,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                "Expected a positive integer or `None` for `max_to_max_to_keep`, got "
                f"{max_to_keep:d}."
            )
        self._checkpoint = checkpoint
        self._save_counter_assign: Any = None
        self._max_to_keep = max_to_keep
        self._keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self._directory = directory
        self._checkpoint_prefix = os.path.join(directory, checkpoint_name)
        # Checkpoint -> when it was written; those that may be deleted, the oldest first.
        self._maybe_delete: dict[str, float] = {}
        self._latest_checkpoint: str | None = None
        # A little in the past: a manager made right after another must see its checkpoints.
        self._last_preserved_timestamp = time.time() - 1.0
        self._recover()

    def _recover(self) -> None:
        """Takes over what the last manager of the folder wrote down."""
        from .checkpoint_management import get_checkpoint_state

        state = get_checkpoint_state(self._directory)
        if state is None:
            return
        now = time.time()
        self._latest_checkpoint = state.model_checkpoint_path
        preserved = state.last_preserved_timestamp
        if now < preserved:
            get_logger().warning(
                "time.time() returned a value %f seconds behind the last preserved checkpoint "
                "timestamp.",
                preserved - now,
            )
            preserved = now
        self._last_preserved_timestamp = preserved
        paths = state.all_model_checkpoint_paths
        times = state.all_model_checkpoint_timestamps or [preserved] * len(paths)
        for path, written in zip(paths, times):
            if min(written, now) > preserved:
                self._maybe_delete[path] = min(written, now)

    @property
    def latest_checkpoint(self) -> str | None:
        """The prefix of the last checkpoint, or None."""
        return self._latest_checkpoint

    @property
    def checkpoints(self) -> list[str]:
        """The checkpoints that may be deleted one day, the oldest first."""
        return list(self._maybe_delete)

    @property
    def _prefix(self) -> str:
        return self._checkpoint_prefix

    def _sweep(self) -> None:
        """Deletes checkpoints beyond the limit, but for those to keep for their hours."""
        from .checkpoint_management import _delete_file_if_exists

        if not self._max_to_keep:
            return
        while len(self._maybe_delete) > self._max_to_keep:
            path = next(iter(self._maybe_delete))
            written = self._maybe_delete.pop(path)
            hours = self._keep_checkpoint_every_n_hours
            if hours and written - hours * 3600.0 >= self._last_preserved_timestamp:
                self._last_preserved_timestamp = written
                continue
            _delete_file_if_exists(f"{path}.index")
            _delete_file_if_exists(f"{path}.data-?????-of-?????")

    def _record_state(self) -> None:
        from .checkpoint_management import update_checkpoint_state_internal

        assert self._latest_checkpoint is not None
        update_checkpoint_state_internal(
            self._directory,
            model_checkpoint_path=self._latest_checkpoint,
            all_model_checkpoint_paths=list(self._maybe_delete),
            all_model_checkpoint_timestamps=list(self._maybe_delete.values()),
            last_preserved_timestamp=self._last_preserved_timestamp,
            save_relative_paths=True,
        )

    def _count(self) -> Any:
        """Adds one to the checkpoint's counter of saves, made at the first one."""
        from ..ops.variable_scope import variable_creator_scope

        session = get_default_session()

        def initialized(next_creator: Any, **options: Any) -> Any:
            variable = next_creator(**options)
            session.run(variable.initializer)
            return variable

        with variable_creator_scope(initialized):
            counter = self._checkpoint.save_counter
        if self._save_counter_assign is None:
            self._save_counter_assign = counter.assign_add(1, read_value=False)
        session.run(self._save_counter_assign)
        return counter

    def save(self, checkpoint_number: Any = None) -> str:
        """Writes a checkpoint; its number is that of the saves so far unless given."""
        counter = self._count()
        number = counter if checkpoint_number is None else checkpoint_number
        if not isinstance(number, (numbers.Integral, np.integer)):
            number = step.global_step(get_default_session(), number)
        path = self._checkpoint.write(f"{self._prefix}-{int(number)}")
        # One that is written again goes to the end.
        self._maybe_delete.pop(path, None)
        self._maybe_delete[path] = time.time()
        self._latest_checkpoint = path
        # First with the new one, then without the old ones: a crash between loses nothing.
        self._record_state()
        self._sweep()
        self._record_state()
        return path
