# SPDX-License-Identifier: Apache-2.0
"""Serialized Examples as arrays: features of one length, of several, and sparse ones.

Keys are strings; what is asked for is described by `Dense` and `Sparse`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engine import dtypes
from ..engine.dtypes import DType
from ..engine.state import shape_text
from .tensor_array_store import refuse, type_text

# The kind of a feature -> the type of its values.
_TYPES = {
    "bytes_list": dtypes.string,
    "float_list": dtypes.float32,
    "int64_list": dtypes.int64,
}
_WORDS = {dtypes.string: "bytes", dtypes.float32: "float", dtypes.int64: "int64"}
UNNAMED = "<unknown>"


class Sparse(NamedTuple):
    """A feature of any number of values."""

    key: str
    dtype: DType


class Dense(NamedTuple):
    """A feature of one shape; with a first size of None, of any number of rows."""

    key: str
    dtype: DType
    shape: tuple[int | None, ...]
    default: np.ndarray

    @property
    def has_rows(self) -> bool:
        """Whether the number of rows differs from example to example."""
        return bool(self.shape) and self.shape[0] is None

    @property
    def row(self) -> tuple[int, ...]:
        """The shape of what must be there at once."""
        sizes = self.shape[1:] if self.has_rows else self.shape
        return tuple(size for size in sizes if size is not None)


def parse_message(kind: Any, text: bytes) -> Any:
    """A serialized message; None where it is damaged."""
    from google.protobuf.message import DecodeError

    try:
        return kind.FromString(text)
    except DecodeError:
        return None


def type_of(feature: Any) -> DType | None:
    """The type of a feature's values; None if it has none."""
    kind = feature.WhichOneof("kind")
    return None if kind is None else _TYPES[kind]


def values_of(feature: Any, dtype: DType) -> np.ndarray:
    """A feature's values of a type; none if they are of another."""
    if dtype == dtypes.string:
        listed = list(feature.bytes_list.value)
        result = np.empty(len(listed), object)
        result[:] = listed
        return result
    values = feature.float_list if dtype == dtypes.float32 else feature.int64_list
    return np.array(values.value, dtype.np_dtype)


def nothing(dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
    """Zeros, or empty strings."""
    zero: Any = b"" if dtype == dtypes.string else 0
    return np.full(shape, zero, dtype.np_dtype)


def stacked(parts: Sequence[np.ndarray], dtype: DType) -> np.ndarray:
    """Vectors one after the other."""
    return np.concatenate(parts) if parts else nothing(dtype, (0,))


def check_defaults(dense: Sequence[Dense]) -> None:
    """InvalidArgumentError for defaults that do not go with their shapes."""
    for i, asked in enumerate(dense):
        default = asked.default.shape
        if asked.has_rows:
            if asked.default.size != 1:
                raise refuse(
                    f"dense_shape[{i}] is a variable length shape: {shape_text(asked.shape)}, "
                    f"therefore def_value[{i}] must contain a single element (the padding "
                    f"element).  But its shape is: {shape_text(default)}"
                )
        elif asked.default.size and default != asked.shape:
            raise refuse(
                f"def_value[{i}].shape() == {shape_text(default)} is not compatible with "
                f"dense_shapes_[{i}] == {shape_text(asked.shape)}"
            )


def indices_of(lengths: Sequence[int]) -> np.ndarray:
    """The places of values in a sparse matrix whose rows have so many each."""
    rows = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    columns = [np.arange(length, dtype=np.int64) for length in lengths]
    return np.stack([rows, stacked(columns, dtypes.int64)], axis=1)


class _Batch:
    """One call of `parse_batch`."""

    def __init__(self, serialized: list[bytes], names: list[bytes]) -> None:
        from ..io import protos

        self.names = [name.decode(errors="replace") for name in names]
        self.features = []
        for text in serialized:
            message = parse_message(protos.Example, text)
            if message is None:
                shown = text.decode(errors="replace")
                raise refuse(f"Could not parse example input, value: '{shown}'")
            self.features.append(message.features.feature)

    def name(self, i: int) -> str:
        return self.names[i] if self.names else UNNAMED

    def error(self, i: int, key: str, text: str) -> Exception:
        return refuse(f"Name: {self.name(i)}, Key: {key}, Index: {i}.  {text}")

    def found(self, i: int, asked: Sparse | Dense) -> np.ndarray | None:
        """The values of a feature in an example; None if it is not there, or empty of any kind."""
        features = self.features[i]
        if asked.key not in features:
            return None
        feature = features[asked.key]
        dtype = type_of(feature)
        if dtype is None:
            return None
        if dtype != asked.dtype:
            raise self.error(i, asked.key, _mismatch(asked, dtype))
        return values_of(feature, dtype)

    def sparse(self, asked: Sparse) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        empty = nothing(asked.dtype, (0,))
        parts = [self.found(i, asked) for i in range(len(self.features))]
        present = [empty if part is None else part for part in parts]
        lengths = [len(part) for part in present]
        shape = np.array([len(lengths), max(lengths, default=0)], np.int64)
        return indices_of(lengths), stacked(present, asked.dtype), shape

    def dense(self, asked: Dense) -> np.ndarray:
        parts = [self.found(i, asked) for i in range(len(self.features))]
        return self._padded(asked, parts) if asked.has_rows else self._fixed(asked, parts)

    def _fixed(self, asked: Dense, parts: Sequence[np.ndarray | None]) -> np.ndarray:
        size, rows = math.prod(asked.row), []
        for i, part in enumerate(parts):
            if part is not None and len(part) != size:
                raise self.error(
                    i,
                    asked.key,
                    f"Number of {_WORDS[asked.dtype]} values != expected.  Values size: "
                    f"{len(part)} but output shape: {shape_text(asked.shape)}",
                )
            if part is None and not asked.default.size:
                raise refuse(
                    f"Name: {self.name(i)}, Feature: {asked.key} (data type: "
                    f"{type_text(asked.dtype)}) is required but could not be found."
                )
            rows.append(asked.default.reshape(-1) if part is None else part)
        return stacked(rows, asked.dtype).reshape(len(rows), *asked.row)

    def _padded(self, asked: Dense, parts: Sequence[np.ndarray | None]) -> np.ndarray:
        size = math.prod(asked.row) or 1
        for i, part in enumerate(parts):
            if part is not None and len(part) % size:
                raise self.error(
                    i,
                    asked.key,
                    f"Number of {_WORDS[asked.dtype]} values is not a multiple of stride length. "
                    f"Saw {len(part)} values but output shape is: {shape_text(asked.shape)}",
                )
        longest = max((len(part) for part in parts if part is not None), default=0)
        result = np.full((len(parts), longest), asked.default.item(), asked.dtype.np_dtype)
        for row, part in zip(result, parts):
            if part is not None:
                row[: len(part)] = part
        return result.reshape(len(parts), longest // size, *asked.row)


def _mismatch(asked: Sparse | Dense, dtype: DType) -> str:
    """What is wrong with a feature of another type."""
    wanted, got = type_text(asked.dtype), type_text(dtype)
    if isinstance(asked, Sparse):
        return f"Data types don't match. Expected type: {wanted}, Actual type: {got}"
    return f"Data types don't match. Data type: {got} but expected type: {wanted}"


def parse_batch(
    serialized: list[bytes], names: list[bytes], sparse: Sequence[Sparse], dense: Sequence[Dense]
) -> list[np.ndarray]:
    """Indices, values and shapes of sparse features, then dense ones, of a batch of Examples."""
    batch = _Batch(serialized, names)
    found = [batch.sparse(asked) for asked in sparse]
    return [*columns(found), *(batch.dense(asked) for asked in dense)]


def columns(found: Sequence[tuple[np.ndarray, ...]], width: int = 3) -> list[np.ndarray]:
    """All first arrays, then all second ones, and so on."""
    return [one[i] for i in range(width) for one in found]


def parse_single(
    serialized: bytes, sparse: Sequence[Sparse], dense: Sequence[Dense]
) -> list[np.ndarray]:
    """Like `parse_batch`, of one Example, without the dimension of the batch."""
    from ..io import protos

    message = parse_message(protos.Example, serialized)
    if message is None:
        shown = serialized.decode(errors="replace")
        raise refuse(f"Could not parse example input, value: '{shown}'")
    features = message.features.feature
    found = [_single_sparse(features, asked) for asked in sparse]
    return [*columns(found), *(_single_dense(features, asked) for asked in dense)]


def _single(features: Any, asked: Sparse | Dense) -> np.ndarray | None:
    if asked.key not in features:
        return None
    feature = features[asked.key]
    dtype = type_of(feature)
    if dtype is None:
        return None
    if dtype != asked.dtype:
        raise refuse(f"Key: {asked.key}.  {_mismatch(asked, dtype)}")
    return values_of(feature, dtype)


def of_one(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, values and shape of a sparse vector that holds all values."""
    count = len(values)
    return np.arange(count, dtype=np.int64)[:, None], values, np.array([count], np.int64)


def _single_sparse(features: Any, asked: Sparse) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values = _single(features, asked)
    return of_one(nothing(asked.dtype, (0,)) if values is None else values)


def _single_dense(features: Any, asked: Dense) -> np.ndarray:
    values = _single(features, asked)
    if values is None:
        if asked.has_rows:
            return nothing(asked.dtype, (0, *asked.row))
        if not asked.default.size:
            raise refuse(
                f"Feature: {asked.key} (data type: {type_text(asked.dtype)}) is required but "
                "could not be found."
            )
        return asked.default
    size = math.prod(asked.row)
    if len(values) % (size or 1) if asked.has_rows else len(values) != size:
        raise refuse(f"Key: {asked.key}.  Can't parse serialized Example.")
    return values.reshape((-1, *asked.row) if asked.has_rows else asked.row)
