# SPDX-License-Identifier: Apache-2.0
"""Memory for values that live longer than a run: aligned, and in large pages where it is much.

What is made again in every run, such as large results, is taken from memory that was given back:
systems take their time to give fresh memory to a process.

Small arrays are copied with the interpreter's lock (`copy_of`, `put`, `put_rows`).  NumPy lets go
of it for arrays of more than 500 elements: where several threads wait for it, one of them takes it
each time, and the copy that took a microsecond waits for milliseconds of their work.
"""

from __future__ import annotations

import ctypes
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

# Cache line and widest vector: what kernels assume of a variable's address.
ALIGNMENT = 64
# The system gives memory in large pages, which is quicker by far, where an array is large.  Smaller
# ones that are made together share a block of this size.
_BLOCK = 1 << 23

# Smaller pieces the C library keeps itself.
_LEAST_KEPT = 1 << 17
# So many bytes, of so many sizes, are kept at most.
_MOST_KEPT, _MOST_SIZES = 1 << 26, 16
# Sizes of pieces have so many leading bits, so that arrays of nearly one size share them.
_LEADING = 4
# By size the pieces that were given back, the last one last; sizes in the order they came up.
_KEPT: dict[int, list[np.ndarray]] = {}


def _keep(
    piece: np.ndarray,
    kept: dict[int, list[np.ndarray]] = _KEPT,
    most: int = _MOST_KEPT,
    sizes: int = _MOST_SIZES,
) -> None:
    """Keeps a piece; others go for it where there are too many, those of other sizes first.

    No lock: this may run in the middle of anything.  What is kept may be a piece too much for a
    moment, where threads do this at once.
    """
    size = piece.nbytes
    if size not in kept and len(kept) >= sizes:
        kept.clear()
    pieces = kept.setdefault(size, [])
    total = size
    for each, others in list(kept.items()):
        total += each * len(others)
    if total > most:
        held = [(each, others) for each, others in list(kept.items()) if others is not pieces]
        for each, others in [*held, (size, pieces)]:
            while total > most and others:
                total -= each
                del others[:1]
    pieces.append(piece)


class _Lease:
    """A piece of memory while arrays lie in it; when the last one is gone, it is kept."""

    __slots__ = ("_count", "_piece")

    def __init__(self, piece: np.ndarray, count: int) -> None:
        self._piece, self._count = piece, count

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {**self._piece.__array_interface__, "shape": (self._count,)}

    def __del__(self, keep: Callable[[np.ndarray], None] = _keep) -> None:
        keep(self._piece)


def _piece_of(count: int) -> np.ndarray:
    """A piece of at least so many bytes, and not many more: one that was kept, or a new one."""
    shift = max(count.bit_length() - _LEADING, 0)
    size = -(-count >> shift) << shift
    try:
        return _KEPT[size].pop()
    except (KeyError, IndexError):
        return np.empty(size, np.uint8)


def recycled_empty(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    """As `aligned_empty`, of memory that was given back where there is some."""
    size = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or not _LEAST_KEPT <= size <= _MOST_KEPT // 2:
        return aligned_empty(tuple(shape), dtype)
    count = size + ALIGNMENT
    block = np.asarray(_Lease(_piece_of(count), count))
    start = -block.ctypes.data % ALIGNMENT
    return block[start : start + size].view(dtype).reshape(shape)


class _Offers(threading.local):
    """Memory that the callers of a thread's function have for its results."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []


_OFFERS = _Offers()


@contextmanager
def offering(arrays: Sequence[np.ndarray]) -> Iterator[None]:
    """Results of what this thread runs within may be made in these arrays, each at most once.

    Who offers them looks whether a result is one of them, and copies it if it is not.
    """
    before, _OFFERS.arrays = _OFFERS.arrays, list(arrays)
    try:
        yield
    finally:
        _OFFERS.arrays = before


def result_empty(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    """As `recycled_empty`, of memory that the caller offers for such a result if there is some."""
    offers = _OFFERS.arrays
    for i, array in enumerate(offers):
        if array.shape == shape and array.dtype == dtype:
            # (Kernels take it that results are aligned; rows of a batch need not be.)
            if address_of(array) % ALIGNMENT or not array.flags.c_contiguous:
                break
            return offers.pop(i)
    return recycled_empty(shape, dtype)


def _data_place() -> int | None:
    """Where in an array's object its memory's address stands: behind what all objects have.

    None where NumPy's objects are otherwise.
    """
    place = object.__basicsize__
    for array in (np.arange(3), np.zeros((2, 3), np.uint8)[1:, 1:], np.empty((), object)):
        if _word_at(id(array) + place).value != array.__array_interface__["data"][0]:
            return None
    return place


_word_at = ctypes.c_size_t.from_address
_PLACE = _data_place()


def address_of(array: np.ndarray) -> int:
    """Where an array's memory lies.

    (Asked of the array's interface, it takes as long as small kernels take to run.)
    """
    if _PLACE is None or not isinstance(array, np.ndarray):
        found: int = array.__array_interface__["data"][0]
        return found
    return _word_at(id(array) + _PLACE).value


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """An uninitialised C-contiguous array that starts at a multiple of ALIGNMENT."""
    if dtype.hasobject:
        return np.empty(shape, dtype)
    size = math.prod(shape) * dtype.itemsize
    block = np.empty(size + ALIGNMENT, np.uint8)
    start = -address_of(block) % ALIGNMENT
    return np.ndarray(shape, dtype, block, start)


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """A copy that a cell may own."""
    result = aligned_empty(array.shape, array.dtype)
    result[...] = array
    return result


def lasting_copy(array: np.ndarray) -> np.ndarray:
    """A C-contiguous copy; of much it is aligned, so that plans read it as it lies."""
    is_large = array.nbytes >= _LEAST_KEPT
    return aligned_copy(array) if is_large else np.array(array, order="C", copy=True)


def aligned_arrays(kinds: Sequence[tuple[tuple[int, ...], np.dtype[Any]]]) -> list[np.ndarray]:
    """Uninitialised arrays of shapes and types, each at a multiple of ALIGNMENT."""
    counts = [math.prod(shape) * dtype.itemsize for shape, dtype in kinds]
    sizes = [-(-count // ALIGNMENT) * ALIGNMENT for count in counts]
    left = sum(size for size in sizes if size < _BLOCK)
    result, block, position = [], np.empty(0, np.uint8), 0
    for (shape, dtype), count, size in zip(kinds, counts, sizes):
        if size >= _BLOCK or dtype.hasobject:
            result.append(aligned_empty(shape, dtype))
            continue
        if position + size > len(block):
            block, position = aligned_empty((min(max(size, left), _BLOCK),), np.dtype(np.uint8)), 0
        result.append(block[position : position + count].view(dtype).reshape(shape))
        position += size
        left -= size
    return result


class _Gifts(threading.local):
    """Arrays that who takes their contents may keep, as nobody else will look at them."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []


_GIFTS = _Gifts()


@contextmanager
def giving(arrays: list[np.ndarray]) -> Iterator[None]:
    """Within it this thread may keep these arrays; those that it did leave the list."""
    before, _GIFTS.arrays = _GIFTS.arrays, arrays
    try:
        yield
    finally:
        _GIFTS.arrays = before


def owned(array: np.ndarray) -> np.ndarray:
    """An aligned array of these contents that a cell may own: the array itself if it is given."""
    for i, gift in enumerate(_GIFTS.arrays):
        if gift is array and array.flags.c_contiguous and address_of(array) % ALIGNMENT == 0:
            return _GIFTS.arrays.pop(i)
    return aligned_copy(array)


def is_alone(known: Any, key: object, more: int = 0) -> bool:
    """Does nothing but known[key], and `more` variables of the caller, refer to an array?

    Nor to its memory.  What nobody else can see is the caller's, whoever made it; so it is with
    batches that iterators and queues give.
    """
    return _references(known, key) == _ALONE + more and _fills_its_memory(known[key])


def _references(known: Any, key: object) -> int:
    """How often a value is referred to, counting references of this call."""
    value = known[key]
    return sys.getrefcount(value)


# So many are there where nothing but the dictionary refers to it.
_ALONE = _references({None: np.empty(0)}, None)


def _fills_its_memory(array: np.ndarray) -> bool:
    """Whether nothing else lies in an array's memory, nor refers to it."""
    memory = array.base
    if memory is None:
        return True
    is_filled = isinstance(memory, np.ndarray) and memory.nbytes - array.nbytes <= ALIGNMENT
    del memory
    return is_filled and _references({None: array.base}, None) == _ALONE + 1


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
