# SPDX-License-Identifier: Apache-2.0
"""Reads files as NumPy 1 and h5py 2 did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

_OBJECTS = "pickled objects without allow_pickle"
_PYTHON_2 = "objects that Python 2 has pickled"


class _Arrays(NpzFile):  # type: ignore[misc]
    """An archive whose objects are unpickled when one is asked for."""

    note: Callable[[str], None]

    def __getitem__(self, key: str) -> Any:
        try:
            return super().__getitem__(key)
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
        self.note(_OBJECTS)
        self.allow_pickle = True
        return self[key]


def load(note: Callable[[str], None], file: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.load` with the defaults that it had.

    Args:
        note: told what of that was needed.
        file: as of `np.load`, like the rest.

    Returns:
        What it gives.
    """
    if len(args) >= 2 or "allow_pickle" in kwargs:
        return np.load(file, *args, **kwargs)
    start = file.tell() if hasattr(file, "seek") else None

    def again(**more: Any) -> Any:
        if start is not None:
            file.seek(start)
        return np.load(file, *args, **{**kwargs, **more})

    try:
        found = np.load(file, *args, **kwargs)
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        note(_OBJECTS)
    else:
        if type(found) is NpzFile:
            found.__class__ = _Arrays
            found.note = note  # type: ignore[attr-defined]
        return found
    try:
        return again(allow_pickle=True)
    except (UnicodeError, UnicodeDecodeError):
        if "encoding" in kwargs:
            raise
    note(_PYTHON_2)
    return again(allow_pickle=True, encoding="latin1")


def dataset_value(self: Any) -> Any:
    """`Dataset.value` of h5py 2: all of it."""
    return self[()]


def file_id(file: Any) -> Any:
    """`File.fid`: what HDF5 knows a file by."""
    return file.id
