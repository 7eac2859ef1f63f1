# SPDX-License-Identifier: Apache-2.0
"""How fast this machine could be: memory and arithmetic, measured once per process with kernels.

A step can be no faster than a copy of as many bytes, nor than a matrix product with as many
operations; the larger of the two is its bound.  The copies show caches and the cost of a call,
too: small ones stay in the caches, and the smallest takes as long as it takes to call a kernel.
Imports the rest of jit.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from functools import cache

import numpy as np

from ...engine.record_class import record
from .. import threads
from ..codegen import compile as compiler
from ..codegen.writer import Writer
from ..kernel import ir
from ..kernel.ir import postorder
from ..kernel.scalar import PRIMITIVES
from ..kernel.sizes import number
from ..library.library_kernel import LibraryKernel
from ..library.matmul import product_kernel
from ..runtime import driver
from ..schedule.aligned import aligned_empty
from ..schedule.bind import tiles
from ..schedule.nest_builder import Nest
from ..schedule.steps import CallStep, KernelStep

# Bytes of the copies: within the first, second and last cache, and beyond.
_COPIES = (1 << 10, 1 << 14, 1 << 18, 1 << 21, 1 << 23, 1 << 26)
# Enough arithmetic (0.27 G operations on 3 MB) to be held up by nothing else, in about a
# millisecond.
_SIDE = 512  # of the matrices
_ROW_TILE, _COLUMN_TILE = 64, 128
# How often something is timed: often enough, or for long enough.
# The best of them counts: what disturbs a run only ever makes it longer.
_FEW, _MANY, _ENOUGH_SECONDS = 4, 100, 5e-4
_ENOUGH_OF_THE_MACHINE = 2e-2


@record(frozen=True)
class Machine:
    """What was measured: seconds to copy so many bytes (reads and writes together), and float32
    operations per second of one thread and of all."""

    bytes: tuple[int, ...]
    copy_seconds: tuple[float, ...]
    one_thread: float
    all_threads: float
    threads: int

    @property
    def memory_rate(self) -> float:
        """Bytes per second from and to memory, beyond the caches."""
        return self.bytes[-1] / self.copy_seconds[-1]

    @property
    def cache_rate(self) -> float:
        """Bytes per second within the caches, at best."""
        return max(b / s for b, s in zip(self.bytes, self.copy_seconds))

    @property
    def text(self) -> str:
        """One line for a report."""
        return (
            f"{self.memory_rate / 1e9:.0f} GB/s from memory, {self.cache_rate / 1e9:.0f} GB/s "
            f"from caches, {self.all_threads / 1e9:.0f} G operations/s ({self.threads} threads)"
        )

    def memory_seconds(self, count: int) -> float:
        """How long a copy that moves so many bytes takes, between those measured."""
        at = bisect_right(self.bytes, count)
        if at == 0:
            return self.copy_seconds[0]
        if at == len(self.bytes):
            return count / self.memory_rate
        part = (count - self.bytes[at - 1]) / (self.bytes[at] - self.bytes[at - 1])
        low, high = self.copy_seconds[at - 1 : at + 1]
        return low + part * (high - low)

    def compute_seconds(self, operations: float, pieces: int) -> float:
        """How long so many float32 operations take, shared by as many threads as have work."""
        workers = min(pieces, self.threads)
        # (Threads share caches and clock rates, so that all together are slower than each alone; of
        # numbers in between nothing was measured.)
        rate = self.all_threads if workers == self.threads else self.one_thread * max(workers, 1)
        return operations / rate


@cache
def machine() -> Machine:
    """This machine; takes a quarter of a second."""
    count = threads.count()
    copies = tuple(_copy_seconds(size) for size in _COPIES)
    # What moves more cannot take less: noise of the clock.
    rising = tuple(max(copies[: n + 1]) for n in range(len(copies)))
    rates = [2.0 * _SIDE**3 / _product_seconds(n) for n in (1, count)]
    return Machine(_COPIES, rising, rates[0], max(rates), count)


def prepare() -> None:
    """Compiles what `machine` measures with."""
    compiler.compile_kernel(_copy_kernel())
    compiler.compile_kernel(_product_kernel()[0])


def _copy_kernel() -> ir.Kernel:
    at = ir.Index((1,))
    buffers = ir.Buffer("float32", "r"), ir.Buffer("float32", "w")
    store = ir.Store(1, at, ir.Load(0, at, "float32"))
    return ir.Kernel("map", buffers, (ir.Axis("map"),), (), (store,), 0)


def _copy_seconds(count: int) -> float:
    # Read and written once, four bytes each.
    items = count // 8
    x, y = (aligned_empty((items,), np.float32) for _ in range(2))
    x[...] = y[...] = 0
    kernel = compiler.compile_kernel(_copy_kernel())
    args = np.array([x.ctypes.data, y.ctypes.data, items], np.int64)
    # Cut as a plan's own kernels are, so that small copies stay on one thread.
    row_tile, column_tile = tiles(1, items, 2.0 * items, 1)
    row = [kernel.address, args.ctypes.data, 1, row_tile, items, column_tile]
    return best_seconds(driver.Program(np.array([row], np.int64)), _ENOUGH_OF_THE_MACHINE)


def _product_kernel() -> tuple[LibraryKernel, int, tuple[int, ...]]:
    kernel, scratch, numbers = product_kernel("float32", _SIDE, False, False)
    return kernel.over(["float32"] * 3), scratch, numbers


def _product_seconds(count: int) -> float:
    library, scratch, numbers = _product_kernel()
    kernel = compiler.compile_kernel(library)
    x, y, out = (aligned_empty((_SIDE, _SIDE), np.float32) for _ in range(3))
    x[...] = y[...] = 0
    work = aligned_empty((max(threads.count(), count) + 1, scratch), np.uint8)
    addresses = [array.ctypes.data for array in (x, y, out)]
    sizes = [_SIDE] * 5 + [0, 0]  # m, n, k, strides; offsets
    parts = [part.address for part in compiler.compiled_parts(library)]
    words = [*addresses, *sizes, *numbers, work.ctypes.data, scratch, *parts]
    args = np.array(words, np.int64)
    row = [kernel.address, args.ctypes.data, _SIDE, _ROW_TILE, _SIDE, _COLUMN_TILE]
    return best_seconds(driver.Program(np.array([row], np.int64), count), _ENOUGH_OF_THE_MACHINE)


def best_seconds(program: driver.Program, enough: float = _ENOUGH_SECONDS) -> float:
    """The best of a few timed runs, of more where they are short."""
    best, runs = float("inf"), 0
    begin = end = time.perf_counter()
    while runs < _FEW or (runs < _MANY and end - begin < enough):
        start = time.perf_counter()
        program.run()
        end = time.perf_counter()
        best, runs = min(best, end - start), runs + 1
    return best


def bound(machine: Machine | None, moved: int, weight: float, pieces: int) -> tuple[float, str]:
    """Seconds that a step takes at best, and whether memory or arithmetic holds it up."""
    if machine is None:
        return 0.0, ""
    memory, compute = machine.memory_seconds(moved), machine.compute_seconds(weight, pieces)
    return max(memory, compute), "memory" if memory >= compute else "compute"


# Work of a step


@record(frozen=True)
class Work:
    """What a step computes: arithmetic operations, and their weight in float32 operations of a
    matrix product, where a division or a logarithm counts for more."""

    operations: int
    weight: float


def work_of(step: KernelStep | CallStep, values: dict[str, int]) -> Work:
    """The work of a step; values are the numbers of the symbols of its sizes."""
    if isinstance(step, KernelStep):
        return _nest_work(step.nest, values)
    count = number(step.node.launch.operations, values)
    wide = max((_wide(value.dtype) for value in step.node.outputs[:1]), default=1)
    return Work(count, count * wide)


def _nest_work(nest: Nest, values: dict[str, int]) -> Work:
    kernel = nest.kernel
    extents = [number(size, values) for size in nest.sizes]
    # The emitter's own answer to which loops a value depends on: it is computed as often.
    writer = Writer(kernel)
    total, weight = 0, 0.0
    roots = [store.value for store in kernel.stores]
    roots += [reduction.value for reduction in kernel.reductions]
    seen = set()
    for root in roots:
        for node in postorder(root):
            axes = writer.dependence(node)
            if node in seen or not isinstance(node, ir.Apply):
                continue
            seen.add(node)
            count = _positions(kernel, axes, extents)
            total += count
            # A matrix product does two operations where others do one.
            weight += 2 * count * PRIMITIVES[node.fn].cost * _wide(node.dtype)
    everywhere = frozenset(range(len(extents)))
    for reduction in kernel.reductions:
        count = _positions(kernel, everywhere, extents)
        total += count
        weight += 2 * count * _wide(reduction.dtype)
    return Work(total, weight)


def touched(nest: Nest, values: dict[str, int]) -> list[int]:
    """For each buffer of a kernel, how many elements its loops go over, at most."""
    kernel = nest.kernel
    extents = [number(size, values) for size in nest.sizes]
    writer = Writer(kernel)
    roots = [reduction.value for reduction in kernel.reductions]
    places = {(store.buffer, store.index) for store in kernel.stores}
    for store in kernel.stores:
        roots += [root for root in (store.value, store.index.offset) if root is not None]
    for root in roots:
        for node in postorder(root):
            writer.dependence(node)
            if isinstance(node, ir.Load):
                places.add((node.buffer, node.index))
    counts = [0] * len(kernel.buffers)
    for buffer, index in places:
        # At most: an element that loops come to twice counts twice, and callers know how large the
        # buffer is.
        counts[buffer] += _positions(kernel, writer.dependence(index), extents)
    return counts


def _positions(kernel: ir.Kernel, axes: frozenset[int], extents: list[int]) -> int:
    """How often something that depends on axes is computed; pieces of an axis are that axis."""
    count = 1
    for place in axes - {-1}:
        axis = kernel.axes[place]
        if not (axis.kind == "chunk" and axis.of in axes):
            count *= extents[place]
    return count


def _wide(dtype: str) -> float:
    """The size of an element in units of float32: vectors hold so many fewer."""
    return max(np.dtype(dtype).itemsize / 4, 0.5) if dtype in _PLAIN else 1.0


_PLAIN = {np.dtype(kind).name for kind in "?bhilqBHILQfd"}
