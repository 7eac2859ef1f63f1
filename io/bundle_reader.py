# SPDX-License-Identifier: Apache-2.0
"""Reads tensor bundles (see tensor_bundle.py): whole tensors, and slices from stored slices."""

from __future__ import annotations

import contextlib
import difflib
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engine import errors
from ..engine.errors import DataLossError
from ..engine.memory import aligned_empty
from ..engine.session.deferred_assign import LazyArray
from ..engine.types import dtypes
from ..engine.types.shape import shape_text
from . import bulk_read, crc, files, protos
from .atomic_file import PIECE
from .atomic_replace import data_of_index
from .claims import is_array_shape, stored_type
from .positioned_file import DataFile
from .tensor_bundle import data_path, index_path, parse_entry, parse_header, read_index
from .tensor_slice import Shape, TensorSlice, copy_overlap, encoded_name, find_cover
from .tensor_text import read_text_tensor
from .variants import read_variants


def nearest(name: str, names: list[str]) -> str:
    """A hint at names that were perhaps meant, or nothing."""
    found = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return f" (nearest: {', '.join(found)})" if found else ""


def data_file(path: str, index: int) -> DataFile:
    """The data of an index of that checksum, which may be another's already (atomic_replace.py).

    In this order: whoever finds new data under the old name finds the old ones under their second
    name, as long as the old index is there.
    """
    file, kept = DataFile(path), data_of_index(path, index)
    if files.file_exists(kept):
        with contextlib.suppress(errors.NotFoundError):  # until just now
            return DataFile(kept)
    return file


class Entry(NamedTuple):
    """What the index says of a tensor, or of a slice of one."""

    dtype: dtypes.DType
    shape: Shape
    shard: int
    offset: int
    size: int
    checksum: int
    slices: dict[TensorSlice, None]  # in their order


class StoredTensor(LazyArray):
    """A tensor in a data file; its bytes have been checked when anybody sees it."""

    __slots__ = ("file", "offset")

    def __init__(self, file: DataFile, entry: Entry) -> None:
        super().__init__(entry.shape, entry.dtype.np_dtype)
        self.file, self.offset = file, entry.offset

    @classmethod
    def fill_all(cls, sources: Sequence[Any], targets: Sequence[np.ndarray]) -> None:
        """Reads tensors into contiguous arrays of their shapes and types."""
        try:
            bulk_read.read([(s.file, s.offset, target) for s, target in zip(sources, targets)])
        except bulk_read.CutShortError as error:
            raise errors.data_loss(
                f"The data file {error.path} was cut while it was read"
            ) from None


class BundleReader:
    """One checkpoint; errors name it and the tensor."""

    def __init__(self, prefix: str) -> None:
        from google.protobuf.message import DecodeError

        self.prefix = prefix
        self._unreadable = DecodeError
        self._parse = protos.BundleEntryProto.FromString
        self._texts, self._index_checksum = read_index(prefix)
        self.header = parse_header(prefix, self._texts.pop(b""))
        self._swap = self.header.endianness == protos.BundleHeaderProto.BIG
        self._files: dict[int, DataFile] = {}
        # How long they are: what is written to them later is no part of the checkpoint.
        self._lengths: dict[DataFile, int] = {}
        self._known: dict[bytes, Entry] = {}
        # Tensors that were handed out as sources.
        self._unchecked: dict[bytes, Entry] = {}

    def __enter__(self) -> BundleReader:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    @property
    def is_outdated(self) -> bool:
        """Whether somebody has put another checkpoint of the same name in its place."""
        path = index_path(self.prefix)
        with files.open_binary(path, "rb") as file, files.translated(path):
            return crc.value(file.read()) != self._index_checksum

    def close(self) -> None:
        """Closes the data files, each when nothing that was read from it needs it any more."""
        self._files.clear()
        self._lengths.clear()

    def __contains__(self, key: bytes) -> bool:
        return key in self._texts

    def entries(self) -> Iterator[tuple[bytes, Any]]:
        """The messages of all entries in order of their keys, those of slices too."""
        for key, text in self._texts.items():
            yield key, parse_entry(self.prefix, key, text)

    def tensors(self) -> dict[bytes, Any]:
        """The messages of whole tensors."""
        found = dict(self.entries())
        for key, entry in list(found.items()):
            for message in entry.slices:
                found.pop(encoded_name(key, TensorSlice.from_proto(message)), None)
        return found

    def entry(self, key: bytes) -> Entry:
        """What the index says of a tensor; NotFoundError names it and its nearest."""
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._parsed(key)
        return found

    def _parsed(self, key: bytes) -> Entry:
        text = self._texts.get(key)
        if text is None:
            name = key.decode(errors="replace")
            names = [k.decode(errors="replace") for k in self._texts if k[:1] != b"\0"]
            raise errors.not_found(f"Key {name} not found in checkpoint{nearest(name, names)}")
        try:
            message = self._parse(text)
        except self._unreadable:
            message = parse_entry(self.prefix, key, text)  # says what is wrong
        shape = tuple([dim.size for dim in message.shape.dim])
        dtype = stored_type(message.dtype)
        if dtype is None:
            raise self._lost(key, f"Invalid data type {message.dtype} in bundle entry")
        if message.shape.unknown_rank or not is_array_shape(shape, dtype):
            raise self._lost(key, f"Invalid tensor shape: {key.decode(errors='replace')} {shape}")
        slices = message.slices
        return Entry(
            dtype,
            shape,
            message.shard_id,
            message.offset,
            message.size,
            crc.unmask(message.crc32c),
            {TensorSlice.from_proto(part): None for part in slices} if slices else {},
        )

    def dtype_and_shape(self, key: bytes) -> tuple[dtypes.DType, Shape]:
        """The type and the full shape of a tensor."""
        return self.entry(key)[:2]

    def place(self, key: bytes) -> tuple[int, int]:
        """What to sort tensors by, to read them in order."""
        return self.entry(key)[2:4]

    @staticmethod
    def wrong_shape(name: str, wanted: str, stored: str) -> str:
        """That a slice is of a tensor of another shape."""
        return (
            f"tensor_name = {name}; shape in shape_and_slice spec {wanted} "
            f"does not match the shape stored in checkpoint: {stored}"
        )

    def read(self, key: bytes, defer: bool = False) -> Any:
        """A whole tensor; with `defer` a Source of one, not read as yet, where that is less.

        A Source needs the reader's files, which stay open for it, and a `check` by the reader.
        """
        entry = self.entry(key)
        if entry.slices:
            return self.read_slice(key, TensorSlice.full(len(entry.shape)), defer)
        return self._deferred(key, entry) if defer else self._value(key, entry)

    def read_slice(self, key: bytes, wanted: TensorSlice, defer: bool = False) -> Any:
        """A slice of a tensor, from whatever slices are stored; `defer` as for `read`."""
        entry = self.entry(key)
        shape = entry.shape
        parts = find_cover(entry.slices or {TensorSlice.full(len(shape)): None}, wanted, shape)
        if parts is None:
            raise errors.invalid(
                "Does not have sufficient slices for partitioned tensor "
                f"{key.decode(errors='replace')} to restore in slice_spec: {wanted}"
            )
        found = {part: self._stored(key, entry, part) for part in parts}
        for part, (part_key, stored) in found.items():
            # One stored slice is all that is wanted: it need not be copied.
            if part == wanted or stored.shape == wanted.shape(shape) == shape:
                read = self._deferred if defer else self._value
                return read(part_key, stored)
        target = np.empty(wanted.shape(shape), entry.dtype.np_dtype)
        for part, (part_key, stored) in found.items():
            copy_overlap(self._value(part_key, stored), part, target, wanted, shape)
        return target

    def _stored(self, key: bytes, whole: Entry, part: TensorSlice) -> tuple[bytes, Entry]:
        """Key and entry of a slice of a tensor; DataLossError if its bytes cannot be that slice."""
        if part.is_full and not whole.slices:
            return key, whole
        part_key = encoded_name(key, part)
        stored = self.entry(part_key)
        if stored[:2] != (whole.dtype, part.shape(whole.shape)) or stored.slices:
            raise self._lost(key, f"The entry of slice {part} is of another type or shape")
        self._require_plain(part_key, stored)
        return part_key, stored

    def _file(self, shard: int) -> DataFile:
        file = self._files.get(shard)
        if file is None:
            file = self._files[shard] = data_file(
                data_path(self.prefix, shard, self.header.num_shards), self._index_checksum
            )
        return file

    def _lost(self, key: bytes, reason: str) -> DataLossError:
        name = key.decode(errors="replace")
        return errors.data_loss(f"{reason} (tensor {name} in {self.prefix})")

    def _require_plain(self, key: bytes, entry: Entry) -> None:
        """The entry must be of a type that files have, and as long as its shape says."""
        kind = entry.dtype
        if kind == dtypes.resource:
            name = key.decode(errors="replace")
            raise errors.unimplemented(
                f"Restoring data type {entry.dtype.name} not yet supported (tensor {name})"
            )
        count = math.prod(entry.shape)
        if kind in (dtypes.string, dtypes.variant):
            if entry.size < count:
                raise self._wrong_size(key, entry, f"is at least {count}")
        elif entry.size != count * kind.np_dtype.itemsize:
            raise self._wrong_size(key, entry, f"{count * kind.np_dtype.itemsize}")
        if not entry.size:
            return
        file = self._file(entry.shard)
        length = self._lengths.get(file)
        if length is None:
            length = self._lengths[file] = file.size
        if not 0 <= entry.offset <= length - entry.size:
            raise self._lost(
                key,
                f"The data file ends inside of the tensor: {file.path} has {length} bytes, the "
                f"tensor {entry.size} at {entry.offset}",
            )

    def _wrong_size(self, key: bytes, entry: Entry, expected: str) -> DataLossError:
        name = key.decode(errors="replace")
        return self._lost(
            key,
            f"Invalid size in bundle entry: key {name}; stored size {entry.size}; "
            f"expected size {expected}",
        )

    def _deferred(self, key: bytes, entry: Entry) -> Any:
        """A tensor that is read when it is known where to, if it is not read at once."""
        if entry.dtype.np_dtype.hasobject or self._swap or not entry.size:
            return self._value(key, entry)
        self._require_plain(key, entry)
        self._unchecked[key] = entry
        return StoredTensor(self._file(entry.shard), entry)

    def check(self) -> None:
        """Reads what `read` and `read_slice` deferred; DataLossError names what is damaged."""
        waiting = sorted(self._unchecked.items(), key=lambda item: item[1][2:4])
        self._unchecked.clear()
        checks = [(self._file(e.shard), e.offset, e.size, e.checksum) for _, e in waiting]
        try:
            suspects = bulk_read.damaged(checks)
        except bulk_read.CutShortError:
            suspects = list(range(len(waiting)))
        for i in suspects:
            self._check(*waiting[i])

    def _check(self, key: bytes, entry: Entry) -> None:
        """The same for one tensor."""
        file, checksum, piece = self._file(entry.shard), 0, np.empty(PIECE, np.uint8)
        for start in range(0, entry.size, PIECE):
            piece = piece[: entry.size - start]
            if file.read_into(piece.data, entry.offset + start) < len(piece):
                raise self._lost(key, "The data file ends inside of the tensor")
            checksum = crc.extend(checksum, piece)
        self._compare(key, entry, checksum)

    def _compare(self, key: bytes, entry: Entry, checksum: int) -> None:
        if entry.checksum != checksum:
            raise self._lost(
                key,
                f"Checksum does not match: stored {entry.checksum:08d} vs. calculated on the "
                f"restored bytes {checksum}",
            )

    def _value(self, key: bytes, entry: Entry) -> np.ndarray:
        """The tensor of an entry that has bytes of its own."""
        self._require_plain(key, entry)
        if entry.dtype.np_dtype.hasobject:
            array, checksum = self._texts_of(key, entry)
        else:
            array, checksum = self._numbers_of(key, entry)
        self._compare(key, entry, checksum)
        if self._swap and array.dtype != object:
            # After the checksum, which is of the bytes in the file.
            array.byteswap(inplace=True)
        return array

    def _numbers_of(self, key: bytes, entry: Entry) -> tuple[np.ndarray, int]:
        """Reads into the array itself; the checksum is of the bytes as they are in the file."""
        array = aligned_empty(entry.shape, entry.dtype.np_dtype)
        flat, checksum = array.reshape(-1).view(np.uint8), 0
        if not entry.size:
            return array, checksum
        file = self._file(entry.shard)
        for start in range(0, entry.size, PIECE):
            piece = flat[start : start + PIECE]
            if file.read_into(piece.data, entry.offset + start) < len(piece):
                raise self._lost(key, "The data file ends inside of the tensor")
            checksum = crc.extend(checksum, piece)
        return array, checksum

    def _texts_of(self, key: bytes, entry: Entry) -> tuple[np.ndarray, int]:
        count = math.prod(entry.shape)
        if not entry.size:
            return np.empty(entry.shape, object), 0
        data = np.empty(entry.size, np.uint8)
        count_read = self._file(entry.shard).read_into(data.data, entry.offset)
        try:
            stored = data[:count_read].tobytes()
            if entry.dtype == dtypes.variant:
                texts, checksum = read_variants(stored, count)
            else:
                texts, checksum = read_text_tensor(stored, count, self._swap)
        except DataLossError as error:
            raise self._lost(key, error.message) from None
        return texts.reshape(entry.shape), checksum

    def debug_string(self) -> str:
        """A line per tensor: name, type and shape."""
        lines = []
        for key in self._texts:
            entry = self.entry(key)
            if entry.slices:
                continue
            kind = protos.DataType.Name(entry.dtype.as_datatype_enum)
            lines.append(f"{key.decode(errors='replace')} ({kind}) {shape_text(entry.shape)}\n")
        return "".join(lines)
