# SPDX-License-Identifier: Apache-2.0
"""A table in arrays of buckets, laid out as TensorFlow's: what it exports has the same order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import errors
from ...engine.types import dtypes
from ...engine.types.dtypes import DType
from ...engine.types.shape import shape_text
from ..strings.hash import combined, hash64
from .store import Shape, Table

_MASK = (1 << 64) - 1


def _element_hash(value: int) -> int:
    return hash64(value) if isinstance(value, bytes) else int(value) & _MASK


class DenseTable(Table):
    """Open addressing with quadratic probing; two keys mark empty and deleted buckets."""

    def __init__(
        self,
        name: str,
        types: tuple[DType, DType],
        value_shape: Shape,
        empty_key: np.ndarray,
        deleted_key: np.ndarray,
        buckets: int,
        load: float,
    ) -> None:
        super().__init__(name, *types)
        if not 0 < load < 1:
            raise errors.invalid(f"max_load_factor must be between 0 and 1, got: {load}")
        for what, shape in (("value", value_shape), ("key", empty_key.shape)):
            if len(shape) > 1:
                raise errors.invalid(
                    f"Empty {what} must be a scalar or a vector, got shape {shape_text(shape)}"
                )
        if empty_key.shape != deleted_key.shape:
            raise errors.invalid(
                "Empty and deleted keys must have same shape, got shapes: "
                f"{shape_text(empty_key.shape)} and {shape_text(deleted_key.shape)}"
            )
        self.key_shape, self.value_shape, self._load = empty_key.shape, value_shape, load
        self._empty = tuple(empty_key.reshape(-1).tolist())
        self._deleted = tuple(deleted_key.reshape(-1).tolist())
        if self._empty == self._deleted:
            raise errors.invalid("Empty and deleted keys cannot be equal")
        # Key -> bucket; the arrays are what is exported.
        self._places: dict[Any, int] = {}
        self._allocate(buckets)

    def _allocate(self, buckets: int) -> None:
        if buckets < 4 or buckets & (buckets - 1):
            raise errors.invalid(
                f"Number of buckets must be at least 4 and a power of 2, got: {buckets}"
            )
        self._places = {}
        self._keys = np.empty((buckets, len(self._empty)), self.key_dtype.np_dtype)
        self._keys[:] = self._empty
        width = int(np.prod(self.value_shape, dtype=np.int64))
        zero: Any = b"" if self.value_dtype == dtypes.string else 0
        self._values = np.full((buckets, width), zero, self.value_dtype.np_dtype)

    def size(self) -> int:
        return len(self._places)

    def _rows(self, keys: np.ndarray) -> list[tuple[Any, ...]]:
        """The keys of an array, as tuples of plain values; checked."""
        count = keys.shape[0] if keys.ndim else 1
        if keys.size != count * len(self._empty):
            wanted = shape_text((count, *self.key_shape))
            raise errors.invalid(f"Expected key shape {wanted} got {shape_text(keys.shape)}")
        rows = list(map(tuple, keys.reshape(count, len(self._empty)).tolist()))
        for what, mark in (("empty_key", self._empty), ("deleted_key", self._deleted)):
            if mark in rows:
                raise errors.invalid(f"Using the {what} as a table key is not allowed")
        return rows

    def find(self, keys: np.ndarray, default: np.ndarray) -> np.ndarray:
        rows = self._rows(keys)
        missing = default.reshape(-1)
        result = np.empty((len(rows), missing.size), self.value_dtype.np_dtype)
        with self._lock:
            for i, row in enumerate(rows):
                place = self._places.get(row)
                result[i] = missing if place is None else self._values[place]
        batch = keys.shape[: keys.ndim - len(self.key_shape)]
        return result.reshape(batch + self.value_shape)

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        rows = self._rows(keys)
        with self._lock:
            self._grow(len(self._places) + len(rows))
            self._fill(rows, values.reshape(len(rows), self._values.shape[1]))

    def _grow(self, wanted: int) -> None:
        buckets = len(self._keys)
        # Before anything is inserted, and by the batch's size even if its keys are known:
        # TensorFlow's way, on which the order of an export depends.
        while wanted > buckets * self._load:
            buckets *= 2
        if buckets == len(self._keys):
            return
        # In order of buckets, as TensorFlow inserts them again.
        old = sorted(self._places.items(), key=lambda item: item[1])
        values = self._values[[place for _, place in old]]
        self._allocate(buckets)
        self._fill([key for key, _ in old], values)

    def _fill(self, rows: list[tuple[Any, ...]], values: np.ndarray) -> None:
        for i, row in enumerate(rows):
            place = self._places.get(row)
            if place is None:
                place = self._places[row] = self._free_place(row)
                self._keys[place] = row
            self._values[place] = values[i]

    def _free_place(self, row: tuple[Any, ...]) -> int:
        """The first bucket in the order of probing that holds no key."""
        mask = len(self._keys) - 1
        place = self._hash(row) & mask
        # Steps of 1, 2, 3, ...: with a power of two buckets these come by each of them once.
        for probe in range(1, len(self._keys) + 1):
            key = tuple(self._keys[place].tolist())
            if key in (self._empty, self._deleted):
                return place
            place = (place + probe) & mask
        raise errors.internal("Internal error in MutableDenseHashTable insert")

    @staticmethod
    def _hash(row: tuple[Any, ...]) -> int:
        if len(row) == 1:
            return _element_hash(row[0])
        result = 0
        for item in row:
            result = combined(result, _element_hash(item))
        return result

    def remove(self, keys: np.ndarray) -> None:
        rows = self._rows(keys)
        with self._lock:
            for row in rows:
                place = self._places.pop(row, None)
                if place is not None:
                    # Marked rather than emptied: a search for another key must go on past it.
                    self._keys[place] = self._deleted

    def require_import(self, keys: np.ndarray, values: np.ndarray) -> None:
        # Buckets are vectors even where keys and values are scalars.
        self._require_value_shape(keys, values, self.key_shape or (1,), self.value_shape or (1,))

    def import_values(self, keys: np.ndarray, values: np.ndarray) -> None:
        with self._lock:
            self._keys, self._values = np.array(keys), np.array(values)
            marks = (self._empty, self._deleted)
            rows = map(tuple, keys.tolist())
            self._places = {row: place for place, row in enumerate(rows) if row not in marks}

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        with self._lock:
            return self._keys.copy(), self._values.copy()
