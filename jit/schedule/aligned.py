# SPDX-License-Identifier: Apache-2.0
"""Arrays on cache-line boundaries, so that vectors of a kernel straddle none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...engine.memory import address_of

ALIGN = 64


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """A C-contiguous copy on a cache-line boundary."""
    result = aligned_empty(array.shape, array.dtype)
    result[...] = array
    return result


def aligned(array: np.ndarray) -> np.ndarray:
    """Contents that nobody changes, on a cache-line boundary: the array itself if it lies there."""
    is_there = array.flags.c_contiguous and address_of(array) % ALIGN == 0
    return array if is_there else aligned_copy(array)


def aligned_empty(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Uninitialised memory on a cache-line boundary."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.empty(count + ALIGN, np.uint8)
    start = -raw.ctypes.data % ALIGN
    return raw[start : start + count].view(dtype).reshape(shape)
