# SPDX-License-Identifier: Apache-2.0
"""Datasets that keep their elements in a folder for later runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....engine.graph.annotations import TensorLike
from ....engine.graph.convert import convert_to_tensor
from ....engine.types import dtypes
from ...public import raw
from ..unary import UnaryUnchangedStructureDataset

COMPRESSION_GZIP = "GZIP"
COMPRESSION_NONE = None
_UNSAID = -1


class _SnapshotDataset(UnaryUnchangedStructureDataset):
    """The elements of a dataset, written into a folder or read from there."""

    def __init__(self, input_dataset: Any, path: TensorLike, **attributes: Any) -> None:
        self._input_dataset = input_dataset
        self._path = convert_to_tensor(path, dtype=dtypes.string, name="path")
        self._unchanged(raw.SnapshotDataset, path=self._path, **attributes)


def snapshot(
    path: TensorLike,
    compression: str | None = None,
    reader_path_prefix: str | None = None,
    writer_path_prefix: str | None = None,
    shard_size_bytes: int | None = None,
    pending_snapshot_expiry_seconds: int | None = None,
    num_reader_threads: int | None = None,
    reader_buffer_size: int | None = None,
    num_writer_threads: int | None = None,
    writer_buffer_size: int | None = None,
) -> Callable[[Any], Any]:
    """A transformation that writes the elements below a folder, and reads them from there later.

    An iterator over a dataset of the same graph reads what another one has written to the end.
    While that one is at it, it reads the dataset itself.

    Args:
      path: The folder; each graph has one of its own there.
      compression: "GZIP" or None.
      reader_path_prefix: What stands before the path of the elements' files when they are read,
      writer_path_prefix: and when they are written.
      shard_size_bytes: How many bytes of tensors a file has at most: ten gigabytes unless given, at
        least a megabyte.
      pending_snapshot_expiry_seconds: After so many seconds what is not whole is written anew: a
        day unless given.
      num_reader_threads: Of TensorFlow's threads that read; here files are read in order.
      reader_buffer_size: How many elements they read ahead.
      num_writer_threads: So many files are written in turns; one unless given.
      writer_buffer_size: How many elements TensorFlow's threads that write have before them.

    Returns:
      A function for `tf.data.Dataset.apply`.
    """
    numbers = {
        "shard_size_bytes": shard_size_bytes,
        "pending_snapshot_expiry_seconds": pending_snapshot_expiry_seconds,
        "num_reader_threads": num_reader_threads,
        "reader_buffer_size": reader_buffer_size,
        "num_writer_threads": num_writer_threads,
        "writer_buffer_size": writer_buffer_size,
    }
    attributes = {
        "compression": compression or "",
        "reader_path_prefix": reader_path_prefix or "",
        "writer_path_prefix": writer_path_prefix or "",
        **{name: _UNSAID if given is None else given for name, given in numbers.items()},
    }
    return lambda dataset: _SnapshotDataset(dataset, path, **attributes)
