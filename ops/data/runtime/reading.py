# SPDX-License-Identifier: Apache-2.0
"""What reads files piece by piece, and large ones ahead: in a thread, beside who uses the pieces.

Reading, inflating and checking go on without the interpreter's lock, so that even one thread that
parses what was read is not kept up by them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .threads import Buffer

if TYPE_CHECKING:
    from .context import Context

# Of a file that is shorter than this no thread is made: it takes longer than what it would save.
_SHORT = 1 << 20
# Pieces of a block that is read ahead (readers end it earlier where they are large), and blocks.
_PIECES, _BLOCKS = 1024, 2


class Reader:
    """Reads one file, piece by piece."""

    # Whether `read_some` gives many pieces at once.
    gives_many = False

    def read(self) -> bytes | None:
        """The next piece; None at the end."""
        raise NotImplementedError

    def read_some(self, count: int) -> Sequence[bytes]:
        """At most `count` pieces, as many as are there without effort; none at the end.

        They come as a list, or packed (`PackedTexts`) where they need not be objects.
        """
        del count
        piece = self.read()
        return [] if piece is None else [piece]

    def place(self) -> int:
        """Where it is, for `go_to`."""
        raise NotImplementedError

    def go_to(self, place: int) -> None:
        """Goes on from a place where it was."""
        raise NotImplementedError

    def close(self) -> None:
        """Closes the file."""
        raise NotImplementedError


class ReaderAhead:
    """The pieces of a reader; those of a long file are read ahead from some place on."""

    def __init__(self, reader: Reader, context: Context) -> None:
        self._reader, self._context = reader, context
        self._begin = reader.place()
        self._buffer: Buffer | None = None
        # The block at hand that was read ahead: where it begins, and how much of it was given.
        self._block: Sequence[bytes] = []
        self._place = self._given = 0
        is_alone = context.most_threads == 1 or os.cpu_count() == 1
        self._may_be_ahead = reader.gives_many and not is_alone

    def read_some(self, count: int) -> Sequence[bytes]:
        """See `Reader`."""
        buffer = self._buffer
        if buffer is None:
            if not self._may_be_ahead or self._reader.place() - self._begin < _SHORT:
                return self._reader.read_some(count)
            buffer = self._buffer = Buffer(self._reader, self._context, _BLOCKS)
            self._place = self._reader.place()
            buffer.start(_next_block)
        if self._given == len(self._block):
            item = buffer.take()
            if isinstance(item, Exception):
                raise item
            if item is None:
                return []
            (self._place, self._block), self._given = item, 0
        found = self._block[self._given : self._given + count]
        self._given += len(found)
        return found

    def place(self) -> tuple[int, int]:
        """Where it is: a place in the file, and how many pieces behind it were given."""
        if self._buffer is None:
            return self._reader.place(), 0
        return self._place, self._given

    def go_to(self, place: int, passed: int) -> None:
        """Goes on from what `place` gave; nothing was read before."""
        self._reader.go_to(place)
        while passed > 0 and len(found := self._reader.read_some(passed)):
            passed -= len(found)
        self._begin = self._reader.place()

    def close(self) -> None:
        """Closes the file; where a thread reads it, that does."""
        (self._buffer or self._reader).close()

    def __del__(self) -> None:
        self.close()


def _next_block(buffer: Buffer) -> Any:
    """What the thread reads: where a block begins and its pieces; None at the end."""
    reader = buffer.source
    place = reader.place()
    pieces = reader.read_some(_PIECES)
    return (place, pieces) if len(pieces) else None
