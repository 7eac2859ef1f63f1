# SPDX-License-Identifier: Apache-2.0
"""Replaces a checkpoint by another of the same name, such that one of them is always whole.

Data and index are two files, and no system renames two files at once.  So the present data get a
second name first, which has the checksum of the index that they belong to.  A reader looks for the
data of its index under that name; it is gone when the new index is in place.  Of several processes
one replaces at a time: otherwise the data of one could meet the index of another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from ..engine.errors import OpError
from . import crc, file_systems, files
from .atomic_file import locked, matching


def data_of_index(path: str, checksum: int) -> str:
    """The second name of a data file while it is being replaced."""
    return f"{path}.{checksum:08x}"


@contextmanager
def replacing(prefix: str) -> Iterator[None]:
    """A context in which data files, then the index of a checkpoint get their names."""
    local = file_systems.of(prefix).local_path(prefix)
    if local is None or not hasattr(os, "link"):
        yield  # Elsewhere files have one name.
        return
    with locked(os.path.dirname(local) or "."):
        if files.file_exists(f"{prefix}.index"):
            _keep(prefix)
        yield
        _release(prefix)


def _keep(prefix: str) -> None:
    with files.open_binary(f"{prefix}.index", "rb") as index:
        checksum = crc.value(index.read())
    for path in matching(prefix, ".data-?????-of-?????"):
        local = file_systems.of(path).local_path(path)
        assert local is not None
        try:
            os.link(local, data_of_index(local, checksum))
        except FileExistsError:
            continue  # Somebody was killed while replacing: those are the data of the index.
        except OSError:
            return  # A file system without links.


def _release(prefix: str) -> None:
    for path in matching(prefix, ".data-?????-of-?????.????????"):
        try:
            files.delete_file(path)
        except OpError:
            continue  # It does no harm.
