# SPDX-License-Identifier: Apache-2.0
"""Databases of LMDB, which are only read; the package `lmdb` does it."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any

from ..engine import errors


def _library() -> ModuleType:
    try:
        import lmdb
    except ImportError:
        raise errors.unimplemented(
            "LMDB databases are read by the package lmdb, which is not installed: "
            "pip install numbaflow[lmdb]"
        ) from None
    return lmdb


class Entries:
    """The pairs of keys and values of a database, a file or a folder, in the order of keys.

    Raises:
      UnimplementedError: The package lmdb is not there.
      InvalidArgumentError: There is no such database.
    """

    def __init__(self, path: str) -> None:
        self._lmdb = _library()
        is_folder = os.path.isdir(path)
        self._environment: Any = None
        try:
            self._environment = self._lmdb.open(
                path, subdir=is_folder, readonly=True, create=False, lock=False, max_dbs=0
            )
            self._transaction = self._environment.begin(buffers=False)
            self._cursor = iter(self._transaction.cursor())
        except (self._lmdb.Error, OSError) as error:
            self.close()
            raise errors.invalid(str(error)) from None

    def next(self) -> tuple[bytes, bytes] | None:
        """The next pair; None at the end."""
        try:
            return next(self._cursor, None)
        except self._lmdb.Error as error:
            raise errors.invalid(str(error)) from None

    def close(self) -> None:
        """Ends the reading."""
        if self._environment is not None:
            self._environment.close()
            self._environment = None
