# SPDX-License-Identifier: Apache-2.0
"""A component of a block whose elements have different lengths: their rows one behind the other."""

from __future__ import annotations

from typing import Any

import numpy as np


class Ragged:
    """Arrays that differ in their first size, as one array and where each of them ends in it.

    It has what blocks ask of a component: `len`, elements by number, slices, and those of a mask.
    """

    __slots__ = ("flat", "stops")

    def __init__(self, flat: np.ndarray, stops: np.ndarray) -> None:
        self.flat, self.stops = flat, stops

    @classmethod
    def of_lengths(cls, flat: np.ndarray, lengths: np.ndarray) -> Ragged:
        """Rows of which it is known how many each element has."""
        return cls(flat, np.cumsum(lengths))

    @classmethod
    def of_rows(cls, column: np.ndarray | Ragged) -> Ragged:
        """A component of a block, whatever it is."""
        if isinstance(column, Ragged):
            return column
        count, size = column.shape[:2]
        return cls(column.reshape(-1, *column.shape[2:]), np.arange(1, count + 1) * size)

    @classmethod
    def placed(cls, flat: np.ndarray, places: np.ndarray, count: int) -> Ragged:
        """Rows of which an array says to which of `count` elements they belong, in order."""
        numbers = places[:, 0] if places.ndim > 1 else places
        return cls(flat, np.searchsorted(numbers, np.arange(count), side="right"))

    def __len__(self) -> int:
        return len(self.stops)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, np.ndarray):
            lengths = self.lengths
            return Ragged.of_lengths(self.flat[np.repeat(place, lengths)], lengths[place])
        if isinstance(place, slice):
            start, stop, _ = place.indices(len(self.stops))
            if start >= stop:
                return Ragged(self.flat[:0], self.stops[:0])
            first = self._start(start)
            stops = self.stops[start:stop]
            return Ragged(self.flat[first : int(stops[-1])], stops - first)
        return self.flat[self._start(place) : int(self.stops[place])]

    def _start(self, place: int) -> int:
        return int(self.stops[place - 1]) if place else 0

    @property
    def ndim(self) -> int:
        """Of the whole block."""
        return self.flat.ndim + 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the elements."""
        return self.flat.dtype

    @property
    def nbytes(self) -> int:
        """Of all elements."""
        return self.flat.nbytes

    @property
    def lengths(self) -> np.ndarray:
        """Of the elements."""
        return np.diff(self.stops, prepend=0)


def kept(column: np.ndarray | Ragged) -> Any:
    """A component of a block as states of iterators hold it."""
    if isinstance(column, Ragged):
        return {"flat": np.array(column.flat), "stops": np.array(column.stops)}
    return np.array(column)


def taken_up(state: Any) -> Any:
    """What `kept` made a state of."""
    return Ragged(state["flat"], state["stops"]) if isinstance(state, dict) else state
