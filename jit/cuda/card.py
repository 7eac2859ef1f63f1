# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's cards, by their driver: NVIDIA's own binding of it, package cuda-bindings.

Numba's CUDA target lives in the same primary context, so memory and streams of the two mix.  All
that a device does is in one stream, in order; whoever begins something in it without a method of
this class holds `issuing`.  What the driver makes of kernels for its card is kept in the cache of
all kernels (device_code.py).
"""

from __future__ import annotations

import ctypes
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import cached_property
from typing import Any

import numpy as np

from ...engine import errors
from ..codegen import compile as compiler
from . import vendor
from .cuda_kernel import Capability, KernelText
from .device import Device, Library, Made, OutOfMemory
from .device_code import Code, find, kept, written
from .launching import Extents
from .staging import Staging

_NAME_BYTES = 128
_WITHOUT_DEFAULT_STREAM = 1  # CU_STREAM_NON_BLOCKING: not in step with others' work
_WITHOUT_TIMES = 2  # CU_EVENT_DISABLE_TIMING
_THREADS = 8  # in which the driver compiles and loads kernels
_PORTABLE = 1  # CU_MEMHOSTALLOC_PORTABLE: page-locked for all contexts
_NOT_RECORDED = "what a plan begins on the GPU is begun one by one, as it cannot be recorded: {}"
# The context that a thread has made current.
_CURRENT = threading.local()
_CROSSING = threading.Lock()


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
        bus = _done(cu, cu.cuDeviceGetPCIBusId(_NAME_BYTES, self._device))
        self.bus = bus.split(b"\0")[0].decode()
        attribute = cu.CUdevice_attribute
        names = "COMPUTE_CAPABILITY_MAJOR", "COMPUTE_CAPABILITY_MINOR"
        which = [getattr(attribute, f"CU_DEVICE_ATTRIBUTE_{name}") for name in names]
        self.capability = Capability(
            *(_done(cu, cu.cuDeviceGetAttribute(part, self._device)) for part in which)
        )
        self.total_bytes = _done(cu, cu.cuDeviceTotalMem(self._device))
        self._threads = threading.local()
        self._making = threading.Lock()
        self._opened: Any = None  # the context and the stream
        # Marks of copies from other cards.
        self._crossings: dict[Card, tuple[Any, Any]] = {}
        self._pool: Any = None
        self._staging = Staging(self)
        # By symbol, where kernels come from; None: a GPU has not what it needs.
        self._made: dict[str, Made | None] = {}
        # Whether work is recorded at the moment, and memory that is to be freed then.
        self._is_recording = False
        self._freed: list[int] = []

    def stream(self) -> Any:
        """The stream, the context being that of the calling thread."""
        cu = self._cu
        if self._opened is None:
            with self._making:
                self._opened = self._opened or self._open()
        context, stream = self._opened
        if getattr(_CURRENT, "context", None) is not context:
            _done(cu, cu.cuCtxSetCurrent(context))
            _CURRENT.context = context
        return stream

    def stream_handle(self) -> int:
        """The handle of the stream, for libraries; the context is that of the calling thread."""
        return int(self.stream())

    @cached_property
    def libraries(self) -> Mapping[str, Library]:
        """See Device."""
        return vendor.libraries(self)

    def _open(self) -> tuple[Any, Any]:
        cu = self._cu
        context = _done(cu, cu.cuDevicePrimaryCtxRetain(self._device))
        _done(cu, cu.cuCtxSetCurrent(context))
        # The pool keeps what is freed: arenas come and go as sizes change.
        pool = self._pool = _done(cu, cu.cuDeviceGetDefaultMemPool(self._device))
        limit = cu.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
        _done(cu, cu.cuMemPoolSetAttribute(pool, limit, cu.cuuint64_t((1 << 64) - 1)))
        return context, _done(cu, cu.cuStreamCreate(_WITHOUT_DEFAULT_STREAM))

    def prepare(self, kernels: Sequence[KernelText]) -> dict[str, Made]:
        """See Device."""
        new = {k.symbol: k for k in kernels if k.symbol not in self._made}
        with ThreadPoolExecutor(_THREADS, "numbaflow-kernels") as pool:

            def begin(work: Callable[..., Any], *args: Any) -> Future[Any]:
                # (Settings may be those of a block.)
                return pool.submit(copy_context().run, work, *args)

            finds = {symbol: begin(find, k, self.capability) for symbol, k in new.items()}
            codes = {symbol: found.result() for symbol, found in finds.items()}
            missing = [new[symbol] for symbol, code in codes.items() if code is None]
            compiler.STATS.hits += len(codes) - len(missing)
            loads = [
                begin(self._take_code, new[symbol], code)
                for symbol, code in codes.items()
                if code is not None
            ]
            for kernel, code, seconds in written(missing, self.capability):
                loads.append(begin(self._finish, kernel, code, seconds))
            for load in loads:
                load.result()
        symbols = dict.fromkeys(kernel.symbol for kernel in kernels)
        return {symbol: made for symbol in symbols if (made := self._made[symbol]) is not None}

    def _finish(self, kernel: KernelText, code: bytes, seconds: float) -> None:
        """Takes a kernel whose PTX is written."""
        start = time.perf_counter()
        found = kept(kernel, self.capability, code, seconds, self._assembled)
        self._take_code(kernel, found._replace(seconds=seconds + time.perf_counter() - start))

    def _take_code(self, kernel: KernelText, code: Code) -> None:
        if code.is_none:
            self._made[kernel.symbol] = None
            return
        cu, _ = self._cu, self.stream()
        # (A text ends with a zero; what is no text says itself how long it is.)
        module = _done(cu, cu.cuModuleLoadData(code.image + b"\0"))
        function = _done(cu, cu.cuModuleGetFunction(module, kernel.symbol.encode()))
        self._functions[kernel.symbol] = function
        self._made[kernel.symbol] = Made(code.key, code.seconds)

    def _assembled(self, text: bytes) -> bytes:
        """The driver's machine code for PTX; PTX where it cannot make it apart from loading it."""
        cu, _ = self._cu, self.stream()
        state = _done(cu, cu.cuLinkCreate(0, [], []))
        try:
            kind, data = cu.CUjitInputType.CU_JIT_INPUT_PTX, text + b"\0"
            (error,) = cu.cuLinkAddData(state, kind, data, len(data), b"kernel", 0, [], [])
            if error != cu.CUresult.CUDA_SUCCESS:
                return text
            error, address, count = cu.cuLinkComplete(state)
            is_done = error == cu.CUresult.CUDA_SUCCESS
            return ctypes.string_at(address, count) if is_done else text
        finally:
            _done(cu, cu.cuLinkDestroy(state))

    def _load(self, kernel: KernelText) -> Any:
        if kernel.symbol not in self.prepare([kernel]):
            raise errors.internal(f"a GPU has not what kernel {kernel.symbol} needs")
        return self._functions[kernel.symbol]

    def _allocate(self, count: int) -> int:
        with self.issuing:
            stream = self.stream()
            try:
                return int(_done(self._cu, self._cu.cuMemAllocAsync(count, stream)))
            except OutOfMemory:
                raise OutOfMemory(count) from None

    def _trim(self) -> None:
        super()._trim()
        with self.issuing:
            _done(self._cu, self._cu.cuMemPoolTrimTo(self._pool, 0))

    def _free(self, address: int) -> None:
        with self.issuing:
            # (The collector of garbage comes by at any time.)
            if self._is_recording:
                self._freed.append(address)
            else:
                _done(self._cu, self._cu.cuMemFreeAsync(address, self.stream()))

    def upload(self, address: int, array: np.ndarray) -> None:
        """See Device."""
        self._staging.upload(address, array)

    def download_all(self, pairs: Sequence[tuple[np.ndarray, int]]) -> None:
        """See Device."""
        self._staging.download_all(pairs)

    def copy_across(self, address: int, other: Device, there: int, count: int) -> None:
        """See Device."""
        if not isinstance(other, Card):
            super().copy_across(address, other, there, count)
            return
        cu = self._cu
        with _CROSSING:
            if other not in self._crossings:
                self._crossings[other] = other.new_mark(), self.new_mark()
            before, after = self._crossings[other]
            other.set_mark(before)
            with self.issuing:
                stream, (here, _), (elsewhere, _) = self.stream(), self._opened, other._opened
                _done(cu, cu.cuStreamWaitEvent(stream, before, 0))
                places = address, here, there, elsewhere
                _done(cu, cu.cuMemcpyPeerAsync(*places, count, stream))
            # What is copied must not be changed meanwhile.
            self.set_mark(after)
            with other.issuing:
                _done(cu, cu.cuStreamWaitEvent(other.stream(), after, 0))

    # What `Staging` asks for.

    def lock_pages(self, count: int) -> int:
        """See staging.Lines."""
        with self.issuing:
            self.stream()
            return int(_done(self._cu, self._cu.cuMemHostAlloc(count, _PORTABLE)))

    def copy_up(self, address: int, here: int, count: int) -> None:
        """See staging.Lines."""
        with self.issuing:
            _done(self._cu, self._cu.cuMemcpyHtoDAsync(address, here, count, self.stream()))

    def copy_down(self, here: int, address: int, count: int) -> None:
        """See staging.Lines."""
        with self.issuing:
            _done(self._cu, self._cu.cuMemcpyDtoHAsync(here, address, count, self.stream()))

    def new_mark(self) -> Any:
        """See staging.Lines."""
        with self.issuing:
            self.stream()
            return _done(self._cu, self._cu.cuEventCreate(_WITHOUT_TIMES))

    def set_mark(self, mark: Any) -> None:
        """See staging.Lines."""
        with self.issuing:
            _done(self._cu, self._cu.cuEventRecord(mark, self.stream()))

    def await_mark(self, mark: Any) -> None:
        """See staging.Lines."""
        self.stream()
        _done(self._cu, self._cu.cuEventSynchronize(mark))

    def launcher(self, function: Any, extents: Extents, words: Sequence[int]) -> Callable[[], None]:
        """See Device."""
        cu, stream = self._cu, self.stream()
        held = (ctypes.c_int64 * len(words))(*words)
        base = ctypes.addressof(held)
        places = (ctypes.c_void_p * len(words))(*(base + 8 * i for i in range(len(words))))
        arguments = (
            *(
                function,
                extents.blocks_x,
                extents.blocks_y,
                1,
                extents.lanes,
                extents.lines,
                extents.layers,
            ),
            *(0, stream, ctypes.addressof(places), 0),
        )

        def launch(kept: object = (held, places)) -> None:
            self.stream()
            _done(cu, cu.cuLaunchKernel(*arguments))

        return launch

    def recorded(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None] | None:
        """See Device."""
        with self.issuing:
            try:
                graph = self._capture(launches)
            except errors.OpError as error:
                warnings.warn(_NOT_RECORDED.format(error), RuntimeWarning, stacklevel=2)
                return None
        try:
            # What went elsewhere than into the stream would be missing.
            _, count = _done(self._cu, self._cu.cuGraphGetNodes(graph, 0))
            return Replay(self, graph) if count >= len(launches) else None
        finally:
            _done(self._cu, self._cu.cuGraphDestroy(graph))

    def _capture(self, launches: Sequence[Callable[[], None]]) -> Any:
        """A graph of what these begin, which is not done now."""
        cu, stream = self._cu, self.stream()
        mode = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        _done(cu, cu.cuStreamBeginCapture(stream, mode))
        self._is_recording = True
        try:
            for launch in launches:
                launch()
        except BaseException:
            cu.cuStreamEndCapture(stream)  # (there is another error to tell of)
            raise
        else:
            return _done(cu, cu.cuStreamEndCapture(stream))
        finally:
            self._is_recording = False
            freed, self._freed = self._freed, []
            for address in freed:
                self._free(address)

    def synchronize(self) -> None:
        """See Device."""
        # By a mark, which nobody minds: to wait for the stream spoils what another thread records.
        mark = getattr(self._threads, "mark", None)
        if mark is None:
            mark = self._threads.mark = self.new_mark()
        self.set_mark(mark)
        self.await_mark(mark)


class Replay:
    """A graph of the driver's, which begins again what was recorded, in the card's stream."""

    __slots__ = ("_card", "_cu", "_graph")

    def __init__(self, card: Card, graph: Any) -> None:
        self._card, self._cu = card, card._cu
        self._graph = _done(self._cu, self._cu.cuGraphInstantiate(graph, 0))

    def __call__(self) -> None:
        card = self._card
        with card.issuing:
            _done(self._cu, self._cu.cuGraphLaunch(self._graph, card.stream()))

    def __del__(self) -> None:
        graph = getattr(self, "_graph", None)
        # (A graph that runs is freed when it is done.)
        if graph is not None:
            self._cu.cuGraphExecDestroy(graph)
