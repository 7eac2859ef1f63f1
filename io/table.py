# SPDX-License-Identifier: Apache-2.0
"""Sorted tables of keys and values: the format of checkpoints' index files and of V1 checkpoints.

A file is blocks of entries, an index block with the last key of each, and a footer.  Keys of a
block share prefixes; each block ends with its type and checksum.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from ..engine import errors
from ..engine.errors import DataLossError
from . import crc, varint
from .snappy import decompress

# As in TensorFlow's core/lib/io/table_options.h: the same tensors give the same bytes.
BLOCK_SIZE = 262144
RESTART_INTERVAL = 16
# The first 64 bits of the SHA-1 of "http://code.google.com/p/leveldb/" (core/lib/io/format.h).
MAGIC = 0xDB4775248B80FB57
# Two handles, each of two varints of at most ten bytes, and the magic number.
_FOOTER = 48
# A block's type and checksum.
_TRAILER = 5
_PLAIN, _SNAPPY = 0, 1


class _Block:
    """Entries in order; each names how much of the last key it shares."""

    def __init__(self, interval: int) -> None:
        self.interval = interval
        self.data = bytearray()
        self.restarts = [0]
        self.count = 0  # entries since the last restart
        self.last = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        # At a restart the key is written in full: a reader can begin there.
        if self.count < self.interval:
            shared = _common(self.last, key)
        else:
            self.restarts.append(len(self.data))
            self.count = 0
        self.data += varint.put(shared) + varint.put(len(key) - shared) + varint.put(len(value))
        self.data += key[shared:]
        self.data += value
        self.last = key
        self.count += 1

    def size(self) -> int:
        return len(self.data) + 4 * len(self.restarts) + 4

    def finish(self) -> bytes:
        count = len(self.restarts)
        return bytes(self.data) + struct.pack(f"<{count + 1}I", *self.restarts, count)


def _common(a: bytes, b: bytes) -> int:
    """How many leading bytes two keys have in common."""
    if b.startswith(a):
        return len(a)
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def _separator(last: bytes, key: bytes) -> bytes:
    """A short text from `last` on and before `key`."""
    at = _common(last, key)
    if at < min(len(last), len(key)) and last[at] < 0xFF and last[at] + 1 < key[at]:
        return last[:at] + bytes((last[at] + 1,))
    return last


def _successor(last: bytes) -> bytes:
    """A short text that is not before `last`."""
    for i, byte in enumerate(last):
        if byte != 0xFF:
            return last[:i] + bytes((byte + 1,))
    return last


def pieces(items: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """The bytes of a table, bit by bit; `items` come in order of keys."""
    index, block = _Block(1), _Block(RESTART_INTERVAL)
    position, pending, last = 0, b"", None

    for key, value in items:
        # An overly large entry gets a block to itself (core/lib/io/table_builder.cc).
        if last is not None and block.data and len(key) + len(value) >= 2 * BLOCK_SIZE:
            text, pending, position = _closed(block, position)
            yield text
            block = _Block(RESTART_INTERVAL)
        if pending and last is not None:
            # The index entry of a block waits for the first key of the next block: any text between
            # the two serves, and a short one makes a small index.
            index.add(_separator(last, key), pending)
            pending = b""
        block.add(key, value)
        last = key
        if block.size() >= BLOCK_SIZE:
            text, pending, position = _closed(block, position)
            yield text
            block = _Block(RESTART_INTERVAL)
    if block.data:
        text, pending, position = _closed(block, position)
        yield text
    # The format has a block of meta data, which is always empty.
    text, meta_handle, position = _closed(_Block(RESTART_INTERVAL), position)
    yield text
    if pending and last is not None:
        index.add(_successor(last), pending)
    text, index_handle, position = _closed(index, position)
    yield text
    yield (meta_handle + index_handle).ljust(_FOOTER - 8, b"\0") + struct.pack("<Q", MAGIC)


def _closed(block: _Block, position: int) -> tuple[bytes, bytes, int]:
    """A block with its trailer, its handle, and the position after it."""
    contents = block.finish()
    kind = bytes((_PLAIN,))
    text = contents + kind + struct.pack("<I", crc.masked(contents + kind))
    handle = varint.put(position) + varint.put(len(contents))
    return text, handle, position + len(text)


def encode(items: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The bytes of a table."""
    return b"".join(pieces(items))


class Table:
    """A table in memory: its blocks are checked and taken apart when they are needed."""

    def __init__(self, data: bytes) -> None:
        if len(data) < _FOOTER:
            raise errors.data_loss("file is too short to be an sstable")
        footer = data[-_FOOTER:]
        if struct.unpack("<Q", footer[-8:])[0] != MAGIC:
            raise errors.data_loss("not an sstable (bad magic number)")
        self._data = data
        _, position = _handle(footer, 0)
        (offset, size), _ = _handle(footer, position)
        index = list(self._entries(offset, size))
        self._last_keys = [key for key, _ in index]
        self._places = [_handle(value, 0)[0] for _, value in index]
        # The number and the entries of the block that was looked into last.
        self._present: tuple[int, dict[bytes, bytes]] = -1, {}

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        for offset, size in self._places:
            yield from self._entries(offset, size)

    def blocks(self) -> Iterator[tuple[bytes, int]]:
        """The bytes of each block, and how many of them are entries."""
        for offset, size in self._places:
            text = self._block(offset, size)
            count = struct.unpack("<I", text[-4:])[0] if len(text) > 3 else 0
            yield text, max(0, len(text) - 4 * (count + 1))

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, or None; quick for keys that are asked for in order."""
        # The first block whose last key is not before the key: if the key is anywhere, it is there.
        number = bisect_left(self._last_keys, key)
        if number == len(self._places):
            return None
        if number != self._present[0]:
            self._present = number, dict(self._entries(*self._places[number]))
        return self._present[1].get(key)

    def _entries(self, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
        """The keys and values in one block."""
        text = self._block(offset, size)
        try:
            count = struct.unpack("<I", text[-4:])[0]
            end = len(text) - 4 * (count + 1)
            position, key = 0, b""
            while position < end:
                shared, position = varint.get(text, position)
                rest, position = varint.get(text, position)
                length, position = varint.get(text, position)
                middle = position + rest
                if shared > len(key) or middle + length > end:
                    raise IndexError("an entry reaches out of its block")
                key = key[:shared] + text[position:middle]
                position = middle + length
                yield key, text[middle:position]
        except (IndexError, struct.error):
            raise _lost("bad entry in block", offset) from None
        if position != end:
            raise _lost("bad block contents", offset)

    def _block(self, offset: int, size: int) -> bytes:
        contents = self._data[offset : offset + size + _TRAILER]
        if len(contents) < size + _TRAILER:
            raise _lost("truncated block read", offset)
        stored = struct.unpack("<I", contents[-4:])[0]
        if crc.masked(contents[:-4]) != stored:
            raise _lost("block checksum mismatch", offset)
        kind = contents[size]
        if kind == _PLAIN:
            return contents[:size]
        if kind == _SNAPPY:
            return decompress(contents[:size])
        raise _lost("bad block type", offset)


def _lost(reason: str, offset: int) -> DataLossError:
    return errors.data_loss(f"{reason} at {offset}")


def _handle(data: bytes, position: int) -> tuple[tuple[int, int], int]:
    """Offset and size of a block, and the position after them."""
    try:
        offset, position = varint.get(data, position)
        size, position = varint.get(data, position)
    except IndexError:
        raise errors.data_loss("bad block handle") from None
    return (offset, size), position
