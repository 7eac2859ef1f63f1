# SPDX-License-Identifier: Apache-2.0
"""Memory for values that live longer than a run: aligned, and in large pages where it is much.

What is made again in every run, such as large results, is taken from memory that was given back:
systems take their time to give fresh memory to a process.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

# Cache line and widest vector: what kernels assume of a variable's address.
ALIGNMENT = 64
# The system gives memory in large pages, which is quicker by far, where an array is large.  Smaller
# ones that are made together share a block of this size.
_BLOCK = 1 << 23

# Smaller pieces the C library keeps itself.
_LEAST_KEPT = 1 << 17
# So many bytes, in so many pieces, are kept at most.
_MOST_KEPT, _MOST_PIECES = 1 << 26, 64
_KEPT: deque[np.ndarray] = deque(maxlen=_MOST_PIECES)


class _Lease:
    """A piece of memory while arrays lie in it; when the last one is gone, it is kept."""

    __slots__ = ("_count", "_piece")

    def __init__(self, piece: np.ndarray, count: int) -> None:
        self._piece, self._count = piece, count

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {**self._piece.__array_interface__, "shape": (self._count,)}

    def __del__(self, kept: deque[np.ndarray] = _KEPT, most: int = _MOST_KEPT) -> None:
        # (No lock: this may run in the middle of anything.  What is kept may be a piece too much
        # for a moment, where threads do this at once.)
        if sum(piece.nbytes for piece in list(kept)) + self._piece.nbytes > most:
            kept.clear()
        kept.append(self._piece)


def _kept(count: int) -> np.ndarray | None:
    """A piece of at least so many bytes, and not many more, that was kept."""
    for _ in range(len(_KEPT)):
        try:
            piece = _KEPT.pop()
        except IndexError:  # another thread took it
            return None
        if count <= piece.nbytes <= count + count // 4:
            return piece
        _KEPT.appendleft(piece)
    return None


def recycled_empty(shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    """As `aligned_empty`, of memory that was given back where there is some."""
    size = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or not _LEAST_KEPT <= size <= _MOST_KEPT // 2:
        return aligned_empty(tuple(shape), dtype)
    count = size + ALIGNMENT
    piece = _kept(count)
    block = np.asarray(_Lease(np.empty(count, np.uint8) if piece is None else piece, count))
    start = -block.ctypes.data % ALIGNMENT
    return block[start : start + size].view(dtype).reshape(shape)


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    """An uninitialised C-contiguous array that starts at a multiple of ALIGNMENT."""
    if dtype.hasobject:
        return np.empty(shape, dtype)
    size = math.prod(shape) * dtype.itemsize
    block = np.empty(size + ALIGNMENT, np.uint8)
    start = -block.ctypes.data % ALIGNMENT
    return block[start : start + size].view(dtype).reshape(shape)


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """A copy that a cell may own."""
    result = aligned_empty(array.shape, array.dtype)
    result[...] = array
    return result


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
