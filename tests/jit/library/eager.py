# SPDX-License-Identifier: Apache-2.0
"""A builder that runs library kernels at once on arrays, tile by tile, for tests and timing."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from numbaflow.jit.codegen.compile import Compiled, compile_kernel
from numbaflow.jit.kernel.scalar import part_dtype
from numbaflow.jit.kernel.sizes import hint
from numbaflow.jit.library.library_kernel import LibraryKernel
from numbaflow.jit.program.tensor_ir import Launch
from numbaflow.jit.runtime.guards import Buffer, Copy, among_bytes
from numbaflow.jit.schedule.aligned import aligned_copy, aligned_empty


@dataclass(eq=False)
class Array:
    """A value with contents; its shape may be given as symbolic sizes."""

    data: np.ndarray
    sizes: tuple[Any, ...] | None = None

    @property
    def dtype(self) -> str:
        return self.data.dtype.name

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.data.shape if self.sizes is None else self.sizes

    @property
    def ndim(self) -> int:
        return self.data.ndim


class EagerBuilder:
    """Implements what the library's lowerings ask of a builder.

    Outputs start as NaN (or a large integer) so that an element that no tile writes is seen.
    """

    is_plain = False

    def equal(self, a: Any, b: Any) -> bool:
        """Are two sizes equal?"""
        return bool(a == b)

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self.calls: list[Any] = []  # name, a function that runs it again, what it needs
        self.kernels: list[LibraryKernel] = []

    def value(self, array: Any, sizes: Any = None) -> Array:
        return Array(aligned_copy(np.asarray(array)), sizes)

    def constant(self, array: np.ndarray) -> Array:
        return self.value(array)

    def known(self, value: Array) -> None:
        return None

    @staticmethod
    def require(fits: Any) -> None:
        assert fits

    def require_shape(self, value: Array, shape: Any) -> None:
        self.require(value.data.shape == tuple(map(hint, shape)))

    def transpose(self, value: Array, perm: Any) -> Array:
        return self.value(value.data.transpose(perm), tuple(value.shape[i] for i in perm))

    def reshape(self, value: Array, shape: Any) -> Array:
        return self.value(value.data.reshape([hint(n) for n in shape]), tuple(shape))

    def slice(self, value: Array, begin: Any, size: Any, stride: Any) -> Array:
        """Elements in steps, of each axis so many."""
        taken = zip(begin, size, stride, strict=True)
        axes = tuple(np.s_[first : first + count * step : step] for first, count, step in taken)
        assert value.data[axes].shape == tuple(size)
        return Array(value.data[axes].copy())

    def assemble(self, shape: Any, dtype: str, parts: Any, fill: Any) -> Array:
        """Regions with what they are filled with."""
        whole = np.full(tuple(shape), fill, dtype)
        for value, begin, stride in parts:
            taken = zip(begin, value.shape, stride, strict=True)
            axes = tuple(np.s_[first : first + count * step : step] for first, count, step in taken)
            whole[axes] = value.data
        return Array(whole)

    def full(self, shape: Any, fill: Any, dtype: str) -> Array:
        return self.value(np.full(shape, fill, dtype))

    def broadcast(self, value: Array, shape: Any) -> Array:
        return self.value(np.broadcast_to(value.data, [hint(n) for n in shape]), tuple(shape))

    def map(self, body: Any, *values: Array) -> Array:
        return self.value(body(*(value.data for value in values)))

    def reduce(
        self, fn: str, value: Array, axes: Any, keepdims: bool = False, dtype: Any = None
    ) -> Array:
        return self.value(getattr(np, fn)(value.data, axis=tuple(axes), keepdims=keepdims))

    def call(
        self,
        kernel: LibraryKernel,
        inputs: Any,
        outputs: Any,
        params: Any = (),
        rows: int = 1,
        row_tile: int = 1,
        columns: int = 1,
        col_tile: int | None = None,
        scratch: int = 0,
        reserve: Any = None,
        operations: Any = 0,
        role: Any = None,
    ) -> tuple[Array, ...]:
        assert hint(operations) >= 0
        made = [_fresh(shape, dtype) for shape, dtype in outputs]
        inside = [_guarded(f"input {n}", v.data, False) for n, v in enumerate(inputs)]
        inside += [_guarded(f"output {n}", array, True) for n, array in enumerate(made)]
        arrays, made = _views([v.data for v in inputs], inside), _views(made, inside[len(inputs) :])
        kernel = kernel.over(part_dtype(array.dtype.name) for array in (*arrays, *made))
        words = [a.ctypes.data for a in (*arrays, *made)] + [hint(p) for p in params]
        scratch = hint(scratch)
        words += [int(w) for w in reserve()] if reserve else []
        memory = aligned_empty((scratch * self.threads + 64,), np.uint8)
        memory.fill(255)
        if scratch:
            words += [memory.ctypes.data, scratch]
        words += [self.address(part) for part in kernel.parts]
        block = np.array(words, np.int64)
        extents = (rows, row_tile, columns, columns if col_tile is None else col_tile)
        grid = tuple(hint(size) for size in extents)
        run = lambda: self.execute(kernel, block, grid)  # noqa: E731
        run()
        for copy in inside:
            assert not copy.found(), f"{kernel.name} {copy.found()}"
        assert (memory[scratch * self.threads :] == 255).all(), f"{kernel.name}: scratch memory"
        self.kernels.append(kernel)
        self.calls.append((kernel.name, run, (arrays, made, memory)))
        return tuple(Array(a, tuple(shape)) for a, (shape, _) in zip(made, outputs, strict=True))

    def address(self, part: LibraryKernel) -> int:
        """What a kernel calls another by."""
        return compile_kernel(part).address

    def execute(self, kernel: LibraryKernel, block: np.ndarray, grid: tuple[int, ...]) -> None:
        """Runs all tiles of a call."""
        _run(compile_kernel(kernel), block, grid, self.threads)

    def launch(
        self, launch: Launch, inputs: Any, outputs: Any, role: Any = None
    ) -> tuple[Array, ...]:
        facts = {f.name: getattr(launch, f.name) for f in fields(launch)}
        del facts["bias"], facts["relu"], facts["epilogue"]
        return self.call(inputs=inputs, outputs=outputs, role=role, **facts)


def _guarded(name: str, array: np.ndarray, is_written: bool) -> Copy:
    """A copy of an array among guards."""
    with among_bytes(0xFF, Buffer(name, array.ctypes.data, array.nbytes, is_written)) as copy:
        copy.fill()
        return copy


def _views(arrays: list[np.ndarray], copies: list[Copy]) -> list[np.ndarray]:
    """What copies hold, as the arrays that they are copies of."""
    return [c.contents.view(a.dtype).reshape(a.shape) for a, c in zip(arrays, copies)]


def _fresh(shape: Any, dtype: str) -> np.ndarray:
    array = aligned_empty([hint(n) for n in shape], dtype)
    array.fill(np.nan if array.dtype.kind == "f" else np.array(85).astype(dtype))
    return array


def tiles_of(grid: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """The tiles of a grid: first and last (excluded) row and column."""
    rows, row_tile, columns, col_tile = grid
    if rows <= 0 or columns <= 0:
        return []
    return [
        (r, min(r + row_tile, rows), c, min(c + col_tile, columns))
        for r in range(0, rows, row_tile)
        for c in range(0, columns, col_tile)
    ]


def _run(code: Compiled, block: np.ndarray, grid: tuple[int, ...], threads: int) -> None:
    tiles = tiles_of(grid)
    if not tiles:
        return
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 6)(code.address)
    if threads == 1:
        for tile in tiles:
            call(block.ctypes.data, *tile, 0)
        return

    def work(worker: int) -> None:
        for tile in tiles[worker::threads]:
            call(block.ctypes.data, *tile, worker)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
