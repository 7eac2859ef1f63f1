# SPDX-License-Identifier: Apache-2.0
"""Kernels of the library called from Python, on arrays, outside of any plan."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import target
from ..codegen.compile import compile_kernel
from ..codegen.signature import ARGUMENTS, SIGNATURE
from ..library.library_kernel import LibraryKernel

# Without the interpreter's lock, and with it.
_SIGNATURES = SIGNATURE, ctypes.PYFUNCTYPE(None, *ARGUMENTS)

# What was called before: by the kernel's identity it, its target, its code and how that is called.
_CALLED: dict[int, tuple[LibraryKernel, target.Target, Any, Sequence[Callable[..., None]]]] = {}


def call(
    kernel: LibraryKernel,
    arrays: Sequence[np.ndarray],
    numbers: Sequence[int],
    rows: int,
    keeps_lock: bool = False,
) -> None:
    """Runs a kernel over rows in this thread, without the interpreter's lock unless it is kept.

    Args:
        kernel: it, for buffers of the arrays' dtypes.
        arrays: its buffers; contiguous.
        numbers: its parameters.
        rows: how many rows it goes over.
        keeps_lock: whether no other thread may change Python's objects meanwhile.
    """
    places = [array.__array_interface__["data"][0] for array in arrays]
    block = np.array([*places, *numbers], np.int64)
    _functions(kernel)[keeps_lock](block.__array_interface__["data"][0], 0, rows, 0, 1, 0)


def _functions(kernel: LibraryKernel) -> Sequence[Callable[..., None]]:
    """The kernel's code, as functions.

    Finding it among all that was compiled takes longer than it may run.
    """
    aim, known = target.current(), _CALLED.get(id(kernel))
    if known is None or known[0] is not kernel or known[1] is not aim:
        compiled = compile_kernel(kernel)
        known = kernel, aim, compiled, [make(compiled.address) for make in _SIGNATURES]
        _CALLED[id(kernel)] = known
    return known[3]
