# SPDX-License-Identifier: Apache-2.0
"""A device that is the processor in a GPU's clothes: memory of its own, the same kernels.

A kernel is its CUDA text, compiled for the processor with the words of one thread
(device_words.py); it does what a grid would.  It is for trying out programs that name GPUs, and
for tests of all that lies between a plan and a driver, on machines without one.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from ...engine.record_class import record
from .. import target
from ..codegen import compile as compiler
from ..codegen import llvm
from ..codegen.words import Unfit
from ..schedule.aligned import aligned_empty
from . import ptx
from .cuda_kernel import LIBRARY, Capability, KernelText
from .device import Device, Made, OutOfMemory
from .launching import Extents

_GIGABYTE = 1 << 30


@record(frozen=True, slots=True)
class Function:
    """A kernel's machine code, for the processor, and whether it does tiles."""

    code: Callable[..., None]
    is_library: bool

    def __call__(self, block: int, *sizes: int) -> None:
        if not self.is_library:
            rows, columns = sizes
            self.code(block, 0, rows, 0, columns, 0)
            return
        rows, row_tile, columns, column_tile = sizes
        for r in range(0, rows, row_tile):
            for c in range(0, columns, column_tile):
                last = min(r + row_tile, rows), min(c + column_tile, columns)
                self.code(block, r, last[0], c, last[1], 0)


class EmulatedDevice(Device):
    """See the module's docstring; it refuses to hold more than `total_bytes`."""

    name = "emulated"
    is_parallel = False
    capability = Capability(8, 0)

    def __init__(self, number: int = 0, total_bytes: int = 8 * _GIGABYTE) -> None:
        super().__init__()
        self.number, self.total_bytes = number, total_bytes
        self._blocks: dict[int, np.ndarray] = {}
        # Kernels that ran, and how often somebody waited.
        self.launches = self.waits = 0

    def prepare(self, kernels: Sequence[KernelText]) -> dict[str, Made]:
        """See Device."""
        found = {}
        for kernel in kernels:
            start = time.perf_counter()
            with suppress(Unfit):
                ptx.written(kernel)
                self.function(kernel)
                found[kernel.symbol] = Made("", time.perf_counter() - start)
        return found

    def _load(self, kernel: KernelText) -> Function:
        symbol, aim = f"alone_{kernel.symbol}", target.current()
        if kernel.form == LIBRARY:
            text = llvm.lowered(kernel.source, symbol, aim, is_library=True)
        else:
            text = llvm.finished(str(ptx.module_alone(kernel.source, symbol)), aim)
        address = compiler.load_object(llvm.object_code(text, aim), symbol)
        numbers = [ctypes.c_int64] * 5
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *numbers)(address)
        return Function(call, kernel.form == LIBRARY)

    def _allocate(self, count: int) -> int:
        if self.used_bytes + count > self.total_bytes:
            raise OutOfMemory(count)
        block = aligned_empty((count,), np.uint8)
        self._blocks[block.ctypes.data] = block
        return int(block.ctypes.data)

    def _free(self, address: int) -> None:
        del self._blocks[address]

    def upload(self, address: int, array: np.ndarray) -> None:
        """See Device."""
        ctypes.memmove(address, array.ctypes.data, array.nbytes)

    def download_all(self, pairs: Sequence[tuple[np.ndarray, int]]) -> None:
        """See Device."""
        self.waits += 1
        for array, address in pairs:
            ctypes.memmove(array.ctypes.data, address, array.nbytes)

    def launcher(
        self, function: Function, extents: Extents, words: Sequence[int]
    ) -> Callable[[], None]:
        """See Device."""

        def launch() -> None:
            self.launches += 1
            function(*words)

        return launch

    def recorded(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None]:
        """See Device."""
        held = tuple(launches)

        def replay() -> None:
            for launch in held:
                launch()

        return replay

    def synchronize(self) -> None:
        """See Device."""
