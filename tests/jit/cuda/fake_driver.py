# SPDX-License-Identifier: Apache-2.0
"""The functions of NVIDIA's driver that `card.py` calls, over host memory.

What a module's PTX says is not computed: the text that it was made of runs, compiled for the
processor (emulated.py).  Everything else is as the driver has it: answers are tuples that begin
with an error, kernels get pointers to their arguments, memory has addresses and an owner.
"""

from __future__ import annotations

import ctypes
import enum
import re
import sys
import types
from collections.abc import Callable
from typing import Any

from numbaflow.jit.cuda import ptx
from numbaflow.jit.cuda.cuda_kernel import KernelText
from numbaflow.jit.cuda.emulated import EmulatedDevice


class CUresult(enum.IntEnum):
    """What the driver says."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


class CUdevice_attribute(enum.IntEnum):
    """What a card is asked for."""

    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76


class CUmemPool_attribute(enum.IntEnum):
    """What of a pool can be set."""

    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4


OK = CUresult.CUDA_SUCCESS


class FakeDriver(types.ModuleType):
    """A driver with some cards; `calls` are the names of the functions that were called."""

    CUresult = CUresult
    CUdevice_attribute = CUdevice_attribute
    CUmemPool_attribute = CUmemPool_attribute
    cuuint64_t = int

    def __init__(self, cards: int = 1, total_bytes: int = 1 << 30) -> None:
        super().__init__("cuda.bindings.driver")
        self.cards, self.total_bytes = cards, total_bytes
        self.memory = EmulatedDevice(0, 2 * total_bytes)
        self.sizes: dict[int, int] = {}
        self.raw: dict[int, int] = {}
        self.texts: dict[str, KernelText] = {}
        self.calls: list[str] = []
        self.context: int | None = None
        # The next call of a function answers this in place of working.
        self.failing: dict[str, CUresult] = {}

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if not name.startswith("cu") or not callable(found) or name == "cuuint64_t":
            return found
        self.calls.append(name)
        if name in self.failing:
            error = self.failing.pop(name)
            return lambda *args: (error,)
        return found

    def cuInit(self, flags: int) -> tuple[CUresult]:
        return (OK,)

    def cuGetErrorString(self, error: CUresult) -> tuple[CUresult, bytes]:
        return OK, error.name.lower().encode()

    def cuDeviceGetCount(self) -> tuple[CUresult, int]:
        return OK, self.cards

    def cuDeviceGet(self, number: int) -> tuple[CUresult, int]:
        return OK, number

    def cuDeviceGetName(self, length: int, device: int) -> tuple[CUresult, bytes]:
        return OK, b"Fake\0".ljust(length, b"?")

    def cuDeviceGetAttribute(self, which: int, device: int) -> tuple[CUresult, int]:
        return OK, {75: 9, 76: 0}[which]

    def cuDeviceTotalMem(self, device: int) -> tuple[CUresult, int]:
        return OK, self.total_bytes

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[CUresult, int]:
        return OK, 100 + device

    def cuCtxSetCurrent(self, context: int) -> tuple[CUresult]:
        self.context = context
        return (OK,)

    def cuDeviceGetDefaultMemPool(self, device: int) -> tuple[CUresult, int]:
        return OK, 200

    def cuMemPoolSetAttribute(self, pool: int, which: int, value: int) -> tuple[CUresult]:
        assert pool == 200
        return (OK,)

    def cuStreamCreate(self, flags: int) -> tuple[CUresult, int]:
        return OK, 300

    def cuStreamSynchronize(self, stream: int) -> tuple[CUresult]:
        assert stream == 300
        return (OK,)

    def cuMemAllocAsync(self, count: int, stream: int) -> tuple[CUresult, int]:
        if sum(self.sizes.values()) + count > self.total_bytes:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0
        # As the driver does it, at multiples of 256.
        raw = self.memory.take(count + 256)
        address = raw + -raw % 256
        self.sizes[address], self.raw[address] = count, raw
        return OK, address

    def cuMemFreeAsync(self, address: int, stream: int) -> tuple[CUresult]:
        self.memory.give_back(self.raw.pop(address), self.sizes.pop(address) + 256)
        return (OK,)

    def _within(self, address: int, count: int) -> bool:
        return any(a <= address and address + count <= a + n for a, n in self.sizes.items())

    def cuMemcpyHtoDAsync(self, there: int, here: int, count: int, stream: int) -> tuple[CUresult]:
        return self._copied(there, there, here, count)

    def cuMemcpyDtoHAsync(self, here: int, there: int, count: int, stream: int) -> tuple[CUresult]:
        return self._copied(there, here, there, count)

    def _copied(self, there: int, to: int, start: int, count: int) -> tuple[CUresult]:
        if not self._within(there, count):
            return (CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,)
        ctypes.memmove(to, start, count)
        return (OK,)

    def cuModuleLoadData(self, image: bytes) -> tuple[CUresult, str]:
        assert image.endswith(b"\0") and b".target sm_90" in image
        found = re.findall(rb"\.entry (\w+)\(", image)
        assert len(found) == 1
        return OK, found[0].decode()

    def cuModuleGetFunction(self, module: str, name: bytes) -> tuple[CUresult, Any]:
        assert module == name.decode()
        return OK, self.memory.function(self.texts[module])

    def cuLaunchKernel(self, function: Any, *numbers: Any) -> tuple[CUresult]:
        *shape, shared, stream, places, extra = numbers
        assert len(shape) == 6 and all(n >= 1 for n in shape) and shape[3] * shape[4] <= 1024
        assert (shared, stream, extra) == (0, 300, 0)
        # A driver knows from the kernel how many arguments there are.
        count = 5 if function.is_library else 3
        pointers = (ctypes.c_void_p * count).from_address(places)
        words = [ctypes.c_int64.from_address(p).value for p in pointers]
        assert self._within(words[0], 1)
        self.memory.launcher(function, None, words)()  # type: ignore[arg-type]
        return (OK,)


def install(monkeypatch: Any, driver: FakeDriver) -> None:
    """Has `card.py` find a driver, which learns what texts PTX is made of."""
    real: Callable[..., str] = ptx.ptx

    def noted(kernel: KernelText, *rest: Any) -> str:
        driver.texts[kernel.symbol] = kernel
        return real(kernel, *rest)

    monkeypatch.setattr(ptx, "ptx", noted)
    package = types.ModuleType("cuda.bindings")
    package.driver = driver  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", package)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
