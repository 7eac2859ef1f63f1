# SPDX-License-Identifier: Apache-2.0
"""What runs on a GPU need of it: memory, copies, kernels, launches, and launches recorded as one.

`card.py` is a card's; `emulated.py` stands in for one on any machine.  Imports nothing heavy.
"""

from __future__ import annotations

import gc
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from .cuda_kernel import Capability, KernelText
from .launching import Extents


class OutOfMemory(MemoryError):
    """A device has no room for so many bytes."""

    def __init__(self, count: int) -> None:
        super().__init__(f"no room for {count} bytes on the device")
        self.count = count


class Made(NamedTuple):
    """Where a kernel comes from: its key in the cache, and the seconds that it took to compile."""

    key: str
    seconds: float


class Holder(Protocol):
    """Who holds memory of a device that he can do without."""

    def let_go(self) -> None:
        """Frees what is not in use."""


class Library(ABC):
    """A library of a device that computes what kernels would (jit/library/computed.py).

    kind: that of what it computes; name: what its maker calls it; declined: what it had nothing
    for, with its sizes.
    """

    kind: ClassVar[str]
    name: ClassVar[str]

    def __init__(self) -> None:
        self.declined: set[tuple[object, ...]] = set()

    @abstractmethod
    def takes(self, computes: Any) -> bool:
        """Is this something that it computes?"""

    @abstractmethod
    def prepared(self, computes: Any, words: Any) -> Callable[[], None] | None:
        """What begins the computation, again and again, as `Device.launcher` does for a kernel.

        words: the arguments, an array of ctypes that is read at every call, as addresses change;
        the numbers behind them do not.  None: the library has nothing for these sizes.
        """


class Device(ABC):
    """One GPU.  Addresses are numbers; what is launched runs in order.

    number: which of the machine's, from 0; name: what its maker calls it; bus: where it sits;
    is_parallel: there are as many threads as there is work.  issuing: held by a thread while it
    begins work that is no method of this class, such as what launchers begin; while one records,
    others wait for it.
    """

    is_parallel = True

    number: int
    name: str
    bus: str = "none"
    capability: Capability
    total_bytes: int

    def __init__(self) -> None:
        self._functions: dict[str, Any] = {}
        # Bytes that are in use now, and the most that ever were.
        self.used_bytes = self.peak_bytes = 0
        # Those that may be, if not all.
        self.most_bytes: int | None = None
        self.issuing = threading.RLock()
        self._holders: weakref.WeakSet[Holder] = weakref.WeakSet()

    @property
    def libraries(self) -> Mapping[str, Library]:
        """What computes in the place of kernels, by kind; none, if a device has no more to say."""
        return {}

    def library(self, computes: Any) -> Library | None:
        """The library that computes something, if there is one."""
        found = None if computes is None else self.libraries.get(computes.kind)
        return found if found is not None and found.takes(computes) else None

    def function(self, kernel: KernelText) -> Any:
        """What `launch` takes for a kernel, which is compiled once."""
        found = self._functions.get(kernel.symbol)
        if found is None:
            found = self._functions[kernel.symbol] = self._load(kernel)
        return found

    @abstractmethod
    def prepare(self, kernels: Sequence[KernelText]) -> dict[str, Made]:
        """Compiles several kernels at once, as far as they are not; by symbol, where they come
        from.  Those that need what a GPU has not are left out."""

    @property
    def description(self) -> str:
        """What it is, in TensorFlow's words."""
        major, minor = self.capability.major, self.capability.minor
        return (
            f"device: {self.number}, name: {self.name}, pci bus id: {self.bus}, "
            f"compute capability: {major}.{minor}"
        )

    @property
    def limit_bytes(self) -> int:
        """The bytes that this process may take."""
        return self.total_bytes if self.most_bytes is None else self.most_bytes

    def ask_when_full(self, holder: Holder) -> None:
        """Has somebody let go of what he can do without, when there is no room left."""
        self._holders.add(holder)

    def take(self, count: int) -> int:
        """The address of so many bytes; OutOfMemory if there is no room, not even when all is
        freed that nobody uses just now."""
        try:
            address = self._take(count)
        except OutOfMemory:
            for holder in list(self._holders):
                holder.let_go()
            gc.collect()  # (runs and what begins their rows refer to each other)
            self._trim()
            address = self._take(count)
        with self.issuing:
            self.used_bytes += count
            self.peak_bytes = max(self.peak_bytes, self.used_bytes)
        return address

    def _take(self, count: int) -> int:
        if self.used_bytes + count > self.limit_bytes:
            raise OutOfMemory(count)
        return self._allocate(max(count, 1))

    def _trim(self) -> None:
        """Sees that what was freed is free."""
        self.synchronize()

    def give_back(self, address: int, count: int) -> None:
        """Frees what `take` gave."""
        with self.issuing:
            self.used_bytes -= count
        self._free(address)

    @abstractmethod
    def _load(self, kernel: KernelText) -> Any:
        """Compiles a kernel."""

    @abstractmethod
    def _allocate(self, count: int) -> int:
        """The address of so many bytes."""

    @abstractmethod
    def _free(self, address: int) -> None:
        """Frees what `_allocate` gave."""

    @abstractmethod
    def upload(self, address: int, array: np.ndarray) -> None:
        """Copies a contiguous array to the device; it may be changed afterwards."""

    def download(self, array: np.ndarray, address: int) -> None:
        """Copies from the device into a contiguous array, behind all that was launched."""
        self.download_all([(array, address)])

    @abstractmethod
    def download_all(self, pairs: Sequence[tuple[np.ndarray, int]]) -> None:
        """Copies from addresses into contiguous arrays, and waits once for all of them."""

    def copy_across(self, address: int, other: Device, there: int, count: int) -> None:
        """Copies from another device, behind all that was begun on both."""
        array = np.empty(count, np.uint8)
        other.download(array, there)
        self.upload(address, array)

    @abstractmethod
    def launcher(self, function: Any, extents: Extents, words: Sequence[int]) -> Callable[[], None]:
        """What begins a kernel, again and again, behind all that was begun before.

        Its words are the address of its argument block on the device, rows and columns; of library
        kernels rows, rows of a tile, columns, columns of a tile.
        """

    @abstractmethod
    def recorded(self, launches: Sequence[Callable[[], None]]) -> Callable[[], None] | None:
        """What begins all of these again, in order, for about the cost of one.

        Addresses and numbers are those that the launches have now.  None where they do what cannot
        be recorded.  What they need has to live as long as what is returned.
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Waits until all that was begun is done; raises what went wrong in it."""


class Memory:
    """Bytes of a device, which go back to it when nobody has them any more."""

    __slots__ = ("__weakref__", "address", "count", "device")

    def __init__(self, device: Device, count: int) -> None:
        self.address = 0
        self.device, self.count = device, count
        self.address = device.take(count)

    def __del__(self) -> None:
        if self.address:
            self.device.give_back(self.address, self.count)
