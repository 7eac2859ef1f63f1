# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of the first format: one table with a list of slices and the data of each.

Old programs' files are read, also in shards; writing is for savers that ask for version V1.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..engine import errors
from ..engine.errors import (
    DataLossError,
    OpError,
)
from ..engine.types import dtypes
from ..engine.types.shape import shape_text
from . import files, protos, table
from .bundle_reader import nearest
from .claims import is_array_shape, stored_type
from .tensor_proto import listed_array, listing, shape_proto
from .tensor_slice import Shape, TensorSlice, copy_overlap, encoded_name, find_cover

_META = b""
_VERSION = 1
_LIMIT = 1 << 31  # protobuf's limit for one message
# (name, full shape, slice, array, dtype)
Part = tuple[bytes, Shape, TensorSlice, np.ndarray, dtypes.DType]


def write(path: str, parts: Iterable[Part]) -> None:
    """Writes a checkpoint under another name and renames it when it is whole."""
    meta = protos.SavedTensorSlices()
    meta.meta.versions.producer = _VERSION
    known: dict[bytes, Any] = {}
    items: dict[bytes, bytes] = {}
    for part in sorted(parts, key=lambda part: part[0]):
        _describe(meta, known, part)
        items.setdefault(encoded_name(part[0], part[2]), _data(part))
    temporary = f"{path}.tempstate{uuid.uuid4().int % (1 << 64)}"
    try:
        with files.open_binary(temporary, "wb") as file, files.translated(temporary):
            for piece in table.pieces([(_META, meta.SerializeToString()), *sorted(items.items())]):
                file.write(piece)
            files.sync(file)
        files.rename(temporary, path, overwrite=True)
    except BaseException:
        if files.file_exists(temporary):
            files.delete_file(temporary)
        raise
    files.sync_directory(path)


def _describe(meta: Any, known: dict[bytes, Any], part: Part) -> None:
    """Adds a slice to the list at the beginning of the file."""
    name, shape, extents, _, dtype = part
    entry = known.get(name)
    if entry is None:
        entry = known[name] = meta.meta.tensor.add(
            name=name.decode(), shape=shape_proto(shape), type=dtype.as_datatype_enum
        )
        entry.shape.SetInParent()
    elif tuple(dim.size for dim in entry.shape.dim) != shape:
        sizes = shape_text(tuple(dim.size for dim in entry.shape.dim))
        raise errors.internal(
            f"Mismatching shapes: existing tensor = {sizes}, trying to add name {name.decode()}, "
            f"shape = {shape_text(shape)}"
        )
    elif entry.type != dtype.as_datatype_enum:
        raise errors.internal(
            f"Mismatching types: existing type = {dtypes.as_dtype(entry.type).name}, trying to "
            f"add name {name.decode()}, type = {dtype.name}"
        )
    extents.write_to(entry.slice.add())


def _data(part: Part) -> bytes:
    name, _, extents, array, dtype = part
    if array.nbytes >= _LIMIT:
        raise errors.invalid(f"Tensor slice is too large to serialize: {name.decode()}")
    message = protos.SavedTensorSlices()
    message.data.name = name.decode()
    extents.write_to(message.data.slice)
    field, values = listing(array, dtype)
    message.data.data.SetInParent()
    getattr(message.data.data, field).extend(values)
    return message.SerializeToString()


class V1Reader:
    """The tensors in the files that match a pattern."""

    # All is in memory: nobody can replace it.
    is_outdated = False

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        paths = files.get_matching_files(pattern)
        if not paths:
            raise errors.not_found(
                "Unsuccessful TensorSliceReader constructor: Failed to find any matching files "
                f"for {pattern}"
            )
        self._tables: list[table.Table] = []
        # Name -> dtype, full shape, {slice: number of its table}.
        self._tensors: dict[bytes, tuple[dtypes.DType, Shape, dict[TensorSlice, int]]] = {}
        for path in paths:
            self._load(path)

    def _load(self, path: str) -> None:
        from google.protobuf.message import DecodeError

        try:
            with files.open_binary(path, "rb") as file, files.translated(path):
                content = table.Table(file.read())
        except OpError as error:
            raise errors.data_loss(
                f"Unable to open table file {path}: {_status(error)}: perhaps your file is in a "
                "different file format and you need to use a different restore operator?"
            ) from None
        try:
            # No list, or an empty one, is no checkpoint: 0xFF begins no message.
            message = protos.SavedTensorSlices.FromString(content.get(_META) or b"\xff")
        except DecodeError:
            raise errors.internal(
                "Failed to find the saved tensor slices at the beginning of the checkpoint file: "
                f"{path}"
            ) from None
        number = len(self._tables)
        self._tables.append(content)
        for entry in message.meta.tensor:
            shape, dtype = tuple(dim.size for dim in entry.shape.dim), stored_type(entry.type)
            if dtype is None:
                raise _lost(f"Invalid data type {entry.type}", entry.name, path)
            if entry.shape.unknown_rank or not is_array_shape(shape, dtype):
                raise _lost(f"Invalid tensor shape {shape}", entry.name, path)
            found = self._tensors.setdefault(entry.name.encode(), (dtype, shape, {}))
            for part in entry.slice:
                found[2][TensorSlice.from_proto(part)] = number

    def __enter__(self) -> V1Reader:
        return self

    def __exit__(self, *unused: Any) -> None:
        self._tables.clear()

    def __contains__(self, key: bytes) -> bool:
        return key in self._tensors

    def names(self) -> list[bytes]:
        """The names of the tensors."""
        return sorted(self._tensors)

    def dtype_and_shape(self, key: bytes) -> tuple[dtypes.DType, Shape]:
        """The type and the full shape of a tensor."""
        return self._tensor(key)[:2]

    def _tensor(self, key: bytes) -> tuple[dtypes.DType, Shape, dict[TensorSlice, int]]:
        found = self._tensors.get(key)
        if found is None:
            name = key.decode(errors="replace")
            names = [k.decode(errors="replace") for k in self._tensors]
            raise errors.not_found(
                f'Tensor name "{name}" not found in checkpoint files {self.pattern}'
                f"{nearest(name, names)}"
            )
        return found

    def place(self, key: bytes) -> bytes:
        """What to sort tensors by, to read them in order."""
        return key

    @staticmethod
    def wrong_shape(name: str, wanted: str, stored: str) -> str:
        """That a slice is of a tensor of another shape."""
        del name
        return (
            "Shape in shape_and_slice spec does not match the shape in the save file: "
            f"{wanted}, save file shape: {stored}"
        )

    def check(self) -> None:
        """Nothing was deferred."""

    def read(self, key: bytes, defer: bool = False) -> np.ndarray:
        """A whole tensor; never deferred."""
        return self.read_slice(key, TensorSlice.full(len(self._tensor(key)[1])))

    def read_slice(self, key: bytes, wanted: TensorSlice, defer: bool = False) -> np.ndarray:
        """A slice of a tensor, from whatever slices are stored; never deferred."""
        del defer
        dtype, shape, parts = self._tensor(key)
        found = find_cover(parts, wanted, shape)
        if found is None:
            raise errors.invalid(
                f"Error copying slice data: the stored slices of {key.decode(errors='replace')} "
                f"do not make up {wanted}"
            )
        sources = [self._part(key, part) for part in found]
        if found == [wanted]:
            return sources[0]
        # The parts are there: so much memory is not just claimed.
        target = np.empty(wanted.shape(shape), dtype.np_dtype)
        for part, source in zip(found, sources):
            copy_overlap(source, part, target, wanted, shape)
        return target

    def _part(self, key: bytes, part: TensorSlice) -> np.ndarray:
        """A stored slice."""
        from google.protobuf.message import DecodeError

        dtype, whole, parts = self._tensor(key)
        name, number = key.decode(errors="replace"), parts[part]
        text = self._tables[number].get(encoded_name(key, part))
        if text is None:
            raise _lost(f"Slice {part} is not in the file", name, self.pattern)
        try:
            array = listed_array(protos.SavedTensorSlices.FromString(text).data.data, dtype)
        except DecodeError:
            raise _lost(f"Slice {part} is not parseable", name, self.pattern) from None
        except TypeError:
            raise errors.unimplemented(
                f"Restoring data type {dtype.name} not yet supported"
            ) from None
        shape = part.shape(whole)
        if array.size != math.prod(shape):
            reason = f"Slice {part} has {array.size} elements, not {math.prod(shape)}"
            raise _lost(reason, name, self.pattern)
        return array.reshape(shape)

    def debug_string(self) -> str:
        """A line per tensor: name, type and shape."""
        lines = []
        for key in self.names():
            dtype, shape, parts = self._tensors[key]
            kind = protos.DataType.Name(dtype.as_datatype_enum)
            count = f", {len(parts)} slices" if len(parts) > 1 else ""
            lines.append(f"{key.decode()} ({kind}) {shape_text(shape)}{count}\n")
        return "".join(lines)


def _lost(reason: str, name: str, path: str) -> DataLossError:
    return errors.data_loss(f"{reason} (tensor {name} in {path})")


def _status(error: OpError) -> str:
    """An error as a status prints: "Not found: …"."""
    words = type(error).__name__.removesuffix("Error")
    text = "".join(f" {c.lower()}" if c.isupper() else c for c in words).strip()
    return f"{text.capitalize()}: {error.message}"
