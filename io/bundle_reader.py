# SPDX-License-Identifier: Apache-2.0
"""Reads tensor bundles (see tensor_bundle.py): whole tensors, and slices from stored slices."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from ..engine import dtypes
from ..engine.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from ..engine.state import shape_text
from . import crc, files, protos
from .tensor_bundle import PIECE, data_path, parse_entry, parse_header, read_index
from .tensor_slice import Shape, TensorSlice, copy_overlap, encoded_name, find_cover
from .tensor_text import read_text_tensor


def nearest(name: str, names: list[str]) -> str:
    """A hint at names that were perhaps meant, or nothing."""
    found = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    return f" (nearest: {', '.join(found)})" if found else ""


class BundleReader:
    """One checkpoint; errors name it and the tensor."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._texts = read_index(prefix)
        self.header = parse_header(prefix, self._texts.pop(b""))
        self._swap = self.header.endianness == protos.BundleHeaderProto.BIG
        self._files: dict[int, IO[bytes]] = {}

    def __enter__(self) -> BundleReader:
        return self

    def __exit__(self, *unused: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the data files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def __del__(self) -> None:
        # Readers of `NewCheckpointReader` are never closed by their users.
        if hasattr(self, "_files"):
            self.close()

    def __contains__(self, key: bytes) -> bool:
        return key in self._texts

    def entries(self) -> Iterator[tuple[bytes, Any]]:
        """All entries in order of their keys, those of slices too."""
        for key, text in self._texts.items():
            yield key, parse_entry(self.prefix, key, text)

    def tensors(self) -> dict[bytes, Any]:
        """The entries of whole tensors."""
        found = dict(self.entries())
        for key, entry in list(found.items()):
            for message in entry.slices:
                found.pop(encoded_name(key, TensorSlice.from_proto(message)), None)
        return found

    def entry(self, key: bytes) -> Any:
        """What the index says of a tensor; NotFoundError names it and its nearest."""
        text = self._texts.get(key)
        if text is None:
            name = key.decode(errors="replace")
            names = [k.decode(errors="replace") for k in self._texts if k[:1] != b"\0"]
            raise NotFoundError(
                None, None, f"Key {name} not found in checkpoint{nearest(name, names)}"
            )
        entry = parse_entry(self.prefix, key, text)
        if any(dim.size < 0 for dim in entry.shape.dim):
            raise DataLossError(
                None, None, f"Invalid tensor shape: {key.decode(errors='replace')} {entry.shape}"
            )
        return entry

    def dtype_and_shape(self, key: bytes) -> tuple[dtypes.DType, Shape]:
        """The type and the full shape of a tensor."""
        entry = self.entry(key)
        return dtypes.as_dtype(entry.dtype), tuple(dim.size for dim in entry.shape.dim)

    def read(self, key: bytes) -> np.ndarray:
        """A whole tensor."""
        entry = self.entry(key)
        if not entry.slices:
            return self._value(key, entry)
        return self.read_slice(key, TensorSlice.full(len(entry.shape.dim)))

    def read_slice(self, key: bytes, wanted: TensorSlice) -> np.ndarray:
        """A slice of a tensor, from whatever slices are stored."""
        entry = self.entry(key)
        shape = tuple(dim.size for dim in entry.shape.dim)
        stored = [TensorSlice.from_proto(message) for message in entry.slices]
        parts = find_cover(stored or [TensorSlice.full(len(shape))], wanted, shape)
        if parts is None:
            raise InvalidArgumentError(
                None,
                None,
                "Does not have sufficient slices for partitioned tensor "
                f"{key.decode(errors='replace')} to restore in slice_spec: {wanted}",
            )
        target: np.ndarray | None = None
        for part in parts:
            part_key = key if part.is_full else encoded_name(key, part)
            source = self._value(part_key, entry if part.is_full else self.entry(part_key))
            if part == wanted or source.shape == wanted.shape(shape) == shape:
                return source
            if target is None:
                target = np.empty(wanted.shape(shape), source.dtype)
            copy_overlap(source, part, target, wanted, shape)
        kind = dtypes.as_dtype(entry.dtype).np_dtype
        return np.empty(wanted.shape(shape), kind) if target is None else target

    def _file(self, shard: int) -> IO[bytes]:
        file = self._files.get(shard)
        if file is None:
            path = data_path(self.prefix, shard, self.header.num_shards)
            file = self._files[shard] = files.open_binary(path, "rb")
        return file

    def _lost(self, key: bytes, reason: str) -> DataLossError:
        name = key.decode(errors="replace")
        return DataLossError(None, None, f"{reason} (tensor {name} in {self.prefix})")

    def _value(self, key: bytes, entry: Any) -> np.ndarray:
        """The tensor of an entry that has bytes of its own."""
        dtype = dtypes.as_dtype(entry.dtype)
        shape = tuple(dim.size for dim in entry.shape.dim)
        if dtype in (dtypes.variant, dtypes.resource):
            name = key.decode(errors="replace")
            raise UnimplementedError(
                None, None, f"Restoring data type {dtype.name} not yet supported (tensor {name})"
            )
        if dtype == dtypes.string:
            array, checksum = self._texts_of(key, entry, shape)
        else:
            array, checksum = self._numbers_of(key, entry, dtype, shape)
        stored = crc.unmask(entry.crc32c)
        if stored != checksum:
            raise self._lost(
                key,
                f"Checksum does not match: stored {stored:08d} vs. calculated on the restored "
                f"bytes {checksum}",
            )
        if self._swap and array.dtype != object:
            array.byteswap(inplace=True)
        return array

    def _numbers_of(
        self, key: bytes, entry: Any, dtype: dtypes.DType, shape: Shape
    ) -> tuple[np.ndarray, int]:
        """Reads into the array itself; the checksum is of the bytes as they are in the file."""
        kind = dtype.np_dtype
        expected = math.prod(shape) * kind.itemsize
        if entry.size != expected:
            raise self._lost(
                key,
                f"Invalid size in bundle entry: key {key.decode(errors='replace')}; stored size "
                f"{entry.size}; expected size {expected}",
            )
        array = np.empty(shape, kind)
        view = array.reshape(-1).view(np.uint8).data
        checksum = 0
        file = self._file(entry.shard_id)
        with files.translated(self.prefix):
            file.seek(entry.offset)
            for start in range(0, expected, PIECE):
                piece = view[start : start + PIECE]
                if _fill(file, piece) < len(piece):
                    raise self._lost(key, "The data file ends inside of the tensor")
                checksum = crc.extend(checksum, bytes(piece))
        return array, checksum

    def _texts_of(self, key: bytes, entry: Any, shape: Shape) -> tuple[np.ndarray, int]:
        count = math.prod(shape)
        if entry.size < count:
            raise self._lost(
                key,
                f"Invalid size in bundle entry: key {key.decode(errors='replace')}; stored size "
                f"{entry.size}; expected size is at least {count}",
            )
        file = self._file(entry.shard_id)
        with files.translated(self.prefix):
            file.seek(entry.offset)
            data = file.read(entry.size)
        if not entry.size:
            return np.empty(shape, object), 0
        try:
            texts, checksum = read_text_tensor(data, count, self._swap)
        except DataLossError as error:
            raise self._lost(key, error.message) from None
        return texts.reshape(shape), checksum

    def debug_string(self) -> str:
        """A line per tensor: name, type and shape."""
        lines = []
        for key, entry in self.entries():
            if entry.slices:
                continue
            kind = protos.DataType.Name(entry.dtype)
            sizes = shape_text(tuple(dim.size for dim in entry.shape.dim))
            lines.append(f"{key.decode(errors='replace')} ({kind}) {sizes}\n")
        return "".join(lines)


def _fill(file: IO[bytes], target: memoryview) -> int:
    """Reads until the target is full or the file ends; returns how much was read."""
    done = 0
    while done < len(target):
        count = file.readinto(target[done:])  # type: ignore[attr-defined]
        if not count:
            break
        done += count
    return done
