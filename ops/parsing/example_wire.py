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


def read_columns(texts: Sequence[bytes], table: Table) -> list[Column]:
    """The values of a table's features in many Examples.

    Raises:
        Unusual: they are of a form that is not read here, or a feature is of another type.
    """
    from ...jit.library import features
    from ...jit.runtime.calling import call

    count, rows = len(table.kinds), len(texts)
    packed = texts if isinstance(texts, PackedTexts) else PackedTexts.of(texts)
    text = np.frombuffer(packed.data or b"\0", np.uint8)
    found = recycled_empty((rows, count, 3), np.dtype(np.int64))
    sums, problem = np.zeros((count, 3), np.int64), np.zeros(1, np.int64)
    guesses = np.full(_PLACES, -1, np.int64)
    arrays = [text, packed.places, table.names, table.bounds, table.wanted, guesses]
    call(features.locate(), [*arrays, found, sums, problem], [count, _PLACES], rows)
    if problem[0]:
        raise Unusual
    totals, shown, longest = sums.T.tolist()
    starts, ends = _places(table.kinds, totals)
    rooms: list[np.ndarray] = [np.empty(2 * ends[0], np.int64), np.empty(ends[1], np.float32)]
    rooms.append(np.empty(ends[2], np.int64))
    places = np.array(starts, np.int64)
    arrays = [text, table.wanted, found, places, rooms[1].view(np.uint8), rooms[2], rooms[0]]
    call(features.gather(), [*arrays, problem], [count], rows)
    if problem[0]:
        raise Unusual
    rooms[0] = PackedTexts(packed.data, rooms[0].reshape(-1, 2)).array()
    return [
        Column(
            None if shown[i] == rows else found[:, i, 0] >= 0,
            found[:, i, 2],
            rooms[table.kinds[i]][starts[i] : starts[i] + totals[i]],
            longest[i],
        )
        for i in range(count)
    ]


def _places(kinds: Sequence[int], totals: Sequence[int]) -> tuple[list[int], list[int]]:
    """Where the values of each feature begin among those of their kind, and how many there are."""
    ends, starts = [0, 0, 0], []
    for kind, total in zip(kinds, totals):
        starts.append(ends[kind])
        ends[kind] += total
    return starts, ends
