# SPDX-License-Identifier: Apache-2.0
"""The functions of NVIDIA's driver that jit/cuda calls, over host memory.

What a module's PTX says is not computed: the text that it was made of runs, compiled for the
processor (emulated.py).  Everything else is as the driver has it: answers are tuples that begin
with an error, kernels get pointers to their arguments, memory has addresses and an owner.  Work in
a stream is done as late as may be, when somebody waits for it, so what is changed or freed too soon
gives wrong results; what would be an error or undefined is refused (Misuse).
"""

from __future__ import annotations

import ctypes
import enum
import re
import struct
import sys
import threading
import types
from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from numbaflow.jit.cuda import device_code
from numbaflow.jit.cuda.cuda_kernel import LIBRARY, KernelText


class Misuse(AssertionError):
    """The driver was used as it must not be."""


class CUresult(enum.IntEnum):
    """What the driver says."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901


class CUdevice_attribute(enum.IntEnum):
    """What a card is asked for."""

    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76


class CUmemPool_attribute(enum.IntEnum):
    """What of a pool can be set."""

    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4


class CUjitInputType(enum.IntEnum):
    """What is linked."""

    CU_JIT_INPUT_PTX = 1


class CUstreamCaptureMode(enum.IntEnum):
    """What else threads may do while one records."""

    CU_STREAM_CAPTURE_MODE_GLOBAL = 0
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1
    CU_STREAM_CAPTURE_MODE_RELAXED = 2


OK = CUresult.CUDA_SUCCESS
_ALIGNMENT = 256  # of what a card allocates
Work = Callable[[], None]


class _Context:
    def __init__(self, number: int) -> None:
        self.number = number


class _Stream:
    """Work in order, done when somebody waits, or recorded.  As a number, its handle."""

    def __init__(self, context: _Context, handle: int) -> None:
        self.context, self._handle = context, handle
        self.work: deque[Work] = deque()
        self.done = self.begun = 0
        self.record: list[Work] | None = None
        self.is_spoilt = False
        # Who waits sees the end of what another thread is about to do.
        self._doing = threading.RLock()

    def __int__(self) -> int:
        return self._handle

    def begin(self, work: Work) -> None:
        if self.record is not None:
            self.record.append(work)
            return
        self.work.append(work)
        self.begun += 1

    def run_to(self, number: int) -> None:
        with self._doing:
            while self.done < number:
                self.done += 1
                self.work.popleft()()


class _Event:
    def __init__(self, context: _Context) -> None:
        self.context, self.stream, self.number = context, None, 0
        self.is_recorded_in_graph = False


class _Graph:
    """Work that was recorded; `is_ready` is one that can be launched."""

    def __init__(self, work: list[Work], context: _Context, is_ready: bool = False) -> None:
        self.work, self.context, self.is_ready = work, context, is_ready
        self.is_freed = False


class _Memory:
    """A card's: what is freed is filled with rubbish, and given to nobody again."""

    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self.blocks: list[np.ndarray] = []
        self.sizes: dict[int, int] = {}

    @cached_property
    def device(self) -> Any:
        """What runs kernels."""
        from numbaflow.jit.cuda.emulated import EmulatedDevice

        return EmulatedDevice()

    @property
    def used(self) -> int:
        return sum(self.sizes.values())

    def take(self, count: int) -> int:
        block = np.full(count + _ALIGNMENT, 0xA5, np.uint8)
        self.blocks.append(block)
        address = -(-block.ctypes.data // _ALIGNMENT) * _ALIGNMENT
        self.sizes[address] = count
        return int(address)

    def free(self, address: int) -> None:
        ctypes.memset(address, 0xA5, self.sizes.pop(address))

    def holds(self, address: int, count: int) -> bool:
        return any(a <= address and address + count <= a + n for a, n in self.sizes.items())


class FakeDriver(types.ModuleType):
    """A driver with some cards; `calls` are the names of the functions that were called."""

    CUresult = CUresult
    CUdevice_attribute = CUdevice_attribute
    CUmemPool_attribute = CUmemPool_attribute
    CUstreamCaptureMode = CUstreamCaptureMode
    CUjitInputType = CUjitInputType
    cuuint64_t = int

    def __init__(self, cards: int = 1, total_bytes: int = 1 << 30) -> None:
        super().__init__("cuda.bindings.driver")
        self.cards, self.total_bytes = cards, total_bytes
        self.contexts = [_Context(number) for number in range(cards)]
        self.memories = [_Memory(total_bytes) for _ in range(cards)]
        self.page_locked: dict[int, np.ndarray] = {}
        self.streams: dict[int, _Stream] = {}
        self.texts: dict[str, KernelText] = {}
        self.calls: list[str] = []
        self.threads = threading.local()
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

    def _context(self) -> _Context:
        context = getattr(self.threads, "context", None)
        if context is None:
            raise Misuse("no context is current in this thread")
        return context

    def _of_thread(self, owned: Any) -> Any:
        """A stream, event or graph, which must be of the current context."""
        if owned.context is not self._context():
            raise Misuse(f"{owned} is of another context")
        return owned

    # Cards and contexts.

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

    def cuDeviceGetPCIBusId(self, length: int, device: int) -> tuple[CUresult, bytes]:
        return OK, f"0000:0{device}:00.0".encode().ljust(length, b"\0")

    def cuDeviceGetAttribute(self, which: int, device: int) -> tuple[CUresult, int]:
        # (No card has this, so what is cached for it is found by none.)
        return OK, {75: 9, 76: 9}[which]

    def cuDeviceTotalMem(self, device: int) -> tuple[CUresult, int]:
        return OK, self.total_bytes

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[CUresult, _Context]:
        return OK, self.contexts[device]

    def cuCtxSetCurrent(self, context: _Context) -> tuple[CUresult]:
        self.threads.context = context
        return (OK,)

    # Streams and events.

    def cuStreamCreate(self, flags: int) -> tuple[CUresult, _Stream]:
        handle = 300 + len(self.streams)
        self.streams[handle] = _Stream(self._context(), handle)
        return OK, self.streams[handle]

    def cuStreamSynchronize(self, stream: _Stream) -> tuple[CUresult]:
        if self._of_thread(stream).record is not None:
            stream.is_spoilt = True
            return (CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,)
        stream.run_to(stream.begun)
        return (OK,)

    def cuEventCreate(self, flags: int) -> tuple[CUresult, _Event]:
        return OK, _Event(self._context())

    def cuEventRecord(self, event: _Event, stream: _Stream) -> tuple[CUresult]:
        self._of_thread(event)
        if self._of_thread(stream).record is not None:
            raise Misuse("an event of others is recorded in a stream that is recorded")
        event.stream, event.number = stream, stream.begun
        return (OK,)

    def cuEventSynchronize(self, event: _Event) -> tuple[CUresult]:
        if event.stream is not None:
            event.stream.run_to(event.number)
        return (OK,)

    def cuStreamWaitEvent(self, stream: _Stream, event: _Event, flags: int) -> tuple[CUresult]:
        self._of_thread(stream)
        other, number = event.stream, event.number
        if other is not None:
            stream.begin(lambda: other.run_to(number))
        return (OK,)

    # Graphs.

    def cuStreamBeginCapture(self, stream: _Stream, mode: int) -> tuple[CUresult]:
        if self._of_thread(stream).record is not None:
            raise Misuse("the stream is recorded already")
        stream.record, stream.is_spoilt = [], False
        return (OK,)

    def cuStreamEndCapture(self, stream: _Stream) -> tuple[CUresult, _Graph | None]:
        work, stream.record = self._of_thread(stream).record, None
        if stream.is_spoilt:
            return CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, None
        return OK, _Graph(work, stream.context)

    def cuGraphGetNodes(self, graph: _Graph, count: int = 0) -> tuple[CUresult, list[Any], int]:
        return OK, [], len(graph.work)

    def cuGraphInstantiate(self, graph: _Graph, flags: int) -> tuple[CUresult, _Graph]:
        return OK, _Graph(list(graph.work), self._of_thread(graph).context, is_ready=True)

    def cuGraphLaunch(self, graph: _Graph, stream: _Stream) -> tuple[CUresult]:
        if self._of_thread(stream).record is not None or graph.is_freed or not graph.is_ready:
            raise Misuse("a graph is launched that cannot be, or where it cannot be")
        for work in self._of_thread(graph).work:
            stream.begin(work)
        return (OK,)

    def cuGraphDestroy(self, graph: _Graph) -> tuple[CUresult]:
        return self._freed(graph, is_ready=False)

    def cuGraphExecDestroy(self, graph: _Graph) -> tuple[CUresult]:
        return self._freed(graph, is_ready=True)

    def _freed(self, graph: _Graph, is_ready: bool) -> tuple[CUresult]:
        if graph.is_freed or graph.is_ready != is_ready:
            raise Misuse("what is freed is no such graph")
        graph.is_freed = True
        return (OK,)

    # Memory.

    def cuDeviceGetDefaultMemPool(self, device: int) -> tuple[CUresult, int]:
        return OK, 200 + device

    def cuMemPoolSetAttribute(self, pool: int, which: int, value: int) -> tuple[CUresult]:
        assert 200 <= pool < 200 + self.cards
        return (OK,)

    def cuMemPoolTrimTo(self, pool: int, least: int) -> tuple[CUresult]:
        assert 200 <= pool < 200 + self.cards
        return (OK,)

    def cuMemAllocAsync(self, count: int, stream: _Stream) -> tuple[CUresult, int]:
        if self._of_thread(stream).record is not None:
            raise Misuse("memory is taken in a stream that is recorded")
        memory = self.memories[stream.context.number]
        if memory.used + count > memory.total_bytes:
            stream.run_to(stream.begun)  # what is about to be freed
        if memory.used + count > memory.total_bytes:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0
        return OK, memory.take(count)

    def cuMemFreeAsync(self, address: int, stream: _Stream) -> tuple[CUresult]:
        if self._of_thread(stream).record is not None:
            raise Misuse("memory is freed in a stream that is recorded")
        memory = self.memories[stream.context.number]
        if address not in memory.sizes:
            raise Misuse("memory is freed that is not there")
        stream.begin(lambda: memory.free(address))
        return (OK,)

    def cuMemHostAlloc(self, count: int, flags: int) -> tuple[CUresult, int]:
        self._context()
        block = np.empty(count, np.uint8)
        self.page_locked[block.ctypes.data] = block
        return OK, block.ctypes.data

    def _is_page_locked(self, address: int, count: int) -> bool:
        return any(
            a <= address and address + count <= a + len(block)
            for a, block in self.page_locked.items()
        )

    def _within(self, context: _Context, address: int, count: int) -> bool:
        return self.memories[context.number].holds(address, count)

    def cuMemcpyHtoDAsync(
        self, there: int, here: int, count: int, stream: _Stream
    ) -> tuple[CUresult]:
        return self._copied(stream, there, (there, here), here, count)

    def cuMemcpyDtoHAsync(
        self, here: int, there: int, count: int, stream: _Stream
    ) -> tuple[CUresult]:
        return self._copied(stream, there, (here, there), here, count)

    def _copied(
        self, stream: _Stream, there: int, places: tuple[int, int], here: int, count: int
    ) -> tuple[CUresult]:
        if self._of_thread(stream).record is not None:
            raise Misuse("a copy to or from the host is recorded")
        if not self._within(stream.context, there, count):
            return (CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,)
        if not self._is_page_locked(here, count):
            raise Misuse("memory of the host is not page-locked: the driver would wait")
        stream.begin(lambda: ctypes.memmove(*places, count) and None)
        return (OK,)

    def cuMemcpyPeerAsync(
        self, to: int, here: _Context, start: int, there: _Context, count: int, stream: _Stream
    ) -> tuple[CUresult]:
        if self._of_thread(stream).record is not None or stream.context is not here:
            raise Misuse("a copy between cards is begun where it cannot be")
        if not self._within(here, to, count) or not self._within(there, start, count):
            return (CUresult.CUDA_ERROR_ILLEGAL_ADDRESS,)
        stream.begin(lambda: ctypes.memmove(to, start, count) and None)
        return (OK,)

    # Kernels.

    def cuLinkCreate(self, count: int, options: Any, values: Any) -> tuple[CUresult, list[bytes]]:
        self._context()
        return OK, []

    def cuLinkAddData(
        self, state: list[bytes], kind: int, data: bytes, count: int, *rest: Any
    ) -> tuple[CUresult]:
        assert kind == CUjitInputType.CU_JIT_INPUT_PTX and len(data) == count
        state.append(machine_code(_entry(data)))
        return (OK,)

    def cuLinkComplete(self, state: list[bytes]) -> tuple[CUresult, int, int]:
        (code,) = state
        held = ctypes.create_string_buffer(code, len(code))
        self.threads.linked = held  # until the state goes
        return OK, ctypes.addressof(held), len(code)

    def cuLinkDestroy(self, state: list[bytes]) -> tuple[CUresult]:
        if getattr(self.threads, "linked", None) is not None:
            ctypes.memset(self.threads.linked, 0, len(self.threads.linked))
        return (OK,)

    def cuModuleLoadData(self, image: bytes) -> tuple[CUresult, str]:
        self._context()
        return OK, _entry(image)

    def cuModuleGetFunction(self, module: str, name: bytes) -> tuple[CUresult, Any]:
        assert module == name.decode()
        text, context = self.texts[module], self._context()
        # A driver knows from the kernel how many arguments there are.
        return OK, (self._runner(text, context), 5 if text.form == LIBRARY else 3, context)

    def _runner(self, text: KernelText, context: _Context) -> Callable[[list[int]], None]:
        """What runs a kernel, given its words."""
        device = self.memories[context.number].device
        code = device.function(text)
        return lambda words: device.launcher(code, None, words)()  # type: ignore[no-any-return]

    def cuLaunchKernel(self, function: Any, *numbers: Any) -> tuple[CUresult]:
        *shape, shared, stream, places, extra = numbers
        run, count, context = function
        assert len(shape) == 6 and all(n >= 1 for n in shape) and shape[3] * shape[4] <= 1024
        assert (shared, extra) == (0, 0)
        if self._of_thread(stream).context is not context:
            raise Misuse("a kernel is launched in the stream of another card")
        # The arguments are copied.
        pointers = (ctypes.c_void_p * count).from_address(places)
        words = [ctypes.c_int64.from_address(p).value for p in pointers]

        def work() -> None:
            if not self._within(context, words[0], 1):
                raise Misuse("a kernel's argument block is no memory of its card")
            run(words)

        stream.begin(work)
        return (OK,)


def machine_code(symbol: str) -> bytes:
    """An ELF file as those of NVIDIA's cards, with next to nothing in it."""
    names = b"\0.shstrtab\0.text." + symbol.encode() + b"\0"
    section = struct.Struct("<IIQQQQIIQQ")
    start = 64 + len(names)
    header = struct.pack(
        *("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1\x33\7", 2, 190, 1, 0, 0, start),
        *(0, 64, 0, 0, section.size, 3, 1),
    )
    sections = [
        section.pack(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        section.pack(1, 3, 0, 0, 64, len(names), 0, 0, 1, 0),
        section.pack(11, 1, 6, 0, 64, 0, 0, 0, 1, 0),
    ]
    return b"".join([header, names, *sections])


def _entry(image: bytes) -> str:
    """The name of the one kernel of a module, which is PTX or what was linked."""
    if image.startswith(b"\x7fELF"):
        (found,) = re.findall(rb"\.text\.(\w+)\0", image)
        return found.decode()
    assert image.endswith(b"\0") and b".target sm_90" in image
    (found,) = re.findall(rb"\.entry (\w+)\(", image)
    return found.decode()


def show(monkeypatch: Any, devices: Sequence[Any]) -> None:
    """Makes these the GPUs that sessions find, unless settings say that there are none."""
    # (Below what other modules import by name.)
    monkeypatch.setattr("numbaflow.engine.session.device_placement._has_driver", lambda: True)
    monkeypatch.setattr("numbaflow.jit.cuda.discovery.devices", lambda: devices)


def install(monkeypatch: Any, driver: FakeDriver) -> None:
    """Has `card.py` find a driver, which learns what texts modules are made of."""
    real = device_code.labels_of

    def noted(kernel: KernelText, *rest: Any) -> Any:
        driver.texts[kernel.symbol] = kernel
        return real(kernel, *rest)

    monkeypatch.setattr(device_code, "labels_of", noted)
    package = types.ModuleType("cuda.bindings")
    package.driver = driver  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.bindings", package)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)
