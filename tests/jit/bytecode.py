# SPDX-License-Identifier: Apache-2.0
"""Bytecode of kernels, run from Python, for arguments that have nothing in front of them."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from numbaflow.jit.codegen.bytecode import program
from numbaflow.jit.codegen.machine import Desk, address_of
from numbaflow.jit.codegen.signature import SIGNATURE
from numbaflow.jit.kernel.ir import Kernel
from numbaflow.jit.kernel.reference import numpy_dtype
from numbaflow.jit.library import bytecode_kernels as layout
from numbaflow.jit.library import instruction_kernels as operands
from numbaflow.jit.library import instruction_set


class Written(NamedTuple):
    """What a store would write: the elements' dtype, addresses, and bits as whole numbers."""

    dtype: str
    addresses: np.ndarray
    values: np.ndarray


class Bytecode:
    """A kernel's bytecode; instead of writing, what is told of all stores may be kept.

    As many threads may run one as do not keep what is written.
    """

    def __init__(self, kernel: Kernel, keeps: bool = False) -> None:
        self.kernel, self.desk = kernel, Desk(kernel, 0)
        self.desk.allow(1e9)
        self.run_machine = SIGNATURE(self.desk.entry)
        self.written: list[Written] = []
        self._buffers: list[int] = []
        self._stores: list[Any] = []
        if keeps:
            self._keep()

    def run(self, args: int, *tile: int) -> None:
        """What the kernel's machine code does for the same numbers."""
        kernel = self.kernel
        count = len(kernel.buffers) + len(kernel.axes) + kernel.params
        block = np.zeros(layout.LEAD + count, np.int64)
        memory = np.empty(self.desk.bytes + layout.LINE, np.uint8)
        first = -(-memory.ctypes.data // layout.LINE) * layout.LINE
        block[: layout.LEAD] = first, 0, self.desk.address
        block[layout.LEAD :] = (ctypes.c_int64 * count).from_address(args)
        self._buffers = block[layout.LEAD :][: len(kernel.buffers)].tolist()
        self.run_machine(block.ctypes.data + 8 * layout.LEAD, *tile[:4], 0)

    def _keep(self) -> None:
        made, words = program(self.kernel), self.desk._words
        dtypes = {numpy_dtype(b.dtype).itemsize: b.dtype for b in self.kernel.buffers}
        for size in dtypes:
            store = instruction_set.move("store", size)
            if store in made.kernels:
                self._stores.append(SIGNATURE(lambda *given, size=size: self._note(size, *given)))
                number = made.kernels.index(store)
                places = made.calls[0][made.calls[1] == number] + words[layout.WORDS + 1]
                words[places] = address_of(self._stores[-1])

    def _note(self, size: int, args: int, r0: int, r1: int, c0: int, c1: int, _: int) -> None:
        words = np.frombuffer((ctypes.c_int64 * 64).from_address(args), np.int64)
        count = words[operands.COUNT]
        at = (ctypes.c_int64 * int(count)).from_address(int(words[operands.POSITIONS]))
        strides = words[operands.STRIDES : operands.STRIDES + count]
        first = int(np.dot(np.frombuffer(at, np.int64), strides)) if count else 0
        down = np.arange(r1)[:, None] * words[operands.DOWN]
        offsets = first + down + np.arange(c1) * words[operands.ACROSS]
        if words[operands.OFFSETS]:
            looked_up = _elements(int(words[operands.OFFSETS]), "int64", r1 * c1)
            offsets = offsets + looked_up.reshape(r1, c1)
        address = int(words[operands.ADDRESS])
        # (Bytes until somebody looks: bfloat16 is no dtype of memory that NumPy knows.)
        values = _elements(int(words[operands.REGISTER]), f"u{size}", r1 * c1).copy()
        # (Empty ones may lie where others do.)
        places = zip(self._buffers, self.kernel.buffers)
        dtype = next(b.dtype for place, b in places if place == address and "w" in b.access)
        self.written.append(Written(dtype, (address + size * offsets).ravel(), values))


def _elements(address: int, dtype: str, count: int) -> np.ndarray:
    kind = np.dtype(dtype)
    return np.frombuffer((ctypes.c_char * (kind.itemsize * count)).from_address(address), kind)
