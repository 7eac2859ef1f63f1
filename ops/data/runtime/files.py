# SPDX-License-Identifier: Apache-2.0
"""Datasets of what is in files: lines, records, pieces of one length."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....engine import errors
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from ....engine.types.texts import PackedTexts, unpacked
from ...strings.files import text_array
from .dataset import Block, BlockStream, Dataset, State, Stream
from .reading import Reader, ReaderAhead

if TYPE_CHECKING:
    from .context import Context

# About how many bytes of pieces of one length are read together.
_TOGETHER = 1 << 18


class FilesDataset(Dataset):
    """The pieces of files, one file after the other, as strings."""

    kind = "Files"

    def __init__(self, names: Sequence[bytes], open_file: Callable[[bytes], Reader]) -> None:
        super().__init__([dtypes.string], [TensorShape([])])
        self.names, self.open_file = names, open_file

    def stream(self, context: Context, path: str) -> Stream:
        def opened(name: bytes) -> ReaderAhead:
            return ReaderAhead(self.open_file(name), context)

        return _Pieces(self.names, opened)


class _Pieces(BlockStream):
    def __init__(self, names: Sequence[bytes], open_file: Callable[[bytes], ReaderAhead]) -> None:
        super().__init__()
        self._names, self._open_file = names, open_file
        self._number = 0
        self._reader: ReaderAhead | None = None

    def read_block(self, count: int) -> Block | None:
        pieces = self._read(count)
        return None if pieces is None else [unpacked(pieces)]

    def next_packed_block(self, count: int) -> Block | None:
        if self.is_ahead:
            return self.next_block(count)
        pieces = self._read(count)
        return None if pieces is None else [pieces]

    def _read(self, count: int) -> Any:
        """The next pieces, as an array or packed; None at the end."""
        while True:
            if self._reader is not None:
                try:
                    pieces = self._reader.read_some(count)
                except errors.OpError:
                    # As in TensorFlow, where `ignore_errors` would not end otherwise.
                    self._leave(self._reader)
                    raise
                if len(pieces):
                    return pieces if isinstance(pieces, PackedTexts) else text_array(pieces)
                self._leave(self._reader)
            if self._number >= len(self._names):
                return None
            self._reader = self._open_file(self._names[self._number])

    def _leave(self, reader: ReaderAhead) -> None:
        """Goes on to the next file."""
        reader.close()
        self._reader = None
        self._number += 1

    def save(self) -> State:
        state: State = {"number": self._number, **self.save_ahead()}
        if self._reader is not None:
            state["place"], state["passed"] = self._reader.place()
        return state

    def restore(self, state: State) -> None:
        self.close()
        self.restore_ahead(state)
        self._number = state["number"]
        if "place" in state:
            self._reader = self._open_file(self._names[self._number])
            self._reader.go_to(state["place"], state.get("passed", 0))

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


class _Source(Reader):
    """Reads a file that may be compressed, with its place in what is decompressed."""

    def __init__(self, name: bytes, compression: str) -> None:
        from ....io.files import open_binary
        from ....io.record import Source

        self._file = open_binary(name.decode(errors="surrogateescape"), "rb")
        self._source = Source(self._file, compression)

    def close(self) -> None:
        self._file.close()


class Lines(_Source):
    """The lines of a file, without their ends."""

    gives_many = True

    def __init__(self, name: bytes, compression: str, size: int) -> None:
        super().__init__(name, compression)
        self._size = max(size, 1)
        self._ahead = b""
        self._lines: list[bytes] = []
        self._next = self._place = 0
        self._is_over = False

    def read(self) -> bytes | None:
        while self._next == len(self._lines):
            if self._is_over:
                return None
            self._fill()
        line = self._lines[self._next]
        self._next += 1
        self._place += len(line) + 1
        # (One carriage return is of the end of a line; the last line may have no end.)
        return line.removesuffix(b"\r")

    def read_some(self, count: int) -> list[bytes]:
        line = self.read()
        if line is None:
            return []
        more = self._lines[self._next : self._next + count - 1]
        self._next += len(more)
        self._place += sum(map(len, more)) + len(more)
        return [line, *(text.removesuffix(b"\r") for text in more)]

    def _fill(self) -> None:
        piece = self._source.read(self._size)
        if not piece:
            self._is_over = True
            self._lines = [self._ahead] if self._ahead else []
            self._ahead, self._next = b"", 0
            return
        *self._lines, self._ahead = (self._ahead + piece).split(b"\n")
        self._next = 0

    def place(self) -> int:
        return self._place

    def go_to(self, place: int) -> None:
        self._source.skip_to(place)
        self._ahead, self._lines, self._next, self._place = b"", [], 0, place
        self._is_over = False


class Records(Reader):
    """The records of a TFRecord file."""

    gives_many = True

    def __init__(self, name: bytes, compression: str) -> None:
        from ....io.record import RecordReader

        self._name, self._compression = name.decode(errors="surrogateescape"), compression
        self._make = RecordReader
        self._file = RecordReader(self._name, compression)

    def read(self) -> bytes | None:
        return self._file.read()

    def read_some(self, count: int) -> Sequence[bytes]:
        return self._file.read_some(count)

    def place(self) -> int:
        return self._file.offset

    def go_to(self, place: int) -> None:
        self._file.close()
        self._file = self._make(self._name, self._compression, place)

    def close(self) -> None:
        self._file.close()


class FixedLengths(_Source):
    """Pieces of one length between a header and a footer."""

    gives_many = True

    def __init__(self, name: bytes, compression: str, sizes: tuple[int, int, int]) -> None:
        super().__init__(name, compression)
        self._name, self._sizes = name, sizes
        header, record, footer = sizes
        self._body = -1
        if not compression:
            self._file.seek(0, 2)
            self._body = self._file.tell() - header - footer
            self._file.seek(0)
            if self._body % record:
                self.close()
                raise errors.invalid(self._misfit(self._body))
        self._source.read(header)
        # Of what is compressed the end is known when it is there: the footer is read ahead.
        self._ahead = b""
        self._read = 0

    def _misfit(self, body: int) -> str:
        header, record, footer = self._sizes
        name = self._name.decode(errors="replace")
        return (
            f"Excluding the header ({header} bytes) and footer ({footer} bytes), input file "
            f'"{name}" has body length {body} bytes, which is not an exact multiple of the record '
            f"length ({record} bytes)."
        )

    def read(self) -> bytes | None:
        pieces = self.read_some(1)
        return pieces[0] if len(pieces) else None

    def read_some(self, count: int) -> Sequence[bytes]:
        _, record, footer = self._sizes
        wanted = min(count, _TOGETHER // record) * record or record
        if self._body >= 0:
            wanted, footer = min(wanted, self._body - self._read), 0
        data = self._ahead + self._source.read(max(wanted + footer - len(self._ahead), 0))
        there = max(len(data) - footer, 0)
        number = min(there, wanted) // record
        if not number and there:
            raise errors.data_loss(self._misfit(self._read + there))
        self._ahead = data[number * record :]
        self._read += number * record
        places = np.arange(number, dtype=np.int64)[:, None] * record + [0, record]
        return PackedTexts(data, places)

    def place(self) -> int:
        return self._read

    def go_to(self, place: int) -> None:
        header, _, _ = self._sizes
        self._source.skip_to(header + place)
        self._ahead, self._read = b"", place


def compression_of(text: Any) -> str:
    """The name of a compression; InvalidArgumentError for one that there is not."""
    name = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    if name not in ("", "ZLIB", "GZIP"):
        raise errors.invalid("Unsupported compression_type.")
    return name
