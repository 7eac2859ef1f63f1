# SPDX-License-Identifier: Apache-2.0
"""Serialized Examples as arrays: features of one length, of several, and sparse ones.

Keys are strings; what is asked for is described by `Dense` and `Sparse`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...engine import errors, settings
from ...engine.types import dtypes
from ...engine.types.dtypes import DType, runtime_name
from ...engine.types.shape import shape_text
from ..sparse.common import indices_of
from ..strings.files import text_array
from .example_wire import Column, Table, Unusual, Wanted, read_columns

# The kind of a feature -> the type of its values.
_TYPES = {
    "bytes_list": dtypes.string,
    "float_list": dtypes.float32,
    "int64_list": dtypes.int64,
}
_WORDS = {dtypes.string: "bytes", dtypes.float32: "float", dtypes.int64: "int64"}
UNNAMED = "<unknown>"
# From so many examples on they are read all at once.
_MANY = 16
# From so many numbers on a list is read from its bytes.
_MANY_FLOATS = 64


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
        return text_array(feature.bytes_list.value)
    if dtype == dtypes.float32:
        return _floats(feature.float_list)
    # (As a list: NumPy asks a message's own lists for each item one by one.)
    return np.array(feature.int64_list.value[:], np.int64)


def _floats(message: Any) -> np.ndarray:
    values = message.value
    count = len(values)
    if count < _MANY_FLOATS:
        return np.array(values[:], np.float32)
    # The end of a serialized list is the numbers as they lie in memory.
    return np.frombuffer(message.SerializeToString()[-4 * count :], "<f4").copy()


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
                raise errors.invalid(
                    f"dense_shape[{i}] is a variable length shape: {shape_text(asked.shape)}, "
                    f"therefore def_value[{i}] must contain a single element (the padding "
                    f"element).  But its shape is: {shape_text(default)}"
                )
        elif asked.default.size and default != asked.shape:
            raise errors.invalid(
                f"def_value[{i}].shape() == {shape_text(default)} is not compatible with "
                f"dense_shapes_[{i}] == {shape_text(asked.shape)}"
            )


class Features:
    """What is asked for of a batch, and what the fast way must know of it, found once."""

    def __init__(self, sparse: Sequence[Sparse], dense: Sequence[Dense]) -> None:
        self.sparse, self.dense = sparse, dense
        self.asked: list[Sparse | Dense] = [*sparse, *dense]
        self.rows = [asked.row for asked in dense]

    @cached_property
    def table(self) -> Table:
        """What kernels are told of them."""
        return Table(list(map(wanted, self.asked)))


class _Batch:
    """One call of `parse_batch`: examples read all at once, or message by message."""

    def __init__(self, serialized: Sequence[bytes], names: list[bytes], features: Features) -> None:
        self.names = [name.decode(errors="replace") for name in names]
        self.serialized = serialized
        self.count = len(serialized)
        self.features, self.asked = features, features.asked
        # The fast way gives up on anything unusual; errors are the slow way's to find and to name.
        columns = self._read_at_once() if self.count >= _MANY else None
        self.columns = self._read_messages() if columns is None else columns

    def _read_at_once(self) -> dict[str, Column] | None:
        """The values of each feature; None where they are unusual, or not as asked."""
        if settings.get("jit") == "never":
            return None
        try:
            found = read_columns(self.serialized, self.features.table)
        except Unusual:
            return None
        return {one.key: column for one, column in zip(self.asked, found)}

    def _read_messages(self) -> dict[str, Column]:
        """The values of each feature; InvalidArgumentError for the first that is not as asked."""
        from ...io import protos

        rows = []
        for i, text in enumerate(self.serialized):
            message = parse_message(protos.Example, text)
            if message is None:
                shown = text.decode(errors="replace")
                raise errors.invalid(f"Could not parse example input, value: '{shown}'")
            features = message.features.feature
            rows.append([self._checked(i, features, one) for one in self.asked])
        columns = zip(*rows) if rows else [()] * len(self.asked)
        return {one.key: joined(parts, one.dtype) for one, parts in zip(self.asked, columns)}

    def _name(self, i: int) -> str:
        return self.names[i] if self.names else UNNAMED

    def _error(self, i: int, key: str, text: str) -> Exception:
        return errors.invalid(f"Name: {self._name(i)}, Key: {key}, Index: {i}.  {text}")

    def _checked(self, i: int, features: Any, asked: Sparse | Dense) -> np.ndarray | None:
        """The values of a feature in an example; None if it is not there, or empty of any kind."""
        feature = features.get(asked.key)
        dtype = None if feature is None else type_of(feature)
        if dtype is not None and dtype != asked.dtype:
            raise self._error(i, asked.key, _mismatch(asked, dtype))
        values = None if dtype is None else values_of(feature, dtype)
        if isinstance(asked, Dense):
            self._check_size(i, asked, values)
        return values

    def _check_size(self, i: int, asked: Dense, values: np.ndarray | None) -> None:
        size = math.prod(asked.row)
        if values is None:
            if not asked.default.size:
                raise errors.invalid(
                    f"Name: {self._name(i)}, Feature: {asked.key} (data type: "
                    f"{runtime_name(asked.dtype)}) is required but could not be found."
                )
        elif not asked.has_rows and len(values) != size:
            raise self._error(
                i,
                asked.key,
                f"Number of {_WORDS[asked.dtype]} values != expected.  Values size: "
                f"{len(values)} but output shape: {shape_text(asked.shape)}",
            )
        elif asked.has_rows and len(values) % (size or 1):
            raise self._error(
                i,
                asked.key,
                f"Number of {_WORDS[asked.dtype]} values is not a multiple of stride length. "
                f"Saw {len(values)} values but output shape is: {shape_text(asked.shape)}",
            )

    def sparse(self, asked: Sparse) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Indices, values and shape of a feature."""
        column = self.columns[asked.key]
        return (
            indices_of(column.counts),
            column.values,
            np.array([self.count, column.longest], np.int64),
        )

    def dense(self, asked: Dense, row: tuple[int, ...]) -> np.ndarray:
        """A feature's values, or what stands for them."""
        column = self.columns[asked.key]
        if asked.has_rows:
            longest = column.longest
            result = np.full((self.count, longest), asked.default.item(), asked.dtype.np_dtype)
            # The mask goes row by row, as the values do.
            result[np.arange(longest) < column.counts[:, None]] = column.values
            return result.reshape(self.count, longest // (math.prod(row) or 1), *row)
        if column.present is None:
            return column.values.reshape(self.count, *row) if row else column.values
        result = np.empty((self.count, *row), asked.dtype.np_dtype)
        result[...] = asked.default
        result[column.present] = column.values.reshape(-1, *row)
        return result


def wanted(asked: Sparse | Dense) -> Wanted:
    """What is usual for a feature."""
    if isinstance(asked, Sparse):
        return Wanted(asked.key.encode(), asked.dtype)
    size = math.prod(asked.row)
    exact, stride = (-1, size or 1) if asked.has_rows else (size, 1)
    is_needed = not (asked.has_rows or asked.default.size)
    return Wanted(asked.key.encode(), asked.dtype, exact, stride, is_needed)


def joined(parts: Sequence[np.ndarray | None], dtype: DType) -> Column:
    """The values of a feature in every example, None where it is not there."""
    present = np.array([part is not None for part in parts], bool)
    is_everywhere = bool(present.all())
    listed = [part for part in parts if part is not None]
    counts = np.zeros(len(parts), np.int64)
    counts[present] = [len(part) for part in listed]
    longest = int(counts.max(initial=0))
    return Column(None if is_everywhere else present, counts, stacked(listed, dtype), longest)


def _mismatch(asked: Sparse | Dense, dtype: DType) -> str:
    """What is wrong with a feature of another type."""
    expected, got = runtime_name(asked.dtype), runtime_name(dtype)
    if isinstance(asked, Sparse):
        return f"Data types don't match. Expected type: {expected}, Actual type: {got}"
    return f"Data types don't match. Data type: {got} but expected type: {expected}"


def parse_batch(
    serialized: Sequence[bytes], names: list[bytes], features: Features
) -> list[np.ndarray]:
    """Indices, values and shapes of sparse features, then dense ones, of a batch of Examples."""
    batch = _Batch(serialized, names, features)
    found = [batch.sparse(asked) for asked in features.sparse]
    dense = map(batch.dense, features.dense, features.rows)
    return [*columns(found), *dense]


def columns(found: Sequence[tuple[np.ndarray, ...]], width: int = 3) -> list[np.ndarray]:
    """All first arrays, then all second ones, and so on."""
    return [one[i] for i in range(width) for one in found]


def parse_single(
    serialized: bytes, sparse: Sequence[Sparse], dense: Sequence[Dense]
) -> list[np.ndarray]:
    """Like `parse_batch`, of one Example, without the dimension of the batch."""
    from ...io import protos

    message = parse_message(protos.Example, serialized)
    if message is None:
        shown = serialized.decode(errors="replace")
        raise errors.invalid(f"Could not parse example input, value: '{shown}'")
    features = message.features.feature
    found = [_single_sparse(features, asked) for asked in sparse]
    return [*columns(found), *(_single_dense(features, asked) for asked in dense)]


def _single(features: Any, asked: Sparse | Dense) -> np.ndarray | None:
    feature = features.get(asked.key)
    if feature is None:
        return None
    dtype = type_of(feature)
    if dtype is None:
        return None
    if dtype != asked.dtype:
        raise errors.invalid(f"Key: {asked.key}.  {_mismatch(asked, dtype)}")
    return values_of(feature, dtype)


def of_one(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices, values and shape of a sparse vector that holds all values."""
    count = len(values)
    return np.arange(count, dtype=np.int64)[:, None], values, np.array([count], np.int64)


def _single_sparse(features: object, asked: Sparse) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values = _single(features, asked)
    return of_one(nothing(asked.dtype, (0,)) if values is None else values)


def _single_dense(features: object, asked: Dense) -> np.ndarray:
    values = _single(features, asked)
    if values is None:
        if asked.has_rows:
            return nothing(asked.dtype, (0, *asked.row))
        if not asked.default.size:
            raise errors.invalid(
                f"Feature: {asked.key} (data type: {runtime_name(asked.dtype)}) is required but "
                "could not be found."
            )
        return asked.default
    row = asked.row
    size = math.prod(row) if row else 1
    if len(values) % (size or 1) if asked.has_rows else len(values) != size:
        raise errors.invalid(f"Key: {asked.key}.  Can't parse serialized Example.")
    return values.reshape((-1, *row) if asked.has_rows else row)
