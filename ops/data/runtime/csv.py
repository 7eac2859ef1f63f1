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
# So many ends of lines are looked for one by one.
_FEW = 1024


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
        # Up to where in the text records were found not to be plain.
        self.odd = 0
        # From where on the text is kept, if that is not the place.
        self.held: int | None = None

    def more(self) -> bool:
        """Reads on; whether there was anything."""
        piece = b"" if self.is_whole else self._source.read(self._size)
        if not piece:
            self.is_whole = True
            return False
        start = self.place if self.held is None else self.held
        self.text = self.text[start:] + piece
        self._before += start
        self.place, self.odd = self.place - start, max(self.odd - start, 0)
        if self.held is not None:
            self.held = 0
        return True

    @property
    def offset(self) -> int:
        """The place in the file."""
        return self._before + self.place

    @property
    def odd_offset(self) -> int:
        """Up to where in the file records were found not to be plain."""
        return self._before + self.odd

    def go_to(self, offset: int) -> None:
        """Goes on from a place."""
        self._source.skip_to(offset)
        self.text, self.place, self._before, self.is_whole = b"", 0, offset, False
        self.odd = 0

    def back_to(self, offset: int) -> None:
        """Goes back to a place in the text."""
        self.place = offset - self._before

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
                return self._plain(text, count) or self._several(text, count)
            text.close()
            self._text = None
            self._number += 1
        return None

    def _plain(self, text: _Text, count: int) -> Block | None:
        """A block of records of as many fields each, without quotes; None where others are next."""
        form = self._form
        if text.place < text.odd:
            return None
        stop = _end_of_lines(text.text, text.place, count)
        part = text.text[text.place : stop]
        lines = None if not part or (form.has_quotes and _QUOTE in part) else _lines(part)
        width = lines[0].count(form.delimiter) + 1 if lines else 0
        if not lines or any(line.count(form.delimiter) != width - 1 for line in lines):
            text.odd = stop
            return None
        fields = form.delimiter.join(lines).split(form.delimiter)
        wanted = form.selected or range(width)
        block = None
        if len(wanted) == len(form.kinds) and wanted[-1] < width:
            block = self._columns([fields[i::width] for i in wanted])
        if block is None:
            text.odd = stop
        else:
            text.place = stop
        return block

    def _several(self, text: _Text, count: int) -> Block:
        """The next records as a block, as many as are right.

        What is wrong with the first one is said once, then the next comes.
        """
        records: list[list[bytes]] = []
        stops: list[int] = []
        text.held = text.place
        while len(records) < count and (not records or text.offset < text.odd_offset):
            try:
                record = self._record(text)
                records.append(self._chosen(record or []))
            except errors.InvalidArgumentError:
                if not records:
                    text.held = None
                    raise
                text.back_to(stops[-1])
                break
            stops.append(text.offset)
        text.held = None
        block = self._columns(list(zip(*records)))
        if block is not None:
            return block
        right: list[list[Any]] = []
        try:
            for record in records:
                right.append([self._value(i, field) for i, field in enumerate(record)])
        except errors.InvalidArgumentError:
            text.back_to(stops[max(len(right) - 1, 0)])
            if not right:
                raise
        return [
            text_array(values) if kind == dtypes.string else np.array(values, kind.np_dtype)
            for values, kind in zip(zip(*right), self._form.kinds)
        ]

    def _columns(self, columns: Sequence[Sequence[bytes]]) -> Block | None:
        """Columns as arrays; None where some field is not what it has to be."""
        form = self._form
        block = []
        try:
            for fields, kind, default in zip(columns, form.kinds, form.defaults):
                if b"" in fields or (form.missing and form.missing in fields):
                    block.append(_with_default(fields, kind, default, form.missing))
                else:
                    block.append(_column(fields, kind))
        except ValueError:
            return None
        return block

    def _record(self, text: _Text) -> list[bytes] | None:
        """The fields of the next record, all of them; None at the end of the file."""
        if text.place >= len(text.text) and not text.more():
            return None
        while True:
            try:
                return _fields(text, self._form)
            except _Unfinished:
                text.more()

    def _chosen(self, fields: list[bytes]) -> list[bytes]:
        """The wanted ones of a record's fields."""
        form = self._form
        count = len(form.kinds)
        if form.selected:
            fields = [fields[i] for i in form.selected if i < len(fields)]
        if len(fields) > count:
            raise errors.invalid(f"Expect {count} fields but have more in record")
        if len(fields) < count:
            # (What is wrong with a field in front of those that there are not comes first.)
            for i, field in enumerate(fields):
                self._value(i, field)
            raise errors.invalid(f"Expect {count} fields but have {len(fields)} in record")
        return fields

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
    if count < _FEW:
        stop = start
        for _ in range(count):
            end = text.find(b"\n", stop) + 1
            if not end or (end - start > _CHUNK and stop > start):
                break
            stop = end
        return stop
    stop = text.rfind(b"\n", start, start + _CHUNK) + 1
    if not stop:
        stop = text.find(b"\n", start) + 1
    if not stop:
        return start
    if text.count(b"\n", start, stop) <= count:
        return stop
    ends = np.flatnonzero(np.frombuffer(text[start:stop], np.uint8) == 10)
    return start + int(ends[count - 1]) + 1


def _lines(part: bytes) -> list[bytes] | None:
    """Whole lines of text; None where some end otherwise than lines do."""
    if b"\r" in part:
        part = part.replace(b"\r\n", b"\n")
        if b"\r" in part:
            return None
    return part[:-1].split(b"\n")


def _column(fields: Sequence[bytes], kind: DType) -> np.ndarray:
    return text_array(fields) if kind == dtypes.string else parse_numbers(fields, kind)


def _with_default(fields: Sequence[bytes], kind: DType, default: Any, missing: bytes) -> np.ndarray:
    """A column in which some fields are missing; ValueError where they have to be there."""
    if default is None:
        raise ValueError
    if kind == dtypes.string:
        return text_array([default if not x or x == missing else x for x in fields])
    values = np.full(len(fields), default, kind.np_dtype)
    there = [i for i, field in enumerate(fields) if field and field != missing]
    if there:
        values[there] = parse_numbers([fields[i] for i in there], kind)
    return values


def _fields(text: _Text, form: Format) -> list[bytes]:
    """The fields of the record at the text's place, which moves behind it, error or not.

    Raises:
      _Unfinished: The record does not end in what was read; the place is as it was.
      InvalidArgumentError: The record has quotes where none can be.
    """
    found: list[bytes] = []
    data, at, failure = text.text, text.place, ""
    end_of_line = data.find(b"\n", at)
    line = data[at : max(end_of_line, 0)]
    if end_of_line >= 0 and b"\r" not in line and not (form.has_quotes and _QUOTE in line):
        text.place = end_of_line + 1
        return line.split(form.delimiter)
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
