# SPDX-License-Identifier: Apache-2.0
"""Databases of LMDB, which are only read: all pairs of keys and values in the order of keys.

A file is pages of one size.  The first two say how large pages are and where the tree begins; the
one that was written last counts.  Pages of the tree hold places of nodes within them: in a branch a
node has the number of a page, in a leaf a key and a value, or the number of the page from which on
a long value lies.  (LMDB maps files into memory, and a damaged one ends its process; here every
place is looked at before it is used.)
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import IO

from ..engine import errors
from . import files

# A page begins with its number, its kind, and where its free space begins and ends.
_PAGE = struct.Struct("<QHHHH")
_NODE = struct.Struct("<HHHH")
# Of the first pages: magic number, version, address, size of the map, two trees, last page, number.
_META = struct.Struct("<IIQQ48s48sQQ")
_TREE = struct.Struct("<IHHQQQQQ")
_NUMBER = struct.Struct("<Q")
_MAGIC, _VERSION = 0xBEEFC0DE, 1
_BRANCH, _LEAF, _LONG, _FIXED = 0x01, 0x02, 0x04, 0x20
# A value on pages of its own; the name of another tree; several values of one key.
_IS_LONG, _IS_TREE, _IS_SEVERAL = 0x01, 0x02, 0x04
_NONE = (1 << 64) - 1
_SIZES = frozenset(1 << power for power in range(8, 17))
_DEEPEST = 64


class Entries:
    """The pairs of a database, a file or the `data.mdb` of a folder.

    Raises:
      InvalidArgumentError: There is no such database, or it is damaged.
    """

    def __init__(self, path: str) -> None:
        name = os.path.join(path, "data.mdb") if files.is_directory(path) else path
        try:
            self._file: IO[bytes] = files.open_binary(name, "rb")
        except errors.OpError as error:
            raise errors.invalid(f"No LMDB database: {error.message}") from None
        self._name = name
        try:
            self._bytes = self._file.seek(0, os.SEEK_END)
            self._size, root = self._begun()
            # A tree has each page once: one that leads back to itself ends here.
            self._pages_left = self._bytes // self._size
        except BaseException:
            self.close()
            raise
        self._pairs = self._below(root, 0) if root != _NONE else iter(())

    def next(self) -> tuple[bytes, bytes] | None:
        """The next pair; None at the end."""
        try:
            return next(self._pairs, None)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the reading."""
        self._file.close()

    def _damaged(self, what: str) -> errors.OpError:
        return errors.invalid(f"{self._name} is no LMDB database, or damaged: {what}")

    def _read(self, at: int, size: int) -> bytes:
        # (A file that is cut short says so before memory is taken.)
        if at + size > self._bytes:
            raise self._damaged("it ends too early")
        self._file.seek(at)
        return files.read_at_most(self._file, size)

    def _begun(self) -> tuple[int, int]:
        """The size of pages and the number of the tree's first one."""
        size, root, newest = self._meta(0)
        other = self._meta(size)
        if other[2] > newest:
            size, root, newest = other
        return size, root

    def _meta(self, at: int) -> tuple[int, int, int]:
        head = self._read(at, _PAGE.size + _META.size)
        magic, version, _, _, free, main, _, number = _META.unpack_from(head, _PAGE.size)
        if magic != _MAGIC or version != _VERSION:
            raise self._damaged("it does not begin as one")
        size = _TREE.unpack(free)[0]
        if size not in _SIZES:
            raise self._damaged(f"its pages have {size} bytes")
        return size, _TREE.unpack(main)[-1], number

    def _below(self, number: int, depth: int) -> Iterator[tuple[bytes, bytes]]:
        """The pairs of a part of the tree."""
        self._pages_left -= 1
        page = self._page(number)
        _, _, kind, lower, _ = _PAGE.unpack_from(page)
        if (
            self._pages_left < 0
            or depth > _DEEPEST
            or not _PAGE.size <= lower <= len(page)
            or kind & _FIXED
        ):
            raise self._damaged(f"page {number} is none of its tree")
        places = struct.unpack_from(f"<{(lower - _PAGE.size) // 2}H", page, _PAGE.size)
        for place in places:
            if place + _NODE.size > len(page):
                raise self._damaged(f"page {number} has a node outside")
            low, high, flags, length = _NODE.unpack_from(page, place)
            begin = place + _NODE.size + length
            if kind & _BRANCH:
                yield from self._below(low | high << 16 | flags << 32, depth + 1)
            elif kind & _LEAF and begin <= len(page):
                value = self._value(page, begin, low | high << 16, flags)
                yield page[begin - length : begin], value
            else:
                raise self._damaged(f"page {number} is none of its tree")

    def _page(self, number: int) -> bytes:
        return self._read(number * self._size, self._size)

    def _value(self, page: bytes, begin: int, size: int, flags: int) -> bytes:
        if flags & _IS_SEVERAL:
            raise errors.unimplemented(f"{self._name} has keys of several values.")
        if not flags & _IS_LONG:
            if begin + size > len(page):
                raise self._damaged("a value ends outside its page")
            return page[begin : begin + size]
        if begin + _NUMBER.size > len(page):
            raise self._damaged("a value is nowhere")
        (number,) = _NUMBER.unpack_from(page, begin)
        if not _PAGE.unpack_from(self._page(number))[2] & _LONG:
            raise self._damaged(f"page {number} has no value")
        return self._read(number * self._size + _PAGE.size, size)
