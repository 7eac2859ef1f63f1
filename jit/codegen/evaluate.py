# SPDX-License-Identifier: Apache-2.0
"""Kernels evaluated in NumPy, with the bits that their machine code gives.

Arithmetic that IEEE 754 defines, integers and moves are NumPy's own.  Functions whose last bits are
a matter of how they are computed are those of compiled kernels, one function a kernel
(jit/codegen/scalar_functions.py).  Totals are added in the order that jit/codegen/reductions.py
states.  It takes some microseconds for every operation of a block of elements, so it is for what
runs too seldom to be compiled.  Imports neither Numba nor llvmlite.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..kernel import reference
from ..kernel.ir import (
    Apply,
    AxisIndex,
    Const,
    Expr,
    Index,
    Kernel,
    Load,
    Param,
    Reduced,
    Store,
    postorder,
)
from ..kernel.reference import numpy_dtype
from ..kernel.scalar import PRIMITIVES
from .reductions import at_level, late_stores, levels_of
from .row_order import counted
from .running_totals import Running
from .scalar_functions import is_one
from .writer import HALF, Writer, wide

Array = np.ndarray[Any, np.dtype[Any]]
# A function of compiled kernels: its name, and arguments of one shape and dtype.
Call = Callable[[str, Sequence[Array]], Array]
Write = Callable[[Array, Any, Array], None]
_BLOCK = 1 << 15  # elements that are computed at a time: some arrays of them fit a near cache
_SIDE_BY_SIDE = 1 << 12  # columns of several rows that are added up together
# Pieces of rows of several reduce axes, each of which takes a round of operations.
_MOST_PIECES = 256


def is_independent(kernel: Kernel) -> bool:
    """May all positions be loaded before any is stored?  Not where places are looked up, as the
    rows of a sparse update may meet in one place."""
    roots = [store.index.offset for store in kernel.stores if store.index.offset is not None]
    return not any(isinstance(node, Load) for root in roots for node in postorder(root))


class _Memory:
    """Elements at an address, for NumPy to see."""

    def __init__(
        self, address: int, dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]
    ) -> None:
        self.__array_interface__ = {
            "version": 3,
            "data": (address, False),
            "typestr": dtype.str,
            "shape": shape,
            "strides": strides,
        }


def _array(address: int, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    # bfloat16 has no letter of NumPy's.
    held = np.dtype(np.uint16) if dtype == "bfloat16" else np.dtype(dtype)
    steps = tuple(held.itemsize * stride for stride in strides)
    found = np.asarray(_Memory(address, held, shape, steps))
    return found.view(numpy_dtype(dtype)) if dtype == "bfloat16" else found


@cache
def _parts(kernel: Kernel) -> tuple[Sequence[int], Sequence[int], int, list[Store]]:
    """The outer axes of a kernel, the reduce axes, the inner one, and the stores that wait for all
    reductions; each of its tiles asks."""
    writer = Writer(kernel)
    return counted(writer), writer.reduce, writer.inner, late_stores(writer)


class Evaluation:
    """A kernel at the sizes of an argument block.

    write: puts values into memory at some places; it may keep them instead.
    """

    def __init__(
        self, kernel: Kernel, address: int, call: Call, write: Write | None = None
    ) -> None:
        self.kernel, self.call = kernel, call
        self.write: Write = write or operator.setitem  # type: ignore[assignment]
        counts = len(kernel.buffers), len(kernel.axes), kernel.params
        block = _array(address, "int64", (sum(counts),), (1,)).tolist()
        self.addresses = block[: counts[0]]
        self.sizes = block[counts[0] : counts[0] + counts[1]]
        self.params = block[counts[0] + counts[1] :]
        for number, axis in enumerate(kernel.axes):
            if axis.size is not None:
                self.sizes[number] = axis.size
        self.outer, self.reduce, self.inner, self.late = _parts(kernel)

    @property
    def is_in_many_pieces(self) -> bool:
        """Would rows take more rounds of operations than are worth it?"""
        pieces = math.prod(self.sizes[axis] for axis in self.reduce[:-1])
        return self.kernel.form == "row" and pieces > _MOST_PIECES

    @property
    def extent(self) -> tuple[int, int]:
        """The rows, and the columns of each, that are cut into tiles."""
        columns = 1 if self.kernel.form == "row" else self.sizes[self.inner]
        return math.prod(self.sizes[axis] for axis in self.outer), columns

    def run(self, r0: int, r1: int, c0: int, c1: int) -> None:
        """What the machine code does for the same numbers."""
        if r0 >= r1 or c0 >= c1:
            return
        with np.errstate(all="ignore"):
            form = {"map": self._map, "row": self._rows, "column": self._columns}
            form[self.kernel.form](r0, r1, c0, c1)

    def _map(self, r0: int, r1: int, c0: int, c1: int) -> None:
        across = min(c1 - c0, _BLOCK)
        for first, last in _blocks(r0, r1, max(_BLOCK // across, 1)):
            rows = self.positions(self.outer, first, last)
            for low, high in _blocks(c0, c1, across):
                block = Block(self, {**_down(rows), self.inner: _line(low, high)})
                block.stores(self.kernel.stores)

    def _rows(self, r0: int, r1: int, c0: int, c1: int) -> None:
        del c0, c1
        kernel, levels, late = self.kernel, levels_of(self.kernel), self.late
        extent = math.prod(self.sizes[axis] for axis in self.reduce)
        is_cut = any(axis.kind == "chunk" for axis in kernel.axes)
        for first, last in _blocks(r0, r1, 1 if is_cut else max(_BLOCK // max(extent, 1), 1)):
            places = self.positions(self.outer, first, last)
            pieces = [Block(self, piece) for piece in self._pieces(places)]
            whole = Block(self, _down(places))
            for level in range(max(levels, default=-1) + 1):
                found = {
                    n: Running(kernel, n, level, last - first) for n in at_level(levels, level)
                }
                for block in pieces:
                    for n, running in found.items():
                        value = block.value(kernel.reductions[n].value)
                        shape = (last - first, block.shape[1])
                        running.take_row(np.broadcast_to(value, shape))
                for n, running in found.items():
                    done = running.done().reshape(-1, 1)
                    for block in (*pieces, whole):
                        block.values[Reduced(n, kernel.reductions[n].dtype)] = done
            for block in pieces if late else ():
                block.stores(late)
            whole.stores([store for store in kernel.stores if store not in late])

    def _pieces(self, places: dict[int, Array]) -> Iterator[dict[int, Array]]:
        """Positions on all axes, a piece for each position on the outer ones of the reduce axes."""
        *outer, inner = self.reduce
        rows = {axis: int(position[0]) for axis, position in places.items()}
        limits = [self.limits(axis, rows) for axis in (*outer, inner)]
        columns = _line(*limits[-1])
        for at in np.ndindex(*(high - low for low, high in limits[:-1])):
            fixed = {
                axis: np.full((1, 1), low + step) for axis, (low, _), step in zip(outer, limits, at)
            }
            yield {**_down(places), **fixed, inner: columns}

    def _columns(self, r0: int, r1: int, c0: int, c1: int) -> None:
        # Where rows have limits of their own they come one after the other.
        is_cut = any(axis.kind == "chunk" for axis in self.kernel.axes)
        most = 1 if is_cut else max(_SIDE_BY_SIDE // (c1 - c0), 1)
        for first, last in _blocks(r0, r1, most):
            rows = self.positions(self.outer, first, last)
            here = {axis: int(position[0]) for axis, position in rows.items()}
            limits = [self.limits(axis, here) for axis in self.reduce]
            for low, high in _blocks(c0, c1, _BLOCK):
                if last - first == 1:
                    self._totals_of_columns({**_down(rows), self.inner: _line(low, high)}, limits)
                    continue
                # The columns of all rows, side by side.
                every = {axis: np.repeat(at, high - low)[None] for axis, at in rows.items()}
                columns = np.tile(np.arange(low, high), last - first)[None]
                self._totals_of_columns({**every, self.inner: columns}, limits)

    def _totals_of_columns(
        self, places: dict[int, Array], limits: Sequence[tuple[int, int]]
    ) -> None:
        kernel, late, width = self.kernel, self.late, places[self.inner].size
        blocks = [Block(self, {**places, **down}) for down in self._down_blocks(limits, width)]
        found = {n: Running(kernel, n, 0, width) for n in range(len(kernel.reductions))}
        for block in blocks:
            for n, running in found.items():
                value = block.value(kernel.reductions[n].value)
                running.take_column(np.broadcast_to(value, (block.shape[0], width)))
        whole = Block(self, places)
        for n, running in found.items():
            done = running.done().reshape(1, -1)
            for block in (*(blocks if late else ()), whole):
                block.values[Reduced(n, kernel.reductions[n].dtype)] = done
        for block in blocks if late else ():
            block.stores(late)
        whole.stores([store for store in kernel.stores if store not in late])

    def _down_blocks(
        self, limits: Sequence[tuple[int, int]], width: int
    ) -> Iterator[dict[int, Array]]:
        """Positions on the reduce axes, some at a time, one below the other."""
        extents = [last - first for first, last in limits]
        for first, last in _blocks(0, math.prod(extents), max(_BLOCK // width, 1)):
            found = np.unravel_index(np.arange(first, last), extents) if extents else ()
            yield {
                axis: (position + start).reshape(-1, 1)
                for axis, position, (start, _) in zip(self.reduce, found, limits)
            }

    def limits(self, axis: int, rows: dict[int, int]) -> tuple[int, int]:
        """Where a reduce axis begins and ends in some rows."""
        for number, chunk in enumerate(self.kernel.axes):
            if chunk.kind == "chunk" and chunk.of == axis and chunk.length is not None:
                length = self.params[chunk.length.slot]
                low = rows[number] * length
                return low, min(low + length, self.sizes[axis])
        return 0, self.sizes[axis]

    def positions(self, axes: Sequence[int], first: int, last: int) -> dict[int, Array]:
        """Rows as positions on the axes whose product they are."""
        if not axes:
            return {}
        # (The outermost axis has no end here: nothing is divided by its size.)
        rest, found = np.arange(first, last), {}
        for axis in reversed(axes[1:]):
            rest, found[axis] = np.divmod(rest, self.sizes[axis])
        return {axes[0]: rest, **found}


def _blocks(first: int, last: int, most: int) -> Iterator[tuple[int, int]]:
    for low in range(first, last, most):
        yield low, min(low + most, last)


def _down(places: dict[int, Array]) -> dict[int, Array]:
    return {axis: position.reshape(-1, 1) for axis, position in places.items()}


def _line(low: int, high: int) -> Array:
    return np.arange(low, high).reshape(1, -1)


class Block:
    """Some rows by some columns of positions, and what expressions are there.

    places: positions on every axis that is known here, as a column, as a row, or one.
    """

    def __init__(self, of: Evaluation, places: dict[int, Array]) -> None:
        self.of, self.places = of, places
        shapes = [position.shape for position in places.values()]
        self.shape = np.broadcast_shapes((1, 1), *shapes)
        self.values: dict[Expr, Array] = {}

    def stores(self, stores: Sequence[Store]) -> None:
        """Writes values; of those to one buffer none is read when another is written."""
        if len({store.buffer for store in stores}) < len(stores):
            for store in stores:
                self.value(store.value)
        for store in stores:
            self._store(store, self.value(store.value))

    def value(self, root: Expr) -> Array:
        """What an expression is at these positions; it may be broadcast to their shape."""
        for node in postorder(root, self.values.__contains__):
            if node not in self.values:
                self.values[node] = self._computed(node)
        return self.values[root]

    def _computed(self, node: Expr) -> Array:
        match node:
            case Const(value=value, dtype=dtype):
                return np.full((1, 1), value, numpy_dtype(wide(dtype)))
            case AxisIndex(axis=axis):
                return self.places[axis]
            case Param(slot=slot):
                return np.full((1, 1), self.of.params[slot])
            case Load(buffer=buffer, index=index):
                return self._load(buffer, index)
            case Apply():
                return self._applied(node)
        raise TypeError(f"{type(node).__name__} has no value before its pass")

    def _applied(self, node: Apply) -> Array:
        args = [self.values[arg] for arg in node.args]
        if node.fn == "cast":
            return _cast(args[0], node.dtype)
        primitive = PRIMITIVES[node.fn]
        value = self.of.call(node.fn, args) if is_one(node) else primitive.meaning(*args)
        # (As the writer has it: what is exact needs no rounding.)
        rounds = node.dtype in HALF and primitive.rounding != "none"
        return _rounded(value, node.dtype) if rounds else value

    def _load(self, buffer: int, index: Index) -> Array:
        kind = self.of.kernel.buffers[buffer]
        found = self._place(buffer, index)
        value = found[0] if len(found) == 1 else np.take(*found)
        if kind.dtype in HALF:
            return value.astype(np.float32)
        # What is stored to later is read now.
        return value if kind.access == "r" else value.copy()

    def _store(self, store: Store, value: Array) -> None:
        dtype = self.of.kernel.buffers[store.buffer].dtype
        memory, *where = self._place(store.buffer, store.index)
        value = value.astype(memory.dtype, copy=False) if dtype in HALF else value
        if not where:
            # Where the place does not move, the last position is what stays.
            self.of.write(memory, ..., value[_last(value.shape, memory.shape)])
            return
        shape = np.broadcast_shapes(value.shape, where[0].shape)
        self.of.write(memory, np.broadcast_to(where[0], shape), np.broadcast_to(value, shape))

    def _place(self, buffer: int, index: Index) -> tuple[Array] | tuple[Array, Array]:
        """The elements of a buffer at an index; or memory around them, and where in it they are."""
        down, across = self._offsets(index)
        dtype, address = self.of.kernel.buffers[buffer].dtype, self.of.addresses[buffer]
        size = numpy_dtype(dtype).itemsize
        shape = np.broadcast_shapes(down.shape, across.shape)
        if 0 in shape:
            return (np.empty(shape, numpy_dtype(dtype)),)
        steps = _step(down), _step(across)
        if steps[0] is not None and steps[1] is not None:
            first = address + size * int(down[0, 0] + across[0, 0])
            return (_array(first, dtype, shape, (steps[0], steps[1])),)
        flat = down + across
        low = int(flat.min())
        count = int(flat.max()) - low + 1
        return _array(address + size * low, dtype, (count,), (1,)), flat - low

    def _offsets(self, index: Index) -> tuple[Array, Array]:
        """Element offsets, as a sum of those of rows and of columns as far as they are that."""
        down, across = np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64)
        terms = [] if index.offset is None else [self.value(index.offset)]
        for axis, stride in enumerate(index.strides):
            step = self.of.params[stride.slot] if isinstance(stride, Param) else stride
            if step:
                terms.append(self.places[axis] * step)
        for term in terms:
            if term.shape[1] > 1:
                across = across + term
            else:
                down = down + term
        return down, across


def _step(offsets: Array) -> int | None:
    """By how much offsets of rows, or of columns, grow; None if not by one number."""
    if offsets.size == 1:
        return 0
    if 1 not in offsets.shape:
        return None
    flat = offsets.ravel()
    step = int(flat[1]) - int(flat[0])
    return step if (np.diff(flat) == step).all() else None


def _last(shape: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice(-1, None) if w == 1 else slice(None) for _, w in zip(shape, wanted))


def _rounded(value: Array, dtype: str) -> Array:
    return value.astype(numpy_dtype(dtype)).astype(np.float32)


def _cast(value: Array, dtype: str) -> Array:
    if dtype in HALF:
        return _rounded(value.astype(np.float32), dtype)
    return reference.cast(value, numpy_dtype(dtype))
