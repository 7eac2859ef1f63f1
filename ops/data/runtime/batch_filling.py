# SPDX-License-Identifier: Apache-2.0
"""Batches whose rows come in any order, from any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ....engine.memory import recycled_empty
from .dataset import Element, row_of

# Shapes and types of the rows of each component.
Likes = Sequence[tuple[tuple[int, ...], np.dtype]]

# In the place of an element that has become a row.
PLACED = object()
# Arrays of so many bytes may be made in the rows that they are to be.
LEAST_OFFERED = 1 << 16


class RowsWay(NamedTuple):
    """How elements become a batch."""

    # Makes elements rows that may be of different shapes, which is an error.
    stack: Callable[[Sequence[Element]], Element]
    # Whether elements behind one that failed belong to the same batch, which failed as a whole.
    is_whole: bool


class Batch:
    """One that is being filled; its arrays are made as soon as something is known of their rows."""

    def __init__(self, size: int, likes: Likes = ()) -> None:
        """likes: what the rows are like if they are like those of another batch."""
        self._size, self._added = size, 0
        self._lock = threading.Lock()
        self._columns = self._made(likes)

    def _made(self, likes: Likes) -> list[np.ndarray]:
        return [recycled_empty((self._size, *shape), dtype) for shape, dtype in likes]

    @property
    def is_full(self) -> bool:
        """Whether all of its rows were given to somebody."""
        return self._added == self._size

    def add(self) -> int:
        """Gives one more row; its number."""
        self._added += 1
        return self._added - 1

    def rows(self, number: int) -> list[np.ndarray]:
        """The large arrays of a row, for who can make results in them."""
        least = self._size * LEAST_OFFERED
        return [column[number] for column in self._columns if column.nbytes >= least]

    def put(self, element: Element, number: int) -> bool:
        """Makes an element a row; False, and it is none, if it is not like the others."""
        with self._lock:
            if not self._columns:
                self._columns = self._made([(item.shape, item.dtype) for item in element])
        columns = self._columns
        if any(
            item.shape != column.shape[1:] or item.dtype != column.dtype
            for column, item in zip(columns, element)
        ):
            return False
        for column, item in zip(columns, element):
            put_row(column, item, number)
        return True

    def element(self, number: int) -> Element:
        """A row as an element."""
        return tuple([row_of(column, number) for column in self._columns])

    def take(self, count: int) -> Element:
        """The first rows as an element of their own memory; no row is asked for again."""
        columns, self._columns = self._columns, []
        return tuple(columns if count == self._size else [column[:count] for column in columns])


def put_row(column: np.ndarray, item: np.ndarray, number: int) -> None:
    """Makes an array a row, if it was not made there."""
    if not _is_at(item, column, number):
        column[number] = item if item.ndim else item[()]


def _is_at(item: np.ndarray, column: np.ndarray, number: int) -> bool:
    if item.nbytes < LEAST_OFFERED or item.dtype != column.dtype or not item.flags.c_contiguous:
        return False
    return bool(item.ctypes.data == column.ctypes.data + number * column.strides[0])
