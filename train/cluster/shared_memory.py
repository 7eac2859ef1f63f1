# SPDX-License-Identifier: Apache-2.0
"""Large tensors between processes of one machine: the one maps what the other has written.

Who asks for a tensor says which machine it is on, in the field of RecvTensorRequest that is there
for other ways to carry tensors; TensorFlow looks at none of what it does not know.  The response
then names memory of the sender's process, which belongs to no file and ends with the processes.
"""

from __future__ import annotations

import fcntl
import functools
import mmap
import os
import secrets
from typing import Any

import numpy as np

from ...engine import errors
from ...engine.types import dtypes
from ...io import protos
from .tensor_messages import received_bytes

TYPE = "type.googleapis.com/numbaflow.SharedMemory"
# Smaller tensors are as quickly sent.
LARGE = 1 << 20


@functools.cache
def machine() -> bytes:
    """What processes have in common that can map each other's memory; empty where none can."""
    if not hasattr(os, "memfd_create"):
        return b""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read().strip()
        return b"%s %s %d" % (boot, os.readlink("/proc/self/ns/pid").encode(), os.getuid())
    except OSError:
        return b""


def is_of_machine(request: Any) -> bool:
    """Whether a RecvTensorRequest says that it is of a process that can map this one's memory."""
    asked = request.transport_options
    return asked.type_url == TYPE and asked.value == machine()


@functools.cache
def asking() -> Any:
    """A RecvTensorRequest of a process of this machine, which names no tensor."""
    request = protos.RecvTensorRequest()
    ask(request)
    return request


def ask(request: Any) -> None:
    """Says in a RecvTensorRequest that memory of this machine can be mapped."""
    if machine():
        request.transport_options.type_url = TYPE
        request.transport_options.value = machine()


def make_memory(name: str, size: int) -> tuple[mmap.mmap, int]:
    """New memory of a size, and the file that others map it by: it never shrinks."""
    file = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(file, size)
        fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        return mmap.mmap(file, size), file
    except OSError as error:
        os.close(file)
        raise errors.resource_exhausted(f"No memory to send tensors: {error}") from None


def map_memory(file: int, size: int | None, access: int) -> memoryview:
    """The memory that another process has written; DataLossError for less than it says."""
    try:
        is_sealed = fcntl.fcntl(file, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK
        there = os.fstat(file).st_size
        if not is_sealed or there < (size or 1):
            raise errors.data_loss(f"Memory of {there} bytes was given for {size}.")
        return memoryview(mmap.mmap(file, size or there, access=access))
    except OSError as error:
        raise errors.data_loss(f"Cannot map the memory of a message: {error}") from None


class SharedArray:
    """A copy of an array in memory that other processes of the machine can map.

    It lasts as long as this object, and longer where it has been mapped.
    """

    def __init__(self, array: np.ndarray, dtype: dtypes.DType) -> None:
        self._dtype, self._kind, self._shape = dtype.base_dtype, array.dtype, array.shape
        # By its name whoever maps it sees that it is the one that was meant.
        self._name = f"numbaflow-{secrets.token_hex(8)}"
        self._file = os.memfd_create(self._name)
        # (Written rather than copied to where it is mapped: pages need not be cleared before.)
        left = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            raise errors.resource_exhausted(f"No memory to send a tensor: {error}") from None

    def __del__(self) -> None:
        os.close(self._file)

    def response(self, request: Any) -> bytes:
        """The response to who asks: where to find the array, or all of it for another machine."""
        if not is_of_machine(request):
            return received_bytes(self._array(), self._dtype)
        numbers = (os.getpid(), self._file, self._dtype.as_datatype_enum, *self._shape)
        response = protos.RecvTensorResponse()
        response.transport_options.type_url = TYPE
        response.transport_options.value = " ".join((self._name, *map(str, numbers))).encode()
        return response.SerializeToString()  # type: ignore[no-any-return]

    def _array(self) -> np.ndarray:
        memory = mmap.mmap(self._file, 0, access=mmap.ACCESS_READ)
        return np.ndarray(self._shape, self._kind, memory)


def is_worth_it(array: np.ndarray) -> bool:
    """Whether an array is large, and can be mapped."""
    return array.nbytes >= LARGE and not array.dtype.hasobject and bool(machine())


def open_memory(name: str, process: int, file: int) -> int:
    """A file of the memory of a name, which another process has.

    Raises:
        UnavailableError: it is not there any more.
    """
    try:
        opened = os.open(f"/proc/{process}/fd/{file}", os.O_RDONLY)
    except OSError as error:
        raise errors.unavailable(f"The tensor's sender is gone: {error}") from None
    # (The number may be that of another file by now.)
    target = os.readlink(f"/proc/self/fd/{opened}")
    if not name.startswith("numbaflow-") or f"/memfd:{name}" not in target:
        os.close(opened)
        raise errors.unavailable("The tensor's sender keeps it no more.")
    return opened


def mapped(response: bytes) -> np.ndarray | None:
    """The array that a response names; None where it names none."""
    if len(response) >= LARGE or TYPE.encode() not in response:
        return None
    found = protos.RecvTensorResponse.FromString(response).transport_options
    if found.type_url != TYPE:
        return None
    name, *numbers = found.value.decode().split()
    process, file, kind, *sizes = map(int, numbers)
    dtype = dtypes.as_dtype(kind).np_dtype
    size = int(np.prod(sizes, dtype=np.int64)) * dtype.itemsize
    opened = open_memory(name, process, file)
    try:
        memory = mmap.mmap(opened, size, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise errors.data_loss(f"Cannot map a tensor of {size} bytes: {error}") from None
    finally:
        os.close(opened)
    return np.ndarray(sizes, dtype, memory)
