# SPDX-License-Identifier: Apache-2.0
"""Memory for values that live longer than a run: aligned, and in large pages where it is much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

# Cache line and widest vector: what kernels assume of a variable's address.
ALIGNMENT = 64
# The system gives memory in large pages, which is quicker by far, where an array is large.  Smaller
# ones that are made together share a block of this size.
_BLOCK = 1 << 23


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
