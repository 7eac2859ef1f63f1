# SPDX-License-Identifier: Apache-2.0
"""A builder that computes at once, with NumPy, and runs kernels of blocks in Numba's simulator.

So what the library makes of a builder (several kernels, one after the other) is run as a card would
run it, thread by thread.  For processes of their own, as the simulator is (simulator.py).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from numbaflow.jit.cuda.cuda_kernel import BLOCK, kernel_text
from numbaflow.jit.cuda.launching import Extents
from numbaflow.jit.kernel import scalar

from . import simulator

# What is in memory before a kernel writes there.
_RUBBISH = 0xA5


@dataclass(frozen=True, eq=False)
class Array:
    """A value: its contents, with what the library asks values for."""

    array: np.ndarray

    @property
    def dtype(self) -> str:
        return self.array.dtype.name

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def ndim(self) -> int:
        return self.array.ndim


class EagerBuilder:
    """The builder's methods that forms for GPUs use.

    shapes: grids and blocks, of which kernels take one after the other.
    """

    is_plain = True

    def __init__(self, shapes: Sequence[Extents]) -> None:
        self._shapes = itertools.cycle(shapes)
        self.kernels: list[str] = []

    def call(
        self,
        kernel: Any,
        inputs: Sequence[Array],
        outputs: Sequence[tuple[Sequence[int], str]],
        params: Sequence[int] = (),
        rows: int = 1,
        row_tile: int = 1,
        columns: int = 1,
        col_tile: int | None = None,
        **rest: Any,
    ) -> tuple[Array, ...]:
        assert not rest.keys() - {"operations"}
        made = [np.full(shape, 0, dtype) for shape, dtype in outputs]
        for array in made:
            array.view(np.uint8).fill(_RUBBISH) if array.ndim else None
        text = kernel_text(kernel.over([*(v.dtype for v in inputs), *(d for _, d in outputs)]))
        assert text.form == BLOCK
        arrays = [np.ascontiguousarray(v.array).reshape(-1) for v in inputs]
        arrays += [array.reshape(-1) for array in made]
        self.kernels.append(kernel.name)
        if rows > 0 and columns > 0:
            simulator.launch(text, next(self._shapes), [*arrays, *params], rows, columns)
        return tuple(map(Array, made))

    def map(self, body: Callable[..., Any], *values: Array) -> Any:
        found = body(*(value.array for value in values))
        if isinstance(found, tuple):
            return tuple(Array(np.asarray(one)) for one in found)
        return Array(np.asarray(found))

    def cast(self, value: Array, dtype: str) -> Array:
        return Array(scalar.cast(value.array, dtype))

    def reshape(self, value: Array, shape: Sequence[int]) -> Array:
        return Array(np.ascontiguousarray(value.array).reshape(shape))

    def transpose(self, value: Array, axes: Sequence[int]) -> Array:
        return Array(value.array.transpose(axes))

    def broadcast(self, value: Array, shape: Sequence[int]) -> Array:
        return Array(np.broadcast_to(value.array, shape))

    def reduce(self, fn: str, value: Array, axes: Sequence[int] | None, **rest: Any) -> Array:
        kind = {"any": np.any, "sum": np.sum}[fn]
        found = kind(value.array, axis=None if axes is None else tuple(axes))
        return Array(np.asarray(found, rest.get("dtype") or value.dtype))

    def known_as(self, array: np.ndarray, dtype: str) -> Array:
        return Array(array.astype(dtype))

    def iota(self, shape: Sequence[int], axis: int, dtype: str) -> Array:
        return Array(np.indices(shape)[axis].astype(dtype))

    def constant(self, value: object, dtype: str | None = None) -> Array:
        return Array(np.asarray(value, dtype))
