# SPDX-License-Identifier: Apache-2.0
"""Kernels of the library called from Python, on arrays, outside of any plan."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...engine.memory import address_of as memory_address
from .. import target
from ..codegen.compile import compile_kernel
from ..codegen.signature import ARGUMENTS, SIGNATURE
from ..library.library_kernel import LibraryKernel

# Without the interpreter's lock, and with it.
_SIGNATURES = SIGNATURE, ctypes.PYFUNCTYPE(None, *ARGUMENTS)

# Kernels go over fewer bytes in less time than it takes to get the lock again.
SHORT = 1 << 14

# Of an argument block: more words than any kernel that is called so has.
_Block = ctypes.c_int64 * 24

# What was called before: by the kernel's identity it, its target, its code and how that is called.
_CALLED: dict[int, tuple[LibraryKernel, target.Target, Any, Sequence[Callable[..., None]]]] = {}


def call(
    kernel: LibraryKernel,
    arrays: Sequence[np.ndarray | int],
    numbers: Sequence[int],
    rows: int,
    keeps_lock: bool = False,
) -> None:
    """Runs a kernel over rows in this thread, without the interpreter's lock unless it is kept.

    (To take it again may take milliseconds, where other threads wait for it.)

    Args:
        kernel: it, for buffers of the arrays' dtypes.
        arrays: its buffers, contiguous, or their addresses.
        numbers: its parameters.
        rows: how many rows it goes over.
        keeps_lock: whether no other thread may change Python's objects meanwhile.
    """
    places = [x if isinstance(x, int) else memory_address(x) for x in arrays]
    block = _Block(*places, *numbers)
    _functions(kernel)[keeps_lock](block, 0, rows, 0, 1, 0)


def address_of(memory: np.ndarray | bytes) -> int:
    """Where an array or bytes lie, for as long as they live."""
    if isinstance(memory, bytes):
        memory = np.frombuffer(memory or b"\0", np.uint8)
    return memory_address(memory)


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
