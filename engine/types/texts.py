# SPDX-License-Identifier: Apache-2.0
"""Many texts in one piece of memory, for readers and kernels that want no object for each of them.

Imports NumPy alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

_OBJECT = np.dtype(object)


class PackedTexts(Sequence[bytes]):
    """A vector of texts: the bytes in which they lie, and where each of them begins and ends.

    It has what blocks of elements ask of a component; `array` makes the objects.
    """

    __slots__ = ("data", "places")

    ndim, dtype = 1, _OBJECT

    def __init__(self, data: bytes, places: np.ndarray) -> None:
        """places: (count, 2) numbers, contiguous."""
        self.data, self.places = data, places

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> PackedTexts:
        """Texts, put one behind the other."""
        places = np.empty((len(texts), 2), np.int64)
        stops = places[:, 1]
        np.fromiter(map(len, texts), np.int64, len(texts)).cumsum(out=stops)
        places[:1, 0], places[1:, 0] = 0, stops[:-1]
        return cls(b"".join(texts), places)

    @classmethod
    def joined(cls, parts: Sequence[PackedTexts]) -> PackedTexts:
        """The texts of several, in order."""
        if len(parts) == 1:
            return parts[0]
        pieces, places, at = [], [], 0
        for part in parts:
            start, stop = part._span()
            pieces.append(part.data[start:stop])
            places.append(part.places + (at - start))
            at += stop - start
        return cls(b"".join(pieces), np.concatenate(places))

    def _span(self) -> tuple[int, int]:
        """Between which places of the bytes all texts lie."""
        if not len(self.places):
            return 0, 0
        return int(self.places[:, 0].min()), int(self.places[:, 1].max())

    def __len__(self) -> int:
        return len(self.places)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.tolist())

    @overload
    def __getitem__(self, place: int) -> bytes: ...

    @overload
    def __getitem__(self, place: slice) -> PackedTexts: ...

    def __getitem__(self, place: int | slice) -> bytes | PackedTexts:
        if isinstance(place, slice):
            return PackedTexts(self.data, self.places[place])
        start, stop = self.places[place].tolist()
        found: bytes = self.data[start:stop]
        return found

    @property
    def shape(self) -> tuple[int]:
        """As an array's."""
        return (len(self.places),)

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.places)

    @property
    def nbytes(self) -> int:
        """Of all texts."""
        return int((self.places[:, 1] - self.places[:, 0]).sum())

    def tolist(self) -> list[bytes]:
        """The texts, each an object of its own."""
        # (Pairs of one list: objects for the pairs would cost as much as the texts.)
        data, places = self.data, iter(self.places.reshape(-1).tolist())
        return [data[start:stop] for start, stop in zip(places, places)]

    def array(self) -> np.ndarray:
        """The texts as an array."""
        return np.fromiter(self.tolist(), _OBJECT, len(self.places))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        del copy
        found = self.array()
        return found if dtype is None else found.astype(dtype)


def unpacked(column: Any) -> Any:
    """A component of a block or an element as an array, if it is texts that are packed."""
    return column.array() if isinstance(column, PackedTexts) else column
