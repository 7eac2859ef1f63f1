# SPDX-License-Identifier: Apache-2.0
"""Tensor bundles, the format of checkpoints: `prefix.index` and `prefix.data-00000-of-00001`.

The index is a table (table.py) of a header and an entry per tensor: dtype, shape, and where its
bytes lie in the data files.  A slice of a partitioned tensor is an entry of its own.  Files are
written under other names and renamed when they are whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.errors import (
    AlreadyExistsError,
    DataLossError,
    OpError,
)
from ..engine.types import dtypes
from ..engine.types.shape import shape_text
from . import crc, files, protos, table
from .atomic_file import Output, remove_abandoned
from .atomic_replace import replacing
from .tensor_slice import Shape, TensorSlice, encoded_name
from .tensor_text import text_tensor_pieces
from .variants import variant_pieces

# No tensor is called so, and it sorts first.
HEADER_KEY = b""
VERSION = 1


def index_path(prefix: str) -> str:
    """The index file of a checkpoint."""
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    """A data file of a checkpoint."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


def make_parent(prefix: str) -> None:
    """Makes the folder of a checkpoint inside an existing one."""
    folder = os.path.dirname(prefix)
    if folder and not files.is_directory(folder):
        try:
            files.create_dir(folder)
        except AlreadyExistsError:
            return  # Another writer was faster.


class BundleWriter:
    """Writes one bundle; nothing is visible under its name before `finish`."""

    def __init__(self, prefix: str, size: int = 0) -> None:
        """size: the tensors have at least so many bytes; 0 when that is not known."""
        self.prefix = prefix
        self.entries: dict[bytes, Any] = {}
        make_parent(prefix)
        remove_abandoned(prefix)
        self.data = Output(data_path(prefix, 0, 1), size)

    def __enter__(self) -> BundleWriter:
        return self

    def __exit__(self, kind: Callable[..., Any] | None, *unused: Any) -> None:
        if kind is not None:
            self.data.discard()

    def add(self, key: bytes, array: np.ndarray, dtype: dtypes.DType) -> None:
        """Adds a tensor."""
        if key in self.entries:
            raise errors.invalid(f"Adding duplicate key: {key.decode(errors='replace')}")
        if dtype == dtypes.resource:
            raise errors.unimplemented(
                f"Saving data type {dtype.name} not yet supported "
                f"(tensor {key.decode(errors='replace')})"
            )
        entry = _entry(dtype, array.shape)
        start = self.data.size
        if dtype in (dtypes.string, dtypes.variant):
            is_text = dtype == dtypes.string
            pieces, checksum = (text_tensor_pieces if is_text else variant_pieces)(array)
            for piece in pieces:
                self.data.write(piece)
        else:
            flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            checksum = self.data.write_array(flat)
        # A field with the value 0 is left out, as TensorFlow's writers do.
        if start:
            entry.offset = start
        entry.size = self.data.size - start
        entry.crc32c = crc.mask(checksum)
        self.entries[key] = entry

    def add_slice(
        self, key: bytes, shape: Shape, part: TensorSlice, array: np.ndarray, dtype: dtypes.DType
    ) -> None:
        """Adds a slice of the tensor `key`, which has the given shape in all."""
        # A variable that a partitioner left whole is saved as any other.
        if part.covers(shape):
            self.add(key, array, dtype)
            return
        whole = self.entries.get(key)
        if whole is None:
            whole = self.entries[key] = _entry(dtype, shape)
        elif whole.dtype != dtype.as_datatype_enum or _shape_of(whole) != shape:
            raise errors.invalid(
                f"Slices of {key.decode(errors='replace')} differ in dtype or full shape: "
                f"{shape_text(_shape_of(whole))} and {shape_text(shape)}"
            )
        part.write_to(whole.slices.add())
        self.add(encoded_name(key, part), array, dtype)

    def finish(self) -> None:
        """Makes the checkpoint visible: its data, then the index that refers to them."""
        index = None
        try:
            self.data.finish()
            index = write_index(self.prefix, _header(1), self.entries)
            with replacing(self.prefix):
                # Whoever sees an index finds its data.
                self.data.publish()
                index.publish()
        except BaseException:
            self.data.discard()
            if index is not None:
                index.discard()
            raise
        files.sync_directory(self.prefix)


def _entry(dtype: dtypes.DType, shape: Shape) -> Any:
    entry = protos.BundleEntryProto(dtype=dtype.as_datatype_enum)
    entry.shape.SetInParent()
    for size in shape:
        entry.shape.dim.add(size=size)
    return entry


def _header(shards: int) -> Any:
    header = protos.BundleHeaderProto(num_shards=shards)
    header.version.producer = VERSION
    return header


def write_index(prefix: str, header: Any, entries: dict[bytes, Any]) -> Output:
    """An index file that is whole but has no name yet."""
    output = Output(index_path(prefix))
    items = [(HEADER_KEY, header.SerializeToString())]
    items += [(key, entries[key].SerializeToString()) for key in sorted(entries)]
    try:
        for piece in table.pieces(items):
            output.write(piece)
        output.finish()
    except BaseException:
        output.discard()
        raise
    return output


def _shape_of(entry: Any) -> Shape:
    return tuple(dim.size for dim in entry.shape.dim)


def read_index(prefix: str) -> tuple[dict[bytes, bytes], int]:
    """The entries of an index file, serialized, by key and in order; the file's checksum."""
    path = index_path(prefix)
    with files.open_binary(path, "rb") as file, files.translated(path):
        data = file.read()
    try:
        entries = dict(table.Table(data))
    except DataLossError as error:
        raise errors.data_loss(f"{error.message} ({path})") from None
    if HEADER_KEY not in entries:
        raise errors.data_loss(
            f"Unable to read file ({path}). Perhaps the file is corrupt or was produced by a newer "
            "version of TensorFlow with format changes (failed to seek to header entry)"
        )
    return entries, crc.value(data)


def parse_header(prefix: str, text: bytes) -> Any:
    """The header of an index; InvalidArgumentError for a format of the future."""
    header = _parsed(protos.BundleHeaderProto(), text, "the header", index_path(prefix))
    if header.version.min_consumer > VERSION:
        raise errors.invalid(
            f"Checkpoint min consumer version {header.version.min_consumer} above current version "
            f"{VERSION}.  Please upgrade."
        )
    return header


def parse_entry(prefix: str, key: bytes, text: bytes) -> Any:
    """An entry of an index."""
    name = f"key {key.decode(errors='replace')}"
    return _parsed(protos.BundleEntryProto(), text, name, index_path(prefix))


def _parsed(message: Any, text: bytes, what: str, path: str) -> Any:
    from google.protobuf.message import DecodeError

    try:
        message.ParseFromString(text)
    except DecodeError:
        raise errors.data_loss(f"Entry for {what} not parseable ({path}).") from None
    return message


def merge_bundles(prefixes: Iterable[str], merged_prefix: str) -> None:
    """Makes one bundle of several; their data files move to its name."""
    merge = _Merge()
    make_parent(merged_prefix)
    remove_abandoned(merged_prefix)
    sources = list(prefixes)
    for prefix in sources:
        merge.add(prefix)
    assert merge.header is not None
    merge.header.num_shards = merge.shards
    index = write_index(merged_prefix, merge.header, merge.entries)
    try:
        with replacing(merged_prefix):
            for path, shard in merge.shard_ids.items():
                target = data_path(merged_prefix, shard, len(merge.shard_ids))
                files.rename(path, target, overwrite=True)
            index.publish()
    except BaseException:
        index.discard()
        raise
    files.sync_directory(merged_prefix)
    for prefix in sources:
        try:
            files.delete_file(index_path(prefix))
        except OpError:
            continue  # It does no harm.


class _Merge:
    """The entries of several bundles as those of one."""

    def __init__(self) -> None:
        self.header: Any = None
        self.shards = 0
        self.entries: dict[bytes, Any] = {}
        self.shard_ids: dict[str, int] = {}

    def add(self, prefix: str) -> None:
        """Takes over the entries of a bundle."""
        texts, _ = read_index(prefix)
        header = parse_header(prefix, texts.pop(HEADER_KEY))
        self._check(header)
        for key, text in texts.items():
            entry = parse_entry(prefix, key, text)
            present = self.entries.get(key)
            if present is None:
                path = data_path(prefix, entry.shard_id, header.num_shards)
                entry.shard_id = self.shard_ids.setdefault(path, len(self.shard_ids))
                self.entries[key] = entry
                continue
            if not present.slices or not entry.slices:
                raise errors.invalid(
                    f"Duplicate tensor keyed by {key.decode(errors='replace')} encountered, when "
                    f"merging prefix: {prefix}"
                )
            # Both have slices of one partitioned tensor, whose bytes are under keys of their own.
            present.slices.extend(entry.slices)

    def _check(self, header: Any) -> None:
        self.shards += header.num_shards
        if self.header is None:
            self.header = header
        elif self.header.endianness != header.endianness:
            raise errors.invalid("Merging bundles with conflicting endianness; inputs corrupted?")
        elif self.header.version != header.version:
            raise errors.invalid(
                "Merging bundles with different format versions: merged "
                f"{self.header.version} vs. curr {header.version}"
            )
