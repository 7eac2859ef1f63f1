# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's cards, by their driver: NVIDIA's own binding of it, package cuda-bindings.

Numba's CUDA target lives in the same primary context, so memory and streams of the two mix.  All
that a device does is in one stream, in order.  A driver compiles the PTX of kernels for its card
and keeps the result in a cache of its own.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...engine import errors
from . import ptx, vendor
from .cuda_kernel import Capability, KernelText
from .device import Device, Library, OutOfMemory
from .launching import Extents

_NAME_BYTES = 128
_WITHOUT_DEFAULT_STREAM = 1  # CU_STREAM_NON_BLOCKING: not in step with others' work


def binding() -> Any:
    """The module of the driver's functions; ImportError where the package is not there."""
    from cuda.bindings import driver

    return driver


def found() -> list[Device]:
    """The cards of this machine, by number; none where there is no driver that answers."""
    try:
        cu = binding()
        (error,) = cu.cuInit(0)
    except (ImportError, RuntimeError, OSError):
        # (The package looks for the driver's library when it is first called.)
        return []
    if error != cu.CUresult.CUDA_SUCCESS:
        return []
    return [Card(number) for number in range(_done(cu, cu.cuDeviceGetCount()))]


def _done(cu: Any, answer: tuple[Any, ...]) -> Any:
    """What a function of the driver gave, if it says that all is well."""
    error, *results = answer
    if error == cu.CUresult.CUDA_ERROR_OUT_OF_MEMORY:
        raise OutOfMemory(0)
    if error != cu.CUresult.CUDA_SUCCESS:
        _, text = cu.cuGetErrorString(error)
        said = text.decode() if isinstance(text, bytes) else str(error)
        raise errors.internal(f"The GPU's driver says: {said}")
    return results[0] if len(results) == 1 else tuple(results)


class Card(Device):
    """A card.  Its context is made when it is first used."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number, self._cu = number, binding()
        cu = self._cu
        self._device = _done(cu, cu.cuDeviceGet(number))
        raw = _done(cu, cu.cuDeviceGetName(_NAME_BYTES, self._device))
        self.name = raw.split(b"\0")[0].decode()
        attribute = cu.CUdevice_attribute
        names = "COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR"
        which = [getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}") for name in names]
        self.capability = Capability(
            *(_done(cu, cu.cuDeviceGetAttribute(part, self._device)) for part in which)
        )
        self.total_bytes = _done(cu, cu.cuDeviceTotalMem(self._device))
        self._threads = threading.local()
        self._making = threading.Lock()
        self._opened: tuple[Any, Any] | None = None

    def _stream(self) -> Any:
        """The stream, the context being that of the calling thread."""
        cu = self._cu
        if self._opened is None:
            with self._making:
                self._opened = self._opened or self._open()
        context, stream = self._opened
        if not getattr(self._threads, "is_ready", False):
            _done(cu, cu.cuCtxSetCurrent(context))
            self._threads.is_ready = True
        return stream

    def stream(self) -> int:
        """The handle of the stream, for libraries; the context is that of the calling thread."""
        return int(self._stream())

    @cached_property
    def libraries(self) -> Mapping[str, Library]:
        """See Device."""
        return vendor.libraries(self)

    def _open(self) -> tuple[Any, Any]:
        cu = self._cu
        context = _done(cu, cu.cuDevicePrimaryCtxRetain(self._device))
        _done(cu, cu.cuCtxSetCurrent(context))
        # The pool keeps what is freed: arenas come and go as sizes change.
        pool = _done(cu, cu.cuDeviceGetDefaultMemPool(self._device))
        limit = cu.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        _done(cu, cu.cuMemPoolSetAttribute(pool, limit, cu.cuuint64_t((1 << 64) - 1)))
        return context, _done(cu, cu.cuStreamCreate(_WITHOUT_DEFAULT_STREAM))

    def _load(self, kernel: KernelText) -> Any:
        cu, _ = self._cu, self._stream()
        code = ptx.ptx(kernel, self.capability).encode() + b"\0"
        module = _done(cu, cu.cuModuleLoadData(code))
        return _done(cu, cu.cuModuleGetFunction(module, kernel.symbol.encode()))

    def _allocate(self, count: int) -> int:
        stream = self._stream()
        try:
            return int(_done(self._cu, self._cu.cuMemAllocAsync(count, stream)))
        except OutOfMemory:
            raise OutOfMemory(count) from None

    def _free(self, address: int) -> None:
        _done(self._cu, self._cu.cuMemFreeAsync(address, self._stream()))

    def upload(self, address: int, array: np.ndarray) -> None:
        """See Device."""
        if array.nbytes:
            # Of memory that may be swapped out the driver takes a copy before it returns.
            copy = self._cu.cuMemcpyHtoDAsync(
                address, array.ctypes.data, array.nbytes, self._stream()
            )
            _done(self._cu, copy)

    def download(self, array: np.ndarray, address: int) -> None:
        """See Device."""
        stream = self._stream()
        if array.nbytes:
            copy = self._cu.cuMemcpyDtoHAsync(array.ctypes.data, address, array.nbytes, stream)
            _done(self._cu, copy)
        self.synchronize()

    def launcher(self, function: Any, extents: Extents, words: Sequence[int]) -> Callable[[], None]:
        """See Device."""
        cu, stream = self._cu, self._stream()
        held = (ctypes.c_int64 * len(words))(*words)
        base = ctypes.addressof(held)
        places = (ctypes.c_void_p * len(words))(*(base + 8 * i for i in range(len(words))))
        arguments = (
            *(function, extents.blocks_x, extents.blocks_y, 1, extents.lanes, extents.lines, 1),
            *(0, stream, ctypes.addressof(places), 0),
        )

        def launch(kept: object = (held, places)) -> None:
            self._stream()
            _done(cu, cu.cuLaunchKernel(*arguments))

        return launch

    def synchronize(self) -> None:
        """See Device."""
        _done(self._cu, self._cu.cuStreamSynchronize(self._stream()))
