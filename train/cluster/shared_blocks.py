# SPDX-License-Identifier: Apache-2.0
"""Memory for one exchange after another, which other processes of the machine map once.

New memory costs more than what is written to it, and so does mapping it; so the members of a group
keep what they have (collectives.py says when nobody reads it any more).
"""

from __future__ import annotations

import mmap
import os
import secrets
import threading
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.types import dtypes
from ...io import protos
from .shared_memory import is_of_machine, machine, make_memory, map_memory, open_memory
from .tensor_messages import received, received_bytes

TYPE = "type.googleapis.com/numbaflow.SharedBlock"
_LEAST = 1 << 16
# Sizes of blocks are so many to a power of two, so that later ones find one that fits.
_STEPS = 8


class Block:
    """Memory of at least a size."""

    def __init__(self, size: int) -> None:
        self.name, self.file = f"numbaflow-{secrets.token_hex(8)}", -1
        memory: Any = bytearray(size) if not machine() else None
        if memory is None:
            memory, self.file = make_memory(self.name, size)
            if hasattr(mmap, "MADV_HUGEPAGE"):
                memory.madvise(mmap.MADV_HUGEPAGE)
        self.bytes = np.frombuffer(memory, np.uint8)

    def vector(self, count: int, dtype: np.dtype) -> np.ndarray:
        """So many elements of it."""
        return self.bytes[: count * dtype.itemsize].view(dtype)

    def __del__(self) -> None:
        if self.file >= 0:
            os.close(self.file)


class Part:
    """A part of a block, for who asks for it: as it is then."""

    def __init__(self, block: Block, array: np.ndarray) -> None:
        """array: a vector in the block."""
        self._block, self._array = block, array

    def response(self, request: Any) -> bytes:
        """The response to who asks: where to find the part, or all of it for another machine."""
        array, dtype = self._array, dtypes.as_dtype(self._array.dtype)
        if not is_of_machine(request):
            return received_bytes(array, dtype)
        start = array.ctypes.data - self._block.bytes.ctypes.data if array.size else 0
        where = (os.getpid(), self._block.file, dtype.as_datatype_enum, start, array.size)
        response = protos.RecvTensorResponse()
        response.transport_options.type_url = TYPE
        response.transport_options.value = " ".join((self._block.name, *map(str, where))).encode()
        return response.SerializeToString()  # type: ignore[no-any-return]


def _rounded(size: int) -> int:
    step = max(1 << (size - 1).bit_length(), _LEAST) // _STEPS
    return -(-size // step) * step if size else step


class Blocks:
    """The blocks of one member of a group, and those of others that it has mapped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[Block] = []
        self._mapped: dict[str, memoryview] = {}

    def take(self, size: int) -> Block:
        """A block that nobody uses, of at least a size and at most about twice that."""
        size = _rounded(size)
        with self._lock:
            fit = [one for one in self._free if size <= one.bytes.size <= 2 * size]
            if fit:
                found = min(fit, key=lambda one: one.bytes.size)
                self._free.remove(found)
                return found
        return Block(size)

    def give(self, block: Block) -> None:
        """Takes back a block that nobody reads any more."""
        with self._lock:
            self._free.append(block)

    def taken(self, response: bytes) -> np.ndarray:
        """The part of a block that a response names, or the array that is in it."""
        if len(response) < _LEAST and TYPE.encode() in response:
            found = protos.RecvTensorResponse.FromString(response).transport_options
            if found.type_url == TYPE:
                return self._part(*found.value.decode().split())
        array = received(response)
        if array is None:
            raise errors.internal("A member of a collective gave no tensor.")
        return array

    def _part(self, name: str, *where: str) -> np.ndarray:
        process, file, kind, start, count = map(int, where)
        memory = self._mapped.get(name)
        if memory is None:
            opened = open_memory(name, process, file)
            try:
                memory = self._mapped[name] = map_memory(opened, None, mmap.ACCESS_READ)
            finally:
                os.close(opened)
        dtype = dtypes.as_dtype(kind).np_dtype
        if start < 0 or count < 0 or start + count * dtype.itemsize > len(memory):
            raise errors.data_loss(f"A part of {count} elements is not in the memory given.")
        return np.frombuffer(memory, dtype, count, start)
