# SPDX-License-Identifier: Apache-2.0
"""Datasets of the records of CSV files, read in blocks: whole columns where all is plain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.record_class import record
from ....engine.types import dtypes
from ....engine.types.dtypes import DType
from ....engine.types.shape import TensorShape
from ...strings.files import text_array
from ...strings.numbers import parse_number, parse_numbers
from .dataset import Block, BlockStream, Dataset, State, Stream

if TYPE_CHECKING:
    from .context import Context

_QUOTE = b'"'
# A block is of about so many bytes, so that its fields stay in the caches.
_CHUNK = 1 << 18


@record(frozen=True)
class Format:
    """How records are written, and what of them is wanted.

    `defaults` has for each wanted field what stands for a missing one, or None where it must be
    there; `selected` their numbers, none for all fields.
    """

    delimiter: bytes
    has_quotes: bool
    missing: bytes
    selected: tuple[int, ...]
    defaults: tuple[Any, ...]
    kinds: tuple[DType, ...]
    has_header: bool
    compression: str
    buffer_size: int


class CsvDataset(Dataset):
    """The records of files, one file after the other."""

    kind = "CSV"

    def __init__(self, names: Sequence[bytes], form: Format) -> None:
        super().__init__(form.kinds, [TensorShape([])] * len(form.kinds))
        self.names, self.form = names, form

    def stream(self, context: Context, path: str) -> Stream:
        return _Records(self.names, self.form)


class _Text:
    """The text of a file from a place on, as much of it as was asked for."""

    def __init__(self, name: bytes, form: Format) -> None:
        from ....io.files import open_binary
        from ....io.record import Source

        self._file: IO[bytes] = open_binary(name.decode(errors="surrogateescape"), "rb")
        self._source = Source(self._file, form.compression)
        self._size = max(form.buffer_size, _CHUNK)
        self.text, self.place, self._before = b"", 0, 0
        self.is_whole = False

    def more(self) -> bool:
        """Reads on; whether there was anything."""
        piece = b"" if self.is_whole else self._source.read(self._size)
        if not piece:
            self.is_whole = True
            return False
        self._before += self.place
        self.text, self.place = self.text[self.place :] + piece, 0
        return True

    @property
    def offset(self) -> int:
        """The place in the file."""
        return self._before + self.place

    def go_to(self, offset: int) -> None:
        """Goes on from a place."""
        self._source.skip_to(offset)
        self.text, self.place, self._before, self.is_whole = b"", 0, offset, False

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __del__(self) -> None:
        # (An iterator that nobody holds any more is not closed.)
        if hasattr(self, "_file"):
            self._file.close()


class _Unfinished(Exception):
    """A record goes on behind the text that was read."""


class _Records(BlockStream):
    def __init__(self, names: Sequence[bytes], form: Format) -> None:
        super().__init__()
        self._names, self._form = names, form
        self._number = 0
        self._text: _Text | None = None

    def _open(self) -> _Text:
        text = _Text(self._names[self._number], self._form)
        if self._form.has_header:
            try:
                found = self._record(text)
            except errors.InvalidArgumentError:
                found = None
            if found is None:
                text.close()
                raise errors.invalid("Can't read header of file")
        return text

    def read_block(self, count: int) -> Block | None:
        while self._number < len(self._names):
            if self._text is None:
                self._text = self._open()
            text = self._text
            if text.place < len(text.text) or text.more():
                return self._plain(text, count) or self._one(text)
            text.close()
            self._text = None
            self._number += 1
        return None

    def _plain(self, text: _Text, count: int) -> Block | None:
        """A block of records without quotes or missing fields; None where the next are others."""
        form = self._form
        stop = _end_of_lines(text.text, text.place, count)
        part = text.text[text.place : stop]
        if not part or (form.has_quotes and _QUOTE in part):
            return None
        if b"\r" in part:
            part = part.replace(b"\r\n", b"\n")
            if b"\r" in part:
                return None
        lines = part[:-1].split(b"\n")
        width = lines[0].count(form.delimiter)
        if any(line.count(form.delimiter) != width for line in lines):
            return None
        width += 1
        fields = part[:-1].replace(b"\n", form.delimiter).split(form.delimiter)
        wanted = form.selected or range(width)
        if len(wanted) != len(form.kinds) or wanted[-1] >= width:
            return None
        block = []
        for i, kind in zip(wanted, form.kinds):
            column = fields[i::width]
            if b"" in column or (form.missing and form.missing in column):
                return None
            try:
                block.append(_column(column, kind))
            except ValueError:
                return None
        text.place = stop
        return block

    def _one(self, text: _Text) -> Block:
        """The next record as a block; what is wrong with it is said once, then the next comes."""
        fields = self._record(text)
        assert fields is not None
        return [
            text_array([v]) if k == dtypes.string else np.array([v], k.np_dtype)
            for v, k in zip(self._values(fields), self._form.kinds)
        ]

    def _record(self, text: _Text) -> list[bytes] | None:
        """The fields of the next record, all of them; None at the end of the file."""
        if text.place >= len(text.text) and not text.more():
            return None
        while True:
            try:
                return _fields(text, self._form)
            except _Unfinished:
                text.more()

    def _values(self, fields: list[bytes]) -> list[Any]:
        form = self._form
        count = len(form.kinds)
        if form.selected:
            fields = [fields[i] for i in form.selected if i < len(fields)]
        if len(fields) > count:
            raise errors.invalid(f"Expect {count} fields but have more in record")
        found = [self._value(i, field) for i, field in enumerate(fields)]
        if len(fields) < count:
            raise errors.invalid(f"Expect {count} fields but have {len(fields)} in record")
        return found

    def _value(self, number: int, field: bytes) -> Any:
        form = self._form
        kind = form.kinds[number]
        if not field or field == form.missing:
            if form.defaults[number] is None:
                raise errors.invalid(f"Field {number} is required but missing in record!")
            return form.defaults[number]
        if kind == dtypes.string:
            return field
        try:
            return parse_number(field, kind)
        except ValueError:
            name = {dtypes.float32: "float", dtypes.float64: "double"}.get(kind, kind.name)
            raise errors.invalid(
                f"Field {number} in record is not a valid {name}: {field.decode(errors='replace')}"
            ) from None

    def save(self) -> State:
        state: State = {"number": self._number, **self.save_ahead()}
        if self._text is not None:
            state["offset"] = self._text.offset
        return state

    def restore(self, state: State) -> None:
        self.close()
        self.restore_ahead(state)
        self._number = state["number"]
        if "offset" in state:
            self._text = _Text(self._names[self._number], self._form)
            self._text.go_to(state["offset"])

    def close(self) -> None:
        if self._text is not None:
            self._text.close()
            self._text = None


def _end_of_lines(text: bytes, start: int, count: int) -> int:
    """Where at most `count` whole lines end, of about a chunk; `start` if not one does."""
    stop = text.rfind(b"\n", start, start + _CHUNK) + 1
    if not stop:
        stop = text.find(b"\n", start) + 1
    if not stop:
        return start
    if text.count(b"\n", start, stop) <= count:
        return stop
    if count < 64:
        for _ in range(count):
            start = text.index(b"\n", start) + 1
        return start
    ends = np.flatnonzero(np.frombuffer(text[start:stop], np.uint8) == 10)
    return start + int(ends[count - 1]) + 1


def _column(fields: Sequence[bytes], kind: DType) -> np.ndarray:
    return text_array(fields) if kind == dtypes.string else parse_numbers(fields, kind)


def _fields(text: _Text, form: Format) -> list[bytes]:
    """The fields of the record at the text's place, which moves behind it, error or not.

    Raises:
      _Unfinished: The record does not end in what was read; the place is as it was.
      InvalidArgumentError: The record has quotes where none can be.
    """
    found: list[bytes] = []
    data, at, failure = text.text, text.place, ""
    while True:
        field, at, end, wrong = _field(data, at, form, text.is_whole)
        failure = failure or wrong
        found.append(field)
        if end != form.delimiter:
            break
    if end == b"\r":
        if at >= len(data) and not text.is_whole:
            raise _Unfinished
        at += data[at : at + 1] == b"\n"
    text.place = at
    if failure:
        raise errors.invalid(failure)
    return found


def _field(data: bytes, at: int, form: Format, is_whole: bool) -> tuple[bytes, int, bytes, str]:
    """A field, the place behind it, what ended it (nothing for the end), and what is wrong."""
    if form.has_quotes and data[at : at + 1] == _QUOTE:
        return _quoted(data, at, form, is_whole)
    ends = (data.find(mark, at) for mark in (form.delimiter, b"\n", b"\r"))
    stop = min((place for place in ends if place >= 0), default=-1)
    if stop < 0:
        if not is_whole:
            raise _Unfinished
        stop = len(data)
    field = data[at:stop]
    is_wrong = form.has_quotes and _QUOTE in field
    wrong = "Unquoted fields cannot have quotes inside" if is_wrong else ""
    return field, stop + 1, data[stop : stop + 1], wrong


def _quoted(data: bytes, at: int, form: Format, is_whole: bool) -> tuple[bytes, int, bytes, str]:
    """The same of a field in quotes."""
    start, wrong, at = at + 1, "", at + 1
    while True:
        quote = data.find(_QUOTE, at)
        if quote < 0 or (quote + 1 >= len(data) and not is_whole):
            if not is_whole:
                raise _Unfinished
            unclosed = "Reached end of file without closing quoted field in record"
            return b"", len(data), b"", wrong or unclosed
        following = data[quote + 1 : quote + 2]
        if following in (form.delimiter, b"\n", b"\r", b""):
            field = data[start:quote].replace(b'""', _QUOTE)
            return field, min(quote + 2, len(data)), following, wrong
        if following != _QUOTE:
            wrong = wrong or "Quote inside a string has to be escaped by another quote"
        at = quote + 2
