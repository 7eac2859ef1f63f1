# SPDX-License-Identifier: Apache-2.0
"""What is behind a lookup table: keys and their values, safe for several threads."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.types import dtypes
from ...engine.types.dtypes import DType, runtime_name
from ...engine.types.shape import shape_text
from ..strings.numbers import parse_number

Shape = tuple[int, ...]


def array_of(values: list[Any], dtype: DType, shape: Shape) -> np.ndarray:
    """Plain values as an array; strings are objects."""
    result = np.empty(shape, dtype.np_dtype)
    if len(shape) and values:
        result.reshape(-1)[:] = values
    elif values:
        result[()] = values[0]
    return result


class Table:
    """What all tables share: their types and checks of what they are asked."""

    key_shape: Shape = ()
    value_shape: Shape = ()
    # Whether what it holds stays, so that keys may be looked up ahead of time.
    is_fixed = False

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType) -> None:
        self.name, self.key_dtype, self.value_dtype = name, key_dtype, value_dtype
        self._lock = threading.RLock()

    def size(self) -> int:
        """How many keys there are."""
        raise NotImplementedError

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        """The values of keys; `default` for those that the table lacks."""
        raise NotImplementedError

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Adds keys, or gives them other values."""
        raise NotImplementedError

    def remove(self, keys: np.ndarray) -> None:
        """Takes keys out."""
        raise NotImplementedError

    def import_values(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Puts keys and values in place of all that the table has."""
        raise NotImplementedError

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """All keys and values."""
        raise NotImplementedError

    def require_types(self, key_dtype: DType, value_dtype: DType) -> None:
        """InvalidArgumentError where a node of the same name wants other types."""
        if (self.key_dtype, self.value_dtype) != (key_dtype, value_dtype):
            asked, mine = (
                f"{runtime_name(key_dtype)}->{runtime_name(value_dtype)}",
                f"{runtime_name(self.key_dtype)}-{runtime_name(self.value_dtype)}",
            )
            raise errors.invalid(
                f"Conflicting key/value dtypes {asked} with {mine} for table {self.name}"
            )

    def require_key_shape(self, keys: np.ndarray) -> None:
        """InvalidArgumentError for keys of another shape."""
        rank = len(self.key_shape)
        if keys.shape[keys.ndim - rank :] != self.key_shape or keys.ndim < rank:
            raise errors.invalid(
                f"Input key shape {shape_text(keys.shape)} must end with the table's key shape "
                f"{shape_text(self.key_shape)}"
            )

    def require_default(self, default: np.ndarray) -> None:
        """InvalidArgumentError for a default of another shape."""
        if default.shape != self.value_shape:
            raise errors.invalid(
                f"Expected shape {shape_text(self.value_shape)} for default value, got "
                f"{shape_text(default.shape)}"
            )

    def require_values(self, keys: np.ndarray, values: np.ndarray) -> None:
        """InvalidArgumentError where values do not have the shape that goes with the keys."""
        self._require_value_shape(keys, values, self.key_shape, self.value_shape)

    def require_import(self, keys: np.ndarray, values: np.ndarray) -> None:
        """The same for `import_values`."""
        self.require_values(keys, values)

    @staticmethod
    def _require_value_shape(
        keys: np.ndarray, values: np.ndarray, key_shape: Shape, value_shape: Shape
    ) -> None:
        wanted = keys.shape[: keys.ndim - len(key_shape)] + value_shape
        if values.shape != wanted:
            raise errors.invalid(
                f"Expected shape {shape_text(wanted)} for value, got {shape_text(values.shape)}"
            )


class StaticTable(Table):
    """A table that is filled once."""

    is_fixed = True

    def __init__(self, name: str, key_dtype: DType, value_dtype: DType) -> None:
        super().__init__(name, key_dtype, value_dtype)
        self._values: dict[Any, Any] | None = None

    @property
    def is_initialized(self) -> bool:
        """Whether the table is filled."""
        return self._values is not None

    def size(self) -> int:
        return len(self._values or ())

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        values = self._values
        if values is None:
            raise errors.failed_precondition("Table not initialized.")
        missing = default.item()
        found = map(values.get, keys.reshape(-1).tolist(), repeat(missing))
        kind = self.value_dtype.np_dtype
        return np.fromiter(found, kind, keys.size).reshape(keys.shape)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        raise _unsupported("Insert")

    def remove(self, keys: np.ndarray) -> None:
        raise _unsupported("Remove")

    def import_values(self, keys: np.ndarray, values: np.ndarray) -> None:
        if not keys.size:
            raise errors.invalid("keys and values cannot be empty tensors.")
        self.initialize(zip(keys.reshape(-1).tolist(), values.reshape(-1).tolist()), keys.size)

    def initialize(self, items: Iterable[tuple[Any, Any]], count: int) -> None:
        """Fills the table; FailedPreconditionError where it has other keys or they contradict."""
        with self._lock:
            if self._values is not None:
                # TensorFlow compares the sizes only (kernels/initializable_lookup_table.cc).
                if count != len(self._values):
                    raise errors.failed_precondition(
                        "Table was already initialized with different data."
                    )
                return
            values: dict[Any, Any] = {}
            for key, value in items:
                known = values.setdefault(key, value)
                if known != value:
                    raise errors.failed_precondition(
                        f"HashTable has different value for same key. Key {_plain(key)} has "
                        f"{_plain(known)} and trying to add value {_plain(value)}"
                    )
            # Set at once when it is complete: readers take no lock.
            self._values = values

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        values = self._values
        if values is None:
            raise errors.aborted("HashTable is not initialized.")
        count = (len(values),)
        return (
            array_of(list(values), self.key_dtype, count),
            array_of(list(values.values()), self.value_dtype, count),
        )


def _plain(value: object) -> Any:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _unsupported(what: str) -> errors.UnimplementedError:
    text = f"{what} not supported by InitializableLookupTable implementations"
    return errors.unimplemented(text)


class MutableTable(Table):
    """A table of keys without dimensions, whose values have none or one."""

    def __init__(
        self, name: str, key_dtype: DType, value_dtype: DType, value_shape: Shape = ()
    ) -> None:
        super().__init__(name, key_dtype, value_dtype)
        self.value_shape = value_shape
        self._values: dict[Any, Any] = {}

    def size(self) -> int:
        return len(self._values)

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        with self._lock:
            values = self._values
            found = [values.get(key, default) for key in keys.reshape(-1).tolist()]
        return self._stacked(found, keys.shape)

    def _stacked(self, found: list[np.ndarray], shape: Shape) -> np.ndarray:
        result = np.empty((len(found), *self.value_shape), self.value_dtype.np_dtype)
        for row, value in enumerate(found):
            result[row, ...] = value
        return result.reshape(shape + self.value_shape)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        rows = np.array(values).reshape(keys.size, *self.value_shape)
        with self._lock:
            for key, row in zip(keys.reshape(-1).tolist(), range(keys.size)):
                self._values[key] = rows[row, ...]

    def remove(self, keys: np.ndarray) -> None:
        with self._lock:
            for key in keys.reshape(-1).tolist():
                self._values.pop(key, None)

    def import_values(self, keys: np.ndarray, values: np.ndarray) -> None:
        with self._lock:
            self._values.clear()
            self.insert(keys, values)

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        with self._lock:
            items = dict(self._values)
        count = (len(items),)
        return array_of(list(items), self.key_dtype, count), self._stacked(
            list(items.values()), count
        )


def lines_of(
    name: str, vocab_size: int, delimiter: bytes, columns: tuple[int, int], kinds: tuple[Any, Any]
) -> Iterator[tuple[Any, Any]]:
    """Keys and values of a text file; column -1 is the number of the line, -2 the whole line."""
    from ...io.files import GFile

    with GFile(name, "rb") as file:
        number = 0
        for text in file:
            # One carriage return may belong to the end of the line; others are text.
            line = text.removesuffix(b"\n").removesuffix(b"\r")
            if number == vocab_size:
                return
            if not line:
                raise errors.invalid(
                    f"Invalid content in {name}: empty line found at position {file.tell()}."
                )
            tokens = line.split(delimiter) if max(columns) >= 0 else []
            if max(columns) >= len(tokens) and max(columns) >= 0:
                raise errors.invalid(
                    f"Invalid number of columns in {name} line {number} ({_plain(line)}) : "
                    f"expected {max(columns)} got {len(tokens)}"
                )
            key, value = (
                number if i == -1 else _token(line if i == -2 else tokens[i], kind, number)
                for i, kind in zip(columns, kinds)
            )
            yield key, value
            number += 1
        if vocab_size not in (-1, number):
            raise errors.invalid(
                f"Invalid vocab_size in {name}: expected {vocab_size} but got {number}"
            )


def _token(token: bytes, kind: DType, line: int) -> Any:
    """A field of a text file as a value of a type."""
    if kind == dtypes.string:
        return token
    if kind not in (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64):
        raise errors.invalid(f"Data type {runtime_name(kind)} not supported.")
    try:
        return parse_number(token, kind)
    except ValueError:
        text = f"Field {_plain(token)} in line {line} is not a valid {runtime_name(kind)}."
        raise errors.invalid(text) from None
