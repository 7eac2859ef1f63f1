# SPDX-License-Identifier: Apache-2.0
"""Many serialized Examples at once: their wire format read by compiled kernels, without messages.

Only the usual form is read (packed numbers, each key once, no unknown fields); `Unusual` is raised
for anything else, broken Examples and missing values among them, which are left to the library for
messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...engine.memory import recycled_empty
from ...engine.types import dtypes
from ...engine.types.dtypes import DType
from ...engine.types.texts import PackedTexts

# Fields whose places are remembered from one Example to the next.
_PLACES = 256


class Unusual(Exception):
    """The Examples are of a form that is not read here."""


class Wanted(NamedTuple):
    """A feature that is asked for, and what is usual for it.

    exact: how many values there are in each Example that has it; -1 for any number.
    stride: what their number is divided by, at least 1.
    is_needed: whether each Example has it.
    """

    key: bytes
    dtype: DType
    exact: int = -1
    stride: int = 1
    is_needed: bool = False


class Column(NamedTuple):
    """The values of a feature in all examples, one after the other.

    present: in which examples it is; None where in all.
    """

    present: np.ndarray | None
    counts: np.ndarray
    values: np.ndarray
    longest: int


def _bounds(texts: Sequence[bytes]) -> np.ndarray:
    """Where each text begins among all of them, and where the last one ends."""
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=bounds[1:])
    return bounds


class Table:
    """What kernels are told of features; made once for features that are asked for often."""

    def __init__(self, wanted: Sequence[Wanted]) -> None:
        from ...jit.library import features
        from ...jit.runtime.calling import address_of

        keys = [one.key for one in wanted]
        self.names = np.frombuffer(b"".join(keys) or b"\0", np.uint8)
        self.bounds = _bounds(keys)
        number = {dtypes.string: features.TEXTS, dtypes.float32: features.FLOATS}
        self.kinds = [number.get(one.dtype, features.INTEGERS) for one in wanted]
        rows = [
            (kind, one.exact, one.stride, not one.is_needed)
            for kind, one in zip(self.kinds, wanted)
        ]
        self.wanted = np.array(rows, np.int64).reshape(len(wanted), 4)
        # Of the names, their bounds and what is wanted; the arrays live as long as the table.
        self.addresses = list(map(address_of, (self.names, self.bounds, self.wanted)))


class Rooms:
    """Memory for the values of features, by their kinds; `arrays` is what kernels write to."""

    def __init__(self, kinds: Sequence[int], totals: Sequence[int]) -> None:
        """totals: how many values each feature has."""
        self._ends, self._spans = [0, 0, 0], []
        for kind, total in zip(kinds, totals):
            start = self._ends[kind]
            self._ends[kind] += total
            self._spans.append((kind, start, start + total))
        texts, floats, integers = self._ends
        self.places = np.array([start for _, start, _ in self._spans], np.int64)
        self._floats, self._integers = np.empty(floats, np.float32), np.empty(integers, np.int64)
        self._texts = np.empty(2 * texts, np.int64)
        self.arrays: list[np.ndarray | int] = [self._floats, self._integers, self._texts]

    def values(self, data: bytes) -> list[np.ndarray]:
        """The values of each feature; texts are parts of these bytes."""
        texts = np.empty(0, object)
        if self._ends[0]:
            texts = PackedTexts(data, self._texts.reshape(-1, 2)).array()
        rooms = texts, self._floats, self._integers
        return [rooms[kind][start:stop] for kind, start, stop in self._spans]


def read_columns(texts: Sequence[bytes], table: Table) -> list[Column]:
    """The values of a table's features in many Examples.

    Raises:
        Unusual: they are of a form that is not read here, or a feature is of another type.
    """
    from ...jit.library import features
    from ...jit.runtime.calling import SHORT, address_of, call

    count, rows = len(table.kinds), len(texts)
    packed = texts if isinstance(texts, PackedTexts) else PackedTexts.of(texts)
    text, keeps_lock = address_of(packed.data), len(packed.data) < SHORT
    found = recycled_empty((rows, count, 3), np.dtype(np.int64))
    sums, problem = np.zeros((count, 3), np.int64), np.zeros(1, np.int64)
    guesses = np.full(_PLACES, -1, np.int64)
    given: list[np.ndarray | int] = [text, packed.places, *table.addresses, guesses]
    given += [found, sums, problem]
    call(features.locate(), given, [count, _PLACES], rows, keeps_lock)
    if problem[0]:
        raise Unusual
    totals, shown, longest = sums.T.tolist()
    rooms = Rooms(table.kinds, totals)
    given = [text, table.addresses[-1], found, rooms.places, *rooms.arrays]
    call(features.gather(), [*given, problem], [count], rows, keeps_lock)
    if problem[0]:
        raise Unusual
    return [
        Column(
            None if shown[i] == rows else found[:, i, 0] >= 0,
            found[:, i, 2],
            values,
            longest[i],
        )
        for i, values in enumerate(rooms.values(packed.data))
    ]
