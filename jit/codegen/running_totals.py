# SPDX-License-Identifier: Apache-2.0
"""Reductions in NumPy, in the order of jit/codegen/reductions.py: see jit/codegen/evaluate.py.

Imports neither Numba nor llvmlite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernel.ir import Kernel
from ..kernel.reference import numpy_dtype
from ..kernel.scalar import kind_of
from .reductions import TOTALS, Lanes, accumulator_dtype, identity, in_lanes, lanes_of, worst
from .writer import HALF

Array = np.ndarray[Any, np.dtype[Any]]


class Running:
    """What is known of one reduction, side by side for `count` rows or columns."""

    def __init__(self, kernel: Kernel, number: int, level: int, count: int) -> None:
        self.reduction = kernel.reductions[number]
        self.fn, self.dtype = self.reduction.fn, accumulator_dtype(self.reduction)
        self.is_arg = self.fn.startswith("arg")
        first = worst(self.reduction) if self.is_arg else identity(self.fn, self.dtype)
        self.lanes = lanes_of(kernel, level) if in_lanes(kernel, number) else None
        self.total = np.full(count, first.value, numpy_dtype(first.dtype))
        self.first, self.at, self.seen = first.value, np.zeros(count, np.int64), 0

    def take_row(self, values: Array) -> None:
        """A piece of every row."""
        if self.lanes is None or not values.shape[1]:
            self.take_column(values.T)
            return
        lanes = self.lanes
        if not lanes.vectors:
            self.total = self._in_vectors(values, Lanes(lanes.width, 1))
            return
        for shape in (lanes, Lanes(lanes.width, 1)):
            whole = values.shape[1] // (shape.width * shape.vectors) * shape.width * shape.vectors
            if whole:
                self.total = self._in_vectors(values[:, :whole], shape)
            values = values[:, whole:]
        self.take_column(values.T)

    def _in_vectors(self, values: Array, lanes: Lanes) -> Array:
        """The first lane begins with the total so far; lanes add up their own, then each other."""
        step = np.add if self.fn == "sum" else np.multiply
        count, length = values.shape
        many = lanes.width * lanes.vectors
        turns = -(-length // many)
        every = np.full((count, turns + 1, many), self.first, self.total.dtype)
        every[:, 0, 0] = self.total
        every.reshape(count, -1)[:, many : many + length] = values
        running = every[:, 0].copy()
        for turn in range(1, turns + 1):
            running = step(running, every[:, turn])
        vectors = running.reshape(count, lanes.vectors, lanes.width)
        total = vectors[:, 0]
        for number in range(1, lanes.vectors):
            total = step(total, vectors[:, number])
        while total.shape[1] > 1:
            half = total.shape[1] // 2
            total = step(total[:, :half], total[:, half:])
        return total[:, 0]

    def take_column(self, values: Array) -> None:
        """More of every column, in order."""
        if self.is_arg:
            self._find(values)
        elif self.fn in TOTALS:
            step = np.add if self.fn == "sum" else np.multiply
            if len(values):
                # One after the other: what `reduce` might add in pairs `accumulate` may not.
                every = np.concatenate(
                    [self.total[None], values.astype(self.total.dtype, copy=False)]
                )
                self.total = _ordered(step, every)
        elif self.fn in ("any", "all"):
            either: Any = np.logical_or if self.fn == "any" else np.logical_and
            self.total = either(self.total, either.reduce(values, axis=0))
        else:
            if kind_of(self.dtype) == "f":
                # A NaN counts as the worst number.
                values = np.where(np.isnan(values), self.total.dtype.type(self.first), values)
            extreme: Any = np.maximum if self.fn == "max" else np.minimum
            if len(values):
                self.total = extreme(self.total, extreme.reduce(values, axis=0))
        self.seen += len(values)

    def _find(self, values: Array) -> None:
        """The first position of the best; what is no better than the worst has none."""
        if not len(values):
            return
        is_max = self.fn == "argmax"
        if kind_of(self.reduction.value.dtype) == "f":
            values = np.where(np.isnan(values), self.total.dtype.type(self.first), values)
        at = (np.argmax if is_max else np.argmin)(values, axis=0)
        best = np.take_along_axis(values, at[None], 0)[0]
        better = best > self.total if is_max else best < self.total
        self.total = np.where(better, best, self.total)
        self.at = np.where(better, at + self.seen, self.at)

    def done(self) -> Array:
        """The result."""
        if self.is_arg:
            return self.at.astype(numpy_dtype(self.reduction.dtype))
        if self.reduction.dtype in HALF:
            return self.total.astype(numpy_dtype(self.reduction.dtype)).astype(np.float32)
        return self.total


def _ordered(step: Any, values: Array) -> Array:
    """Combines what lies one below the other, from the top down."""
    if values.shape[1] > 1 and values.flags.c_contiguous:
        # NumPy goes along the rows, so columns keep their order.
        return step.reduce(values, axis=0)
    return step.accumulate(values, axis=0)[-1]
