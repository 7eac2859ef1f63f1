# SPDX-License-Identifier: Apache-2.0
"""Datasets of the rows that a query of an SQLite database gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.types import dtypes
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from .dataset import Dataset, Element, State, Stream, boxed

if TYPE_CHECKING:
    import sqlite3

    from .context import Context


class SqlDataset(Dataset):
    """The rows of a query."""

    kind = "Sql"

    def __init__(
        self, types: Sequence[DType], shapes: Sequence[TensorShape], source: str, query: str
    ) -> None:
        super().__init__(types, shapes)
        self.source, self.query = source, query

    def stream(self, context: Context, path: str) -> Stream:
        return _Rows(self)


class _Rows(Stream):
    def __init__(self, dataset: SqlDataset) -> None:
        self._dataset = dataset
        self._connection: sqlite3.Connection | None = None
        self._rows: Any = None
        self._read = 0

    def _begin(self) -> None:
        import sqlite3
        from urllib.parse import quote

        # (Read only: a file that is not there must not come to be.)
        address = f"file:{quote(self._dataset.source)}?mode=ro"
        try:
            self._connection = sqlite3.connect(address, uri=True, check_same_thread=False)
            self._connection.text_factory = bytes
            self._rows = self._connection.execute(self._dataset.query)
        except sqlite3.Error as error:
            self.close()
            # What writes is no query, and has no columns.
            if getattr(error, "sqlite_errorcode", None) != sqlite3.SQLITE_READONLY:
                raise errors.unknown(
                    f"The query {self._dataset.query!r} fails on {self._dataset.source}: {error}"
                ) from None
        count = len(self._rows.description or ()) if self._rows is not None else 0
        if count != len(self._dataset.types):
            self.close()
            raise errors.invalid(
                f"The number of columns in query ({count}) must match the number of elements in "
                f"output_types ({len(self._dataset.types)})."
            )

    def next(self) -> Element | None:
        import sqlite3

        if self._rows is None:
            self._begin()
        try:
            row = self._rows.fetchone()
        except sqlite3.Error as error:
            raise errors.unknown(f"Failed to read a row: {error}") from None
        if row is None:
            return None
        self._read += 1
        return tuple(map(_converted, row, self._dataset.types))

    def save(self) -> State:
        return {"read": self._read}

    def restore(self, state: State) -> None:
        self.close()
        self._read = 0
        for _ in range(state["read"]):
            self.next()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._rows = None


def _converted(value: Any, kind: DType) -> np.ndarray:
    """A column of a row as SQLite converts it, in a dtype."""
    dtype = kind.np_dtype
    if kind == dtypes.string:
        text = b"" if value is None else value
        return boxed(text if isinstance(text, bytes) else str(text).encode())
    if isinstance(value, bytes):
        value = _number_at_start(value)
    value = 0 if value is None else value
    if kind.is_floating:
        return np.array(value, dtype)
    if kind.is_bool:
        return np.array(int(value) != 0)
    return np.array(int(value)).astype(dtype)


def _number_at_start(text: bytes) -> float:
    """The number that a text begins with, 0 for none, as SQLite reads it."""
    import re

    found = re.match(rb"\s*([+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)", text)
    if found is None:
        return 0
    digits = found[1]
    return int(digits) if digits.lstrip(b"+-").isdigit() else float(digits)
