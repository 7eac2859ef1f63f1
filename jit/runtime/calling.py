# SPDX-License-Identifier: Apache-2.0
"""Kernels of the library called from Python, on arrays, outside of any plan."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from ..codegen.compile import compile_kernel
from ..library.library_kernel import LibraryKernel

_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 5)


def call(
    kernel: LibraryKernel, arrays: Sequence[np.ndarray], numbers: Sequence[int], rows: int
) -> None:
    """Runs a kernel over rows, in this thread, without the interpreter's lock.

    Args:
        kernel: it, for buffers of the arrays' dtypes.
        arrays: its buffers; contiguous.
        numbers: its parameters.
        rows: how many rows it goes over.
    """
    block = np.array([*(array.ctypes.data for array in arrays), *numbers], np.int64)
    _SIGNATURE(compile_kernel(kernel).address)(block.ctypes.data, 0, rows, 0, 1, 0)
