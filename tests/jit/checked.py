# SPDX-License-Identifier: Apache-2.0
"""Kernels that are compiled and run as bytecode both, wherever they run: the bits must be equal."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from numbaflow.jit.codegen import compile as compiler
from numbaflow.jit.codegen.bytecode import is_fit, may_meet
from numbaflow.jit.codegen.emit import emit
from numbaflow.jit.codegen.machine import address_of
from numbaflow.jit.codegen.signature import SIGNATURE
from numbaflow.jit.kernel.ir import Kernel
from numbaflow.jit.kernel.reference import numpy_dtype

from .bytecode import Bytecode, Written

# What differed; a test looks when it is over.
DIFFERENT: list[str] = []
COUNTS = {"runs": 0, "kernels": 0}
_MADE: dict[Kernel, Checked] = {}


class Checked:
    """A kernel whose machine code is held against what its bytecode gives, at every tile."""

    def __init__(self, kernel: Kernel, origin: Any) -> None:
        self.kernel, self._lock = kernel, threading.Lock()
        self.made = compiler.compile_kernel(kernel, origin)
        self._machine_code, self._bytecode = SIGNATURE(self.made.address), Bytecode(kernel, True)
        self._entry = SIGNATURE(self._run)
        COUNTS["kernels"] += 1

    @property
    def compiled(self) -> compiler.Compiled:
        return replace(self.made, address=address_of(self._entry))

    def _run(self, args: int, *tile: int) -> None:
        try:
            with self._lock:
                self._bytecode.written.clear()
                self._bytecode.run(args, *tile)
                self._machine_code(args, *tile)
                COUNTS["runs"] += 1
                for dtype in {written.dtype for written in self._bytecode.written}:
                    self._compare(dtype, self._bytecode.written)
        except BaseException as error:
            DIFFERENT.append(f"{type(error).__name__}: {error}")
            raise

    def _compare(self, dtype: str, written: list[Written]) -> None:
        every = [one for one in written if one.dtype == dtype]
        # Of several that are written to one place the last one stays.
        addresses = np.concatenate([one.addresses for one in every])[::-1]
        addresses, first = np.unique(addresses, return_index=True)
        wanted = np.concatenate([one.values for one in every])[::-1][first]
        if not len(addresses):
            return
        size, low = wanted.itemsize, int(addresses[0])
        count = int(addresses[-1]) - low + size
        memory = np.frombuffer((ctypes.c_char * count).from_address(low), np.uint8)
        rows = (addresses - low)[:, None] + np.arange(size)
        found = np.ascontiguousarray(memory[rows]).view(wanted.dtype).ravel()
        x, y = (_as_numbers(bits, dtype) for bits in (found, wanted))
        same = x == y
        if x.dtype.kind == "f":
            same |= np.isnan(x) & np.isnan(y)
        if not same.all():
            text = f"{x[~same][:3]} {y[~same][:3]} at {np.flatnonzero(~same)[:3]} of {x.shape}"
            DIFFERENT.append(f"{text}\n{emit(self.kernel)}")


def _as_numbers(bits: np.ndarray, dtype: str) -> np.ndarray:
    numbers = bits.view(numpy_dtype(dtype))
    return numbers.astype(np.float32) if "float16" in dtype else numbers


def install(put: Callable[[object, str, object], None] = setattr) -> None:
    """From here on all kernels of this process are checked.  put: puts an attribute in place."""
    from numbaflow.jit.runtime import plan

    def compiled(steps: Any, traced: Any, begins: Any) -> Any:
        kernels, parts, first = before(steps, traced, None)
        checked = []
        for step, kernel in zip(plan.native_steps(steps), kernels):
            own = step.kernel
            # (What one row writes the next may read, of rows that meet; here nothing is written.)
            if isinstance(own, Kernel) and is_fit(own) and not may_meet(own):
                if own not in _MADE:
                    _MADE[own] = Checked(own, None)
                kernel = _MADE[own].compiled
            checked.append(kernel)
        return checked, parts, first

    before = plan._compile_kernels
    put(plan, "_compile_kernels", compiled)
