# SPDX-License-Identifier: Apache-2.0
"""Datasets of the pairs of keys and values in LMDB databases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....engine import errors
from ....engine.types import dtypes
from ....engine.types.shape import TensorShape
from .dataset import Dataset, Element, State, Stream, boxed

if TYPE_CHECKING:
    from ....io.lmdb_file import Entries
    from .context import Context


class LmdbDataset(Dataset):
    """The pairs of one database after the other."""

    kind = "LMDB"

    def __init__(self, names: Sequence[bytes]) -> None:
        super().__init__([dtypes.string] * 2, [TensorShape([])] * 2)
        self.names = names

    def stream(self, context: Context, path: str) -> Stream:
        return _Pairs(self.names)


class _Pairs(Stream):
    def __init__(self, names: Sequence[bytes]) -> None:
        self._names = [name.decode(errors="surrogateescape") for name in reversed(names)]
        self._entries: Entries | None = None

    def next(self) -> Element | None:
        from ....io.lmdb_file import Entries

        while True:
            if self._entries is None:
                if not self._names:
                    return None
                self._entries = Entries(self._names.pop())
            pair = self._entries.next()
            if pair is not None:
                return boxed(pair[0]), boxed(pair[1])
            self.close()

    def save(self) -> State:
        raise errors.unimplemented("Checkpointing is currently not supported for LMDBDataset.")

    def close(self) -> None:
        if self._entries is not None:
            self._entries.close()
            self._entries = None
