# SPDX-License-Identifier: Apache-2.0
"""Which checkpoints there are: the `checkpoint` file of a folder, files by prefix, a manager."""

from __future__ import annotations

import numbers
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...engine.api import export
from ...engine.compat import path_to_str
from ...engine.errors import OpError
from ...engine.graph.defaults import get_default_session
from ...engine.interface import log
from ...io import protos
from ..variables import global_step
from .saver_builder import V1, V2


def _state_path(save_dir: str, latest_filename: str | None) -> str:
    return os.path.join(save_dir, "checkpoint" if latest_filename is None else latest_filename)


@export("train.generate_checkpoint_state_proto")
def generate_checkpoint_state_proto(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> Any:
    """A CheckpointState; paths in a relative folder become relative to it."""
    # A list of the caller's gets the new path too, as in TensorFlow.
    paths = all_model_checkpoint_paths
    if not isinstance(paths, list):
        paths = list(paths or ())
    if not paths or paths[-1] != model_checkpoint_path:
        log.info(
            "%s is not in all_model_checkpoint_paths. Manually adding it.", model_checkpoint_path
        )
        paths.append(model_checkpoint_path)
    times = all_model_checkpoint_timestamps
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {times})"
        )

    def relative(path: str) -> str:
        return path if os.path.isabs(path) else os.path.relpath(path, save_dir)

    if not os.path.isabs(save_dir):
        model_checkpoint_path = relative(model_checkpoint_path)
        paths = [relative(path) for path in paths]
    return protos.CheckpointState(
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp,
    )


@export("train.update_checkpoint_state")
def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the `checkpoint` file of a folder."""
    update_checkpoint_state_internal(
        save_dir,
        model_checkpoint_path,
        all_model_checkpoint_paths=all_model_checkpoint_paths,
        latest_filename=latest_filename,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def update_checkpoint_state_internal(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
    save_relative_paths: bool = False,
    all_model_checkpoint_timestamps: Sequence[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> None:
    """Writes the `checkpoint` file of a folder, with relative paths if asked for."""
    from google.protobuf import text_format

    from ...io import files

    save_dir = path_to_str(save_dir)
    target = _state_path(save_dir, latest_filename)
    named, paths = model_checkpoint_path, all_model_checkpoint_paths
    if save_relative_paths:
        named = _below(named, save_dir)
        paths = [_below(path, save_dir) for path in paths or ()]
    state = generate_checkpoint_state_proto(
        save_dir,
        named,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=all_model_checkpoint_timestamps,
        last_preserved_timestamp=last_preserved_timestamp,
    )
    # The two files would overwrite each other.
    if target == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  "
            "Please use a different save path."
        )
    files.atomic_write_string_to_file(target, text_format.MessageToString(state))


def _below(path: str, folder: str) -> str:
    return os.path.relpath(path, folder) if os.path.isabs(path) else path


@export("train.get_checkpoint_state")
def get_checkpoint_state(checkpoint_dir: str, latest_filename: str | None = None) -> Any:
    """What the file `checkpoint` of a folder says, with full paths.

    Args:
        checkpoint_dir: the folder.
        latest_filename: the file's name; "checkpoint" if None.

    Returns:
        A CheckpointState: `model_checkpoint_path`, the last one, and all that are kept; None if
        there is nothing to read.

    Raises:
        ValueError: the file names no checkpoint.

    Example:
        >>> v, sess = tf.Variable(1.0), tf.Session()
        >>> sess.run(v.initializer)
        >>> path = tf.train.Saver().save(sess, "./logs/model.ckpt", global_step=7)
        >>> tf.train.get_checkpoint_state("./logs").model_checkpoint_path == path
        True
    """
    from google.protobuf import text_format

    from ...io import files

    checkpoint_dir = path_to_str(checkpoint_dir)
    path = _state_path(checkpoint_dir, latest_filename)
    if not files.file_exists(path):
        return None
    state = protos.CheckpointState()
    try:
        text_format.Merge(files.read_file_to_string(path), state)
    except (OpError, text_format.ParseError, UnicodeDecodeError) as error:
        log.warning("%s: %s", type(error).__name__, error)
        log.warning("%s: Checkpoint ignored", path)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    # A join leaves absolute paths as they are.
    state.model_checkpoint_path = _joined(checkpoint_dir, state.model_checkpoint_path)
    for i, one in enumerate(state.all_model_checkpoint_paths):
        state.all_model_checkpoint_paths[i] = _joined(checkpoint_dir, one)
    return state


def _joined(folder: str, path: str) -> str:
    return path if os.path.isabs(path) or "://" in path else os.path.join(folder, path)


def _prefix_to_checkpoint_path(prefix: str, format_version: int) -> str:
    """The file that stands for a checkpoint of a format."""
    return f"{prefix}.index" if format_version == V2 else prefix


def _found(prefix: str) -> list[str]:
    """The files that stand for a checkpoint, of the newer format if there are such."""
    from ...io import files

    return files.get_matching_files(
        _prefix_to_checkpoint_path(prefix, V2)
    ) or files.get_matching_files(_prefix_to_checkpoint_path(prefix, V1))


@export("train.latest_checkpoint")
def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """The checkpoint that was written last in a folder.

    Args:
        checkpoint_dir: the folder.
        latest_filename: the file there that says so; "checkpoint" if None.

    Returns:
        The prefix of its files, which tf.train.Saver.restore takes; None if there is none.

    Example:
        >>> v, sess = tf.Variable(1.0), tf.Session()
        >>> sess.run(v.initializer)
        >>> path = tf.train.Saver().save(sess, "./logs/model.ckpt", global_step=7)
        >>> tf.train.latest_checkpoint("./logs"), tf.train.latest_checkpoint("./nowhere")
        ('./logs/model.ckpt-7', None)
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not state.model_checkpoint_path:
        return None
    if _found(state.model_checkpoint_path):
        return state.model_checkpoint_path
    log.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


@export("train.checkpoint_exists")
def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Whether there is a checkpoint of either format."""
    return checkpoint_exists_internal(checkpoint_prefix)


def checkpoint_exists_internal(checkpoint_prefix: str) -> bool:
    """The same, for the package's own use."""
    return bool(_found(path_to_str(checkpoint_prefix)))


@export("train.get_checkpoint_mtimes")
def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str]) -> list[float]:
    """When the checkpoints that exist were written, in seconds."""
    from ...io import files

    found = (_found(prefix) for prefix in checkpoint_prefixes)
    return [files.stat(paths[0]).mtime_nsec / 1e9 for paths in found if paths]


@export("train.remove_checkpoint")
def remove_checkpoint(
    checkpoint_prefix: str, checkpoint_format_version: int = V2, meta_graph_suffix: str = "meta"
) -> None:
    """Deletes the files of a checkpoint and its meta graph."""
    _delete_file_if_exists(meta_graph_filename(checkpoint_prefix, meta_graph_suffix))
    if checkpoint_format_version == V2:
        _delete_file_if_exists(f"{checkpoint_prefix}.index")
        _delete_file_if_exists(f"{checkpoint_prefix}.data-?????-of-?????")
    else:
        _delete_file_if_exists(checkpoint_prefix)


def _delete_file_if_exists(filespec: str) -> None:
    from ...io import files

    for path in files.get_matching_files(filespec):
        files.delete_file(path)


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """The file with the meta graph of a checkpoint, which all its shards share."""
    # V1 shards are named "prefix-00000-of-00002", or "prefix-?????-of-00002" for all of them.
    return re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename) + f".{meta_graph_suffix}"


@export("train.CheckpointManager", "contrib.checkpoint.CheckpointManager")
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
        state = get_checkpoint_state(self._directory)
        if state is None:
            return
        now = time.time()
        self._latest_checkpoint = state.model_checkpoint_path
        preserved = state.last_preserved_timestamp
        if now < preserved:
            log.warning(
                "time.time() returned a value %f seconds behind the last preserved checkpoint "
                "timestamp.",
                preserved - now,
            )
            # The clock was set back: with a time of the future nothing would be deleted until then.
            preserved = now
        self._last_preserved_timestamp = preserved
        paths = state.all_model_checkpoint_paths
        # Older files have no times: such checkpoints count as kept, and are never deleted.
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
        if not self._max_to_keep:
            return
        while len(self._maybe_delete) > self._max_to_keep:
            path = next(iter(self._maybe_delete))
            written = self._maybe_delete.pop(path)
            hours = self._keep_checkpoint_every_n_hours
            # Kept for good, and forgotten: the next one to keep is at least so much younger.
            if hours and written - hours * 3600.0 >= self._last_preserved_timestamp:
                self._last_preserved_timestamp = written
                continue
            _delete_file_if_exists(f"{path}.index")
            _delete_file_if_exists(f"{path}.data-?????-of-?????")

    def _record_state(self) -> None:
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
        from ...ops.state.variable_scope import variable_creator_scope

        session = get_default_session()

        def initialized(next_creator: Callable[..., Any], **options: Any) -> Any:
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
            number = global_step.global_step(get_default_session(), number)
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
