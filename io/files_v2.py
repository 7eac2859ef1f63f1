# SPDX-License-Identifier: Apache-2.0
"""The functions of `tf.io.gfile`: those of `tf.gfile` under TensorFlow 2's names of arguments."""

from __future__ import annotations

from typing import Any

from . import files
from .files import walk_v2

__all__ = ["walk_v2"]


def file_exists_v2(path: Any) -> bool:
    """Whether there is a file or folder of that name."""
    return files.file_exists(path)


def delete_file_v2(path: Any) -> None:
    """Removes a file."""
    files.delete_file(path)


def get_matching_files_v2(pattern: Any) -> list[str]:
    """The paths that match a pattern, or any of several patterns."""
    return files.get_matching_files(pattern)


def create_dir_v2(path: Any) -> None:
    """Creates a folder in an existing one."""
    files.create_dir(path)


def recursive_create_dir_v2(path: Any) -> None:
    """Creates a folder and those above it; nothing happens if it is there."""
    files.recursive_create_dir(path)


def copy_v2(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file; replaces another one only if `overwrite` is set."""
    files.copy(src, dst, overwrite)


def rename_v2(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Renames a file; replaces another one only if `overwrite` is set."""
    files.rename(src, dst, overwrite)


def delete_recursively_v2(path: Any) -> None:
    """Removes a folder with all that is in it."""
    files.delete_recursively(path)


def is_directory_v2(path: Any) -> bool:
    """Whether a path is a folder."""
    return files.is_directory(path)


def list_directory_v2(path: Any) -> list[str]:
    """The names in a folder."""
    return files.list_directory(path)


def stat_v2(path: Any) -> files.FileStatistics:
    """Length, time of change and kind of a path."""
    return files.stat(path)
