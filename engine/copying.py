# SPDX-License-Identifier: Apache-2.0
"""Copies of small arrays that keep the interpreter's lock.

NumPy lets go of it for arrays of more than 500 elements.  Where several threads wait for it, one of
them takes it each time, and the copy that took a microsecond waits for milliseconds of their work.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# NumPy keeps the lock up to so many elements; beyond so many bytes others may well go on meanwhile.
_FEW, _LARGE = 500, 1 << 16


def keeps_lock(array: np.ndarray) -> bool:
    """Whether NumPy itself copies an array without letting go of the lock."""
    return array.size <= _FEW


def _is_between(array: np.ndarray) -> bool:
    """Whether NumPy would let go of the lock for an array that is soon copied."""
    if keeps_lock(array) or array.nbytes > _LARGE:
        return False
    return array.flags.c_contiguous and not array.dtype.hasobject


def _bytes_of(array: np.ndarray) -> memoryview:
    # (Memory views know fewer types than arrays.)
    if array.dtype.kind in "biuf" and array.dtype.isnative:
        return array.data.cast("B")
    return array.reshape(-1).view(np.uint8).data


def copy_of(value: np.ndarray) -> np.ndarray:
    """A copy of an array, or an array of what is none."""
    if type(value) is not np.ndarray:
        return np.array(value)
    if not _is_between(value):
        return value.copy()
    result = np.empty(value.shape, value.dtype)
    _bytes_of(result)[:] = _bytes_of(value)
    return result


def put(target: np.ndarray, value: np.ndarray) -> None:
    """Writes an array, or what is none, over another array of its shape."""
    if _is_between(target) and _is_like(value, target):
        _bytes_of(target)[:] = _bytes_of(value)
    else:
        target[...] = value


def put_rows(result: np.ndarray, rows: Sequence[np.ndarray]) -> bool:
    """Copies arrays into the rows of another one; False if that is better done by NumPy."""
    if not rows or type(rows[0]) is not np.ndarray or not _is_between(rows[0]):
        return False
    first = rows[0]
    if result.dtype != first.dtype or result.shape != (len(rows), *first.shape):
        return False
    if not result.flags.c_contiguous or not all(_is_like(row, first) for row in rows):
        return False
    target, size = _bytes_of(result), first.nbytes
    for number, row in enumerate(rows):
        target[number * size : (number + 1) * size] = _bytes_of(row)
    return True


def _is_like(row: object, first: np.ndarray) -> bool:
    return (
        type(row) is np.ndarray
        and row.dtype == first.dtype
        and row.shape == first.shape
        and row.flags.c_contiguous
    )
