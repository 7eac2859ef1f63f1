# SPDX-License-Identifier: Apache-2.0
"""Which checkpoints there are: the `checkpoint` file of a folder, and files by prefix."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..engine.api import export
from ..engine.compat import path_to_str
from ..engine.errors import OpError
from ..engine.log import get_logger
from ..io import protos
from .checkpoint_manager import CheckpointManager as CheckpointManager
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
        get_logger().info(
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

    from ..io import files

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
    """The CheckpointState of a folder with full paths; None when there is none to read."""
    from google.protobuf import text_format

    from ..io import files

    checkpoint_dir = path_to_str(checkpoint_dir)
    path = _state_path(checkpoint_dir, latest_filename)
    if not files.file_exists(path):
        return None
    state = protos.CheckpointState()
    try:
        text_format.Merge(files.read_file_to_string(path), state)
    except (OpError, text_format.ParseError, UnicodeDecodeError) as error:
        get_logger().warning("%s: %s", type(error).__name__, error)
        get_logger().warning("%s: Checkpoint ignored", path)
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
    from ..io import files

    return files.get_matching_files(
        _prefix_to_checkpoint_path(prefix, V2)
    ) or files.get_matching_files(_prefix_to_checkpoint_path(prefix, V1))


@export("train.latest_checkpoint")
def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """The prefix of the checkpoint that was written last in a folder, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None or not state.model_checkpoint_path:
        return None
    if _found(state.model_checkpoint_path):
        return state.model_checkpoint_path
    get_logger().error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
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
    from ..io import files

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
    from ..io import files

    for path in files.get_matching_files(filespec):
        files.delete_file(path)


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """The file with the meta graph of a checkpoint, which all its shards share."""
    return re.sub(r"-[\d\?]+-of-\d+$", "", checkpoint_filename) + f".{meta_graph_suffix}"
