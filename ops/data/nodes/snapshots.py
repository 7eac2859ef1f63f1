# SPDX-License-Identifier: Apache-2.0
"""The op of datasets that keep their elements in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....engine import errors
from ....engine.graph.registry import writes
from ..runtime.dataset import Dataset, dataset_in
from ..runtime.origins import graph_of
from ..runtime.snapshots import Settings, SnapshotDataset
from .common import TYPES, define_dataset, scalar, scalars

if TYPE_CHECKING:
    from ....engine.graph.kernel_context import KernelContext

_LEAST_SHARD = 1 << 20
_UNSAID = -1


def _settings(c: KernelContext, path: str) -> Settings:
    texts = [_text(c, n) for n in ("compression", "reader_path_prefix", "writer_path_prefix")]
    if texts[0] not in ("", "GZIP"):
        raise errors.invalid("compression must be either '' or 'GZIP'.")
    names = {
        "shard_bytes": "shard_size_bytes",
        "expiry_seconds": "pending_snapshot_expiry_seconds",
        "writers": "num_writer_threads",
    }
    given: Any = {own: c.attr(name) for own, name in names.items() if c.attr(name) != _UNSAID}
    found = Settings(path, texts[0], texts[1], texts[2], **given)
    if found.shard_bytes < _LEAST_SHARD:
        raise errors.invalid("shard_size_bytes must be at least 1 MiB.")
    if found.expiry_seconds < 1:
        raise errors.invalid("pending_snapshot_expiry_seconds must be at least 1 second.")
    if found.writers < 1:
        raise errors.invalid("num_writer_threads must be at least 1.")
    return found


def _text(c: KernelContext, name: str) -> str:
    value = c.attr(name)
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)


def _snapshot(c: KernelContext, source: Any, path: Any) -> Dataset:
    from ....io.subgraph_hash import subgraph_hash

    dataset = dataset_in(source)
    folder = scalar(path, "path").decode(errors="surrogateescape")
    settings = _settings(c, folder)
    graph_hash = f"{subgraph_hash(graph_of(dataset), 'dataset'):016x}"
    return SnapshotDataset(dataset, graph_hash, settings)


define_dataset(
    "SnapshotDataset",
    "input_dataset: variant, path: string",
    f"{TYPES}; compression: string = ''; reader_path_prefix: string = ''; "
    "writer_path_prefix: string = ''; shard_size_bytes: int = 10737418240; "
    "pending_snapshot_expiry_seconds: int = 86400; num_reader_threads: int = 1; "
    "reader_buffer_size: int = 1; num_writer_threads: int = 1; writer_buffer_size: int = 1",
    _snapshot,
    "A dataset that is written into a folder, or read from there if another run wrote it.",
    shape=scalars(0, 0),
    touches=writes("path"),
)
