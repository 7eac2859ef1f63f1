# SPDX-License-Identifier: Apache-2.0
"""A bundle of the elements of a dataset, read many at a time.

Tensors are called by the numbers of their elements and components.  Whatever is unusual in a file,
or damaged, is left to who reads tensor by tensor (bundle_reader.py), and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..engine.memory import aligned_empty
from ..engine.types.dtypes import DType
from ..engine.types.texts import PackedTexts
from . import crc, files
from .bundle_reader import data_file
from .claims import stored_type
from .positioned_file import DataFile
from .table import Table
from .tensor_bundle import HEADER_KEY, data_path, index_path, parse_header

# So many bytes of a file are read at a time, and so many tensors.
_BYTES, _TENSORS = 1 << 20, 1 << 12
# Between tensors that are read together lies no more than that for each.
_GAP = 64


class BundleElements:
    """The elements of a bundle by number."""

    def __init__(self, prefix: str, kinds: Sequence[DType]) -> None:
        """DataLossError for an index that is damaged; kinds: what the components are to be."""
        path = index_path(prefix)
        with files.open_binary(path, "rb") as file, files.translated(path):
            data = file.read()
        self._prefix, self._kinds = prefix, kinds
        self._checksum = crc.value(data)
        table = Table(data)
        first = next(iter(table), (b"\0", b""))
        self._rows = _rows_of(table, len(kinds))
        self._shards = 0
        if self._rows is not None and first[0] == HEADER_KEY:
            header = parse_header(prefix, first[1])
            self._shards = 0 if header.endianness else header.num_shards
        self._files: dict[int, DataFile] = {}

    @property
    def count(self) -> int | None:
        """How many elements there are; None where they have to be read one by one."""
        return None if self._rows is None or not self._shards else len(self._rows)

    def block(self, start: int, count: int) -> list[np.ndarray] | None:
        """At most `count` elements from a number on, alike, a row of an array each.

        None where the first of them has to be read by itself, or there is none.
        """
        rows = self._rows
        if rows is None or not self._shards:
            return None
        rows = rows[start : start + max(1, min(count, _TENSORS // len(self._kinds)))]
        if not len(rows):
            return None
        file = self._file(int(rows[0, 0, 3]))
        rows = rows[: _alike(rows, file.size, self._kinds)]
        if not len(rows) or not _are_usual(rows[0], self._kinds):
            return None
        offsets, sizes = rows[:, :, 4], rows[:, :, 5]
        first, last = int(offsets.min()), int((offsets + sizes).max())
        if last - first > int(sizes.sum()) + _GAP * len(rows):
            return None
        text = np.empty(last - first or 1, np.uint8)
        if last > first and file.read_into(text.data, first) < len(text):
            return None
        found = []
        for i, kind in enumerate(self._kinds):
            column = _column(text, rows[:, i], first, kind)
            if column is None:
                return None
            found.append(column)
        return found

    def _file(self, shard: int) -> DataFile:
        file = self._files.get(shard)
        if file is None:
            path = data_path(self._prefix, shard, self._shards)
            file = self._files[shard] = data_file(path, self._checksum)
        return file

    def close(self) -> None:
        """Closes the data files."""
        self._files.clear()


def _rows_of(table: Table, components: int) -> np.ndarray | None:
    """What an index says, int64 [elements, components, ...]; None where that is unusual."""
    from ..jit.library import bundles
    from ..jit.runtime.calling import call

    parts = []
    for block, size in table.blocks():
        # (An entry of a tensor has ten bytes and more.)
        most = size // 8 + 1
        rows, found = np.empty((most, bundles.WIDTH), np.int64), np.zeros(1, np.int64)
        key = np.zeros(bundles.LONGEST_KEY, np.uint8)
        call(bundles.entries(), [np.frombuffer(block, np.uint8), key, rows, found], [size, most], 1)
        count = int(found[0])
        if count < 0:
            return None
        parts.append(rows[:count])
    whole = np.concatenate(parts) if parts else np.empty((0, bundles.WIDTH), np.int64)
    # (Sizes behind the last one are anything.)
    sizes, ranks = whole[:, bundles.SIZES :], whole[:, bundles.SIZES - 1]
    sizes[np.arange(bundles.MOST) >= ranks[:, None]] = 0
    count = len(whole) // components
    if len(whole) % components:
        return None
    whole = whole.reshape(count, components, -1)
    is_in_order = (whole[:, :, 0] == np.arange(count)[:, None]).all()
    return whole if is_in_order and (whole[:, :, 1] == np.arange(components)).all() else None


def _alike(rows: np.ndarray, length: int, kinds: Sequence[DType]) -> int:
    """How many elements from the first on are like it, in a file, and not too much together.

    length: of the file of the first; whatever an index says, nothing outside of it is read.
    """
    from ..jit.library.bundles import SIZES

    offsets, sizes = rows[:, :, 4], rows[:, :, 5]
    is_inside = (offsets >= 0) & (sizes >= 0) & (sizes <= length) & (offsets <= length - sizes)
    alike = (is_inside & (rows[:, :, 3] == rows[0, 0, 3])).all(axis=1)
    alike &= (rows[:, :, 2] == rows[0, :, 2]).all(axis=1)
    alike &= (rows[:, :, SIZES - 1 :] == rows[0, :, SIZES - 1 :]).all(axis=(1, 2))
    for i, kind in enumerate(kinds):
        if not kind.np_dtype.hasobject:
            alike &= sizes[:, i] == sizes[0, i]
    # (Sizes of what is outside would make any sum of the total.)
    alike[1:] &= np.cumsum(np.where(is_inside, sizes, 0).sum(axis=1))[1:] <= _BYTES
    return len(rows) if alike.all() else int(alike.argmin())


def _are_usual(row: np.ndarray, kinds: Sequence[DType]) -> bool:
    """Whether tensors are of the types of the components, and as long as their shapes say."""
    from ..jit.library.bundles import MOST, SIZES

    for (dtype, _, _, size, _, rank, *sizes), kind in zip(row[:, 2:].tolist(), kinds):
        stored = stored_type(dtype)
        if stored is None or stored != kind or rank >= MOST:
            return False
        count = 1
        for each in sizes[:rank]:
            count *= each
        is_text = kind.np_dtype.hasobject
        if is_text and kind.name != "string":
            return False
        if count > SIZES * _BYTES or (not is_text and count * kind.np_dtype.itemsize != size):
            return False
    return True


def _column(text: np.ndarray, rows: np.ndarray, first: int, kind: DType) -> np.ndarray | None:
    """A component of elements that are alike; None where a checksum is another."""
    from ..jit.library import bundles
    from ..jit.runtime.calling import call

    count, rank = len(rows), int(rows[0, bundles.SIZES - 1])
    shape = tuple(rows[0, bundles.SIZES : bundles.SIZES + rank].tolist())
    starts = rows[:, 4] - first
    checksums, found = rows[:, 6].copy(), np.zeros(1, np.int64)
    given = [text, crc.tables(), starts]
    if kind.np_dtype.hasobject:
        size = int(np.prod(shape, dtype=np.int64))
        places = np.empty((count * size, 2), np.int64)
        given += [rows[:, 5].copy(), checksums, places, found]
        call(bundles.texts(), given, [size], count)
        texts = PackedTexts(text.tobytes(), places)
        return None if found[0] else texts.array().reshape(count, *shape)
    array = aligned_empty((count, *shape), kind.np_dtype)
    flat = array.reshape(-1).view(np.uint8)
    call(bundles.numbers(), [*given, checksums, flat, found], [int(rows[0, 5])], count)
    return None if found[0] else array
