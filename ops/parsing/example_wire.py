# SPDX-License-Identifier: Apache-2.0
"""Many serialized Examples at once: their wire format read in step, one feature of each at a time.

Only the usual form is read (packed numbers, each key once, no unknown fields); `Unusual` is raised
for anything else, broken Examples among them, which are left to the library for messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...engine.types import dtypes
from ...engine.types.dtypes import DType
from ..strings.files import text_array

# A field of a message, a string or packed numbers: number 1, 2 or 3, with a length.
_FIRST, _SECOND = 0x0A, 0x12
_TAGS = {dtypes.string: 0x0A, dtypes.float32: 0x12, dtypes.int64: 0x1A}
# What may be read behind the last byte.
_PADDING = 16
# Lists of more texts are not worth reading in step.
_MOST_TEXTS = 64


class Unusual(Exception):
    """The Examples are of a form that is not read here."""


class Column(NamedTuple):
    """The values of a feature in all examples, one after the other."""

    present: np.ndarray
    counts: np.ndarray
    values: np.ndarray


def _require(condition: np.ndarray | np.bool_ | bool) -> None:
    if not np.all(condition):
        raise Unusual


def _stretches(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The places of stretches of a text, one after the other."""
    offsets = np.cumsum(lengths) - lengths
    return np.repeat(starts - offsets, lengths) + np.arange(lengths.sum())


class Wire:
    """The features of many Examples: where keys and values lie in their texts."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self.count = len(texts)
        self.text = b"".join(texts) + bytes(_PADDING)
        self.data = np.frombuffer(self.text, np.uint8)
        # Two bytes from every place on: a tag and (the first part of) a length.
        self.pairs = np.ndarray((len(self.text) - 1,), "<u2", self.text, strides=(1,))
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        ends = np.cumsum(lengths)
        self._read(ends - lengths, ends)

    def _read(self, starts: np.ndarray, ends: np.ndarray) -> None:
        owner = np.flatnonzero(ends > starts)
        at, stop = self._field(starts[owner], ends[owner], _FIRST)
        _require(stop == ends[owner])
        found: list[tuple[np.ndarray, ...]] = []
        while (live := at < stop).any():
            if not live.all():
                owner, at, stop = owner[live], at[live], stop[live]
            inside, end = self._field(at, stop, _FIRST)
            key, key_end = self._field(inside, end, _FIRST)
            value, value_end = self._field(key_end, end, _SECOND)
            _require(value_end == end)
            found.append((owner, key, key_end - key, value, end))
            at = end
        columns = zip(*found) if found else ([np.zeros(0, np.int64)] for _ in range(5))
        self.owner, self.key, self.width, self.value, self.end = map(np.concatenate, columns)

    def _field(self, at: np.ndarray, stop: np.ndarray, tag: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the contents of a field begin and end."""
        head = self.pairs[at]
        _require((head & 0xFF) == tag)
        length = (head >> 8).astype(np.int64)
        start = at + 2
        # The length's first byte, the upper one of the pair, says that more of them follow.
        if head.size and head.max() >= 0x8000:
            self._go_on(length, start)
        end = start + length
        _require(end <= stop)
        return start, end

    def _go_on(self, length: np.ndarray, start: np.ndarray) -> None:
        """Adds the further bytes of lengths whose first ones are known."""
        more, shift = np.flatnonzero(length & 0x80), 7
        length &= 0x7F
        while more.size:
            # A length has 32 bits, in five groups of seven.
            _require(shift <= 28)
            byte = self.data[np.minimum(start[more], len(self.data) - 1)]
            length[more] |= (byte & 0x7F).astype(np.int64) << shift
            start[more] += 1
            more = more[byte >= 0x80]
            shift += 7

    def _rows(self, at: np.ndarray, kind: str, width: int) -> np.ndarray:
        """As many bytes at each place."""
        shape = (len(self.text) - width + 1,)
        return np.ndarray(shape, f"{kind}{width}", self.text, strides=(1,))[at]

    def column(self, key: bytes, dtype: DType) -> Column:
        """The values of a feature."""
        where = np.flatnonzero(self.width == len(key))
        if key:
            # NumPy's byte strings drop zeros at their end, on both sides.
            where = where[self._rows(self.key[where], "S", len(key)) == key.rstrip(b"\0")]
        # A feature without any kind counts as one that is not there.
        where = where[self.value[where] < self.end[where]]
        owner = self.owner[where]
        if (owner[1:] <= owner[:-1]).any():
            # Found field by field of all examples; sorted by example, fields in their order.
            order = np.argsort(owner, kind="stable")
            where, owner = where[order], owner[order]
            _require(owner[1:] > owner[:-1])
        start, end = self._field(self.value[where], self.end[where], _TAGS[dtype])
        _require(end == self.end[where])
        present = np.zeros(self.count, bool)
        present[owner] = True
        if dtype == dtypes.string:
            lengths, values = self._texts(start, end)
        elif dtype == dtypes.float32:
            lengths, values = self._floats(start, end)
        else:
            lengths, values = self._integers(start, end)
        counts = np.zeros(self.count, np.int64)
        counts[owner] = lengths
        return Column(present, counts, values)

    def _packed(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where the numbers of lists begin, and how many bytes they are."""
        filled = start < end
        at, length = start.copy(), np.zeros(len(start), np.int64)
        at[filled], stop = self._field(start[filled], end[filled], _FIRST)
        _require(stop == end[filled])
        length[filled] = stop - at[filled]
        return at, length

    def _floats(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at, length = self._packed(start, end)
        _require(length % 4 == 0)
        if length.size and length[0] and (length == length[0]).all():
            packed = self._rows(at, "V", int(length[0]))
        else:
            packed = self.data[_stretches(at, length)]
        return length // 4, packed.view("<f4").astype(np.float32, copy=False)

    def _integers(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at, length = self._packed(start, end)
        if (length == 1).all():
            _require(self.data[at] < 0x80)
            return length, self.data[at].astype(np.int64)
        packed = self.data[_stretches(at, length)]
        is_last = packed < 0x80
        stops = np.cumsum(length)
        filled = length > 0
        _require(is_last[stops[filled] - 1])
        lasts = np.flatnonzero(is_last)
        firsts = np.concatenate([np.zeros(min(1, len(lasts)), np.int64), lasts[:-1] + 1])
        place = np.arange(len(packed)) - np.repeat(firsts, lasts - firsts + 1)
        # A varint of 64 bits has ten bytes at most.
        _require(place < 10)
        parts = (packed & 0x7F).astype(np.uint64) << (7 * place).astype(np.uint64)
        values = np.add.reduceat(parts, firsts) if len(firsts) else parts
        before = np.concatenate([[0], np.cumsum(is_last)])
        return before[stops] - before[stops - length], values.view(np.int64)

    def _texts(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        counts = np.zeros(len(start), np.int64)
        rows, at = np.flatnonzero(start < end), start
        found: list[tuple[np.ndarray, ...]] = []
        while rows.size:
            _require(len(found) < _MOST_TEXTS)
            text, text_end = self._field(at[rows], end[rows], _FIRST)
            found.append((rows, text, text_end))
            counts[rows] += 1
            at = at.copy()
            at[rows] = text_end
            rows = rows[text_end < end[rows]]
        if not found:
            return counts, text_array([])
        owner, first, last = map(np.concatenate, zip(*found))
        if len(found) > 1:
            order = np.argsort(owner, kind="stable")
            first, last = first[order], last[order]
        whole = self.text
        return counts, text_array([whole[a:b] for a, b in zip(first.tolist(), last.tolist())])
